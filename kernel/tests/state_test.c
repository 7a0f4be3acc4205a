// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../core/state.h"

/* The test module has no tracepoints. */
#define CMX_TRACE_H
static bool trace_cmx_state_enabled(void)
{
	return false;
}

static void trace_cmx_state(const struct cmx_id_private *id_priv, const char *from, const char *to)
{
}

#include "../core/state.c"

/* The test module has no ports, whose gauges the id could be in. */
static unsigned int state_test_recounts;

void cmx_gauge_recount(struct cmx_id_private *id_priv)
{
	state_test_recounts++;
}

static const enum cmx_state state_test_states[] = {
	CMX_IDLE, CMX_BOUND, CMX_ADDR_QUERY, CMX_ADDR_RESOLVED, CMX_ROUTE_QUERY,
	CMX_ROUTE_RESOLVED, CMX_LISTEN, CMX_CONNECT, CMX_DISCONNECT, CMX_REMOVED, CMX_DEAD,
};

static_assert(ARRAY_SIZE(state_test_states) == CMX_STATE_NUM);

static void state_test_end_desc(const enum cmx_state *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "end of state: %s", cmx_state_name(*s));
}

static void state_test_name_desc(const enum cmx_state *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "name of state: %s", cmx_state_name(*s));
}

KUNIT_ARRAY_PARAM(state_test_end, state_test_states, state_test_end_desc);
KUNIT_ARRAY_PARAM(state_test_name, state_test_states, state_test_name_desc);

static void state_test_end(struct kunit *test)
{
	enum cmx_state s = *(const enum cmx_state *)test->param_value;

	KUNIT_EXPECT_EQ(test, cmx_state_allowed(s, CMX_DEAD), s != CMX_DEAD);
	KUNIT_EXPECT_EQ(test, cmx_state_allowed(s, CMX_REMOVED),
			s != CMX_DEAD && s != CMX_REMOVED);
	/* CMX_DEAD is final, and no state leads to itself */
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_DEAD, s));
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(s, s));
	KUNIT_EXPECT_EQ(test, cmx_state_allowed(CMX_REMOVED, s), s == CMX_DEAD);
}

static void state_test_name_is_unique(struct kunit *test)
{
	enum cmx_state a = *(const enum cmx_state *)test->param_value, b;

	for (b = 0; b < a; b++)
		KUNIT_EXPECT_NE(test, strcmp(cmx_state_name(a), cmx_state_name(b)), 0);
}

static void state_test_name_of_no_state(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, cmx_state_name(CMX_STATE_NUM), "?");
}

struct state_test_step_case {
	enum cmx_state from;
	enum cmx_state to;
	bool allowed;
};

static const struct state_test_step_case state_test_steps[] = {
	/* the active side, from creation to destruction */
	{ CMX_IDLE, CMX_BOUND, true },
	{ CMX_BOUND, CMX_ADDR_QUERY, true },
	{ CMX_ADDR_QUERY, CMX_ADDR_RESOLVED, true },
	{ CMX_ADDR_RESOLVED, CMX_ROUTE_QUERY, true },
	{ CMX_ROUTE_QUERY, CMX_ROUTE_RESOLVED, true },
	{ CMX_ROUTE_RESOLVED, CMX_CONNECT, true },
	{ CMX_CONNECT, CMX_DISCONNECT, true },
	{ CMX_DISCONNECT, CMX_DEAD, true },

	{ CMX_BOUND, CMX_LISTEN, true },
	{ CMX_IDLE, CMX_CONNECT, true },
	{ CMX_IDLE, CMX_LISTEN, false },
	{ CMX_ADDR_RESOLVED, CMX_CONNECT, false },
	{ CMX_LISTEN, CMX_CONNECT, false },
	{ CMX_ROUTE_RESOLVED, CMX_ADDR_RESOLVED, false },
	{ CMX_DISCONNECT, CMX_CONNECT, false },
	{ CMX_STATE_NUM, CMX_DEAD, false },
	{ CMX_IDLE, CMX_STATE_NUM, false },
};

static void state_test_step_desc(const struct state_test_step_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "transition: %s to %s", cmx_state_name(c->from),
		 cmx_state_name(c->to));
}

KUNIT_ARRAY_PARAM(state_test_step, state_test_steps, state_test_step_desc);

static void state_test_step(struct kunit *test)
{
	const struct state_test_step_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, cmx_state_allowed(c->from, c->to), c->allowed);
}

struct state_test_move_case {
	const char *name;
	enum cmx_state from;
	u32 mask;
	enum cmx_state to;
	int ret;
};

static const struct state_test_move_case state_test_moves[] = {
	{ "state not in the mask", CMX_IDLE, CMX_IN(BOUND), CMX_LISTEN, -EINVAL },
	{ "one of two states", CMX_IDLE, CMX_IN(IDLE) | CMX_IN(BOUND), CMX_BOUND, 0 },
	{ "any state but dead", CMX_BOUND, ~CMX_IN(DEAD), CMX_DEAD, 0 },
	{ "dead", CMX_DEAD, ~CMX_IN(DEAD), CMX_DEAD, -EINVAL },
};

static void state_test_move_desc(const struct state_test_move_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "change of state: %s", c->name);
}

KUNIT_ARRAY_PARAM(state_test_move, state_test_moves, state_test_move_desc);

static void state_test_move(struct kunit *test)
{
	const struct state_test_move_case *c = test->param_value;
	struct cmx_id_private *id_priv = kunit_kzalloc(test, sizeof(*id_priv), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, id_priv);
	mutex_init(&id_priv->lock);
	mutex_lock(&id_priv->lock);
	id_priv->state = c->from;
	state_test_recounts = 0;
	KUNIT_EXPECT_EQ(test, cmx_state_move(id_priv, c->mask, c->to), c->ret);
	KUNIT_EXPECT_EQ(test, id_priv->state, c->ret ? c->from : c->to);
	KUNIT_EXPECT_EQ(test, state_test_recounts, !c->ret);
	mutex_unlock(&id_priv->lock);
	mutex_destroy(&id_priv->lock);
}

/* An id begins in CMX_IDLE, because it is allocated zeroed. */
static void state_test_initial(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, CMX_IDLE, 0);
}

static struct kunit_case state_test_cases[] = {
	KUNIT_CASE_PARAM(state_test_end, state_test_end_gen_params),
	KUNIT_CASE_PARAM(state_test_name_is_unique, state_test_name_gen_params),
	KUNIT_CASE(state_test_name_of_no_state),
	KUNIT_CASE_PARAM(state_test_step, state_test_step_gen_params),
	KUNIT_CASE_PARAM(state_test_move, state_test_move_gen_params),
	KUNIT_CASE(state_test_initial),
	{},
};

static struct kunit_suite state_test_suite = {
	.name = "cmx-state",
	.test_cases = state_test_cases,
};

kunit_test_suite(state_test_suite);
