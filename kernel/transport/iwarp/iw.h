/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The row of iWARP, its operations, and what their files share */
#ifndef CMX_IW_H
#define CMX_IW_H

#include <rdma/iw_cm.h>
#include "id.h"

extern const struct cmx_transport cmx_transport_iwarp;

extern const struct cmx_conn_ops cmx_iw_conn_ops;
extern const struct cmx_listen_ops cmx_iw_listen_ops;

/* iw_conn.c */
void cmx_iw_conn_init(struct cmx_id_private *id_priv, struct iw_cm_id *iw);
bool cmx_iw_ece_is_supported(struct cmx_id_private *id_priv);	/* under id_priv->lock */
void cmx_iw_id_set_tos(const struct cmx_id_private *id_priv, struct iw_cm_id *iw);
int cmx_iw_conn_handler(struct iw_cm_id *iw, struct iw_cm_event *event);

/* iw_port.c */
const struct ib_gid_attr *cmx_iw_port_gid(struct ib_device *device, u32 port,
					  struct net_device *ndev);
bool cmx_iw_device_is_in(struct ib_device *device, const struct net *net);

#endif
