/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ID_WALK_H
#define CMX_ID_WALK_H

#include "id.h"

struct cmx_id_private *cmx_id_walk_next(u64 *pos);
bool cmx_id_walk_trylock(struct cmx_id_private *id_priv, unsigned int *lock_wait_ms);

#endif
