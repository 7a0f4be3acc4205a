// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/stringify.h>
#include "../transport/ib/ib_state.c"
#include "step_test.h"

static const char *const ib_state_test_acts[] = {
#define CMX_IB_STEP(states, inputs, next, act) __stringify(act),
#include "../transport/ib/ib_state_rows.h"
};

#define IB_STATE_TEST_INPUTS (CMX_IB_ON_LIMIT + 1)
#define IB_STATE_TEST_WAITS (IN(REQ_WAITS) | IN(DREQ_WAITS) | IN(CLOSING_WAITS) |	\
			     IN(RELEASED_WAITS))
#define IB_STATE_TEST_RELEASED (IN(RELEASED_REP) | IN(RELEASED_WAITS) | IN(RELEASED_SENT) |	\
				IN(GIVEN_UP) | IN(DESTROYED))
#define IB_STATE_TEST_ALL (BIT(CMX_IB_STATE_NUM) - 1)

static const u8 ib_state_test_states[] = {
#define CMX_IB_STATE(name, ...) CMX_IB_##name,
#include "../transport/ib/ib_state_rows.h"
};

static void ib_state_test_rows_desc(const u8 *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "rows of an ib_cm id: %s", cmx_ib_state_name(*s));
}

static void ib_state_test_ends_desc(const u8 *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "end of an ib_cm id: %s", cmx_ib_state_name(*s));
}

KUNIT_ARRAY_PARAM(ib_state_test_rows, ib_state_test_states, ib_state_test_rows_desc);
KUNIT_ARRAY_PARAM(ib_state_test_ends, ib_state_test_states, ib_state_test_ends_desc);

static u8 ib_state_test_state(struct kunit *test)
{
	return *(const u8 *)test->param_value;
}

static u8 ib_state_test_next(u8 state, int ret)
{
	cmx_ib_state_step(&state, ret);
	return state;
}

static bool ib_state_test_act_is(unsigned int row, const char *act)
{
	return !strcmp(ib_state_test_acts[row], act);
}

static void ib_state_test_rows_are_distinct(struct kunit *test)
{
	u8 state = ib_state_test_state(test);
	unsigned int input;

	for (input = 0; input < IB_STATE_TEST_INPUTS; input++)
		KUNIT_EXPECT_LE(test, step_test_count(state, input),
				input == CMX_IB_ON_NOTHING ? 0 : 1);
}

/*
 * Each state occurs. A connection that is released never comes back to the consumer, and is always
 * destroyed: at once, after the report that is due, or after the limit.
 */
static void ib_state_test_release(struct kunit *test)
{
	static const int releases[] = { CMX_IB_ON_RELEASE, CMX_IB_ON_DROP };
	u32 none = IN(NONE) | IN(REQ_WAITS);
	u8 state = ib_state_test_state(test);
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, step_test_reach(CMX_IB_NONE, ~0UL) & BIT(state));
	for (i = 0; i < ARRAY_SIZE(releases); i++) {
		u8 next = ib_state_test_next(state, releases[i]);

		/* no DROP without an ib_cm id */
		if (none & BIT(state)) {
			KUNIT_EXPECT_EQ(test, next, releases[i] == CMX_IB_ON_DROP ? state :
								  CMX_IB_NONE);
			continue;
		}
		KUNIT_EXPECT_TRUE(test, IB_STATE_TEST_RELEASED & BIT(next));
		KUNIT_EXPECT_FALSE(test, step_test_reach(next, ~0UL) & ~IB_STATE_TEST_RELEASED);
		KUNIT_EXPECT_EQ(test, ib_state_test_next(next, CMX_IB_ON_ENDED), CMX_IB_DESTROYED);
		if (IB_STATE_TEST_RELEASED & BIT(state))
			KUNIT_EXPECT_EQ(test, next, state);
		else if (releases[i] == CMX_IB_ON_DROP)
			KUNIT_EXPECT_TRUE(test, (IN(GIVEN_UP) | IN(DESTROYED)) & BIT(next));
		next = ib_state_test_next(next, CMX_IB_ON_LIMIT);
		KUNIT_EXPECT_TRUE(test, (IN(GIVEN_UP) | IN(DESTROYED)) & BIT(next));
	}
}

/* The states in which an input does something: no act runs in the others, and they stay. */
static void ib_state_test_inputs(struct kunit *test)
{
	static const u32 states[IB_STATE_TEST_INPUTS] = {
		[CMX_IB_ON_SENT] = IN(NONE) | IN(QUIET) | IN(CLOSING_REP) | IN(RELEASED_REP) |
				   IB_STATE_TEST_WAITS,
		[CMX_IB_ON_FULL] = IN(NONE) | IN(QUIET) | IN(CLOSING_REP) | IN(RELEASED_REP),
		[CMX_IB_ON_ROOM] = IB_STATE_TEST_WAITS,
		[CMX_IB_ON_FAILED] = IN(CLOSING_REP) | IN(RELEASED_REP) | IB_STATE_TEST_WAITS,
		[CMX_IB_ON_REQUEST] = IN(NONE),
		[CMX_IB_ON_REP] = IN(QUIET),
		[CMX_IB_ON_RTU] = IN(REP_SENT) | IN(CLOSING_REP) | IN(RELEASED_REP),
		[CMX_IB_ON_ENDED] = IB_STATE_TEST_ALL &
				    ~(IN(NONE) | IN(REQ_WAITS) | IN(QUIET) | IN(DESTROYED)),
		[CMX_IB_ON_CLOSE] = IN(REP_SENT) | IN(DREQ_WAITS) | IN(DREQ_SENT),
		[CMX_IB_ON_RELEASE] = IB_STATE_TEST_ALL & ~(IN(NONE) | IB_STATE_TEST_RELEASED),
		[CMX_IB_ON_DROP] = IB_STATE_TEST_ALL &
				   ~(IN(NONE) | IN(REQ_WAITS) | IB_STATE_TEST_RELEASED),
		[CMX_IB_ON_LIMIT] = IN(RELEASED_REP) | IN(RELEASED_WAITS) | IN(RELEASED_SENT),
	};
	unsigned int input;

	for (input = 0; input < IB_STATE_TEST_INPUTS; input++)
		KUNIT_EXPECT_EQ_MSG(test, step_test_states(input), states[input], "input %u",
				    input);
}

/* The ranges that the header tests */
static void ib_state_test_ranges(struct kunit *test)
{
	u32 closing = IN(CLOSING_REP) | IN(CLOSING_WAITS) | IN(CLOSING_SENT) |
		      IB_STATE_TEST_RELEASED;
	u8 state;

	for (state = 0; state < CMX_IB_STATE_NUM; state++) {
		KUNIT_EXPECT_EQ(test, cmx_ib_state_is_closing(state), !!(closing & BIT(state)));
		KUNIT_EXPECT_EQ(test, cmx_ib_state_is_released(state),
				!!(IB_STATE_TEST_RELEASED & BIT(state)));
		KUNIT_EXPECT_EQ(test, cmx_ib_state_is_waiting(state),
				!!(IB_STATE_TEST_WAITS & ~IN(RELEASED_WAITS) & BIT(state)));
	}
	/* allocated zeroed */
	KUNIT_EXPECT_EQ(test, CMX_IB_NONE, 0);
}

/*
 * A message that waits is sent when there is room, and leaves the window when it no longer waits:
 * it is sent, its sending fails, which gives the place back, or the act of the row does so.
 */
static void ib_state_test_waiting(struct kunit *test)
{
	u32 tried = ON(SENT) | ON(FAILED);
	unsigned int i;
	u8 state;

	for (state = 0; state < CMX_IB_STATE_NUM; state++) {
		int sent = ib_state_test_next(state, 0);
		int failed = ib_state_test_next(state, -ENOMEM);

		KUNIT_EXPECT_EQ(test, ib_state_test_next(state, CMX_IB_ON_ROOM), state);
		if (!(IB_STATE_TEST_WAITS & BIT(state)))
			continue;
		/* The state after each WAITS is the one in which the message was sent. */
		KUNIT_EXPECT_EQ(test, sent, state + 1);
		KUNIT_EXPECT_EQ(test, failed, state == CMX_IB_REQ_WAITS ? CMX_IB_NONE :
				state == CMX_IB_RELEASED_WAITS ? CMX_IB_DESTROYED : CMX_IB_QUIET);
	}

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		bool leaves = ib_state_test_act_is(i, "end") ||
			      ib_state_test_act_is(i, "destroy") ||
			      ib_state_test_act_is(i, "drop_req");
		bool waits = IB_STATE_TEST_WAITS & BIT(steps[i].next);

		if (!(steps[i].states & IB_STATE_TEST_WAITS))
			continue;
		if (waits)
			KUNIT_EXPECT_FALSE_MSG(test, leaves, "row %u", i);
		else
			KUNIT_EXPECT_TRUE_MSG(test, leaves || !(steps[i].inputs & ~tried),
					      "row %u", i);
	}
}

/* What the acts rely on: who starts a limit, gives up or destroys, and that each does so once */
static void ib_state_test_acts_fit(struct kunit *test)
{
	u32 limited = IN(RELEASED_REP) | IN(RELEASED_WAITS) | IN(RELEASED_SENT);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		bool enters = !(steps[i].states & IB_STATE_TEST_RELEASED);
		u32 next = BIT(steps[i].next);

		KUNIT_EXPECT_EQ_MSG(test, ib_state_test_act_is(i, "start_limit"),
				    enters && next & limited, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, ib_state_test_act_is(i, "give_up"),
				    next == IN(GIVEN_UP), "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, ib_state_test_act_is(i, "destroy"),
				    next == IN(DESTROYED), "row %u", i);
		/* no ib_cm id exists yet */
		if (ib_state_test_act_is(i, "drop_req") || ib_state_test_act_is(i, "send_req"))
			KUNIT_EXPECT_EQ_MSG(test, steps[i].states, IN(REQ_WAITS), "row %u", i);
		else if (!ib_state_test_act_is(i, "none"))
			KUNIT_EXPECT_FALSE_MSG(test, steps[i].states &
					       (IN(NONE) | IN(REQ_WAITS)), "row %u", i);
	}
}

static void ib_state_test_result(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_state_test_next(CMX_IB_NONE, 0), CMX_IB_REQ_SENT);
	KUNIT_EXPECT_EQ(test, ib_state_test_next(CMX_IB_NONE, -EINPROGRESS), CMX_IB_REQ_WAITS);
	KUNIT_EXPECT_EQ(test, ib_state_test_next(CMX_IB_NONE, -ENOMEM), CMX_IB_NONE);
	KUNIT_EXPECT_EQ(test, ib_state_test_next(CMX_IB_RELEASED_WAITS, -EINVAL),
			CMX_IB_DESTROYED);
}

static const struct step_test_walk ib_state_test_walks[] = {
	{ "connect, disconnect, destroy", CMX_IB_NONE, {
		{ 0, CMX_IB_REQ_SENT, "none" },
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "end" },
		{ 0, CMX_IB_DREQ_SENT, "none" },
		{ CMX_IB_ON_CLOSE, CMX_IB_CLOSING_SENT, "none" },
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "end" },
		{ CMX_IB_ON_RELEASE, CMX_IB_DESTROYED, "destroy" } } },
	{ "accept, the RTU is missing", CMX_IB_NONE, {
		{ CMX_IB_ON_REQUEST, CMX_IB_QUIET, "none" },
		{ CMX_IB_ON_REP, CMX_IB_REP_SENT, "none" },
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "none" },
		{ CMX_IB_ON_RELEASE, CMX_IB_DESTROYED, "destroy" } } },
	{ "accept, the peer disconnects", CMX_IB_REP_SENT, {
		{ CMX_IB_ON_RTU, CMX_IB_QUIET, "none" },
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "no row" },
		{ CMX_IB_ON_DROP, CMX_IB_DESTROYED, "destroy" } } },
	{ "a REQ waits and is sent", CMX_IB_REQ_WAITS, {
		{ CMX_IB_ON_ROOM, CMX_IB_REQ_WAITS, "send_req" },
		{ 0, CMX_IB_REQ_SENT, "none" } } },
	{ "a REQ waits and is cancelled", CMX_IB_NONE, {
		{ -EINPROGRESS, CMX_IB_REQ_WAITS, "none" },
		{ CMX_IB_ON_RELEASE, CMX_IB_NONE, "drop_req" },
		{ CMX_IB_ON_ROOM, CMX_IB_NONE, "no row" } } },
	{ "a REQ waits and its QP has another owner", CMX_IB_REQ_WAITS, {
		{ CMX_IB_ON_ROOM, CMX_IB_REQ_WAITS, "send_req" },
		{ -EPERM, CMX_IB_NONE, "none" } } },
	{ "a REQ is cancelled", CMX_IB_REQ_SENT, {
		{ CMX_IB_ON_RELEASE, CMX_IB_GIVEN_UP, "give_up" },
		{ CMX_IB_ON_ENDED, CMX_IB_DESTROYED, "destroy" } } },
	{ "a DREQ waits, its device goes", CMX_IB_QUIET, {
		{ -EINPROGRESS, CMX_IB_DREQ_WAITS, "none" },
		{ CMX_IB_ON_DROP, CMX_IB_DESTROYED, "destroy" },
		{ CMX_IB_ON_ROOM, CMX_IB_DESTROYED, "no row" } } },
	{ "the same after the id was destroyed", CMX_IB_DREQ_WAITS, {
		{ CMX_IB_ON_CLOSE, CMX_IB_CLOSING_WAITS, "none" },
		{ CMX_IB_ON_RELEASE, CMX_IB_RELEASED_WAITS, "start_limit" },
		{ CMX_IB_ON_LIMIT, CMX_IB_DESTROYED, "destroy" } } },
	{ "a DREQ of a destroyed id waits and is sent", CMX_IB_RELEASED_WAITS, {
		{ CMX_IB_ON_ROOM, CMX_IB_RELEASED_WAITS, "send_dreq" },
		{ 0, CMX_IB_RELEASED_SENT, "none" },
		{ CMX_IB_ON_LIMIT, CMX_IB_GIVEN_UP, "give_up" },
		{ CMX_IB_ON_ENDED, CMX_IB_DESTROYED, "destroy" } } },
	{ "the DREQ waits for the RTU and then for the window", CMX_IB_REP_SENT, {
		{ CMX_IB_ON_CLOSE, CMX_IB_CLOSING_REP, "none" },
		{ CMX_IB_ON_RTU, CMX_IB_CLOSING_REP, "send_dreq" },
		{ -EINPROGRESS, CMX_IB_CLOSING_WAITS, "none" },
		{ CMX_IB_ON_ROOM, CMX_IB_CLOSING_WAITS, "send_dreq" },
		{ 0, CMX_IB_CLOSING_SENT, "none" },
		{ CMX_IB_ON_DROP, CMX_IB_GIVEN_UP, "give_up" } } },
	{ "the DREQ is sent before the handler of the RTU has run", CMX_IB_REP_SENT, {
		{ 0, CMX_IB_REP_SENT, "no row" },
		{ CMX_IB_ON_RTU, CMX_IB_QUIET, "none" },
		{ 0, CMX_IB_DREQ_SENT, "none" },
		{ CMX_IB_ON_RTU, CMX_IB_DREQ_SENT, "no row" },
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "end" } } },
	{ "the same with a full window", CMX_IB_REP_SENT, {
		{ -EINPROGRESS, CMX_IB_REP_SENT, "no row" },
		{ CMX_IB_ON_RTU, CMX_IB_QUIET, "none" },
		{ -EINPROGRESS, CMX_IB_DREQ_WAITS, "none" },
		{ CMX_IB_ON_RTU, CMX_IB_DREQ_WAITS, "no row" },
		{ CMX_IB_ON_ROOM, CMX_IB_DREQ_WAITS, "send_dreq" },
		{ 0, CMX_IB_DREQ_SENT, "none" },
		{ CMX_IB_ON_RELEASE, CMX_IB_RELEASED_SENT, "start_limit" },
		{ CMX_IB_ON_ENDED, CMX_IB_DESTROYED, "destroy" } } },
	{ "a DREQ waits and fails", CMX_IB_DREQ_WAITS, {
		{ CMX_IB_ON_ROOM, CMX_IB_DREQ_WAITS, "send_dreq" },
		{ -ENOMEM, CMX_IB_QUIET, "none" } } },
	{ "the DREQ is sent with the RTU", CMX_IB_CLOSING_REP, {
		{ CMX_IB_ON_RTU, CMX_IB_CLOSING_REP, "send_dreq" },
		{ 0, CMX_IB_CLOSING_SENT, "none" },
		{ CMX_IB_ON_RELEASE, CMX_IB_RELEASED_SENT, "start_limit" } } },
	{ "the DREQ fails with the RTU", CMX_IB_CLOSING_REP, {
		{ CMX_IB_ON_RTU, CMX_IB_CLOSING_REP, "send_dreq" },
		{ -ENOMEM, CMX_IB_QUIET, "none" } } },
	{ "destroyed before the RTU", CMX_IB_CLOSING_REP, {
		{ CMX_IB_ON_RELEASE, CMX_IB_RELEASED_REP, "start_limit" },
		{ CMX_IB_ON_RTU, CMX_IB_RELEASED_REP, "send_dreq" },
		{ 0, CMX_IB_RELEASED_SENT, "none" },
		{ CMX_IB_ON_ENDED, CMX_IB_DESTROYED, "destroy" } } },
	{ "destroyed before the RTU, and the window is full", CMX_IB_RELEASED_REP, {
		{ CMX_IB_ON_RTU, CMX_IB_RELEASED_REP, "send_dreq" },
		{ -EINPROGRESS, CMX_IB_RELEASED_WAITS, "none" },
		{ CMX_IB_ON_LIMIT, CMX_IB_DESTROYED, "destroy" } } },
	{ "destroyed before the RTU, and the DREQ fails", CMX_IB_RELEASED_REP, {
		{ CMX_IB_ON_RTU, CMX_IB_RELEASED_REP, "send_dreq" },
		{ -ENOMEM, CMX_IB_DESTROYED, "destroy" } } },
	{ "both ends disconnect while a DREQ waits", CMX_IB_DREQ_WAITS, {
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "end" },
		{ CMX_IB_ON_ROOM, CMX_IB_QUIET, "no row" } } },
	{ "the same after the event", CMX_IB_CLOSING_WAITS, {
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "end" },
		{ CMX_IB_ON_ROOM, CMX_IB_QUIET, "no row" } } },
	{ "the RTU does not arrive after the event", CMX_IB_CLOSING_REP, {
		{ CMX_IB_ON_ENDED, CMX_IB_QUIET, "end" },
		{ CMX_IB_ON_RELEASE, CMX_IB_DESTROYED, "destroy" } } },
	{ "a report is due, and the RTU is none", CMX_IB_REP_SENT, {
		{ CMX_IB_ON_DROP, CMX_IB_GIVEN_UP, "give_up" },
		{ CMX_IB_ON_RTU, CMX_IB_GIVEN_UP, "no row" },
		{ CMX_IB_ON_ENDED, CMX_IB_DESTROYED, "destroy" } } },
};

static void ib_state_test_walk_desc(const struct step_test_walk *w, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "ib_cm id: %s", w->name);
}

KUNIT_ARRAY_PARAM(ib_state_test_walk, ib_state_test_walks, ib_state_test_walk_desc);

static void ib_state_test_walk(struct kunit *test)
{
	step_test_walk(test, cmx_ib_state_step, ib_state_test_acts);
}

static struct kunit_case ib_state_test_cases[] = {
	KUNIT_CASE_PARAM(ib_state_test_rows_are_distinct, ib_state_test_rows_gen_params),
	KUNIT_CASE_PARAM(ib_state_test_release, ib_state_test_ends_gen_params),
	KUNIT_CASE_PARAM(ib_state_test_walk, ib_state_test_walk_gen_params),
	KUNIT_CASE(ib_state_test_inputs),
	KUNIT_CASE(ib_state_test_ranges),
	KUNIT_CASE(ib_state_test_waiting),
	KUNIT_CASE(ib_state_test_acts_fit),
	KUNIT_CASE(ib_state_test_result),
	{},
};

static struct kunit_suite ib_state_test_suite = {
	.name = "cmx-ib-state",
	.test_cases = ib_state_test_cases,
};

kunit_test_suite(ib_state_test_suite);
