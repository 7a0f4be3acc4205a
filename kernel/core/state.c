// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state machine of an id, as a table. Only this file changes &cmx_id_private.state and
 * &cmx_id_private.established.
 */
#include <linux/kernel.h>
#include <rdma/cmx_ioctl.h>
#include "id.h"
#include "state.h"
#include "stats.h"
#include "trace.h"

/* Processes see the number of a state. */
#define SAME(state) ((int)CMX_ID_STATE_##state == (int)CMX_##state)
static_assert(SAME(IDLE) && SAME(BOUND) && SAME(ADDR_QUERY) && SAME(ADDR_RESOLVED) &&
	      SAME(ROUTE_QUERY) && SAME(ROUTE_RESOLVED) && SAME(LISTEN) && SAME(CONNECT) &&
	      SAME(DISCONNECT) && SAME(REMOVED) && SAME(DEAD));

#define TO(state) BIT(CMX_##state)

/*
 * An id can be destroyed in each state but CMX_DEAD, and lose its device in each state before
 * CMX_REMOVED.
 */
#define TO_END (TO(REMOVED) | TO(DEAD))

static const struct {
	const char *name;
	u32 to;
} states[CMX_STATE_NUM] = {
	[CMX_IDLE] = { "idle", TO(BOUND) | TO(CONNECT) | TO_END },
	[CMX_BOUND] = { "bound", TO(IDLE) | TO(ADDR_QUERY) | TO(LISTEN) | TO_END },
	[CMX_ADDR_QUERY] = { "addr-query", TO(BOUND) | TO(ADDR_RESOLVED) | TO_END },
	[CMX_ADDR_RESOLVED] = { "addr-resolved", TO(ROUTE_QUERY) | TO(ROUTE_RESOLVED) | TO_END },
	[CMX_ROUTE_QUERY] = { "route-query", TO(ADDR_RESOLVED) | TO(ROUTE_RESOLVED) | TO_END },
	[CMX_ROUTE_RESOLVED] = { "route-resolved", TO(CONNECT) | TO_END },
	[CMX_LISTEN] = { "listen", TO(BOUND) | TO_END },
	[CMX_CONNECT] = { "connect", TO(ROUTE_RESOLVED) | TO(DISCONNECT) | TO_END },
	[CMX_DISCONNECT] = { "disconnect", TO_END },
	[CMX_REMOVED] = { "removed", TO(DEAD) },
	[CMX_DEAD] = { "dead", 0 },
};

/**
 * cmx_state_allowed() - check whether the table has a transition
 * @from: current state
 * @to: new state
 *
 * Return: true if the transition is allowed.
 */
bool cmx_state_allowed(enum cmx_state from, enum cmx_state to)
{
	return from < CMX_STATE_NUM && to < CMX_STATE_NUM && states[from].to & BIT(to);
}

/**
 * cmx_state_name() - get the name of a state for traces and debugfs
 * @state: the state
 *
 * Return: the name; "?" for an invalid state.
 */
const char *cmx_state_name(enum cmx_state state)
{
	return state < CMX_STATE_NUM ? states[state].name : "?";
}

/**
 * cmx_state_move() - change the state of an id
 * @id_priv: the id. Caller must hold its lock
 * @from_mask: CMX_IN() of the current states that the caller accepts
 * @to: the new state
 *
 * Warns if the mask accepts the current state but the table lacks the transition: that is a bug of
 * the caller.
 *
 * Return: 0, or -EINVAL with the state unchanged.
 */
int cmx_state_move(struct cmx_id_private *id_priv, u32 from_mask, enum cmx_state to)
{
	lockdep_assert_held(&id_priv->lock);
	if (!(from_mask & BIT(id_priv->state)))
		return -EINVAL;
	if (WARN_ON_ONCE(!cmx_state_allowed(id_priv->state, to)))
		return -EINVAL;
	if (trace_cmx_state_enabled())
		trace_cmx_state(id_priv, cmx_state_name(id_priv->state), cmx_state_name(to));
	if (BIT(to) & (TO(ADDR_QUERY) | TO(ROUTE_QUERY) | TO(CONNECT)))
		id_priv->stage_start = cmx_stats_now();
	/* debugfs, the list of ids and lookups read it without the lock */
	WRITE_ONCE(id_priv->state, to);
	cmx_gauge_recount(id_priv);
	return 0;
}

/**
 * cmx_state_set_established() - set whether the connection of an id is established
 * @id_priv: the id. Caller must hold its lock
 * @established: the connection is established
 */
void cmx_state_set_established(struct cmx_id_private *id_priv, bool established)
{
	lockdep_assert_held(&id_priv->lock);
	id_priv->established = established;
	cmx_gauge_recount(id_priv);
}
