/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cmx show: the ids that the caller may see, and for root what debugfs has.
 */
#ifndef CMX_SHOW_H
#define CMX_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/cmx_ioctl.h>

/* Longest text of a field */
#define SHOW_TEXT_MAX 80

/**
 * struct show_field - a field of an id, with its name in JSON and in filters
 * @name: name
 * @write: writes the value as text; returns false if the id has none
 * @number: the value is a number
 * @filter: ids can be selected by it
 * @detail: only with option -d
 */
struct show_field {
	const char *name;
	bool (*write)(const struct cmx_id_record *r, char *to, size_t size);
	bool number;
	bool filter;
	bool detail;
};

extern const struct show_field show_fields[];	/* ends with an empty row */

/* cmx_show.c. Returns the exit status; 2: wrong usage. */
int show_run(int argc, char **argv);

/* What is done with an id. Returns 0, and the id is printed then. */
typedef int (*show_act_fn)(int fd, const struct cmx_id_record *r);

/* Acts on the ids that match the filters, of which there must be one. Returns the exit status. */
int show_act_run(int argc, char **argv, show_act_fn act);

/* show_debugfs.c */
bool show_debugfs_has(const char *name);
int show_debugfs_run(const char *name, bool in_json);

/* show_field.c */
/* The name of a port space, or NULL */
const char *show_ps_name(uint32_t ps);
const struct show_field *show_field_find(const char *name);
bool show_filter_parse(const struct show_field *field, const char *value, char *to, size_t size);
/* The names of all states in turn, then NULL */
const char *show_state_name(size_t i);
const struct cmx_id_option *show_options(const struct cmx_id_record *r);

/* show_print.c */

/**
 * struct show_format - how ids are printed
 * @begin: called before the first id
 * @id: called for each id
 * @end: called after the last one
 */
struct show_format {
	void (*begin)(void);
	void (*id)(const struct cmx_id_record *r, bool details);
	void (*end)(void);
};

extern const struct show_format show_format_table, show_format_json;

#endif
