/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_RULE_H
#define CMX_RULE_H

#include <linux/rcupdate.h>
#include <net/net_namespace.h>
#include <rdma/cmx_rule.h>
#include "id.h"

/**
 * struct cmx_rule_value - an option of a rule
 * @bit: enum cmx_opt_bit
 * @transports: mask of the transports that support it
 * @val: the value
 * @check: checks whether an id can have the value, or NULL
 */
struct cmx_rule_value {
	u8 bit;
	u8 transports;
	u32 val;
	int (*check)(const struct cmx_id_private *id_priv, u32 val);
};

/**
 * struct cmx_rule_entry - a rule
 * @rule: as a process has set it, except that the user is one of the initial user namespace
 * @values: the options of @rule
 */
struct cmx_rule_entry {
	struct cmx_rule rule;
	struct cmx_rule_value values[CMX_RULE_OPTIONS];
};

/**
 * struct cmx_rule_table - the rules of a network namespace; never changes
 * @rcu: frees it
 * @generation: no other table has the same one
 * @num: number of @entries
 * @num_forced: number of those with CMX_RULE_F_FORCE
 * @needs: conditions that all rules have, enum cmx_rule_match
 * @sets: options that some rule sets, a bit for each enum cmx_opt_bit
 * @entries: the rules
 */
struct cmx_rule_table {
	struct rcu_head rcu;
	u64 generation;
	u32 num;
	u32 num_forced;
	u32 needs;
	u32 sets;
	struct cmx_rule_entry entries[];
};

/**
 * struct cmx_rule_subject - an id that rules are looked up for
 * @id_priv: the id
 * @owner: the id, or the listener whose consumer will get it
 * @device: its device, or the one that it may get; NULL: not known
 * @port_num: the port of @device
 * @dp: the data of the port
 */
struct cmx_rule_subject {
	const struct cmx_id_private *id_priv;
	struct cmx_id_private *owner;
	const struct ib_device *device;
	u32 port_num;
	const struct cmx_dev_port *dp;
};

void cmx_rule_table_summarize(struct cmx_rule_table *table);
void cmx_rule_tables_collect(const struct cmx_rule_subject *subject,
			     const struct cmx_rule_table *host, const struct cmx_rule_table *own,
			     struct cmx_opts *opt);

/* rule_table.c */
void cmx_rule_apply(struct cmx_id_private *id_priv, struct cmx_id_private *owner);
u8 cmx_rule_gid_type(struct cmx_id_private *id_priv, const struct ib_device *device, u32 port,
		     const struct cmx_dev_port *dp);
struct cmx_rule_table *cmx_rule_table_alloc(u32 num);
int cmx_rule_table_replace(struct net *net, struct cmx_rule_table *table, u64 generation);
const struct cmx_rule_table *cmx_rule_table_get(const struct net *net);
int cmx_rule_init_module(void);
void cmx_rule_exit_module(void);

#endif
