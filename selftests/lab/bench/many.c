// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The cost of calls while other processes hold thousands of listeners, and the end of these processes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* calls that are measured; listeners have the ports from FIRST_PORT on, of each of the addresses */
enum { PROBES = 200, FIRST_PORT = 16384, ADDRESSES = 4 };

struct crowd {
	const char *name;
	int processes;
	int ids;		/* of each process */
};

static void listener_create(struct rdma_event_channel *ch, int n)
{
	struct rdma_cm_id *id = id_on(ch, NULL);
	struct sockaddr_in sin;

	addr_of(&sin, conf.addr, FIRST_PORT + n / ADDRESSES);
	sin.sin_addr.s_addr = htonl(ntohl(sin.sin_addr.s_addr) + n % ADDRESSES);
	if (rdma_bind_addr(id, (struct sockaddr *)&sin) || rdma_listen(id, 1))
		die("listener");
}

static void member_run(int first, int n, int ready)
{
	struct rdma_event_channel *ch = channel_create();

	for (int i = 0; i < n; i++)
		listener_create(ch, first + i);
	if (write(ready, "", 1) != 1)
		die("ready");
	for (;;)
		pause();
}

static void crowd_start(const struct crowd *c, pid_t *pids)
{
	int fd[2];
	char byte;

	if (pipe(fd))
		die("pipe");
	for (int i = 0; i < c->processes; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i])
			member_run(i * c->ids, c->ids, fd[1]);
	}
	close(fd[1]);
	for (int i = 0; i < c->processes; i++)
		if (read(fd[0], &byte, 1) != 1)
			die("a process ended");
	close(fd[0]);
}

static void crowd_result(const struct crowd *c, const char *what, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", c->name, what);
	result_print(name, value);
}

static void calls_measure(const struct crowd *c)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *ids[PROBES];
	struct sockaddr_in sin;
	double t = now();

	for (int i = 0; i < PROBES; i++) {
		ids[i] = id_on(ch, NULL);
		if (rdma_bind_addr(ids[i], addr_of(&sin, conf.addr, 0)))
			die("rdma_bind_addr");
	}
	crowd_result(c, "bind_us", (now() - t) / PROBES * 1e6);
	t = now();
	for (int i = 0; i < PROBES; i++)
		if (rdma_listen(ids[i], 1))
			die("rdma_listen");
	crowd_result(c, "listen_us", (now() - t) / PROBES * 1e6);
	t = now();
	for (int i = 0; i < PROBES; i++)
		rdma_destroy_id(ids[i]);
	rest_wait();
	crowd_result(c, "destroy_us", (now() - t) / PROBES * 1e6);
	rdma_destroy_event_channel(ch);
}

static void list_measure(const struct crowd *c)
{
	double t = now();

	if (conf.dump && !system(conf.dump))
		crowd_result(c, "list_us", (now() - t) / (c->processes * c->ids) * 1e6);
}

static void crowd_run(const struct crowd *c)
{
	const int ids = c->processes * c->ids;
	long memory = memory_in_use(), available = memory_available();
	pid_t *pids = calloc(c->processes, sizeof(*pids)), server;
	double t;

	if (!pids)
		die("calloc");
	crowd_start(c, pids);
	crowd_result(c, "memory_bytes", (double)(memory_in_use() - memory) / ids);
	crowd_result(c, "process_kb", (double)(available - memory_available()) / 1024 / c->processes);
	calls_measure(c);
	server = conn_serve(BENCH_PORT);
	crowd_result(c, "connect_us", conn_setup(PROBES));
	conn_stop(server);
	list_measure(c);
	t = now();
	for (int i = 0; i < c->processes; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < c->processes; i++)
		waitpid(pids[i], NULL, 0);
	crowd_result(c, "exit_us", (now() - t) / ids * 1e6);
	rest_wait();
	crowd_result(c, "rest_us", (now() - t) / ids * 1e6);
	free(pids);
}

void bench_many(void)
{
	static const struct crowd crowds[] = {
		{ "many16", 16, 64 },
		{ "many128", 128, 64 },
		{ "many1024", 1024, 64 },
		{ "many10000", 10000, 6 },
	};

	/* make the library find the devices before the fork */
	rdma_destroy_event_channel(channel_create());
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++)
		crowd_run(&crowds[i]);
}
