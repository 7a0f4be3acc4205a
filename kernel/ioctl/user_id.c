// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ids of processes: the consumer operations, and what a process does with an id beside the CM
 * operations.
 */
#include <linux/slab.h>
#include "channel.h"
#include "charge.h"
#include "join.h"
#include "quota.h"
#include "teardown.h"

/* A cache of its own: there can be thousands of ids, and kmalloc() would round up their size. */
static struct kmem_cache *user_id_cache;

/*
 * Link layer addresses may change again and again. A process that does not fetch these events must
 * not fill the memory with them.
 */
static bool user_watch_is_excess(const struct cmx_user_id *user_id, enum rdma_cm_event_type type)
{
	return READ_ONCE(user_id->watch_events) & BIT(type);
}

static bool user_event_queue(struct cmx_event *ev)
{
	struct cmx_user_id *user_id = cmx_event_user_id(ev);
	struct cmx_channel *channel = NULL;

	/* a process only gets the index of the GID, and in the queue it could outlive the device */
	cmx_event_put_gid(ev);
	rcu_read_lock();
	if (!READ_ONCE(user_id->not_accepted) &&
	    !(ev->is_watch && user_watch_is_excess(user_id, ev->ev.event)))
		while ((channel = READ_ONCE(user_id->channel)) &&
		       !cmx_channel_add_event(channel, user_id, ev))
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

static void user_id_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(user_id_cache, to_user_id(container_of(rcu, struct cmx_id_private, rcu)));
}

static void user_id_free(struct cmx_id_private *id_priv)
{
	cmx_user_id_return_backlog(to_user_id(id_priv));
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

/* An id that has left its channel, or whose process has closed the file, meets no condition. */
static bool user_id_meets(struct cmx_id_private *id_priv, const struct cmx_rule *rule)
{
	const struct cmx_channel *channel = READ_ONCE(to_user_id(id_priv)->channel);

	if (!channel || rule->match & CMX_RULE_ULP)
		return false;
	if (rule->match & CMX_RULE_UID && from_kuid(&init_user_ns, channel->uid) != rule->uid)
		return false;
	return !(rule->match & CMX_RULE_CGROUP) || cmx_memcg_is_in(channel->memcg, rule->cgroup);
}

static void user_event_deliver(struct cmx_id_private *id_priv)
{
	/* user_event_queue() has delivered the events */
}

const struct cmx_id_consumer_ops cmx_user_consumer_ops = {
	.alloc = user_id_alloc,
	.free = user_id_free,
	.adopt = user_id_adopt,
	.queue = user_event_queue,
	.discard = cmx_channel_discard_event,
	.deliver = user_event_deliver,
	.deliver_later = user_event_deliver,
	.memcg = user_id_memcg,
	.is_full = user_id_is_full,
	.meets = user_id_meets,
};

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
	cmx_channel_take_events(channel, user_id, NULL, &events);
	fetched = user_id->fetched;
	mutex_unlock(&channel->mutex);
	cmx_channel_discard_events(&events);
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
	cmx_channel_take_events(channel, to_user_id(mc->id_priv), mc, &events);
	*fetched = mc->fetched;
	mutex_unlock(&channel->mutex);
	cmx_channel_discard_events(&events);
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
		cmx_channel_move_events(user_id, from, to);
	mutex_unlock(&user_id->id_priv.lock);
	mutex_unlock(&from->mutex);
	cmx_user_id_put(user_id);
	return ret;
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
