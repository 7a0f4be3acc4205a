// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../base/attr.h"

/* Pretend that there have been several ABI versions. */
#undef CMX_ABI_VERSION
#undef CMX_ABI_VERSION_MIN
#define CMX_ABI_VERSION 5
#define CMX_ABI_VERSION_MIN 3
#include "../base/attr.c"

#define M UVERBS_ATTR_F_MANDATORY

static const struct cmx_attr_spec attr_test_specs[] = {
	CMX_INPUT_U32(ID),
	CMX_INPUT(DST_ADDR, 16, 128),
	CMX_INPUT_OPT(PRIVATE_DATA, 0, 255),
	CMX_INPUT_OPT(REASON, 1, 1),
	CMX_OUTPUT_U32(COUNT),
	{},
};

struct attr_test_header_case {
	const char *name;
	u16 length;
	u16 num_attrs;
	int want;
	u64 reserved1;
	u32 reserved2;
	u32 abi_version;
};

static const struct attr_test_header_case attr_test_headers[] = {
	{ "none", 24, 0, 0 },
	{ "one", 40, 1, 0 },
	{ "most", 24 + 16 * CMX_MAX_ATTRS, CMX_MAX_ATTRS, 0 },
	{ "too many", 40 + 16 * CMX_MAX_ATTRS, CMX_MAX_ATTRS + 1, -EINVAL },
	{ "length wraps", 24, 4096, -EINVAL },
	{ "short", 39, 1, -EINVAL },
	{ "long", 41, 1, -EINVAL },
	{ "empty", 0, 0, -EINVAL },
	{ "reserved1", 24, 0, -EINVAL, .reserved1 = 1ULL << 40 },
	{ "reserved2", 24, 0, -EINVAL, .reserved2 = 1 },
	{ "no version", 24, 0, 0, .abi_version = 0 },
	{ "before the oldest version", 24, 0, -EPROTO, .abi_version = 2 },
	{ "oldest version", 24, 0, 0, .abi_version = 3 },
	{ "version in between", 24, 0, 0, .abi_version = 4 },
	{ "newest version", 24, 0, 0, .abi_version = 5 },
	{ "after the newest version", 24, 0, -EPROTO, .abi_version = 6 },
	{ "no version at all", 24, 0, -EPROTO, .abi_version = U32_MAX },
};

struct attr_test_list_case {
	const char *name;
	struct ib_uverbs_attr attrs[6];
	int want;
};

#define ID { .attr_id = CMX_ATTR_ID, .len = 4, .flags = M, .data = 1 }
#define ADDR { .attr_id = CMX_ATTR_DST_ADDR, .len = 16, .flags = M }
#define COUNT { .attr_id = CMX_ATTR_COUNT, .len = 4 }

static const struct attr_test_list_case attr_test_lists[] = {
	{ "wanted", { ID, ADDR, COUNT }, 0 },
	{ "any order", { COUNT, ADDR, ID }, 0 },
	{ "nothing", { }, -EINVAL },
	{ "input missing", { ID, COUNT }, -EINVAL },
	{ "output missing", { ID, ADDR }, -EINVAL },
	{ "twice", { ID, ADDR, COUNT, ID }, -EINVAL },
	{ "output twice", { ID, ADDR, COUNT, COUNT }, -EINVAL },
	{ "optional",
	  { ID, ADDR, COUNT, { .attr_id = CMX_ATTR_REASON, .len = 1, .flags = M } }, 0 },
	{ "optional twice",
	  { ID, ADDR, COUNT, { .attr_id = CMX_ATTR_REASON, .len = 1 },
	    { .attr_id = CMX_ATTR_REASON, .len = 1 } }, -EINVAL },
	{ "no bytes", { ID, ADDR, COUNT, { .attr_id = CMX_ATTR_PRIVATE_DATA } }, 0 },
	{ "unknown", { ID, ADDR, COUNT, { .attr_id = CMX_ATTR_USER_DATA, .len = 8 } }, 0 },
	{ "unknown twice", { ID, ADDR, COUNT, { .attr_id = 0xffff }, { .attr_id = 0xffff } }, 0 },
	{ "unknown mandatory",
	  { ID, ADDR, COUNT, { .attr_id = CMX_ATTR_USER_DATA, .len = 8, .flags = M } },
	  -EPROTONOSUPPORT },
	{ "unknown in the place of one",
	  { ID, { .attr_id = 0xffff }, { .attr_id = CMX_ATTR_PRIVATE_DATA },
	    { .attr_id = CMX_ATTR_REASON, .len = 1 }, COUNT }, -EINVAL },
	{ "all", { ID, ADDR, { .attr_id = CMX_ATTR_PRIVATE_DATA },
		   { .attr_id = CMX_ATTR_REASON, .len = 1 }, COUNT }, 0 },
	{ "unknown malformed", { ID, ADDR, COUNT, { .attr_id = 0xffff, .flags = 4 } }, -EINVAL },
	{ "short", { { .attr_id = CMX_ATTR_ID, .len = 3 }, ADDR, COUNT }, -EINVAL },
	{ "short pointer", { ID, { .attr_id = CMX_ATTR_DST_ADDR, .len = 15 }, COUNT }, -EINVAL },
	{ "short output", { ID, ADDR, { .attr_id = CMX_ATTR_COUNT, .len = 3 } }, -ENOSPC },
	{ "long output", { ID, ADDR, { .attr_id = CMX_ATTR_COUNT, .len = 0xffff } }, 0 },
	{ "inline surplus 0",
	  { { .attr_id = CMX_ATTR_ID, .len = 8, .data = (__force u64)cpu_to_le64(1) }, ADDR,
	    COUNT }, 0 },
	{ "inline surplus", { { .attr_id = CMX_ATTR_ID, .len = 8, .data = ~0ULL }, ADDR, COUNT },
	  -E2BIG },
	{ "past the length", { { .attr_id = CMX_ATTR_ID, .len = 4, .data = ~0ULL }, ADDR, COUNT },
	  0 },
	{ "surplus by pointer", { { .attr_id = CMX_ATTR_ID, .len = 9, .data = ~0ULL }, ADDR,
				  COUNT }, 0 },
	{ "flag", { ID, ADDR, { .attr_id = CMX_ATTR_COUNT, .len = 4,
				.flags = UVERBS_ATTR_F_VALID_OUTPUT } }, -EINVAL },
	{ "reserved", { ID, ADDR, { .attr_id = CMX_ATTR_COUNT, .len = 4,
				    .attr_data.reserved = 1 } }, -EINVAL },
};

struct attr_test_index_case {
	const char *name;
	enum cmx_attr attr;
	u8 want;
};

/* The list is COUNT, an unknown attribute, ID, ADDR. */
static const struct attr_test_index_case attr_test_indices[] = {
	{ "first", CMX_ATTR_COUNT, 1 },
	{ "after an unknown one", CMX_ATTR_ID, 3 },
	{ "last", CMX_ATTR_DST_ADDR, 4 },
};

static const struct ib_uverbs_attr attr_test_index_list[] = {
	COUNT, { .attr_id = 0xffff }, ID, ADDR
};

static void attr_test_header_desc(const struct attr_test_header_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "header: %s", c->name);
}

static void attr_test_list_desc(const struct attr_test_list_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "attributes: %s", c->name);
}

static void attr_test_index_desc(const struct attr_test_index_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "position: %s", c->name);
}

KUNIT_ARRAY_PARAM(attr_test_header, attr_test_headers, attr_test_header_desc);
KUNIT_ARRAY_PARAM(attr_test_list, attr_test_lists, attr_test_list_desc);
KUNIT_ARRAY_PARAM(attr_test_index, attr_test_indices, attr_test_index_desc);

static void attr_test_header(struct kunit *test)
{
	const struct attr_test_header_case *c = test->param_value;
	const struct cmx_ioctl_hdr hdr = {
		.length = c->length,
		.num_attrs = c->num_attrs,
		.reserved1 = c->reserved1,
		.abi_version = c->abi_version,
		.reserved2 = c->reserved2,
	};

	KUNIT_EXPECT_EQ(test, cmx_attr_check_hdr(&hdr), c->want);
}

static bool attr_test_is_given(const struct ib_uverbs_attr *a)
{
	return memchr_inv(a, 0, sizeof(*a));
}

static void attr_test_list(struct kunit *test)
{
	const struct attr_test_list_case *c = test->param_value;
	struct cmx_attr_index index;
	unsigned int n = 0;

	while (n < ARRAY_SIZE(c->attrs) && attr_test_is_given(&c->attrs[n]))
		n++;
	KUNIT_EXPECT_EQ(test, cmx_attr_check(attr_test_specs, c->attrs, n, &index), c->want);
}

static void attr_test_index(struct kunit *test)
{
	const struct attr_test_index_case *c = test->param_value;
	struct cmx_attr_index index;

	KUNIT_ASSERT_EQ(test, cmx_attr_check(attr_test_specs, attr_test_index_list,
					     ARRAY_SIZE(attr_test_index_list), &index), 0);
	KUNIT_EXPECT_EQ(test, index.at[c->attr], c->want);
}

/* All attributes that were not given have the position 0. */
static void attr_test_index_of_others(struct kunit *test)
{
	struct cmx_attr_index index;
	int i;

	KUNIT_ASSERT_EQ(test, cmx_attr_check(attr_test_specs, attr_test_index_list,
					     ARRAY_SIZE(attr_test_index_list), &index), 0);
	for (i = 0; i < ARRAY_SIZE(attr_test_indices); i++)
		index.at[attr_test_indices[i].attr] = 0;
	for (i = 0; i < CMX_ATTR_NUM; i++)
		KUNIT_EXPECT_EQ(test, index.at[i], 0);
}

static struct kunit_case attr_test_cases[] = {
	KUNIT_CASE_PARAM(attr_test_header, attr_test_header_gen_params),
	KUNIT_CASE_PARAM(attr_test_list, attr_test_list_gen_params),
	KUNIT_CASE_PARAM(attr_test_index, attr_test_index_gen_params),
	KUNIT_CASE(attr_test_index_of_others),
	{}
};

static struct kunit_suite attr_test_suite = {
	.name = "cmx-attr",
	.test_cases = attr_test_cases,
};

kunit_test_suite(attr_test_suite);
