// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* "report" checks that exactly the lines marked here as reached were counted. */
#include <linux/compiler.h>
#include "gcov.h"

noinline void cmx_gcov_probe_unused(int *value)
{
	barrier();
	*value += 3;				/* never reached */
}

noinline void cmx_gcov_probe(int *value)
{
	if (*value)
		WRITE_ONCE(*value, 5);		/* reached */
	else
		cmx_gcov_probe_unused(value);	/* never reached */
}
