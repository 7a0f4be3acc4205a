/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_RESOLVE_ADDR_H
#define CMX_RESOLVE_ADDR_H

#include "id.h"

struct net_device;
union ib_gid;

/* resolve_addr.c. Caller must hold the lock of the id. */
int cmx_addr_attach_gid(struct cmx_id_private *id_priv, const union ib_gid *gid,
			struct net_device *ndev);
int cmx_addr_bind_device(struct cmx_id_private *id_priv);
void cmx_addr_cancel(struct cmx_id_private *id_priv);
int cmx_addr_init_module(void);
void cmx_addr_exit_module(void);

/* resolve_addr_ib.c. Caller must hold id_priv->lock. */
int cmx_addr_ib_bind(struct cmx_id_private *id_priv);
int cmx_addr_ib_resolve(struct cmx_id_private *id_priv);

#endif
