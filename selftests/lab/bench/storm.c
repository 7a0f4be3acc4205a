// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many connections that are set up at the same time and kept. Each process is a client or a server.
 * A client always has a window of connections in progress until all are set up.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct storm {
	const char *name;
	int pairs;		/* number of pairs of a client and a server */
	int connections;	/* number of connections of each client */
	int window;		/* number of them in progress */
	bool qp;
};

/* Returns the CPU time of the machine in seconds, in user space and in the kernel. */
static double cpu_busy_time(void)
{
	unsigned long t[8] = {};
	FILE *f = fopen("/proc/stat", "r");

	if (!f || fscanf(f, "cpu %lu %lu %lu %lu %lu %lu %lu %lu", &t[0], &t[1], &t[2], &t[3], &t[4],
			 &t[5], &t[6], &t[7]) != 8)
		die("/proc/stat");
	fclose(f);
	return (double)(t[0] + t[1] + t[2] + t[5] + t[6]) / sysconf(_SC_CLK_TCK);
}

/* Waits until the kernel has ended the connections of processes that have ended. */
static void close_wait(void)
{
	double before, after = cpu_busy_time();

	do {
		before = after;
		usleep(100000);
		after = cpu_busy_time();
	} while (after - before > 0.02);
}

/* @times: first the start of each connection, then its duration; -1 if it failed */
static void client_run(const struct storm *s, int port, double *times, int ready)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	double *t;
	int begun = 0, done = 0, ret;

	while (done < s->connections) {
		while (begun < s->connections && begun - done < s->window) {
			times[begun] = now();
			conn_start(ch, port, &times[begun++]);
		}
		ret = conn_step(ch, false, &id);
		if (!ret)
			continue;
		t = id->context;
		*t = ret > 0 ? now() - *t : -1;
		done++;
	}
	if (write(ready, "", 1) != 1)
		die("ready");
	for (;;)
		pause();
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void storm_result(const struct storm *s, const char *what, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", s->name, what);
	result_print(name, value);
}

static void storm_run(const struct storm *s)
{
	int all = s->pairs * s->connections, failed = 0, fd[2];
	double *times = mmap(NULL, all * sizeof(*times), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t server[s->pairs], client[s->pairs];
	uint32_t number = conn_number();
	double t, cpu;
	char c;

	if (times == MAP_FAILED || pipe(fd))
		die("storm");
	for (int i = 0; i < s->pairs; i++) {
		conn_set(number + i * s->connections, s->qp);
		server[i] = conn_serve(BENCH_PORT + i);
	}
	t = now();
	cpu = cpu_busy_time();
	for (int i = 0; i < s->pairs; i++) {
		conn_set(number + i * s->connections, s->qp);
		client[i] = fork();
		if (client[i] < 0)
			die("fork");
		if (!client[i])
			client_run(s, BENCH_PORT + i, times + i * s->connections, fd[1]);
	}
	close(fd[1]);
	for (int i = 0; i < s->pairs; i++)
		if (read(fd[0], &c, 1) != 1)
			die("storm: a client ended");
	close(fd[0]);
	t = now() - t;
	cpu = cpu_busy_time() - cpu;
	qsort(times, all, sizeof(*times), double_compare);
	while (failed < all && times[failed] < 0)
		failed++;
	storm_result(s, "per_s", (all - failed) / t);
	storm_result(s, "p50_ms", times[failed + (all - failed) / 2] * 1e3);
	storm_result(s, "p99_ms", times[failed + (all - failed) * 99 / 100] * 1e3);
	storm_result(s, "max_ms", times[all - 1] * 1e3);
	storm_result(s, "cpu_us", cpu / all * 1e6);
	storm_result(s, "failed", failed);
	t = now();
	for (int i = 0; i < s->pairs; i++)
		kill(client[i], SIGKILL);
	for (int i = 0; i < s->pairs; i++)
		waitpid(client[i], NULL, 0);
	storm_result(s, "kill_ms", (now() - t) * 1e3);
	/* a server that ends now would send a DREQ on each connection that still exists */
	close_wait();
	storm_result(s, "idle_ms", (now() - t) * 1e3);
	for (int i = 0; i < s->pairs; i++)
		conn_stop(server[i]);
	close_wait();
	munmap(times, all * sizeof(*times));
}

void bench_storm(void)
{
	static const struct storm storms[] = {
		{ "storm2", 1, 10000, 256 },
		{ "storm64", 32, 312, 32 },
		{ "storm2qp", 1, 1984, 256, true },
		{ "stormqp", 32, 62, 8, true },
	};

	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
		storm_run(&storms[i]);
}
