// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../state.h"

/* no trace points in here */
#define CMX_TRACE_H
static void trace_cmx_state(const struct cmx_priv *p, enum cmx_state from, enum cmx_state to)
{
}

#include "../state.c"

static void end(struct kunit *test)
{
	enum cmx_state s;

	for (s = 0; s < CMX_STATE_NUM; s++) {
		KUNIT_EXPECT_EQ(test, cmx_state_allowed(s, CMX_DEAD), s != CMX_DEAD);
		KUNIT_EXPECT_EQ(test, cmx_state_allowed(s, CMX_REMOVED),
				s != CMX_DEAD && s != CMX_REMOVED);
		/* nothing comes back, and nothing moves to where it is */
		KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_DEAD, s));
		KUNIT_EXPECT_FALSE(test, cmx_state_allowed(s, s));
		KUNIT_EXPECT_EQ(test, cmx_state_allowed(CMX_REMOVED, s), s == CMX_DEAD);
	}
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_STATE_NUM, CMX_DEAD));
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_IDLE, CMX_STATE_NUM));
}

static void ways(struct kunit *test)
{
	static const enum cmx_state active[] = {
		CMX_IDLE, CMX_BOUND, CMX_ADDR_QUERY, CMX_ADDR_RESOLVED, CMX_ROUTE_QUERY,
		CMX_ROUTE_RESOLVED, CMX_CONNECT, CMX_DISCONNECT, CMX_DEAD,
	};
	int i;

	for (i = 1; i < ARRAY_SIZE(active); i++)
		KUNIT_EXPECT_TRUE_MSG(test, cmx_state_allowed(active[i - 1], active[i]), "%s to %s",
				      cmx_state_name(active[i - 1]), cmx_state_name(active[i]));
	KUNIT_EXPECT_TRUE(test, cmx_state_allowed(CMX_BOUND, CMX_LISTEN));
	KUNIT_EXPECT_TRUE(test, cmx_state_allowed(CMX_IDLE, CMX_CONNECT));
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_IDLE, CMX_LISTEN));
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_LISTEN, CMX_CONNECT));
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_ROUTE_RESOLVED, CMX_ADDR_RESOLVED));
	KUNIT_EXPECT_FALSE(test, cmx_state_allowed(CMX_DISCONNECT, CMX_CONNECT));
}

static void names(struct kunit *test)
{
	enum cmx_state a, b;

	for (a = 0; a < CMX_STATE_NUM; a++)
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_NE(test, strcmp(cmx_state_name(a), cmx_state_name(b)), 0);
	KUNIT_EXPECT_STREQ(test, cmx_state_name(CMX_STATE_NUM), "?");
}

static void move(struct kunit *test)
{
	struct cmx_priv *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	mutex_init(&p->lock);
	mutex_lock(&p->lock);
	KUNIT_EXPECT_EQ(test, cmx_state_move(p, CMX_IN(BOUND), CMX_LISTEN), -EINVAL);
	KUNIT_EXPECT_EQ(test, p->state, CMX_IDLE);
	KUNIT_EXPECT_EQ(test, cmx_state_move(p, CMX_IN(IDLE) | CMX_IN(BOUND), CMX_BOUND), 0);
	KUNIT_EXPECT_EQ(test, p->state, CMX_BOUND);
	KUNIT_EXPECT_EQ(test, cmx_state_move(p, ~CMX_IN(DEAD), CMX_DEAD), 0);
	KUNIT_EXPECT_EQ(test, cmx_state_move(p, ~CMX_IN(DEAD), CMX_DEAD), -EINVAL);
	mutex_unlock(&p->lock);
	mutex_destroy(&p->lock);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(end),
	KUNIT_CASE(ways),
	KUNIT_CASE(names),
	KUNIT_CASE(move),
	{},
};

static struct kunit_suite suite = {
	.name = "cmx-state",
	.test_cases = cases,
};

kunit_test_suite(suite);
