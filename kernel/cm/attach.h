/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ATTACH_H
#define CMX_ATTACH_H

#include "id.h"

/* Caller must hold id_priv->lock. */
int cmx_attach_src(struct cmx_id_private *id_priv);
int cmx_attach_link(struct cmx_id_private *id_priv, struct rdma_dev_addr *addr,
		    struct sockaddr *src);
int cmx_attach_loopback(struct cmx_id_private *id_priv);
int cmx_attach_ib_subnet(struct cmx_id_private *id_priv);

#endif
