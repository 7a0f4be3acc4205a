/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TOOL_FILE_H
#define CMX_TOOL_FILE_H

#include <dirent.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define TOOL_DEVICES "/sys/class/infiniband"

/* Prints errno to stderr. Returns 1, the exit status. */
int tool_fail(const char *what);

/* Prints the word of the command line that is wrong, and why. Returns 2, the exit status. */
int tool_fail_usage(const char *word, const char *why);

/* Longest text that can be escaped */
#define TOOL_TEXT_MAX 80

/*
 * Escapes everything that is not a visible ASCII character, and the backslash, so that the text is
 * one word: the name of a process may contain any byte. It is cut off at @size.
 */
void tool_text_escape(char *text, size_t size);

FILE *tool_file_open(const char *dir, const char *name, const char *mode);

/* Reads the only line of a file, without its newline. */
int tool_file_read_line(const char *dir, const char *name, char *line, int size);

/* Writes one line, with one call: the kernel takes each write for a value. */
int tool_file_write_line(const char *dir, const char *name, const char *line);

int tool_name_is_visible(const struct dirent *d);

/* The folder of a port in the folder of its RDMA device: cmxPORT */
int tool_name_is_port(const struct dirent *d);

/* The port that such a folder is of */
const char *tool_name_port(const char *name);

/*
 * Calls @fn for each name in a folder, in the order of the alphabet, until it returns another value
 * than 0. A missing folder is empty.
 */
int tool_folder_walk(const char *dir, int (*want)(const struct dirent *d),
		     int (*fn)(const char *dir, const char *name, void *arg), void *arg);

#endif
