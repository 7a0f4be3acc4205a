// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx report: what a report of a bug needs, in one text. Whatever cannot be read is said in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "args.h"
#include "cmx_complete.h"
#include "cmx_report.h"
#include "default_file.h"
#include "file.h"

#define LINE_MAX_LEN 256
/* Longest record of /dev/kmsg */
#define KMSG_MAX 8192

static void report_begin(const char *title)
{
	printf("\n== %s\n", title);
}

/* Commands and files print their errors to standard error, which is this text as well. */
static void report_command(const char *title, char **argv)
{
	const struct tool_command *command;
	int argc = 0;

	report_begin(title);
	while (argv[argc])
		argc++;
	for (command = tool_commands; strcmp(command->name, argv[0]); command++)
		;
	command->fn(argc, argv);
	fflush(stdout);
}

static void report_commands(void)
{
	static char *commands[][4] = {
		{ "version" }, { "default" }, { "rule" }, { "stats" }, { "show", "-d" }, { "show", "mcast" },
		{ "show", "paths" }, { "show", "stats" },
	};
	char title[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(title, sizeof(title), "cmx %s%s%s", commands[i][0],
			 commands[i][1] ? " " : "", commands[i][1] ?: "");
		report_command(title, commands[i]);
	}
}

static void report_kernel(void)
{
	char line[LINE_MAX_LEN];
	struct utsname uts;
	FILE *f;

	report_begin("kernel and distribution");
	uname(&uts);
	printf("%s %s %s %s\n", uts.sysname, uts.release, uts.version, uts.machine);
	f = fopen("/etc/os-release", "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "PRETTY_NAME=", strlen("PRETTY_NAME=")))
			fputs(line, stdout);
	if (f)
		fclose(f);
	if (!tool_file_read_line("/proc/sys/kernel", "tainted", line, sizeof(line)))
		printf("tainted %s\n", line);
}

static void report_file(const char *path)
{
	char line[LINE_MAX_LEN];
	FILE *f;

	report_begin(path);
	f = fopen(path, "re");
	if (!f) {
		tool_fail(path);
		return;
	}
	while (fgets(line, sizeof(line), f))
		fputs(line, stdout);
	fclose(f);
}

static void report_value(const char *dir, const char *name)
{
	char value[LINE_MAX_LEN];

	if (!tool_file_read_line(dir, name, value, sizeof(value)))
		printf(" %s=%s", name, value);
}

static int report_port(const char *dir, const char *name, void *device)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	printf("%s/%s", (char *)device, name);
	report_value(path, "link_layer");
	report_value(path, "state");
	report_value(path, "rate");
	puts("");
	return 0;
}

static int report_device(const char *dir, const char *name, void *arg)
{
	char path[300], driver[300] = "", link[600];

	(void)arg;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(link, sizeof(link), "%s/device/driver", path);
	if (readlink(link, driver, sizeof(driver) - 1) > 0)
		printf("%s driver=%s", name, strrchr(driver, '/') + 1);
	else
		printf("%s", name);
	report_value(path, "node_type");
	report_value(path, "hca_type");
	report_value(path, "board_id");
	report_value(path, "fw_ver");
	puts("");
	snprintf(path, sizeof(path), "%s/%s/ports", dir, name);
	return tool_folder_walk(path, tool_name_is_visible, report_port, (void *)name);
}

static void report_devices(void)
{
	report_begin("RDMA devices");
	if (tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, report_device, NULL))
		tool_fail(TOOL_DEVICES);
}

/* A record is PRIORITY,NUMBER,MICROSECONDS,...;TEXT and lines with keys after it. */
static void report_kmsg_record(char *record)
{
	unsigned long long us;
	char *text = strchr(record, ';');

	if (!text || !strstr(text, "rdma_cmx") || sscanf(record, "%*u,%*u,%llu", &us) != 1)
		return;
	text++;
	text[strcspn(text, "\n")] = 0;
	printf("[%5llu.%06llu] %s\n", us / 1000000, us % 1000000, text);
}

/* EPIPE: the record that was to be read has been overwritten. */
static void report_log(void)
{
	char record[KMSG_MAX];
	ssize_t len;
	int fd;

	report_begin("messages of the kernel that name rdma_cmx");
	fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		tool_fail("/dev/kmsg");
		return;
	}
	while ((len = read(fd, record, sizeof(record) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		if (len < 0)
			continue;
		record[len] = 0;
		report_kmsg_record(record);
	}
	if (len < 0 && errno != EAGAIN)
		tool_fail("/dev/kmsg");
	close(fd);
}

int report_run(int argc, char **argv)
{
	struct tool_options options = {};

	if (tool_options_parse(&argc, &argv, "", &options))
		return 2;
	if (argc)
		return tool_fail_usage(*argv, "unexpected");
	/* stderr goes to the report, in order: what cannot be read is named where it is missing */
	setvbuf(stdout, NULL, _IOLBF, 0);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	printf("report of cmx %s%s\n", CMX_VERSION, geteuid() ? ", not as root" : "");
	report_kernel();
	report_devices();
	report_commands();
	report_file(DEFAULT_FILE);
	report_log();
	return 0;
}
