/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_NEIGH_WATCH_H
#define CMX_NEIGH_WATCH_H

#include "id.h"

/* Caller must hold id_priv->lock. */
void cmx_neigh_watch(struct cmx_id_private *id_priv);
void cmx_neigh_unwatch(struct cmx_id_private *id_priv);

int cmx_neigh_watch_init_module(void);
void cmx_neigh_watch_exit_module(void);

#endif
