// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages for the user. They go to the standard error only if descriptor 2 is still the file that it
 * was when the library was loaded. A daemon closes that file, and the descriptor may then be any other
 * file or socket of the program. Such a program's messages go to syslog.
 */
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmx_lib.h"

static struct stat message_file;
static bool message_file_is_known;

__attribute__((constructor))
static void cmxl_message_init(void)
{
	message_file_is_known = !fstat(STDERR_FILENO, &message_file);
}

static bool cmxl_message_file_is_same(void)
{
	struct stat now;

	return message_file_is_known && !fstat(STDERR_FILENO, &now) &&
	       now.st_dev == message_file.st_dev && now.st_ino == message_file.st_ino;
}

/* Keeps errno. */
void cmxl_message(const char *format, ...)
{
	int err = errno;
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (cmxl_message_file_is_same())
		dprintf(STDERR_FILENO, "librdmacm: %s\n", text);
	else
		syslog(LOG_WARNING, "librdmacm: %s", text);
	errno = err;
}
