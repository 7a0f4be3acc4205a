/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the two halves of a unit test program know of each other. One half is compiled with the headers
 * of a kernel: the sources of the module, their KUnit cases and kernel.c. The other half is compiled with
 * those of the C library.
 */
#ifndef UNIT_H
#define UNIT_H

#define KUNIT_PARAM_DESC_SIZE 128

struct kunit {
	const void *param_value;
};

struct kunit_case {
	const char *name;
	void (*run)(struct kunit *test);
	const void *(*generate_params)(const void *prev, char *desc);
};

/**
 * struct kunit_suite - the cases of a source
 * @name: its name
 * @test_cases: the cases, with an empty one at the end
 * @next: next suite of the program
 */
struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

/* main.c */
void unit_suite_add(struct kunit_suite *suite);
/* Reports a wrong expectation. The case fails, and goes on unless @fatal. */
void unit_fail(const char *file, int line, const char *expectation, long long left, long long right,
	       int fatal);
void unit_skip(const char *reason) __attribute__((noreturn));
/* Returns zeroed memory that is freed at the end of the case. */
void *unit_alloc(unsigned long size);

/* host.c */
/* Return 0, 1 if the number is too large, or -1 if @text is none; a newline may follow. */
int unit_parse_number(const char *text, unsigned int base, unsigned long long *val);
/* Returns 1, or 0 if @text is no address of this version of IP. */
int unit_parse_ip(int version, const char *text, void *addr);
void unit_thread_start(void (*run)(void *arg), void *arg);
void unit_sleep_us(unsigned int us);
void unit_abort(const char *reason) __attribute__((noreturn));

#endif
