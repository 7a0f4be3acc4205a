/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SLOW_H
#define SLOW_H

#include <stdlib.h>

/* Returns a timeout for this machine, which is slower than an idle one by the factor of vm/slow. */
static inline int slow_time(int idle_time)
{
	const char *slow = getenv("CMX_SLOW");

	return idle_time * (slow && atoi(slow) > 1 ? atoi(slow) : 1);
}

#endif
