// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <rdma/cmx_ioctl.h>
#include "../core/option_value.c"

/**
 * struct option_value_test_row - a row of option_rows.h
 * @label: name of the option
 * @bit: its enum cmx_opt_bit
 * @level: level and name are its number in the ABI
 * @name: see @level
 * @min: range and default
 * @max: see @min
 * @def: see @min
 */
struct option_value_test_row {
	const char *label;
	enum cmx_opt_bit bit;
	u32 level;
	u32 name;
	u32 min, max, def;
};

static const struct option_value_test_row option_value_test_rows[] = {
#define CMX_OPTION_VALUE(level, name, label, field, least, most, def, ...)	\
	{ #label, CMX_OPT_##label, level, name, least, most, def },
#define CMX_OPTION_RECORDS(level, name, label, ...) { #label, CMX_OPT_##label, level, name },
#include "option_rows.h"
};

static_assert(ARRAY_SIZE(option_value_test_rows) == CMX_OPT_NUM);

/* What the id of a request takes over from its listener */
static const bool option_value_test_inherited[CMX_OPT_NUM] = {
	[CMX_OPT_TOS] = true,
	[CMX_OPT_REUSEADDR] = true,
	[CMX_OPT_AFONLY] = true,
	[CMX_OPT_ACK_TIMEOUT] = true,
	[CMX_OPT_MIN_RNR_TIMER] = true,
	[CMX_OPT_CONNECT_DEADLINE_MS] = true,
	[CMX_OPT_ECE_POLICY] = true,
	[CMX_OPT_MCAST_REJOIN] = true,
	[CMX_OPT_MCAST_LOOPBACK] = true,
	[CMX_OPT_BIND_DEVICE] = true,
};

static void option_value_test_row_desc(const struct option_value_test_row *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "row of option: %s", r->label);
}

static void option_value_test_store_desc(const struct option_value_test_row *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "value of option: %s", r->label);
}

static void option_value_test_inherit_desc(const struct option_value_test_row *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "option of a listener: %s is %s", r->label,
		 option_value_test_inherited[r->bit] ? "inherited" : "not inherited");
}

KUNIT_ARRAY_PARAM(option_value_test_row, option_value_test_rows, option_value_test_row_desc);
KUNIT_ARRAY_PARAM(option_value_test_store, option_value_test_rows, option_value_test_store_desc);
KUNIT_ARRAY_PARAM(option_value_test_inherit, option_value_test_rows,
		  option_value_test_inherit_desc);

/* A default of 0 may be out of range: another value is in effect then. */
static void option_value_test_row(struct kunit *test)
{
	const struct option_value_test_row *r = test->param_value, *other;

	KUNIT_EXPECT_EQ(test, r - option_value_test_rows, r->bit);
	for (other = option_value_test_rows; other != r; other++)
		KUNIT_EXPECT_FALSE(test, other->level == r->level && other->name == r->name);
	KUNIT_EXPECT_LE(test, r->min, r->max);
	KUNIT_EXPECT_TRUE(test, !r->def || (r->min <= r->def && r->def <= r->max));
	KUNIT_EXPECT_EQ(test, cmx_param_get(&cmx_opt_defaults[r->bit]), r->def);
	KUNIT_EXPECT_EQ(test, cmx_opt_defaults[r->bit].min, r->min);
	KUNIT_EXPECT_EQ(test, cmx_opt_defaults[r->bit].max, r->max);
}

/* The largest value has room, and changes no other one. An option of records has no value. */
static void option_value_test_store(struct kunit *test)
{
	const struct option_value_test_row *r = test->param_value;
	struct cmx_opts opt = {};
	enum cmx_opt_bit bit;

	if (r->max)
		cmx_opts_store(&opt, r->bit, r->max);
	for (bit = 0; bit < CMX_OPT_NUM; bit++)
		KUNIT_EXPECT_EQ(test, cmx_opts_value(&opt, bit), bit == r->bit ? r->max : 0);
	KUNIT_EXPECT_EQ(test, opt.set | opt.ruled | opt.forced, 0);
}

static struct cmx_id_private *option_value_test_id(struct kunit *test)
{
	struct cmx_id_private *id_priv = kunit_kzalloc(test, sizeof(*id_priv), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, id_priv);
	mutex_init(&id_priv->lock);
	return id_priv;
}

static void option_value_test_inherit(struct kunit *test)
{
	const struct option_value_test_row *r = test->param_value;
	struct cmx_id_private *listener = option_value_test_id(test);
	struct cmx_id_private *child = option_value_test_id(test);

	listener->opt.set = BIT(r->bit);
	listener->opt.tos = 77;
	mutex_lock(&listener->lock);
	cmx_opt_inherit(child, listener);
	mutex_unlock(&listener->lock);
	KUNIT_EXPECT_EQ(test, cmx_opt_is_set(child, r->bit), option_value_test_inherited[r->bit]);
	KUNIT_EXPECT_TRUE(test, cmx_opt_is_set(listener, r->bit));
	KUNIT_EXPECT_EQ(test, child->opt.tos, 77);
}

/* Rules are looked up again for the new id, which has another peer. */
static void option_value_test_inherit_rules(struct kunit *test)
{
	struct cmx_id_private *listener = option_value_test_id(test);
	struct cmx_id_private *child = option_value_test_id(test);

	listener->opt.set = BIT(CMX_OPT_TOS) | BIT(CMX_OPT_ACK_TIMEOUT);
	listener->opt.ruled = BIT(CMX_OPT_TOS);
	listener->opt.forced = BIT(CMX_OPT_TOS);
	mutex_lock(&listener->lock);
	cmx_opt_inherit(child, listener);
	mutex_unlock(&listener->lock);
	KUNIT_EXPECT_EQ(test, child->opt.set, BIT(CMX_OPT_ACK_TIMEOUT));
	KUNIT_EXPECT_EQ(test, child->opt.ruled, 0);
	KUNIT_EXPECT_EQ(test, child->opt.forced, 0);
}

static void option_value_test_tos(struct kunit *test)
{
	struct cmx_id_private *id_priv = option_value_test_id(test);

	id_priv->opt.tos = 8;
	cmx_opt_defaults[CMX_OPT_TOS].val = 4;
	KUNIT_EXPECT_EQ(test, cmx_opt_get(id_priv, CMX_OPT_TOS), 4);
	id_priv->opt.set = BIT(CMX_OPT_TOS);
	KUNIT_EXPECT_EQ(test, cmx_opt_get(id_priv, CMX_OPT_TOS), 8);
	cmx_opt_defaults[CMX_OPT_TOS].val = 0;
}

static void option_value_test_cm_timeouts(struct kunit *test)
{
	struct cmx_id_private *id_priv = option_value_test_id(test);

	id_priv->opt.cm_retries = 0;
	id_priv->opt.cm_response_timeout = 5;
	KUNIT_EXPECT_EQ(test, cmx_opt_get(id_priv, CMX_OPT_CM_RETRIES), 15);
	KUNIT_EXPECT_EQ(test, cmx_opt_get(id_priv, CMX_OPT_CM_RESPONSE_TIMEOUT), 20);
	id_priv->opt.set = BIT(CMX_OPT_CM_RETRIES) | BIT(CMX_OPT_CM_RESPONSE_TIMEOUT);
	KUNIT_EXPECT_EQ(test, cmx_opt_get(id_priv, CMX_OPT_CM_RETRIES), 0);
	KUNIT_EXPECT_EQ(test, cmx_opt_get(id_priv, CMX_OPT_CM_RESPONSE_TIMEOUT), 5);
}

/* An accept always has a deadline: here 16 times 4.096 us * 2^22, as ib_cm rounds it. */
static void option_value_test_connect_deadline(struct kunit *test)
{
	struct cmx_id_private *id_priv = option_value_test_id(test);

	KUNIT_EXPECT_EQ(test, cmx_opt_connect_deadline_ms(id_priv), 0);
	id_priv->passive = 1;
	KUNIT_EXPECT_EQ(test, cmx_opt_connect_deadline_ms(id_priv), 16 * 16384);
	id_priv->opt.set = BIT(CMX_OPT_CONNECT_DEADLINE_MS);
	KUNIT_EXPECT_EQ(test, cmx_opt_connect_deadline_ms(id_priv), 16 * 16384);
	id_priv->opt.connect_deadline_ms = 500;
	KUNIT_EXPECT_EQ(test, cmx_opt_connect_deadline_ms(id_priv), 500);
	id_priv->passive = 0;
	KUNIT_EXPECT_EQ(test, cmx_opt_connect_deadline_ms(id_priv), 500);
}

struct option_value_test_ms_case {
	u8 n;
	u32 ms;
};

static const struct option_value_test_ms_case option_value_test_mses[] = {
	{ 0, 1 }, { 8, 1 }, { 9, 2 }, { 20, 4096 }, { 31, 8388608 },
};

static void option_value_test_ms_desc(const struct option_value_test_ms_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "timeout of 4.096 us * 2^%u in ms", c->n);
}

KUNIT_ARRAY_PARAM(option_value_test_ms, option_value_test_mses, option_value_test_ms_desc);

static void option_value_test_ms(struct kunit *test)
{
	const struct option_value_test_ms_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, cmx_opt_timeout_ms(c->n), c->ms);
}

/* The cases run with all capabilities, as a ULP does. */
static void option_value_test_lifetime(struct kunit *test)
{
	struct cmx_id_private *id_priv = option_value_test_id(test);

	KUNIT_EXPECT_EQ(test, cmx_opt_lifetime_max(id_priv), CMX_LIFETIME_MAX);
	id_priv->user = 1;
	KUNIT_EXPECT_EQ(test, cmx_opt_lifetime_max(id_priv), CMX_LIFETIME_MAX);
}

static struct kunit_case option_value_test_cases[] = {
	KUNIT_CASE_PARAM(option_value_test_row, option_value_test_row_gen_params),
	KUNIT_CASE_PARAM(option_value_test_store, option_value_test_store_gen_params),
	KUNIT_CASE_PARAM(option_value_test_inherit, option_value_test_inherit_gen_params),
	KUNIT_CASE(option_value_test_inherit_rules),
	KUNIT_CASE(option_value_test_tos),
	KUNIT_CASE(option_value_test_cm_timeouts),
	KUNIT_CASE(option_value_test_connect_deadline),
	KUNIT_CASE_PARAM(option_value_test_ms, option_value_test_ms_gen_params),
	KUNIT_CASE(option_value_test_lifetime),
	{},
};

static struct kunit_suite option_value_test_suite = {
	.name = "cmx-option-value",
	.test_cases = option_value_test_cases,
};

kunit_test_suite(option_value_test_suite);
