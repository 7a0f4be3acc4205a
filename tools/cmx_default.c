// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx default: the parameters of the module, and the defaults of the RoCE ports, which are rules.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "args.h"
#include "cmx_default.h"
#include "default_file.h"
#include "device.h"
#include "file.h"
#include "json.h"
#include "port_default.h"

#define RDMA_CM "/sys/kernel/config/rdma_cm"

#define VALUE_MAX DEFAULT_VALUE_MAX
#define PATH_LEN 600

static bool default_in_json;
static struct rule_table rules;

static int default_param_print(const char *name)
{
	char val[VALUE_MAX];

	if (tool_file_read_line(CMX_PARAMS, name, val, sizeof(val)))
		return tool_module_fail(name);
	if (!default_in_json)
		printf("%s %s\n", name, val);
	else if (!strcmp(val, "Y") || !strcmp(val, "N"))
		json_bool_put(name, *val == 'Y');
	else
		json_number_put(name, "%s", val);
	return 0;
}

int default_param_set(const char *name, const char *val)
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

/* Splits DEVICE/PORT in place. Returns the port, or NULL if it is none. */
static char *default_port_split(char *name)
{
	char *port = strchr(name, '/');

	if (!port || port == name || name[0] == '.')
		return NULL;
	*port++ = 0;
	return *port && !port[strspn(port, "0123456789")] ? port : NULL;
}

/* Prints the defaults of a port from the rules that were read. */
static void default_port_print(const char *device, const char *port)
{
	char tos[PORT_DEFAULT_MAX], mode[PORT_DEFAULT_MAX];

	port_default_read(&rules, device, port, tos, mode);
	if (!default_in_json) {
		printf("%s/%s tos %s mode %s\n", device, port, tos, mode);
		return;
	}
	json_open(NULL, '{');
	json_string_put("dev", device);
	json_number_put("port", "%s", port);
	if (strcmp(tos, "none"))
		json_number_put("tos", "%s", tos);
	if (strcmp(mode, "none"))
		json_string_put("mode", mode);
	json_close('}');
}

static int default_port_visit(const char *dir, const char *name, void *device)
{
	(void)dir;
	if (port_default_exists(device, tool_name_port(name)))
		default_port_print(device, tool_name_port(name));
	return 0;
}

static int default_device_visit(const char *dir, const char *name, void *fn)
{
	int (*const *port_fn)(const char *dir, const char *name, void *arg) = fn;
	char path[PATH_LEN];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return tool_folder_walk(path, tool_name_is_port, *port_fn, (void *)name);
}

int default_ports_walk(int (*fn)(const char *dir, const char *name, void *arg))
{
	return tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, default_device_visit, &fn);
}

/* Checks all arguments before the first is set. */
static int default_port_run(char *name, int argc, char **argv)
{
	const char *port = default_port_split(name), *wrong, *word;

	if (!port)
		return tool_fail_usage(name, "not a device and a port");
	wrong = port_default_args_check(argc, argv, &word);
	if (wrong)
		return tool_fail_usage(word, wrong);
	if (!port_default_exists(name, port)) {
		fprintf(stderr, "cmx: %s/%s: no RoCE port of rdma_cmx\n", name, port);
		tool_module_is_missing();
		return 1;
	}
	if (argc)
		return port_default_args_set(name, port, argc, argv);
	if (rule_table_read(&rules))
		return 1;
	default_port_print(name, port);
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

/* The mode as in a command */
static char *default_mode_import(char *mode)
{
	if (!strcmp(mode, "IB/RoCE v1"))
		return "v1";
	return strcmp(mode, "RoCE v2") ? mode : "v2";
}

/* In rdma_cm a TOS of 0 is also the default value. */
static int default_import_port(const char *from, const char *port, void *arg)
{
	char path[PATH_LEN], tos[VALUE_MAX], mode[VALUE_MAX];
	struct default_import_walk *walk = arg;
	const char *word, *wrong;
	char *args[4];

	snprintf(path, sizeof(path), "%s/%s", from, port);
	/* the device has been removed, or the port is not RoCE */
	if (!port_default_exists(walk->device, port) ||
	    tool_file_read_line(path, "default_roce_tos", tos, sizeof(tos)) ||
	    tool_file_read_line(path, "default_roce_mode", mode, sizeof(mode)))
		return 0;
	args[0] = "tos";
	args[1] = strcmp(tos, "0") ? tos : "none";
	args[2] = "mode";
	args[3] = default_mode_import(mode);
	wrong = port_default_args_check(ARRAY_SIZE(args), args, &word);
	if (wrong) {
		fprintf(stderr, "cmx: %s: %s: %s\n", path, word, wrong);
		walk->status = 1;
	} else if (port_default_args_set(walk->device, port, ARRAY_SIZE(args), args) ||
		   rule_table_read(&rules)) {
		walk->status = 1;
	} else {
		default_port_print(walk->device, port);
	}
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

static int default_params_print(void)
{
	int status = 0;

	if (access(CMX_PARAMS, F_OK) ||
	    tool_folder_walk(CMX_PARAMS, tool_name_is_visible, default_param_visit, &status))
		return tool_module_fail(CMX_PARAMS);
	return status;
}

static int default_ports_print(void)
{
	if (rule_table_read(&rules))
		return 1;
	return default_ports_walk(default_port_visit) ? tool_fail(TOOL_DEVICES) : 0;
}

/* Without a name, prints all of them. */
static int default_print_text(char *name)
{
	if (!name)
		return default_params_print() ?: default_ports_print();
	return strchr(name, '/') ? default_port_run(name, 0, NULL) : default_param_print(name);
}

/* JSON has always both parts, of which one is empty if there is a name. */
static int default_print_json(char *name)
{
	int ret = 0;

	default_in_json = true;
	if (!name && tool_module_is_missing())
		return 1;
	json_open(NULL, '{');
	json_open("parameters", '{');
	if (!name)
		ret = default_params_print();
	else if (!strchr(name, '/'))
		ret = default_param_print(name);
	json_close('}');
	json_open("ports", '[');
	if (!ret && !name)
		ret = default_ports_print();
	else if (!ret && strchr(name, '/'))
		ret = default_port_run(name, 0, NULL);
	json_close(']');
	json_close('}');
	json_end();
	return ret;
}

static int default_file_run(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : DEFAULT_FILE;
	bool load = !strcmp(argv[0], "--load");

	if (argc > 2 + load)
		return tool_fail_usage(argv[2 + load], "unexpected");
	if (load)
		return default_file_load(path, argc > 2 ? argv[2] : NULL);
	return strcmp(argv[0], "--save") ? default_file_check(path) : default_file_save(path);
}

int default_run(int argc, char **argv)
{
	struct tool_options options = {};

	if (argc == 2 && !strcmp(argv[1], "-i"))
		return default_import();
	if (argc > 1 && (!strcmp(argv[1], "--check") || !strcmp(argv[1], "--load") ||
			 !strcmp(argv[1], "--save")))
		return default_file_run(argc - 1, argv + 1);
	if (tool_options_parse(&argc, &argv, "jp", &options))
		return 2;
	if (argc < 2)
		return options.json ? default_print_json(argv[0]) : default_print_text(argv[0]);
	if (options.json)
		return tool_fail_usage(argv[1], "unexpected");
	if (strchr(argv[0], '/'))
		return default_port_run(argv[0], argc - 1, argv + 1);
	if (argc > 2)
		return tool_fail_usage(argv[2], "unexpected");
	return default_param_set(argv[0], argv[1]);
}
