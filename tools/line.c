// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "line.h"

static void tool_line_split(struct tool_line *line, char *rest)
{
	char *word;

	line->argc = 0;
	rest[strcspn(rest, "#\n")] = 0;
	while (line->argc < TOOL_WORDS_MAX && (word = strtok_r(rest, " \t", &rest)))
		line->argv[line->argc++] = word;
}

int tool_lines_walk(FILE *f, const char *path,
		    int (*fn)(const char *path, struct tool_line *line, void *arg), void *arg)
{
	struct tool_line line = {};
	int status = 0;
	size_t size = 0;
	char *words;

	while (getline(&line.text, &size, f) > 0) {
		line.number++;
		words = strdup(line.text);
		if (!words) {
			status = tool_fail(path);
			break;
		}
		tool_line_split(&line, words);
		status |= fn(path, &line, arg);
		free(words);
	}
	free(line.text);
	return ferror(f) ? tool_fail(path) : status;
}

int tool_line_fail(const char *path, const struct tool_line *line, const char *word,
		   const char *why)
{
	fprintf(stderr, "cmx: %s:%u: %s: %s\n", path, line->number, word, why);
	return 1;
}
