// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fork(): the ids of a process do not belong to its children. Calls of a child on its copies, as
 * destructors may make them, do not affect the ids of the parent.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/address.h"
#include "../lib/slow.h"
#include "api.h"

#define ME "10.77.0.1"
#define GROUP "239.77.9.1"

static void fork_run(void (*child)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	pid = fork();
	WANT(pid >= 0);
	if (!pid) {
		alarm(slow_time(90));
		child(arg);
		exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && !status);
}

/** struct family - objects that the parent has created before fork() */
struct family {
	struct pair pair;		/* connected */
	struct rdma_event_channel *ch;
	struct rdma_cm_id *idle;
	struct rdma_cm_id *bound;
	struct rdma_cm_id *member;
};

static void family_make(struct family *f)
{
	f->pair.param = plain;
	pair_connect(&f->pair, RDMA_PS_TCP);
	f->idle = new_id(&f->ch, RDMA_PS_TCP);
	WANT(!rdma_create_id(f->ch, &f->bound, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(f->bound, ip_addr(ME, 0)));
	WANT(!rdma_create_id(f->ch, &f->member, NULL, RDMA_PS_UDP));
	WANT(!rdma_bind_addr(f->member, ip_addr(ME, 0)));
	WANT(!rdma_join_multicast(f->member, ip_addr(GROUP, 0), NULL));
	WANT(!event_expect(f->ch, RDMA_CM_EVENT_MULTICAST_JOIN));
}

#define REFUSED(call) WANT((call) == -1 && errno == EACCES)

static void child_calls(void *arg)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	struct rdma_conn_param par = plain;
	struct family *f = arg;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	REFUSED(rdma_create_id(f->ch, &id, NULL, RDMA_PS_TCP));
	REFUSED(rdma_bind_addr(f->idle, ip_addr(ME, 0)));
	REFUSED(rdma_resolve_addr(f->bound, NULL, ip_addr(ME, 7), 2000));
	REFUSED(rdma_listen(f->bound, 1));
	REFUSED(set_u32(f->bound, CMX_OPTION, CMX_OPTION_SL, 1));
	REFUSED(rdma_join_multicast(f->member, ip_addr("239.77.9.2", 0), NULL));
	REFUSED(rdma_leave_multicast(f->member, ip_addr(GROUP, 0)));
	REFUSED(rdma_migrate_id(f->bound, own));
	REFUSED(rdma_migrate_id(f->bound, NULL));
	REFUSED(rdma_reject(f->pair.child, NULL, 0));
	REFUSED(rdma_accept(f->pair.child, &par));
	REFUSED(rdma_disconnect(f->pair.id));
	WANT(!fcntl(f->ch->fd, F_SETFL, O_NONBLOCK));
	REFUSED(rdma_get_cm_event(f->ch, &ev));
}

static void child_destroys(void *arg)
{
	struct family *f = arg;

	WANT(!rdma_destroy_id(f->idle));
	WANT(!rdma_destroy_id(f->bound));
	WANT(!rdma_destroy_id(f->member));
	WANT(!rdma_destroy_id(f->pair.child));
	WANT(!rdma_destroy_id(f->pair.id));
	WANT(!rdma_destroy_id(f->pair.listener));
	rdma_destroy_event_channel(f->ch);
	rdma_destroy_event_channel(f->pair.ch);
	rdma_destroy_event_channel(f->pair.lch);
}

/* Checks that all ids of the parent still work, and that there are no events. */
static void family_check(struct family *f)
{
	struct pair p = { .listener = f->pair.listener, .lch = f->pair.lch };
	struct rdma_conn_param par = plain;

	WANT(!event_next(f->pair.ch, 0) && !event_next(f->pair.lch, 0) && !event_next(f->ch, 0));
	WANT(!rdma_bind_addr(f->idle, ip_addr(ME, 0)));
	WANT(!rdma_listen(f->bound, 1));
	WANT(!rdma_leave_multicast(f->member, ip_addr(GROUP, 0)));
	WANT(!rdma_disconnect(f->pair.id));
	WANT(!event_expect(f->pair.lch, RDMA_CM_EVENT_DISCONNECTED));
	/* the listener gets the next request */
	p.id = new_id(&p.ch, RDMA_PS_TCP);
	id_resolve(p.ch, p.id, ME, ntohs(rdma_get_src_port(p.listener)));
	par.qp_num += 2;
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_reject(p.child, NULL, 0));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED));
}

static void test_refused(void)
{
	struct family f = {};

	family_make(&f);
	fork_run(child_calls, &f);
	family_check(&f);
}

static void test_destroyed(void)
{
	struct family f = {};

	family_make(&f);
	fork_run(child_destroys, &f);
	family_check(&f);
}

static volatile bool stop;

static void *member_join_and_leave(void *id)
{
	struct sockaddr_in group = { .sin_family = AF_INET };

	inet_pton(AF_INET, "239.77.9.3", &group.sin_addr);
	while (!stop) {
		WANT(!rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
		WANT(!rdma_leave_multicast(id, (struct sockaddr *)&group));
	}
	return NULL;
}

static void child_destroys_busy(void *id)
{
	WANT(!rdma_destroy_id(id));
}

/* A thread of the parent may hold the lock of the id. The child does not have that thread. */
static void test_destroyed_busy(void)
{
	struct family f = {};
	pthread_t thread;
	int i;

	family_make(&f);
	WANT(!pthread_create(&thread, NULL, member_join_and_leave, f.member));
	for (i = 0; i < 50; i++)
		fork_run(child_destroys_busy, f.member);
	stop = true;
	WANT(!pthread_join(thread, NULL));
	family_check(&f);
}

/* The id of an endpoint has a channel and a QP that the library has created. */
static void child_destroys_ep(void *id)
{
	rdma_destroy_ep(id);
}

static void test_endpoint(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai;
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr;
	struct rdma_cm_id *id;

	WANT(!rdma_getaddrinfo(address_real(ME), "7", &hints, &ai));
	WANT(!rdma_create_ep(&id, ai, NULL, &init));
	fork_run(child_destroys_ep, id);
	WANT(!ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init));
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 8));
	rdma_destroy_ep(id);
	rdma_freeaddrinfo(ai);
}

/* A daemon opens its channel after it has forked. One that was opened before belongs to the parent. */
static void child_serves(void *arg)
{
	struct rdma_event_channel *ch = arg;
	struct pair p = { .param = plain };

	REFUSED(rdma_create_id(ch, &p.listener, NULL, RDMA_PS_TCP));
	rdma_destroy_event_channel(ch);
	ch = rdma_create_event_channel();
	WANT(ch);
	p.lch = ch;
	WANT(!rdma_create_id(ch, &p.listener, NULL, RDMA_PS_TCP));
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_destroy_id(p.child));
	WANT(!rdma_destroy_id(p.listener));
	rdma_destroy_event_channel(ch);
}

static void test_daemonised(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	WANT(ch);
	fork_run(child_serves, ch);
	rdma_destroy_event_channel(ch);
}

const struct test fork_tests[] = {
	{ "fork: a child's calls are refused", test_refused },
	{ "fork: a child's destructors leave the parent's ids alone", test_destroyed },
	{ "fork: a child destroys an id that a thread uses", test_destroyed_busy },
	{ "fork: a child's destructors leave the parent's endpoints alone", test_endpoint },
	{ "fork: a daemon opens a channel of its own", test_daemonised },
	{}
};
