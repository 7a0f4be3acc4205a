// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Issuing an ioctl command.
 */
#include <sys/ioctl.h>
#include "cmd.h"

int cmxl_cmd_issue(struct cmxl_cmd *cmd, int fd)
{
	cmd->hdr.length = sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->hdr.attrs[0]);
	return ioctl(fd, CMX_IOCTL, cmd) < 0 ? -1 : 0;
}
