// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * compare [-l] [-t] [-j JOBS] [-p PORT] [PATTERN...]
 *
 * Runs the cases whose name matches one of the shell patterns (default: all) and prints the trace.
 * -l lists their names, -t prints on stderr how many milliseconds each case took, -j runs JOBS
 * cases at a time (default: 1), -p is the first port in use (default: 10000). Each case runs in a
 * child process and writes to a file of its own, so a crash or hang of a case does not affect the
 * next one, and the order of the trace is always the same.
 */
#include "util.h"
#include <fnmatch.h>
#include <signal.h>
#include <sys/wait.h>
#include "../lib/now.h"
#include "../lib/slow.h"

#define CASE_SECONDS	20

static const struct cmp_case *const areas[] = {
	option_cases, bind_cases, resolve_cases, mcast_cases, ece_cases, connect_cases,
	reject_cases, ud_cases, event_cases, owner_cases, misc_cases,
};

/**
 * struct job - a case to run
 * @c: the case
 * @port: first of its ports
 * @pid: process ID of its child while it runs
 * @out: its trace
 * @start: time of its start in milliseconds
 * @taken: its duration in milliseconds
 * @end: reason why there is no @status, or NULL
 * @status: exit status of its child
 * @done: the case has ended, or was given up
 */
struct job {
	const struct cmp_case *c;
	int port;
	pid_t pid;
	FILE *out;
	long start, taken;
	const char *end;
	int status;
	int done;
};

static struct job jobs[1000];
static int num_jobs;

static int case_is_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!fnmatch(argv[i], name, 0))
			return 1;
	return !argc;
}

static void jobs_select(int port, int argc, char **argv)
{
	const struct cmp_case *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(areas); i++) {
		for (c = areas[i]; c->name; c++) {
			if (case_is_wanted(c->name, argc, argv) &&
			    num_jobs < (int)ARRAY_SIZE(jobs)) {
				jobs[num_jobs].c = c;
				jobs[num_jobs++].port = port;
			}
			port += PORTS;
		}
	}
}

static void job_start(struct job *job)
{
	job->out = tmpfile();
	job->start = now_ms();
	job->pid = job->out ? fork() : -1;
	if (job->pid < 0) {
		job->done = 1;
		job->end = "not run";
	}
	if (job->pid)
		return;
	dup2(fileno(job->out), STDOUT_FILENO);
	case_port = job->port;
	/* ends a case that sleeps interruptibly */
	alarm(slow_time(CASE_SECONDS));
	job->c->run(job->c->arg);
	exit(0);
}

static void job_end(struct job *job, int status)
{
	job->done = 1;
	job->taken = now_ms() - job->start;
	job->status = status;
}

/* A child that is still blocked in the kernel after its alarm is given up. */
static void job_check(struct job *job)
{
	int status;

	if (waitpid(job->pid, &status, WNOHANG) == job->pid) {
		job_end(job, status);
	} else if (now_ms() - job->start > (slow_time(CASE_SECONDS) + 2) * 1000) {
		job_end(job, 0);
		job->end = "stuck in the kernel";
	}
}

static void job_print(struct job *job, int times)
{
	char text[4096];
	off_t pos = 0;
	ssize_t len;

	printf("%s\n", job->c->name);
	if (job->out) {
		while ((len = pread(fileno(job->out), text, sizeof(text), pos)) > 0) {
			fwrite(text, 1, len, stdout);
			pos += len;
		}
		fclose(job->out);
	}
	if (job->end)
		trace_print("%s", job->end);
	else if (WIFSIGNALED(job->status))
		trace_print("killed by signal %d", WTERMSIG(job->status));
	else if (WEXITSTATUS(job->status))
		trace_print("exit status %d", WEXITSTATUS(job->status));
	fflush(stdout);
	if (times)
		fprintf(stderr, "%6ld %s\n", job->taken, job->c->name);
}

/*
 * Cases that join groups run one at a time: if a QP leaves a group of rxe while another QP is being
 * attached, rxe loses the group and never frees the other QP.
 */
static int job_joins(const struct job *job)
{
	return !strncmp(job->c->name, "mcast.", 6);
}

static void jobs_run(int parallel, int times)
{
	int printed = 0, started = 0, i, running, joined;

	while (printed < num_jobs) {
		for (running = 0, joined = 0, i = printed; i < started; i++) {
			if (!jobs[i].done)
				job_check(&jobs[i]);
			running += !jobs[i].done;
			joined += !jobs[i].done && job_joins(&jobs[i]);
		}
		while (printed < started && jobs[printed].done)
			job_print(&jobs[printed++], times);
		if (started < num_jobs && running < parallel &&
		    !(joined && job_joins(&jobs[started])))
			job_start(&jobs[started++]);
		else
			usleep(2000);
	}
}

int main(int argc, char **argv)
{
	int list = 0, times = 0, parallel = 1, port = 10000, opt, i;

	while ((opt = getopt(argc, argv, "ltj:p:")) != -1) {
		switch (opt) {
		case 'l':
			list = 1;
			break;
		case 't':
			times = 1;
			break;
		case 'j':
			parallel = atoi(optarg);
			break;
		case 'p':
			port = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	jobs_select(port, argc - optind, argv + optind);
	for (i = 0; list && i < num_jobs; i++)
		puts(jobs[i].c->name);
	if (!list)
		jobs_run(parallel > 0 ? parallel : 1, times);
	return 0;
}
