// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections between two processes over the device itself. There are no QPs: the numbers are made
 * up, and no two are the same, as the CM remembers the last ones for as long as TIMEWAIT lasts.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>

#include "bench.h"

#define STORM 1000

/* Even on the one side, odd on the other; new ones in every run. */
static uint32_t next_qpn(bool server)
{
	static uint32_t n;

	if (!n)
		n = (uint64_t)(now() * 8000) & 0x7fffff;
	n = (n + 1) & 0x7fffff;
	return n << 1 | server;
}

static struct rdma_conn_param param(bool server)
{
	return (struct rdma_conn_param){
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = next_qpn(server),
	};
}

static void serve(int ready)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *listener, *id;
	struct rdma_conn_param p;
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type type;
	struct sockaddr_in sin;

	if (conf.netns && setns(open(conf.netns, O_RDONLY), CLONE_NEWNET))
		die(conf.netns);
	ch = channel();
	listener = id_on(ch, NULL);
	if (rdma_bind_addr(listener, addr_of(&sin, conf.server, BENCH_PORT)) ||
	    rdma_listen(listener, 4096))
		die("listen");
	if (write(ready, "", 1) != 1)
		die("ready");
	while (!rdma_get_cm_event(ch, &ev)) {
		id = ev->id;
		type = ev->event;
		rdma_ack_cm_event(ev);
		switch (type) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			p = param(true);
			if (rdma_accept(id, &p))
				rdma_destroy_id(id);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_disconnect(id);
			__attribute__((fallthrough));
		case RDMA_CM_EVENT_CONNECT_ERROR:
		case RDMA_CM_EVENT_UNREACHABLE:
			rdma_destroy_id(id);
			break;
		default:
			break;
		}
	}
	exit(0);
}

pid_t conn_serve(void)
{
	int fd[2];
	pid_t pid;
	char c;

	if (pipe(fd))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		serve(fd[1]);
	close(fd[1]);
	if (read(fd[0], &c, 1) != 1)
		exit(1);
	close(fd[0]);
	return pid;
}

void conn_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void start(struct rdma_cm_id *id)
{
	struct rdma_conn_param p = param(false);

	if (rdma_connect(id, &p))
		die("rdma_connect");
}

/* A new id on its way: it connects as soon as its route is there. */
static struct rdma_cm_id *start_new(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *id = id_on(ch, NULL);
	struct sockaddr_in sin;

	if (rdma_resolve_addr(id, NULL, addr_of(&sin, conf.server, BENCH_PORT), 10000))
		die("rdma_resolve_addr");
	return id;
}

/*
 * Takes an event of a connection and does what comes next. Returns whether this was the event that
 * the owner waits for: that it has been established, or, with @end, that it has been destroyed.
 */
static bool step(struct rdma_event_channel *ch, bool end)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	int status;

	if (rdma_get_cm_event(ch, &ev))
		die("rdma_get_cm_event");
	id = ev->id;
	type = ev->event;
	status = ev->status;
	rdma_ack_cm_event(ev);
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 10000))
			die("rdma_resolve_route");
		return false;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		start(id);
		return false;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (rdma_establish(id))
			die("rdma_establish");
		if (end && rdma_disconnect(id))
			die("rdma_disconnect");
		return !end;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_destroy_id(id);
		return true;
	default:
		fprintf(stderr, "%s, status %d\n", rdma_event_str(type), status);
		exit(1);
	}
}

/*
 * Connections from connect to destroy, or with @whole from create to destroy: @n of them, with up
 * to @window under way.
 */
static void connections(int n, int window, bool whole)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id **ids = calloc(n, sizeof(*ids));
	int started = 0, done = 0;
	char name[32];
	double t;

	if (!ids)
		die("calloc");
	for (int i = 0; i < n && !whole; i++)
		ids[i] = id_routed(ch, conf.server, NULL);
	t = now();
	while (done < n) {
		while (started < n && started - done < window) {
			if (whole)
				start_new(ch);
			else
				start(ids[started]);
			started++;
		}
		if (step(ch, true))
			done++;
	}
	snprintf(name, sizeof(name), "%s%d_us", whole ? "whole" : "connect", window);
	result(name, (now() - t) / n * 1e6);
	free(ids);
	rdma_destroy_event_channel(ch);
}

double conn_setup(int n)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id;
	double t, sum = 0;

	for (int i = 0; i < n; i++) {
		t = now();
		id = start_new(ch);
		while (!step(ch, false))
			;
		sum += now() - t;
		if (rdma_disconnect(id))
			die("rdma_disconnect");
		step(ch, true);
	}
	rdma_destroy_event_channel(ch);
	return sum / n * 1e6;
}

void bench_connect(void)
{
	pid_t pid = conn_serve();

	connections(200, 1, false);
	connections(640, 32, false);
	connections(200, 1, true);
	connections(640, 32, true);
	conn_stop(pid);
}

/*
 * The client of the storm: every id starts at once, from nothing. It tells @ready when all have
 * been connected, and waits to be killed.
 */
static void be_client(int ready)
{
	struct rdma_event_channel *ch = channel();
	int done = 0;

	for (int i = 0; i < STORM; i++)
		start_new(ch);
	while (done < STORM)
		done += step(ch, false);
	if (write(ready, "", 1) != 1)
		die("ready");
	for (;;)
		pause();
}

void bench_storm(void)
{
	pid_t srv = conn_serve(), client;
	int fd[2];
	double t;
	char c;

	if (pipe(fd))
		die("pipe");
	t = now();
	client = fork();
	if (client < 0)
		die("fork");
	if (!client)
		be_client(fd[1]);
	close(fd[1]);
	if (read(fd[0], &c, 1) != 1)
		exit(1);
	close(fd[0]);
	result("storm_per_s", STORM / (now() - t));
	t = now();
	conn_stop(client);
	result("kill_ms", (now() - t) * 1e3);
	conn_stop(srv);
}

void bench_silent(void)
{
	struct rdma_event_channel *ch = channel();
	struct rdma_cm_id *id = id_routed(ch, conf.silent, NULL);
	uint32_t ms = conf.deadline;
	struct rdma_cm_event *ev;
	double t;

	if (ms && rdma_set_option(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, &ms, sizeof(ms)))
		die("rdma_set_option");
	t = now();
	start(id);
	if (rdma_get_cm_event(ch, &ev))
		die("rdma_get_cm_event");
	if (ev->event != RDMA_CM_EVENT_UNREACHABLE) {
		fprintf(stderr, "%s from a silent peer\n", rdma_event_str(ev->event));
		exit(1);
	}
	result("silent_ms", (now() - t) * 1e3);
	rdma_ack_cm_event(ev);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}
