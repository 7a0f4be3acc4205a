/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests of state machines share: see step.h. A test includes it after the source of the
 * machine, whose table is called steps.
 */
#ifndef CMX_STEP_TEST_H
#define CMX_STEP_TEST_H

#include <kunit/test.h>
#include "../base/step.h"

/* The states that any inputs can lead to, with @state itself */
static u32 step_test_reach(u8 state, unsigned long inputs)
{
	u32 from, to = BIT(state);
	unsigned int i;

	do {
		from = to;
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			if (steps[i].states & from && steps[i].inputs & inputs)
				to |= BIT(steps[i].next);
	} while (to != from);
	return to;
}

/* How many rows a state has for an input */
static unsigned int step_test_count(u8 state, unsigned int input)
{
	unsigned int i, rows = 0;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		rows += steps[i].states & BIT(state) && steps[i].inputs & BIT(input);
	return rows;
}

/* The states that have a row for an input */
static u32 step_test_states(unsigned int input)
{
	u32 states = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i].inputs & BIT(input))
			states |= steps[i].states;
	return states;
}

/**
 * struct step_test_walk - steps in a row
 * @name: name of the case
 * @from: the first state
 * @steps: the inputs or results, and the states and acts that they lead to. Without a row, the act
 *	is "no row"
 */
struct step_test_walk {
	const char *name;
	u8 from;
	struct {
		int ret;
		u8 to;
		const char *act;
	} steps[8];
};

/* @step: makes a step, and returns a row or a negative number. @acts: the acts of the rows */
static void step_test_walk(struct kunit *test, int (*step)(u8 *state, int ret),
			   const char *const *acts)
{
	const struct step_test_walk *w = test->param_value;
	u8 state = w->from;
	unsigned int i;
	int row;

	for (i = 0; i < ARRAY_SIZE(w->steps) && w->steps[i].act; i++) {
		row = step(&state, w->steps[i].ret);
		KUNIT_EXPECT_EQ_MSG(test, state, w->steps[i].to, "step %u", i);
		KUNIT_EXPECT_STREQ(test, row < 0 ? "no row" : acts[row], w->steps[i].act);
	}
}

#endif
