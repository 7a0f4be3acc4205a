// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The words of the command line, for the completion of shells.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cmx_complete.h"
#include "cmx_default.h"
#include "cmx_show.h"
#include "file.h"
#include "rule_text.h"

static int complete_name_put(const char *dir, const char *name, void *arg)
{
	(void)dir;
	(void)arg;
	puts(name);
	return 0;
}

static int complete_port_put(const char *dir, const char *name, void *arg)
{
	(void)arg;
	printf("%s/%s\n", strrchr(dir, '/') + 1, tool_name_port(name));
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

static void complete_ports_put(void)
{
	tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, complete_device_ports_put, NULL);
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
	complete_ports_put();
}

static void complete_default(int argc, char **argv)
{
	if (!argc) {
		tool_folder_walk(CMX_PARAMS, tool_name_is_visible, complete_name_put, NULL);
		complete_ports_put();
	} else if (strchr(argv[0], '/')) {
		if (argc % 2)
			puts("tos\nmode");
		else
			puts(strcmp(argv[argc - 1], "mode") ? "none" : "none\nv1\nv2");
	}
}

static void complete_rule_conditions_put(void)
{
	const char *name;
	size_t i;

	for (i = 0; (name = rule_condition_name(i)); i++)
		puts(name);
	puts("force\nset");
}

static void complete_rule_value_put(const char *condition)
{
	if (!strcmp(condition, "dev")) {
		complete_devices_put();
		complete_ports_put();
	}
	if (!strcmp(condition, "ps"))
		puts("tcp\nudp\nib\nipoib");
}

/* @argv has the words from the first condition on. */
static void complete_rule_words(int argc, char **argv)
{
	const char *name;
	size_t option;
	int i = 0;

	while (i < argc && strcmp(argv[i], "set"))
		i += strcmp(argv[i], "force") ? 2 : 1;
	if (i > argc)
		complete_rule_value_put(argv[argc - 1]);
	else if (i == argc)
		complete_rule_conditions_put();
	else if ((argc - i) % 2)
		for (option = 0; (name = rule_option_name(option)); option++)
			puts(name);
}

static void complete_rule(int argc, char **argv)
{
	bool first;

	if (!argc) {
		puts("list\nadd\ndelete\nload");
	} else if (!strcmp(*argv, "delete")) {
		puts("all");
	} else if (!strcmp(*argv, "add")) {
		first = argc > 1 && !strcmp(argv[1], "first");
		if (argc == 1)
			puts("first");
		complete_rule_words(argc - 1 - first, argv + 1 + first);
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
	{ "rule", "-j\n-p", complete_rule },
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
