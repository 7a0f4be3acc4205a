// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that the kernel allocates for a message of a peer is charged to the memory cgroup of the
 * program that gets it. The server is in a cgroup of version 2, and the client outside.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "../lib/now.h"
#include "../lib/slow.h"
#include "api.h"

#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/cmx"
#define MAX_BACKLOG "/sys/module/rdma_cmx/parameters/max_backlog"
#define MAX_REQUESTS "/sys/module/rdma_cmx/parameters/max_user_requests"
#define BACKLOG 4096

/*
 * The id, the event and the path record of a request take 1,600 bytes, and an event 512. Some memory
 * of the requests is freed while the events arrive.
 */
#define REQUEST_BYTES 1400
#define EVENT_BYTES 300

/*
 * An entry for each device, of which there are three or more; a copy of private data, which takes 256.
 * Memory from before may be freed meanwhile, a page at a time.
 */
#define LISTENER_BYTES 300
#define WAITING_BYTES 150

/**
 * struct server - a process in the cgroup
 * @pid: the process
 * @port: port on which it listens
 * @to: a number of requests to accept
 * @from: the port, and then a byte for each request that was accepted
 */
struct server {
	pid_t pid;
	int port;
	int to[2];
	int from[2];
};

static void group_make(void)
{
	if (access(ROOT "/cgroup.subtree_control", F_OK))
		mount("none", ROOT, "cgroup2", 0, NULL);
	if (file_write(ROOT "/cgroup.subtree_control", "+memory"))
		tap_case_skip("needs the memory controller of cgroups of version 2");
	WANT(!mkdir(GROUP, 0755) || errno == EEXIST);
}

/* Returns the value of a row of memory.stat. */
static long group_stat(const char *name)
{
	char key[64];
	long value;
	FILE *f;

	f = fopen(GROUP "/memory.stat", "r");
	WANT(f);
	while (fscanf(f, "%63s %ld", key, &value) == 2)
		if (!strcmp(key, name)) {
			fclose(f);
			return value;
		}
	WANT(false);
	return 0;
}

static long group_current(void)
{
	long value;
	FILE *f;

	f = fopen(GROUP "/memory.current", "r");
	WANT(f && fscanf(f, "%ld", &value) == 1);
	fclose(f);
	return value;
}

/*
 * Another process of the cgroup allocates 8 MB. The kernel adds up the counters of all processors
 * only after so many changes.
 */
static void group_stat_update(void)
{
	int status;
	pid_t pid;

	pid = fork();
	WANT(pid >= 0);
	if (!pid) {
		WANT(!file_write(GROUP "/cgroup.procs", "0"));
		WANT(mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) != MAP_FAILED);
		_exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && !status);
}

/* Returns how many bytes of slab are charged. */
static long group_slab(void)
{
	group_stat_update();
	return group_stat("slab");
}

/* Waits until a value of the cgroup is large enough. Returns the value. */
static long group_wait(long (*value)(void), long least)
{
	double end = now() + slow_time(10000) / 1e3;
	long got;

	while ((got = value()) < least && now() < end)
		usleep(100000);
	return got;
}

/* A QP number of its own for each connection: ib_cm takes one in use for an old connection. */
static struct rdma_conn_param param_next(void)
{
	static uint32_t used;
	struct rdma_conn_param par = plain;

	/* 4096 of the process, which no other case uses */
	par.qp_num = 0x900000 | (getpid() & 0xff) << 12 | used++;
	return par;
}

static void server_accept(struct rdma_event_channel *ch)
{
	struct rdma_conn_param par = param_next();
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	WANT(!rdma_get_cm_event(ch, &ev) && ev->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	id = ev->id;
	rdma_ack_cm_event(ev);
	WANT(!rdma_accept(id, &par));
}

static void server_run(struct server *s)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	WANT(!file_write(GROUP "/cgroup.procs", "0"));
	id = new_bound_id(&ch, RDMA_PS_TCP, "10.77.0.1");
	WANT(!rdma_listen(id, BACKLOG));
	n = ntohs(rdma_get_src_port(id));
	WANT(write(s->from[1], &n, sizeof(n)) == sizeof(n));
	while (read(s->to[0], &n, sizeof(n)) == sizeof(n)) {
		while (n--)
			server_accept(ch);
		WANT(write(s->from[1], "", 1) == 1);
	}
}

static void server_start(struct server *s, void (*run)(struct server *s))
{
	WANT(!pipe(s->to) && !pipe(s->from));
	s->pid = fork();
	WANT(s->pid >= 0);
	if (!s->pid) {
		run(s);
		_exit(0);
	}
	WANT(read(s->from[0], &s->port, sizeof(s->port)) == sizeof(s->port));
}

static void server_stop(struct server *s)
{
	int status;

	kill(s->pid, SIGKILL);
	WANT(waitpid(s->pid, &status, 0) == s->pid && !rmdir(GROUP));
}

static void requests_send(struct server *s, struct rdma_event_channel **ch, struct rdma_cm_id **ids,
			  int n)
{
	struct rdma_conn_param par;
	int i;

	for (i = 0; i < n; i++) {
		if (*ch)
			WANT(!rdma_create_id(*ch, &ids[i], NULL, RDMA_PS_TCP));
		else
			ids[i] = new_id(ch, RDMA_PS_TCP);
		id_resolve(*ch, ids[i], "10.77.0.1", s->port);
		par = param_next();
		WANT(!rdma_connect(ids[i], &par));
	}
}

#define FEW 200

static void test_requests(void)
{
	struct rdma_event_channel *ch = NULL;
	struct rdma_cm_id *ids[FEW];
	struct server s;
	int n = FEW, i;
	long slab;
	char c;

	group_make();
	server_start(&s, server_run);
	slab = group_slab();
	requests_send(&s, &ch, ids, n);
	WANT(group_wait(group_slab, slab + n * REQUEST_BYTES) >= slab + n * REQUEST_BYTES);
	tap_note_print("%ld bytes for each request", (group_slab() - slab) / n);

	/*
	 * ESTABLISHED and DISCONNECTED, which are not fetched. With the first one, the event with which the
	 * deadline of the accept would have ended is freed.
	 */
	WANT(write(s.to[1], &n, sizeof(n)) == sizeof(n) && read(s.from[0], &c, 1) == 1);
	for (i = 0; i < n; i++)
		WANT(!event_expect(ch, RDMA_CM_EVENT_CONNECT_RESPONSE));
	slab = group_slab();
	for (i = 0; i < n; i++)
		WANT(!rdma_establish(ids[i]) && !rdma_disconnect(ids[i]));
	WANT(group_wait(group_slab, slab + n * EVENT_BYTES) >= slab + n * EVENT_BYTES);
	tap_note_print("%ld bytes for each event", (group_slab() - slab) / n);
	server_stop(&s);
}

/* A user prepares ids, and waits until the parent has measured the memory. */
static void user_start(struct rdma_cm_id **ids, const char *bind, struct server *s)
{
	struct rdma_event_channel *ch = NULL;
	int port = 0, i;
	char c;

	WANT(!file_write(GROUP "/cgroup.procs", "0") && !setuid(65534));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < FEW; i++) {
		if (ch)
			WANT(!rdma_create_id(ch, &ids[i], NULL, RDMA_PS_TCP));
		else
			ids[i] = new_id(&ch, RDMA_PS_TCP);
		if (bind)
			WANT(!rdma_bind_addr(ids[i], ip_addr(bind, 0)));
		else
			id_resolve(ch, ids[i], "10.77.0.99", 7);
	}
	WANT(write(s->from[1], &port, sizeof(port)) == sizeof(port));
	WANT(read(s->to[0], &c, 1) == 1);
}

/* It keeps the ids until it is killed. */
static void user_end(struct server *s)
{
	WANT(write(s->from[1], "", 1) == 1);
	pause();
}

#define MANY 1500
#define EXCESS (1 << 20)

static void backlog_reset(void)
{
	file_write(MAX_BACKLOG, "1024");
}

/* Does ib_mad hold back some of so many requests? 0: no */
static unsigned int requests_limit(void)
{
	unsigned int n = 1;
	FILE *f;

	f = fopen(MAX_REQUESTS, "r");
	WANT(f && fscanf(f, "%u", &n) == 1);
	fclose(f);
	return n;
}

/*
 * Requests that take the memory of a cgroup over its limit are dropped, but for one megabyte, and
 * arrive later. The server needs no memory of its own while it waits. Each processor charges up to
 * 64 pages in advance.
 */
static void test_limit(void)
{
	static struct rdma_cm_id *ids[MANY];
	struct rdma_event_channel *ch = NULL;
	struct server s;
	long limit;

	if (requests_limit())
		tap_case_skip("this kernel limits the requests without a reply");
	group_make();
	atexit(backlog_reset);
	WANT(!file_write(MAX_BACKLOG, "%d", BACKLOG));
	server_start(&s, server_run);
	limit = group_current() + 65536;
	WANT(!file_write(GROUP "/memory.max", "%ld", limit));
	requests_send(&s, &ch, ids, MANY);
	WANT(group_wait(group_current, limit + EXCESS / 2) >= limit + EXCESS / 2);
	sleep(1);
	WANT(group_current() < limit + EXCESS + 65536);
	WANT(!file_write(GROUP "/memory.max", "max"));
	WANT(group_wait(group_current, limit + EXCESS + 131072) >= limit + EXCESS + 131072);
	server_stop(&s);
}

/* A listener of any address has an entry for each device. */
static void listeners_run(struct server *s)
{
	struct rdma_cm_id *ids[FEW];
	int i;

	user_start(ids, "0.0.0.0", s);
	for (i = 0; i < FEW; i++)
		WANT(!rdma_listen(ids[i], 1));
	user_end(s);
}

/* All but the first request wait for the reply to it. */
static void waiting_run(struct server *s)
{
	struct rdma_conn_param par;
	struct rdma_cm_id *ids[FEW];
	int i;

	user_start(ids, NULL, s);
	for (i = 0; i < FEW; i++) {
		par = param_next();
		WANT(!rdma_connect(ids[i], &par));
	}
	user_end(s);
}

static void user_is_charged(void (*run)(struct server *s), long bytes)
{
	struct server s;
	long slab;
	char c;

	group_make();
	server_start(&s, run);
	slab = group_slab();
	WANT(write(s.to[1], "", 1) == 1 && read(s.from[0], &c, 1) == 1);
	WANT(group_wait(group_slab, slab + FEW * bytes) >= slab + FEW * bytes);
	tap_note_print("%ld bytes for each", (group_slab() - slab) / FEW);
	server_stop(&s);
}

static void test_listeners(void)
{
	need_rig();
	user_is_charged(listeners_run, LISTENER_BYTES);
}

static unsigned int requests_were;

static void requests_unlimit(void)
{
	file_write(MAX_REQUESTS, "%u", requests_were);
}

static void test_waiting(void)
{
	need_rig();
	requests_were = requests_limit();
	atexit(requests_unlimit);
	WANT(!file_write(MAX_REQUESTS, "1"));
	user_is_charged(waiting_run, WAITING_BYTES);
}

const struct test memory_tests[] = {
	{ "memory: what peers send is charged to the cgroup of the server", test_requests },
	{ "memory: requests beyond the limit of a cgroup arrive later", test_limit },
	{ "memory: listeners are charged for each device", test_listeners },
	{ "memory: requests that wait for the send window are charged", test_waiting },
	{ },
};
