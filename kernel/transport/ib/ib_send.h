/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_SEND_H
#define CMX_IB_SEND_H

#include "id.h"

/* Caller must hold id_priv->lock. */
typedef int (*cmx_ib_send_fn)(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);

int cmx_ib_req_try(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		   const struct rdma_conn_param *param);
int cmx_ib_req_resume(struct cmx_id_private *id_priv);
void cmx_ib_req_drop(struct cmx_id_private *id_priv);
int cmx_ib_dreq_try(struct cmx_id_private *id_priv);
int cmx_ib_dreq_resume(struct cmx_id_private *id_priv);
void cmx_ib_drep_send(struct cmx_id_private *id_priv);

#endif
