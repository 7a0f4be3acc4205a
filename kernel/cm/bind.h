/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_BIND_H
#define CMX_BIND_H

#include "id.h"

/* Caller must hold id_priv->lock. */
int cmx_bind_dst(struct cmx_id_private *id_priv, const struct sockaddr *addr,
		 const struct sockaddr *dst);
void cmx_bind_undo(struct cmx_id_private *id_priv);

#endif
