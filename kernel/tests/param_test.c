// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../base/param.c"

struct param_test_case {
	const char *text;
	unsigned int min;
	unsigned int max;
	int ret;
	unsigned int val;
};

static const struct param_test_case param_test_table[] = {
	{ "5", 0, 15, 0, 5 },
	{ "7\n", 0, 15, 0, 7 },
	{ "0xf", 0, 15, 0, 15 },
	{ "0", 0, 15, 0, 0 },
	{ "15", 0, 15, 0, 15 },
	{ "16", 0, 15, -EINVAL },
	{ "1", 1, 15, 0, 1 },
	{ "0", 1, 15, -EINVAL },
	{ "-1", 0, 15, -EINVAL },
	{ "4294967295", 0, UINT_MAX, 0, UINT_MAX },
	{ "4294967296", 0, UINT_MAX, -EINVAL },
	{ "", 0, 15, -EINVAL },
	{ "x", 0, 15, -EINVAL },
	{ "5 s", 0, 15, -EINVAL },
};

static void param_test_set_desc(const struct param_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "set in %u..%u: '%.*s'", c->min, c->max,
		 (int)strcspn(c->text, "\n"), c->text);
}

KUNIT_ARRAY_PARAM(param_test_set, param_test_table, param_test_set_desc);

/* A value that is refused leaves the parameter as it was. */
static void param_test_set(struct kunit *test)
{
	const struct param_test_case *c = test->param_value;
	struct cmx_param param = { 77, c->min, c->max };
	struct kernel_param kp = { .arg = &param };

	KUNIT_EXPECT_EQ(test, cmx_param_ops.set(c->text, &kp), c->ret);
	KUNIT_EXPECT_EQ(test, cmx_param_get(&param), c->ret ? 77 : c->val);
}

static struct kunit_case param_test_cases[] = {
	KUNIT_CASE_PARAM(param_test_set, param_test_set_gen_params),
	{},
};

static struct kunit_suite param_test_suite = {
	.name = "cmx-param",
	.test_cases = param_test_cases,
};

kunit_test_suite(param_test_suite);
