/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_LISTEN_H
#define CMX_LISTEN_H

#include "id.h"

struct cmx_device;

void cmx_listen_stop(struct cmx_id_private *id_priv);	/* Caller must hold id_priv->lock. */
void cmx_listen_add_device(struct cmx_device *dev);
void cmx_listen_remove_device(struct cmx_device *dev);

#endif
