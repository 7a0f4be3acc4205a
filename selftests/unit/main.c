// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs the KUnit cases that are linked with it, each row of a table as a case of its own:
 *
 *	unit [-l] [PATTERN...]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "../lib/tap.h"
#include "unit.h"

#define MAX_CASES 1024
#define MAX_ALLOCS 64
#define CASE_SECONDS 10

/* of the sanitizers, for which gcc has no header */
size_t __sanitizer_get_current_allocated_bytes(void);
int __lsan_do_recoverable_leak_check(void);
const char *__asan_default_options(void);

static struct kunit_suite *suites;
/* one more: an empty row ends the table */
static struct test tests[MAX_CASES + 1];
static struct unit_call {
	void (*run)(struct kunit *test);
	const void *param;
} calls[MAX_CASES];
static int num_cases;

/* of the case that runs */
static bool failed;
static void *allocs[MAX_ALLOCS];
static int num_allocs;

void unit_suite_add(struct kunit_suite *suite)
{
	struct kunit_suite **last = &suites;

	while (*last)
		last = &(*last)->next;
	*last = suite;
}

void unit_fail(const char *file, int line, const char *expectation, long long left, long long right,
	       int fatal)
{
	tap_note_print("%s:%d: expected %s, but %lld (%#llx) is not %lld (%#llx)", file, line,
		       expectation, left, left, right, right);
	failed = true;
	if (fatal)
		_Exit(1);
}

void unit_skip(const char *reason)
{
	tap_case_skip("%s", reason);
}

void *unit_alloc(unsigned long size)
{
	if (num_allocs == MAX_ALLOCS)
		unit_abort("a case allocates too often");
	return allocs[num_allocs++] = calloc(1, size);
}

static void case_add(const char *suite, const char *name, const struct kunit_case *c, const void *param)
{
	char *full;

	if (num_cases == MAX_CASES)
		unit_abort("too many cases");
	if (asprintf(&full, "%s: %s", suite, name) < 0)
		unit_abort("no memory");
	calls[num_cases] = (struct unit_call){ c->run, param };
	tests[num_cases++].name = full;
}

static void suite_add_cases(const struct kunit_suite *suite)
{
	char desc[KUNIT_PARAM_DESC_SIZE];
	const struct kunit_case *c;
	const void *param;

	for (c = suite->test_cases; c->run; c++) {
		if (!c->generate_params)
			case_add(suite->name, c->name, c, NULL);
		for (param = NULL; c->generate_params && (param = c->generate_params(param, desc));)
			case_add(suite->name, desc, c, param);
	}
}

/* A search for leaks takes 60 ms, and each case has a process. case_run() calls it if there is a reason. */
const char *__asan_default_options(void)
{
	return "leak_check_at_exit=0";
}

static int case_run(const struct test *test)
{
	const struct unit_call *call = &calls[test - tests];
	size_t before = __sanitizer_get_current_allocated_bytes();
	struct kunit kunit = { .param_value = call->param };

	call->run(&kunit);
	while (num_allocs)
		free(allocs[--num_allocs]);
	if (__sanitizer_get_current_allocated_bytes() != before)
		failed |= __lsan_do_recoverable_leak_check();
	return failed;
}

int main(int argc, char **argv)
{
	const struct test *const groups[] = { tests };
	const struct test_program program = {
		.groups = groups, .num_groups = 1, .seconds = CASE_SECONDS, .run = case_run,
	};
	struct kunit_suite *suite;
	int status;

	for (suite = suites; suite; suite = suite->next)
		suite_add_cases(suite);
	status = tap_program_run(&program, argc, argv);
	tap_totals_print();
	return status;
}
