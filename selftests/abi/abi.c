// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ABI, called as no library would. Each test runs in a process of its own,
 * with a time limit: abi [PATTERN]
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "abi.h"

#define TEST_SECONDS 120

static bool failed;

bool check(bool cond, const char *text, const char *file, int line, const char *fmt, ...)
{
	int err = errno;
	va_list args;

	if (cond)
		return true;
	failed = true;
	printf("    %s:%d: not so: %s", file, line, text);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(" (errno %d)\n", err);
	return false;
}

static bool run(const struct test *t)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(slow_time(TEST_SECONDS));
		t->run();
		fflush(stdout);
		_exit(failed);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("    ended by signal %d\n", WTERMSIG(status));
	printf("%sok %s\n", status ? "not " : "", t->name);
	return !status;
}

int main(int argc, char **argv)
{
	static const struct test *const suites[] = {
		attr_tests, handle_tests, event_tests, race_tests, grow_tests,
	};
	const char *pattern = argc > 1 ? argv[1] : "*";
	const struct test *t;
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suites); i++)
		for (t = suites[i]; t->name; t++)
			if (!fnmatch(pattern, t->name, 0))
				good &= run(t);
	return good ? 0 : 1;
}
