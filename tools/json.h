/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * JSON on standard output. @name is the name of the value in an object, and NULL in an array.
 */
#ifndef CMX_TOOL_JSON_H
#define CMX_TOOL_JSON_H

#include <stdbool.h>

/* From now on, each value has a line, with indentation. */
void json_make_pretty(void);

void json_open(const char *name, char bracket);
void json_close(char bracket);

/* Ends the line after a whole value. */
void json_end(void);

/* A number */
__attribute__((format(printf, 2, 3)))
void json_number_put(const char *name, const char *format, ...);

void json_bool_put(const char *name, bool value);

/* A byte that is not a part of UTF-8, as of a name that was cut off, becomes U+FFFD. */
void json_string_put(const char *name, const char *text);

#endif
