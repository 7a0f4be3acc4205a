// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handles, by which processes refer to their ids and memberships.
 *
 * A handle is the index in the table of all ids, so that an object keeps its
 * handle when it moves to another channel. Each look-up checks that the object
 * belongs to the caller's channel.
 *
 * An entry is reserved first. It is published once nothing can fail any more,
 * or released again. The table holds the consumer's reference to each object.
 * The locks of the event queues are taken inside the lock of the table.
 */
#include "channel.h"
#include "handle.h"
#include "id_table.h"
#include "quota.h"

/**
 * cmx_user_id_return_backlog() - let the listener of a request accept another one
 * @user_id: the id of the request, which was fetched or has ended; nothing is done for other ids
 */
void cmx_user_id_return_backlog(struct cmx_user_id *user_id)
{
	struct cmx_user_id *listener = user_id->backlog_listener;

	if (!listener)
		return;
	user_id->backlog_listener = NULL;
	atomic_inc(&listener->backlog);
	cmx_user_id_put(listener);
}

/*
 * Change the channel that an id posts its events to. @to may be NULL. Caller must hold the lock of
 * the table of ids, which all users share, so the events in the queue are not looked at.
 */
static void handle_id_set_channel(struct cmx_user_id *user_id, struct cmx_channel *to)
{
	struct cmx_channel *from = user_id->channel;

	spin_lock(&from->lock);
	WRITE_ONCE(user_id->channel, to);
	spin_unlock(&from->lock);
}

/**
 * cmx_handle_reserve() - reserve a handle, which no look-up finds yet
 * @handle: receives the handle
 *
 * Return: 0 or -ENOMEM.
 */
int cmx_handle_reserve(u32 *handle)
{
	int ret;

	xa_lock(&cmx_id_table);
	ret = cmx_id_table_alloc(NULL, handle, GFP_KERNEL_ACCOUNT);
	xa_unlock(&cmx_id_table);
	return ret;
}

/**
 * cmx_handle_abort() - release a reserved handle
 * @handle: from cmx_handle_reserve()
 */
void cmx_handle_abort(u32 handle)
{
	xa_erase(&cmx_id_table, handle);
}

/*
 * Storing into a reserved entry needs no memory, so it cannot fail. Caller must hold the lock of
 * the table.
 */
static void handle_entry_publish(u32 handle, void *object, unsigned long tag)
{
	__xa_store(&cmx_id_table, handle, xa_tag_pointer(object, tag), 0);
}

/* Caller must hold the lock of the table. */
static void handle_id_add_to_channel(struct cmx_user_id *user_id, u32 handle,
				     struct cmx_channel *channel)
{
	user_id->handle = handle;
	list_add_tail(&user_id->item, &channel->ids);
	WRITE_ONCE(user_id->channel, channel);
}

/**
 * cmx_handle_add_id() - add a new id to a channel and allocate its handle
 * @user_id: the id; the table takes the consumer's reference, and the caller keeps its own
 * @channel: the channel
 *
 * Return: 0 or -ENOMEM.
 */
int cmx_handle_add_id(struct cmx_user_id *user_id, struct cmx_channel *channel)
{
	u32 handle;
	int ret;

	xa_lock(&cmx_id_table);
	ret = cmx_id_table_alloc(xa_tag_pointer(&user_id->id_priv, CMX_TAG_ID), &handle,
				 GFP_KERNEL_ACCOUNT);
	if (!ret) {
		cmx_id_get(&user_id->id_priv);
		handle_id_add_to_channel(user_id, handle, channel);
	}
	xa_unlock(&cmx_id_table);
	return ret;
}

/**
 * cmx_handle_publish_id() - let the process use an id
 * @user_id: the id; the table takes over the consumer's reference
 * @handle: from cmx_handle_reserve()
 * @channel: channel that the id belongs to from now on
 */
void cmx_handle_publish_id(struct cmx_user_id *user_id, u32 handle, struct cmx_channel *channel)
{
	xa_lock(&cmx_id_table);
	handle_id_add_to_channel(user_id, handle, channel);
	handle_entry_publish(handle, &user_id->id_priv, CMX_TAG_ID);
	xa_unlock(&cmx_id_table);
}

/**
 * cmx_handle_publish_mcast() - let the process use a membership
 * @mc: the membership, with its handle from cmx_handle_reserve(); the table
 *	takes over the caller's reference
 *
 * Return: 0, or -ENOENT if its id has been destroyed meanwhile.
 */
int cmx_handle_publish_mcast(struct cmx_mcast *mc)
{
	struct cmx_user_id *user_id = to_user_id(mc->id_priv);
	int ret = 0;

	xa_lock(&cmx_id_table);
	if (user_id->channel) {
		list_add_tail(&mc->item, &user_id->groups);
		handle_entry_publish(mc->handle, mc, CMX_TAG_MCAST);
	} else {
		ret = -ENOENT;
	}
	xa_unlock(&cmx_id_table);
	return ret;
}

/*
 * Caller must hold the lock of the table. So there is no need for xa_load(), which takes the RCU
 * read lock. A reserved entry has none of the tags.
 */
static void *handle_object_find(u32 handle, unsigned long tag)
{
	XA_STATE(xas, &cmx_id_table, handle);
	void *entry = xas_load(&xas);

	return entry && xa_pointer_tag(entry) == tag ? xa_untag_pointer(entry) : NULL;
}

/* Caller must hold the lock of the table. */
static struct cmx_user_id *handle_id_find(struct cmx_channel *channel, u32 handle)
{
	struct cmx_id_private *id_priv = handle_object_find(handle, CMX_TAG_ID);

	return id_priv && id_priv->user && to_user_id(id_priv)->channel == channel ?
	       to_user_id(id_priv) : NULL;
}

/**
 * cmx_handle_get_id() - look up an id
 * @channel: channel that it must belong to
 * @handle: handle of the id
 *
 * Return: the id with a reference, or ERR_PTR(-ENOENT).
 */
struct cmx_user_id *cmx_handle_get_id(struct cmx_channel *channel, u32 handle)
{
	struct cmx_user_id *user_id;

	xa_lock(&cmx_id_table);
	user_id = handle_id_find(channel, handle);
	if (user_id)
		cmx_id_get(&user_id->id_priv);
	xa_unlock(&cmx_id_table);
	return user_id ?: ERR_PTR(-ENOENT);
}

/* Caller must hold the lock of the table. */
static void handle_id_unpublish(struct cmx_user_id *user_id)
{
	__xa_erase(&cmx_id_table, user_id->handle);
	list_del(&user_id->item);
	handle_id_set_channel(user_id, NULL);
}

/* Caller must hold the lock of the table, which keeps the id from being freed. */
static void handle_mcast_unpublish(struct cmx_mcast *mc)
{
	__xa_erase(&cmx_id_table, mc->handle);
	list_del(&mc->item);
	cmx_quota_uncharge(mc->id_priv->quota);
}

static struct cmx_mcast *handle_mcast_take_first(struct cmx_user_id *user_id)
{
	struct cmx_mcast *mc;

	xa_lock(&cmx_id_table);
	mc = list_first_entry_or_null(&user_id->groups, struct cmx_mcast, item);
	if (mc)
		handle_mcast_unpublish(mc);
	xa_unlock(&cmx_id_table);
	return mc;
}

/* The id belongs to no channel any more, so that no membership can be added. */
static void handle_mcast_drop_all(struct cmx_user_id *user_id)
{
	struct cmx_mcast *mc;

	if (list_empty(&user_id->groups))
		return;
	while ((mc = handle_mcast_take_first(user_id)))
		cmx_mcast_put(mc);
}

/**
 * cmx_handle_take_id() - remove the handle of an id
 * @channel: channel that the id must belong to
 * @handle: handle of the id
 *
 * The handles of its memberships are removed too. No event of the id reaches
 * the channel after this. Of several concurrent callers only one succeeds.
 *
 * Return: the id with the consumer's reference, or ERR_PTR(-ENOENT).
 */
struct cmx_user_id *cmx_handle_take_id(struct cmx_channel *channel, u32 handle)
{
	struct cmx_user_id *user_id;

	xa_lock(&cmx_id_table);
	user_id = handle_id_find(channel, handle);
	if (user_id)
		handle_id_unpublish(user_id);
	xa_unlock(&cmx_id_table);
	if (!user_id)
		return ERR_PTR(-ENOENT);
	handle_mcast_drop_all(user_id);
	return user_id;
}

/*
 * With @end, the handle is removed, and the caller gets the reference of the table. Otherwise the
 * caller gets a new reference.
 */
static struct cmx_mcast *handle_mcast_find(struct cmx_channel *channel, u32 handle, bool end)
{
	struct cmx_mcast *mc;

	xa_lock(&cmx_id_table);
	mc = handle_object_find(handle, CMX_TAG_MCAST);
	if (mc && to_user_id(mc->id_priv)->channel != channel)
		mc = NULL;
	if (mc && end)
		handle_mcast_unpublish(mc);
	else if (mc)
		kref_get(&mc->ref);
	xa_unlock(&cmx_id_table);
	return mc ?: ERR_PTR(-ENOENT);
}

/**
 * cmx_handle_get_mcast() - look up a membership
 * @channel: channel that its id must belong to
 * @handle: handle of the membership
 *
 * Return: the membership with a reference, or ERR_PTR(-ENOENT).
 */
struct cmx_mcast *cmx_handle_get_mcast(struct cmx_channel *channel, u32 handle)
{
	return handle_mcast_find(channel, handle, false);
}

/**
 * cmx_handle_take_mcast() - remove the handle of a membership
 * @channel: channel that its id must belong to
 * @handle: handle of the membership
 *
 * Return: the membership with the table's reference, or ERR_PTR(-ENOENT).
 */
struct cmx_mcast *cmx_handle_take_mcast(struct cmx_channel *channel, u32 handle)
{
	return handle_mcast_find(channel, handle, true);
}

/**
 * cmx_handle_move_id() - move an id and its memberships to another channel
 * @user_id: the id. Caller must hold its lock
 * @from: channel that the id must belong to. Caller must hold its mutex
 * @to: the new channel, to which the caller moves the queued events afterwards
 *
 * Return: 0, or -ENOENT if the id has been destroyed or moved meanwhile.
 */
int cmx_handle_move_id(struct cmx_user_id *user_id, struct cmx_channel *from,
		       struct cmx_channel *to)
{
	int ret = -ENOENT;

	xa_lock(&cmx_id_table);
	if (user_id->channel == from) {
		ret = 0;
		list_move_tail(&user_id->item, &to->ids);
		handle_id_set_channel(user_id, to);
	}
	xa_unlock(&cmx_id_table);
	return ret;
}
