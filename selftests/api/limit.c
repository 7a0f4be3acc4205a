// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The limits of a user without privileges. Other users are not affected by them. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include "../lib/now.h"
#include "../lib/slow.h"
#include "api.h"

#define PARAMETERS "/sys/module/rdma_cmx/parameters/"
#define LIMIT 4

/* Writes the file in this process, because a shell would drop the effective user ID. */
static int parameter_set(const char *path, unsigned int n)
{
	return seteuid(0) ?: file_write(path, "%u", n);
}

static int limit_set(unsigned int n)
{
	return parameter_set(PARAMETERS "max_user_ids", n);
}

static void limit_reset(void)
{
	limit_set(65536);
}

static struct rdma_event_channel *channel_open_as(uid_t uid)
{
	struct rdma_event_channel *ch;

	WANT(!seteuid(0) && !setresuid(uid, uid, 0));
	ch = rdma_create_event_channel();
	WANT(ch);
	return ch;
}

/* The library creates an id in the kernel only when a call needs it, here the bind. */
static int id_create_bound(struct rdma_event_channel *ch, enum rdma_port_space ps,
			   struct rdma_cm_id **id)
{
	WANT(!rdma_create_id(ch, id, NULL, ps));
	return rdma_bind_addr(*id, ip_addr("10.77.0.1", 0));
}

static void test_ids_of_a_user(void)
{
	struct rdma_event_channel *ch, *other;
	struct rdma_cm_id *id[LIMIT + 1];
	int i;

	atexit(limit_reset);
	WANT(!limit_set(LIMIT));
	ch = channel_open_as(65534);
	for (i = 0; i < LIMIT; i++)
		WANT(!id_create_bound(ch, RDMA_PS_TCP, &id[i]));
	WANT(id_create_bound(ch, RDMA_PS_TCP, &id[i]) && errno == EMFILE);
	/* another channel does not raise the limit */
	other = channel_open_as(65534);
	WANT(id_create_bound(other, RDMA_PS_TCP, &id[i]) && errno == EMFILE);
	other = channel_open_as(65533);
	WANT(!id_create_bound(other, RDMA_PS_TCP, &id[i]));
	other = channel_open_as(0);
	for (i = 0; i <= LIMIT; i++)
		WANT(!id_create_bound(other, RDMA_PS_TCP, &id[i]));
}

static void container_map_ids(pid_t pid, const char *map, uid_t base)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, map);
	WANT(!file_write(path, "0 %u 1", base));
}

/*
 * Writes to @up the result of creating a user namespace, and then the number of ids that it could
 * create. It keeps the ids until @down is closed.
 */
static void container_run(int up, int down)
{
	int n = unshare(CLONE_NEWUSER);
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	char c;

	if (write(up, &n, sizeof(n)) != sizeof(n) || read(down, &c, 1) != 1 ||
	    setresgid(0, 0, 0) || setresuid(0, 0, 0))
		_exit(1);
	ch = rdma_create_event_channel();
	for (n = 0; ch && n <= LIMIT && !id_create_bound(ch, RDMA_PS_TCP, &id); n++)
		;
	if (write(up, &n, sizeof(n)) != sizeof(n) || read(down, &c, 1))
		_exit(1);
	_exit(0);
}

/*
 * Creates a user namespace whose root is the user @base. Returns how many ids a process in it could
 * create.
 */
static int container_count_ids(uid_t base)
{
	int up[2], down[2], n;
	pid_t pid;

	WANT(!pipe(up) && !pipe(down));
	pid = fork();
	if (!pid) {
		close(down[1]);
		container_run(up[1], down[0]);
	}
	WANT(read(up[0], &n, sizeof(n)) == sizeof(n));
	if (n)
		tap_case_skip("this kernel has no user namespaces");
	container_map_ids(pid, "uid_map", base);
	container_map_ids(pid, "gid_map", base);
	WANT(write(down[1], "", 1) == 1);
	WANT(read(up[0], &n, sizeof(n)) == sizeof(n));
	return n;
}

static void test_ids_of_containers(void)
{
	atexit(limit_reset);
	WANT(!limit_set(LIMIT));
	WANT(container_count_ids(100000) == LIMIT);
	WANT(container_count_ids(200000) == LIMIT);
	WANT(container_count_ids(100000) == 0);
}

static void test_groups_of_a_user(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	char addr[] = "239.9.9.0";
	int i;

	atexit(limit_reset);
	WANT(!limit_set(LIMIT));
	ch = channel_open_as(65534);
	WANT(!id_create_bound(ch, RDMA_PS_UDP, &id));
	for (i = 1; i < LIMIT; i++) {
		addr[sizeof(addr) - 2]++;
		WANT(!rdma_join_multicast(id, ip_addr(addr, 0), NULL));
		WANT(!event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	}
	WANT(rdma_join_multicast(id, ip_addr("239.9.8.1", 0), NULL) && errno == EMFILE);
	WANT(!rdma_leave_multicast(id, ip_addr(addr, 0)));
	WANT(!rdma_join_multicast(id, ip_addr("239.9.8.1", 0), NULL));
	WANT(!event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	/* the memberships no longer count */
	WANT(!rdma_destroy_id(id));
	for (i = 0; i < LIMIT; i++)
		WANT(!id_create_bound(ch, RDMA_PS_TCP, &id));
}

/* A request above the limit is dropped, and the peer repeats it. */
static void test_requests_of_a_user(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_id *id[LIMIT];
	struct pair p = { .param = plain };
	long refused;
	int i;

	atexit(limit_reset);
	WANT(!limit_set(LIMIT));
	p.lch = channel_open_as(65534);
	WANT(!rdma_create_id(p.lch, &p.listener, NULL, RDMA_PS_TCP));
	p.ch = channel_open_as(0);
	WANT(!rdma_create_id(p.ch, &p.id, NULL, RDMA_PS_TCP));
	/* 16 tries every 2 s: the last one comes after the wait below, also on a slow machine */
	WANT(!set_u32(p.id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 19));
	pair_prepare(&p, RDMA_PS_TCP);
	for (i = 0; i < LIMIT - 1; i++)
		WANT(!id_create_bound(p.lch, RDMA_PS_TCP, &id[i]));
	refused = port_stat_get(p.id, "refused_quota");
	WANT(!rdma_connect(p.id, &par));
	WANT(!event_next(p.lch, 300));
	WANT(port_stat_get(p.id, "refused_quota") > refused);
	WANT(!rdma_destroy_id(id[0]));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_CONNECT_REQUEST));
}

/* Creates an id that can be connected to the listener. */
static struct rdma_cm_id *id_create_resolved(struct rdma_event_channel *ch, const struct pair *p)
{
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(ch, &id, NULL, p->listener->ps));
	id_resolve(ch, id, "10.77.0.1", ntohs(rdma_get_src_port(p->listener)));
	return id;
}

static void id_connect_number(struct rdma_cm_id *id, unsigned char n)
{
	struct rdma_conn_param par = plain;

	par.qp_num += n;
	par.private_data = &n;
	par.private_data_len = 1;
	WANT(!rdma_connect(id, &par));
}

/* A request is dropped while the backlog is full. Its peer repeats it, so none is lost. */
static void test_slow_listener(void)
{
	const int peers = 8, backlog = 2;
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id[peers];
	struct rdma_cm_event *ev;
	int i, established = 0;
	struct pair p = { .param = plain };
	long refused, requests;

	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!rdma_bind_addr(p.listener, ip_addr("10.77.0.1", 0)));
	WANT(!rdma_listen(p.listener, backlog));
	refused = port_stat_get(p.listener, "refused_backlog");
	requests = port_stat_get(p.listener, "requests");
	ch = channel_open_as(0);
	for (i = 0; i < peers; i++) {
		id[i] = id_create_resolved(ch, &p);
		/* 16 tries every half a second */
		WANT(!set_u32(id[i], CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 17));
	}
	for (i = 0; i < peers; i++)
		id_connect_number(id[i], i);
	while (port_stat_get(p.listener, "refused_backlog") < refused + peers - backlog)
		usleep(10000);
	WANT(port_stat_get(p.listener, "requests") == requests + backlog);

	/* from now on, one loop serves both sides */
	WANT(!rdma_migrate_id(p.listener, ch));
	while (established < peers) {
		ev = event_next(ch, 15000);
		WANT(ev && !ev->status);
		switch (ev->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			par.qp_num = plain.qp_num + ++i;
			WANT(!rdma_accept(ev->id, &par));
			break;
		case RDMA_CM_EVENT_CONNECT_RESPONSE:
			WANT(!rdma_establish(ev->id));
			break;
		default:
			WANT(ev->event == RDMA_CM_EVENT_ESTABLISHED);
			established++;
		}
		rdma_ack_cm_event(ev);
	}
	WANT(port_stat_get(p.listener, "requests") == requests + peers);
}

static void pair_create_as(struct pair *p, uid_t uid)
{
	p->lch = channel_open_as(uid);
	WANT(!rdma_create_id(p->lch, &p->listener, NULL, RDMA_PS_TCP));
	p->ch = channel_open_as(uid);
	WANT(!rdma_create_id(p->ch, &p->id, NULL, RDMA_PS_TCP));
	pair_prepare(p, RDMA_PS_TCP);
}

static long id_connect_ms(struct rdma_cm_id *id)
{
	struct rdma_conn_param par = plain;
	long begin = now_ms();

	WANT(!rdma_connect(id, &par));
	return now_ms() - begin;
}

/*
 * A connect waits for the end of the last connection of the same QP number, but not if that
 * connection belongs to another user or leads to another peer.
 */
static void test_number_of_another_user(void)
{
	struct pair closing = { .param = plain }, other = closing, same = closing;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *away;

	pair_create_as(&closing, 65534);
	pair_create_as(&other, 65533);
	pair_create_as(&same, 65534);
	pair_connect(&closing, RDMA_PS_TCP);
	WANT(!rdma_disconnect(closing.id));
	WANT(!rdma_destroy_id(closing.id));
	ch = channel_open_as(65534);
	WANT(!rdma_create_id(ch, &away, NULL, RDMA_PS_TCP));
	id_resolve(ch, away, "10.77.0.99", 7522);
	WANT(id_connect_ms(away) < 1000);
	WANT(id_connect_ms(other.id) < 1000);
	WANT(id_connect_ms(same.id) >= 1900);
}

#define MAX_USER_REQUESTS PARAMETERS "max_user_requests"

static unsigned int max_user_requests;

static void window_reset(void)
{
	parameter_set(MAX_USER_REQUESTS, max_user_requests);
}

/* Sets the send window of a user to @n messages. The peers are ids of root. */
static void window_set(unsigned int n, struct pair *p, enum rdma_port_space ps)
{
	FILE *f = fopen(MAX_USER_REQUESTS, "r");

	WANT(f && fscanf(f, "%u", &max_user_requests) == 1);
	fclose(f);
	atexit(window_reset);
	WANT(!parameter_set(MAX_USER_REQUESTS, n));
	p->lch = channel_open_as(0);
	WANT(!rdma_create_id(p->lch, &p->listener, NULL, ps));
	WANT(!rdma_bind_addr(p->listener, ip_addr("10.77.0.1", 0)));
	WANT(!rdma_listen(p->listener, 64));
}

/* Returns the next event of the type. Skips others: withdrawn requests and late TIMEWAIT_EXIT. */
static struct rdma_cm_event *event_next_of_type(struct rdma_event_channel *ch,
						enum rdma_cm_event_type type, int ms)
{
	struct rdma_cm_event *ev;

	while ((ev = event_next(ch, ms)) && ev->event != type)
		rdma_ack_cm_event(ev);
	return ev;
}

/* Expects the request of id_connect_number() with the number @n. */
static struct rdma_cm_id *request_expect_number(struct rdma_event_channel *ch, unsigned char n)
{
	struct rdma_cm_event *ev = event_next_of_type(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 15000);
	const unsigned char *data;
	struct rdma_cm_id *child;

	WANT(ev);
	data = ev->id->ps == RDMA_PS_UDP ? ev->param.ud.private_data : ev->param.conn.private_data;
	WANT(*data == n);
	child = ev->id;
	rdma_ack_cm_event(ev);
	return child;
}

static void end_expect(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev = event_next_of_type(ch, RDMA_CM_EVENT_DISCONNECTED, 15000);

	WANT(ev && !ev->status);
	rdma_ack_cm_event(ev);
}

static bool request_arrives(struct rdma_event_channel *ch)
{
	return event_next_of_type(ch, RDMA_CM_EVENT_CONNECT_REQUEST, 300);
}

static void test_requests_wait(void)
{
	struct rdma_cm_id *id[6], *other, *child;
	struct rdma_event_channel *ch, *ch2;
	struct pair p = { .param = plain };
	int i;

	window_set(2, &p, RDMA_PS_TCP);
	ch = channel_open_as(65534);
	for (i = 0; i < 6; i++) {
		id[i] = id_create_resolved(ch, &p);
		id_connect_number(id[i], i);
	}
	child = request_expect_number(p.lch, 0);
	request_expect_number(p.lch, 1);
	WANT(!request_arrives(p.lch));
	/* others do not wait */
	ch2 = channel_open_as(65533);
	other = id_create_resolved(ch2, &p);
	id_connect_number(other, 33);
	request_expect_number(p.lch, 33);
	ch2 = channel_open_as(0);
	other = id_create_resolved(ch2, &p);
	id_connect_number(other, 34);
	request_expect_number(p.lch, 34);
	/* an answer, and an end */
	WANT(!rdma_reject(child, NULL, 0));
	WANT(event_expect(ch, RDMA_CM_EVENT_REJECTED) == 28);
	request_expect_number(p.lch, 2);
	WANT(!rdma_destroy_id(id[1]));
	request_expect_number(p.lch, 3);
	/* a request that waits is withdrawn */
	WANT(!rdma_reject(id[4], NULL, 0));
	WANT(!rdma_destroy_id(id[2]));
	request_expect_number(p.lch, 5);
	WANT(!request_arrives(p.lch));
}

/* A window of one request, and two ids of a user for it. Returns their channel. */
static struct rdma_event_channel *window_set_one(struct pair *p, struct rdma_cm_id *id[2])
{
	struct rdma_event_channel *ch;

	window_set(1, p, RDMA_PS_TCP);
	ch = channel_open_as(65534);
	id[0] = id_create_resolved(ch, p);
	id[1] = id_create_resolved(ch, p);
	return ch;
}

static void test_deadline_of_waiting(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id[2];
	struct pair p = { .param = plain };

	ch = window_set_one(&p, id);
	WANT(!set_u32(id[1], CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 300));
	id_connect_number(id[0], 0);
	id_connect_number(id[1], 1);
	request_expect_number(p.lch, 0);
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!rdma_destroy_id(id[0]));
	WANT(!request_arrives(p.lch));
}

/*
 * The QP of a request that waits becomes that of another user: here its process becomes another
 * user. Otherwise a user could let a request wait until somebody else has a QP with its number.
 */
static void test_number_changes_owner(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id[2];
	struct pair p = { .param = plain };

	ch = window_set_one(&p, id);
	qp_make(id[1]);
	id_connect_number(id[0], 0);
	WANT(!rdma_connect(id[1], &par));
	request_expect_number(p.lch, 0);
	WANT(!request_arrives(p.lch));
	WANT(!setresuid(0, 0, 0));
	WANT(!rdma_destroy_id(id[0]));
	WANT(event_expect(ch, RDMA_CM_EVENT_CONNECT_ERROR) == -EPERM);
	WANT(!request_arrives(p.lch));
}

static void test_datagrams_wait(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *child;
	struct pair p = { .param = plain };

	window_set(1, &p, RDMA_PS_UDP);
	ch = channel_open_as(65534);
	id_connect_number(id_create_resolved(ch, &p), 0);
	id_connect_number(id_create_resolved(ch, &p), 1);
	child = request_expect_number(p.lch, 0);
	WANT(!request_arrives(p.lch));
	WANT(!rdma_accept(child, &par));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ESTABLISHED));
	request_expect_number(p.lch, 1);
}

/* Connects @n ids to the listener. @child receives the ids of the passive side. */
static void ids_connect(struct rdma_event_channel *ch, const struct pair *p, struct rdma_cm_id **id,
			struct rdma_cm_id **child, int n)
{
	struct rdma_conn_param par = plain;
	int i;

	for (i = 0; i < n; i++) {
		id[i] = id_create_resolved(ch, p);
		id_connect_number(id[i], 2 * i);
		child[i] = request_expect_number(p->lch, 2 * i);
		par.qp_num = plain.qp_num + 2 * i + 1;
		WANT(!rdma_accept(child[i], &par));
		WANT(!event_expect(ch, RDMA_CM_EVENT_CONNECT_RESPONSE));
		WANT(!rdma_establish(id[i]));
		WANT(!event_expect(p->lch, RDMA_CM_EVENT_ESTABLISHED));
	}
}

/* Each active id gets its DISCONNECTED at once, and each peer gets its own when a DREQ is sent. */
static void test_ends_wait(void)
{
	struct rdma_cm_id *id[4], *child[4];
	struct rdma_event_channel *ch;
	struct pair p = { .param = plain };
	int i;

	window_set(1, &p, RDMA_PS_TCP);
	ch = channel_open_as(65534);
	ids_connect(ch, &p, id, child, 4);
	for (i = 0; i < 4; i++) {
		qp_make(id[i]);
		WANT(!rdma_disconnect(id[i]));
		WANT(!event_expect(ch, RDMA_CM_EVENT_DISCONNECTED));
		WANT(!rdma_disconnect(id[i]));
	}
	end_expect(p.lch);
	WANT(!event_next_of_type(p.lch, RDMA_CM_EVENT_DISCONNECTED, 300));
	/* its DREQ is still sent */
	WANT(!rdma_destroy_id(id[1]));
	end_expect(p.lch);
	/* both ends disconnect: the DREQ of the peer ends the wait */
	WANT(!rdma_disconnect(child[2]));
	end_expect(p.lch);
	WANT(!rdma_disconnect(child[0]));
	/* close_seconds, which the suite has set, ends the repetition of DREQs */
	WANT(!rdma_destroy_id(id[3]));
	WANT(!parameter_set(MAX_USER_REQUESTS, 0));
	closing_wait(200);
}

/* Both ends disconnect. An end confirms the DREQ of the other one even while its own DREQ waits. */
static void test_both_ends_while_one_waits(void)
{
	struct rdma_cm_id *id[2], *child[2];
	struct rdma_event_channel *ch;
	struct pair p = { .param = plain };

	window_set(1, &p, RDMA_PS_TCP);
	ch = channel_open_as(65534);
	ids_connect(ch, &p, id, child, 2);
	WANT(!rdma_disconnect(id[0]));
	end_expect(p.lch);
	WANT(!rdma_disconnect(id[1]));
	WANT(!event_next_of_type(p.lch, RDMA_CM_EVENT_DISCONNECTED, 300));
	WANT(!rdma_disconnect(child[1]));
	end_expect(ch);
	end_expect(p.lch);
}

/*
 * The ids of a killed job send one DREQ each and do not repeat it, because their DREQs would fill
 * the window.
 */
static void test_next_job(void)
{
	struct rdma_cm_id *id[4], *child[4];
	struct rdma_event_channel *ch;
	struct pair p = { .param = plain };
	int i;

	window_set(2, &p, RDMA_PS_TCP);
	ch = channel_open_as(65534);
	ids_connect(ch, &p, id, child, 4);
	for (i = 0; i < 4; i++)
		WANT(!rdma_destroy_id(id[i]));
	id_connect_number(id_create_resolved(ch, &p), 33);
	WANT(request_arrives(p.lch));
}

/* A DREQ of the peer is answered at once, even if the window is full. */
static void test_peer_ends(void)
{
	struct rdma_cm_id *id, *child, *last;
	struct rdma_event_channel *ch;
	struct pair p = { .param = plain };

	window_set(1, &p, RDMA_PS_TCP);
	ch = channel_open_as(65534);
	ids_connect(ch, &p, &id, &child, 1);
	id_connect_number(id_create_resolved(ch, &p), 2);
	last = request_expect_number(p.lch, 2);

	WANT(!rdma_disconnect(child));
	end_expect(ch);
	WANT(!rdma_disconnect(id));
	end_expect(p.lch);
	WANT(!seteuid(0));
	closing_wait(50);
	WANT(!rdma_disconnect(id));
	WANT(!rdma_reject(last, NULL, 0));
	WANT(event_next_of_type(ch, RDMA_CM_EVENT_REJECTED, 15000));
	WANT(!event_next_of_type(ch, RDMA_CM_EVENT_CONNECT_ERROR, 300));
}

/* The default window, on a kernel where ib_mad limits the unanswered MADs of a port. */
static void test_silent_peers_of_a_user(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct pair p = { .param = plain };
	int i;

	ch = channel_open_as(65534);
	/* without the window, 128 of them would be sent every 4.3 s */
	for (i = 0; i < 600; i++) {
		WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		id_resolve(ch, id, "10.77.0.99", 7521);
		par.qp_num = 0x810000 + i;
		WANT(!rdma_connect(id, &par));
	}
	pair_create_as(&p, 65533);
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_disconnect(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
}

/* Returns how often a probe that the suite has set was hit. */
static long probe_hits(const char *probe)
{
	FILE *f = fopen("/sys/kernel/tracing/kprobe_profile", "r");
	char name[64];
	long n, missed;

	while (f && fscanf(f, "%63s %ld %ld", name, &n, &missed) == 3)
		if (!strcmp(name, probe))
			return fclose(f) ? -1 : n;
	if (f)
		fclose(f);
	tap_case_skip("ib_destroy_cm_id() cannot be traced, or waits once");
}

/*
 * Since Linux 6.19, ib_destroy_cm_id() polls for a REQ without retries that it has cancelled. If
 * all ids polled at the same time, they would keep ib_mad from returning the messages, and each of
 * them would poll several times.
 */
static void test_polls_of_requests(void)
{
	long polls = probe_hits("cancel_poll"), destroyed;
	struct rdma_conn_param par = plain;
	struct rdma_cm_id *id[400];
	struct pair p = { .param = plain };
	int i;

	window_set(0, &p, RDMA_PS_TCP);
	p.ch = channel_open_as(65534);
	for (i = 0; i < 400; i++) {
		WANT(!rdma_create_id(p.ch, &id[i], NULL, RDMA_PS_TCP));
		WANT(!set_u32(id[i], CMX_OPTION, CMX_OPTION_CM_RETRIES, 0));
		id_resolve(p.ch, id[i], "10.77.0.99", 7521);
		par.qp_num = 0x820000 + i;
		WANT(!rdma_connect(id[i], &par));
	}
	WANT(!seteuid(0));
	destroyed = probe_hits("cancel");
	for (i = 0; i < 400; i++)
		WANT(!rdma_destroy_id(id[i]));
	for (i = 0; i < slow_time(50) && probe_hits("cancel") < destroyed + 400; i++)
		usleep(100000);
	/* and the last ones poll */
	usleep(100000 * slow_time(5));
	WANT(probe_hits("cancel") >= destroyed + 400);
	polls = probe_hits("cancel_poll") - polls;
	printf("# %ld polls for 400 messages\n", polls);
	WANT(polls < 400);
}

const struct test limit_tests[] = {
	{ "limit: ids of a user", test_ids_of_a_user },
	{ "limit: ids of containers", test_ids_of_containers },
	{ "limit: groups of a user", test_groups_of_a_user },
	{ "limit: requests to a user", test_requests_of_a_user },
	{ "limit: requests to a slow listener", test_slow_listener },
	{ "limit: two users choose the same QP number", test_number_of_another_user },
	{ "window: requests of a user wait for each other", test_requests_wait },
	{ "window: the deadline of a request that waits", test_deadline_of_waiting },
	{ "window: the QP number of a request that waits gets another owner",
	  test_number_changes_owner },
	{ "window: datagram requests wait for each other", test_datagrams_wait },
	{ "window: the ends of a user's connections wait for each other", test_ends_wait },
	{ "window: both ends disconnect while one waits", test_both_ends_while_one_waits },
	{ "window: a job that is started again does not wait for the killed one", test_next_job },
	{ "window: an end by the peer takes no place", test_peer_ends },
	{ "window: silent peers of a user stop no other user", test_silent_peers_of_a_user },
	{ "window: few cancelled requests are polled for at a time", test_polls_of_requests },
	{}
};
