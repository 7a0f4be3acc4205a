// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids of kernel ULPs: events by callback.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>
#include <linux/xarray.h>
#include "device.h"
#include "event.h"
#include "teardown.h"
#include "ulp.h"

/**
 * struct ulp_id - an id of a kernel ULP
 * @p: the id
 * @lock: protects the next three fields
 * @over: the ULP has let go of the id
 * @events: not yet delivered
 * @runner: task that delivers or has locked the handler, or NULL
 * @work: delivers what verbs queued
 * @index: in ulp_ids; 0 before it is there
 * @requests: CONNECT_REQUESTs of this listener not yet over
 *
 * Who waits for the end of @runner or of @requests waits for the variable u.
 */
struct ulp_id {
	struct cmx_priv p;
	spinlock_t lock;	/* protects over, events, runner */
	bool over;
	struct list_head events;
	struct task_struct *runner;
	struct work_struct work;
	u32 index;
	atomic_t requests;
};

static struct kmem_cache *ulp_cache;
static struct workqueue_struct *ulp_wq;
static DEFINE_XARRAY_ALLOC1(ulp_ids);

static struct ulp_id *to_ulp(struct cmx_priv *p)
{
	return container_of(p, struct ulp_id, p);
}

static struct cmx_event *next_event(struct ulp_id *u)
{
	struct cmx_event *ev = list_first_entry_or_null(&u->events, struct cmx_event, item);

	if (ev)
		list_del(&ev->item);
	return ev;
}

/* Somebody may wait for what has just changed. */
static void idle(struct ulp_id *u)
{
	smp_mb();	/* pairs with prepare_to_wait_event() of who waits */
	wake_up_var(u);
}

static void event_done(struct cmx_event *ev)
{
	if (ev->listener) {
		struct ulp_id *l = to_ulp(ev->listener);

		if (atomic_dec_and_test(&l->requests))
			idle(l);
	}
	cmx_event_free(ev);
}

static bool runs(struct ulp_id *u)
{
	bool ret;

	spin_lock(&u->lock);
	ret = u->runner;
	spin_unlock(&u->lock);
	return ret;
}

/* The ULP is done with the id, which is over: no handler runs, nor will. */
static void ulp_end(struct ulp_id *u)
{
	struct cmx_device *dev;
	struct cmx_event *ev;

	/* events that nobody got may refer to its GIDs */
	mutex_lock(&u->p.lock);
	dev = u->p.dev;
	if (dev)
		cmx_device_get(dev);
	mutex_unlock(&u->p.lock);
	cmx_id_kill(&u->p);
	/* dead: nothing is added any more */
	while ((ev = next_event(u)))
		event_done(ev);
	if (dev)
		cmx_device_put(dev);
	cmx_id_put(&u->p);
}

static bool listener_over(struct cmx_event *ev)
{
	return ev->listener && READ_ONCE(to_ulp(ev->listener)->over);
}

static void ulp_flush(struct cmx_priv *p)
{
	struct ulp_id *u = to_ulp(p);
	struct cmx_event *ev;
	int ret = 0;

	cmx_id_get(p);
	spin_lock(&u->lock);
	if (u->runner)
		goto out;
	u->runner = current;
	while (!ret && !u->over && (ev = next_event(u))) {
		spin_unlock(&u->lock);
		ret = listener_over(ev) ? -ECONNABORTED : p->id.event_handler(&p->id, &ev->ev);
		event_done(ev);
		spin_lock(&u->lock);
	}
	if (u->over)
		ret = 0;
	else if (ret)
		u->over = true;
	u->runner = NULL;
	idle(u);
out:
	spin_unlock(&u->lock);
	if (ret)
		ulp_end(u);
	cmx_id_put(p);
}

static void ulp_work(struct work_struct *work)
{
	struct ulp_id *u = container_of(work, struct ulp_id, work);

	ulp_flush(&u->p);
	cmx_id_put(&u->p);
}

static void deliver_later(struct ulp_id *u)
{
	cmx_id_get(&u->p);
	if (!queue_work(ulp_wq, &u->work))
		cmx_id_put(&u->p);
}

static void ulp_post(struct cmx_event *ev)
{
	struct ulp_id *u = to_ulp(ev->p);

	spin_lock(&u->lock);
	list_add_tail(&ev->item, &u->events);
	spin_unlock(&u->lock);
}

/* Who runs takes along what comes meanwhile. */
static void ulp_flush_later(struct cmx_priv *p)
{
	struct ulp_id *u = to_ulp(p);

	if (!runs(u))
		deliver_later(u);
}

/* From here on debugfs finds it. */
static int ulp_publish(struct ulp_id *u)
{
	return xa_alloc(&ulp_ids, &u->index, u, xa_limit_32b, GFP_KERNEL);
}

static int ulp_adopt(struct cmx_priv *child, struct cmx_priv *listener)
{
	int ret = ulp_publish(to_ulp(child));

	if (!ret)
		atomic_inc(&to_ulp(listener)->requests);
	return ret;
}

static struct cmx_priv *ulp_alloc(gfp_t gfp)
{
	struct ulp_id *u = kmem_cache_zalloc(ulp_cache, gfp);

	if (!u)
		return NULL;
	spin_lock_init(&u->lock);
	INIT_LIST_HEAD(&u->events);
	INIT_WORK(&u->work, ulp_work);
	return &u->p;
}

static void ulp_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(ulp_cache, to_ulp(container_of(rcu, struct cmx_priv, rcu)));
}

static void ulp_free(struct cmx_priv *p)
{
	struct ulp_id *u = to_ulp(p);

	if (u->index)
		xa_erase(&ulp_ids, u->index);
	call_rcu(&p->rcu, ulp_free_rcu);
}

static const struct cmx_sink ulp_sink = {
	.alloc = ulp_alloc,
	.free = ulp_free,
	.adopt = ulp_adopt,
	.post = ulp_post,
	.flush = ulp_flush,
	.flush_later = ulp_flush_later,
};

/**
 * cmx_create_id() - make a communication identifier
 * @net: network namespace whose devices, addresses and ports it uses
 * @handler: receives its events
 * @context: becomes @context of the id
 * @ps: port space
 * @qp_type: type of the QP that it will have
 *
 * Context: process, may sleep.
 *
 * Return: the id, or an ERR_PTR: -ENOMEM, -EINVAL without a handler.
 */
struct cmx_id *cmx_create_id(struct net *net, cmx_event_handler handler, void *context,
			     enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	struct cmx_priv *p;
	int ret;

	if (!handler)
		return ERR_PTR(-EINVAL);
	p = cmx_id_new(net, &ulp_sink, ps, qp_type, GFP_KERNEL);
	if (IS_ERR(p))
		return ERR_CAST(p);
	p->id.event_handler = handler;
	p->id.context = context;
	ret = ulp_publish(to_ulp(p));
	if (ret) {
		cmx_id_kill(p);
		cmx_id_put(p);
		return ERR_PTR(ret);
	}
	return &p->id;
}
EXPORT_SYMBOL_GPL(cmx_create_id);

/**
 * cmx_destroy_id() - end an id
 * @id: the id; its QP has been destroyed. Not from its own handler, which
 *	returns non-zero instead
 *
 * Waits for a handler that runs, never for the wire; to that one the id looks
 * as before. No handler runs for @id, or for requests to it as a listener, after
 * this returns.
 *
 * Context: process, may sleep.
 */
void cmx_destroy_id(struct cmx_id *id)
{
	struct ulp_id *u = to_ulp(to_priv(id));

	cmx_id_get(&u->p);
	spin_lock(&u->lock);
	u->over = true;
	spin_unlock(&u->lock);
	wait_var_event(u, !runs(u));
	ulp_end(u);
	wait_var_event(u, !atomic_read(&u->requests));
	cmx_id_put(&u->p);
}
EXPORT_SYMBOL_GPL(cmx_destroy_id);

static bool claim(struct ulp_id *u)
{
	bool mine;

	spin_lock(&u->lock);
	mine = !u->runner;
	if (mine)
		u->runner = current;
	spin_unlock(&u->lock);
	return mine;
}

/**
 * cmx_lock_handler() - keep the handler of an id from running
 * @id: the id
 *
 * Waits for a handler that runs. Events wait until cmx_unlock_handler(). In
 * between any verb may be called but cmx_destroy_id(), and @context and
 * @event_handler of the id may be changed.
 *
 * Context: process, may sleep. Not from the handler of @id.
 */
void cmx_lock_handler(struct cmx_id *id)
{
	struct ulp_id *u = to_ulp(to_priv(id));

	wait_var_event(u, claim(u));
}
EXPORT_SYMBOL_GPL(cmx_lock_handler);

/**
 * cmx_unlock_handler() - let the handler of an id run again
 * @id: the id, locked by cmx_lock_handler()
 *
 * Context: process. Does not run the handler itself.
 */
void cmx_unlock_handler(struct cmx_id *id)
{
	struct ulp_id *u = to_ulp(to_priv(id));
	bool more;

	spin_lock(&u->lock);
	u->runner = NULL;
	more = !list_empty(&u->events);
	if (more)
		deliver_later(u);
	idle(u);
	spin_unlock(&u->lock);
}
EXPORT_SYMBOL_GPL(cmx_unlock_handler);

/**
 * cmx_ulp_next_id() - the ids of all ULPs, one after the other
 * @index: where to look from; receives where the id was found
 *
 * Return: the id with a reference, or NULL.
 */
struct cmx_priv *cmx_ulp_next_id(unsigned long *index)
{
	struct ulp_id *u;

	xa_lock(&ulp_ids);
	xa_for_each_start(&ulp_ids, *index, u, *index)
		if (cmx_id_tryget(&u->p))
			break;
	xa_unlock(&ulp_ids);
	return u ? &u->p : NULL;
}

int cmx_ulp_init_module(void)
{
	/* as large as it is, and not as the next size that kmalloc() has */
	ulp_cache = KMEM_CACHE(ulp_id, 0);
	if (!ulp_cache)
		return -ENOMEM;
	ulp_wq = alloc_workqueue("rdma_cmx_ulp", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ulp_wq)
		kmem_cache_destroy(ulp_cache);
	return ulp_wq ? 0 : -ENOMEM;
}

void cmx_ulp_exit_module(void)
{
	destroy_workqueue(ulp_wq);
	rcu_barrier();
	kmem_cache_destroy(ulp_cache);
}
