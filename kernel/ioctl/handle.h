/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_HANDLE_H
#define CMX_HANDLE_H

#include <linux/atomic.h>
#include <linux/wait.h>
#include "id.h"
#include "mcast.h"

struct cmx_channel;

/**
 * struct cmx_user_id - an id that belongs to a process
 * @id_priv: the id
 * @channel: channel that its events go to. NULL until the request that brought
 *	the id has been fetched, and after the id was destroyed. Changed under
 *	the lock of the table of ids and, if there is an old channel, that of
 *	its queue
 * @item: on &cmx_channel.ids, protected by the lock of the table of ids
 * @groups: list of &cmx_mcast.item, protected by the lock of the table of ids
 * @backlog_listener: listener whose backlog the request counts against, with a reference;
 *	NULL once the request has been fetched
 * @user_data: user data; an accept changes it under @id_priv's lock
 * @handle: handle; 0 before the id has one
 * @fetched: number of events fetched, protected by @channel's mutex
 * @events: list of &cmx_event.id_item: its events in the queue of @channel, protected by the lock
 *	of that queue
 * @queued: number of @events
 * @watch_events: types of the events of watch.c among them, a bit each
 * @backlog: number of requests that a listener still accepts
 * @calls_left: number of calls that may still begin to use the id. The limit keeps many threads
 *	from delaying the workers of ib_cm and iw_cm, which wait for @id_priv's lock, too
 * @calls_wait: calls that wait for @calls_left, or for the end of @creating
 * @creating: the command that creates the id has not ended. It destroys the id again if it fails,
 *	so the id is not moved to another channel meanwhile
 * @not_accepted: the id of a request that is not accepted yet. It receives no events.
 *	Protected by @id_priv's lock
 */
struct cmx_user_id {
	struct cmx_id_private id_priv;
	struct cmx_channel *channel;
	struct list_head item;
	struct list_head groups;
	struct cmx_user_id *backlog_listener;
	u64 user_data;
	u32 handle;
	u32 fetched;
	struct list_head events;
	u32 queued;
	atomic_t backlog;
	u16 watch_events;
	bool not_accepted;
	bool creating;
	atomic_t calls_left;
	wait_queue_head_t calls_wait;
};

#define CMX_USER_ID_CALLS 4

static inline struct cmx_user_id *to_user_id(struct cmx_id_private *id_priv)
{
	return container_of(id_priv, struct cmx_user_id, id_priv);
}

static inline void cmx_user_id_put(struct cmx_user_id *user_id)
{
	cmx_id_put(&user_id->id_priv);
}

/* Returns 0, or an error if the process is killed while it waits. */
static inline int cmx_user_id_begin_call(struct cmx_user_id *user_id)
{
	if (likely(atomic_dec_if_positive(&user_id->calls_left) >= 0))
		return 0;
	return wait_event_killable_exclusive(user_id->calls_wait,
					     atomic_dec_if_positive(&user_id->calls_left) >= 0);
}

static inline void cmx_user_id_end_call(struct cmx_user_id *user_id)
{
	atomic_inc(&user_id->calls_left);
	if (wq_has_sleeper(&user_id->calls_wait))
		wake_up(&user_id->calls_wait);
}

void cmx_user_id_return_backlog(struct cmx_user_id *user_id);

int cmx_handle_reserve(u32 *handle);
void cmx_handle_abort(u32 handle);
int cmx_handle_add_id(struct cmx_user_id *user_id, struct cmx_channel *channel);
void cmx_handle_publish_id(struct cmx_user_id *user_id, u32 handle, struct cmx_channel *channel);
int cmx_handle_publish_mcast(struct cmx_mcast *mc);

struct cmx_user_id *cmx_handle_get_id(struct cmx_channel *channel, u32 handle);
struct cmx_user_id *cmx_handle_take_id(struct cmx_channel *channel, u32 handle);
struct cmx_mcast *cmx_handle_get_mcast(struct cmx_channel *channel, u32 handle);
struct cmx_mcast *cmx_handle_take_mcast(struct cmx_channel *channel, u32 handle);
int cmx_handle_move_id(struct cmx_user_id *user_id, struct cmx_channel *from,
		       struct cmx_channel *to);

#endif
