/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_QP_H
#define CMX_QP_H

#include "id.h"

/* Caller must hold id_priv->lock. Without a QP that we manage these return 0 or false. */
int cmx_qp_to_rts(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);
int cmx_qp_to_err(struct cmx_id_private *id_priv);
bool cmx_qp_has_failed(struct cmx_id_private *id_priv);

int cmx_qp_attr_get(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask);
int cmx_qp_check_owner(const struct cmx_id_private *id_priv, u32 qp_num);

#endif
