// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/stringify.h>
#include "../transport/ib/member.c"
#include "step_test.h"

static const char *const member_test_acts[] = {
#define CMX_MEMBER_STEP(states, inputs, next, act) __stringify(act),
#include "../transport/ib/member_rows.h"
};

#define MEMBER_TEST_INPUTS (CMX_MEMBER_ON_GONE + 1)
#define MEMBER_TEST_LEFT (IN(LEFT) | IN(WANTS_LEAVE) | IN(LEAVE_SENT) | IN(WANTS_CLEANUP) |	\
			  IN(ENDED))
#define MEMBER_TEST_ALL (BIT(ARRAY_SIZE(member_test_states)) - 1)

static const u8 member_test_states[] = {
#define CMX_MEMBER_STATE(name, ...) CMX_MEMBER_##name,
#include "../transport/ib/member_rows.h"
};

static void member_test_rows_desc(const u8 *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "rows of a membership: %s", cmx_member_name(*s));
}

static void member_test_ends_desc(const u8 *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "end of a membership: %s", cmx_member_name(*s));
}

static void member_test_failure_desc(const u8 *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "failure of a membership: %s", cmx_member_name(*s));
}

KUNIT_ARRAY_PARAM(member_test_rows, member_test_states, member_test_rows_desc);
KUNIT_ARRAY_PARAM(member_test_ends, member_test_states, member_test_ends_desc);
KUNIT_ARRAY_PARAM(member_test_failure, member_test_states, member_test_failure_desc);

static u8 member_test_state(struct kunit *test)
{
	return *(const u8 *)test->param_value;
}

static u8 member_test_next(u8 state, int ret)
{
	cmx_member_step(&state, ret);
	return state;
}

static void member_test_rows_are_distinct(struct kunit *test)
{
	u8 state = member_test_state(test);
	unsigned int input;

	for (input = 0; input < MEMBER_TEST_INPUTS; input++)
		KUNIT_EXPECT_LE(test, step_test_count(state, input), 1);
}

/* Each state occurs, and a membership that is left always comes to its end. */
static void member_test_begin_and_end(struct kunit *test)
{
	u8 state = member_test_state(test);
	u8 left = member_test_next(state, CMX_MEMBER_ON_LEAVE);

	KUNIT_EXPECT_TRUE(test, step_test_reach(CMX_MEMBER_WANTS_JOIN, ~0UL) & BIT(state));
	KUNIT_EXPECT_TRUE(test, MEMBER_TEST_LEFT & BIT(left));
	KUNIT_EXPECT_FALSE(test, step_test_reach(left, ~0UL) & ~MEMBER_TEST_LEFT);
	KUNIT_EXPECT_EQ(test, member_test_next(left, CMX_MEMBER_ON_GONE), CMX_MEMBER_ENDED);
	if (MEMBER_TEST_LEFT & BIT(state))
		KUNIT_EXPECT_EQ(test, left, state);
	else
		KUNIT_EXPECT_EQ(test, member_test_next(state, CMX_MEMBER_ON_GONE), state);
}

/* MCAST_REJOIN never gives up a lost membership: only clearing the option or a leave ends it. */
static void member_test_rejoin(struct kunit *test)
{
	u32 states = step_test_reach(CMX_MEMBER_MEMBER, ~(ON(OFF) | ON(LEAVE)));

	KUNIT_EXPECT_EQ(test, states, IN(MEMBER) | IN(LOST) | IN(REJOIN_SENT) | IN(UNREPORTED) |
			IN(REJOINED));
	KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_LOST, CMX_MEMBER_ON_OFF),
			CMX_MEMBER_FAILED);
	KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_REJOIN_SENT, CMX_MEMBER_ON_OFF),
			CMX_MEMBER_REJOIN_SENT);
}

/* As long as no SA answers, it does not give up the first join either. */
static void member_test_first_join(struct kunit *test)
{
	u32 inputs = ON(WAKE) | ON(SENT) | ON(OK) | ON(SILENT);

	KUNIT_EXPECT_FALSE(test, step_test_reach(CMX_MEMBER_WANTS_JOIN, inputs) & IN(FAILED));
}

static void member_test_status(struct kunit *test)
{
	static const int silent[] = { -EAGAIN, -ETIMEDOUT, -EIO, -EINTR, -ENETRESET };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(silent); i++)
		KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_JOIN_SENT, silent[i]),
				CMX_MEMBER_WANTS_RETRY);
	KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_JOIN_SENT, 0), CMX_MEMBER_MEMBER);
	KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_JOIN_SENT, -EINVAL), CMX_MEMBER_PROBED);
	KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_JOIN_SENT, -ENOMEM), CMX_MEMBER_FAILED);
	KUNIT_EXPECT_EQ(test, member_test_next(CMX_MEMBER_JOIN_SENT, -EINPROGRESS),
			CMX_MEMBER_JOIN_SENT);
}

/* What a refusal, no answer and another error lead to */
static const struct {
	u32 from;
	u8 to[3];
	const char *acts[3];
} member_test_failures[] = {
	{ IN(WANTS_JOIN) | IN(PROBED),
	  { CMX_MEMBER_FAILED, CMX_MEMBER_WANTS_RETRY, CMX_MEMBER_FAILED },
	  { "report_error", "retry", "report_error" } },
	{ IN(JOIN_SENT),
	  { CMX_MEMBER_PROBED, CMX_MEMBER_WANTS_RETRY, CMX_MEMBER_FAILED },
	  { "probe", "retry", "report_error" } },
	{ IN(WANTS_RETRY),
	  { CMX_MEMBER_FAILED, CMX_MEMBER_WANTS_RETRY, CMX_MEMBER_WANTS_RETRY },
	  { "report_error", "retry", "retry" } },
	{ IN(MEMBER) | IN(UNREPORTED) | IN(REJOINED),
	  { CMX_MEMBER_LOST, CMX_MEMBER_LOST, CMX_MEMBER_LOST }, { "lose", "lose", "lose" } },
	{ IN(LOST) | IN(REJOIN_SENT),
	  { CMX_MEMBER_LOST, CMX_MEMBER_LOST, CMX_MEMBER_LOST }, { "retry", "retry", "retry" } },
	{ IN(LEFT) | IN(WANTS_LEAVE),
	  { CMX_MEMBER_WANTS_CLEANUP, CMX_MEMBER_WANTS_CLEANUP, CMX_MEMBER_WANTS_CLEANUP },
	  { "clean_up", "clean_up", "clean_up" } },
	{ IN(LEAVE_SENT),
	  { CMX_MEMBER_ENDED, CMX_MEMBER_ENDED, CMX_MEMBER_ENDED }, { "end", "end", "end" } },
	{ IN(WANTS_CLEANUP),
	  { CMX_MEMBER_ENDED, CMX_MEMBER_WANTS_CLEANUP, CMX_MEMBER_ENDED },
	  { "end", "clean_up", "end" } },
};

static void member_test_failure(struct kunit *test)
{
	static const int errnos[] = { -EINVAL, -ETIMEDOUT, -ENOMEM };
	u8 from = member_test_state(test);
	unsigned int i, k = 0;

	while (!(member_test_failures[k].from & BIT(from)))
		if (++k == ARRAY_SIZE(member_test_failures))
			return;
	for (i = 0; i < ARRAY_SIZE(errnos); i++) {
		u8 state = from;
		int row = cmx_member_step(&state, errnos[i]);

		KUNIT_EXPECT_EQ_MSG(test, state, member_test_failures[k].to[i], "%d", errnos[i]);
		KUNIT_EXPECT_STREQ(test, row < 0 ? "no row" : member_test_acts[row],
				   member_test_failures[k].acts[i]);
	}
}

/* The states in which an input does something: no act runs in the others, and they stay. */
static void member_test_inputs(struct kunit *test)
{
	static const u32 states[MEMBER_TEST_INPUTS] = {
		[CMX_MEMBER_ON_WAKE] = IN(WANTS_JOIN) | IN(WANTS_RETRY) | IN(LOST) |
				       IN(UNREPORTED) | IN(WANTS_LEAVE) | IN(LEAVE_SENT) |
				       IN(WANTS_CLEANUP),
		[CMX_MEMBER_ON_SENT] = IN(WANTS_JOIN) | IN(WANTS_RETRY) | IN(LOST) |
				       IN(WANTS_LEAVE) | IN(WANTS_CLEANUP),
		[CMX_MEMBER_ON_OK] = IN(JOIN_SENT) | IN(REJOIN_SENT) | IN(UNREPORTED) | IN(LEFT) |
				     IN(LEAVE_SENT),
		[CMX_MEMBER_ON_REFUSED] = MEMBER_TEST_ALL & ~(IN(FAILED) | IN(ENDED)),
		[CMX_MEMBER_ON_SILENT] = MEMBER_TEST_ALL & ~(IN(FAILED) | IN(ENDED)),
		[CMX_MEMBER_ON_ERROR] = MEMBER_TEST_ALL & ~(IN(FAILED) | IN(ENDED)),
		[CMX_MEMBER_ON_OFF] = IN(WANTS_RETRY) | IN(LOST),
		[CMX_MEMBER_ON_AGAIN] = IN(REJOINED),
		[CMX_MEMBER_ON_LEAVE] = MEMBER_TEST_ALL & ~MEMBER_TEST_LEFT,
		[CMX_MEMBER_ON_GONE] = MEMBER_TEST_LEFT & ~IN(ENDED),
	};
	unsigned int input;

	for (input = 0; input < MEMBER_TEST_INPUTS; input++)
		KUNIT_EXPECT_EQ_MSG(test, step_test_states(input), states[input], "input %u",
				    input);
}

/* The consumer learns each failure, and the last reference is dropped once. */
static void member_test_acts_fit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		KUNIT_EXPECT_EQ_MSG(test, !strcmp(member_test_acts[i], "report_error"),
				    steps[i].next == CMX_MEMBER_FAILED, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, !strcmp(member_test_acts[i], "end"),
				    steps[i].next == CMX_MEMBER_ENDED, "row %u", i);
	}
}

static const struct step_test_walk member_test_walks[] = {
	{ "join, leave", CMX_MEMBER_WANTS_JOIN, {
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_WANTS_JOIN, "join" },
		{ CMX_MEMBER_ON_SENT, CMX_MEMBER_JOIN_SENT, "none" },
		{ 0, CMX_MEMBER_MEMBER, "report_join" },
		{ CMX_MEMBER_ON_LEAVE, CMX_MEMBER_WANTS_LEAVE, "none" },
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_WANTS_LEAVE, "leave" },
		{ CMX_MEMBER_ON_SENT, CMX_MEMBER_LEAVE_SENT, "none" },
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_LEAVE_SENT, "poll" },
		{ 0, CMX_MEMBER_ENDED, "end" } } },
	{ "the SA refuses", CMX_MEMBER_JOIN_SENT, {
		{ -EINVAL, CMX_MEMBER_PROBED, "probe" },
		{ -EINVAL, CMX_MEMBER_FAILED, "report_error" },
		{ CMX_MEMBER_ON_LEAVE, CMX_MEMBER_WANTS_CLEANUP, "none" },
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_WANTS_CLEANUP, "clean_up" },
		{ -ECANCELED, CMX_MEMBER_ENDED, "end" } } },
	{ "the port refuses", CMX_MEMBER_JOIN_SENT, {
		{ -EINVAL, CMX_MEMBER_PROBED, "probe" },
		{ -EAGAIN, CMX_MEMBER_WANTS_RETRY, "retry" },
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_WANTS_RETRY, "rejoin" },
		{ -ENOENT, CMX_MEMBER_WANTS_RETRY, "retry" },
		{ CMX_MEMBER_ON_SENT, CMX_MEMBER_JOIN_SENT, "none" } } },
	{ "no retry without MCAST_REJOIN", CMX_MEMBER_JOIN_SENT, {
		{ -ETIMEDOUT, CMX_MEMBER_WANTS_RETRY, "retry" },
		{ CMX_MEMBER_ON_OFF, CMX_MEMBER_FAILED, "report_error" } } },
	{ "loss, rejoin, report again", CMX_MEMBER_MEMBER, {
		{ -ENETRESET, CMX_MEMBER_LOST, "lose" },
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_LOST, "rejoin" },
		{ CMX_MEMBER_ON_SENT, CMX_MEMBER_REJOIN_SENT, "none" },
		{ 0, CMX_MEMBER_UNREPORTED, "restore" },
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_UNREPORTED, "report_rejoin" },
		{ 0, CMX_MEMBER_REJOINED, "none" },
		{ CMX_MEMBER_ON_AGAIN, CMX_MEMBER_UNREPORTED, "wait" } } },
	{ "rejoin, refused", CMX_MEMBER_REJOIN_SENT, {
		{ -EINVAL, CMX_MEMBER_LOST, "retry" } } },
	{ "partition lost", CMX_MEMBER_LOST, {
		{ CMX_MEMBER_ON_WAKE, CMX_MEMBER_LOST, "rejoin" },
		{ -ENOENT, CMX_MEMBER_LOST, "retry" } } },
	{ "left while a join is sent", CMX_MEMBER_JOIN_SENT, {
		{ CMX_MEMBER_ON_LEAVE, CMX_MEMBER_LEFT, "none" },
		{ 0, CMX_MEMBER_WANTS_LEAVE, "leave" } } },
	{ "left, stale record", CMX_MEMBER_JOIN_SENT, {
		{ CMX_MEMBER_ON_LEAVE, CMX_MEMBER_LEFT, "none" },
		{ -ETIMEDOUT, CMX_MEMBER_WANTS_CLEANUP, "clean_up" },
		{ CMX_MEMBER_ON_SENT, CMX_MEMBER_LEFT, "none" },
		{ 0, CMX_MEMBER_WANTS_LEAVE, "leave" } } },
};

static void member_test_walk_desc(const struct step_test_walk *w, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "membership: %s", w->name);
}

KUNIT_ARRAY_PARAM(member_test_walk, member_test_walks, member_test_walk_desc);

static void member_test_walk(struct kunit *test)
{
	step_test_walk(test, cmx_member_step, member_test_acts);
}

/* A membership begins in CMX_MEMBER_WANTS_JOIN, because it is allocated zeroed. */
static void member_test_initial(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, CMX_MEMBER_WANTS_JOIN, 0);
}

static struct kunit_case member_test_cases[] = {
	KUNIT_CASE_PARAM(member_test_rows_are_distinct, member_test_rows_gen_params),
	KUNIT_CASE_PARAM(member_test_begin_and_end, member_test_ends_gen_params),
	KUNIT_CASE_PARAM(member_test_failure, member_test_failure_gen_params),
	KUNIT_CASE_PARAM(member_test_walk, member_test_walk_gen_params),
	KUNIT_CASE(member_test_rejoin),
	KUNIT_CASE(member_test_first_join),
	KUNIT_CASE(member_test_status),
	KUNIT_CASE(member_test_inputs),
	KUNIT_CASE(member_test_acts_fit),
	KUNIT_CASE(member_test_initial),
	{},
};

static struct kunit_suite member_test_suite = {
	.name = "cmx-member",
	.test_cases = member_test_cases,
};

kunit_test_suite(member_test_suite);
