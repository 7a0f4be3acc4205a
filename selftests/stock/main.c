// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * compare [-l] [-t] [-j JOBS] [-p PORT] [PATTERN...]
 *
 * Run the cases whose name matches one of the shell patterns (default: all) and print the trace.
 * -l lists their names, -t tells on stderr how many milliseconds each took, -j runs so many at the
 * same time (default: 1), -p is the first port in use (default: 10000). Every case runs in a child
 * and writes to a file of its own, so that neither a crash nor a hang of one hides the next, and
 * the order of the trace is always the same.
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
 * struct job - a case that is to be run
 * @c: the case
 * @port: first one of its ports
 * @pid: of its child while it runs
 * @out: what it printed
 * @start: when it began, in milliseconds
 * @taken: milliseconds that it took
 * @end: why there is no @status, or NULL
 * @status: of its child
 * @done: it ended, or was given up
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

static int wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!fnmatch(argv[i], name, 0))
			return 1;
	return !argc;
}

static void choose(int port, int argc, char **argv)
{
	const struct cmp_case *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(areas); i++) {
		for (c = areas[i]; c->name; c++) {
			if (wanted(c->name, argc, argv) && num_jobs < (int)ARRAY_SIZE(jobs)) {
				jobs[num_jobs].c = c;
				jobs[num_jobs++].port = port;
			}
			port += PORTS;
		}
	}
}

static void start(struct job *job)
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
	/* for what sleeps interruptibly */
	alarm(slow_time(CASE_SECONDS));
	job->c->run(job->c->arg);
	exit(0);
}

static void ended(struct job *job, int status)
{
	job->done = 1;
	job->taken = now_ms() - job->start;
	job->status = status;
}

/* A child that sits in the kernel past its alarm is given up. */
static void check(struct job *job)
{
	int status;

	if (waitpid(job->pid, &status, WNOHANG) == job->pid) {
		ended(job, status);
	} else if (now_ms() - job->start > (slow_time(CASE_SECONDS) + 2) * 1000) {
		ended(job, 0);
		job->end = "stuck in the kernel";
	}
}

static void print(struct job *job, int times)
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
		say("%s", job->end);
	else if (WIFSIGNALED(job->status))
		say("killed by signal %d", WTERMSIG(job->status));
	else if (WEXITSTATUS(job->status))
		say("exit status %d", WEXITSTATUS(job->status));
	fflush(stdout);
	if (times)
		fprintf(stderr, "%6ld %s\n", job->taken, job->c->name);
}

/*
 * These are run one by one: rxe loses a group that one QP leaves while another is
 * being attached, and then never frees the latter.
 */
static int joins(const struct job *job)
{
	return !strncmp(job->c->name, "mcast.", 6);
}

static void run(int parallel, int times)
{
	int printed = 0, started = 0, i, running, joined;

	while (printed < num_jobs) {
		for (running = 0, joined = 0, i = printed; i < started; i++) {
			if (!jobs[i].done)
				check(&jobs[i]);
			running += !jobs[i].done;
			joined += !jobs[i].done && joins(&jobs[i]);
		}
		while (printed < started && jobs[printed].done)
			print(&jobs[printed++], times);
		if (started < num_jobs && running < parallel && !(joined && joins(&jobs[started])))
			start(&jobs[started++]);
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
	choose(port, argc - optind, argv + optind);
	for (i = 0; list && i < num_jobs; i++)
		puts(jobs[i].c->name);
	if (!list)
		run(parallel > 0 ? parallel : 1, times);
	return 0;
}
