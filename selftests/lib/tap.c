// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kselftest.h>
#include "now.h"
#include "slow.h"
#include "tap.h"

#define REASON_LEN 256

/**
 * struct tap_job - a case to run
 * @test: the case
 * @pid: process ID of its child while it runs
 * @out: its output; NULL: the output was printed directly
 * @skip_reason: why the case was skipped; the child shares this memory
 * @start: time of its start in milliseconds
 * @taken: its duration in milliseconds
 * @end: reason why there is no @status, or NULL
 * @status: exit status of its child
 * @done: the case has ended, or was given up
 */
struct tap_job {
	const struct test *test;
	pid_t pid;
	FILE *out;
	char *skip_reason;
	long start, taken;
	const char *end;
	int status;
	bool done;
};

static const struct test_program *program;
static struct tap_job *jobs;
static int num_jobs;
static int parallel = 1;

/* of the case that runs in this process */
static char *skip_reason;
static bool check_failed;

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

bool tap_check(bool cond, bool fatal, const char *text, const char *file, int line,
	       const char *fmt, ...)
{
	int err = errno;
	va_list args;

	if (cond)
		return true;
	check_failed = true;
	printf("# %s:%d: does not hold: %s", file, line, text);
	va_start(args, fmt);
	/* the macros put a space before the format */
	if (fmt[1])
		vprintf(fmt, args);
	va_end(args);
	printf(" (errno %d, %s)\n", err, strerror(err));
	fflush(stdout);
	if (fatal)
		exit(KSFT_FAIL);
	return false;
}

bool tap_case_failed(void)
{
	return check_failed;
}

static bool tap_name_match(const char *name, int num, char **patterns)
{
	int i;

	for (i = 0; i < num; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return !num;
}

/* Makes a job of each case that matches a pattern. Returns false if there is no memory. */
static bool tap_jobs_select(size_t num_groups, int num, char **patterns)
{
	const struct test *test;
	void *more;
	size_t i;

	for (i = 0; i < num_groups; i++) {
		for (test = program->groups[i]; test->name; test++) {
			if (!tap_name_match(test->name, num, patterns))
				continue;
			more = realloc(jobs, (num_jobs + 1) * sizeof(*jobs));
			if (!more)
				return false;
			jobs = more;
			jobs[num_jobs++] = (struct tap_job){ .test = test };
		}
	}
	return true;
}

/* Prepares for children: memory that they share, and a signal that says that one has ended. */
static bool tap_jobs_init(sigset_t *child_ended)
{
	char *reasons = mmap(NULL, (size_t)num_jobs * REASON_LEN, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	if (reasons == MAP_FAILED)
		return false;
	for (i = 0; i < num_jobs; i++)
		jobs[i].skip_reason = reasons + (size_t)i * REASON_LEN;
	sigemptyset(child_ended);
	sigaddset(child_ended, SIGCHLD);
	return !sigprocmask(SIG_BLOCK, child_ended, NULL);
}

static void tap_job_start(struct tap_job *job, const sigset_t *child_ended)
{
	int status;

	fflush(stdout);
	job->start = now_ms();
	/* cases that run one at a time print directly: a crash of the machine loses nothing */
	if (parallel > 1)
		job->out = tmpfile();
	job->pid = parallel == 1 || job->out ? fork() : -1;
	if (job->pid < 0) {
		job->done = true;
		job->end = "not run";
	}
	if (job->pid)
		return;
	sigprocmask(SIG_UNBLOCK, child_ended, NULL);
	if (job->out)
		dup2(fileno(job->out), STDOUT_FILENO);
	skip_reason = job->skip_reason;
	/* ends a case that sleeps interruptibly */
	alarm(slow_time(program->seconds));
	status = program->run(job->test);
	exit(status ? status : check_failed);
}

static void tap_job_end(struct tap_job *job, int status)
{
	job->done = true;
	job->taken = now_ms() - job->start;
	job->status = status;
}

/* A child that is still blocked in the kernel after its alarm is given up. */
static void tap_job_check(struct tap_job *job)
{
	int status;

	if (waitpid(job->pid, &status, WNOHANG) == job->pid) {
		tap_job_end(job, status);
	} else if (now_ms() - job->start > (slow_time(program->seconds) + 2) * 1000L) {
		tap_job_end(job, 0);
		job->end = "stuck in the kernel";
	}
}

static void tap_output_print(FILE *out)
{
	char text[4096];
	off_t pos = 0;
	ssize_t len;

	while ((len = pread(fileno(out), text, sizeof(text), pos)) > 0) {
		fwrite(text, 1, len, stdout);
		pos += len;
	}
	fclose(out);
}

static void tap_job_print(struct tap_job *job)
{
	const char *name = job->test->name;
	bool passed = !job->end && WIFEXITED(job->status) && !WEXITSTATUS(job->status);

	if (job->out)
		tap_output_print(job->out);
	/* the time between two results says nothing about cases that run beside others */
	if (parallel > 1)
		ksft_print_msg("%ld ms %s\n", job->taken, name);
	if (job->end) {
		ksft_print_msg("%s\n", job->end);
	} else if (WIFSIGNALED(job->status)) {
		ksft_print_msg("killed by signal %d\n", WTERMSIG(job->status));
	} else if (WEXITSTATUS(job->status) == KSFT_SKIP) {
		ksft_test_result_code(KSFT_SKIP, name, "%s", job->skip_reason);
		return;
	} else if (WEXITSTATUS(job->status) > KSFT_FAIL) {
		ksft_print_msg("exit status %d\n", WEXITSTATUS(job->status));
	}
	ksft_test_result(passed, "%s\n", name);
}

static bool tap_job_is_alone(const struct tap_job *job)
{
	return program->alone && program->alone(job->test);
}

/* Runs up to @parallel cases at a time, and prints the results in the order of the tables. */
static void tap_jobs_run(const sigset_t *child_ended)
{
	static const struct timespec second = { .tv_sec = 1 };
	int printed = 0, started = 0, i, running, alone;

	while (printed < num_jobs) {
		for (running = 0, alone = 0, i = printed; i < started; i++) {
			if (!jobs[i].done)
				tap_job_check(&jobs[i]);
			running += !jobs[i].done;
			alone += !jobs[i].done && tap_job_is_alone(&jobs[i]);
		}
		while (printed < started && jobs[printed].done)
			tap_job_print(&jobs[printed++]);
		if (started < num_jobs && running < parallel &&
		    !(alone && tap_job_is_alone(&jobs[started])))
			tap_job_start(&jobs[started++], child_ended);
		else if (running)
			sigtimedwait(child_ended, NULL, &second);
	}
}

void tap_totals_print(void)
{
	if (ksft_test_num())
		printf("%u passed, %u failed\n", ksft_get_pass_cnt(), ksft_get_fail_cnt());
}

int tap_program_run(const struct test_program *p, int argc, char **argv)
{
	size_t groups = p->num_groups - p->num_extra;
	sigset_t child_ended;
	bool list = false;
	int opt, i;

	program = p;
	while ((opt = getopt(argc, argv, "lxj:")) != -1) {
		if (opt == '?')
			return 2;
		if (opt == 'l')
			list = true;
		else if (opt == 'x')
			groups = p->num_groups;
		else
			parallel = atoi(optarg) > 1 ? atoi(optarg) : 1;
	}
	if (!tap_jobs_select(groups, argc - optind, argv + optind)) {
		perror("realloc");
		return 2;
	}
	if (!num_jobs)
		fprintf(stderr, "no case matches\n");
	for (i = 0; list && i < num_jobs; i++)
		puts(jobs[i].test->name);
	if (!num_jobs || list)
		return num_jobs ? 0 : 2;

	if (!tap_jobs_init(&child_ended)) {
		perror("mmap");
		return 2;
	}
	ksft_print_header();
	ksft_set_plan(num_jobs);
	tap_jobs_run(&child_ended);
	ksft_print_cnts();
	if (ksft_get_fail_cnt())
		return KSFT_FAIL;
	return ksft_get_xskip_cnt() == num_jobs ? KSFT_SKIP : KSFT_PASS;
}
