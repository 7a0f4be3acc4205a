/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Functions of the C library, for sources that are compiled with the headers of a kernel */
#ifndef UNIT_LIBC_H
#define UNIT_LIBC_H

#include <linux/types.h>

/* The name of a function of the kernel. ctags and cscope do not take this for its definition. */
#define KERNEL(name) name

int atoi(const char *text);
void *calloc(size_t num, size_t size);
int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *realloc(void *memory, size_t size);

#endif
