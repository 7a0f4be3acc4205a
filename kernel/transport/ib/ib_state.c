// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state machine of a connection over ib_cm. Only this file changes &cmx_ib_conn.state.
 */
#include <linux/kernel.h>
#include <linux/stringify.h>
#include "ib_state.h"
#include "step.h"

static const char *const names[] = {
#define CMX_IB_STATE(name, ...) __stringify(name),
#include "ib_state_rows.h"
};

#define IN(state) BIT(CMX_IB_##state)
#define ON(input) BIT(CMX_IB_ON_##input)

static const struct cmx_step steps[] = {
#define CMX_IB_STEP(states, inputs, next, act) { states, inputs, CMX_IB_##next },
#include "ib_state_rows.h"
};

/**
 * cmx_ib_state_name() - get the name of a state for traces
 * @state: the state
 *
 * Return: the name.
 */
const char *cmx_ib_state_name(enum cmx_ib_state state)
{
	return names[state];
}

/* The input that the result of sending a message is. A positive value is an input already. */
static enum cmx_ib_input ib_state_input(int ret)
{
	if (ret >= 0)
		return ret;
	return ret == -EINPROGRESS ? CMX_IB_ON_FULL : CMX_IB_ON_FAILED;
}

/**
 * cmx_ib_state_step() - make a step
 * @state: a &enum cmx_ib_state; may be read at any time with READ_ONCE()
 * @ret: a &enum cmx_ib_input, or the result of sending a message: 0 is %CMX_IB_ON_SENT,
 *	-EINPROGRESS is %CMX_IB_ON_FULL, and any other errno is %CMX_IB_ON_FAILED
 *
 * Return: the row of ib_state_rows.h, whose act is to run next; -ENOENT: there is none, and @state
 * is unchanged.
 */
int cmx_ib_state_step(u8 *state, int ret)
{
	static u8 found[CMX_IB_STATE_NUM][CMX_STEP_INPUTS];

	return cmx_step_make(steps, ARRAY_SIZE(steps), found, state, ib_state_input(ret));
}
