// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx default --check, --load and --save: the file with the defaults. A line is NAME VALUE, or
 * DEVICE/PORT [tos N|none] [mode v1|v2|none], where DEVICE is a shell pattern and PORT may be "*", or
 * "rule" and a rule; # begins a comment.
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
#include "line.h"
#include "param_table.h"
#include "port_default.h"
#include "rule_table.h"
#include "rule_text.h"

#define RULE "rule"
#define FALLBACK "RDMA_CMX_FALLBACK="

/**
 * struct default_line - a line of the file
 * @words: its words; the first one is the device if it is of a port
 * @port: the port, or NULL
 * @is_rule: the line is "rule" and the words of a rule
 */
struct default_line {
	struct tool_line *words;
	char *port;
	bool is_rule;
};

/**
 * struct default_file - what default_file_save() writes
 * @f: the new file
 * @params: the parameters that have a line
 * @ports: DEVICE/PORT of those that have a line, each with a space on both sides
 * @rules: the present rules, with the defaults of ports
 * @next_rule: the first rule that has no line yet
 * @num_rules: number of those that have lines of their own; defaults of ports follow
 */
static struct default_file {
	FILE *f;
	bool params[ARRAY_SIZE(cmx_param_rows) + 1];
	char *ports;
	struct rule_table rules;
	uint32_t next_rule;
	uint32_t num_rules;
} saving;

/* The rules of a file that is loaded */
static struct rule_table loading;

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
	int row = default_param_find(line->words->argv[0]), argc = line->words->argc;

	*word = line->words->argv[0];
	if (row < 0)
		return "no such parameter";
	if (argc == 1)
		return "no value";
	*word = line->words->argv[argc - 1];
	if (argc > 2)
		return "unexpected";
	if (row == ARRAY_SIZE(cmx_param_rows))
		return strlen(*word) == 1 && strchr("YN", **word) ? NULL : "neither Y nor N";
	if (default_number_fits(*word, cmx_param_rows[row].min, cmx_param_rows[row].max))
		return NULL;
	snprintf(range, size, "not in %u..%u", cmx_param_rows[row].min, cmx_param_rows[row].max);
	return range;
}

static const char *default_port_check(const struct default_line *line, const char **word)
{
	*word = line->words->argv[0];
	if (!**word || (strcmp(line->port, "*") &&
			(!*line->port || line->port[strspn(line->port, "0123456789")])))
		return "not a device and a port";
	if (line->words->argc == 1)
		return "neither tos nor mode follows";
	return port_default_args_check(line->words->argc - 1, line->words->argv + 1, word);
}

static const char *default_rule_parse(const struct default_line *line, struct cmx_rule *rule,
				      const char **word)
{
	return rule_parse(rule, line->words->argc - 1, line->words->argv + 1, word);
}

/* Prints what is wrong with a line. Returns the exit status. */
static int default_line_check(const char *path, const struct default_line *line)
{
	const char *wrong, *word;
	struct cmx_rule rule;
	char range[64];

	if (!line->words->argc)
		return 0;
	if (line->port)
		wrong = default_port_check(line, &word);
	else if (line->is_rule)
		wrong = default_rule_parse(line, &rule, &word);
	else
		wrong = default_param_check(line, &word, range, sizeof(range));
	return wrong ? tool_line_fail(path, line->words, word, wrong) : 0;
}

typedef int (*default_line_fn)(const char *path, const struct default_line *line);

static int default_words_visit(const char *path, struct tool_line *words, void *arg)
{
	struct default_line line = { .words = words };
	default_line_fn *fn = arg;

	/* the library reads this line of the file, see rdma_cmx(7) */
	if (!strncmp(words->text, FALLBACK, strlen(FALLBACK)))
		words->argc = 0;
	if (words->argc)
		line.port = strchr(words->argv[0], '/');
	if (line.port)
		*line.port++ = 0;
	else
		line.is_rule = words->argc && !strcmp(words->argv[0], RULE);
	return (*fn)(path, &line);
}

/* Calls @fn for each line, and returns the worst status. A file that is missing is empty. */
static int default_file_walk(const char *path, default_line_fn fn)
{
	FILE *f = fopen(path, "re");
	int status;

	if (!f)
		return errno == ENOENT ? 0 : tool_fail(path);
	status = tool_lines_walk(f, path, default_words_visit, &fn);
	fclose(f);
	return status;
}

int default_file_check(const char *path)
{
	if (access(path, R_OK))
		return tool_fail(path);
	return default_file_walk(path, default_line_check);
}

static bool default_line_matches(const struct default_line *line, const char *device,
				 const char *port)
{
	return !fnmatch(line->words->argv[0], device, 0) && !fnmatch(line->port, port, 0);
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
	const char *port = tool_name_port(name);
	const struct default_line *line = visit.line;

	(void)dir;
	if (default_line_matches(line, device, port) &&
	    (!visit.device || !strcmp(device, visit.device)) && port_default_exists(device, port))
		visit.status |= port_default_args_set(device, port, line->words->argc - 1,
						      line->words->argv + 1);
	return 0;
}

static int default_load_rule(const struct default_line *line)
{
	struct cmx_rule rule;
	const char *word;

	default_rule_parse(line, &rule, &word);
	return rule_table_insert(&loading, loading.num, &rule);
}

/* The line of a port that is not there yet is applied when its device appears. */
static int default_load_visit(const char *path, const struct default_line *line)
{
	if (!line->words->argc || (visit.device && !line->port))
		return 0;
	if (default_line_check(path, line))
		return 1;
	if (line->is_rule)
		return default_load_rule(line);
	if (!line->port)
		return default_param_set(line->words->argv[0], line->words->argv[1]);
	visit.line = line;
	return default_ports_walk(default_load_port) ? tool_fail(TOOL_DEVICES) : 0;
}

static bool default_rule_is_of_loaded_port(const struct cmx_rule *rule)
{
	uint32_t i;

	for (i = 0; i < loading.num; i++)
		if (port_default_is(&loading.rules[i]) &&
		    loading.rules[i].port_num == rule->port_num &&
		    !strcmp(loading.rules[i].device, rule->device))
			return true;
	return false;
}

/* The rules of the file, and then the defaults of ports, which have lines of their own */
static int default_rules_replace(struct rule_table *table, void *arg)
{
	uint32_t i = 0;
	int status = 0;

	(void)arg;
	while (i < table->num)
		if (port_default_is(&table->rules[i]) &&
		    !default_rule_is_of_loaded_port(&table->rules[i]))
			i++;
		else
			rule_table_remove(table, i);
	for (i = 0; !status && i < loading.num; i++)
		status = rule_table_insert(table, i, &loading.rules[i]);
	return status;
}

int default_file_load(const char *path, const char *device)
{
	int status;

	visit.device = device;
	status = default_file_walk(path, default_load_visit) | visit.status;
	if (loading.num)
		status |= rule_table_change(default_rules_replace, NULL);
	return status;
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
	const char *comment = strchr(line->words->text, '#');

	if (comment)
		fprintf(saving.f, " %s", comment);
	else
		fputc('\n', saving.f);
}

/* A line stays as it is. */
static void default_save_text(const struct default_line *line)
{
	fputs(line->words->text, saving.f);
	if (!strchr(line->words->text, '\n'))
		fputc('\n', saving.f);
}

/* A port with the values of a pattern needs no line of its own. */
static int default_save_match(const char *device, const char *port, void *arg)
{
	char tos[PORT_DEFAULT_MAX], mode[PORT_DEFAULT_MAX];
	const struct default_line *line = arg;
	const char *want;
	int i;

	if (!default_line_matches(line, device, port))
		return 0;
	port_default_read(&saving.rules, device, port, tos, mode);
	for (i = 1; i + 1 < line->words->argc; i += 2) {
		want = strcmp(line->words->argv[i], "tos") ? mode : tos;
		if (strcmp(line->words->argv[i + 1], want))
			return 0;
	}
	return default_port_mark_saved(device, port);
}

static bool default_line_is_pattern(const struct default_line *line)
{
	const char *device = line->words->argv[0];

	return device[strcspn(device, "*?[\\")] || *line->port == '*';
}

/* A port that is not there keeps its line. */
static int default_save_port_line(const char *path, const struct default_line *line)
{
	char tos[PORT_DEFAULT_MAX], mode[PORT_DEFAULT_MAX];
	const char *device = line->words->argv[0];

	if (default_line_is_pattern(line)) {
		default_save_text(line);
		return port_default_walk(&saving.rules, default_save_match, (void *)line) ?
			       tool_fail(path) : 0;
	}
	if (!port_default_read(&saving.rules, device, line->port, tos, mode) &&
	    !port_default_exists(device, line->port)) {
		default_save_text(line);
		return 0;
	}
	fprintf(saving.f, "%s/%s tos %s mode %s", device, line->port, tos, mode);
	default_save_line_end(line);
	return default_port_mark_saved(device, line->port) ? tool_fail(path) : 0;
}

/* The defaults of a port that count more than other rules have the line of a rule, and no other. */
static void default_rule_mark_saved(const struct cmx_rule *rule)
{
	char port[16];

	snprintf(port, sizeof(port), "%u", rule->port_num);
	if (port_default_is(rule))
		default_port_mark_saved(rule->device, port);
}

/* Writes the rules up to @end that have no line yet. */
static void default_save_rules(uint32_t end)
{
	for (; saving.next_rule < end; saving.next_rule++) {
		fputs(RULE " ", saving.f);
		rule_print(saving.f, &saving.rules.rules[saving.next_rule]);
		fputc('\n', saving.f);
		default_rule_mark_saved(&saving.rules.rules[saving.next_rule]);
	}
}

/* The line stays if its rule is there, and comes after the lines of the rules before it. */
static void default_save_rule_line(const struct default_line *line)
{
	struct cmx_rule rule;
	const char *word;
	uint32_t i;

	default_rule_parse(line, &rule, &word);
	for (i = saving.next_rule; i < saving.num_rules; i++) {
		if (memcmp(&rule, &saving.rules.rules[i], sizeof(rule)))
			continue;
		default_save_rules(i);
		default_save_text(line);
		default_rule_mark_saved(&rule);
		saving.next_rule = i + 1;
		return;
	}
}

static void default_save_param_line(const struct default_line *line)
{
	const char *name = line->words->argv[0];
	char val[DEFAULT_VALUE_MAX];

	if (tool_file_read_line(CMX_PARAMS, name, val, sizeof(val))) {
		default_save_text(line);
		return;
	}
	saving.params[default_param_find(name)] = true;
	fprintf(saving.f, "%s %s", name, val);
	default_save_line_end(line);
}

/* Writes a line of the old file with the present values. */
static int default_save_line(const char *path, const struct default_line *line)
{
	if (default_line_check(path, line))
		return 1;
	if (line->port)
		return default_save_port_line(path, line);
	if (line->is_rule)
		default_save_rule_line(line);
	else if (line->words->argc)
		default_save_param_line(line);
	else
		default_save_text(line);
	return 0;
}

static void default_save_param(int row, const char *name, const char *def)
{
	char val[DEFAULT_VALUE_MAX];

	if (!saving.params[row] && !tool_file_read_line(CMX_PARAMS, name, val, sizeof(val)) &&
	    strcmp(val, def))
		fprintf(saving.f, "%s %s\n", name, val);
}

static int default_save_port(const char *device, const char *port, void *arg)
{
	char tos[PORT_DEFAULT_MAX], mode[PORT_DEFAULT_MAX];

	(void)arg;
	port_default_read(&saving.rules, device, port, tos, mode);
	if (!default_port_is_saved(device, port))
		fprintf(saving.f, "%s/%s tos %s mode %s\n", device, port, tos, mode);
	return 0;
}

/* What has no line and is not the default of the module */
static void default_save_rest(void)
{
	char def[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cmx_param_rows); i++) {
		snprintf(def, sizeof(def), "%lld", cmx_param_rows[i].def);
		default_save_param(i, cmx_param_rows[i].name, def);
	}
	default_save_param(i, PARAM_BOOL, "N");
	default_save_rules(saving.num_rules);
	port_default_walk(&saving.rules, default_save_port, NULL);
}

int default_file_save(const char *path)
{
	char *new_path;
	int status;

	if (tool_module_is_missing() || rule_table_read(&saving.rules))
		return 1;
	saving.num_rules = port_default_begin(&saving.rules);
	saving.ports = strdup("");
	if (!saving.ports || asprintf(&new_path, "%s.new", path) < 0)
		return tool_fail(path);
	saving.f = fopen(new_path, "we");
	if (!saving.f)
		return tool_fail(new_path);
	status = default_file_walk(path, default_save_line);
	if (!status)
		default_save_rest();
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
