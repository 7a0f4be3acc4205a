// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Deadline of a connect or accept, or of the end of a connection. The retries of ib_cm cannot
 * guarantee one.
 */
#include "deadline.h"
#include "event.h"
#include "option_value.h"
#include "timer.h"
#include "transport.h"

static void deadline_step(struct cmx_id_private *id_priv)
{
	enum rdma_cm_event_type type = RDMA_CM_EVENT_UNREACHABLE;

	lockdep_assert_held(&id_priv->lock);
	/* a work item of the last deadline that has waited for the lock */
	if (time_before(jiffies, id_priv->timer->end))
		return;
	cmx_timer_stop(id_priv);
	if (id_priv->state != CMX_CONNECT)
		return;
	if (id_priv->established) {
		/* TIMEWAIT_EXIT is still to come */
		cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
		type = RDMA_CM_EVENT_DISCONNECTED;
	} else {
		cmx_conn_release(id_priv);
	}
	cmx_event_post(cmx_event_alloc_nofail(id_priv, type, -ETIMEDOUT));
}

static void deadline_start(struct cmx_id_private *id_priv, u32 ms)
{
	cmx_timer_start(id_priv, deadline_step, NULL, msecs_to_jiffies(ms));
	cmx_timer_set(id_priv, msecs_to_jiffies(ms));
}

/**
 * cmx_deadline_start() - start the deadline of a connect or accept, if one is set
 * @id_priv: the id. Caller must hold its lock and a reference
 *
 * If the deadline ends before the connection is established, the attempt is aborted: UNREACHABLE
 * with -ETIMEDOUT is the last event.
 */
void cmx_deadline_start(struct cmx_id_private *id_priv)
{
	u32 ms = cmx_opt_connect_deadline_ms(id_priv);

	lockdep_assert_held(&id_priv->lock);
	if (ms)
		deadline_start(id_priv, ms);
}

/**
 * cmx_deadline_start_end() - start the deadline of the end of a connection
 * @id_priv: the id, which has sent a DREQ. Caller must hold its lock and a reference
 * @ms: the time in milliseconds; 0: no deadline
 *
 * If the peer does not confirm the end in this time, DISCONNECTED with -ETIMEDOUT follows. Nothing
 * happens if the deadline has been started before.
 */
void cmx_deadline_start_end(struct cmx_id_private *id_priv, u32 ms)
{
	lockdep_assert_held(&id_priv->lock);
	if (ms && !cmx_timer_is_active(id_priv))
		deadline_start(id_priv, ms);
}
