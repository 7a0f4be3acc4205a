/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MEMBER_H
#define CMX_MEMBER_H

#include <linux/types.h>

/* enum cmx_member_state - state of a membership at the SA: member_rows.h explains each */
enum cmx_member_state {
#define CMX_MEMBER_STATE(name, ...) CMX_MEMBER_##name,
#include "member_rows.h"
	CMX_MEMBER_STATE_NUM,
};

/* enum cmx_member_input - what happens to it: member_rows.h explains each */
enum cmx_member_input {
#define CMX_MEMBER_INPUT(name, ...) CMX_MEMBER_ON_##name,
#include "member_rows.h"
};

const char *cmx_member_name(enum cmx_member_state state);
int cmx_member_step(u8 *state, int ret);

#endif
