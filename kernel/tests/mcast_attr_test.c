// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../core/mcast_attr.c"

/* The defaults of the transport, and attributes and options that differ from them in each field */
#define MCAST_ATTR_TEST_DEFAULTS						\
	.mtu = 2, .rate = 3, .traffic_class = 4, .sl = 5,			\
	.flow_label = cpu_to_be32(6), .hop_limit = 7, .scope = 8
#define MCAST_ATTR_TEST_ATTRS							\
	.mtu = 12, .rate = 13, .tclass = 14, .sl = 15,				\
	.flow_label = 16, .hop_limit = 17, .scope = 18

static const struct cmx_opts mcast_attr_test_opts = {
	.tos = 24, .sl = 25, .flow_label = 26, .hop_limit = 27,
};

#define MCAST_ATTR_TEST_OPTS (BIT(CMX_OPT_SL) | BIT(CMX_OPT_FLOW_LABEL) | BIT(CMX_OPT_HOP_LIMIT))
#define MCAST_ATTR_TEST_ALL (CMX_MCAST_SCOPE * 2 - 1)

/**
 * struct mcast_attr_test_case - one combination of attributes and options
 * @name: name of the case
 * @attrs: mask of the attributes
 * @opts: mask of the options
 * @mask: expected mask of the record
 * @mtu: expected values of the record, in the order of the defaults
 * @rate: see @mtu
 * @tclass: see @mtu
 * @sl: see @mtu
 * @flow_label: see @mtu
 * @hop_limit: see @mtu
 * @scope: see @mtu
 */
struct mcast_attr_test_case {
	const char *name;
	u32 attrs;
	u32 opts;
	ib_sa_comp_mask mask;
	u8 mtu, rate, tclass, sl, flow_label, hop_limit, scope;
};

static const struct mcast_attr_test_case mcast_attr_test_table[] = {
	{ "defaults alone", 0, 0, 0, 2, 3, 4, 5, 6, 7, 8 },
	{ "MTU", CMX_MCAST_MTU, 0, IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU,
	  12, 3, 4, 5, 6, 7, 8 },
	{ "rate", CMX_MCAST_RATE, 0, IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE,
	  2, 13, 4, 5, 6, 7, 8 },
	{ "traffic class", CMX_MCAST_TCLASS, 0, IB_SA_MCMEMBER_REC_TRAFFIC_CLASS,
	  2, 3, 14, 5, 6, 7, 8 },
	{ "SL", CMX_MCAST_SL, 0, IB_SA_MCMEMBER_REC_SL, 2, 3, 4, 15, 6, 7, 8 },
	{ "flow label", CMX_MCAST_FLOW_LABEL, 0, IB_SA_MCMEMBER_REC_FLOW_LABEL,
	  2, 3, 4, 5, 16, 7, 8 },
	{ "hop limit", CMX_MCAST_HOP_LIMIT, 0, IB_SA_MCMEMBER_REC_HOP_LIMIT,
	  2, 3, 4, 5, 6, 17, 8 },
	{ "scope", CMX_MCAST_SCOPE, 0, IB_SA_MCMEMBER_REC_SCOPE, 2, 3, 4, 5, 6, 7, 18 },
	{ "keys", CMX_MCAST_QKEY | CMX_MCAST_PKEY, 0, 0, 2, 3, 4, 5, 6, 7, 8 },
	{ "option SL", 0, BIT(CMX_OPT_SL), IB_SA_MCMEMBER_REC_SL, 2, 3, 4, 25, 6, 7, 8 },
	{ "option flow label", 0, BIT(CMX_OPT_FLOW_LABEL), IB_SA_MCMEMBER_REC_FLOW_LABEL,
	  2, 3, 4, 5, 26, 7, 8 },
	{ "option hop limit", 0, BIT(CMX_OPT_HOP_LIMIT), IB_SA_MCMEMBER_REC_HOP_LIMIT,
	  2, 3, 4, 5, 6, 27, 8 },
	{ "option TOS", 0, BIT(CMX_OPT_TOS), 0, 2, 3, 4, 5, 6, 7, 8 },
	{ "attributes over options",
	  CMX_MCAST_SL | CMX_MCAST_FLOW_LABEL | CMX_MCAST_HOP_LIMIT, MCAST_ATTR_TEST_OPTS,
	  IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL | IB_SA_MCMEMBER_REC_HOP_LIMIT,
	  2, 3, 4, 15, 16, 17, 8 },
	{ "one attribute, other options", CMX_MCAST_SL, MCAST_ATTR_TEST_OPTS,
	  IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL | IB_SA_MCMEMBER_REC_HOP_LIMIT,
	  2, 3, 4, 15, 26, 27, 8 },
	{ "all attributes and options", MCAST_ATTR_TEST_ALL, ~0,
	  IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU |
	  IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE |
	  IB_SA_MCMEMBER_REC_TRAFFIC_CLASS | IB_SA_MCMEMBER_REC_SL |
	  IB_SA_MCMEMBER_REC_FLOW_LABEL | IB_SA_MCMEMBER_REC_HOP_LIMIT | IB_SA_MCMEMBER_REC_SCOPE,
	  12, 13, 14, 15, 16, 17, 18 },
};

static void mcast_attr_test_desc(const struct mcast_attr_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "join: %s", c->name);
}

KUNIT_ARRAY_PARAM(mcast_attr_test_merge, mcast_attr_test_table, mcast_attr_test_desc);

static void mcast_attr_test_merge(struct kunit *test)
{
	const struct mcast_attr_test_case *c = test->param_value;
	struct cmx_mcast_attr attr = { .mask = c->attrs, MCAST_ATTR_TEST_ATTRS };
	struct ib_sa_mcmember_rec rec = { MCAST_ATTR_TEST_DEFAULTS };
	struct cmx_opts opt = mcast_attr_test_opts;

	opt.set = c->opts;
	KUNIT_EXPECT_TRUE(test, cmx_mcast_rec_merge(&rec, &attr, &opt) == c->mask);
	KUNIT_EXPECT_EQ(test, rec.mtu, c->mtu);
	KUNIT_EXPECT_EQ(test, rec.rate, c->rate);
	KUNIT_EXPECT_EQ(test, rec.traffic_class, c->tclass);
	KUNIT_EXPECT_EQ(test, rec.sl, c->sl);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.flow_label), c->flow_label);
	KUNIT_EXPECT_EQ(test, rec.hop_limit, c->hop_limit);
	KUNIT_EXPECT_EQ(test, rec.scope, c->scope);
	KUNIT_EXPECT_EQ(test, attr.mask, c->attrs);
}

/* The current rate of the port is the default: it is no component of the record. */
static void mcast_attr_test_port_rate(struct kunit *test)
{
	struct cmx_mcast_attr attr = { .mask = CMX_MCAST_RATE, .rate = IB_RATE_PORT_CURRENT };
	struct ib_sa_mcmember_rec rec = { MCAST_ATTR_TEST_DEFAULTS };
	struct cmx_opts opt = {};

	KUNIT_EXPECT_TRUE(test, !cmx_mcast_rec_merge(&rec, &attr, &opt));
	KUNIT_EXPECT_EQ(test, rec.rate, 3);
}

static struct kunit_case mcast_attr_test_cases[] = {
	KUNIT_CASE_PARAM(mcast_attr_test_merge, mcast_attr_test_merge_gen_params),
	KUNIT_CASE(mcast_attr_test_port_rate),
	{},
};

static struct kunit_suite mcast_attr_test_suite = {
	.name = "cmx-mcast-attr",
	.test_cases = mcast_attr_test_cases,
};

kunit_test_suite(mcast_attr_test_suite);
