/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef NOW_H
#define NOW_H

#include <time.h>

/* seconds on CLOCK_MONOTONIC */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline long now_ms(void)
{
	return now() * 1e3;
}

#endif
