/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TEARDOWN_H
#define CMX_TEARDOWN_H

#include "id.h"

void cmx_id_release_device(struct cmx_priv *p);	/* p->lock is held */
void cmx_id_kill(struct cmx_priv *p);

#endif
