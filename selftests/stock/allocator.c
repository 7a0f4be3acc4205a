// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A malloc() like that of jemalloc or tcmalloc, for LD_PRELOAD: libc cannot free what it returns. In
 * front of each block is the address of the block of libc that contains it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 16

void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

void *memalign(size_t align, size_t size)
{
	size_t room = align > ROOM ? align : ROOM;
	char *block = __libc_memalign(room, room + size);
	char *p = block + room;

	if (!block)
		return NULL;
	((void **)p)[-1] = block;
	((size_t *)p)[-2] = size;
	return p;
}

void *malloc(size_t size)
{
	return memalign(ROOM, size);
}

void free(void *p)
{
	if (p)
		__libc_free(((void **)p)[-1]);
}

void *calloc(size_t n, size_t size)
{
	void *p = malloc(n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

void *realloc(void *p, size_t size)
{
	void *new = malloc(size);
	size_t old = p ? ((size_t *)p)[-2] : 0;

	if (!new)
		return NULL;
	memcpy(new, p, old < size ? old : size);
	free(p);
	return new;
}

int posix_memalign(void **p, size_t align, size_t size)
{
	*p = memalign(align, size);
	return *p ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}
