/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Functions of the C library, for sources that are compiled with the headers of a kernel */
#ifndef UNIT_LIBC_H
#define UNIT_LIBC_H

#include <linux/types.h>

int atoi(const char *text);
void *calloc(size_t num, size_t size);
int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *realloc(void *memory, size_t size);

#endif
