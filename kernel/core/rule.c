// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which options do the rules set for an id? Rules are for programs that nobody changes, so a value
 * that the program sets counts more than a rule, unless the rule has CMX_RULE_F_FORCE.
 */
#include <linux/string.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include "device.h"
#include "event.h"
#include "option_value.h"
#include "rule.h"
#include "sockaddr.h"
#include "transport.h"

/**
 * struct rule_known - what the conditions of rules are compared with
 * @valid: conditions of which the value is known, enum cmx_rule_match
 * @src: local address, as in &struct cmx_rule
 * @dst: address of the peer
 * @port: port of the service
 */
struct rule_known {
	u32 valid;
	union ib_gid src;
	union ib_gid dst;
	u16 port;
};

/* Returns false if the address is not known yet. */
static bool rule_addr_fill(union ib_gid *to, const struct sockaddr *addr)
{
	if (cmx_addr_is_any(addr))
		return false;
	if (addr->sa_family != AF_IB)
		return !rdma_ip2gid((struct sockaddr *)addr, to);
	memcpy(to, &((const struct sockaddr_ib *)addr)->sib_addr, sizeof(*to));
	return true;
}

static void rule_known_fill(struct rule_known *known, const struct cmx_rule_subject *subject)
{
	const struct cmx_id_private *id_priv = subject->id_priv;
	const struct sockaddr *src = cmx_src(id_priv), *dst = cmx_dst(id_priv);

	known->valid = CMX_RULE_PS | CMX_RULE_UID | CMX_RULE_CGROUP | CMX_RULE_ULP;
	if (rule_addr_fill(&known->src, src))
		known->valid |= CMX_RULE_SRC;
	if (rule_addr_fill(&known->dst, dst)) {
		known->valid |= CMX_RULE_DST | CMX_RULE_PORT;
		known->port = be16_to_cpu(cmx_addr_port(id_priv->passive ? src : dst));
	}
	if (subject->device)
		known->valid |= CMX_RULE_DEVICE | CMX_RULE_PORT_NUM;
}

static bool rule_prefix_matches(const u8 *prefix, u8 len, const union ib_gid *addr)
{
	return ipv6_prefix_equal((const struct in6_addr *)prefix, (const struct in6_addr *)addr,
				 len);
}

static bool rule_matches(const struct cmx_rule *rule, const struct cmx_rule_subject *subject,
			 const struct rule_known *known)
{
	u32 match = rule->match;

	if (match & ~known->valid)
		return false;
	if (match & CMX_RULE_SRC && !rule_prefix_matches(rule->src, rule->src_len, &known->src))
		return false;
	if (match & CMX_RULE_DST && !rule_prefix_matches(rule->dst, rule->dst_len, &known->dst))
		return false;
	if (match & CMX_RULE_PORT &&
	    (known->port < rule->port_min || known->port > rule->port_max))
		return false;
	if (match & CMX_RULE_DEVICE && strcmp(rule->device, dev_name(&subject->device->dev)))
		return false;
	if (match & CMX_RULE_PORT_NUM && subject->port_num != rule->port_num)
		return false;
	if (match & CMX_RULE_PS && subject->id_priv->id.ps != rule->ps)
		return false;
	if (match & (CMX_RULE_UID | CMX_RULE_CGROUP | CMX_RULE_ULP))
		return subject->owner->consumer->meets(subject->owner, rule);
	return true;
}

static bool rule_value_fits(const struct cmx_rule_value *value,
			    const struct cmx_rule_subject *subject)
{
	if (subject->id_priv->passive && BIT(value->bit) & CMX_OPTS_OF_ACTIVE)
		return false;
	if (subject->dp) {
		if (!(subject->dp->transport->bit & value->transports))
			return false;
		if (value->bit == CMX_OPT_GID_TYPE && !(subject->dp->gid_types & BIT(value->val)))
			return false;
	}
	return !value->check || !value->check(subject->id_priv, value->val);
}

/* The options for which rules have no effect: a rule before has set them, or the consumer. */
static u32 rule_done(const struct cmx_opts *opt, u32 ruled, bool force)
{
	return force ? ruled : ruled | opt->set;
}

static void rule_values_take(const struct cmx_rule_entry *entry, bool force,
			     const struct cmx_rule_subject *subject, struct cmx_opts *opt,
			     u32 *ruled)
{
	const struct cmx_rule_value *value = entry->values;
	u32 i;

	for (i = 0; i < entry->rule.num_options; i++, value++) {
		u32 bit = BIT(value->bit);

		if (rule_done(opt, *ruled, force) & bit || !rule_value_fits(value, subject))
			continue;
		cmx_opts_store(opt, value->bit, value->val);
		*ruled |= bit;
		opt->set |= bit;
		opt->ruled |= bit;
		if (force)
			opt->forced |= bit;
	}
}

/**
 * cmx_rule_table_summarize() - note what all rules of a table have in common
 * @table: the rules, of which all entries are filled in
 */
void cmx_rule_table_summarize(struct cmx_rule_table *table)
{
	u32 i, j;

	table->needs = ~0;
	table->sets = 0;
	table->num_forced = 0;
	for (i = 0; i < table->num; i++) {
		const struct cmx_rule_entry *entry = &table->entries[i];

		table->needs &= entry->rule.match;
		table->num_forced += !!(entry->rule.flags & CMX_RULE_F_FORCE);
		for (j = 0; j < entry->rule.num_options; j++)
			table->sets |= BIT(entry->values[j].bit);
	}
}

/* Returns false if no rule of the kind applies to an id, whatever the id is. */
static bool rule_table_may_apply(const struct cmx_rule_table *table, bool force,
				 const struct rule_known *known)
{
	return table && !(table->needs & ~known->valid) &&
	       (force ? table->num_forced : table->num - table->num_forced);
}

static void rule_table_take(const struct cmx_rule_table *table, bool force,
			    const struct cmx_rule_subject *subject, const struct rule_known *known,
			    struct cmx_opts *opt, u32 *ruled)
{
	u32 i;

	if (!rule_table_may_apply(table, force, known))
		return;
	for (i = 0; i < table->num; i++) {
		const struct cmx_rule_entry *entry = &table->entries[i];

		if (!(entry->rule.flags & CMX_RULE_F_FORCE) != force &&
		    rule_matches(&entry->rule, subject, known))
			rule_values_take(entry, force, subject, opt, ruled);
	}
}

/**
 * cmx_rule_tables_collect() - put the values of the rules that apply to an id into its options
 * @subject: the id. Caller must hold its lock, and that of the owner
 * @host: rules of the initial network namespace, or NULL
 * @own: rules of the namespace of the id, or NULL; NULL also if that is the initial one
 * @opt: the options of the id, or a copy. Values of earlier rules are dropped, except for forced
 *	ones, which replaced what the consumer had set
 *
 * The order is: the rules of the host with CMX_RULE_F_FORCE, those of the namespace, then what the
 * consumer has set, then the other rules of the namespace and of the host.
 */
void cmx_rule_tables_collect(const struct cmx_rule_subject *subject,
			     const struct cmx_rule_table *host, const struct cmx_rule_table *own,
			     struct cmx_opts *opt)
{
	struct rule_known known = {};
	u32 ruled = 0;

	opt->set &= ~opt->ruled | opt->forced;
	opt->ruled &= opt->forced;
	rule_known_fill(&known, subject);
	rule_table_take(host, true, subject, &known, opt, &ruled);
	rule_table_take(own, true, subject, &known, opt, &ruled);
	rule_table_take(own, false, subject, &known, opt, &ruled);
	rule_table_take(host, false, subject, &known, opt, &ruled);
}
