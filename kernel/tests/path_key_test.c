// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../path_key.c"

#define BASE (IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_PKEY)

static struct sa_path_rec question(void)
{
	struct sa_path_rec rec = {
		.sgid.raw = { 0xfe, 0x80, [15] = 1 },
		.dgid.raw = { 0xfe, 0x80, [15] = 2 },
		.pkey = cpu_to_be16(0xffff),
	};

	return rec;
}

static bool same(const struct sa_path_rec *a, const struct sa_path_rec *b, ib_sa_comp_mask mask)
{
	struct cmx_path_key ka, kb;

	cmx_path_key(&ka, a, mask);
	cmx_path_key(&kb, b, mask);
	if (cmx_path_key_equal(&ka, &kb))
		return cmx_path_key_hash(&ka) == cmx_path_key_hash(&kb);
	return false;
}

/* Each field makes a difference if the mask has it, and else none. */
static void fields(struct kunit *test)
{
	struct sa_path_rec a = question(), b;

	b = a;
	KUNIT_EXPECT_TRUE(test, same(&a, &b, BASE));
	b.dgid.raw[15] = 3;
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE));
	b = a;
	b.sgid.raw[15] = 3;
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE));
	b = a;
	b.pkey = cpu_to_be16(0x8001);
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE));

	b = a;
	b.service_id = cpu_to_be64(1);
	KUNIT_EXPECT_TRUE(test, same(&a, &b, BASE));
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE | IB_SA_PATH_REC_SERVICE_ID));
	b = a;
	b.qos_class = cpu_to_be16(8);
	KUNIT_EXPECT_TRUE(test, same(&a, &b, BASE));
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE | IB_SA_PATH_REC_QOS_CLASS));
	b = a;
	b.traffic_class = 8;
	KUNIT_EXPECT_TRUE(test, same(&a, &b, BASE));
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE | IB_SA_PATH_REC_TRAFFIC_CLASS));
	b = a;
	b.sl = 8;
	KUNIT_EXPECT_TRUE(test, same(&a, &b, BASE));
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE | IB_SA_PATH_REC_SL));
	b = a;
	b.mtu = 4;
	KUNIT_EXPECT_TRUE(test, same(&a, &b, BASE));
	KUNIT_EXPECT_FALSE(test, same(&a, &b, BASE | IB_SA_PATH_REC_MTU));
}

/* No answer to a question that said less. */
static void masks(struct kunit *test)
{
	struct sa_path_rec rec = question();
	struct cmx_path_key a, b;

	cmx_path_key(&a, &rec, BASE);
	cmx_path_key(&b, &rec, BASE | IB_SA_PATH_REC_SL);
	KUNIT_EXPECT_FALSE(test, cmx_path_key_equal(&a, &b));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(fields),
	KUNIT_CASE(masks),
	{},
};

static struct kunit_suite suite = {
	.name = "cmx-path-key",
	.test_cases = cases,
};

kunit_test_suite(suite);
