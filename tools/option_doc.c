// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * option_doc rst|man: prints the table of options for the documentation. See selftests/generated.
 */
#include <string.h>
#include <rdma/cmx_ioctl.h>
#include "option_table.h"

#define COLUMNS 6
#define CELL 128

static void rst_fill_cells(const struct cmx_option_row *row, char (*cell)[CELL])
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

static void rst_print_rule(const size_t *width)
{
	size_t c, i;

	for (c = 0; c < COLUMNS; c++) {
		for (i = 0; i < width[c]; i++)
			putchar('=');
		fputs(c < COLUMNS - 1 ? "  " : "\n", stdout);
	}
}

static void rst_print_row(const size_t *width, char (*cell)[CELL])
{
	int c;

	for (c = 0; c < COLUMNS - 1; c++)
		printf("%-*s  ", (int)width[c], cell[c]);
	printf("%s\n", cell[c]);
}

static void rst_print_table(void)
{
	static char cells[CMX_OPTION_ROWS + 1][COLUMNS][CELL] = {
		{ "option", "values", "default", "until", "transports", "meaning [unit]" },
	};
	size_t width[COLUMNS] = {}, i, c;

	for (i = 0; i < CMX_OPTION_ROWS; i++)
		rst_fill_cells(&cmx_option_rows[i], cells[i + 1]);
	for (i = 0; i <= CMX_OPTION_ROWS; i++)
		for (c = 0; c < COLUMNS; c++)
			if (strlen(cells[i][c]) > width[c])
				width[c] = strlen(cells[i][c]);
	rst_print_rule(width);
	for (i = 0; i <= CMX_OPTION_ROWS; i++) {
		rst_print_row(width, cells[i]);
		if (!i)
			rst_print_rule(width);
	}
	rst_print_rule(width);
}

static void man_print_table(void)
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
		rst_print_table();
	else if (argc == 2 && !strcmp(argv[1], "man"))
		man_print_table();
	else
		return 2;
	return 0;
}
