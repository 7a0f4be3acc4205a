/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The parameters of the module, for the check of a file while no module is loaded. The suite tool
 * compares them with those of the module.
 */
#ifndef CMX_PARAM_TABLE_H
#define CMX_PARAM_TABLE_H

/* The default is another one on some kernels, so that each value is one to be saved. */
#define PARAM_DEF_VARIES (-1)

static const struct cmx_param_row {
	const char *name;
	unsigned int min, max;
	long long def;
} cmx_param_rows[] = {
	{ "close_seconds", 0, 86400, 60 },
	{ "cm_response_timeout", 0, 31, 20 },
	{ "cm_retries", 0, 15, 15 },
	{ "connect_deadline_ms", 0, 2147483647, 0 },
	{ "max_backlog", 1, 65536, 1024 },
	{ "max_sa_requests", 1, 1024, 8 },
	{ "max_user_ids", 0, 2147483647, 65536 },
	{ "max_user_requests", 0, 2147483647, PARAM_DEF_VARIES },
	{ "path_cache", 0, 1048576, 1024 },
	{ "path_cache_seconds", 0, 86400, 60 },
	{ "tos", 0, 255, 0 },
};

/* The only one that is Y or N, by default N */
#define PARAM_BOOL "netns_listen"

#endif
