// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many HCAs on the fabric of Documentation/vib.rst, each with a process in its network namespace,
 * that do all the same thing at the same time. A command is a line of the input; its results are
 * lines of the output, of which the last one is "done".
 *
 *	join	every HCA joins its groups
 *	mark	now the SM is about to end
 *	back	waits until every membership has been reported again
 *	flow	waits until a datagram to each group has reached all its members
 *	connect	every HCA connects to every other one
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/slow.h"
#include "bench.h"
#include "scale.h"

/* longest time in which a stage must go on somewhere, and how often that is shown */
#define STUCK_MS	30000
#define PROGRESS_MS	10000

struct scale *scale;

static struct {
	pid_t pid;
	int commands;
} hcas[SCALE_HCAS];
static int done_fd;

static int sum(const int *of)
{
	int n = 0;

	for (int i = 0; i < conf.hcas; i++)
		n += __atomic_load_n(&of[i], __ATOMIC_RELAXED);
	return n;
}

static int arrived(void)
{
	int n = 0;

	for (int i = 0; i < conf.hcas; i++)
		for (int g = 0; g < conf.groups; g++)
			n += scale->got[i][g] == scale->epoch;
	return n;
}

static int progress(char stage)
{
	switch (stage) {
	case 'm':
		return sum(scale->members);
	case 'f':
		return arrived();
	default:
		return sum(scale->connected) + sum(scale->failed);
	}
}

/* Until all HCAs have done it, or none goes on */
static void wait_all(char stage)
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
		n = progress(stage);
		printf("# %c: %d, of %d HCAs\n", stage, n, left);
		if (n != before)
			moved = now();
		before = n;
		if (now() - moved > slow_time(STUCK_MS) / 1e3)
			return;
	}
}

/* All HCAs at once */
static void run(char stage)
{
	for (int i = 0; i < conf.hcas; i++)
		if (write(hcas[i].commands, &stage, 1) != 1)
			die("command");
	wait_all(stage);
}

static void mark(void)
{
	memset(scale->members, 0, sizeof(scale->members));
	memset(scale->errors, 0, sizeof(scale->errors));
	scale->mark = now();
}

static void since(const char *name, double t)
{
	result(name, (t - scale->mark) * 1e3);
}

static void members(void)
{
	double last = 0;

	run('m');
	for (int i = 0; i < conf.hcas; i++)
		if (scale->last[i] > last)
			last = scale->last[i];
	result("members", sum(scale->members));
	since("members_ms", last);
	result("errors", sum(scale->errors));
}

static void flow(void)
{
	scale->epoch++;
	run('f');
	since("flow_ms", now());
	/* the sender of a group does not count */
	result("flows", arrived() - conf.hcas / conf.members * conf.groups);
}

static void connect_all(void)
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
	run('c');
	result("connect_ms", (now() - t) * 1e3);
	result("connected", sum(scale->connected));
	for (int i = 0; i < conf.hcas; i++)
		conn_stop(servers[i]);
}

static const struct {
	const char *name;
	void (*run)(void);
} commands[] = {
	{ "join", members },
	{ "mark", mark },
	{ "back", members },
	{ "flow", flow },
	{ "connect", connect_all },
};

static void command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(name, commands[i].name))
			commands[i].run();
	puts("done");
}

static void start_hca(int i, int done)
{
	int fd[2];

	if (pipe(fd))
		die("pipe");
	hcas[i].commands = fd[1];
	hcas[i].pid = fork();
	if (hcas[i].pid < 0)
		die("fork");
	if (!hcas[i].pid) {
		/* its input ends when the parent does */
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
	/* the library looks for devices once, not in each process */
	rdma_destroy_event_channel(channel());
	for (int i = 0; i < conf.hcas; i++)
		start_hca(i, fd[1]);
	close(fd[1]);
	wait_all('o');
	mark();
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		command(line);
	}
	for (int i = 0; i < conf.hcas; i++)
		close(hcas[i].commands);
	while (wait(NULL) > 0)
		;
}
