/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Files of lines that consist of words.
 */
#ifndef CMX_TOOL_LINE_H
#define CMX_TOOL_LINE_H

#include <stdio.h>
#include "rule_text.h"

/* More than the longest line has: "rule", and the words of a rule. A line with more words is wrong. */
#define TOOL_WORDS_MAX (RULE_WORDS_MAX + 3)

/**
 * struct tool_line - a line of a file
 * @number: its number
 * @text: its text
 * @argc: number of words; 0: an empty line, or a comment, which begins with #
 * @argv: the words, which may be changed
 */
struct tool_line {
	unsigned int number;
	char *text;
	int argc;
	char *argv[TOOL_WORDS_MAX];
};

/* Calls @fn for each line, and returns the worst status. @path is for messages. */
int tool_lines_walk(FILE *f, const char *path,
		    int (*fn)(const char *path, struct tool_line *line, void *arg), void *arg);

/* Prints which word of the line is wrong, and why. Returns 1, the exit status. */
int tool_line_fail(const char *path, const struct tool_line *line, const char *word,
		   const char *why);

#endif
