// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of an event channel.
 *
 * An event goes to the channel that its id belongs to at that moment. A
 * CONNECT_REQUEST goes to the channel of the listener. Posting an event looks
 * up the channel under RCU and checks it again under the channel's lock.
 *
 * An event that finds no channel is freed.
 */
#include <linux/cred.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "channel.h"
#include "charge.h"
#include "quota.h"
#include "teardown.h"

/* Events in the queues of all channels */
static atomic_t channel_num_queued;

/**
 * cmx_channel_num_queued() - count the events that processes have not fetched
 *
 * Return: the number of events in the queues of all channels.
 */
unsigned int cmx_channel_num_queued(void)
{
	return atomic_read(&channel_num_queued);
}

/**
 * cmx_channel_discard_event() - drop an event that the process will not see
 * @ev: the event. A new id that comes with it has no consumer then and is destroyed
 */
void cmx_channel_discard_event(struct cmx_event *ev)
{
	if (ev->listener) {
		cmx_id_shutdown(ev->id_priv);
		cmx_id_put(ev->id_priv);
	}
	cmx_event_free(ev);
}

/**
 * cmx_channel_discard_events() - drop events of a queue that the process will not see
 * @events: list of &cmx_event.item
 */
void cmx_channel_discard_events(struct list_head *events)
{
	struct cmx_event *ev, *next;

	list_for_each_entry_safe(ev, next, events, item) {
		atomic_dec(&channel_num_queued);
		cmx_channel_discard_event(ev);
		cond_resched();
	}
}

static void channel_wake(struct cmx_channel *channel)
{
	wake_up_interruptible_poll(&channel->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * cmx_channel_add_event() - add an event to the queue
 * @channel: the channel
 * @user_id: the id that it belongs to; for a CONNECT_REQUEST the listener
 * @ev: the event
 *
 * Context: Caller must hold the RCU read lock.
 * Return: false if @user_id has left the channel.
 */
bool cmx_channel_add_event(struct cmx_channel *channel, struct cmx_user_id *user_id,
			   struct cmx_event *ev)
{
	bool mine;

	spin_lock(&channel->lock);
	mine = channel == user_id->channel;
	if (mine) {
		list_add_tail(&ev->item, &channel->events);
		list_add_tail(&ev->id_item, &user_id->events);
		WRITE_ONCE(user_id->queued, user_id->queued + 1);
		atomic_inc(&channel_num_queued);
		if (ev->is_watch)
			WRITE_ONCE(user_id->watch_events,
				   user_id->watch_events | BIT(ev->ev.event));
	}
	spin_unlock(&channel->lock);
	if (mine)
		channel_wake(channel);
	return mine;
}

/* An event leaves the queue. Caller must hold the lock of the queue. */
static void channel_event_del(struct cmx_user_id *user_id, struct cmx_event *ev)
{
	list_del(&ev->item);
	list_del(&ev->id_item);
	WRITE_ONCE(user_id->queued, user_id->queued - 1);
	if (ev->is_watch)
		WRITE_ONCE(user_id->watch_events, user_id->watch_events & ~BIT(ev->ev.event));
}

/**
 * cmx_channel_take_events() - take the events of an id out of the queue
 * @channel: the channel
 * @user_id: the id
 * @mc: a membership of it, of which alone the events are taken, or NULL
 * @events: receives them, as a list of &cmx_event.item
 *
 * Context: Caller must hold the mutex of the channel.
 */
void cmx_channel_take_events(struct cmx_channel *channel, struct cmx_user_id *user_id,
			     const struct cmx_mcast *mc, struct list_head *events)
{
	struct cmx_event *ev, *next;

	lockdep_assert_held(&channel->mutex);
	if (!READ_ONCE(user_id->queued))
		return;
	spin_lock(&channel->lock);
	list_for_each_entry_safe(ev, next, &user_id->events, id_item) {
		if (mc && ev->mc != mc)
			continue;
		channel_event_del(user_id, ev);
		list_add_tail(&ev->item, events);
	}
	spin_unlock(&channel->lock);
}

/**
 * cmx_channel_move_events() - move the events of an id to the queue of its new channel
 * @user_id: the id
 * @from: the old channel
 * @to: the new channel
 *
 * Context: Caller must hold the lock of the id, so that no event is posted meanwhile, and the mutex
 *	of @from.
 */
void cmx_channel_move_events(struct cmx_user_id *user_id, struct cmx_channel *from,
			     struct cmx_channel *to)
{
	struct cmx_event *ev;
	LIST_HEAD(events);

	lockdep_assert_held(&from->mutex);
	if (!READ_ONCE(user_id->queued))
		return;
	spin_lock(&from->lock);
	list_for_each_entry(ev, &user_id->events, id_item)
		list_move_tail(&ev->item, &events);
	spin_unlock(&from->lock);
	spin_lock(&to->lock);
	list_splice_tail(&events, &to->events);
	spin_unlock(&to->lock);
	channel_wake(to);
}

/* Finish a fetch. The process has the event, so that nothing may fail here. */
static void channel_event_fetched(struct cmx_channel *channel, struct cmx_event *ev, u32 handle)
{
	struct cmx_user_id *user_id = cmx_event_user_id(ev);

	spin_lock(&channel->lock);
	channel_event_del(user_id, ev);
	spin_unlock(&channel->lock);
	atomic_dec(&channel_num_queued);
	user_id->fetched++;
	if (ev->mc)
		WRITE_ONCE(ev->mc->fetched, ev->mc->fetched + 1);
	if (ev->listener) {
		cmx_user_id_return_backlog(to_user_id(ev->id_priv));
		cmx_handle_publish_id(to_user_id(ev->id_priv), handle, channel);
	}
	cmx_event_free(ev);
}

/* Events leave the queue under the mutex only, so that the first one stays while it is copied. */
static int channel_event_fetch(struct cmx_channel *channel, const struct cmx_event_buf *room, u32 n)
{
	void __user *to = room->to + n * (room->sizes.resp + room->sizes.info);
	struct cmx_event *ev;
	u32 handle = 0;
	int ret;

	lockdep_assert_held(&channel->mutex);
	spin_lock(&channel->lock);
	ev = list_first_entry_or_null(&channel->events, struct cmx_event, item);
	spin_unlock(&channel->lock);
	if (!ev)
		return -EAGAIN;
	if (ev->listener) {
		ret = cmx_handle_reserve(&handle);
		if (ret)
			return ret;
	}
	cmx_event_record_fill(&channel->record, ev, cmx_event_user_id(ev), handle, &room->sizes);
	ret = cmx_event_record_copy(to, &channel->record, &room->sizes);
	if (ret) {
		if (ev->listener)
			cmx_handle_abort(handle);
		return ret;
	}
	channel_event_fetched(channel, ev, handle);
	return 0;
}

/* Fetch as many events as there are, but not more than fit. @n receives their number. */
static int channel_events_fetch(struct cmx_channel *channel, const struct cmx_event_buf *room,
				u32 *n)
{
	int ret;

	do {
		ret = channel_event_fetch(channel, room, *n);
	} while (!ret && ++*n < room->max);
	return ret;
}

/**
 * cmx_channel_fetch_events() - copy events to the process and remove them from the queue
 * @channel: the channel
 * @room: buffer of the process
 * @block: wait for the first event
 *
 * Return: the number of events, or -EAGAIN, -ERESTARTSYS, -EINTR, -ENOMEM, -EFAULT. An event that
 * could not be copied stays in the queue.
 */
int cmx_channel_fetch_events(struct cmx_channel *channel, const struct cmx_event_buf *room,
			     bool block)
{
	u32 n = 0;
	int ret;

	do {
		if (block && wait_event_interruptible(channel->wait, !list_empty(&channel->events)))
			return -ERESTARTSYS;
		/* in-tree, a signal does not interrupt this either */
		if (mutex_lock_killable(&channel->mutex))
			return -EINTR;
		ret = channel_events_fetch(channel, room, &n);
		mutex_unlock(&channel->mutex);
	} while (block && !n && ret == -EAGAIN);
	return n ? n : ret;
}

/**
 * cmx_channel_process() - get the process that opened a channel
 * @channel: the channel
 *
 * Context: Caller must hold the RCU read lock.
 * Return: the leader of its threads, or NULL if it has ended.
 */
struct task_struct *cmx_channel_process(const struct cmx_channel *channel)
{
	struct task_struct *task;

	task = pid_task(find_pid_ns(channel->pid, &init_pid_ns), PIDTYPE_TGID);
	return task && task->start_time == channel->pid_start ? task : NULL;
}

/**
 * cmx_channel_new() - create a channel
 *
 * Return: the channel, or NULL if there is not enough memory.
 */
struct cmx_channel *cmx_channel_new(void)
{
	struct cmx_channel *channel = kzalloc(sizeof(*channel), GFP_KERNEL_ACCOUNT);

	if (!channel)
		return NULL;
	channel->quota = cmx_quota_open();
	if (IS_ERR(channel->quota)) {
		kfree(channel);
		return NULL;
	}
	mutex_init(&channel->mutex);
	spin_lock_init(&channel->lock);
	INIT_LIST_HEAD(&channel->events);
	init_waitqueue_head(&channel->wait);
	INIT_LIST_HEAD(&channel->ids);
	channel->pid = task_tgid_nr(current);
	channel->pid_start = current->group_leader->start_time;
	channel->uid = current_euid();
	mmgrab(current->mm);
	channel->mm = current->mm;
	channel->memcg = cmx_memcg_get_current();
	return channel;
}

/**
 * cmx_channel_close() - destroy a channel with its ids and events
 * @channel: the channel. Only posting an event may still access it
 *
 * This also runs after kill -9. Each connection is released: over ib_cm its DREQ is sent and
 * repeated (ib_close.c), an attempt ends with a REJ, and on iWARP TCP is closed.
 */
void cmx_channel_close(struct cmx_channel *channel)
{
	struct cmx_user_id *user_id;

	/* no call can add or remove an id any more, so that the list needs no lock */
	while ((user_id = list_first_entry_or_null(&channel->ids, struct cmx_user_id, item))) {
		cmx_handle_take_id(channel, user_id->handle);
		cmx_id_shutdown(&user_id->id_priv);
		cmx_user_id_put(user_id);
		cond_resched();
	}
	cmx_channel_discard_events(&channel->events);
	mmdrop(channel->mm);
	cmx_quota_put(channel->quota);
	mem_cgroup_put(channel->memcg);
	mutex_destroy(&channel->mutex);
	kfree_rcu(channel, rcu);
}
