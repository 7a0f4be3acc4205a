/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_STATE_H
#define CMX_IB_STATE_H

#include <linux/types.h>

/* enum cmx_ib_state - state of a connection over ib_cm: ib_state_rows.h explains each */
enum cmx_ib_state {
#define CMX_IB_STATE(name, ...) CMX_IB_##name,
#include "ib_state_rows.h"
	CMX_IB_STATE_NUM,
};

/* enum cmx_ib_input - what happens to it: ib_state_rows.h explains each */
enum cmx_ib_input {
#define CMX_IB_INPUT(name, ...) CMX_IB_ON_##name,
#include "ib_state_rows.h"
};

/* Does a message wait for the send window? Not in RELEASED_WAITS: the consumer waits no more. */
static inline bool cmx_ib_state_is_waiting(enum cmx_ib_state state)
{
	return state == CMX_IB_REQ_WAITS || state == CMX_IB_DREQ_WAITS ||
	       state == CMX_IB_CLOSING_WAITS;
}

/*
 * Has the connection ended for the consumer, while the peer has not confirmed that, or the ib_cm id
 * is being destroyed? DESTROYED is the last state.
 */
static inline bool cmx_ib_state_is_closing(enum cmx_ib_state state)
{
	return state >= CMX_IB_CLOSING_REP;
}

/* Has the consumer released the ib_cm id? */
static inline bool cmx_ib_state_is_released(enum cmx_ib_state state)
{
	return state >= CMX_IB_RELEASED_REP;
}

const char *cmx_ib_state_name(enum cmx_ib_state state);
int cmx_ib_state_step(u8 *state, int ret);

#endif
