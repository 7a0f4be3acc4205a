// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx kill: ends ids, which the filters of cmx show select.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "../lib/cmd.h"
#include "args.h"
#include "cmx_kill.h"
#include "cmx_show.h"

/* An id of a ULP has the handle 0, and cannot be ended: EOPNOTSUPP. */
static int kill_id(int fd, const struct cmx_id_record *r)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_KILL);
	cmxl_cmd_u32(&cmd, CMX_ATTR_ID, r->handle);
	errno = EOPNOTSUPP;
	if (!(r->flags & CMX_ID_F_KERNEL) && !cmxl_cmd_issue(&cmd, fd))
		return 0;
	fprintf(stderr, "cmx: id %u of %.*s: %s\n", r->handle, (int)sizeof(r->comm), r->comm,
		strerror(errno));
	return 1;
}

int kill_run(int argc, char **argv)
{
	struct tool_options options = {};

	if (tool_options_parse(&argc, &argv, "", &options))
		return 2;
	return show_act_run(argc, argv, kill_id);
}
