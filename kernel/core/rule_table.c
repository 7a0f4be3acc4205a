// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The rules of each network namespace. A table is replaced as a whole, and read under RCU.
 */
#include <linux/atomic.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "device.h"
#include "rule.h"
#include "transport.h"

struct cmx_rule_net {
	struct cmx_rule_table __rcu *table;
};

static unsigned int rule_net_id;

/* The number of tables of all namespaces: without any, an id costs one comparison. */
static atomic_t rule_num_tables = ATOMIC_INIT(0);
static atomic64_t rule_generation = ATOMIC64_INIT(0);

static struct cmx_rule_net *rule_net(const struct net *net)
{
	return net_generic(net, rule_net_id);
}

/**
 * cmx_rule_table_get() - get the rules of a network namespace
 * @net: the namespace
 *
 * Context: Caller must hold rcu_read_lock().
 * Return: the table; NULL if there are no rules.
 */
const struct cmx_rule_table *cmx_rule_table_get(const struct net *net)
{
	return rcu_dereference(rule_net(net)->table);
}

static bool rule_table_sets(const struct cmx_rule_table *table, u32 options)
{
	return table && table->sets & options;
}

/* @options: those of interest. The others may stay as they are */
static void rule_collect(struct cmx_id_private *id_priv, const struct cmx_rule_subject *subject,
			 u32 options, struct cmx_opts *opt)
{
	const struct cmx_rule_table *host, *own = NULL;

	lockdep_assert_held(&id_priv->lock);
	rcu_read_lock();
	host = cmx_rule_table_get(&init_net);
	if (!net_eq(cmx_net(id_priv), &init_net))
		own = cmx_rule_table_get(cmx_net(id_priv));
	if (rule_table_sets(host, options) || rule_table_sets(own, options) ||
	    opt->ruled & options)
		cmx_rule_tables_collect(subject, host, own, opt);
	rcu_read_unlock();
}

/* Without rules, and without what a rule has set, nothing changes. */
static bool rule_is_needed(const struct cmx_id_private *id_priv)
{
	return atomic_read(&rule_num_tables) || id_priv->opt.ruled;
}

/**
 * cmx_rule_apply() - give an id the options of the rules
 * @id_priv: the id. It has just got its device, or knows its destination
 * @owner: @id_priv, or its listener if its consumer does not have it yet
 *
 * Context: Caller must hold the locks of both.
 */
void cmx_rule_apply(struct cmx_id_private *id_priv, struct cmx_id_private *owner)
{
	const struct cmx_rule_subject subject = {
		.id_priv = id_priv,
		.owner = owner,
		.device = id_priv->id.device,
		.port_num = id_priv->id.port_num,
		.dp = id_priv->dev_port,
	};

	if (rule_is_needed(id_priv))
		rule_collect(id_priv, &subject, ~0, &id_priv->opt);
}

/**
 * cmx_rule_gid_type() - get the GID type that an id would have on a RoCE port
 * @id_priv: the id. Caller must hold its lock
 * @device: the device
 * @port: the port
 * @dp: the data of the port
 *
 * Return: the value of the option GID_TYPE, or the default of the port.
 */
u8 cmx_rule_gid_type(struct cmx_id_private *id_priv, const struct ib_device *device, u32 port,
		     const struct cmx_dev_port *dp)
{
	const struct cmx_rule_subject subject = {
		.id_priv = id_priv,
		.owner = id_priv,
		.device = device,
		.port_num = port,
		.dp = dp,
	};
	const struct cmx_opts *opt = &id_priv->opt;
	struct cmx_opts copy;

	if (!dp->transport->port_gid_type)
		return dp->gid_type;
	if (rule_is_needed(id_priv)) {
		copy = *opt;
		rule_collect(id_priv, &subject, BIT(CMX_OPT_GID_TYPE), &copy);
		opt = &copy;
	}
	return opt->set & BIT(CMX_OPT_GID_TYPE) ? opt->gid_type : dp->gid_type;
}

/**
 * cmx_rule_table_alloc() - allocate a table
 * @num: number of rules
 *
 * Return: the table, whose entries are zero; to be freed with kvfree(). NULL: out of memory.
 */
struct cmx_rule_table *cmx_rule_table_alloc(u32 num)
{
	struct cmx_rule_table *table;

	table = kvzalloc(struct_size(table, entries, num), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->num = num;
	table->generation = atomic64_inc_return(&rule_generation);
	return table;
}

/**
 * cmx_rule_table_replace() - replace the rules of a network namespace
 * @net: the namespace
 * @table: the new rules, which belong to the namespace on success; NULL: none
 * @generation: of the table to be replaced; 0: of no table
 *
 * Ids get the new rules when they get a device or a destination afterwards.
 *
 * Return: 0, or -EAGAIN if the namespace has another table.
 */
int cmx_rule_table_replace(struct net *net, struct cmx_rule_table *table, u64 generation)
{
	struct cmx_rule_net *rn = rule_net(net);
	struct cmx_rule_table *old;
	bool replaced;

	if (table)
		cmx_rule_table_summarize(table);
	rcu_read_lock();
	old = rcu_dereference(rn->table);
	replaced = (old ? old->generation : 0) == generation &&
		   unrcu_pointer(cmpxchg(&rn->table, RCU_INITIALIZER(old),
					 RCU_INITIALIZER(table))) == old;
	rcu_read_unlock();
	if (!replaced)
		return -EAGAIN;
	atomic_add(!!table - !!old, &rule_num_tables);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/* No id of the namespace is left. */
static void __net_exit rule_net_exit(struct net *net)
{
	struct cmx_rule_table *old = rcu_dereference_protected(rule_net(net)->table, true);

	if (!old)
		return;
	atomic_dec(&rule_num_tables);
	kvfree(old);
}

static struct pernet_operations rule_net_ops = {
	.exit = rule_net_exit,
	.id = &rule_net_id,
	.size = sizeof(struct cmx_rule_net),
};

int cmx_rule_init_module(void)
{
	return register_pernet_subsys(&rule_net_ops);
}

void cmx_rule_exit_module(void)
{
	unregister_pernet_subsys(&rule_net_ops);
}
