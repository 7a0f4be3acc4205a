// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx: the administration tool of rdma_cmx. See cmx(8).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/cmx_ioctl.h>
#include "../lib/cmd.h"
#include "args.h"
#include "cmx_complete.h"
#include "cmx_default.h"
#include "cmx_drain.h"
#include "cmx_kill.h"
#include "cmx_monitor.h"
#include "cmx_options.h"
#include "cmx_report.h"
#include "cmx_rule.h"
#include "cmx_show.h"
#include "cmx_stats.h"
#include "device.h"
#include "file.h"
#include "json.h"
#include "rule_text.h"

#define SHIM "librdmacm.so.1"
#define VERSION_MAX 128

/* As env(1): the tool failed; the program cannot be executed; there is no such program. */
#define RUN_FAILED 125
#define RUN_NOT_EXECUTABLE 126
#define RUN_NOT_FOUND 127

/* Finds the library relative to this program, as installed or as built. */
static int tool_shim_find(char *dir)
{
	static const char * const places[] = { "/" CMX_LIBREL, "/../lib" };
	char self[PATH_MAX], *path;
	int found = -1;
	ssize_t len;
	size_t i;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return -1;
	self[len] = 0;
	*strrchr(self, '/') = 0;
	for (i = 0; found && i < ARRAY_SIZE(places); i++) {
		if (asprintf(&path, "%s%s/" SHIM, self, places[i]) < 0)
			return -1;
		found = access(path, R_OK);
		*strrchr(path, '/') = 0;
		if (!found && !realpath(path, dir))
			found = -1;
		free(path);
	}
	return found;
}

static int tool_run(int argc, char **argv)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char dir[PATH_MAX], *path;
	bool not_found;

	if (argc < 2)
		return tool_fail_usage("run", "which program?");
	/* as of "cmx -j run" */
	if (*argv[1] == '-')
		return tool_fail_usage(argv[1], "no such option");
	if (tool_shim_find(dir)) {
		tool_fail(SHIM);
		return RUN_FAILED;
	}
	if (asprintf(&path, "%s%s%s", dir, old && *old ? ":" : "", old ?: "") < 0 ||
	    setenv("LD_LIBRARY_PATH", path, 1)) {
		tool_fail("LD_LIBRARY_PATH");
		return RUN_FAILED;
	}
	tool_device_explain();
	execvp(argv[1], argv + 1);
	not_found = errno == ENOENT;
	tool_fail(argv[1]);
	return not_found ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

/* Queries the ABI version of the char device; 0 if it is not available. */
static unsigned int tool_module_abi(void)
{
	struct cmxl_cmd cmd;
	__u32 version = 0;
	int fd;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_INFO);
	/* a module of any version replies */
	cmd.hdr.abi_version = 0;
	cmxl_cmd_out(&cmd, CMX_ATTR_VERSION, &version, sizeof(version));
	fd = open("/dev/infiniband/" CMX_DEVICE_NAME, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (cmxl_cmd_issue(&cmd, fd))
		version = 0;
	close(fd);
	return version;
}

/*
 * Asks the library itself; a library without the function is older than the function. The variable
 * prevents a fallback, after which the library would have no version to report.
 */
static void tool_shim_version(const char *dir, char *version, size_t size)
{
	const char *(*fn)(void) = NULL;
	char path[PATH_MAX + sizeof(SHIM)];
	void *lib;

	setenv("RDMA_CMX_FALLBACK", "0", 1);
	snprintf(path, sizeof(path), "%s/" SHIM, dir);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib)
		fn = (const char *(*)(void))dlsym(lib, "rdma_cmx_get_version");
	snprintf(version, size, "%s", fn ? fn() : "unknown");
	if (lib)
		dlclose(lib);
}

/**
 * struct tool_versions - what runs here; empty strings and 0 stand for what is not known
 * @module: version of the loaded module
 * @abi: its ABI version
 * @dir: folder of the library
 * @library: version of the library
 */
struct tool_versions {
	char module[VERSION_MAX];
	unsigned int abi;
	char dir[PATH_MAX];
	char library[VERSION_MAX];
};

static void tool_versions_print_text(const struct tool_versions *v)
{
	printf("cmx      %s, ABI %d\n", CMX_VERSION, CMX_ABI_VERSION);
	if (!*v->module)
		printf("module   not loaded\n");
	else if (!v->abi)
		printf("module   %s, no access to the device\n", v->module);
	else
		printf("module   %s, ABI %u\n", v->module, v->abi);
	if (!*v->dir)
		printf("library  not found\n");
	else
		printf("library  %s, %s\n", v->library, v->dir);
}

static void tool_versions_print_json(const struct tool_versions *v)
{
	json_open(NULL, '{');
	json_open("cmx", '{');
	json_string_put("version", CMX_VERSION);
	json_number_put("abi", "%d", CMX_ABI_VERSION);
	json_close('}');
	if (*v->module) {
		json_open("module", '{');
		json_string_put("version", v->module);
		if (v->abi)
			json_number_put("abi", "%u", v->abi);
		json_close('}');
	}
	if (*v->dir) {
		json_open("library", '{');
		json_string_put("version", v->library);
		json_string_put("dir", v->dir);
		json_close('}');
	}
	json_close('}');
	json_end();
}

static int tool_version(int argc, char **argv)
{
	struct tool_options options = {};
	struct tool_versions v = {};

	if (tool_options_parse(&argc, &argv, "jp", &options))
		return 2;
	if (argc)
		return tool_fail_usage(*argv, "unexpected");
	v.abi = tool_module_abi();
	if (tool_file_read_line(CMX_MODULE, "version", v.module, sizeof(v.module)))
		*v.module = 0;
	if (tool_shim_find(v.dir))
		*v.dir = 0;
	else
		tool_shim_version(v.dir, v.library, sizeof(v.library));
	if (options.json)
		tool_versions_print_json(&v);
	else
		tool_versions_print_text(&v);
	fflush(stdout);
	if (*v.module && *v.library && strcmp(v.module, v.library))
		tool_module_explain_difference();
	return 0;
}

const struct tool_command tool_commands[] = {
	{ "show", show_run, "[ids] [-djp] [FILTER VALUE]...", "list ids" },
	{ "show", show_run, "mcast|paths|stats [-jp]", "list multicast groups, path caches, or counts" },
	{ "monitor", monitor_run, "[-j]", "print connections, refusals and groups" },
	{ "stats", stats_run, "[-jpm] [DEVICE[/PORT]]", "print counters and gauges of the ports" },
	{ "kill", kill_run, "FILTER VALUE...", "end ids" },
	{ "drain", drain_run, "[on|off]", "prepare the replacement of the module" },
	{ "run", tool_run, "PROGRAM [ARG...]", "run a program on rdma_cmx" },
	{ "options", options_run, "[-jp]", "list the options of an id" },
	{ "default", default_run, "[-jp] [NAME [VALUE]]", "show or set defaults of this host" },
	{ "default", default_run, "DEV/PORT [tos N] [mode v1|v2]", "show or set defaults of a RoCE port" },
	{ "default", default_run, "-i", "import those that the ports have in rdma_cm" },
	{ "default", default_run, "--check|--load|--save [FILE]", "check, apply or write a file with defaults" },
	{ "rule", rule_run, "[list] [-jp]", "list the rules that set options of ids" },
	{ "rule", rule_run, "add [first] IF... set OPT N...", "add a rule" },
	{ "rule", rule_run, "delete NUMBER|all", "delete rules" },
	{ "rule", rule_run, "load FILE|-", "replace all rules by those of a file" },
	{ "report", report_run, "", "print what a report of a bug needs" },
	{ "version", tool_version, "[-jp]", "versions of tool, module and library" },
	{}
};

static void tool_help_print(FILE *to)
{
	const struct tool_command *command;
	const struct show_field *field;
	const char *name;
	size_t i;

	fprintf(to, "usage:\n");
	for (command = tool_commands; command->name; command++)
		fprintf(to, "  cmx %-8s %-30s %s\n", command->name, command->args, command->help);
	fprintf(to, "  cmx -h | -V                                this help | the version\n");
	fprintf(to, "filters:");
	for (field = show_fields; field->name; field++)
		if (field->filter)
			fprintf(to, " %s", field->name);
	fprintf(to, "\nconditions of a rule (IF):");
	for (i = 0; (name = rule_condition_name(i)); i++)
		fprintf(to, " %s", name);
	fprintf(to, "\n");
}

static int tool_usage(void)
{
	tool_help_print(stderr);
	return 2;
}

static int tool_help(void)
{
	tool_help_print(stdout);
	return 0;
}

static bool tool_is_help(const char *arg)
{
	return !strcmp(arg, "-h") || !strcmp(arg, "--help");
}

/* Options before the command are those of the command, as in ip(8). */
static void tool_options_move(int argc, char **argv)
{
	char *command;
	int i = 1;

	while (i < argc && *argv[i] == '-')
		i++;
	if (i == argc)
		return;
	command = argv[i];
	memmove(argv + 2, argv + 1, (i - 1) * sizeof(*argv));
	argv[1] = command;
}

static int tool_command(int argc, char **argv)
{
	const struct tool_command *command;
	int ret;

	if (argc < 2)
		return tool_usage();
	if (!strcmp(argv[1], "complete"))
		return complete_run(argc - 1, argv + 1);
	if (tool_is_help(argv[1]) || (argc == 3 && tool_is_help(argv[2])))
		return tool_help();
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		printf("cmx %s\n", CMX_VERSION);
		return 0;
	}
	tool_options_move(argc, argv);
	for (command = tool_commands; command->name; command++) {
		if (!strcmp(argv[1], command->name)) {
			ret = command->fn(argc - 1, argv + 1);
			return ret == 2 ? tool_usage() : ret;
		}
	}
	tool_fail_usage(argv[1], "no such command");
	return tool_usage();
}

/* A script that keeps the output must not take a truncated one for the whole. */
int main(int argc, char **argv)
{
	int ret = tool_command(argc, argv);

	return fflush(stdout) || ferror(stdout) ? tool_fail("standard output") : ret;
}
