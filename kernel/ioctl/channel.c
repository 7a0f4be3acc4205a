// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of an event channel, and the consumer operations for the ids of processes.
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
#include "join.h"
#include "quota.h"
#include "teardown.h"

/* A cache of its own: there can be thousands of ids, and kmalloc() would round up their size. */
static struct kmem_cache *user_id_cache;

/* The id whose channel gets the event. For a CONNECT_REQUEST, this is the listener. */
static struct cmx_user_id *event_user_id(const struct cmx_event *ev)
{
	return to_user_id(ev->listener ?: ev->id_priv);
}

/*
 * Drop an event that the process will not see. A new id that comes with it has no consumer then and
 * is destroyed.
 */
static void event_discard(struct cmx_event *ev)
{
	if (ev->listener) {
		cmx_id_shutdown(ev->id_priv);
		cmx_id_put(ev->id_priv);
	}
	cmx_event_free(ev);
}

static void event_discard_all(struct list_head *events)
{
	struct cmx_event *ev, *next;

	list_for_each_entry_safe(ev, next, events, item) {
		event_discard(ev);
		cond_resched();
	}
}

static void channel_wake(struct cmx_channel *channel)
{
	wake_up_interruptible_poll(&channel->wait, EPOLLIN | EPOLLRDNORM);
}

/* Returns false if @user_id has left the channel. Caller must hold the RCU read lock. */
static bool channel_event_add(struct cmx_channel *channel, struct cmx_user_id *user_id,
			      struct cmx_event *ev)
{
	bool mine;

	spin_lock(&channel->lock);
	mine = channel == user_id->channel;
	if (mine) {
		list_add_tail(&ev->item, &channel->events);
		list_add_tail(&ev->id_item, &user_id->events);
		WRITE_ONCE(user_id->queued, user_id->queued + 1);
		if (ev->is_watch)
			WRITE_ONCE(user_id->watch_events,
				   user_id->watch_events | BIT(ev->ev.event));
	}
	spin_unlock(&channel->lock);
	if (mine)
		channel_wake(channel);
	return mine;
}

/*
 * Link layer addresses may change again and again. A process that does not fetch these events must
 * not fill the memory with them.
 */
static bool user_watch_is_excess(const struct cmx_user_id *user_id, enum rdma_cm_event_type type)
{
	return READ_ONCE(user_id->watch_events) & BIT(type);
}

static bool user_event_post(struct cmx_event *ev)
{
	struct cmx_user_id *user_id = event_user_id(ev);
	struct cmx_channel *channel = NULL;

	/* a process only gets the index of the GID, and in the queue it could outlive the device */
	cmx_event_put_gid(ev);
	rcu_read_lock();
	if (!READ_ONCE(user_id->not_accepted) &&
	    !(ev->is_watch && user_watch_is_excess(user_id, ev->ev.event)))
		while ((channel = READ_ONCE(user_id->channel)) &&
		       !channel_event_add(channel, user_id, ev))
			;
	rcu_read_unlock();
	if (!channel && ev->mc)
		ev->mc->posted--;
	return channel;
}

static struct cmx_id_private *user_id_alloc(gfp_t gfp)
{
	struct cmx_user_id *user_id = kmem_cache_zalloc(user_id_cache, gfp | __GFP_ACCOUNT);

	if (!user_id)
		return NULL;
	INIT_LIST_HEAD(&user_id->groups);
	INIT_LIST_HEAD(&user_id->events);
	atomic_set(&user_id->calls_left, CMX_USER_ID_CALLS);
	init_waitqueue_head(&user_id->calls_wait);
	user_id->id_priv.user = 1;
	return &user_id->id_priv;
}

/* The request of @user_id was fetched or has ended, so its listener can accept another one. */
static void user_id_return_backlog(struct cmx_user_id *user_id)
{
	struct cmx_user_id *listener = user_id->backlog_listener;

	if (!listener)
		return;
	user_id->backlog_listener = NULL;
	atomic_inc(&listener->backlog);
	cmx_user_id_put(listener);
}

static void user_id_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(user_id_cache, to_user_id(container_of(rcu, struct cmx_id_private, rcu)));
}

static void user_id_free(struct cmx_id_private *id_priv)
{
	user_id_return_backlog(to_user_id(id_priv));
	cmx_quota_uncharge(id_priv->quota);
	call_rcu(&id_priv->rcu, user_id_free_rcu);
}

/*
 * The new id receives no events until it is accepted, because the process does
 * not know the id yet. If an event is dropped for this reason, the accept fails.
 */
static int user_id_adopt(struct cmx_id_private *child, struct cmx_id_private *listener)
{
	struct cmx_user_id *user_id = to_user_id(child), *l = to_user_id(listener);

	if (!READ_ONCE(l->channel))
		return -ECONNABORTED;
	if (!atomic_add_unless(&l->backlog, -1, 0))
		return -EAGAIN;
	if (cmx_quota_charge(listener->quota)) {
		atomic_inc(&l->backlog);
		return -EDQUOT;
	}
	child->quota = listener->quota;
	cmx_id_get(listener);
	user_id->backlog_listener = l;
	user_id->not_accepted = true;
	return 0;
}

/* The id may leave its channel meanwhile, and the channel may end. */
static struct mem_cgroup *user_id_memcg(struct cmx_id_private *id_priv)
{
	const struct cmx_channel *channel;
	struct mem_cgroup *memcg = NULL;

	rcu_read_lock();
	channel = READ_ONCE(to_user_id(id_priv)->channel);
	if (channel)
		memcg = cmx_memcg_tryget(channel->memcg);
	rcu_read_unlock();
	return memcg;
}

/* A process that fetches no events must not fill the memory with those of rejoined groups. */
static bool user_id_is_full(struct cmx_id_private *id_priv, enum rdma_cm_event_type type)
{
	const struct cmx_user_id *user_id = to_user_id(id_priv);

	if (type == RDMA_CM_EVENT_MULTICAST_JOIN)
		return cmx_user_id_queue_is_full(user_id);
	return READ_ONCE(user_id->not_accepted) || user_watch_is_excess(user_id, type);
}

static void user_event_flush(struct cmx_id_private *id_priv)
{
	/* user_event_post() has delivered the events */
}

const struct cmx_id_consumer_ops cmx_user_consumer_ops = {
	.alloc = user_id_alloc,
	.free = user_id_free,
	.adopt = user_id_adopt,
	.post = user_event_post,
	.discard = event_discard,
	.flush = user_event_flush,
	.flush_later = user_event_flush,
	.memcg = user_id_memcg,
	.is_full = user_id_is_full,
};

/* An event leaves the queue. Caller must hold the lock of the queue. */
static void channel_event_del(struct cmx_user_id *user_id, struct cmx_event *ev)
{
	list_del(&ev->item);
	list_del(&ev->id_item);
	WRITE_ONCE(user_id->queued, user_id->queued - 1);
	if (ev->is_watch)
		WRITE_ONCE(user_id->watch_events, user_id->watch_events & ~BIT(ev->ev.event));
}

/*
 * Move the events of @user_id from the queue to @events; with @mc, only those of that
 * membership. Caller must hold the mutex of the channel.
 */
static void channel_events_take(struct cmx_channel *channel, struct cmx_user_id *user_id,
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

/*
 * Move the events of @user_id to the queue of its new channel. Caller must hold the lock of the id,
 * so that no event is posted meanwhile, and the mutex of the old channel.
 */
static void channel_events_move(struct cmx_user_id *user_id, struct cmx_channel *from,
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

/**
 * cmx_user_id_set_channel() - change the channel that an id posts its events to
 * @user_id: the id; it has a channel. Caller must hold the lock of the table of ids, which all
 *	users share, so the events in the queue are not looked at
 * @to: new channel, or NULL
 */
void cmx_user_id_set_channel(struct cmx_user_id *user_id, struct cmx_channel *to)
{
	struct cmx_channel *from = user_id->channel;

	spin_lock(&from->lock);
	WRITE_ONCE(user_id->channel, to);
	spin_unlock(&from->lock);
}

/**
 * cmx_user_id_destroy() - destroy an id
 * @user_id: the id, from cmx_handle_take_id(); the consumer's reference is dropped
 * @channel: channel that it belonged to
 *
 * Its events in the queue are dropped, and new ids that come with them are
 * destroyed. A fetch by another thread may wait for user memory for ever and
 * keep the mutex. If the caller is killed meanwhile, the events stay in the
 * queue until cmx_channel_close().
 *
 * Return: the number of events that were fetched for it; 0 if the caller has
 * been killed.
 */
u32 cmx_user_id_destroy(struct cmx_user_id *user_id, struct cmx_channel *channel)
{
	LIST_HEAD(events);
	u32 fetched = 0;

	cmx_id_shutdown(&user_id->id_priv);
	if (mutex_lock_killable(&channel->mutex))
		goto out;
	channel_events_take(channel, user_id, NULL, &events);
	fetched = user_id->fetched;
	mutex_unlock(&channel->mutex);
	event_discard_all(&events);
out:
	cmx_user_id_put(user_id);
	return fetched;
}

/**
 * cmx_user_id_leave_group() - leave a group
 * @channel: channel of the id
 * @handle: handle of the membership
 * @fetched: receives the number of events that were fetched for the membership
 *
 * Return: 0, -ENOENT, or -EINTR if the caller has been killed.
 */
int cmx_user_id_leave_group(struct cmx_channel *channel, u32 handle, u32 *fetched)
{
	struct cmx_mcast *mc;
	LIST_HEAD(events);

	/* the mutex keeps the id from moving to another channel */
	if (mutex_lock_killable(&channel->mutex))
		return -EINTR;
	mc = cmx_handle_take_mcast(channel, handle);
	if (IS_ERR(mc)) {
		mutex_unlock(&channel->mutex);
		return PTR_ERR(mc);
	}
	cmx_mcast_end(mc);
	channel_events_take(channel, to_user_id(mc->id_priv), mc, &events);
	*fetched = mc->fetched;
	mutex_unlock(&channel->mutex);
	event_discard_all(&events);
	cmx_mcast_put(mc);
	return 0;
}

/**
 * cmx_user_id_migrate() - move an id to another channel
 * @from: its channel
 * @handle: its handle, which stays the same
 * @to: new channel
 * @fetched: receives the number of events that were fetched for it so far
 *
 * The function waits for the end of the command that creates the id.
 *
 * Return: 0, an error if the caller is killed while it waits, or the error of cmx_handle_move_id().
 */
int cmx_user_id_migrate(struct cmx_channel *from, u32 handle, struct cmx_channel *to, u32 *fetched)
{
	struct cmx_user_id *user_id = cmx_handle_get_id(from, handle);
	int ret;

	if (IS_ERR(user_id))
		return PTR_ERR(user_id);
	ret = wait_event_killable(user_id->calls_wait, !READ_ONCE(user_id->creating));
	/* a fetch by another process may be slow */
	if (!ret)
		ret = mutex_lock_killable(&from->mutex);
	if (ret) {
		cmx_user_id_put(user_id);
		return ret;
	}
	mutex_lock(&user_id->id_priv.lock);
	/* after the move, a fetch from the new channel increments it */
	*fetched = user_id->fetched;
	ret = cmx_handle_move_id(user_id, from, to);
	if (!ret)
		channel_events_move(user_id, from, to);
	mutex_unlock(&user_id->id_priv.lock);
	mutex_unlock(&from->mutex);
	cmx_user_id_put(user_id);
	return ret;
}

/* Finish a fetch. The process has the event, so that nothing may fail here. */
static void channel_event_fetched(struct cmx_channel *channel, struct cmx_event *ev, u32 handle)
{
	struct cmx_user_id *user_id = event_user_id(ev);

	spin_lock(&channel->lock);
	channel_event_del(user_id, ev);
	spin_unlock(&channel->lock);
	user_id->fetched++;
	if (ev->mc)
		WRITE_ONCE(ev->mc->fetched, ev->mc->fetched + 1);
	if (ev->listener) {
		user_id_return_backlog(to_user_id(ev->id_priv));
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
	cmx_event_record_fill(&channel->record, ev, event_user_id(ev), handle, &room->sizes);
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
 */
void cmx_channel_close(struct cmx_channel *channel)
{
	struct cmx_user_id *user_id;

	while ((user_id = cmx_handle_take_any(channel))) {
		cmx_id_shutdown(&user_id->id_priv);
		cmx_user_id_put(user_id);
		cond_resched();
	}
	event_discard_all(&channel->events);
	mmdrop(channel->mm);
	cmx_quota_put(channel->quota);
	mem_cgroup_put(channel->memcg);
	mutex_destroy(&channel->mutex);
	kfree_rcu(channel, rcu);
}

int cmx_user_id_init_module(void)
{
	user_id_cache = KMEM_CACHE(cmx_user_id, 0);
	return user_id_cache ? 0 : -ENOMEM;
}

void cmx_user_id_exit_module(void)
{
	rcu_barrier();
	kmem_cache_destroy(user_id_cache);
}
