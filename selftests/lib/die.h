/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef DIE_H
#define DIE_H

#include <stdio.h>
#include <stdlib.h>

/* Ends a program whose call has failed with errno. */
static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

#endif
