// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The timer of an id, for the operation that has a time limit.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "charge.h"
#include "event.h"
#include "timer.h"

static void timer_work(struct work_struct *work)
{
	struct cmx_timer *t = container_of(to_delayed_work(work), struct cmx_timer, work);
	struct cmx_id_private *id_priv = t->id_priv;
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&id_priv->lock);
	cmx_timer_step(id_priv);
	mutex_unlock(&id_priv->lock);
	cmx_id_put(id_priv);
	memalloc_noio_restore(noio);
}

/* An id needs it once. */
static struct cmx_timer *timer_new(struct cmx_id_private *id_priv)
{
	struct cmx_timer *t = cmx_charge_alloc_nofail(id_priv, sizeof(*t));

	INIT_DELAYED_WORK(&t->work, timer_work);
	t->id_priv = id_priv;
	return t;
}

static void timer_queue(struct cmx_id_private *id_priv, unsigned long delay)
{
	cmx_id_get(id_priv);
	if (mod_delayed_work(cmx_wq, &id_priv->timer->work, delay))
		cmx_id_put(id_priv);
}

/**
 * cmx_timer_start() - start the timer of an id
 * @id_priv: the id. An active timer is stopped first. Caller must hold its lock and a reference
 * @step: called when cmx_timer_set(), cmx_timer_wake() or cmx_timer_step() asks for it
 * @ev: event with which the operation will end; NULL: none. It belongs to the timer from now on
 * @timeout: jiffies until the end of the operation. The timer does not act on it: @step compares
 *	the time with &cmx_timer.end
 */
void cmx_timer_start(struct cmx_id_private *id_priv, void (*step)(struct cmx_id_private *id_priv),
		     struct cmx_event *ev, unsigned long timeout)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_timer_stop(id_priv);
	if (!id_priv->timer)
		id_priv->timer = timer_new(id_priv);
	id_priv->timer->step = step;
	id_priv->timer->ev = ev;
	id_priv->timer->end = jiffies + timeout;
}

/**
 * cmx_timer_set() - set the time of the next step
 * @id_priv: the id, whose timer is active. Caller must hold its lock
 * @delay: the time in jiffies
 */
void cmx_timer_set(struct cmx_id_private *id_priv, unsigned long delay)
{
	lockdep_assert_held(&id_priv->lock);
	timer_queue(id_priv, delay);
}

/**
 * cmx_timer_wake() - have the next step done soon
 * @id_priv: the id, whose timer has been started once
 *
 * Context: any; the lock of the id is not needed. The caller makes sure that another reference to
 *	the id stays.
 */
void cmx_timer_wake(struct cmx_id_private *id_priv)
{
	timer_queue(id_priv, 0);
}

/**
 * cmx_timer_step() - do the next step now
 * @id_priv: the id; nothing is done if its timer is not active. Caller must hold its lock
 */
void cmx_timer_step(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	if (cmx_timer_is_active(id_priv))
		id_priv->timer->step(id_priv);
}

/**
 * cmx_timer_take() - stop the timer of an id, and take its event
 * @id_priv: the id, whose timer need not be active. Caller must hold its lock and a reference
 *
 * The function does not wait for the work item, which does nothing afterwards.
 *
 * Return: the event, or NULL.
 */
struct cmx_event *cmx_timer_take(struct cmx_id_private *id_priv)
{
	struct cmx_event *ev;

	lockdep_assert_held(&id_priv->lock);
	if (!cmx_timer_is_active(id_priv))
		return NULL;
	if (cancel_delayed_work(&id_priv->timer->work))
		cmx_id_put(id_priv);
	ev = id_priv->timer->ev;
	id_priv->timer->ev = NULL;
	id_priv->timer->step = NULL;
	return ev;
}

/**
 * cmx_timer_stop() - stop the timer of an id, and free its event
 * @id_priv: the id, whose timer need not be active. Caller must hold its lock and a reference
 */
void cmx_timer_stop(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_event_free(cmx_timer_take(id_priv));
}
