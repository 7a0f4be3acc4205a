// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include "json.h"

static struct {
	bool pretty;
	bool comma;
	int depth;
} json;

void json_make_pretty(void)
{
	json.pretty = true;
}

/* Begins the next value, in an object with its name. */
static void json_value_begin(const char *name)
{
	if (json.comma)
		putchar(',');
	if (json.pretty && json.depth)
		printf("\n%*s", 4 * json.depth, "");
	if (name) {
		putchar('"');
		fputs(name, stdout);
		fputs(json.pretty ? "\": " : "\":", stdout);
	}
	json.comma = true;
}

void json_open(const char *name, char bracket)
{
	json_value_begin(name);
	putchar(bracket);
	json.comma = false;
	json.depth++;
}

void json_close(char bracket)
{
	json.depth--;
	if (json.pretty && json.comma)
		printf("\n%*s", 4 * json.depth, "");
	putchar(bracket);
	json.comma = true;
}

void json_end(void)
{
	putchar('\n');
	json.comma = false;
}

void json_number_put(const char *name, const char *format, ...)
{
	va_list args;

	json_value_begin(name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

void json_bool_put(const char *name, bool value)
{
	json_value_begin(name);
	fputs(value ? "true" : "false", stdout);
}

/* Length of the UTF-8 sequence of more than one byte at @text; 0 if it is none */
static int json_utf8_len(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	int len = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2, i;
	uint32_t code = *at & (0xff >> (len + 1));

	if (*at < 0xc2 || *at > 0xf4)
		return 0;
	for (i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	/* not the shortest form, a half of a surrogate pair, or too large */
	if (code < (len == 4 ? 0x10000 : len == 3 ? 0x800 : 0x80) ||
	    (code & ~0x7ff) == 0xd800 || code > 0x10ffff)
		return 0;
	return len;
}

/* Length of the character at @text; 0 if it needs an escape, and at the end */
static int json_plain_len(const char *text)
{
	if (*text == '"' || *text == '\\')
		return 0;
	return isprint((unsigned char)*text) ? 1 : json_utf8_len(text);
}

void json_string_put(const char *name, const char *text)
{
	const char *plain;
	int len;

	json_value_begin(name);
	putchar('"');
	for (;; text++) {
		for (plain = text; (len = json_plain_len(text)); text += len)
			;
		fwrite(plain, text - plain, 1, stdout);
		if (!*text)
			break;
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			printf("\\u%04x", *text & 0x80 ? 0xfffd : *text);
	}
	putchar('"');
}
