// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The reasons why a program cannot open the char device.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "../lib/open_device.h"
#include "device.h"
#include "file.h"

/* depmod lists the module with or without the suffix of a compression. */
static bool tool_module_is_installed(const char *release)
{
	char path[PATH_MAX], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (!found && getline(&line, &size, f) > 0) {
		line[strcspn(line, ":")] = 0;
		found = strstr(line, "/rdma_cmx.ko");
	}
	free(line);
	fclose(f);
	return found;
}

static bool tool_module_is_loaded(void)
{
	return !access(CMXL_MODULE_PATH, F_OK);
}

static void tool_device_explain_missing(void)
{
	struct utsname uts;

	uname(&uts);
	if (tool_module_is_loaded())
		fputs("cmx: The module rdma_cmx is loaded, but this system or container has no device\n"
		      "for it. A container needs " CMXL_DEVICE_PATH " of the host.\n", stderr);
	else if (tool_module_is_installed(uts.release))
		fputs("cmx: The module rdma_cmx is installed, but it is not loaded:\n"
		      "  modprobe rdma_cmx\n", stderr);
	else
		fprintf(stderr, "cmx: The module rdma_cmx is not installed for the running kernel %s.\n",
			uts.release);
}

bool tool_module_is_missing(void)
{
	if (tool_module_is_loaded())
		return false;
	fputs("cmx: The module rdma_cmx is not loaded.\n", stderr);
	return true;
}

void tool_module_explain_difference(void)
{
	struct utsname uts;

	uname(&uts);
	fputs("cmx: warning: the loaded module and the library are different builds.\n", stderr);
	if (tool_module_is_installed(uts.release))
		fputs("If the installed module is another one (modinfo -F version rdma_cmx), end the programs\n"
		      "that use the loaded one, and run\n"
		      "  modprobe -r rdma_cmx && modprobe rdma_cmx\n", stderr);
	else
		fprintf(stderr, "No module is installed for the running kernel %s.\n", uts.release);
}

int tool_module_fail(const char *what)
{
	tool_fail(what);
	tool_module_is_missing();
	return 1;
}

int tool_device_fail(const char *what)
{
	if (errno == EPROTONOSUPPORT)
		fprintf(stderr, "cmx: the loaded module is older than this program and has no %s\n",
			what);
	else if (errno == EPROTO)
		fputs("cmx: the loaded module and this program have different versions of the ABI\n",
		      stderr);
	else
		tool_fail(CMXL_DEVICE_PATH);
	return 1;
}

void tool_device_explain(void)
{
	int fd = cmxl_device_open_file(O_RDWR), err = errno;

	if (fd >= 0) {
		close(fd);
		return;
	}
	fprintf(stderr, "cmx: %s: %s\n", CMXL_DEVICE_PATH, strerror(err));
	switch (err) {
	case ENODEV:
		fputs("cmx: The module is about to be replaced: see cmx drain.\n", stderr);
		break;
	case ENOENT:
	case ENXIO:
		tool_device_explain_missing();
		break;
	case EACCES:
		fputs("cmx: Its mode does not permit this user to open it: see 90-rdma-cmx.rules of udev.\n",
		      stderr);
		break;
	case EPERM:
		fputs("cmx: The device controller of the control group forbids it.\n",
		      stderr);
		break;
	}
}
