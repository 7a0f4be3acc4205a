// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state machine of a membership at the SA. Only this file changes &cmx_sa_member.state.
 */
#include <linux/kernel.h>
#include <linux/stringify.h>
#include "member.h"
#include "step.h"

static const char *const names[] = {
#define CMX_MEMBER_STATE(name, ...) __stringify(name),
#include "member_rows.h"
};

#define IN(state) BIT(CMX_MEMBER_##state)
#define ON(input) BIT(CMX_MEMBER_ON_##input)

static const struct cmx_step steps[] = {
#define CMX_MEMBER_STEP(states, inputs, next, act) { states, inputs, CMX_MEMBER_##next },
#include "member_rows.h"
};

/**
 * cmx_member_name() - get the name of a state for traces
 * @state: the state
 *
 * Return: the name.
 */
const char *cmx_member_name(enum cmx_member_state state)
{
	return names[state];
}

/* The input that a status is. A positive value is an input already. */
static enum cmx_member_input member_input(int ret)
{
	switch (ret) {
	case 0:
		return CMX_MEMBER_ON_OK;
	case -EINPROGRESS:
		return CMX_MEMBER_ON_NOTHING;
	case -EINVAL:
		return CMX_MEMBER_ON_REFUSED;
	case -EAGAIN:		/* no SM, or sa_member_probe_done() */
	case -ETIMEDOUT:
	case -EIO:		/* the MAD was not sent */
	case -EINTR:
	case -ENETRESET:	/* the membership was lost */
		return CMX_MEMBER_ON_SILENT;
	default:
		return ret > 0 ? ret : CMX_MEMBER_ON_ERROR;
	}
}

/**
 * cmx_member_step() - make a step
 * @state: a &enum cmx_member_state; may be read at any time with READ_ONCE()
 * @ret: a &enum cmx_member_input, or the status of a request. -EINPROGRESS means
 *	%CMX_MEMBER_ON_NOTHING
 *
 * Return: the row of member_rows.h, whose act is to run next; -ENOENT: there is none, and @state is
 * unchanged.
 */
int cmx_member_step(u8 *state, int ret)
{
	static u8 found[CMX_MEMBER_STATE_NUM][CMX_STEP_INPUTS];

	return cmx_step_make(steps, ARRAY_SIZE(steps), found, state, member_input(ret));
}
