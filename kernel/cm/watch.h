/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_WATCH_H
#define CMX_WATCH_H

#include "id.h"

/* p->lock is held */
void cmx_watch_peer(struct cmx_priv *p);
void cmx_unwatch_peer(struct cmx_priv *p);

int cmx_watch_init_module(void);
void cmx_watch_exit_module(void);

#endif
