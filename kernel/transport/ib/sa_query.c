// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries of ids to the SA, and the names of what waits for a callback of ib_sa: it may call back
 * twice, and only the first call finds the waiter. See Documentation/locking.rst.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_sa.h>
#include "sa_query.h"
#include "timer.h"

struct ib_sa_client cmx_sa_client;
static DEFINE_XARRAY_ALLOC1(cmx_sa_names);

/**
 * cmx_sa_name_alloc() - give a name to what is to wait for a callback
 * @waiter: the waiter
 * @name: receives the name, which is not used again soon
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int cmx_sa_name_alloc(void *waiter, u32 *name)
{
	static u32 next;
	int ret = xa_alloc_cyclic(&cmx_sa_names, name, waiter, xa_limit_32b, &next, GFP_KERNEL);

	return min(ret, 0);
}

/**
 * cmx_sa_name_take() - take what waits for a callback
 * @name: its name
 *
 * Return: the waiter, or NULL if it has been taken before.
 */
void *cmx_sa_name_take(unsigned long name)
{
	return xa_erase(&cmx_sa_names, name);
}

/**
 * cmx_sa_query_status() - get the status of a query, for a step of the timer
 * @q: the query
 *
 * The lock keeps the query, and the timer, until the callback no longer uses them.
 *
 * Return: -EINPROGRESS if the timer steps for another reason; else the reply is valid.
 */
int cmx_sa_query_status(const struct cmx_sa_query *q)
{
	int status;

	xa_lock(&cmx_sa_names);
	status = q->status;
	xa_unlock(&cmx_sa_names);
	return status;
}

/**
 * cmx_sa_query_begin() - prepare a query for being sent, or sent again
 * @q: the query, with which the timer of the id has been started
 *
 * Context: Caller must hold the lock of the id until cmx_sa_query_set_sent(), so that no thread
 *	cancels the query before.
 * Return: 0 or -errno.
 */
int cmx_sa_query_begin(struct cmx_sa_query *q)
{
	lockdep_assert_held(&q->id_priv->lock);
	q->status = -EINPROGRESS;
	return cmx_sa_name_alloc(q, &q->name);
}

/**
 * cmx_sa_query_set_sent() - note that ib_sa has the query, or has refused it
 * @q: the query
 * @ret: number of the query, or -errno, from ib_sa
 *
 * Return: 0 or -errno.
 */
int cmx_sa_query_set_sent(struct cmx_sa_query *q, int ret)
{
	lockdep_assert_held(&q->id_priv->lock);
	if (ret < 0) {
		cmx_sa_name_take(q->name);
		return ret;
	}
	q->query_id = ret;
	return 0;
}

/**
 * cmx_sa_query_reply() - store the reply, and wake the timer of the id
 * @context: from the callback of ib_sa
 * @status: from there
 * @fill: stores the records. Called with a spinlock held
 * @recs: the records
 * @num: number of @recs, if @status is 0
 *
 * The MADs of the port wait for the callback. Therefore it does not take the lock of the id, which
 * somebody may hold for a long time.
 */
void cmx_sa_query_reply(const void *context, int status,
			void (*fill)(struct cmx_sa_query *q, const void *recs, unsigned int num),
			const void *recs, unsigned int num)
{
	struct cmx_sa_query *q;

	xa_lock(&cmx_sa_names);
	q = __xa_erase(&cmx_sa_names, (unsigned long)context);
	if (q) {
		fill(q, recs, status ? 0 : num);
		q->status = status;
		cmx_timer_wake(q->id_priv);
	}
	xa_unlock(&cmx_sa_names);
}

/**
 * cmx_sa_query_end() - end a query that ib_sa no longer has, and stop the timer
 * @id_priv: the id
 *
 * Return: the event of the timer, or NULL.
 */
struct cmx_event *cmx_sa_query_end(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	kfree(id_priv->sa_query);
	id_priv->sa_query = NULL;
	return cmx_timer_take(id_priv);
}

/**
 * cmx_sa_query_cancel() - cancel the query of an id
 * @id_priv: the id, whose timer the caller has stopped; nothing is done if it has no query
 *
 * A reply that comes later finds no query, and is ignored. The id may have been destroyed by then.
 *
 * Context: Caller must hold the lock of the id.
 */
void cmx_sa_query_cancel(struct cmx_id_private *id_priv)
{
	struct cmx_sa_query *q = id_priv->sa_query;

	lockdep_assert_held(&id_priv->lock);
	if (!q)
		return;
	id_priv->sa_query = NULL;
	xa_lock(&cmx_sa_names);
	/* if the name is still there the callback has not run, so the query of ib_sa is valid */
	if (xa_load(&cmx_sa_names, q->name) == q) {
		__xa_erase(&cmx_sa_names, q->name);
		ib_sa_cancel_query(q->query_id, q->query);
	}
	xa_unlock(&cmx_sa_names);
	kfree(q);
}

int cmx_sa_init_module(void)
{
	ib_sa_register_client(&cmx_sa_client);
	return 0;
}

/* ib_sa_unregister_client() waits for outstanding callbacks, and for the members of groups. */
void cmx_sa_exit_module(void)
{
	ib_sa_unregister_client(&cmx_sa_client);
}
