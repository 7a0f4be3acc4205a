// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CMX_CHANNEL_GET_RULES and CMX_CHANNEL_SET_RULES: the rules of the caller's network namespace.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include "ioctl.h"
#include "option.h"

#define RULE_MATCH_ALL								\
	(CMX_RULE_SRC | CMX_RULE_DST | CMX_RULE_PORT | CMX_RULE_DEVICE |	\
	 CMX_RULE_PORT_NUM | CMX_RULE_PS | CMX_RULE_UID | CMX_RULE_CGROUP | CMX_RULE_ULP)

/* A field is zero without its condition, and not empty with it. */
static bool rule_name_is_valid(const char *name, size_t size, bool used)
{
	return used ? *name && strnlen(name, size) < size : !memchr_inv(name, 0, size);
}

static bool rule_prefix_is_valid(const u8 *prefix, size_t size, u8 len, bool used)
{
	return used ? len <= 8 * size : !len && !memchr_inv(prefix, 0, size);
}

static bool rule_match_is_valid(const struct cmx_rule *r)
{
	bool port = r->match & CMX_RULE_PORT;

	return !(r->match & ~RULE_MATCH_ALL) &&
	       rule_prefix_is_valid(r->src, sizeof(r->src), r->src_len, r->match & CMX_RULE_SRC) &&
	       rule_prefix_is_valid(r->dst, sizeof(r->dst), r->dst_len, r->match & CMX_RULE_DST) &&
	       (port ? r->port_min <= r->port_max : !r->port_min && !r->port_max) &&
	       rule_name_is_valid(r->device, sizeof(r->device), r->match & CMX_RULE_DEVICE) &&
	       !r->port_num == !(r->match & CMX_RULE_PORT_NUM) &&
	       (!r->ps || r->match & CMX_RULE_PS) &&
	       (!r->uid || r->match & CMX_RULE_UID) &&
	       (!r->cgroup || r->match & CMX_RULE_CGROUP) &&
	       rule_name_is_valid(r->ulp, sizeof(r->ulp), r->match & CMX_RULE_ULP);
}

static bool rule_is_valid(const struct cmx_rule *r)
{
	return !(r->flags & ~CMX_RULE_F_FORCE) && !r->reserved && r->num_options &&
	       r->num_options <= CMX_RULE_OPTIONS && rule_match_is_valid(r) &&
	       !memchr_inv(&r->options[r->num_options], 0,
			   sizeof(r->options[0]) * (CMX_RULE_OPTIONS - r->num_options));
}

static int rule_uid_from_user(struct cmx_rule *r)
{
	kuid_t uid;

	if (!(r->match & CMX_RULE_UID))
		return 0;
	uid = make_kuid(current_user_ns(), r->uid);
	if (!uid_valid(uid))
		return -EINVAL;
	r->uid = from_kuid(&init_user_ns, uid);
	return 0;
}

static int rule_entry_fill(struct cmx_rule_entry *entry)
{
	u32 i;
	int ret;

	if (!rule_is_valid(&entry->rule))
		return -EINVAL;
	ret = rule_uid_from_user(&entry->rule);
	for (i = 0; i < entry->rule.num_options && !ret; i++)
		ret = cmx_opt_fill_rule_value(&entry->values[i], &entry->rule.options[i]);
	return ret;
}

/* Copy the rules of the caller into @table, which has an entry for each. */
static int rule_table_fill(struct cmx_rule_table *table, const struct cmx_call *call)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_RULES);
	const struct cmx_rule __user *from = u64_to_user_ptr(attr->data);
	u32 i;
	int ret = 0;

	for (i = 0; i < table->num && !ret; i++) {
		if (copy_from_user(&table->entries[i].rule, &from[i], sizeof(*from)))
			return -EFAULT;
		ret = rule_entry_fill(&table->entries[i]);
	}
	return ret;
}

static int ioctl_set_rules(struct cmx_call *call)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_RULES);
	struct net *net = current->nsproxy->net_ns;
	struct cmx_rule_table *table = NULL;
	int ret = 0;

	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (attr) {
		if (attr->len % sizeof(struct cmx_rule))
			return -EINVAL;
		table = cmx_rule_table_alloc(attr->len / sizeof(struct cmx_rule));
		if (!table)
			return -ENOMEM;
		ret = rule_table_fill(table, call);
	}
	ret = ret ?: cmx_rule_table_replace(net, table, cmx_call_u64(call, CMX_ATTR_GENERATION));
	if (ret)
		kvfree(table);
	return ret;
}

const struct cmx_method cmx_method_set_rules = {
	.call = ioctl_set_rules,
	.attrs = {
		CMX_INPUT_OPT(RULES, sizeof(struct cmx_rule),
			      CMX_MAX_RULES * sizeof(struct cmx_rule)),
		CMX_INPUT(GENERATION, sizeof(u64), sizeof(u64)),
	},
};

/* A copy of the rules of a namespace, which can be copied to user space without RCU */
static int rule_table_copy(const struct net *net, struct cmx_rule **rules, u32 *num,
			   u64 *generation)
{
	const struct cmx_rule_table *table;
	u32 i;

	*rules = kvcalloc(CMX_MAX_RULES, sizeof(**rules), GFP_KERNEL);
	if (!*rules)
		return -ENOMEM;
	rcu_read_lock();
	table = cmx_rule_table_get(net);
	*num = table ? table->num : 0;
	*generation = table ? table->generation : 0;
	for (i = 0; i < *num; i++) {
		struct cmx_rule *r = &(*rules)[i];

		*r = table->entries[i].rule;
		if (r->match & CMX_RULE_UID)
			r->uid = from_kuid_munged(current_user_ns(),
						  make_kuid(&init_user_ns, r->uid));
	}
	rcu_read_unlock();
	return 0;
}

static int ioctl_get_rules(struct cmx_call *call)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_RULES);
	struct cmx_rule *rules;
	u64 generation;
	u32 num;
	int ret;

	ret = rule_table_copy(current->nsproxy->net_ns, &rules, &num, &generation);
	if (ret)
		return ret;
	if (attr && copy_to_user(u64_to_user_ptr(attr->data), rules,
				 sizeof(*rules) * min_t(u32, num, attr->len / sizeof(*rules))))
		ret = -EFAULT;
	kvfree(rules);
	ret = ret ?: cmx_call_out_u32(call, CMX_ATTR_COUNT, num);
	return ret ?: cmx_call_out(call, CMX_ATTR_GENERATION, &generation, sizeof(generation));
}

const struct cmx_method cmx_method_get_rules = {
	.call = ioctl_get_rules,
	.attrs = {
		CMX_OUTPUT_OPT(RULES, sizeof(struct cmx_rule)),
		CMX_OUTPUT_OPT(COUNT, sizeof(u32)),
		CMX_OUTPUT_OPT(GENERATION, sizeof(u64)),
	},
};
