/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TIMER_H
#define CMX_TIMER_H

#include "id.h"

/**
 * struct cmx_timer - the timer of an id
 * @work: runs @step; while it is queued or runs, it holds a reference to the id
 * @id_priv: the id
 * @step: called with the lock of the id held; NULL: the timer is stopped
 * @ev: event with which the operation will end, or NULL
 * @end: end of the operation, in jiffies
 *
 * At most one operation of an id at a time has a time limit: a query, a connect, an accept, or the
 * end of a connection. The first of them allocates the timer, which is freed with the id. So
 * neither the work item nor watch.c has to ask whether the timer still exists.
 *
 * The lock of the id protects all members, but @work can be queued without it.
 */
struct cmx_timer {
	struct delayed_work work;
	struct cmx_id_private *id_priv;
	void (*step)(struct cmx_id_private *id_priv);
	struct cmx_event *ev;
	unsigned long end;
};

/* Caller must hold id_priv->lock. */
void cmx_timer_start(struct cmx_id_private *id_priv, void (*step)(struct cmx_id_private *id_priv),
		     struct cmx_event *ev, unsigned long timeout);
void cmx_timer_set(struct cmx_id_private *id_priv, unsigned long delay);
void cmx_timer_wake(struct cmx_id_private *id_priv);	/* needs no lock */
void cmx_timer_step(struct cmx_id_private *id_priv);
struct cmx_event *cmx_timer_take(struct cmx_id_private *id_priv);
void cmx_timer_stop(struct cmx_id_private *id_priv);

static inline bool cmx_timer_is_active(const struct cmx_id_private *id_priv)
{
	return id_priv->timer && id_priv->timer->step;
}

#endif
