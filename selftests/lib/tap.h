/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Runs the cases of a test program, each in a process of its own with a time limit, and prints the
 * results in the Test Anything Protocol, version 13.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>

struct test {
	const char *name;
	void (*run)(void);
};

/**
 * struct test_program - the cases of a test program
 * @groups: tables of cases, each with an empty row at its end
 * @num_groups: number of tables
 * @num_extra: number of tables, at the end of @groups, that are used only with option -x
 * @seconds: time limit of a case on an idle machine
 * @run: runs a case in its own process; returns 0 or KSFT_FAIL. A failed CHECK() also fails the case
 * @alone: tells whether a case must not run beside others for which this is true, or NULL
 */
struct test_program {
	const struct test *const *groups;
	size_t num_groups;
	size_t num_extra;
	int seconds;
	int (*run)(const struct test *test);
	bool (*alone)(const struct test *test);
};

/*
 * PROGRAM [-l] [-x] [-j JOBS] [PATTERN...]
 *
 * Runs the cases whose name matches one of the shell patterns (default: all). -l lists their names.
 * -j runs JOBS cases at a time; the order of the results stays the same, and a line "# MS ms NAME"
 * says how long each took. A crash of a case does not affect the next one, and one that hangs is
 * given up.
 * Returns the exit status of the program: 0, 1 if a case failed, 2 if no case matches, 4 if all
 * cases were skipped.
 */
int tap_program_run(const struct test_program *program, int argc, char **argv);

/* Prints "N passed, N failed" if cases have run, as selftests/check does. */
void tap_totals_print(void);

/* Called by a case: skips it. */
void tap_case_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Called by a case: the condition must hold, else it is printed with errno, and with a format and
 * values if they are given. WANT() then ends the case. CHECK() lets it go on, and it fails at its end.
 */
#define WANT(cond, ...) tap_check(cond, true, #cond, __FILE__, __LINE__, " " __VA_ARGS__)
#define CHECK(cond, ...) tap_check(cond, false, #cond, __FILE__, __LINE__, " " __VA_ARGS__)
/* Returns @cond. */
bool tap_check(bool cond, bool fatal, const char *text, const char *file, int line,
	       const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Tells whether a CHECK() of the case has failed, for a case that ends without returning. */
bool tap_case_failed(void);

/* Called by a case: prints a line that is not a result. */
void tap_note_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
