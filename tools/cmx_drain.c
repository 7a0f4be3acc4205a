// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx drain: refuses new channels, and lists what still uses the module, until it can be replaced.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "cmx_drain.h"
#include "device.h"
#include "file.h"

#define DRAIN_DEVICE "/sys/class/misc/rdma_cmx"
#define DRAIN_HOLDERS "/sys/module/rdma_cmx/holders"

/**
 * struct drain_scan - a look at what uses the module
 * @rdev: device number of its device
 * @found: number of open files of the process that is looked at
 * @users: number of processes and modules so far
 */
struct drain_scan {
	dev_t rdev;
	unsigned int found;
	unsigned int users;
};

static int drain_name_is_number(const struct dirent *d)
{
	return isdigit((unsigned char)d->d_name[0]);
}

static int drain_file_visit(const char *dir, const char *name, void *arg)
{
	struct drain_scan *scan = arg;
	char path[320];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!stat(path, &st) && S_ISCHR(st.st_mode) && st.st_rdev == scan->rdev)
		scan->found++;
	return 0;
}

static int drain_process_visit(const char *dir, const char *name, void *arg)
{
	char path[300], comm[TOOL_TEXT_MAX] = "?";
	struct drain_scan *scan = arg;

	scan->found = 0;
	snprintf(path, sizeof(path), "%s/%s/fd", dir, name);
	tool_folder_walk(path, drain_name_is_number, drain_file_visit, scan);
	if (!scan->found)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	tool_file_read_line(path, "comm", comm, sizeof(comm));
	tool_text_escape(comm, sizeof(comm));
	printf("pid %s %s\n", name, comm);
	scan->users++;
	return 0;
}

static int drain_module_visit(const char *dir, const char *name, void *arg)
{
	struct drain_scan *scan = arg;

	(void)dir;
	printf("module %s\n", name);
	scan->users++;
	return 0;
}

/* Returns 1 if something uses the module. */
static int drain_users_print(void)
{
	struct drain_scan scan = {};
	unsigned int major, minor;
	char line[32];

	if (tool_file_read_line(DRAIN_DEVICE, "dev", line, sizeof(line)) ||
	    sscanf(line, "%u:%u", &major, &minor) != 2)
		return tool_module_fail("dev");
	scan.rdev = makedev(major, minor);
	tool_folder_walk("/proc", drain_name_is_number, drain_process_visit, &scan);
	tool_folder_walk(DRAIN_HOLDERS, tool_name_is_visible, drain_module_visit, &scan);
	return scan.users > 0;
}

int drain_run(int argc, char **argv)
{
	bool on = argc == 2 && !strcmp(argv[1], "on"), off = argc == 2 && !strcmp(argv[1], "off");
	char state[8];

	if (argc > 1 && !on && !off)
		return tool_fail_usage(argv[1], "neither on nor off");
	if ((on || off) && tool_file_write_line(DRAIN_DEVICE, "drain", on ? "1" : "0"))
		return tool_module_fail("drain");
	if (tool_file_read_line(DRAIN_DEVICE, "drain", state, sizeof(state)))
		return tool_module_fail("drain");
	printf("drain %s\n", *state == '1' ? "on" : "off");
	return off ? 0 : drain_users_print();
}
