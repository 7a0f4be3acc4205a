/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_COMPLETE_H
#define CMX_COMPLETE_H

/**
 * struct tool_command - a command of cmx, or one of its forms
 * @name: name of the command
 * @fn: runs it with its arguments, the first of which is its name. Returns the exit status; 2: wrong
 *	usage
 * @args: its arguments, as the help shows them
 * @help: what it does
 */
struct tool_command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *args;
	const char *help;
};

extern const struct tool_command tool_commands[];	/* cmx.c; ends with an empty row */

/*
 * cmx complete WORD...: prints what the last word may be, a line each, for cmx.bash, cmx.zsh and
 * cmx.fish. The shells take the words that begin as it does.
 */
int complete_run(int argc, char **argv);

#endif
