// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * compare [-l] [-j JOBS] [PATTERN...]: the cases, each of which prints its trace before its result.
 * For the arguments see ../lib/tap.h. $COMPARE_PORT is the first port in use (default: 10000).
 */
#include "util.h"

#define CASE_SECONDS	20
#define MAX_CASES	1000

static const struct cmp_case *const areas[] = {
	option_cases, bind_cases, resolve_cases, mcast_cases, ece_cases, connect_cases,
	reject_cases, ud_cases, event_cases, owner_cases, misc_cases,
};

/* the same cases in the form of the runner; an empty row ends the table */
static struct test tests[MAX_CASES + 1];
static const struct cmp_case *rows[MAX_CASES];

static void cases_collect(void)
{
	const struct cmp_case *c;
	int num = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(areas); i++) {
		for (c = areas[i]; c->name; c++) {
			if (num == MAX_CASES) {
				fprintf(stderr, "too many cases\n");
				exit(2);
			}
			rows[num] = c;
			tests[num++].name = c->name;
		}
	}
}

static int case_run(const struct test *test)
{
	const char *first = getenv("COMPARE_PORT");
	int number = test - tests, port = first ? atoi(first) : 10000;

	case_port = port + number * PORTS;
	event_wait_ms = 5000;
	rows[number]->run(rows[number]->arg);
	return 0;
}

/*
 * Cases that join groups run one at a time: if a QP leaves a group of rxe while another QP is being
 * attached, rxe loses the group and never frees the other QP.
 */
static bool case_joins(const struct test *test)
{
	return !strncmp(test->name, "mcast.", 6);
}

int main(int argc, char **argv)
{
	static const struct test *const groups[] = { tests };
	static const struct test_program program = {
		.groups = groups,
		.num_groups = ARRAY_SIZE(groups),
		.seconds = CASE_SECONDS,
		.run = case_run,
		.alone = case_joins,
	};

	cases_collect();
	return tap_program_run(&program, argc, argv);
}
