/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of <kunit/test.h> that the cases in kernel/tests use, for a program. It comes before the
 * header of the kernel, whose functions exist only in a kernel with CONFIG_KUNIT.
 */
#ifndef UNIT_KUNIT_TEST_H
#define UNIT_KUNIT_TEST_H

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include "unit.h"

#define KUNIT_CASE(function) { .name = #function, .run = function }
#define KUNIT_CASE_PARAM(function, generator) \
	{ .name = #function, .run = function, .generate_params = generator }

/* Defines NAME_gen_params(), which returns the row after @prev, or NULL after the last one. */
#define KUNIT_ARRAY_PARAM(name, array, get_desc)					\
	static const void *name##_gen_params(const void *prev, char *desc)		\
	{										\
		size_t next = prev ? (typeof(&(array)[0]))prev - (array) + 1 : 0;	\
											\
		if (next == ARRAY_SIZE(array))						\
			return NULL;							\
		get_desc(&(array)[next], desc);						\
		return &(array)[next];							\
	}

#define kunit_test_suite(suite)								\
	static void __attribute__((constructor)) unit_suite_init(void)			\
	{										\
		unit_suite_add(&(suite));						\
	}

#define UNIT_EXPECT(test, fatal, a, op, b)						\
do {											\
	__auto_type left_ = (a);							\
	__auto_type right_ = (b);							\
											\
	(void)(test);									\
	if (!(left_ op right_))								\
		unit_fail(__FILE__, __LINE__, #a " " #op " " #b, left_, right_, fatal);	\
} while (0)

#define KUNIT_EXPECT_EQ(test, a, b) UNIT_EXPECT(test, 0, a, ==, b)
#define KUNIT_EXPECT_NE(test, a, b) UNIT_EXPECT(test, 0, a, !=, b)
#define KUNIT_EXPECT_LE(test, a, b) UNIT_EXPECT(test, 0, a, <=, b)
#define KUNIT_EXPECT_GE(test, a, b) UNIT_EXPECT(test, 0, a, >=, b)
#define KUNIT_EXPECT_TRUE(test, a) UNIT_EXPECT(test, 0, !!(a), ==, true)
#define KUNIT_EXPECT_FALSE(test, a) UNIT_EXPECT(test, 0, !!(a), ==, false)
#define KUNIT_EXPECT_STREQ(test, a, b) UNIT_EXPECT(test, 0, strcmp(a, b), ==, 0)
#define KUNIT_EXPECT_MEMEQ(test, a, b, size) UNIT_EXPECT(test, 0, memcmp(a, b, size), ==, 0)
/* The message may have conversions that only the kernel has. */
#define KUNIT_EXPECT_TRUE_MSG(test, a, ...) KUNIT_EXPECT_TRUE(test, a)
#define KUNIT_EXPECT_FALSE_MSG(test, a, ...) KUNIT_EXPECT_FALSE(test, a)
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...) UNIT_EXPECT(test, 0, a, ==, b)
#define KUNIT_ASSERT_EQ(test, a, b) UNIT_EXPECT(test, 1, a, ==, b)
#define KUNIT_ASSERT_NOT_NULL(test, a) UNIT_EXPECT(test, 1, !!(a), ==, true)

#define kunit_skip(test, reason) unit_skip(reason)
#define kunit_kzalloc(test, size, gfp) unit_alloc(size)

#endif
