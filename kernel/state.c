// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of an id as a table. Nothing else changes &cmx_priv.state.
 */
#include <linux/kernel.h>
#include "id.h"
#include "state.h"
#include "trace.h"

#define TO(state) BIT(CMX_##state)

/* From any living state an id can lose its device or be destroyed. */
#define TO_END (TO(REMOVED) | TO(DEAD))

static const struct {
	const char *name;
	u32 to;
} states[CMX_STATE_NUM] = {
	[CMX_IDLE] = { "idle", TO(BOUND) | TO(CONNECT) | TO_END },
	[CMX_BOUND] = { "bound", TO(IDLE) | TO(ADDR_QUERY) | TO(LISTEN) | TO_END },
	[CMX_ADDR_QUERY] = { "addr-query", TO(BOUND) | TO(ADDR_RESOLVED) | TO_END },
	[CMX_ADDR_RESOLVED] = { "addr-resolved",
				TO(ROUTE_QUERY) | TO(ROUTE_RESOLVED) | TO(CONNECT) | TO_END },
	[CMX_ROUTE_QUERY] = { "route-query", TO(ADDR_RESOLVED) | TO(ROUTE_RESOLVED) | TO_END },
	[CMX_ROUTE_RESOLVED] = { "route-resolved", TO(CONNECT) | TO_END },
	[CMX_LISTEN] = { "listen", TO(BOUND) | TO_END },
	[CMX_CONNECT] = { "connect", TO(ROUTE_RESOLVED) | TO(DISCONNECT) | TO_END },
	[CMX_DISCONNECT] = { "disconnect", TO_END },
	[CMX_REMOVED] = { "removed", TO(DEAD) },
	[CMX_DEAD] = { "dead", 0 },
};

/**
 * cmx_state_allowed() - whether the table has this transition
 * @from: state now
 * @to: state wanted
 */
bool cmx_state_allowed(enum cmx_state from, enum cmx_state to)
{
	return from < CMX_STATE_NUM && to < CMX_STATE_NUM && states[from].to & BIT(to);
}

/**
 * cmx_state_name() - for messages, traces and debugfs
 * @state: a state
 */
const char *cmx_state_name(enum cmx_state state)
{
	return state < CMX_STATE_NUM ? states[state].name : "?";
}

/**
 * cmx_state_move() - change the state of an id
 * @p: the id; its lock is held
 * @from_mask: CMX_IN() of the states that the caller accepts
 * @to: the new state
 *
 * A caller whose mask allows what the table does not is wrong: that warns.
 *
 * Return: 0, or -EINVAL with nothing changed.
 */
int cmx_state_move(struct cmx_priv *p, u32 from_mask, enum cmx_state to)
{
	lockdep_assert_held(&p->lock);
	if (!(from_mask & BIT(p->state)))
		return -EINVAL;
	if (WARN_ON_ONCE(!cmx_state_allowed(p->state, to)))
		return -EINVAL;
	trace_cmx_state(p, p->state, to);
	p->state = to;
	return 0;
}
