/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TOOL_ARGS_H
#define CMX_TOOL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tool_options - the options that several commands have
 * @json: -j, --json: print JSON; also with @pretty
 * @pretty: -p, --pretty: with indentation
 * @details: -d, --details
 * @metrics: -m, --metrics: print the text format of Prometheus
 */
struct tool_options {
	bool json;
	bool pretty;
	bool details;
	bool metrics;
};

/**
 * tool_options_parse() - get the options of a command, which may be anywhere among its arguments
 * @argc: number of arguments with the command, then of those that are left
 * @argv: the arguments, then those that are left
 * @letters: the options that the command has
 * @options: receives the options
 *
 * Return: 0, or 2 if there is another option, which has been printed.
 */
int tool_options_parse(int *argc, char ***argv, const char *letters, struct tool_options *options);

/* Decimal, or hexadecimal with 0x. Returns false if it is no such number, or not in the range. */
bool tool_number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *number);

#endif
