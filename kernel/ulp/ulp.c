// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids of kernel ULPs, whose events are delivered by callback.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "device.h"
#include "event.h"
#include "id_table.h"
#include "mcast.h"
#include "teardown.h"
#include "ulp.h"

/**
 * struct ulp_id - an id of a kernel ULP
 * @id_priv: the id
 * @owner: name of the module of the ULP; valid until the id is destroyed
 * @destroyed_by_ulp: the ULP has released the id
 * @events: events that are not yet delivered
 * @handler_task: task that delivers events or has locked the handler, or NULL. It is set by
 *	cmpxchg(), and cleared only under the lock of the id, after a look at @events
 * @handler_mutex: held while a handler runs for an event of this id, or for a request to this
 *	listener
 * @work: delivers the events of cmx_event_post(), requests on iWARP, and the events that waited for
 *	cmx_unlock_handler()
 * @index: index in cmx_id_table; 0 until the id is there
 * @requests: number of CONNECT_REQUESTs of this listener that are not yet done
 *
 * The lock of the id protects @owner, @destroyed_by_ulp and @events.
 *
 * Waiters for @handler_task or @requests use wait_var_event() on the address of the id.
 */
struct ulp_id {
	struct cmx_id_private id_priv;
	const char *owner;
	bool destroyed_by_ulp;
	struct list_head events;
	struct task_struct *handler_task;
	struct mutex handler_mutex;	/* one request to a listener at a time */
	struct work_struct work;
	u32 index;
	atomic_t requests;
};

/*
 * At most this many requests to a listener wait for its handler. On iWARP a worker of
 * &cmx_device.event_wq waits for each of them, and some workers must be left for other ids.
 */
#define MAX_REQUESTS 128

static struct kmem_cache *ulp_cache;

static struct ulp_id *to_ulp(struct cmx_id_private *id_priv)
{
	return container_of(id_priv, struct ulp_id, id_priv);
}

static struct cmx_event *ulp_event_pop(struct ulp_id *ulp)
{
	struct cmx_event *ev = list_first_entry_or_null(&ulp->events, struct cmx_event, item);

	if (ev)
		list_del(&ev->item);
	return ev;
}

/* Wake up the waiters for @handler_task or @requests, one of which has changed. */
static void ulp_id_wake_waiters(struct ulp_id *ulp)
{
	smp_mb();	/* pairs with prepare_to_wait_event() of the waiter */
	wake_up_var(ulp);
}

static void ulp_event_done(struct cmx_event *ev)
{
	if (ev->listener) {
		struct ulp_id *listener = to_ulp(ev->listener);

		if (atomic_dec_and_test(&listener->requests))
			ulp_id_wake_waiters(listener);
	}
	cmx_event_free(ev);
}

static bool ulp_handler_is_running(const struct ulp_id *ulp)
{
	return READ_ONCE(ulp->handler_task);
}

static bool ulp_handler_trylock(struct ulp_id *ulp)
{
	return !cmpxchg(&ulp->handler_task, NULL, current);
}

/* Caller must hold the lock of the id, and look at the events of the id before it releases it. */
static void ulp_handler_unlock(struct ulp_id *ulp)
{
	lockdep_assert_held(&ulp->id_priv.lock);
	WRITE_ONCE(ulp->handler_task, NULL);
	ulp_id_wake_waiters(ulp);
}

/* Destroy an id that the ULP has released. No handler runs, and none will start. */
static void ulp_id_end(struct ulp_id *ulp)
{
	struct cmx_device *dev;
	struct cmx_event *ev;

	/* keep the device: events that were not delivered may refer to its GIDs */
	mutex_lock(&ulp->id_priv.lock);
	dev = ulp->id_priv.dev;
	if (dev)
		cmx_device_get(dev);
	mutex_unlock(&ulp->id_priv.lock);
	cmx_id_shutdown(&ulp->id_priv);
	/* the id is dead, so that no event is added any more */
	while ((ev = ulp_event_pop(ulp)))
		ulp_event_done(ev);
	if (dev)
		cmx_device_put(dev);
	cmx_id_put(&ulp->id_priv);
}

/* Call the handler. Returns true if the caller must end the id. */
static bool ulp_event_handle(struct ulp_id *ulp, struct cmx_event *ev)
{
	struct ulp_id *handler_owner = ev->listener ? to_ulp(ev->listener) : ulp;
	struct cmx_id *id = &ulp->id_priv.id;
	bool end = false;
	int ret;

	mutex_lock(&handler_owner->handler_mutex);
	/* the ULP may have changed context or handler of the listener while the request waited */
	if (ev->listener) {
		id->context = ev->listener->id.context;
		id->event_handler = ev->listener->id.event_handler;
	}
	ret = -ECONNABORTED;
	/* the ULP may have freed the context of a membership that it has left */
	if (ev->mc && READ_ONCE(ev->mc->left))
		ret = 0;
	else if (!READ_ONCE(handler_owner->destroyed_by_ulp))
		ret = id->event_handler(id, &ev->ev);
	if (ret) {
		mutex_lock(&ulp->id_priv.lock);
		end = !ulp->destroyed_by_ulp;
		WRITE_ONCE(ulp->destroyed_by_ulp, true);
		/* the module may be unloaded as soon as its last event is done */
		ulp->owner = NULL;
		mutex_unlock(&ulp->id_priv.lock);
	}
	mutex_unlock(&handler_owner->handler_mutex);
	return end;
}

static void ulp_events_deliver(struct cmx_id_private *id_priv)
{
	struct ulp_id *ulp = to_ulp(id_priv);
	struct cmx_event *ev;
	bool end = false;

	cmx_id_lock(id_priv);
	if (!ulp_handler_trylock(ulp)) {
		cmx_id_unlock(id_priv);
		return;
	}
	while (!ulp->destroyed_by_ulp && (ev = ulp_event_pop(ulp))) {
		mutex_unlock(&id_priv->lock);
		end = ulp_event_handle(ulp, ev);
		ulp_event_done(ev);
		mutex_lock(&id_priv->lock);
	}
	ulp_handler_unlock(ulp);
	mutex_unlock(&id_priv->lock);
	if (end)
		ulp_id_end(ulp);
	cmx_id_put(id_priv);
}

static void ulp_events_work(struct work_struct *work)
{
	struct ulp_id *ulp = container_of(work, struct ulp_id, work);

	ulp_events_deliver(&ulp->id_priv);
	cmx_id_put(&ulp->id_priv);
}

/*
 * The handler may wait for the device, so it runs in the queue of the device. Caller must hold the
 * lock of the id.
 */
static void ulp_events_queue_work(struct ulp_id *ulp)
{
	struct cmx_device *dev = ulp->id_priv.dev;

	lockdep_assert_held(&ulp->id_priv.lock);
	cmx_id_get(&ulp->id_priv);
	if (!queue_work(dev ? dev->event_wq : cmx_wq, &ulp->work))
		cmx_id_put(&ulp->id_priv);
}

static bool ulp_event_queue(struct cmx_event *ev)
{
	lockdep_assert_held(&ev->id_priv->lock);
	list_add_tail(&ev->item, &to_ulp(ev->id_priv)->events);
	return true;
}

/* If a task delivers events or has locked the handler, it also delivers the new events. */
static void ulp_events_deliver_later(struct cmx_id_private *id_priv)
{
	struct ulp_id *ulp = to_ulp(id_priv);

	if (!ulp_handler_is_running(ulp))
		ulp_events_queue_work(ulp);
}

/* Add the id to the table that cmx show lists and debugfs counts. */
static int ulp_id_publish(struct ulp_id *ulp)
{
	int ret;

	xa_lock(&cmx_id_table);
	ret = cmx_id_table_alloc(xa_tag_pointer(&ulp->id_priv, CMX_TAG_ID), &ulp->index,
				 GFP_KERNEL);
	xa_unlock(&cmx_id_table);
	return ret;
}

static int ulp_id_adopt(struct cmx_id_private *child, struct cmx_id_private *listener)
{
	int ret;

	if (atomic_read(&to_ulp(listener)->requests) >= MAX_REQUESTS)
		return -EAGAIN;
	ret = ulp_id_publish(to_ulp(child));
	to_ulp(child)->owner = to_ulp(listener)->owner;
	if (!ret)
		atomic_inc(&to_ulp(listener)->requests);
	return ret;
}

static struct cmx_id_private *ulp_id_alloc(gfp_t gfp)
{
	struct ulp_id *ulp = kmem_cache_zalloc(ulp_cache, gfp);

	if (!ulp)
		return NULL;
	mutex_init(&ulp->handler_mutex);
	INIT_LIST_HEAD(&ulp->events);
	INIT_WORK(&ulp->work, ulp_events_work);
	return &ulp->id_priv;
}

static void ulp_id_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(ulp_cache, to_ulp(container_of(rcu, struct cmx_id_private, rcu)));
}

static void ulp_id_free(struct cmx_id_private *id_priv)
{
	struct ulp_id *ulp = to_ulp(id_priv);

	if (ulp->index)
		xa_erase(&cmx_id_table, ulp->index);
	call_rcu(&id_priv->rcu, ulp_id_free_rcu);
}

static bool ulp_id_meets(struct cmx_id_private *id_priv, const struct cmx_rule *rule)
{
	const char *owner = to_ulp(id_priv)->owner;

	return owner && !(rule->match & (CMX_RULE_UID | CMX_RULE_CGROUP)) &&
	       !strcmp(owner, rule->ulp);
}

static const struct cmx_id_consumer_ops ulp_consumer_ops = {
	.alloc = ulp_id_alloc,
	.free = ulp_id_free,
	.adopt = ulp_id_adopt,
	.queue = ulp_event_queue,
	.deliver = ulp_events_deliver,
	.deliver_later = ulp_events_deliver_later,
	.meets = ulp_id_meets,
};

/**
 * cmx_ulp_owner() - get the name of the module that owns an id
 * @id_priv: the id, of a ULP
 *
 * Context: Caller must hold id_priv->lock. The module is not unloaded before its ids are destroyed.
 * Return: the name, or NULL if the id has been destroyed.
 */
const char *cmx_ulp_owner(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	return id_priv->state == CMX_DEAD ? NULL : to_ulp(id_priv)->owner;
}

/**
 * __cmx_create_id() - see cmx_create_id()
 * @net: as there
 * @handler: as there
 * @context: as there
 * @ps: as there
 * @qp_type: as there
 * @owner: name of the calling module; must stay valid until the id is destroyed
 *
 * Context: process, may sleep.
 *
 * Return: as there.
 */
struct cmx_id *__cmx_create_id(struct net *net, cmx_event_handler handler, void *context,
			       enum rdma_ucm_port_space ps, enum ib_qp_type qp_type,
			       const char *owner)
{
	struct cmx_id_private *id_priv;
	int ret;

	if (!handler)
		return ERR_PTR(-EINVAL);
	id_priv = cmx_id_new(net, &ulp_consumer_ops, ps, qp_type, GFP_KERNEL);
	if (IS_ERR(id_priv))
		return ERR_CAST(id_priv);
	id_priv->id.event_handler = handler;
	id_priv->id.context = context;
	to_ulp(id_priv)->owner = owner;
	ret = ulp_id_publish(to_ulp(id_priv));
	if (ret) {
		cmx_id_shutdown(id_priv);
		cmx_id_put(id_priv);
		return ERR_PTR(ret);
	}
	return &id_priv->id;
}
EXPORT_SYMBOL_GPL(__cmx_create_id);

/**
 * cmx_destroy_id() - destroy an id
 * @id: the id; its QP has been destroyed
 *
 * Waits for a running handler, but never for the peer. The running handler sees the id unchanged.
 * After this function returns, no handler runs for @id or for requests to it as a listener.
 *
 * Context: process, may sleep. Not from the handler of @id, which returns non-zero instead, and not
 * from the handler of a request to @id.
 *
 * Return: none.
 */
void cmx_destroy_id(struct cmx_id *id)
{
	struct ulp_id *ulp = to_ulp(to_id_priv(id));

	cmx_id_lock(&ulp->id_priv);
	WRITE_ONCE(ulp->destroyed_by_ulp, true);
	mutex_unlock(&ulp->id_priv.lock);
	wait_var_event(ulp, !ulp_handler_is_running(ulp));
	ulp_id_end(ulp);
	wait_var_event(ulp, !atomic_read(&ulp->requests));
	cmx_id_put(&ulp->id_priv);
}
EXPORT_SYMBOL_GPL(cmx_destroy_id);

/**
 * cmx_lock_handler() - prevent the handler of an id from running
 * @id: the id
 *
 * Waits for a running handler. Events, and requests to a listener, wait until cmx_unlock_handler().
 * Until then the caller may call any function except cmx_destroy_id(), and may change @context and
 * @event_handler of the id.
 *
 * Context: process, may sleep. Not from the handler of @id or of a request to @id. The same task
 * calls cmx_unlock_handler().
 *
 * Return: none.
 */
void cmx_lock_handler(struct cmx_id *id)
{
	struct ulp_id *ulp = to_ulp(to_id_priv(id));

	wait_var_event(ulp, ulp_handler_trylock(ulp));
	mutex_lock(&ulp->handler_mutex);
}
EXPORT_SYMBOL_GPL(cmx_lock_handler);

/**
 * cmx_unlock_handler() - let the handler of an id run again
 * @id: the id, locked by cmx_lock_handler()
 *
 * Context: process, may sleep. Does not run the handler itself.
 *
 * Return: none.
 */
void cmx_unlock_handler(struct cmx_id *id)
{
	struct ulp_id *ulp = to_ulp(to_id_priv(id));

	mutex_unlock(&ulp->handler_mutex);
	cmx_id_lock(&ulp->id_priv);
	if (!list_empty(&ulp->events))
		ulp_events_queue_work(ulp);
	ulp_handler_unlock(ulp);
	cmx_id_unlock(&ulp->id_priv);
}
EXPORT_SYMBOL_GPL(cmx_unlock_handler);

int cmx_ulp_init_module(void)
{
	/* a cache of its own, because kmalloc() would round up the size */
	ulp_cache = KMEM_CACHE(ulp_id, 0);
	return ulp_cache ? 0 : -ENOMEM;
}

void cmx_ulp_exit_module(void)
{
	rcu_barrier();
	kmem_cache_destroy(ulp_cache);
}
