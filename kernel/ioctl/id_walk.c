// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Iteration over the ids of processes and of ULPs, to list them.
 */
#include <linux/delay.h>
#include "handle.h"
#include "id_walk.h"
#include "ulp.h"

/* Positions: first the indices of handles, then those of the ids of ULPs */
#define ULP_POS BIT_ULL(32)

/**
 * cmx_id_walk_next() - find the first id at or after a position
 * @pos: the position, 0 to begin with; receives that of the id
 *
 * An id keeps its position.
 *
 * Return: the id with a reference, or NULL after the last one.
 */
struct cmx_id_private *cmx_id_walk_next(u64 *pos)
{
	struct cmx_id_private *id_priv;
	struct cmx_user_id *user_id;
	unsigned long index;

	if (*pos < ULP_POS) {
		index = *pos;
		user_id = cmx_handle_next_id(&index);
		if (user_id) {
			*pos = index;
			return &user_id->id_priv;
		}
		*pos = ULP_POS;
	}
	if (*pos - ULP_POS > U32_MAX)
		return NULL;
	index = *pos - ULP_POS;
	id_priv = cmx_ulp_next_id(&index);
	if (id_priv)
		*pos = ULP_POS + index;
	return id_priv;
}

/**
 * cmx_id_walk_trylock() - lock an id, but do not wait long for it
 * @id_priv: the id
 * @lock_wait_ms: milliseconds left to wait, for all ids of the caller together. A provider may keep
 *	an id locked for ever
 *
 * Return: true if the id is locked.
 */
bool cmx_id_walk_trylock(struct cmx_id_private *id_priv, unsigned int *lock_wait_ms)
{
	while (!mutex_trylock(&id_priv->lock)) {
		if (!*lock_wait_ms)
			return false;
		--*lock_wait_ms;
		usleep_range(1000, 1500);
	}
	return true;
}
