/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_STEP_H
#define CMX_STEP_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * struct cmx_step - a row of a state machine that is written as a table
 * @states: mask of states
 * @inputs: mask of inputs. In each of @states, each of them leads to @next
 * @next: the next state
 */
struct cmx_step {
	u32 states;
	u32 inputs;
	u8 next;
};

/* Maximum number of inputs of a table: bits of &cmx_step.inputs */
#define CMX_STEP_INPUTS 32

/* The row of a state and an input, counted from 1; above @num: there is none */
static inline u8 cmx_step_find(const struct cmx_step *steps, unsigned int num, u8 state,
			       unsigned int input)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (steps[i].states & BIT(state) && steps[i].inputs & BIT(input))
			break;
	return i + 1;
}

/**
 * cmx_step_make() - make a step of a state machine
 * @steps: its table
 * @num: number of rows
 * @found: results of earlier searches, zero at first: each connection makes ten steps
 * @state: in: the state; out: the next one. It may be read at any time with READ_ONCE()
 * @input: what has happened
 *
 * Return: the row; -ENOENT: there is none, and @state is unchanged.
 */
static inline int cmx_step_make(const struct cmx_step *steps, unsigned int num,
				u8 (*found)[CMX_STEP_INPUTS], u8 *state, unsigned int input)
{
	u8 *result = &found[*state][input];
	u8 row = READ_ONCE(*result);

	if (!row) {
		row = cmx_step_find(steps, num, *state, input);
		WRITE_ONCE(*result, row);
	}
	if (row > num)
		return -ENOENT;
	WRITE_ONCE(*state, steps[row - 1].next);
	return row - 1;
}

#endif
