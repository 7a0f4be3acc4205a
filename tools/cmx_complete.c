// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The words of the command line, for the completion of shells.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cmx_complete.h"
#include "cmx_default.h"
#include "cmx_show.h"
#include "file.h"

static int complete_name_put(const char *dir, const char *name, void *arg)
{
	(void)dir;
	(void)arg;
	puts(name);
	return 0;
}

static int complete_port_put(const char *dir, const char *name, void *arg)
{
	const char *device = strrchr(dir, '/') + 1, *file = arg;
	char path[600];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	if (!access(path, F_OK))
		printf("%s/%s\n", device, tool_name_port(name));
	return 0;
}

static int complete_device_ports_put(const char *dir, const char *name, void *arg)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return tool_folder_walk(path, tool_name_is_port, complete_port_put, arg);
}

static void complete_devices_put(void)
{
	tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, complete_name_put, NULL);
}

/* The ports that have the file */
static void complete_ports_put(const char *file)
{
	tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, complete_device_ports_put,
			 (void *)file);
}

static void complete_filters_put(void)
{
	const struct show_field *field;

	for (field = show_fields; field->name; field++)
		if (field->filter)
			puts(field->name);
}

static void complete_filter_values_put(const char *filter)
{
	const char *state;
	size_t i;

	if (!strcmp(filter, "dev"))
		complete_devices_put();
	if (!strcmp(filter, "state"))
		for (i = 0; (state = show_state_name(i)); i++)
			puts(state);
}

/* Filters and their values take turns. @argv has the words before the one that is completed. */
static void complete_kill(int argc, char **argv)
{
	if (argc % 2)
		complete_filter_values_put(argv[argc - 1]);
	else
		complete_filters_put();
}

static void complete_show(int argc, char **argv)
{
	if (!argc)
		puts("ids\nmcast\npaths\nstats");
	if (argc && !strcmp(*argv, "ids"))
		argc--, argv++;
	if (argc != 1 || !show_debugfs_has(*argv))
		complete_kill(argc, argv);
}

static void complete_stats(int argc, char **argv)
{
	(void)argv;
	if (argc)
		return;
	complete_devices_put();
	complete_ports_put("connected");
}

static void complete_default(int argc, char **argv)
{
	if (!argc) {
		tool_folder_walk(CMX_PARAMS, tool_name_is_visible, complete_name_put, NULL);
		complete_ports_put("default_roce_tos");
	} else if (strchr(argv[0], '/')) {
		if (argc % 2)
			puts("tos\nmode");
		else
			puts(strcmp(argv[argc - 1], "mode") ? "none" : "v1\nv2");
	}
}

static void complete_drain(int argc, char **argv)
{
	(void)argv;
	if (!argc)
		puts("on\noff");
}

static const struct {
	const char *command;
	const char *options;
	void (*words)(int argc, char **argv);
} rows[] = {
	{ "show", "-d\n-j\n-p", complete_show },
	{ "kill", NULL, complete_kill },
	{ "drain", NULL, complete_drain },
	{ "monitor", "-j", NULL },
	{ "stats", "-j\n-m\n-p", complete_stats },
	{ "options", "-j\n-p", NULL },
	{ "default", "-i\n-j\n-p\n--check\n--load\n--save", complete_default },
	{ "version", "-j\n-p", NULL },
};

static void complete_commands_put(bool is_option)
{
	const struct tool_command *command;

	if (is_option)
		puts("-h\n-j\n-V");
	for (command = tool_commands; command->name && !is_option; command++)
		if (command == tool_commands || strcmp(command->name, command[-1].name))
			puts(command->name);
}

int complete_run(int argc, char **argv)
{
	const char *last = argv[argc - 1];
	int i, n = 0;
	size_t row;

	/* the words before the last one, without options */
	for (i = 1; i < argc - 1; i++)
		if (*argv[i] != '-')
			argv[n++] = argv[i];
	if (!n)
		complete_commands_put(*last == '-');
	for (row = 0; n && row < ARRAY_SIZE(rows); row++) {
		if (strcmp(argv[0], rows[row].command))
			continue;
		if (*last == '-' && rows[row].options)
			puts(rows[row].options);
		else if (rows[row].words)
			rows[row].words(n - 1, argv + 1);
	}
	return 0;
}
