/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The rules of the network namespace, which are read and written as a whole.
 */
#ifndef CMX_RULE_TABLE_H
#define CMX_RULE_TABLE_H

#include <stdint.h>
#include <rdma/cmx_rule.h>

/**
 * struct rule_table - the rules
 * @generation: changes with them
 * @num: number of @rules
 * @rules: the rules, in the order in which they count
 */
struct rule_table {
	uint64_t generation;
	uint32_t num;
	struct cmx_rule rules[CMX_MAX_RULES];
};

/* These functions print what has failed, and return the exit status. */

int rule_table_read(struct rule_table *table);

/*
 * Reads the rules, lets @change change them, and writes them if it returns 0. If another process has
 * changed them in between, this begins again.
 */
int rule_table_change(int (*change)(struct rule_table *table, void *arg), void *arg);

int rule_table_insert(struct rule_table *table, uint32_t at, const struct cmx_rule *rule);

void rule_table_remove(struct rule_table *table, uint32_t at);

#endif
