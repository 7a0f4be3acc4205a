// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx: what an operator needs of rdma_cmx. See cmx(8).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/cmx_ioctl.h>
#include "option_table.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define DEBUGFS "/sys/kernel/debug/rdma_cmx/"
#define PARAMS "/sys/module/rdma_cmx/parameters/"
#define SHIM "librdmacm.so.1"

static int help(void);

static int fail(const char *what)
{
	fprintf(stderr, "cmx: %s: %s\n", what, strerror(errno));
	return 1;
}

static FILE *open_at(const char *dir, const char *name, const char *mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	return fopen(path, mode);
}

/* Copies a file of one line without its newline. */
static int read_line(const char *dir, const char *name, char *line, int size)
{
	FILE *f = open_at(dir, name, "r");
	char *got;

	if (!f)
		return -1;
	got = fgets(line, size, f);
	fclose(f);
	if (!got)
		return -1;
	line[strcspn(line, "\n")] = 0;
	return 0;
}

/* The columns of the first line; what follows them is free text. */
#define COLUMNS_MAX 16

struct table {
	int columns;
	int width[COLUMNS_MAX];
};

/* Length of the field that begins @at; 0: none */
static int field(const char *at)
{
	return strcspn(at, "\n ");
}

static void measure(struct table *t, const char *line, int columns)
{
	int i, len;

	for (i = 0; i < columns; i++) {
		len = field(line);
		if (!len || !strncmp(line, "...", 3))
			break;
		if (len > t->width[i])
			t->width[i] = len;
		line += len + (line[len] == ' ');
	}
	if (!t->columns)
		t->columns = i;
}

static void print_row(const struct table *t, const char *line)
{
	int i, len;

	for (i = 0; i < t->columns; i++) {
		len = field(line);
		printf("%-*.*s  ", t->width[i], len, line);
		line += len + (line[len] == ' ');
	}
	fputs(line, stdout);
}

static int show(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "ids";
	struct table t = {};
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	if (argc > 2 || (strcmp(what, "ids") && strcmp(what, "mcast") && strcmp(what, "stats")))
		return help();
	f = open_at(DEBUGFS, what, "r");
	if (!f)
		return fail(DEBUGFS);
	while (getline(&line, &size, f) > 0)
		measure(&t, line, t.columns ?: COLUMNS_MAX);
	rewind(f);
	while (getline(&line, &size, f) > 0)
		print_row(&t, line);
	free(line);
	fclose(f);
	return 0;
}

/* The library of this program, as installed or as built. They can be moved, but only together. */
static int find_shim(char *dir)
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

static int run(int argc, char **argv)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char dir[PATH_MAX], *path;

	if (argc < 2)
		return help();
	if (find_shim(dir))
		return fail(SHIM);
	if (asprintf(&path, "%s%s%s", dir, old && *old ? ":" : "", old ?: "") < 0 ||
	    setenv("LD_LIBRARY_PATH", path, 1))
		return fail("LD_LIBRARY_PATH");
	execvp(argv[1], argv + 1);
	return fail(argv[1]);
}

/* Asks the char device for its version; 0: there is none */
static unsigned int abi_version(void)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[1];
	} cmd = {
		.hdr.length = sizeof(cmd),
		.hdr.object_id = CMX_OBJ_CHANNEL,
		.hdr.method_id = CMX_CHANNEL_INFO,
		.hdr.num_attrs = 1,
		.attr[0].attr_id = CMX_ATTR_VERSION,
		.attr[0].len = sizeof(__u32),
		.attr[0].flags = UVERBS_ATTR_F_MANDATORY,
	};
	__u32 version = 0;
	int fd;

	cmd.attr[0].data = (uintptr_t)&version;
	fd = open("/dev/infiniband/" CMX_DEVICE_NAME, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (ioctl(fd, CMX_IOCTL, &cmd))
		version = 0;
	close(fd);
	return version;
}

static int version(int argc, char **argv)
{
	unsigned int abi = abi_version();
	char dir[PATH_MAX];

	(void)argv;
	if (argc > 1)
		return help();
	printf("cmx      %s, ABI %d\n", CMX_VERSION, CMX_ABI_VERSION);
	if (abi)
		printf("module   ABI %u\n", abi);
	else
		printf("module   not loaded, or no permission\n");
	printf("library  %s\n", find_shim(dir) ? "not found" : dir);
	return 0;
}

static int options(int argc, char **argv)
{
	char values[32], def[64], meaning[128];
	size_t i;

	(void)argv;
	if (argc > 1)
		return help();
	printf("%-20s %-14s %-8s %-12s %-10s %s\n", "option", "values", "default", "until",
	       "transports", "meaning [unit]");
	for (i = 0; i < CMX_OPTION_ROWS; i++) {
		const struct cmx_option_row *row = &cmx_option_rows[i];

		if (row->source)
			snprintf(def, sizeof(def), "%s", row->source);
		else if (!row->host || read_line(PARAMS, row->host, def, sizeof(def)))
			snprintf(def, sizeof(def), "%u", row->def);
		cmx_option_values(row, values, sizeof(values));
		cmx_option_meaning(row, meaning, sizeof(meaning));
		printf("%-20s %-14s %-8s %-12s %-10s %s\n", row->label, values, def,
		       cmx_option_until(row), cmx_option_transports(row), meaning);
	}
	return 0;
}

static int print_default(const char *name)
{
	char val[64];

	if (read_line(PARAMS, name, val, sizeof(val)))
		return fail(name);
	printf("%s %s\n", name, val);
	return 0;
}

static int set_default(const char *name, const char *val)
{
	FILE *f = open_at(PARAMS, name, "r+");
	int ret;

	if (!f)
		return fail(name);
	ret = fprintf(f, "%s\n", val) < 0;
	if (fclose(f) || ret)
		return fail(name);
	return 0;
}

static int default_cmd(int argc, char **argv)
{
	struct dirent *d;
	int ret = 0;
	DIR *dir;

	if (argc > 3 || (argc > 1 && strchr(argv[1], '/')))
		return help();
	if (argc == 3)
		return set_default(argv[1], argv[2]);
	if (argc == 2)
		return print_default(argv[1]);
	dir = opendir(PARAMS);
	if (!dir)
		return fail(PARAMS);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			ret |= print_default(d->d_name);
	closedir(dir);
	return ret;
}

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *args;
	const char *help;
} commands[] = {
	{ "show", show, "[ids|mcast|stats]", "list ids, multicast groups, or counts" },
	{ "run", run, "PROGRAM [ARG...]", "run a program on rdma_cmx" },
	{ "options", options, "", "list the options of an id" },
	{ "default", default_cmd, "[NAME [VALUE]]", "show or set defaults of this host" },
	{ "version", version, "", "versions of tool, module and library" },
};

static int help(void)
{
	size_t i;

	fprintf(stderr, "usage:\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stderr, "  cmx %-8s %-18s %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	return 2;
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].fn(argc - 1, argv + 1);
	return help();
}
