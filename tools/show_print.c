// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids as a table, and as JSON.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/rdma_user_cm.h>
#include "cmx_show.h"
#include "file.h"
#include "json.h"
#include "option_table.h"

static const struct {
	uint32_t flag;
	const char *name;
} ece_flags[] = {
	{ CMX_ECE_F_LOCAL, "local" }, { CMX_ECE_F_OFFERED, "offered" },
	{ CMX_ECE_F_REMOTE, "remote" }, { CMX_ECE_F_APPLIED, "applied" },
	{ CMX_ECE_F_REJECTED, "rejected" },
};

/* Where the value of an option comes from, as in JSON. In the table, what the program sets has no mark. */
static const struct show_source {
	uint32_t flag;
	const char *name;
	const char *mark;
} show_sources[] = {
	{ CMX_OPT_F_FORCE, "forced rule", ",force" },
	{ CMX_OPT_F_RULE, "rule", ",rule" },
	{ CMX_OPT_F_SET, "program", "" },
};

/* Returns NULL for a default. */
static const struct show_source *show_option_source(const struct cmx_id_option *o)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(show_sources); i++)
		if (o->flags & show_sources[i].flag)
			return &show_sources[i];
	return NULL;
}

/* The table. Rows are kept until the widths of the columns are known. */

enum column {
	HANDLE, PID, COMM, STATE, AGE, SRC, DST, DEV, TRANSPORT, PS, LQPN, NUM_COLUMNS,
};

#define LAST_COLUMN (NUM_COLUMNS - 1)

/* A column has the name of its field, if it is one. */
static const char * const table_heads[NUM_COLUMNS] = {
	"handle", "pid", "comm", "state", "age", "src", "dst", "dev", "transport", "ps", "lqpn",
};

/* All rows, each a number of strings that end with 0: the columns, and the rest */
static struct {
	char *rows;
	size_t size;
	FILE *stream;
	int width[NUM_COLUMNS];
} table;

static void table_cell_put(int column, const char *text)
{
	int len = strlen(text);

	if (len > table.width[column])
		table.width[column] = len;
	fwrite(text, len + 1, 1, table.stream);
}

static void table_age_format(uint32_t age, char *to, size_t size)
{
	if (age < 60)
		snprintf(to, size, "%us", age);
	else if (age < 3600)
		snprintf(to, size, "%um%02us", age / 60, age % 60);
	else if (age < 86400)
		snprintf(to, size, "%uh%02um", age / 3600, age / 60 % 60);
	else
		snprintf(to, size, "%ud%02uh", age / 86400, age / 3600 % 24);
}

static void table_addr_format(const struct cmx_id_record *r, const char *addr_field,
			      const char *port_field, char *to, size_t size)
{
	char addr[SHOW_TEXT_MAX], port[SHOW_TEXT_MAX];

	if (!show_field_find(addr_field)->write(r, addr, sizeof(addr)) ||
	    !show_field_find(port_field)->write(r, port, sizeof(port)))
		snprintf(to, size, "-");
	else
		snprintf(to, size, strchr(addr, ':') ? "[%.60s]:%.8s" : "%.60s:%.8s", addr, port);
}

static void table_column_format(const struct cmx_id_record *r, int column, char *to, size_t size)
{
	switch (column) {
	case AGE:
		table_age_format(r->age, to, size);
		break;
	case SRC:
		table_addr_format(r, "src-addr", "src-port", to, size);
		break;
	case DST:
		table_addr_format(r, "dst-addr", "dst-port", to, size);
		break;
	case DEV:
		if (r->port_num)
			snprintf(to, size, "%.64s/%u", r->device, r->port_num);
		else
			snprintf(to, size, "-");
		break;
	default:
		if (!show_field_find(table_heads[column])->write(r, to, size))
			snprintf(to, size, "-");
		else if (column == COMM)
			tool_text_escape(to, size);
	}
}

static void table_options_put(const struct cmx_id_record *r, bool details)
{
	const struct cmx_id_option *o = show_options(r), *end = o + r->num_options;
	const struct show_source *source;
	const char *label;
	char unknown[32];

	for (; o < end; o++) {
		label = cmx_option_label(o, unknown, sizeof(unknown));
		source = show_option_source(o);
		if (source)
			fprintf(table.stream, " %s=%u%s", label, o->value, source->mark);
		else if (details)
			fprintf(table.stream, " [%s=%u]", label, o->value);
	}
}

static void table_ece_put(const struct cmx_id_record *r)
{
	size_t i;

	if (!r->ece_flags)
		return;
	fprintf(table.stream, " ece=%#x/%#x:%#x/%#x", r->ece_local.vendor_id, r->ece_local.options,
		r->ece_remote.vendor_id, r->ece_remote.options);
	for (i = 0; i < ARRAY_SIZE(ece_flags); i++)
		if (r->ece_flags & ece_flags[i].flag)
			fprintf(table.stream, ",%s", ece_flags[i].name);
}

static void table_details_put(const struct cmx_id_record *r)
{
	const struct show_field *field;
	char text[SHOW_TEXT_MAX];

	for (field = show_fields; field->name; field++)
		if (field->detail && field->write(r, text, sizeof(text)))
			fprintf(table.stream, " %s=%s", field->name, text);
	if (show_field_find("qp-type")->write(r, text, sizeof(text)))
		fprintf(table.stream, " qp-type=%s", text);
}

static void table_id_put(const struct cmx_id_record *r, bool details)
{
	char text[SHOW_TEXT_MAX];
	int i;

	for (i = 0; i < NUM_COLUMNS; i++) {
		table_column_format(r, i, text, sizeof(text));
		table_cell_put(i, text);
	}
	if (details)
		table_details_put(r);
	table_options_put(r, details);
	table_ece_put(r);
	if (r->groups)
		fprintf(table.stream, " groups=%u", r->groups);
	if (r->queued)
		fprintf(table.stream, " queued=%u", r->queued);
	if (r->flags & CMX_ID_F_WAITING)
		fputs(" waiting", table.stream);
	if (r->flags & CMX_ID_F_BUSY)
		fputs(" busy", table.stream);
	fputc(0, table.stream);
}

static void table_begin(void)
{
	int i;

	table.stream = open_memstream(&table.rows, &table.size);
	if (!table.stream) {
		perror("cmx");
		exit(1);
	}
	for (i = 0; i < NUM_COLUMNS; i++)
		table_cell_put(i, table_heads[i]);
	fputs(" ...", table.stream);
	fputc(0, table.stream);
}

struct table_row {
	const char *cell[NUM_COLUMNS];
	const char *rest;
};

/* Returns the next row. */
static const char *table_row_get(const char *at, struct table_row *row)
{
	int i;

	for (i = 0; i < NUM_COLUMNS; i++, at += strlen(at) + 1)
		row->cell[i] = at;
	row->rest = at;
	return at + strlen(at) + 1;
}

static int table_row_len(const struct table_row *row)
{
	int i, len = 0;

	for (i = 0; i < LAST_COLUMN; i++)
		len += table.width[i] + 2;
	if (!*row->rest)
		return len + strlen(row->cell[LAST_COLUMN]);
	return len + table.width[LAST_COLUMN] + 1 + strlen(row->rest);
}

static void table_row_print(const struct table_row *row)
{
	int i;

	for (i = 0; i < LAST_COLUMN; i++)
		printf("%-*s  ", table.width[i], row->cell[i]);
	if (*row->rest)
		printf("%-*s %s\n", table.width[LAST_COLUMN], row->cell[LAST_COLUMN], row->rest);
	else
		puts(row->cell[LAST_COLUMN]);
}

/* A terminal that is too narrow for the table: a line with some columns, and all else below it */

#define NARROW_INDENT 4

static const bool narrow_columns[NUM_COLUMNS] = {
	[PID] = true, [COMM] = true, [STATE] = true, [AGE] = true, [DEV] = true, [LQPN] = true,
};

/* Continues at column @at, or begins a new line. Returns the column behind the word. */
static int narrow_word_put(int at, int width, const char *name, const char *text, int len)
{
	int need = len + (name ? strlen(name) + 1 : 0);

	if (at && at + 1 + need > width) {
		puts("");
		at = 0;
	}
	printf("%*s", at ? 1 : NARROW_INDENT, "");
	if (name)
		printf("%s=", name);
	printf("%.*s", len, text);
	return (at ? at + 1 : NARROW_INDENT) + need;
}

static void narrow_row_print(const struct table_row *row, int width, bool is_head)
{
	const char *word;
	int i, at, len;

	for (i = 0; i < LAST_COLUMN; i++)
		if (narrow_columns[i])
			printf("%-*s  ", table.width[i], row->cell[i]);
	puts(row->cell[LAST_COLUMN]);
	if (is_head)
		return;
	for (i = 0, at = 0; i < NUM_COLUMNS; i++)
		if (!narrow_columns[i] && strcmp(row->cell[i], "-"))
			at = narrow_word_put(at, width, table_heads[i], row->cell[i],
					     strlen(row->cell[i]));
	for (word = row->rest; *(word += strspn(word, " ")); word += len) {
		len = strcspn(word, " ");
		at = narrow_word_put(at, width, NULL, word, len);
	}
	puts("");
}

/* The number of columns of the terminal; 0 if standard output is none */
static int table_terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

static bool table_is_too_wide(int width)
{
	const char *at = table.rows, *end = at + table.size;
	struct table_row row;

	while (width && at < end) {
		at = table_row_get(at, &row);
		if (table_row_len(&row) > width)
			return true;
	}
	return false;
}

static void table_end(void)
{
	int width = table_terminal_width();
	struct table_row row;
	const char *at, *end;
	bool narrow;

	fclose(table.stream);
	narrow = table_is_too_wide(width);
	for (at = table.rows, end = at + table.size; at < end;) {
		bool is_head = at == table.rows;

		at = table_row_get(at, &row);
		if (narrow)
			narrow_row_print(&row, width, is_head);
		else
			table_row_print(&row);
	}
	free(table.rows);
}

const struct show_format show_format_table = { table_begin, table_id_put, table_end };

/* JSON */

static void json_options_put(const struct cmx_id_record *r)
{
	const struct cmx_id_option *o = show_options(r), *end = o + r->num_options;
	const struct show_source *source;
	char unknown[32];

	json_open("options", '{');
	for (; o < end; o++) {
		source = show_option_source(o);
		json_open(cmx_option_label(o, unknown, sizeof(unknown)), '{');
		json_number_put("value", "%u", o->value);
		json_bool_put("set", o->flags & CMX_OPT_F_SET);
		json_string_put("source", source ? source->name : "default");
		json_close('}');
	}
	json_close('}');
}

static void json_pair_put(const char *name, const struct cmx_ece *pair)
{
	json_open(name, '{');
	json_number_put("vendor-id", "%u", pair->vendor_id);
	json_number_put("options", "%u", pair->options);
	json_close('}');
}

static void json_ece_put(const struct cmx_id_record *r)
{
	size_t i;

	json_open("ece", '{');
	json_pair_put("local", &r->ece_local);
	json_pair_put("remote", &r->ece_remote);
	json_open("flags", '[');
	for (i = 0; i < ARRAY_SIZE(ece_flags); i++)
		if (r->ece_flags & ece_flags[i].flag)
			json_string_put(NULL, ece_flags[i].name);
	json_close(']');
	json_close('}');
}

static void json_id_put(const struct cmx_id_record *r, bool details)
{
	const struct show_field *field;
	char text[SHOW_TEXT_MAX];

	json_open(NULL, '{');
	for (field = show_fields; field->name; field++) {
		if ((field->detail && !details) || !field->write(r, text, sizeof(text)))
			continue;
		if (field->number)
			json_number_put(field->name, "%s", text);
		else
			json_string_put(field->name, text);
	}
	json_bool_put("kernel", r->flags & CMX_ID_F_KERNEL);
	json_bool_put("passive", r->flags & CMX_ID_F_PASSIVE);
	json_bool_put("waiting", r->flags & CMX_ID_F_WAITING);
	json_bool_put("busy", r->flags & CMX_ID_F_BUSY);
	if (!(r->flags & CMX_ID_F_BUSY))
		json_options_put(r);
	if (r->ece_flags)
		json_ece_put(r);
	json_close('}');
}

static void show_json_begin(void)
{
	json_open(NULL, '[');
}

static void show_json_end(void)
{
	json_close(']');
	json_end();
}

const struct show_format show_format_json = { show_json_begin, json_id_put, show_json_end };
