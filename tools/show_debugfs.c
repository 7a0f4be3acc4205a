// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx show mcast, paths and stats: what debugfs has, as a table and as JSON.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmx_show.h"
#include "device.h"
#include "file.h"
#include "json.h"

#define DEBUGFS "/sys/kernel/debug/rdma_cmx"

/* The first line determines the number of columns; free text follows the columns. */
#define COLUMNS_MAX 16

/* What separates words */
#define SPACE "\n "

struct debugfs_table {
	int columns;
	int width[COLUMNS_MAX];
};

/* Length of the field at the start of @at; 0 if there is none */
static int debugfs_field_len(const char *at)
{
	return strcspn(at, SPACE);
}

static void debugfs_table_measure(struct debugfs_table *t, const char *line, int columns)
{
	int i, len;

	for (i = 0; i < columns; i++) {
		len = debugfs_field_len(line);
		if (!len || !strncmp(line, "...", 3))
			break;
		if (len > t->width[i])
			t->width[i] = len;
		line += len + (line[len] == ' ');
	}
	if (!t->columns)
		t->columns = i;
}

static void debugfs_table_print_row(const struct debugfs_table *t, const char *line)
{
	int i, len;

	for (i = 0; i < t->columns; i++) {
		len = debugfs_field_len(line);
		printf("%-*.*s  ", t->width[i], len, line);
		line += len + (line[len] == ' ');
	}
	fputs(line, stdout);
}

static void debugfs_table_print(FILE *f)
{
	struct debugfs_table t = {};
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, f) > 0)
		debugfs_table_measure(&t, line, t.columns ?: COLUMNS_MAX);
	rewind(f);
	while (getline(&line, &size, f) > 0)
		debugfs_table_print_row(&t, line);
	free(line);
}

/* JSON. A column is called as in the first line, and free text consists of NAME=NUMBER. */

static void debugfs_value_put(const char *name, const char *value)
{
	char *end;
	unsigned long long number = strtoull(value, &end, 0);

	if (isdigit((unsigned char)*value) && !*end)
		json_number_put(name, "%llu", number);
	else
		json_string_put(name, value);
}

/* A group belongs to a network interface, or to a port of an RDMA device. */
static void debugfs_interface_put(char *value)
{
	char *port = strchr(value, '/');

	if (port) {
		*port++ = 0;
		json_string_put("dev", value);
		debugfs_value_put("port", port);
	} else {
		json_string_put("netdev", value);
	}
}

/* A word of free text, whose name may have "_" */
static void debugfs_text_put(char *word)
{
	char *value = strchr(word, '='), *c;

	if (!value)
		return;
	*value++ = 0;
	for (c = word; *c; c++)
		if (*c == '_')
			*c = '-';
	debugfs_value_put(word, value);
}

static void debugfs_cell_put(const char *head, char *cell)
{
	if (!strcmp(head, "interface"))
		debugfs_interface_put(cell);
	else if (!strcmp(head, "dev"))
		json_string_put(head, cell);
	else
		debugfs_value_put(head, cell);
}

static void debugfs_rows_put(FILE *f)
{
	char *heads[COLUMNS_MAX], *first = NULL, *line = NULL, *word;
	size_t first_size = 0, size = 0;
	int i, n = 0;

	if (getline(&first, &first_size, f) > 0)
		for (word = strtok(first, SPACE); word && strcmp(word, "...") && n < COLUMNS_MAX;
		     word = strtok(NULL, SPACE))
			heads[n++] = word;
	json_open(NULL, '[');
	while (getline(&line, &size, f) > 0) {
		json_open(NULL, '{');
		for (i = 0, word = strtok(line, SPACE); word; i++, word = strtok(NULL, SPACE)) {
			if (i < n)
				debugfs_cell_put(heads[i], word);
			else
				debugfs_text_put(word);
		}
		json_close('}');
	}
	json_close(']');
	free(first);
	free(line);
}

/* NAME NUMBER in each line */
static void debugfs_sums_put(FILE *f)
{
	char name[64], value[32];

	json_open(NULL, '{');
	while (fscanf(f, "%63s %31s", name, value) == 2)
		debugfs_value_put(name, value);
	json_close('}');
}

bool show_debugfs_has(const char *name)
{
	return !strcmp(name, "mcast") || !strcmp(name, "paths") || !strcmp(name, "stats");
}

int show_debugfs_run(const char *name, bool in_json)
{
	FILE *f = tool_file_open(DEBUGFS, name, "r");

	if (!f)
		return tool_module_fail(DEBUGFS);
	if (!in_json) {
		debugfs_table_print(f);
	} else {
		if (!strcmp(name, "stats"))
			debugfs_sums_put(f);
		else
			debugfs_rows_put(f);
		json_end();
	}
	fclose(f);
	return 0;
}
