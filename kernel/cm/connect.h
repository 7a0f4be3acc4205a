/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CONNECT_H
#define CMX_CONNECT_H

#include "id.h"

void cmx_qp_wait_closed(const struct cmx_id_private *id_priv, const struct rdma_conn_param *param);
int cmx_accept_locked(struct cmx_id_private *id_priv, const struct rdma_conn_param *param,
		      const struct rdma_ucm_ece *ece);	/* Caller must hold id_priv->lock. */
int cmx_disconnect_locked(struct cmx_id_private *id_priv, bool qp_is_stopped);

#endif
