/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The rows of kernel/core/option_rows.h for programs: cmx(8), option_doc and the tests.
 */
#ifndef CMX_OPTION_TABLE_H
#define CMX_OPTION_TABLE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <rdma/cmx_types.h>

/* The steps after which setting an option can no longer take effect, in order */
enum cmx_opt_until {
	CMX_OPT_UNTIL_BIND,
	CMX_OPT_UNTIL_ADDR_QUERY,
	CMX_OPT_UNTIL_ROUTE_QUERY,
	CMX_OPT_UNTIL_REQ_SENT,
	CMX_OPT_UNTIL_REP_SENT,
	CMX_OPT_UNTIL_ESTABLISHED,
	CMX_OPT_UNTIL_DESTROYED,
};

enum cmx_transport {
	CMX_TRANSPORT_IB = 1 << 0,
	CMX_TRANSPORT_ROCE = 1 << 1,
	CMX_TRANSPORT_IWARP = 1 << 2,
	CMX_TRANSPORT_ANY = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE | CMX_TRANSPORT_IWARP,
};

/* option_rows.h describes the fields. */
struct cmx_option_row {
	const char *label;
	const char *constant;	/* the name as programs write it */
	const char *host;
	const char *source;
	const char *unit;
	const char *text;
	int level;
	int name;
	uint32_t min;
	uint32_t max;
	uint32_t def;
	enum cmx_opt_until until;
	enum cmx_transport transports;
	int late;
	unsigned int records:1;
	unsigned int is_bool:1;
	unsigned int zero_resets:1;
	unsigned int no_rule:1;
};

#define CMX_OPT_TEXT(...) __VA_ARGS__,
#define CMX_OPT_KERNEL(...)

static const struct cmx_option_row cmx_option_rows[] = {
#define CMX_OPTION_VALUE(lvl, nm, lbl, field, least, most, init, ...) \
	{ .label = #lbl, .constant = #nm, .level = lvl, .name = nm, \
	  .min = least, .max = most, .def = init, __VA_ARGS__ },
#define CMX_OPTION_RECORDS(lvl, nm, lbl, ...) \
	{ .label = #lbl, .constant = #nm, .level = lvl, .name = nm, .records = 1, __VA_ARGS__ },
#include "../kernel/core/option_rows.h"
};

#define CMX_OPTION_ROWS (sizeof(cmx_option_rows) / sizeof(*cmx_option_rows))

static inline const struct cmx_option_row *cmx_option_find(const struct cmx_id_option *o)
{
	size_t i;

	for (i = 0; i < CMX_OPTION_ROWS; i++)
		if (cmx_option_rows[i].level == (int)o->level &&
		    cmx_option_rows[i].name == (int)o->name)
			return &cmx_option_rows[i];
	return NULL;
}

/* An option that this program does not know is shown as its numbers. */
static inline const char *cmx_option_label(const struct cmx_id_option *o, char *to, size_t size)
{
	const struct cmx_option_row *row = cmx_option_find(o);

	if (row)
		return row->label;
	snprintf(to, size, "%u:%u", o->level, o->name);
	return to;
}

/* Steps that are states have the names of states.rst. */
static inline const char *cmx_option_until(const struct cmx_option_row *row)
{
	static const char * const names[] = {
		[CMX_OPT_UNTIL_BIND] = "bind",
		[CMX_OPT_UNTIL_ADDR_QUERY] = "addr-query",
		[CMX_OPT_UNTIL_ROUTE_QUERY] = "route-query",
		[CMX_OPT_UNTIL_REQ_SENT] = "req-sent",
		[CMX_OPT_UNTIL_REP_SENT] = "rep-sent",
		[CMX_OPT_UNTIL_ESTABLISHED] = "established",
		[CMX_OPT_UNTIL_DESTROYED] = "destroyed",
	};

	return names[row->until];
}

static inline const char *cmx_option_transports(const struct cmx_option_row *row)
{
	static const char * const names[CMX_TRANSPORT_ANY + 1] = {
		[CMX_TRANSPORT_IB] = "ib",
		[CMX_TRANSPORT_ROCE] = "roce",
		[CMX_TRANSPORT_IWARP] = "iwarp",
		[CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE] = "ib,roce",
		[CMX_TRANSPORT_IB | CMX_TRANSPORT_IWARP] = "ib,iwarp",
		[CMX_TRANSPORT_ROCE | CMX_TRANSPORT_IWARP] = "roce,iwarp",
		[CMX_TRANSPORT_ANY] = "all",
	};

	return names[row->transports];
}

/* The range of the values */
static inline void cmx_option_values(const struct cmx_option_row *row, char *to, size_t size)
{
	if (row->records)
		snprintf(to, size, "records");
	else
		snprintf(to, size, row->max == 1 ? "%u, %u" : "%u..%u", row->min, row->max);
}

/* Meaning of the option, and its unit */
static inline void cmx_option_meaning(const struct cmx_option_row *row, char *to, size_t size)
{
	snprintf(to, size, row->unit ? "%s [%s]" : "%s", row->text, row->unit);
}

#endif
