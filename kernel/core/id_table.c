// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of all ids of processes and of ULPs, and of the memberships of processes. The index of
 * an object is the handle by which a process refers to it.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include "id_table.h"

DEFINE_XARRAY_ALLOC1(cmx_id_table);

/* Protected by the lock of cmx_id_table */
static u32 id_table_next;
static u32 id_table_kept;	/* a reserved entry in the node of the last index, or 0 */

/*
 * Reserve an entry in the node of an index instead of the last one. Without it, the nodes of the
 * table would be allocated and freed with each id of a process that has one id at a time. Caller
 * must hold the lock of the table.
 */
static void id_table_keep_node(u32 index)
{
	u32 last = index | (XA_CHUNK_SIZE - 1);

	if (last == id_table_kept)
		return;
	if (id_table_kept)
		__xa_erase(&cmx_id_table, id_table_kept);
	id_table_kept = __xa_insert(&cmx_id_table, last, NULL, 0) ? 0 : last;
}

/**
 * cmx_id_table_alloc() - allocate an entry of the table
 * @entry: the tagged pointer to be stored, or NULL to reserve the entry
 * @index: receives the index, which is never 0
 * @gfp: flags of the allocation
 *
 * Indices are counted up, so that none is used again soon.
 *
 * Context: Caller must hold the lock of the table. It is dropped while memory is allocated.
 * Return: 0 or -ENOMEM.
 */
int cmx_id_table_alloc(void *entry, u32 *index, gfp_t gfp)
{
	u32 next = id_table_next;
	int ret = -EBUSY;

	/* The next index is free most often, and no search is needed. */
	if (next)
		ret = __xa_insert(&cmx_id_table, next, entry, gfp);
	if (!ret) {
		*index = next;
		/* while the lock was dropped, another thread may have gone further */
		if (id_table_next == next)
			id_table_next++;
	} else if (ret == -EBUSY) {
		ret = __xa_alloc_cyclic(&cmx_id_table, index, entry, xa_limit_32b, &id_table_next,
					gfp);
	}
	if (ret < 0)
		return -ENOMEM;
	id_table_keep_node(*index);
	return 0;
}

void cmx_id_table_exit_module(void)
{
	xa_destroy(&cmx_id_table);
}

/**
 * cmx_id_table_get() - look up an id of any consumer
 * @index: its index
 *
 * Return: the id with a reference, or NULL.
 */
struct cmx_id_private *cmx_id_table_get(unsigned long index)
{
	struct cmx_id_private *id_priv;
	void *entry;

	xa_lock(&cmx_id_table);
	entry = xa_load(&cmx_id_table, index);
	id_priv = entry && xa_pointer_tag(entry) == CMX_TAG_ID ? xa_untag_pointer(entry) : NULL;
	if (id_priv && !cmx_id_tryget(id_priv))
		id_priv = NULL;
	xa_unlock(&cmx_id_table);
	return id_priv;
}

/**
 * cmx_id_walk_next() - find the first id at or after a position
 * @pos: the position, 0 to begin with; receives the position of the id
 *
 * An id keeps its position. Memberships are skipped without the lock, because there can be
 * millions.
 *
 * Return: the id with a reference, or NULL after the last one.
 */
struct cmx_id_private *cmx_id_walk_next(u64 *pos)
{
	struct cmx_id_private *id_priv;
	unsigned long index = *pos;
	void *entry;

	if (*pos > U32_MAX)
		return NULL;
	xa_for_each_start(&cmx_id_table, index, entry, *pos) {
		id_priv = xa_pointer_tag(entry) == CMX_TAG_ID ? cmx_id_table_get(index) :
								NULL;
		if (id_priv) {
			*pos = index;
			return id_priv;
		}
		cond_resched();
	}
	return NULL;
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
