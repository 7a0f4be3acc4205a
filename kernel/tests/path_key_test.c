// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../transport/ib/path_key.c"

#define BASE (IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_PKEY)

#define QUERY(from, to, partition)		\
	.sgid.raw = { 0xfe, 0x80, [15] = from },	\
	.dgid.raw = { 0xfe, 0x80, [15] = to },		\
	.pkey = cpu_to_be16(partition)

/**
 * struct path_key_test_case - a query beside path_key_test_query
 * @name: the field that differs
 * @equal: whether the keys are equal with @mask
 * @mask: bit of the field; 0 if BASE has it
 * @rec: the query
 */
struct path_key_test_case {
	const char *name;
	bool equal;
	ib_sa_comp_mask mask;
	struct sa_path_rec rec;
};

static const struct sa_path_rec path_key_test_query = { QUERY(1, 2, 0xffff) };

static const struct path_key_test_case path_key_test_table[] = {
	{ "no field", true, 0, { QUERY(1, 2, 0xffff) } },
	{ "DGID", false, 0, { QUERY(1, 3, 0xffff) } },
	{ "SGID", false, 0, { QUERY(3, 2, 0xffff) } },
	{ "P_Key", false, 0, { QUERY(1, 2, 0x8001) } },
	{ "service ID", false, IB_SA_PATH_REC_SERVICE_ID,
	  { QUERY(1, 2, 0xffff), .service_id = cpu_to_be64(1) } },
	{ "QoS class", false, IB_SA_PATH_REC_QOS_CLASS,
	  { QUERY(1, 2, 0xffff), .qos_class = cpu_to_be16(8) } },
	{ "traffic class", false, IB_SA_PATH_REC_TRAFFIC_CLASS,
	  { QUERY(1, 2, 0xffff), .traffic_class = 8 } },
	{ "SL", false, IB_SA_PATH_REC_SL, { QUERY(1, 2, 0xffff), .sl = 8 } },
	{ "MTU", false, IB_SA_PATH_REC_MTU, { QUERY(1, 2, 0xffff), .mtu = 4 } },
};

static void path_key_test_field_desc(const struct path_key_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "path key, other value: %s", c->name);
}

static void path_key_test_mask_desc(const struct path_key_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "path key, other mask: %s", c->name);
}

KUNIT_ARRAY_PARAM(path_key_test_field, path_key_test_table, path_key_test_field_desc);
KUNIT_ARRAY_PARAM(path_key_test_mask, path_key_test_table, path_key_test_mask_desc);

static bool path_key_test_equal(const struct sa_path_rec *a, const struct sa_path_rec *b,
				ib_sa_comp_mask mask)
{
	struct cmx_path_key ka, kb;

	cmx_path_key_init(&ka, a, mask);
	cmx_path_key_init(&kb, b, mask);
	if (cmx_path_key_equal(&ka, &kb))
		return cmx_path_key_hash(&ka) == cmx_path_key_hash(&kb);
	return false;
}

/* A field counts if and only if its bit is in the mask. */
static void path_key_test_field(struct kunit *test)
{
	const struct path_key_test_case *c = test->param_value;

	if (c->mask)
		KUNIT_EXPECT_TRUE(test, path_key_test_equal(&path_key_test_query, &c->rec, BASE));
	KUNIT_EXPECT_EQ(test,
			path_key_test_equal(&path_key_test_query, &c->rec, BASE | c->mask),
			c->equal);
}

/* The reply to a query is none to a query that specifies fewer fields. */
static void path_key_test_mask(struct kunit *test)
{
	const struct path_key_test_case *c = test->param_value;
	struct cmx_path_key a, b;

	cmx_path_key_init(&a, &path_key_test_query, BASE);
	cmx_path_key_init(&b, &path_key_test_query, BASE | c->mask);
	KUNIT_EXPECT_EQ(test, cmx_path_key_equal(&a, &b), !c->mask);
}

static struct kunit_case path_key_test_cases[] = {
	KUNIT_CASE_PARAM(path_key_test_field, path_key_test_field_gen_params),
	KUNIT_CASE_PARAM(path_key_test_mask, path_key_test_mask_gen_params),
	{},
};

static struct kunit_suite path_key_test_suite = {
	.name = "cmx-path-key",
	.test_cases = path_key_test_cases,
};

kunit_test_suite(path_key_test_suite);
