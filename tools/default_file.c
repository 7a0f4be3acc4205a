// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx default --check, --load and --save: the file with the defaults. A line is NAME VALUE, or
 * DEVICE/PORT [tos N|none] [mode v1|v2], where DEVICE is a shell pattern and PORT may be "*", or
 * empty; # begins a comment.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmx_default.h"
#include "default_file.h"
#include "device.h"
#include "file.h"
#include "param_table.h"

/* A line with more words is wrong. */
#define WORDS_MAX 8

/**
 * struct default_line - a line of the file
 * @number: its number
 * @text: its text
 * @copy: the words
 * @argc: number of words; 0: an empty line, or a comment
 * @argv: the words
 * @port: port, if the first word has a slash; the first word is the device then
 */
struct default_line {
	unsigned int number;
	char *text;
	char *copy;
	int argc;
	char *argv[WORDS_MAX];
	char *port;
};

/**
 * struct default_file - what default_file_save() writes
 * @f: the new file
 * @params: the parameters that have a line
 * @ports: DEVICE/PORT of those that have a line, each with a space on both sides
 */
struct default_file {
	FILE *f;
	bool params[ARRAY_SIZE(cmx_param_rows) + 1];
	char *ports;
};

static struct default_file saving;

/* Returns the row, that of PARAM_BOOL after all others, or -1. */
static int default_param_find(const char *name)
{
	int i, n = ARRAY_SIZE(cmx_param_rows);

	for (i = 0; i < n; i++)
		if (!strcmp(name, cmx_param_rows[i].name))
			return i;
	return strcmp(name, PARAM_BOOL) ? -1 : n;
}

static bool default_number_fits(const char *text, unsigned int min, unsigned int max)
{
	unsigned long long n;
	char *end;

	n = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end && n >= min && n <= max;
}

/* Returns what is wrong, and with @word the word that is, or NULL. @range is for the text. */
static const char *default_param_check(const struct default_line *line, const char **word,
				       char *range, size_t size)
{
	int row = default_param_find(line->argv[0]);

	*word = line->argv[0];
	if (row < 0)
		return "no such parameter";
	if (line->argc == 1)
		return "no value";
	*word = line->argv[line->argc - 1];
	if (line->argc > 2)
		return "unexpected";
	if (row == ARRAY_SIZE(cmx_param_rows))
		return strlen(*word) == 1 && strchr("YN", **word) ? NULL : "neither Y nor N";
	if (default_number_fits(*word, cmx_param_rows[row].min, cmx_param_rows[row].max))
		return NULL;
	snprintf(range, size, "not in %u..%u", cmx_param_rows[row].min, cmx_param_rows[row].max);
	return range;
}

static const char *default_port_check(struct default_line *line, const char **word)
{
	const char *wrong;
	int i;

	*word = line->argv[0];
	if (!**word || (strcmp(line->port, "*") &&
			(!*line->port || line->port[strspn(line->port, "0123456789")])))
		return "not a device and a port";
	if (line->argc == 1)
		return "neither tos nor mode follows";
	wrong = default_port_args_check(line->argc - 1, line->argv + 1, word);
	for (i = 1; !wrong && i + 1 < line->argc; i += 2) {
		*word = line->argv[i + 1];
		if (!strcmp(line->argv[i], "tos") && strcmp(*word, "none") &&
		    !default_number_fits(*word, 0, 255))
			return "neither none nor in 0..255";
	}
	return wrong;
}

/* Prints what is wrong with a line. Returns the exit status. */
static int default_line_check(const char *path, struct default_line *line)
{
	const char *wrong = NULL, *word;
	char range[64];

	if (!line->argc)
		return 0;
	if (line->port)
		wrong = default_port_check(line, &word);
	else
		wrong = default_param_check(line, &word, range, sizeof(range));
	if (!wrong)
		return 0;
	fprintf(stderr, "cmx: %s:%u: %s: %s\n", path, line->number, word, wrong);
	return 1;
}

static void default_line_split(struct default_line *line)
{
	char *word, *rest = line->copy;

	line->argc = 0;
	line->port = NULL;
	rest[strcspn(rest, "#\n")] = 0;
	while (line->argc < WORDS_MAX && (word = strtok_r(rest, " \t", &rest)))
		line->argv[line->argc++] = word;
	if (line->argc)
		line->port = strchr(line->argv[0], '/');
	if (line->port)
		*line->port++ = 0;
}

/* Calls @fn for each line, and returns the worst status. A file that is missing is empty. */
static int default_file_walk(const char *path,
			     int (*fn)(const char *path, struct default_line *line, void *arg),
			     void *arg)
{
	struct default_line line = {};
	FILE *f = fopen(path, "re");
	int status = 0;
	size_t size = 0;

	if (!f)
		return errno == ENOENT ? 0 : tool_fail(path);
	while (getline(&line.text, &size, f) > 0) {
		line.number++;
		line.copy = strdup(line.text);
		if (!line.copy) {
			status = tool_fail(path);
			break;
		}
		default_line_split(&line);
		status |= fn(path, &line, arg);
		free(line.copy);
	}
	free(line.text);
	if (ferror(f))
		status = tool_fail(path);
	fclose(f);
	return status;
}

static int default_check_visit(const char *path, struct default_line *line, void *arg)
{
	(void)arg;
	return default_line_check(path, line);
}

int default_file_check(const char *path)
{
	if (access(path, R_OK))
		return tool_fail(path);
	return default_file_walk(path, default_check_visit, NULL);
}

static bool default_line_matches(const struct default_line *line, const char *device,
				 const char *port)
{
	return !fnmatch(line->argv[0], device, 0) && !fnmatch(line->port, port, 0);
}

/**
 * struct default_visit - the line that is applied to ports, or compared with them
 * @line: the line
 * @device: the only device that counts, or NULL
 * @status: exit status
 */
static struct default_visit {
	const struct default_line *line;
	const char *device;
	int status;
} visit;

static int default_load_port(const char *dir, const char *name, void *device)
{
	char tos[DEFAULT_VALUE_MAX], mode[DEFAULT_VALUE_MAX];
	const char *port = tool_name_port(name);
	const struct default_line *line = visit.line;

	(void)dir;
	if (default_line_matches(line, device, port) &&
	    (!visit.device || !strcmp(device, visit.device)) &&
	    !default_port_read(device, port, tos, mode))
		visit.status |= default_port_args_set(device, port, line->argc - 1,
							line->argv + 1);
	return 0;
}

/* The line of a port that is not there yet is applied when its device appears. */
static int default_load_visit(const char *path, struct default_line *line, void *arg)
{
	(void)arg;
	if (!line->argc || (visit.device && !line->port))
		return 0;
	if (default_line_check(path, line))
		return 1;
	if (!line->port)
		return default_param_set(line->argv[0], line->argv[1]);
	visit.line = line;
	return default_ports_walk(default_load_port) ? tool_fail(TOOL_DEVICES) : 0;
}

int default_file_load(const char *path, const char *device)
{
	visit.device = device;
	return default_file_walk(path, default_load_visit, NULL) | visit.status;
}

static bool default_port_is_saved(const char *device, const char *port)
{
	char name[600];

	snprintf(name, sizeof(name), " %s/%s ", device, port);
	return strstr(saving.ports, name);
}

static int default_port_mark_saved(const char *device, const char *port)
{
	char *ports;

	if (asprintf(&ports, "%s %s/%s ", saving.ports, device, port) < 0)
		return -1;
	free(saving.ports);
	saving.ports = ports;
	return 0;
}

/* Ends a line as in the old file, which may have a comment. */
static void default_save_line_end(const struct default_line *line)
{
	const char *comment = strchr(line->text, '#');

	if (comment)
		fprintf(saving.f, " %s", comment);
	else
		fputc('\n', saving.f);
}

/* A port with the values of a pattern needs no line of its own. */
static int default_save_match(const char *dir, const char *name, void *device)
{
	char tos[DEFAULT_VALUE_MAX], mode[DEFAULT_VALUE_MAX];
	const char *port = tool_name_port(name), *want;
	const struct default_line *line = visit.line;
	int i;

	(void)dir;
	if (!default_line_matches(line, device, port) ||
	    default_port_read(device, port, tos, mode))
		return 0;
	for (i = 1; i + 1 < line->argc; i += 2) {
		want = strcmp(line->argv[i], "tos") ? mode : tos;
		if (strcmp(line->argv[i + 1], want))
			return 0;
	}
	return default_port_mark_saved(device, port);
}

static bool default_line_is_pattern(const struct default_line *line)
{
	return line->argv[0][strcspn(line->argv[0], "*?[\\")] || *line->port == '*';
}

/* Writes a line of the old file with the present values. */
static int default_save_line(const char *path, struct default_line *line, void *arg)
{
	char tos[DEFAULT_VALUE_MAX], mode[DEFAULT_VALUE_MAX];
	int row;

	(void)arg;
	if (line->argc && default_line_check(path, line))
		return 1;
	if (line->port && default_line_is_pattern(line)) {
		visit.line = line;
		if (default_ports_walk(default_save_match))
			return tool_fail(TOOL_DEVICES);
	} else if (line->port) {
		if (!default_port_read(line->argv[0], line->port, tos, mode)) {
			fprintf(saving.f, "%s/%s tos %s mode %s", line->argv[0], line->port, tos,
				mode);
			default_save_line_end(line);
			return default_port_mark_saved(line->argv[0], line->port) ?
				       tool_fail(path) : 0;
		}
	} else if (line->argc &&
		   !tool_file_read_line(CMX_PARAMS, line->argv[0], tos, sizeof(tos))) {
		row = default_param_find(line->argv[0]);
		saving.params[row] = true;
		fprintf(saving.f, "%s %s", line->argv[0], tos);
		default_save_line_end(line);
		return 0;
	}
	fputs(line->text, saving.f);
	if (!strchr(line->text, '\n'))
		fputc('\n', saving.f);
	return 0;
}

static void default_save_param(int row, const char *name, const char *def)
{
	char val[DEFAULT_VALUE_MAX];

	if (!saving.params[row] && !tool_file_read_line(CMX_PARAMS, name, val, sizeof(val)) &&
	    strcmp(val, def))
		fprintf(saving.f, "%s %s\n", name, val);
}

static int default_save_port(const char *dir, const char *name, void *device)
{
	char tos[DEFAULT_VALUE_MAX], mode[DEFAULT_VALUE_MAX];
	const char *port = tool_name_port(name);

	(void)dir;
	if (default_port_is_saved(device, port) || default_port_read(device, port, tos, mode) ||
	    (!strcmp(tos, "none") && !strcmp(mode, "v2")))
		return 0;
	fprintf(saving.f, "%s/%s tos %s mode %s\n", (char *)device, port, tos, mode);
	return 0;
}

/* What has no line and is not the default of the module */
static int default_save_rest(void)
{
	char def[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cmx_param_rows); i++) {
		snprintf(def, sizeof(def), "%lld", cmx_param_rows[i].def);
		default_save_param(i, cmx_param_rows[i].name, def);
	}
	default_save_param(i, PARAM_BOOL, "N");
	return default_ports_walk(default_save_port) ? tool_fail(TOOL_DEVICES) : 0;
}

int default_file_save(const char *path)
{
	char *new_path;
	int status;

	if (tool_module_is_missing())
		return 1;
	saving.ports = strdup("");
	if (!saving.ports || asprintf(&new_path, "%s.new", path) < 0)
		return tool_fail(path);
	saving.f = fopen(new_path, "we");
	if (!saving.f)
		return tool_fail(new_path);
	status = default_file_walk(path, default_save_line, NULL) ?: default_save_rest();
	if (fclose(saving.f) && !status)
		status = tool_fail(new_path);
	if (!status && rename(new_path, path))
		status = tool_fail(path);
	if (status)
		unlink(new_path);
	free(new_path);
	free(saving.ports);
	return status;
}
