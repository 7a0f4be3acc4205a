// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prints what the documentation has from option_rows.h. See selftests/generated.
 *
 *   option_doc rst		the table of options
 *   option_doc labels		the names of the options
 *   option_doc man OPTION	the facts about one option
 */
#include <string.h>
#include <rdma/cmx_ioctl.h>
#include <rdma/rdma_user_cm.h>
#include "option_table.h"

#define COLUMNS 6
#define CELL 128

static void default_fill(const struct cmx_option_row *row, char *cell)
{
	if (row->source)
		snprintf(cell, CELL, "%s", row->source);
	else
		snprintf(cell, CELL, row->host ? "%u (host)" : "%u", row->def);
}

static void rst_cells_fill(const struct cmx_option_row *row, char (*cell)[CELL])
{
	snprintf(cell[0], CELL, "%s", row->label);
	cmx_option_values(row, cell[1], CELL);
	default_fill(row, cell[2]);
	snprintf(cell[3], CELL, "%s", cmx_option_until(row));
	snprintf(cell[4], CELL, "%s", cmx_option_transports(row));
	cmx_option_meaning(row, cell[5], CELL);
}

static void rst_rule_print(const size_t *width)
{
	size_t c, i;

	for (c = 0; c < COLUMNS; c++) {
		for (i = 0; i < width[c]; i++)
			putchar('=');
		fputs(c < COLUMNS - 1 ? "  " : "\n", stdout);
	}
}

static void rst_row_print(const size_t *width, char (*cell)[CELL])
{
	int c;

	for (c = 0; c < COLUMNS - 1; c++)
		printf("%-*s  ", (int)width[c], cell[c]);
	printf("%s\n", cell[c]);
}

static void rst_table_print(void)
{
	static char cells[CMX_OPTION_ROWS + 1][COLUMNS][CELL] = {
		{ "option", "values", "default", "until", "transports", "meaning [unit]" },
	};
	size_t width[COLUMNS] = {}, i, c;

	for (i = 0; i < CMX_OPTION_ROWS; i++)
		rst_cells_fill(&cmx_option_rows[i], cells[i + 1]);
	for (i = 0; i <= CMX_OPTION_ROWS; i++)
		for (c = 0; c < COLUMNS; c++)
			if (strlen(cells[i][c]) > width[c])
				width[c] = strlen(cells[i][c]);
	rst_rule_print(width);
	for (i = 0; i <= CMX_OPTION_ROWS; i++) {
		rst_row_print(width, cells[i]);
		if (!i)
			rst_rule_print(width);
	}
	rst_rule_print(width);
}

static const char *level_name(int level)
{
	switch (level) {
	case RDMA_OPTION_ID:
		return "RDMA_OPTION_ID";
	case RDMA_OPTION_IB:
		return "RDMA_OPTION_IB";
	default:
		return "CMX_OPTION";
	}
}

static void man_fact_print(const char *name, const char *value)
{
	printf("%s:\tT{\n%s\nT}\n", name, value);
}

/* The entry of an option in a manual page, up to the text that is written by hand */
static void man_option_print(const struct cmx_option_row *row)
{
	char text[CELL];

	puts(".TS\nl lx.");
	snprintf(text, CELL, "%s, %s", level_name(row->level), row->constant);
	man_fact_print("level, name", text);
	man_fact_print("meaning", row->text);
	cmx_option_values(row, text, CELL);
	man_fact_print("values", text);
	if (row->unit)
		man_fact_print("unit", row->unit);
	default_fill(row, text);
	man_fact_print("default", text);
	snprintf(text, CELL, row->until == CMX_OPT_UNTIL_DESTROYED ? "%s" : "%s, then %s",
		 cmx_option_until(row), row->late == EINVAL ? "EINVAL" : "EISCONN");
	man_fact_print("until", text);
	man_fact_print("transports", cmx_option_transports(row));
	puts(".TE");
}

static int man_print(const char *label)
{
	size_t i;

	for (i = 0; i < CMX_OPTION_ROWS; i++)
		if (!strcmp(label, cmx_option_rows[i].label)) {
			man_option_print(&cmx_option_rows[i]);
			return 0;
		}
	return 2;
}

static void labels_print(void)
{
	size_t i;

	for (i = 0; i < CMX_OPTION_ROWS; i++)
		puts(cmx_option_rows[i].label);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "rst"))
		rst_table_print();
	else if (argc == 2 && !strcmp(argv[1], "labels"))
		labels_print();
	else if (argc == 3 && !strcmp(argv[1], "man"))
		return man_print(argv[2]);
	else
		return 2;
	return 0;
}
