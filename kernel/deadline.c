// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The deadline of a connect or accept: what the retries of ib_cm can't promise.
 */
#include <linux/slab.h>
#include "deadline.h"
#include "event.h"
#include "option_value.h"
#include "transport.h"

/**
 * struct cmx_deadline - a deadline under way
 * @work: its end
 * @p: the id, with a reference
 *
 * It is p's as long as p->deadline points to it. Else @work runs, or is about
 * to, and finds that there is nothing to do but to free this.
 */
struct cmx_deadline {
	struct delayed_work work;
	struct cmx_priv *p;
};

static void expire(struct work_struct *work)
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
 * @p: the id; its lock is held
 *
 * When it ends before the connection is established, the attempt is given up:
 * UNREACHABLE with -ETIMEDOUT, and nothing after that.
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
	INIT_DELAYED_WORK(&d->work, expire);
	d->p = cmx_id_get(p);
	p->deadline = d;
	queue_delayed_work(cmx_wq, &d->work, msecs_to_jiffies(ms));
	return 0;
}

/**
 * cmx_deadline_stop() - the deadline no longer matters
 * @p: the id; its lock is held. Nothing to do when there is none
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
