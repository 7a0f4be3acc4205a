// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx default: the parameters of the module, and the defaults of the RoCE ports, both from sysfs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cmx_default.h"
#include "device.h"
#include "file.h"

/* The names of the files are the same in both. */
#define RDMA_CM "/sys/kernel/config/rdma_cm"
#define TOS "default_roce_tos"
#define MODE "default_roce_mode"

#define VALUE_MAX 64
#define PATH_LEN 600

/* As in a command, and as in the file */
static const char *const modes[][2] = {
	{ "v1", "IB/RoCE v1" },
	{ "v2", "RoCE v2" },
};

static int default_param_print(const char *name)
{
	char val[VALUE_MAX];

	if (tool_file_read_line(CMX_PARAMS, name, val, sizeof(val)))
		return tool_module_fail(name);
	printf("%s %s\n", name, val);
	return 0;
}

static int default_param_set(const char *name, const char *val)
{
	return tool_file_write_line(CMX_PARAMS, name, val) ? tool_module_fail(name) : 0;
}

static int default_param_visit(const char *dir, const char *name, void *arg)
{
	int *status = arg;

	(void)dir;
	*status |= default_param_print(name);
	return 0;
}

static const char *default_mode_from_file(const char *mode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(mode, modes[i][1]))
			return modes[i][0];
	return mode;
}

static const char *default_mode_to_file(const char *mode)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(mode, modes[i][0]))
			return modes[i][1];
	return NULL;
}

/* Splits DEVICE/PORT in place. Returns the port, or NULL if it is none. */
static char *default_port_split(char *name)
{
	char *port = strchr(name, '/');

	if (!port || port == name || name[0] == '.')
		return NULL;
	*port++ = 0;
	return *port && !port[strspn(port, "0123456789")] ? port : NULL;
}

static void default_port_folder(char *dir, const char *device, const char *port)
{
	snprintf(dir, PATH_LEN, TOOL_DEVICES "/%s/cmx%s", device, port);
}

/* Ports that are not RoCE have no defaults. */
static int default_port_print(const char *device, const char *port)
{
	char dir[PATH_LEN], tos[VALUE_MAX], mode[VALUE_MAX];

	default_port_folder(dir, device, port);
	if (tool_file_read_line(dir, TOS, tos, sizeof(tos)) ||
	    tool_file_read_line(dir, MODE, mode, sizeof(mode)))
		return -1;
	printf("%s/%s tos %s mode %s\n", device, port, tos, default_mode_from_file(mode));
	return 0;
}

static int default_port_visit(const char *dir, const char *name, void *arg)
{
	(void)dir;
	default_port_print(arg, name + strlen("cmx"));
	return 0;
}

static int default_device_visit(const char *dir, const char *name, void *arg)
{
	char path[PATH_LEN];

	(void)arg;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return tool_folder_walk(path, tool_name_is_port, default_port_visit, (void *)name);
}

/* The arguments are "tos VALUE" and "mode VALUE". All are checked before the first is set. */
static int default_port_args_check(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i += 2) {
		if (strcmp(argv[i], "tos") && strcmp(argv[i], "mode"))
			return tool_fail_usage(argv[i], "neither tos nor mode");
		if (i + 1 == argc)
			return tool_fail_usage(argv[i], "no value");
		if (!strcmp(argv[i], "mode") && !default_mode_to_file(argv[i + 1]))
			return tool_fail_usage(argv[i + 1], "no such mode");
	}
	return 0;
}

static int default_port_run(char *name, int argc, char **argv)
{
	const char *port = default_port_split(name);
	char dir[PATH_LEN], what[PATH_LEN];
	int i, ret;

	if (!port)
		return tool_fail_usage(name, "not a device and a port");
	ret = default_port_args_check(argc, argv);
	if (ret)
		return ret;
	if (!argc && default_port_print(name, port)) {
		fprintf(stderr, "cmx: %s/%s: no RoCE port of rdma_cmx\n", name, port);
		tool_module_is_missing();
		return 1;
	}
	default_port_folder(dir, name, port);
	for (i = 0; i < argc; i += 2) {
		ret = strcmp(argv[i], "tos") ?
			      tool_file_write_line(dir, MODE, default_mode_to_file(argv[i + 1])) :
			      tool_file_write_line(dir, TOS, argv[i + 1]);
		if (ret) {
			snprintf(what, sizeof(what), "%s/%s %s", name, port, argv[i]);
			return tool_module_fail(what);
		}
	}
	return 0;
}

/**
 * struct default_import_walk - the ports whose defaults are imported
 * @device: RDMA device
 * @status: exit status
 */
struct default_import_walk {
	const char *device;
	int status;
};

/* In rdma_cm a TOS of 0 is also the default value. */
static int default_import_port(const char *from, const char *port, void *arg)
{
	char path[PATH_LEN], dir[PATH_LEN], tos[VALUE_MAX], mode[VALUE_MAX], old[VALUE_MAX];
	struct default_import_walk *walk = arg;

	snprintf(path, sizeof(path), "%s/%s", from, port);
	default_port_folder(dir, walk->device, port);
	/* the device has been removed, or the port is not RoCE */
	if (tool_file_read_line(path, TOS, tos, sizeof(tos)) ||
	    tool_file_read_line(path, MODE, mode, sizeof(mode)) ||
	    tool_file_read_line(dir, TOS, old, sizeof(old)))
		return 0;
	if (tool_file_write_line(dir, TOS, strcmp(tos, "0") ? tos : "none") ||
	    tool_file_write_line(dir, MODE, mode))
		walk->status = tool_module_fail(dir);
	else
		default_port_print(walk->device, port);
	return 0;
}

static int default_import_device(const char *dir, const char *device, void *arg)
{
	struct default_import_walk *walk = arg;
	char path[PATH_LEN];

	walk->device = device;
	snprintf(path, sizeof(path), "%s/%s/ports", dir, device);
	return tool_folder_walk(path, tool_name_is_visible, default_import_port, walk);
}

static int default_import(void)
{
	struct default_import_walk walk = {};

	if (access(CMX_MODULE, F_OK))
		return tool_module_fail(CMX_MODULE);
	if (tool_folder_walk(RDMA_CM, tool_name_is_visible, default_import_device, &walk))
		return tool_fail(RDMA_CM);
	return walk.status;
}

static int default_print_all(void)
{
	int status = 0;

	if (access(CMX_PARAMS, F_OK) ||
	    tool_folder_walk(CMX_PARAMS, tool_name_is_visible, default_param_visit, &status))
		return tool_module_fail(CMX_PARAMS);
	if (tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, default_device_visit, NULL))
		return tool_fail(TOOL_DEVICES);
	return status;
}

int default_run(int argc, char **argv)
{
	if (argc == 1)
		return default_print_all();
	if (argc == 2 && !strcmp(argv[1], "-i"))
		return default_import();
	if (strchr(argv[1], '/'))
		return default_port_run(argv[1], argc - 2, argv + 2);
	if (argc > 3)
		return tool_fail_usage(argv[3], "unexpected");
	return argc == 3 ? default_param_set(argv[1], argv[2]) : default_param_print(argv[1]);
}
