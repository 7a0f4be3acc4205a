/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The row of InfiniBand, its operations, of which RoCE uses those for connections, and declarations
 * shared by ib_conn.c, ib_event.c, ib_req.c and ib_sidr.c. The context of an ib_cm id is its
 * &struct cmx_id_private, and the ib_cm id holds a reference on it.
 */
#ifndef CMX_IB_H
#define CMX_IB_H

#include <rdma/ib_cm.h>
#include "id.h"

extern const struct cmx_transport cmx_transport_ib;

extern const struct cmx_conn_ops cmx_ib_conn_ops;
extern const struct cmx_conn_ops cmx_ib_sidr_ops;
extern const struct cmx_port_ops cmx_ib_port_ops;
extern const struct cmx_listen_ops cmx_ib_listen_ops;
extern const struct cmx_route_ops cmx_route_sa_ops;
extern const struct cmx_mcast_ops cmx_mcast_sa_ops;

/* ib_conn.c: caller must hold id_priv->lock */
int cmx_ib_cm_id_create(struct cmx_id_private *id_priv);
int cmx_ib_sgid_set(struct cmx_id_private *id_priv);
bool cmx_ib_has_conn(const struct cmx_id_private *id_priv);
bool cmx_ib_is_waiting(const struct cmx_id_private *id_priv);
void cmx_ib_cm_id_abort(struct cmx_id_private *id_priv);	/* only if nothing was sent */
void cmx_ib_conn_abort(struct cmx_id_private *id_priv, enum ib_cm_rej_reason reason);
int cmx_req_data_fill(struct cmx_id_private *id_priv, const struct rdma_conn_param *param,
		      u8 *data);
u32 cmx_psn_get(struct cmx_id_private *id_priv);
int cmx_ib_notify(struct cmx_id_private *id_priv, enum ib_event_type event); /* without the lock */
int cmx_ib_port_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask);

/* ib_sidr.c: caller must hold id_priv->lock */
bool cmx_sidr_event_handle(struct cmx_id_private *id_priv, const struct ib_cm_event *event,
			   struct cmx_event *ev);

/* mcast_keys.c: caller must hold id_priv->lock */
int cmx_ib_default_qkey(const struct cmx_id_private *id_priv, u16 pkey, u32 *qkey);

/* ib_event.c */
void cmx_ib_work_init(struct cmx_id_private *id_priv);	/* caller must hold id_priv->lock */
int cmx_ib_handler(struct ib_cm_id *cm, const struct ib_cm_event *event);

#endif
