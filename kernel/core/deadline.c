// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Deadline of a connect or accept. The retries of ib_cm cannot guarantee one.
 */
#include <linux/slab.h>
#include "deadline.h"
#include "event.h"
#include "option_value.h"
#include "transport.h"

/**
 * struct cmx_deadline - a pending deadline
 * @work: runs when the deadline ends
 * @p: the id, with a reference
 *
 * The deadline is active while p->deadline points to it. Otherwise @work runs or is about to run,
 * and only frees it.
 */
struct cmx_deadline {
	struct delayed_work work;
	struct cmx_priv *p;
};

static void deadline_work(struct work_struct *work)
{
	struct cmx_deadline *d = container_of(to_delayed_work(work), struct cmx_deadline, work);
	struct cmx_priv *p = d->p;
	struct cmx_event *ev;
	bool post;

	ev = cmx_event_must(p, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	mutex_lock(&p->lock);
	post = p->deadline == d && p->state == CMX_CONNECT && !p->established;
	if (p->deadline == d)
		p->deadline = NULL;
	if (post) {
		cmx_conn_release(p);
		cmx_event_queue(ev);
	}
	mutex_unlock(&p->lock);
	cmx_event_finish(p, ev, post);
	cmx_id_put(p);
	kfree(d);
}

/**
 * cmx_deadline_start() - start the deadline of a connect or accept, if one is set
 * @p: the id. Caller must hold its lock
 *
 * If the deadline ends before the connection is established, the attempt is aborted: UNREACHABLE
 * with -ETIMEDOUT is the last event.
 *
 * Return: 0 or -ENOMEM.
 */
int cmx_deadline_start(struct cmx_priv *p)
{
	u32 ms = cmx_opt_connect_deadline_ms(p);
	struct cmx_deadline *d;

	lockdep_assert_held(&p->lock);
	if (!ms)
		return 0;
	d = kmalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return -ENOMEM;
	INIT_DELAYED_WORK(&d->work, deadline_work);
	d->p = cmx_id_get(p);
	p->deadline = d;
	queue_delayed_work(cmx_wq, &d->work, msecs_to_jiffies(ms));
	return 0;
}

/**
 * cmx_deadline_stop() - cancel the deadline of an id
 * @p: the id, which may have no deadline. Caller must hold its lock
 */
void cmx_deadline_stop(struct cmx_priv *p)
{
	struct cmx_deadline *d = p->deadline;

	lockdep_assert_held(&p->lock);
	p->deadline = NULL;
	if (d && cancel_delayed_work(&d->work)) {
		cmx_id_put(p);
		kfree(d);
	}
}
