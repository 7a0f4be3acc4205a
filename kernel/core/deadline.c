// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Deadline of a connect or accept, or of the end of a connection. The retries of ib_cm cannot
 * guarantee one.
 */
#include <linux/slab.h>
#include "deadline.h"
#include "event.h"
#include "option_value.h"
#include "transport.h"

/**
 * struct cmx_deadline - a pending deadline
 * @work: runs when the deadline ends
 * @id_priv: the id, with a reference
 * @of_end: the peer is to confirm the end of the connection
 *
 * The deadline is active while id_priv->deadline points to it. Otherwise @work runs or is about to
 * run, and only frees it.
 */
struct cmx_deadline {
	struct delayed_work work;
	struct cmx_id_private *id_priv;
	bool of_end;
};

static void deadline_work(struct work_struct *work)
{
	struct cmx_deadline *d = container_of(to_delayed_work(work), struct cmx_deadline, work);
	struct cmx_id_private *id_priv = d->id_priv;
	struct cmx_event *ev;
	bool post;

	ev = cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	mutex_lock(&id_priv->lock);
	post = id_priv->deadline == d && id_priv->state == CMX_CONNECT &&
	       id_priv->established == d->of_end;
	if (id_priv->deadline == d)
		id_priv->deadline = NULL;
	if (post) {
		if (d->of_end) {
			/* TIMEWAIT_EXIT is still to come */
			ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
			cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
		} else {
			cmx_conn_release(id_priv);
		}
		cmx_event_post(ev);
	}
	mutex_unlock(&id_priv->lock);
	if (!post)
		cmx_event_free(ev);
	cmx_id_put(id_priv);
	kfree(d);
}

static int deadline_start(struct cmx_id_private *id_priv, u32 ms, bool of_end, gfp_t gfp)
{
	struct cmx_deadline *d = kmalloc(sizeof(*d), gfp);

	if (!d)
		return -ENOMEM;
	INIT_DELAYED_WORK(&d->work, deadline_work);
	d->id_priv = cmx_id_get(id_priv);
	d->of_end = of_end;
	id_priv->deadline = d;
	queue_delayed_work(cmx_wq, &d->work, msecs_to_jiffies(ms));
	return 0;
}

/**
 * cmx_deadline_start() - start the deadline of a connect or accept, if one is set
 * @id_priv: the id. Caller must hold its lock
 *
 * If the deadline ends before the connection is established, the attempt is aborted: UNREACHABLE
 * with -ETIMEDOUT is the last event.
 *
 * Return: 0 or -ENOMEM.
 */
int cmx_deadline_start(struct cmx_id_private *id_priv)
{
	u32 ms = cmx_opt_connect_deadline_ms(id_priv);

	lockdep_assert_held(&id_priv->lock);
	return ms ? deadline_start(id_priv, ms, false, GFP_KERNEL_ACCOUNT) : 0;
}

/**
 * cmx_deadline_start_end() - start the deadline of the end of a connection
 * @id_priv: the id, which has sent a DREQ. Caller must hold its lock
 * @ms: the time in milliseconds; 0: no deadline
 *
 * If the peer does not confirm the end in this time, DISCONNECTED with -ETIMEDOUT follows. Nothing
 * happens if the deadline has been started before.
 */
void cmx_deadline_start_end(struct cmx_id_private *id_priv, u32 ms)
{
	lockdep_assert_held(&id_priv->lock);
	if (ms && !id_priv->deadline)
		deadline_start(id_priv, ms, true, GFP_NOIO | __GFP_NOFAIL);
}

/**
 * cmx_deadline_stop() - cancel the deadline of an id
 * @id_priv: the id, which may have no deadline. Caller must hold its lock
 */
void cmx_deadline_stop(struct cmx_id_private *id_priv)
{
	struct cmx_deadline *d = id_priv->deadline;

	lockdep_assert_held(&id_priv->lock);
	id_priv->deadline = NULL;
	if (d && cancel_delayed_work(&d->work)) {
		cmx_id_put(id_priv);
		kfree(d);
	}
}
