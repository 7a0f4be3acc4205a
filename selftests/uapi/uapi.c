// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uapi [-l] [PATTERN...]: tests of the ABI without the library. For the arguments see ../lib/tap.h.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
#include "uapi.h"

#define TEST_SECONDS 120

static int uapi_test_run(const struct test *test)
{
	test->run();
	/* exit at once, because threads may still be in a call */
	fflush(stdout);
	_exit(tap_case_failed());
}

int main(int argc, char **argv)
{
	static const struct test *const groups[] = {
		attr_tests, handle_tests, event_tests, race_tests, stuck_tests, grow_tests,
		list_tests, kill_tests, rule_tests, service_tests, rtnl_tests,
	};
	static const struct test_program program = {
		.groups = groups,
		.num_groups = ARRAY_SIZE(groups),
		.seconds = TEST_SECONDS,
		.run = uapi_test_run,
	};

	inet_pton(AF_INET, getenv("CMX_DEV") && getenv("CMX_ADDR") ? getenv("CMX_ADDR") : "10.77.0.1",
		  &local.sin_addr);
	return tap_program_run(&program, argc, argv);
}
