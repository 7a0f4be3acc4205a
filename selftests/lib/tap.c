// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kselftest.h>
#include "slow.h"
#include "tap.h"

#define REASON_LEN 256

/* reason why a case was skipped; the process of the case shares this memory with the program */
static char *skip_reason;

void tap_case_skip(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(skip_reason, REASON_LEN, fmt, args);
	va_end(args);
	exit(KSFT_SKIP);
}

void tap_note_print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	/* a crash may follow */
	fflush(stdout);
}

static bool tap_name_match(const char *name, int num, char **patterns)
{
	int i;

	for (i = 0; i < num; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return !num;
}

static void tap_test_run(const struct test_program *program, const struct test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(slow_time(program->seconds));
		exit(program->run(test));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		ksft_perror("no process for the case");
		ksft_test_result_fail("%s\n", test->name);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == KSFT_SKIP) {
		ksft_test_result_code(KSFT_SKIP, test->name, "%s", skip_reason);
	} else {
		if (WIFSIGNALED(status))
			ksft_print_msg("killed by signal %d\n", WTERMSIG(status));
		ksft_test_result(!status, "%s\n", test->name);
	}
}

/* Calls @each for each case that matches a pattern. Returns the number of cases. */
static int tap_tests_walk(const struct test_program *program, size_t num_groups, int num,
			  char **patterns,
			  void (*each)(const struct test_program *program, const struct test *test))
{
	const struct test *test;
	int found = 0;
	size_t i;

	for (i = 0; i < num_groups; i++) {
		for (test = program->groups[i]; test->name; test++) {
			if (!tap_name_match(test->name, num, patterns))
				continue;
			found++;
			if (each)
				each(program, test);
		}
	}
	return found;
}

static void tap_test_list(const struct test_program *program, const struct test *test)
{
	(void)program;
	puts(test->name);
}

void tap_totals_print(void)
{
	if (ksft_test_num())
		printf("%u passed, %u failed\n", ksft_get_pass_cnt(), ksft_get_fail_cnt());
}

int tap_program_run(const struct test_program *program, int argc, char **argv)
{
	size_t groups = program->num_groups - program->num_extra;
	bool list = false;
	int opt, found;

	while ((opt = getopt(argc, argv, "lx")) != -1) {
		if (opt == '?')
			return 2;
		if (opt == 'l')
			list = true;
		else
			groups = program->num_groups;
	}
	argc -= optind;
	argv += optind;
	found = tap_tests_walk(program, groups, argc, argv, list ? tap_test_list : NULL);
	if (!found)
		fprintf(stderr, "no case matches\n");
	if (!found || list)
		return found ? 0 : 2;

	skip_reason = mmap(NULL, REASON_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	ksft_print_header();
	ksft_set_plan(found);
	tap_tests_walk(program, groups, argc, argv, tap_test_run);
	ksft_print_cnts();
	if (ksft_get_fail_cnt())
		return KSFT_FAIL;
	return ksft_get_xskip_cnt() == found ? KSFT_SKIP : KSFT_PASS;
}
