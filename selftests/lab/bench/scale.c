// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many HCAs on the fabric of selftests/vib do the same thing at the same time. Each HCA has
 * a process in its own network namespace. A command is a line of the input. Its results are lines
 * of the output, which end with "done".
 *
 *	join	each HCA joins its groups
 *	mark	the SM is about to end
 *	back	waits until every membership has been reported again
 *	flow	waits until a datagram to each group has reached all its members
 *	connect	each HCA connects to each other one
 *	stream	the sender of the first group of each HCA begins to send 200 datagrams a second
 *	arrived	waits until all of them have been sent. Each process does this once
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/slow.h"
#include "bench.h"
#include "scale.h"

/* time without progress after which a stage is given up; interval of the progress messages */
#define STUCK_MS	30000
#define PROGRESS_MS	10000

struct scale *scale;

static struct {
	pid_t pid;
	int commands;
} hcas[SCALE_HCAS];
static int done_fd;

static int counts_sum(const int *of)
{
	int n = 0;

	for (int i = 0; i < conf.hcas; i++)
		n += __atomic_load_n(&of[i], __ATOMIC_RELAXED);
	return n;
}

static int datagrams_arrived(void)
{
	int n = 0;

	for (int i = 0; i < conf.hcas; i++)
		for (int g = 0; g < conf.groups; g++)
			n += scale->got[i][g] == scale->epoch;
	return n;
}

static int stage_progress(char stage)
{
	switch (stage) {
	case 'm':
		return counts_sum(scale->members);
	case 'f':
		return datagrams_arrived();
	case 's':
		return counts_sum(scale->sent);
	default:
		return counts_sum(scale->connected) + counts_sum(scale->failed);
	}
}

/* Waits until all HCAs have completed the stage, or none makes progress. */
static void stage_wait_all(char stage)
{
	struct pollfd p = { done_fd, POLLIN };
	int left = conf.hcas, before = -1, n;
	double moved = now();
	char c;

	while (left) {
		if (poll(&p, 1, PROGRESS_MS) == 1) {
			if (read(done_fd, &c, 1) != 1)
				die("an HCA ended");
			left--;
			continue;
		}
		n = stage_progress(stage);
		printf("# %c: %d, of %d HCAs\n", stage, n, left);
		if (n != before)
			moved = now();
		before = n;
		if (now() - moved > slow_time(STUCK_MS) / 1e3)
			return;
	}
}

static void stage_begin(char stage)
{
	for (int i = 0; i < conf.hcas; i++)
		if (write(hcas[i].commands, &stage, 1) != 1)
			die("command");
}

/* Runs a stage on all HCAs at the same time. */
static void stage_run(char stage)
{
	stage_begin(stage);
	stage_wait_all(stage);
}

static void mark_set(void)
{
	memset(scale->members, 0, sizeof(scale->members));
	memset(scale->errors, 0, sizeof(scale->errors));
	scale->mark = now();
}

static void result_print_since(const char *name, double t)
{
	result_print(name, (t - scale->mark) * 1e3);
}

static void stage_run_members(void)
{
	double last = 0;

	stage_run('m');
	for (int i = 0; i < conf.hcas; i++)
		if (scale->last[i] > last)
			last = scale->last[i];
	result_print("members", counts_sum(scale->members));
	result_print_since("members_ms", last);
	result_print("errors", counts_sum(scale->errors));
}

static void stage_run_flow(void)
{
	scale->epoch++;
	stage_run('f');
	result_print_since("flow_ms", now());
	/* not counting the sender of each group */
	result_print("flows", datagrams_arrived() - conf.hcas / conf.members * conf.groups);
}

static void stage_run_connect(void)
{
	pid_t servers[SCALE_HCAS];
	char ip[32], netns[32];
	double t;

	conf.server = ip;
	conf.netns = netns;
	for (int i = 0; i < conf.hcas; i++) {
		snprintf(ip, sizeof(ip), "10.78.0.%d", i + 1);
		snprintf(netns, sizeof(netns), "/run/netns/h%d", i);
		servers[i] = conn_serve(BENCH_PORT);
	}
	memset(scale->connected, 0, sizeof(scale->connected));
	memset(scale->failed, 0, sizeof(scale->failed));
	t = now();
	stage_run('c');
	result_print("connect_ms", (now() - t) * 1e3);
	result_print("connected", counts_sum(scale->connected));
	for (int i = 0; i < conf.hcas; i++)
		conn_stop(servers[i]);
}

static void stream_begin(void)
{
	stage_begin('s');
}

static void stream_wait(void)
{
	stage_wait_all('s');
	result_print("sent", counts_sum(scale->sent));
	result_print("received", counts_sum(scale->streamed));
}

static const struct {
	const char *name;
	void (*run)(void);
} commands[] = {
	{ "join", stage_run_members },
	{ "mark", mark_set },
	{ "back", stage_run_members },
	{ "flow", stage_run_flow },
	{ "connect", stage_run_connect },
	{ "stream", stream_begin },
	{ "arrived", stream_wait },
};

static void command_run(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(name, commands[i].name))
			commands[i].run();
	puts("done");
}

static void hca_start(int i, int done)
{
	int fd[2];

	if (pipe(fd))
		die("pipe");
	hcas[i].commands = fd[1];
	hcas[i].pid = fork();
	if (hcas[i].pid < 0)
		die("fork");
	if (!hcas[i].pid) {
		/* close the other pipes, so that its input ends with the parent */
		for (int n = 0; n <= i; n++)
			close(hcas[n].commands);
		scale_hca(i, fd[0], done);
	}
	close(fd[0]);
}

void bench_scale(void)
{
	char line[32];
	int fd[2];

	if (conf.hcas > SCALE_HCAS || conf.groups > SCALE_GROUPS || conf.hcas % conf.members) {
		fputs("scale: too many, or HCAs that are no multiple of members\n", stderr);
		exit(2);
	}
	scale = mmap(NULL, sizeof(*scale), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (scale == MAP_FAILED || pipe(fd))
		die("scale");
	done_fd = fd[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* make the library find the devices before the fork */
	rdma_destroy_event_channel(channel_create());
	for (int i = 0; i < conf.hcas; i++)
		hca_start(i, fd[1]);
	close(fd[1]);
	stage_wait_all('o');
	mark_set();
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		command_run(line);
	}
	for (int i = 0; i < conf.hcas; i++)
		close(hcas[i].commands);
	while (wait(NULL) > 0)
		;
}
