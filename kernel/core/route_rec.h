/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ROUTE_REC_H
#define CMX_ROUTE_REC_H

#include "id.h"

/* Caller must hold id_priv->lock. */
void cmx_route_free(struct cmx_id_private *id_priv);
void cmx_route_invalidate(struct cmx_id_private *id_priv);
void cmx_route_invalidate_on(struct cmx_id_private *id_priv, struct cmx_device *dev);

#endif
