// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that are cancelled while they wait: nothing is left of them that
 * others would wait for. And those that come to wait too late.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../lib/task.h"
#include "api.h"

#define ME "10.77.0.1"
#define NOBODY "10.77.0.99"	/* see suites/api.sh */
#define ROUNDS 70

/** struct waiter - a thread that is going to wait */
struct waiter {
	pthread_t thread;
	void (*wait)(void *arg);
	void *arg;
	pid_t tid;
};

static void get_one(void *ch)
{
	struct rdma_cm_event *ev;

	rdma_get_cm_event(ch, &ev);
}

static void get_many(void *ch)
{
	struct rdma_cm_event *ev[8];

	rdma_cmx_get_events(ch, ev, 8);
}

static void get_request(void *listener)
{
	struct rdma_cm_id *id;

	rdma_get_request(listener, &id);
}

static void connect_to(void *id)
{
	struct rdma_conn_param par = plain;

	rdma_connect(id, &par);
}

static void destroy(void *id)
{
	rdma_destroy_id(id);
}

static void *run(void *waiter)
{
	struct waiter *w = waiter;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->wait(w->arg);
	return NULL;
}

static void start(struct waiter *w, void (*wait)(void *arg), void *arg)
{
	*w = (struct waiter){ .wait = wait, .arg = arg };
	WANT(!pthread_create(&w->thread, NULL, run, w));
}

static void start_asleep(struct waiter *w, long nr, void (*wait)(void *arg), void *arg)
{
	start(w, wait, arg);
	while (task_syscall(__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE)) != nr)
		usleep(1000);
}

static void join(struct waiter *w, void *result)
{
	void *res;

	WANT(!pthread_join(w->thread, &res));
	WANT(res == result);
}

static void cancel(struct waiter *w)
{
	WANT(!pthread_cancel(w->thread));
	join(w, PTHREAD_CANCELED);
}

/* The next one to wait gets the event. */
static void waiting(void)
{
	void (*const waits[])(void *) = { get_one, get_many };
	struct rdma_event_channel *ch;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	struct waiter w;
	int i;

	for (i = 0; i < 2; i++) {
		id = new_id(&ch, RDMA_PS_TCP);
		WANT(!rdma_resolve_addr(id, NULL, addr_of(ME, 7), 2000));
		WANT(!rdma_get_cm_event(ch, &ev) && !rdma_ack_cm_event(ev));
		start_asleep(&w, SYS_ioctl, waits[i], ch);
		cancel(&w);
		WANT(!rdma_resolve_route(id, 2000));
		WANT(!expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
		WANT(!rdma_destroy_id(id));
		rdma_destroy_event_channel(ch);
	}
}

static void one_closed(int i)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct waiter w;

	WANT(ch);
	start_asleep(&w, SYS_ioctl, i & 1 ? get_one : get_many, ch);
	rdma_destroy_event_channel(ch);
	cancel(&w);
}

/* MVAPICH2 ends like this. Memory does not grow, once as much is kept as ever is. */
static void closed(void)
{
	size_t used = 0;
	int i;

	for (i = 0; i < 2 * ROUNDS; i++) {
		if (i == ROUNDS)
			used = mallinfo2().uordblks;
		one_closed(i);
	}
	WANT(mallinfo2().uordblks == used);
}

static void comes_late(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;

	WANT(rdma_get_cm_event(ch, &ev) == -1 && errno == EBADF);
	WANT(rdma_cmx_get_events(ch, &ev, 1) == -1 && errno == EBADF);
}

/* rping and MVAPICH2 do it, when their threads are slow. */
static void late(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct waiter w;

	WANT(ch);
	rdma_destroy_event_channel(ch);
	comes_late(ch);

	ch = rdma_create_event_channel();
	WANT(ch);
	start_asleep(&w, SYS_ioctl, get_one, ch);
	rdma_destroy_event_channel(ch);
	comes_late(ch);
	cancel(&w);
	comes_late(ch);
}

static void calls(void)
{
	struct rdma_cm_id *id;
	struct waiter w;

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(id, addr_of(ME, 0)) && !rdma_listen(id, 1));
	start_asleep(&w, SYS_ioctl, get_request, id);
	cancel(&w);
	WANT(!rdma_destroy_id(id));

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, addr_of(NOBODY, 7), 2000));
	WANT(!rdma_resolve_route(id, 2000));
	start_asleep(&w, SYS_ioctl, connect_to, id);
	cancel(&w);
	WANT(!rdma_destroy_id(id));
}

/* The thread is cancelled when the kernel has written the event: it counts as acknowledged. */
static void lose_event(void (*wait)(void *arg), struct rdma_event_channel *ch)
{
	struct waiter w;

	cancel_fetch = true;
	start(&w, wait, ch);
	join(&w, PTHREAD_CANCELED);
	cancel_fetch = false;
}

static void fetched(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, addr_of(ME, 7), 2000));
	lose_event(get_one, ch);
	WANT(!rdma_destroy_id(id));

	id = new_bound(&ch, RDMA_PS_UDP, ME);
	WANT(!rdma_join_multicast(id, addr_of("239.8.7.1", 0), NULL));
	lose_event(get_many, ch);
	WANT(!rdma_leave_multicast(id, addr_of("239.8.7.1", 0)));
	WANT(!rdma_destroy_id(id));
}

/* Nobody will ever answer it. */
static void fetched_request(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = {};

	pair_resolve(&p, RDMA_PS_TCP);
	WANT(!rdma_connect(p.id, &par));
	lose_event(get_one, p.lch);
	expect(p.ch, RDMA_CM_EVENT_REJECTED);
	WANT(!rdma_destroy_id(p.listener));
}

/* A thread that waits for @ev, of an id of its own, to be acknowledged. */
static void start_destroy(struct waiter *w, struct rdma_cm_event **ev)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, addr_of(ME, 7), 2000));
	WANT(!rdma_get_cm_event(ch, ev));
	start_asleep(w, SYS_futex, destroy, id);
}

/* Other ids are none the worse for it. */
static void unacknowledged(void)
{
	struct rdma_cm_event *ev, *lost;
	struct waiter w;

	start_destroy(&w, &lost);
	cancel(&w);
	start_destroy(&w, &ev);
	WANT(!rdma_ack_cm_event(ev));
	join(&w, NULL);
	WANT(!rdma_ack_cm_event(lost));
}

const struct test cancel_tests[] = {
	{ "cancel: a thread that waits for events", waiting },
	{ "cancel: the channel was destroyed before", closed },
	{ "cancel: a thread comes when the channel was destroyed", late },
	{ "cancel: calls that wait for their event", calls },
	{ "cancel: an event was just fetched", fetched },
	{ "cancel: a request was just fetched", fetched_request },
	{ "cancel: rdma_destroy_id() that waits for an event of its id", unacknowledged },
	{}
};
