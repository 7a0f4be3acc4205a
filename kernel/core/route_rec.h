/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ROUTE_REC_H
#define CMX_ROUTE_REC_H

#include "id.h"

/* p->lock is held */
void cmx_route_free(struct cmx_priv *p);
void cmx_route_stale(struct cmx_priv *p);

#endif
