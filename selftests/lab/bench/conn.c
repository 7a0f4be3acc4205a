// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections between two processes over the same device. Most have no QPs. Their QP numbers are
 * fake and all different, because the CM remembers a number until the end of TIMEWAIT.
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

/* what the server does with a request */
enum answer { ACCEPT, REJECT, DESTROY };

static uint32_t next_number;
static bool with_qp;
static enum answer answer;

uint32_t conn_number(void)
{
	return (uint64_t)(now() * 8000) & 0x7fffff;
}

void conn_set(uint32_t number, bool qp)
{
	next_number = number;
	with_qp = qp;
}

/* Numbers are even on one side and odd on the other one, and new in each run. */
static uint32_t qpn_next(bool server)
{
	if (!next_number)
		next_number = conn_number();
	next_number = (next_number + 1) & 0x7fffff;
	return next_number << 1 | server;
}

/* All QPs of a process use one PD and one CQ. */
static void qp_create(struct rdma_cm_id *id)
{
	static struct ibv_pd *pd;
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr attr = {
		.cap = { 1, 1, 1, 1 }, .qp_type = IBV_QPT_RC,
	};

	if (!pd) {
		pd = ibv_alloc_pd(id->verbs);
		cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	}
	attr.send_cq = attr.recv_cq = cq;
	if (!pd || !cq || rdma_create_qp(id, pd, &attr))
		die("rdma_create_qp");
}

static struct rdma_conn_param param_init(bool server)
{
	return (struct rdma_conn_param){
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = qpn_next(server),
	};
}

static void request_answer(struct rdma_cm_id *id)
{
	struct rdma_conn_param p = param_init(true);

	if (answer == REJECT && rdma_reject(id, NULL, 0))
		die("rdma_reject");
	if (answer == ACCEPT && with_qp)
		qp_create(id);
	if (answer != ACCEPT || rdma_accept(id, &p))
		rdma_destroy_id(id);
}

static void server_run(int port, int ready)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type type;
	struct sockaddr_in sin;

	if (conf.netns && setns(open(conf.netns, O_RDONLY), CLONE_NEWNET))
		die(conf.netns);
	ch = channel_create();
	listener = id_on(ch, NULL);
	if (rdma_bind_addr(listener, addr_of(&sin, conf.server, port)) ||
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
			request_answer(id);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_disconnect(id);
			if (id->qp)
				rdma_destroy_qp(id);
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

pid_t conn_serve(int port)
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
		server_run(port, fd[1]);
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

static void conn_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param p = param_init(false);

	if (with_qp)
		qp_create(id);
	if (rdma_connect(id, &p))
		die("rdma_connect");
}

struct rdma_cm_id *conn_start(struct rdma_event_channel *ch, int port, void *context)
{
	struct rdma_cm_id *id = id_on(ch, context);
	struct sockaddr_in sin;

	if (rdma_resolve_addr(id, NULL, addr_of(&sin, conf.server, port), 10000))
		die("rdma_resolve_addr");
	return id;
}

int conn_step(struct rdma_event_channel *ch, bool end, struct rdma_cm_id **idp)
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
	if (idp)
		*idp = id;
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 10000))
			die("rdma_resolve_route");
		return 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		conn_connect(id);
		return 0;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (rdma_establish(id))
			die("rdma_establish");
		if (end && rdma_disconnect(id))
			die("rdma_disconnect");
		return !end;
	case RDMA_CM_EVENT_ESTABLISHED:
		return 1;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (id->qp)
			rdma_destroy_qp(id);
		rdma_destroy_id(id);
		return 1;
	default:
		fprintf(stderr, "%s, status %d\n", rdma_event_str(type), status);
		return -1;
	}
}

static bool conn_step_any(struct rdma_event_channel *ch, bool end)
{
	int ret = conn_step(ch, end, NULL);

	if (ret < 0)
		exit(1);
	return ret;
}

/*
 * Measures @n connections, of which up to @window are in progress: from connect to destroy, or with
 * @whole from create to destroy.
 */
static void conns_measure(const char *what, int n, int window, bool whole)
{
	struct rdma_event_channel *ch = channel_create();
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
				conn_start(ch, BENCH_PORT, NULL);
			else
				conn_connect(ids[started]);
			started++;
		}
		if (conn_step_any(ch, true))
			done++;
	}
	snprintf(name, sizeof(name), "%s%d_us", what, window);
	result_print(name, (now() - t) / n * 1e6);
	free(ids);
	rdma_destroy_event_channel(ch);
}

double conn_setup(int n)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	double t, sum = 0;

	for (int i = 0; i < n; i++) {
		t = now();
		id = conn_start(ch, BENCH_PORT, NULL);
		while (!conn_step_any(ch, false))
			;
		sum += now() - t;
		if (rdma_disconnect(id))
			die("rdma_disconnect");
		conn_step_any(ch, true);
	}
	rdma_destroy_event_channel(ch);
	return sum / n * 1e6;
}

void bench_connect(void)
{
	pid_t pid = conn_serve(BENCH_PORT);

	conns_measure("connect", 200, 1, false);
	conns_measure("connect", 640, 32, false);
	conns_measure("whole", 200, 1, true);
	conns_measure("whole", 640, 32, true);
	conn_stop(pid);
	conn_set(conn_number(), true);
	pid = conn_serve(BENCH_PORT);
	conns_measure("qp", 200, 1, true);
	conns_measure("qp", 640, 32, true);
	conn_stop(pid);
	conn_set(0, false);
}

/*
 * Sets up 100 connections at the same time, whose routes have been resolved. Returns the time until the last one is
 * established, in ms.
 */
static double hundred_set_up(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *ids[100];
	const int n = sizeof(ids) / sizeof(ids[0]);
	double t;

	for (int i = 0; i < n; i++)
		ids[i] = id_routed(ch, conf.server, NULL);
	t = now();
	for (int i = 0; i < n; i++)
		conn_connect(ids[i]);
	for (int established = 0; established < n; )
		established += conn_step_any(ch, false);
	t = now() - t;
	for (int i = 0; i < n; i++)
		if (rdma_disconnect(ids[i]))
			die("rdma_disconnect");
	for (int ended = 0; ended < n; )
		ended += conn_step_any(ch, true);
	rest_wait();
	return t * 1e3;
}

static void hundreds_measure(const char *first, const char *more)
{
	struct rdma_event_channel *ch = channel_create();
	pid_t pid = conn_serve(BENCH_PORT);
	const int n = 19;
	double sum = 0;

	result_print(first, hundred_set_up(ch));
	for (int i = 0; i < n; i++)
		sum += hundred_set_up(ch);
	result_print(more, sum / n);
	conn_stop(pid);
	rdma_destroy_event_channel(ch);
}

void bench_hundred(void)
{
	hundreds_measure("hundred_ms", "hundred_more_ms");
	conn_set(conn_number(), true);
	hundreds_measure("hundred_qp_ms", "hundred_qp_more_ms");
	conn_set(0, false);
}

static void conn_be_refused(struct rdma_cm_id *id)
{
	struct rdma_cm_event *ev;

	conn_connect(id);
	if (rdma_get_cm_event(id->channel, &ev))
		die("rdma_get_cm_event");
	if (ev->event != RDMA_CM_EVENT_REJECTED) {
		fprintf(stderr, "%s, status %d\n", rdma_event_str(ev->event), ev->status);
		exit(1);
	}
	rdma_ack_cm_event(ev);
	rdma_destroy_id(id);
}

/* Measures connections that are refused, one after the other: from connect until both ids are destroyed. */
static void refusals_measure(const char *name)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *ids[200];
	const int n = sizeof(ids) / sizeof(ids[0]);
	double t;

	for (int i = 0; i < n; i++)
		ids[i] = id_routed(ch, conf.server, NULL);
	t = now();
	for (int i = 0; i < n; i++)
		conn_be_refused(ids[i]);
	rest_wait();
	result_print(name, (now() - t) / n * 1e6);
	rdma_destroy_event_channel(ch);
}

static void answer_measure(const char *name, enum answer what)
{
	pid_t pid;

	answer = what;
	pid = conn_serve(BENCH_PORT);
	refusals_measure(name);
	conn_stop(pid);
	answer = ACCEPT;
}

void bench_reject(void)
{
	answer_measure("reject_us", REJECT);
}

void bench_abandon(void)
{
	answer_measure("abandon_us", DESTROY);
}

void bench_nobody(void)
{
	refusals_measure("nobody_us");
}

void bench_silent(void)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id = id_routed(ch, conf.silent, NULL);
	uint32_t ms = conf.deadline;
	struct rdma_cm_event *ev;
	double t;

	if (ms && rdma_set_option(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, &ms, sizeof(ms)))
		die("rdma_set_option");
	t = now();
	conn_connect(id);
	if (rdma_get_cm_event(ch, &ev))
		die("rdma_get_cm_event");
	if (ev->event != RDMA_CM_EVENT_UNREACHABLE) {
		fprintf(stderr, "%s from a silent peer\n", rdma_event_str(ev->event));
		exit(1);
	}
	result_print("silent_ms", (now() - t) * 1e3);
	rdma_ack_cm_event(ev);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}
