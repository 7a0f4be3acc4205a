// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../core/path_attr.c"

/* The options differ from the values of the transport in each field. */
static const struct cmx_opts path_attr_test_opts = {
	.sl = 11, .path_mtu = 4, .flow_label = 13, .hop_limit = 14, .ack_timeout = 16,
};

/**
 * struct path_attr_test_case - one combination of options
 * @name: name of the case
 * @set: mask of the options that are set
 * @use: mask of the options that are used
 * @mask: expected mask of the record
 * @sl: expected values of the record
 * @mtu: see @sl
 * @flow_label: see @sl
 * @hop_limit: see @sl
 * @lifetime: see @sl
 */
struct path_attr_test_case {
	const char *name;
	u32 set;
	u32 use;
	ib_sa_comp_mask mask;
	u8 sl, mtu, flow_label, hop_limit, lifetime;
};

#define PATH_ATTR_TEST_MTU (IB_SA_PATH_REC_MTU_SELECTOR | IB_SA_PATH_REC_MTU)
#define PATH_ATTR_TEST_LIFETIME						\
	(IB_SA_PATH_REC_PACKET_LIFE_TIME_SELECTOR | IB_SA_PATH_REC_PACKET_LIFE_TIME)

static const struct path_attr_test_case path_attr_test_table[] = {
	{ "no option", 0, CMX_PATH_OPTS, 0, 1, 2, 3, 4, 5 },
	{ "SL", BIT(CMX_OPT_SL), CMX_PATH_OPTS, IB_SA_PATH_REC_SL, 11, 2, 3, 4, 5 },
	{ "MTU", BIT(CMX_OPT_PATH_MTU), CMX_PATH_OPTS, PATH_ATTR_TEST_MTU, 1, 4, 3, 4, 5 },
	{ "flow label", BIT(CMX_OPT_FLOW_LABEL), CMX_PATH_OPTS, IB_SA_PATH_REC_FLOW_LABEL,
	  1, 2, 13, 4, 5 },
	{ "hop limit", BIT(CMX_OPT_HOP_LIMIT), CMX_PATH_OPTS, IB_SA_PATH_REC_HOP_LIMIT,
	  1, 2, 3, 14, 5 },
	{ "ACK timeout", BIT(CMX_OPT_ACK_TIMEOUT), CMX_PATH_OPTS, PATH_ATTR_TEST_LIFETIME,
	  1, 2, 3, 4, 15 },
	{ "options that are no part of a path", ~(u32)CMX_PATH_OPTS, ~0, 0, 1, 2, 3, 4, 5 },
	{ "options of the query", ~0, CMX_PATH_OPTS_OF_QUERY,
	  IB_SA_PATH_REC_SL | PATH_ATTR_TEST_MTU, 11, 4, 3, 4, 5 },
	{ "options of the reply", ~0, CMX_PATH_OPTS_OF_REPLY,
	  IB_SA_PATH_REC_FLOW_LABEL | IB_SA_PATH_REC_HOP_LIMIT, 1, 2, 13, 14, 5 },
	{ "all options", ~0, CMX_PATH_OPTS,
	  IB_SA_PATH_REC_SL | PATH_ATTR_TEST_MTU | IB_SA_PATH_REC_FLOW_LABEL |
	  IB_SA_PATH_REC_HOP_LIMIT | PATH_ATTR_TEST_LIFETIME, 11, 4, 13, 14, 15 },
};

static void path_attr_test_desc(const struct path_attr_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "path: %s", c->name);
}

KUNIT_ARRAY_PARAM(path_attr_test_merge, path_attr_test_table, path_attr_test_desc);

static void path_attr_test_merge(struct kunit *test)
{
	const struct path_attr_test_case *c = test->param_value;
	struct sa_path_rec rec = {
		.sl = 1, .mtu = 2, .flow_label = cpu_to_be32(3), .hop_limit = 4,
		.packet_life_time = 5,
	};
	struct cmx_opts opt = path_attr_test_opts;

	opt.set = c->set;
	KUNIT_EXPECT_TRUE(test, cmx_path_rec_merge(&rec, &opt, c->use) == c->mask);
	KUNIT_EXPECT_EQ(test, rec.sl, c->sl);
	KUNIT_EXPECT_EQ(test, rec.mtu, c->mtu);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.flow_label), c->flow_label);
	KUNIT_EXPECT_EQ(test, rec.hop_limit, c->hop_limit);
	KUNIT_EXPECT_EQ(test, rec.packet_life_time, c->lifetime);
}

/* No timeout at all, which no packet lifetime expresses */
static void path_attr_test_no_timeout(struct kunit *test)
{
	struct cmx_opts opt = { .set = BIT(CMX_OPT_ACK_TIMEOUT) };
	struct sa_path_rec rec = { .packet_life_time = 5 };

	KUNIT_EXPECT_TRUE(test, !cmx_path_rec_merge(&rec, &opt, CMX_PATH_OPTS));
	KUNIT_EXPECT_EQ(test, rec.packet_life_time, 5);
}

static struct kunit_case path_attr_test_cases[] = {
	KUNIT_CASE_PARAM(path_attr_test_merge, path_attr_test_merge_gen_params),
	KUNIT_CASE(path_attr_test_no_timeout),
	{},
};

static struct kunit_suite path_attr_test_suite = {
	.name = "cmx-path-attr",
	.test_cases = path_attr_test_cases,
};

kunit_test_suite(path_attr_test_suite);
