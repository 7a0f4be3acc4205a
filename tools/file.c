// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files and folders of sysfs, messages and text, for several commands of cmx.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"

#define PORT_FOLDER "cmx"

int tool_fail(const char *what)
{
	fprintf(stderr, "cmx: %s: %s\n", what, strerror(errno));
	return 1;
}

int tool_fail_usage(const char *word, const char *why)
{
	fprintf(stderr, "cmx: %s: %s\n", word, why);
	return 2;
}

void tool_text_escape(char *text, size_t size)
{
	char copy[TOOL_TEXT_MAX], *to = text;
	const char *from;

	snprintf(copy, sizeof(copy), "%s", text);
	for (from = copy; *from && to + 5 <= text + size; from++)
		if (isgraph((unsigned char)*from) && *from != '\\')
			*to++ = *from;
		else
			to += sprintf(to, "\\%03o", (unsigned char)*from);
	*to = 0;
}

FILE *tool_file_open(const char *dir, const char *name, const char *mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, mode);
}

int tool_file_read_line(const char *dir, const char *name, char *line, int size)
{
	FILE *f = tool_file_open(dir, name, "r");
	char *got;

	if (!f)
		return -1;
	got = fgets(line, size, f);
	fclose(f);
	if (!got)
		return -1;
	line[strcspn(line, "\n")] = 0;
	return 0;
}

int tool_file_write_line(const char *dir, const char *name, const char *line)
{
	FILE *f = tool_file_open(dir, name, "r+");
	int ret;

	if (!f)
		return -1;
	ret = fprintf(f, "%s\n", line) < 0;
	return fclose(f) || ret ? -1 : 0;
}

int tool_name_is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int tool_name_is_port(const struct dirent *d)
{
	const char *port = tool_name_port(d->d_name);

	return !strncmp(d->d_name, PORT_FOLDER, strlen(PORT_FOLDER)) && *port &&
	       !port[strspn(port, "0123456789")];
}

const char *tool_name_port(const char *name)
{
	return name + strlen(PORT_FOLDER);
}

int tool_folder_walk(const char *dir, int (*want)(const struct dirent *d),
		     int (*fn)(const char *dir, const char *name, void *arg), void *arg)
{
	struct dirent **names;
	int n = scandir(dir, &names, want, alphasort), i, ret = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : -1;
	for (i = 0; i < n; i++) {
		ret = ret ?: fn(dir, names[i]->d_name, arg);
		free(names[i]);
	}
	free(names);
	return ret;
}
