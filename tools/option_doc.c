// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * option_doc rst|man: prints the table of options for the documentation. See selftests/generated.
 */
#include <string.h>
#include <rdma/cmx_ioctl.h>
#include <rdma/rdma_user_cm.h>
#include "option_table.h"

#define COLUMNS 6
#define CELL 128

static void rst_cells_fill(const struct cmx_option_row *row, char (*cell)[CELL])
{
	snprintf(cell[0], CELL, "%s", row->label);
	cmx_option_values(row, cell[1], CELL);
	if (row->source)
		snprintf(cell[2], CELL, "%s", row->source);
	else
		snprintf(cell[2], CELL, row->host ? "%u (host)" : "%u", row->def);
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

static void man_table_print(void)
{
	char values[CELL], meaning[CELL];
	size_t i;

	puts(".TS\nl l l.");
	for (i = 0; i < CMX_OPTION_ROWS; i++) {
		cmx_option_values(&cmx_option_rows[i], values, CELL);
		cmx_option_meaning(&cmx_option_rows[i], meaning, CELL);
		printf("%s\t%s\tT{\n%s\nT}\n", cmx_option_rows[i].constant, values, meaning);
	}
	puts(".TE");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "rst"))
		rst_table_print();
	else if (argc == 2 && !strcmp(argv[1], "man"))
		man_table_print();
	else
		return 2;
	return 0;
}
