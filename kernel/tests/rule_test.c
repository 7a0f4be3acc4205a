// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/inet.h>
#include "../core/rule.c"
#include "../core/option_value.h"

/* As main.c defines it; the cases need no operations. */
static const struct cmx_transport rule_test_transport = { .bit = CMX_TRANSPORT_ROCE };

static bool rule_test_meets(struct cmx_id_private *id_priv, const struct cmx_rule *rule)
{
	return rule->uid == 7;
}

static const struct cmx_id_consumer_ops rule_test_consumer = { .meets = rule_test_meets };

/**
 * struct rule_test - an id, two tables and what a lookup needs
 * @id_priv: an id of RDMA_PS_TCP from 10.0.0.1 port 5000 to 192.0.2.9 port 4420
 * @device: device of its port, rxe0
 * @dp: its port, 2, which supports RoCE v2 only
 * @subject: all of it
 * @host: table with space for two rules
 * @own: likewise
 */
struct rule_test {
	struct cmx_id_private id_priv;
	struct ib_device device;
	struct cmx_dev_port dp;
	struct cmx_rule_subject subject;
	struct cmx_rule_table *host;
	struct cmx_rule_table *own;
};

static struct cmx_rule_table *rule_test_table(struct kunit *test)
{
	struct cmx_rule_table *table;

	table = kunit_kzalloc(test, struct_size(table, entries, 2), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	return table;
}

static void rule_test_addr(struct sockaddr *addr, const char *ip, u16 port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	if (in4_pton(ip, -1, (u8 *)&in->sin_addr, -1, NULL)) {
		in->sin_family = AF_INET;
		in->sin_port = cpu_to_be16(port);
	} else if (in6_pton(ip, -1, in6->sin6_addr.s6_addr, -1, NULL)) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = cpu_to_be16(port);
	}
}

static struct rule_test *rule_test_new(struct kunit *test)
{
	struct rule_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->id_priv.consumer = &rule_test_consumer;
	t->id_priv.id.ps = RDMA_PS_TCP;
	rule_test_addr(cmx_src(&t->id_priv), "10.0.0.1", 5000);
	rule_test_addr(cmx_dst(&t->id_priv), "192.0.2.9", 4420);
	t->device.dev.init_name = "rxe0";
	t->dp.transport = &rule_test_transport;
	t->dp.gid_types = BIT(IB_GID_TYPE_ROCE_UDP_ENCAP);
	t->subject = (struct cmx_rule_subject) {
		.id_priv = &t->id_priv,
		.owner = &t->id_priv,
		.device = &t->device,
		.port_num = 2,
		.dp = &t->dp,
	};
	t->host = rule_test_table(test);
	t->own = rule_test_table(test);
	return t;
}

/* Add a rule with one option, which every transport supports. */
static struct cmx_rule_entry *rule_test_add(struct cmx_rule_table *table, enum cmx_opt_bit bit,
					    u32 val)
{
	struct cmx_rule_entry *entry = &table->entries[table->num++];

	entry->rule.num_options = 1;
	entry->values[0] = (struct cmx_rule_value) {
		.bit = bit, .transports = CMX_TRANSPORT_ANY, .val = val,
	};
	return entry;
}

#define RULE_TEST_ADD(table, label, val) \
	rule_test_add(table, CMX_OPT_##label, val)

static void rule_test_collect(struct rule_test *t)
{
	cmx_rule_table_summarize(t->host);
	cmx_rule_table_summarize(t->own);
	cmx_rule_tables_collect(&t->subject, t->host, t->own, &t->id_priv.opt);
}

/* Only a rule that matches sets the TOS. */
struct rule_test_match_case {
	const char *name;
	struct cmx_rule rule;
	const char *prefix;
	bool passive, no_device, no_dst;
	const char *src;
	bool matches;
};

static const struct rule_test_match_case rule_test_matches[] = {
	{ "no condition", .matches = true },
	{ "prefix of the peer", { .match = CMX_RULE_DST, .dst_len = 96 + 24 }, "192.0.2.0",
	  .matches = true },
	{ "another prefix of the peer", { .match = CMX_RULE_DST, .dst_len = 96 + 24 },
	  "192.0.3.0" },
	{ "one bit of the prefix differs", { .match = CMX_RULE_DST, .dst_len = 128 }, "192.0.2.8" },
	{ "all bits but the one that differs", { .match = CMX_RULE_DST, .dst_len = 127 },
	  "192.0.2.8", .matches = true },
	{ "a prefix that ends within a byte", { .match = CMX_RULE_DST, .dst_len = 96 + 30 },
	  "192.0.2.12" },
	{ "any peer, which is known", { .match = CMX_RULE_DST }, .matches = true },
	{ "any peer, but it is not known", { .match = CMX_RULE_DST }, .no_dst = true },
	{ "local prefix", { .match = CMX_RULE_SRC, .src_len = 96 + 8 }, "10.0.0.0",
	  .matches = true },
	{ "another local prefix", { .match = CMX_RULE_SRC, .src_len = 96 + 8 }, "11.0.0.0" },
	{ "local prefix, but a wildcard", { .match = CMX_RULE_SRC }, .src = "0.0.0.0" },
	{ "IPv6 prefix of an IPv4 address", { .match = CMX_RULE_SRC, .src_len = 16 }, "fd00::" },
	{ "IPv6 prefix", { .match = CMX_RULE_SRC, .src_len = 16 }, "fd00::", .src = "fd00::7",
	  .matches = true },
	{ "port of the service", { .match = CMX_RULE_PORT, .port_min = 4420, .port_max = 4420 },
	  .matches = true },
	{ "ports below", { .match = CMX_RULE_PORT, .port_min = 1, .port_max = 4419 } },
	{ "ports above", { .match = CMX_RULE_PORT, .port_min = 4421, .port_max = 9999 } },
	{ "port of the service without a peer",
	  { .match = CMX_RULE_PORT, .port_min = 4420, .port_max = 5000 }, .no_dst = true },
	{ "local port of a request", { .match = CMX_RULE_PORT, .port_min = 5000, .port_max = 5000 },
	  .passive = true, .matches = true },
	{ "port of the peer of a request",
	  { .match = CMX_RULE_PORT, .port_min = 4420, .port_max = 4420 }, .passive = true },
	{ "device", { .match = CMX_RULE_DEVICE, .device = "rxe0" }, .matches = true },
	{ "another device", { .match = CMX_RULE_DEVICE, .device = "rxe" } },
	{ "device, which is not known", { .match = CMX_RULE_DEVICE, .device = "rxe0" },
	  .no_device = true },
	{ "port of the device", { .match = CMX_RULE_PORT_NUM, .port_num = 2 }, .matches = true },
	{ "another port of the device", { .match = CMX_RULE_PORT_NUM, .port_num = 1 } },
	{ "port space", { .match = CMX_RULE_PS, .ps = RDMA_PS_TCP }, .matches = true },
	{ "another port space", { .match = CMX_RULE_PS, .ps = RDMA_PS_UDP } },
	{ "consumer", { .match = CMX_RULE_UID, .uid = 7 }, .matches = true },
	{ "another consumer", { .match = CMX_RULE_UID, .uid = 8 } },
	{ "two conditions", { .match = CMX_RULE_PS | CMX_RULE_UID, .ps = RDMA_PS_TCP, .uid = 7 },
	  .matches = true },
	{ "only one of two", { .match = CMX_RULE_PS | CMX_RULE_UID, .ps = RDMA_PS_UDP, .uid = 7 } },
};

static void rule_test_match_desc(const struct rule_test_match_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "rule: %s", c->name);
}

KUNIT_ARRAY_PARAM(rule_test_match, rule_test_matches, rule_test_match_desc);

static void rule_test_match(struct kunit *test)
{
	const struct rule_test_match_case *c = test->param_value;
	struct rule_test *t = rule_test_new(test);
	struct cmx_rule *rule = &RULE_TEST_ADD(t->host, TOS, 96)->rule;
	struct __kernel_sockaddr_storage prefix = {};
	u8 *to;

	*rule = c->rule;
	rule->num_options = 1;
	if (c->prefix) {
		rule_test_addr((struct sockaddr *)&prefix, c->prefix, 0);
		to = c->rule.match & CMX_RULE_DST ? rule->dst : rule->src;
		rule_addr_fill((union ib_gid *)to, (struct sockaddr *)&prefix);
	}
	if (c->src)
		rule_test_addr(cmx_src(&t->id_priv), c->src, 5000);
	if (c->no_dst)
		rule_test_addr(cmx_dst(&t->id_priv), "0.0.0.0", 0);
	t->id_priv.passive = c->passive;
	if (c->no_device) {
		t->subject.device = NULL;
		t->subject.dp = NULL;
	}
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.set, c->matches ? BIT(CMX_OPT_TOS) : 0);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.ruled, t->id_priv.opt.set);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.tos, c->matches ? 96 : 0);
}

/* Which of the values of one option counts? */
struct rule_test_order_case {
	const char *name;
	bool set;
	u8 host, host_forced, own, own_forced;
	u8 result;
	bool ruled, forced;
};

static const struct rule_test_order_case rule_test_orders[] = {
	{ "host", .host = 1, .result = 1, .ruled = true },
	{ "namespace before host", .host = 1, .own = 2, .result = 2, .ruled = true },
	{ "program before rules", .set = true, .host = 1, .own = 2, .result = 8 },
	{ "forced by the namespace, before the program", .set = true, .own_forced = 3, .host = 1,
	  .result = 3, .ruled = true, .forced = true },
	{ "forced by the host, before all", .set = true, .own_forced = 3, .own = 2,
	  .host_forced = 4, .result = 4, .ruled = true, .forced = true },
};

static void rule_test_order_desc(const struct rule_test_order_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order of rules: %s", c->name);
}

KUNIT_ARRAY_PARAM(rule_test_order, rule_test_orders, rule_test_order_desc);

static void rule_test_order(struct kunit *test)
{
	const struct rule_test_order_case *c = test->param_value;
	struct rule_test *t = rule_test_new(test);
	struct cmx_opts *opt = &t->id_priv.opt;

	if (c->set)
		*opt = (struct cmx_opts) { .set = BIT(CMX_OPT_TOS), .tos = 8 };
	if (c->host)
		RULE_TEST_ADD(t->host, TOS, c->host);
	if (c->host_forced)
		RULE_TEST_ADD(t->host, TOS, c->host_forced)->rule.flags = CMX_RULE_F_FORCE;
	if (c->own)
		RULE_TEST_ADD(t->own, TOS, c->own);
	if (c->own_forced)
		RULE_TEST_ADD(t->own, TOS, c->own_forced)->rule.flags = CMX_RULE_F_FORCE;
	rule_test_collect(t);
	/* a second lookup, when more is known of the id, gives the same */
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, opt->set, BIT(CMX_OPT_TOS));
	KUNIT_EXPECT_EQ(test, opt->tos, c->result);
	KUNIT_EXPECT_EQ(test, opt->ruled, c->ruled ? BIT(CMX_OPT_TOS) : 0);
	KUNIT_EXPECT_EQ(test, opt->forced, c->forced ? BIT(CMX_OPT_TOS) : 0);
}

static void rule_test_first_counts(struct kunit *test)
{
	struct rule_test *t = rule_test_new(test);

	RULE_TEST_ADD(t->own, TOS, 1);
	RULE_TEST_ADD(t->own, TOS, 2);
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.tos, 1);
}

/* Each kind of rule of a table that has others, which cannot apply */
static void rule_test_mixed_table(struct kunit *test)
{
	struct rule_test *t = rule_test_new(test);

	memset(cmx_dst(&t->id_priv), 0, sizeof(struct sockaddr_storage));
	RULE_TEST_ADD(t->own, TOS, 1)->rule.match = CMX_RULE_DST;
	RULE_TEST_ADD(t->own, TOS, 2);
	RULE_TEST_ADD(t->host, CM_RETRIES, 3);
	RULE_TEST_ADD(t->host, CM_RETRIES, 4)->rule.flags = CMX_RULE_F_FORCE;
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.tos, 2);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.cm_retries, 4);
	KUNIT_EXPECT_EQ(test, t->own->sets, BIT(CMX_OPT_TOS));
	KUNIT_EXPECT_EQ(test, t->host->sets, BIT(CMX_OPT_CM_RETRIES));
}

static void rule_test_two_options(struct kunit *test)
{
	struct rule_test *t = rule_test_new(test);
	struct cmx_rule_entry *entry = RULE_TEST_ADD(t->own, TOS, 1);

	entry->values[1] = entry->values[0];
	entry->values[1].bit = CMX_OPT_CM_RETRIES;
	entry->rule.num_options = 2;
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.set, BIT(CMX_OPT_TOS) | BIT(CMX_OPT_CM_RETRIES));
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.cm_retries, 1);
	KUNIT_EXPECT_EQ(test, t->own->sets, BIT(CMX_OPT_TOS) | BIT(CMX_OPT_CM_RETRIES));
}

/* The rules have been deleted. What was forced replaced the value of the program, and stays. */
static void rule_test_deleted(struct kunit *test)
{
	struct rule_test *t = rule_test_new(test);

	RULE_TEST_ADD(t->own, CM_RETRIES, 3);
	RULE_TEST_ADD(t->own, TOS, 2)->rule.flags = CMX_RULE_F_FORCE;
	rule_test_collect(t);
	t->own->num = 0;
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.set, BIT(CMX_OPT_TOS));
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.ruled, BIT(CMX_OPT_TOS));
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.tos, 2);
}

static int rule_test_refuse(const struct cmx_id_private *id_priv, u32 val)
{
	return -EINVAL;
}

struct rule_test_fit_case {
	const char *name;
	enum cmx_opt_bit bit;
	u32 val;
	u8 transports;
	bool passive, refuse, no_device;
	bool fits;
};

static const struct rule_test_fit_case rule_test_fits[] = {
	{ "its transport", CMX_OPT_SL, 1, CMX_TRANSPORT_ROCE, .fits = true },
	{ "another transport", CMX_OPT_SL, 1, CMX_TRANSPORT_IB },
	{ "a transport that is not known yet", CMX_OPT_SL, 1, CMX_TRANSPORT_IB, .no_device = true,
	  .fits = true },
	{ "GID type of the port", CMX_OPT_GID_TYPE, IB_GID_TYPE_ROCE_UDP_ENCAP, CMX_TRANSPORT_ANY,
	  .fits = true },
	{ "GID type that the port lacks", CMX_OPT_GID_TYPE, IB_GID_TYPE_ROCE, CMX_TRANSPORT_ANY },
	{ "option of the active side", CMX_OPT_SL, 1, CMX_TRANSPORT_ANY, .passive = true },
	{ "option of both sides", CMX_OPT_TOS, 1, CMX_TRANSPORT_ANY, .passive = true,
	  .fits = true },
	{ "a value that the id cannot have", CMX_OPT_TOS, 1, CMX_TRANSPORT_ANY, .refuse = true },
};

static void rule_test_fit_desc(const struct rule_test_fit_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "option of a rule: %s", c->name);
}

KUNIT_ARRAY_PARAM(rule_test_fit, rule_test_fits, rule_test_fit_desc);

static void rule_test_fit(struct kunit *test)
{
	const struct rule_test_fit_case *c = test->param_value;
	struct rule_test *t = rule_test_new(test);
	struct cmx_rule_value *value = RULE_TEST_ADD(t->own, TOS, c->val)->values;

	value->bit = c->bit;
	value->transports = c->transports;
	value->check = c->refuse ? rule_test_refuse : NULL;
	t->id_priv.passive = c->passive;
	if (c->no_device) {
		t->subject.device = NULL;
		t->subject.dp = NULL;
	}
	rule_test_collect(t);
	KUNIT_EXPECT_EQ(test, t->id_priv.opt.set, c->fits ? BIT(c->bit) : 0);
}

static struct kunit_case rule_test_cases[] = {
	KUNIT_CASE_PARAM(rule_test_match, rule_test_match_gen_params),
	KUNIT_CASE_PARAM(rule_test_order, rule_test_order_gen_params),
	KUNIT_CASE(rule_test_first_counts),
	KUNIT_CASE(rule_test_mixed_table),
	KUNIT_CASE(rule_test_two_options),
	KUNIT_CASE(rule_test_deleted),
	KUNIT_CASE_PARAM(rule_test_fit, rule_test_fit_gen_params),
	{},
};

static struct kunit_suite rule_test_suite = {
	.name = "cmx-rule",
	.test_cases = rule_test_cases,
};

kunit_test_suite(rule_test_suite);
