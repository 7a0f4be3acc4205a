// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx options: the options of an id, with the defaults of this host.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/cmx_types.h>
#include <rdma/rdma_user_cm.h>
#include "args.h"
#include "cmx_default.h"
#include "cmx_options.h"
#include "file.h"
#include "json.h"
#include "option_table.h"

/* The value in effect while the option is not set, or the origin of it */
static void options_default_format(const struct cmx_option_row *row, char *to, size_t size)
{
	if (row->source)
		snprintf(to, size, "%s", row->source);
	else if (!row->host || tool_file_read_line(CMX_PARAMS, row->host, to, size))
		snprintf(to, size, "%u", row->def);
}

static void options_print_text(void)
{
	char values[32], def[64], meaning[128];
	size_t i;

	printf("%-20s %-14s %-8s %-12s %-10s %s\n", "option", "values", "default", "until",
	       "transports", "meaning [unit]");
	for (i = 0; i < CMX_OPTION_ROWS; i++) {
		const struct cmx_option_row *row = &cmx_option_rows[i];

		options_default_format(row, def, sizeof(def));
		cmx_option_values(row, values, sizeof(values));
		cmx_option_meaning(row, meaning, sizeof(meaning));
		printf("%-20s %-14s %-8s %-12s %-10s %s\n", row->label, values, def,
		       cmx_option_until(row), cmx_option_transports(row), meaning);
	}
}

static void options_transports_put(const struct cmx_option_row *row)
{
	json_open("transports", '[');
	if (row->transports & CMX_TRANSPORT_IB)
		json_string_put(NULL, "ib");
	if (row->transports & CMX_TRANSPORT_ROCE)
		json_string_put(NULL, "roce");
	if (row->transports & CMX_TRANSPORT_IWARP)
		json_string_put(NULL, "iwarp");
	json_close(']');
}

static void options_row_put(const struct cmx_option_row *row)
{
	char def[64];

	json_open(NULL, '{');
	json_string_put("option", row->label);
	if (!row->records) {
		json_number_put("min", "%u", row->min);
		json_number_put("max", "%u", row->max);
	}
	options_default_format(row, def, sizeof(def));
	if (row->source)
		json_string_put("default-from", def);
	else
		json_number_put("default", "%s", def);
	json_string_put("until", cmx_option_until(row));
	options_transports_put(row);
	json_string_put("meaning", row->text);
	if (row->unit)
		json_string_put("unit", row->unit);
	json_close('}');
}

int options_run(int argc, char **argv)
{
	struct tool_options options = {};
	size_t i;

	if (tool_options_parse(&argc, &argv, "jp", &options))
		return 2;
	if (argc)
		return tool_fail_usage(*argv, "unexpected");
	if (!options.json) {
		options_print_text();
		return 0;
	}
	json_open(NULL, '[');
	for (i = 0; i < CMX_OPTION_ROWS; i++)
		options_row_put(&cmx_option_rows[i]);
	json_close(']');
	json_end();
	return 0;
}
