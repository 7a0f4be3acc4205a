/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEADLINE_H
#define CMX_DEADLINE_H

#include "id.h"

/* p->lock is held */
int cmx_deadline_start(struct cmx_priv *p);
void cmx_deadline_stop(struct cmx_priv *p);

#endif
