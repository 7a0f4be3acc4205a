/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_GCOV_H
#define CMX_GCOV_H

#include <linux/types.h>

#if __GNUC__ < 12 || __GNUC__ > 13
#error "The layout of struct gcov_info is that of GCC 12 and 13"
#endif

#define GCOV_COUNTERS		8

/* One counter for each arc of the control flow that GCC cannot derive from others */
struct gcov_arcs {
	u32 num;
	s64 *values;
};

struct gcov_function {
	const void *key;
	u32 ident;
	u32 lineno_checksum;
	u32 cfg_checksum;
	struct gcov_arcs arcs;
};

/* One for each object file, written by GCC */
struct gcov_info {
	u32 version;
	struct gcov_info *next;
	u32 stamp;
	u32 checksum;
	const char *filename;
	const void *merge[GCOV_COUNTERS];
	u32 n_functions;
	const struct gcov_function *const *functions;
};

extern const struct gcov_info *const cmx_gcov_begin[];
extern const struct gcov_info *const cmx_gcov_end[];

void cmx_cleanup_module(void);
void __gcov_merge_add(s64 *counters, u32 num);

void cmx_gcov_probe(int *value);
void cmx_gcov_probe_unused(int *value);

#endif
