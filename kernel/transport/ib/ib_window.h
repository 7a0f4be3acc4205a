/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_WINDOW_H
#define CMX_IB_WINDOW_H

#include "id.h"

typedef int (*cmx_ib_send_fn)(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);

int cmx_ib_window_send(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		       const struct rdma_conn_param *param);
bool cmx_ib_window_is_half_used(const struct cmx_id_private *id_priv);
void cmx_ib_window_release(struct cmx_id_private *id_priv);

#endif
