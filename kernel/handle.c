// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handles: the names that a process has for its ids and memberships.
 *
 * One table serves all processes, and each look-up checks that the object
 * belongs to the caller's channel: what moves to another channel keeps its
 * handle. A handle is an index, the lowest free one, so that the table stays
 * dense, and a generation, so that a handle is not used again at once.
 *
 * An entry is reserved first, then published once nothing can fail any more,
 * or given up. The table holds the owner's reference of each object. Its lock
 * is outside those of the event queues.
 */
#include <linux/xarray.h>
#include "eventq.h"
#include "handle.h"
#include "quota.h"

#define INDEX_BITS 22
#define INDEX_MASK (BIT(INDEX_BITS) - 1)

enum {
	TAG_ID,
	TAG_MCAST,
};

/* An entry that stays keeps the first node of the table allocated. */
#define INDEX_KEEP 1

/* The lock of handles is for the other two as well. */
static DEFINE_XARRAY_ALLOC(handles);
static u32 generation;
static u32 lowest = INDEX_KEEP + 1;	/* none below is free: the search begins here */

/* The lock of the table is held; allocating drops it meanwhile. */
static int alloc_entry(void *entry, u32 *handle)
{
	u32 from = lowest, index = from;
	int ret = -EBUSY;

	/* most often that one is free, and there is nothing to search */
	if (from <= INDEX_MASK)
		ret = __xa_insert(&handles, from, entry, GFP_KERNEL_ACCOUNT);
	if (ret == -EBUSY)
		ret = __xa_alloc(&handles, &index, entry, XA_LIMIT(from, INDEX_MASK),
				 GFP_KERNEL_ACCOUNT);
	if (ret)
		return -ENOMEM;
	/* but not when, the lock being dropped, one below became free, or others came first */
	if (lowest == from)
		lowest = index + 1;
	*handle = index | ++generation << INDEX_BITS;
	return 0;
}

/* The lock of the table is held. */
static void free_entry(u32 handle)
{
	u32 index = handle & INDEX_MASK;

	__xa_erase(&handles, index);
	lowest = min(lowest, index);
}

/**
 * cmx_handle_reserve() - choose a handle that no look-up finds yet
 * @handle: where to put it
 *
 * Return: 0 or -ENOMEM.
 */
int cmx_handle_reserve(u32 *handle)
{
	int ret;

	xa_lock(&handles);
	ret = alloc_entry(NULL, handle);
	xa_unlock(&handles);
	return ret;
}

/**
 * cmx_handle_abort() - give up a reserved handle
 * @handle: from cmx_handle_reserve()
 */
void cmx_handle_abort(u32 handle)
{
	xa_lock(&handles);
	free_entry(handle);
	xa_unlock(&handles);
}

/* The entry is reserved, so there is nothing to allocate, and to fail. */
static void publish(u32 handle, void *object, unsigned long tag)
{
	__xa_store(&handles, handle & INDEX_MASK, xa_tag_pointer(object, tag), 0);
}

static void join_channel(struct cmx_uid *u, u32 handle, struct cmx_file *file)
{
	u->handle = handle;
	list_add_tail(&u->item, &file->ids);
	WRITE_ONCE(u->file, file);
}

/**
 * cmx_handle_add_id() - give a new id to the process, and a handle
 * @u: the id; the table takes over the owner's reference
 * @file: channel that it belongs to
 * @handle: where to put the handle
 *
 * Return: 0, or -ENOMEM: then the id is still the caller's.
 */
int cmx_handle_add_id(struct cmx_uid *u, struct cmx_file *file, u32 *handle)
{
	int ret;

	xa_lock(&handles);
	ret = alloc_entry(xa_tag_pointer(u, TAG_ID), handle);
	if (!ret)
		join_channel(u, *handle, file);
	xa_unlock(&handles);
	return ret;
}

/**
 * cmx_handle_publish_id() - from here on the process can use the id
 * @u: the id; the table takes over the owner's reference
 * @handle: from cmx_handle_reserve()
 * @file: channel that it belongs to
 */
void cmx_handle_publish_id(struct cmx_uid *u, u32 handle, struct cmx_file *file)
{
	xa_lock(&handles);
	join_channel(u, handle, file);
	publish(handle, u, TAG_ID);
	xa_unlock(&handles);
}

/**
 * cmx_handle_publish_mcast() - from here on the process can use the membership
 * @mc: the membership, with its handle from cmx_handle_reserve(); the table
 *	takes over the caller's reference
 *
 * Return: 0, or -ENOENT when its id has been destroyed meanwhile.
 */
int cmx_handle_publish_mcast(struct cmx_mcast *mc)
{
	struct cmx_uid *u = to_uid(mc->p);
	int ret = 0;

	xa_lock(&handles);
	if (u->file) {
		list_add_tail(&mc->item, &u->groups);
		publish(mc->handle, mc, TAG_MCAST);
	} else {
		ret = -ENOENT;
	}
	xa_unlock(&handles);
	return ret;
}

static void *find(u32 handle, unsigned long tag)
{
	void *entry = xa_load(&handles, handle & INDEX_MASK);

	return entry && xa_pointer_tag(entry) == tag ? xa_untag_pointer(entry) : NULL;
}

static struct cmx_uid *find_id(struct cmx_file *file, u32 handle)
{
	struct cmx_uid *u = find(handle, TAG_ID);

	return u && u->handle == handle && u->file == file ? u : NULL;
}

/**
 * cmx_handle_get_id() - look up an id
 * @file: channel that it must belong to
 * @handle: handle of the id
 *
 * Return: the id with a reference, or ERR_PTR(-ENOENT).
 */
struct cmx_uid *cmx_handle_get_id(struct cmx_file *file, u32 handle)
{
	struct cmx_uid *u;

	xa_lock(&handles);
	u = find_id(file, handle);
	if (u)
		cmx_id_get(&u->p);
	xa_unlock(&handles);
	return u ?: ERR_PTR(-ENOENT);
}

static void unpublish_id(struct cmx_uid *u)
{
	free_entry(u->handle);
	list_del(&u->item);
	cmx_queue_move(u, NULL);
}

/* The lock of the table is held, and keeps the id. */
static void free_group(struct cmx_mcast *mc)
{
	free_entry(mc->handle);
	list_del(&mc->item);
	cmx_quota_uncharge(mc->p->quota);
}

static struct cmx_mcast *take_group(struct cmx_uid *u)
{
	struct cmx_mcast *mc;

	xa_lock(&handles);
	mc = list_first_entry_or_null(&u->groups, struct cmx_mcast, item);
	if (mc)
		free_group(mc);
	xa_unlock(&handles);
	return mc;
}

/* No group is added any more: the id belongs to no channel. */
static void drop_groups(struct cmx_uid *u)
{
	struct cmx_mcast *mc;

	if (list_empty(&u->groups))
		return;
	while ((mc = take_group(u)))
		cmx_mcast_put(mc);
}

/**
 * cmx_handle_take_id() - end the life of a handle
 * @file: channel that the id must belong to
 * @handle: handle of the id
 *
 * The handles of its memberships end too, and no event reaches the channel
 * after this. Of many callers one wins.
 *
 * Return: the id with the owner's reference, or ERR_PTR(-ENOENT).
 */
struct cmx_uid *cmx_handle_take_id(struct cmx_file *file, u32 handle)
{
	struct cmx_uid *u;

	xa_lock(&handles);
	u = find_id(file, handle);
	if (u)
		unpublish_id(u);
	xa_unlock(&handles);
	if (!u)
		return ERR_PTR(-ENOENT);
	drop_groups(u);
	return u;
}

/**
 * cmx_handle_take_any() - cmx_handle_take_id() for any id of a channel
 * @file: the channel
 *
 * Return: the id with the owner's reference, or NULL.
 */
struct cmx_uid *cmx_handle_take_any(struct cmx_file *file)
{
	struct cmx_uid *u;

	xa_lock(&handles);
	u = list_first_entry_or_null(&file->ids, struct cmx_uid, item);
	if (u)
		unpublish_id(u);
	xa_unlock(&handles);
	if (u)
		drop_groups(u);
	return u;
}

/* The membership with a reference: its own, or, when its handle ends here, that of the table. */
static struct cmx_mcast *handle_find_mcast(struct cmx_file *file, u32 handle, bool end)
{
	struct cmx_mcast *mc;

	xa_lock(&handles);
	mc = find(handle, TAG_MCAST);
	if (mc && (mc->handle != handle || to_uid(mc->p)->file != file))
		mc = NULL;
	if (mc && end)
		free_group(mc);
	else if (mc)
		kref_get(&mc->ref);
	xa_unlock(&handles);
	return mc ?: ERR_PTR(-ENOENT);
}

/**
 * cmx_handle_get_mcast() - find a membership
 * @file: channel that its id must belong to
 * @handle: handle of the membership
 *
 * Return: the membership with a reference, or ERR_PTR(-ENOENT).
 */
struct cmx_mcast *cmx_handle_get_mcast(struct cmx_file *file, u32 handle)
{
	return handle_find_mcast(file, handle, false);
}

/**
 * cmx_handle_take_mcast() - end the life of a membership's handle
 * @file: channel that its id must belong to
 * @handle: handle of the membership
 *
 * Return: the membership with the table's reference, or ERR_PTR(-ENOENT).
 */
struct cmx_mcast *cmx_handle_take_mcast(struct cmx_file *file, u32 handle)
{
	return handle_find_mcast(file, handle, true);
}

/**
 * cmx_handle_move_id() - give an id and its memberships to another channel
 * @u: the id; its lock is held, so that none of its events overtakes another
 * @from: channel that it must belong to; its mutex is held
 * @to: the new channel
 *
 * Return: 0, or -ENOENT when it has been destroyed or moved meanwhile.
 */
int cmx_handle_move_id(struct cmx_uid *u, struct cmx_file *from, struct cmx_file *to)
{
	int ret = -ENOENT;

	xa_lock(&handles);
	if (u->file == from) {
		list_move_tail(&u->item, &to->ids);
		cmx_queue_move(u, to);
		ret = 0;
	}
	xa_unlock(&handles);
	return ret;
}

static struct cmx_uid *get_at(unsigned long index)
{
	struct cmx_uid *u;

	xa_lock(&handles);
	u = find(index, TAG_ID);
	if (u)
		cmx_id_get(&u->p);
	xa_unlock(&handles);
	return u;
}

/**
 * cmx_handle_next_id() - the ids that have a handle, one after the other
 * @index: where to look from; receives where the id was found
 *
 * Memberships are passed over without the lock: there can be millions.
 *
 * Return: the id with a reference, or NULL.
 */
struct cmx_uid *cmx_handle_next_id(unsigned long *index)
{
	struct cmx_uid *u;
	void *entry;

	xa_for_each_start(&handles, *index, entry, *index) {
		u = xa_pointer_tag(entry) == TAG_ID ? get_at(*index) : NULL;
		if (u)
			return u;
		cond_resched();
	}
	return NULL;
}

int cmx_handle_init_module(void)
{
	return xa_reserve(&handles, INDEX_KEEP, GFP_KERNEL);
}

void cmx_handle_exit_module(void)
{
	xa_destroy(&handles);
}
