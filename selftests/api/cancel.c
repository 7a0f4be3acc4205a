// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that are cancelled while they wait in a call. The cancellation leaves nothing behind
 * that another thread would wait for. Also threads that begin to wait on a destroyed channel.
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
#define NOBODY "10.77.0.99"	/* see api.sh */
#define ROUNDS 70

/** struct waiter - a thread that waits in a call */
struct waiter {
	pthread_t thread;
	void (*wait)(void *arg);
	void *arg;
	pid_t tid;
};

static void event_get(void *ch)
{
	struct rdma_cm_event *ev;

	rdma_get_cm_event(ch, &ev);
}

static void events_get(void *ch)
{
	struct rdma_cm_event *ev[8];

	rdma_cmx_get_events(ch, ev, 8);
}

static void request_get(void *listener)
{
	struct rdma_cm_id *id;

	rdma_get_request(listener, &id);
}

static void id_connect(void *id)
{
	struct rdma_conn_param par = plain;

	rdma_connect(id, &par);
}

static void thread_destroy_id(void *id)
{
	rdma_destroy_id(id);
}

static void *waiter_run(void *waiter)
{
	struct waiter *w = waiter;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->wait(w->arg);
	return NULL;
}

static void waiter_start(struct waiter *w, void (*wait)(void *arg), void *arg)
{
	*w = (struct waiter){ .wait = wait, .arg = arg };
	WANT(!pthread_create(&w->thread, NULL, waiter_run, w));
}

static void waiter_start_asleep(struct waiter *w, long nr, void (*wait)(void *arg), void *arg)
{
	waiter_start(w, wait, arg);
	while (task_syscall(__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE)) != nr)
		usleep(1000);
}

static void waiter_join(struct waiter *w, void *result)
{
	void *res;

	WANT(!pthread_join(w->thread, &res));
	WANT(res == result);
}

static void waiter_cancel(struct waiter *w)
{
	WANT(!pthread_cancel(w->thread));
	waiter_join(w, PTHREAD_CANCELED);
}

/* A cancelled thread takes no event, so the next thread that waits gets it. */
static void test_waiting(void)
{
	void (*const waits[])(void *) = { event_get, events_get };
	struct rdma_event_channel *ch;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	struct waiter w;
	int i;

	for (i = 0; i < 2; i++) {
		id = new_id(&ch, RDMA_PS_TCP);
		WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000));
		WANT(!rdma_get_cm_event(ch, &ev) && !rdma_ack_cm_event(ev));
		waiter_start_asleep(&w, SYS_ioctl, waits[i], ch);
		waiter_cancel(&w);
		WANT(!rdma_resolve_route(id, 2000));
		WANT(!event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
		WANT(!rdma_destroy_id(id));
		rdma_destroy_event_channel(ch);
	}
}

static void channel_close_under_waiter(int i)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct waiter w;

	WANT(ch);
	waiter_start_asleep(&w, SYS_ioctl, i & 1 ? event_get : events_get, ch);
	rdma_destroy_event_channel(ch);
	waiter_cancel(&w);
}

/*
 * MVAPICH2 ends in this way. The library keeps the memory of the last channels that were destroyed
 * under a waiter. When it has reached that number, its memory does not grow any more, except for what
 * malloc() keeps for each thread. The smallest piece of memory has 32 bytes.
 */
static void test_closed(void)
{
	size_t used = 0;
	int i;

	for (i = 0; i < 2 * ROUNDS; i++) {
		if (i == ROUNDS)
			used = mallinfo2().uordblks;
		channel_close_under_waiter(i);
	}
	WANT(mallinfo2().uordblks < used + ROUNDS * 16);
}

static void channel_get_late(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;

	WANT(rdma_get_cm_event(ch, &ev) == -1 && errno == EBADF);
	WANT(rdma_cmx_get_events(ch, &ev, 1) == -1 && errno == EBADF);
}

/* The threads of rping and MVAPICH2 do this if they are slow. */
static void test_late(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct waiter w;

	WANT(ch);
	rdma_destroy_event_channel(ch);
	channel_get_late(ch);

	ch = rdma_create_event_channel();
	WANT(ch);
	waiter_start_asleep(&w, SYS_ioctl, event_get, ch);
	rdma_destroy_event_channel(ch);
	channel_get_late(ch);
	waiter_cancel(&w);
	channel_get_late(ch);
}

static void test_calls(void)
{
	struct rdma_cm_id *id;
	struct waiter w;

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(id, ip_addr(ME, 0)) && !rdma_listen(id, 1));
	waiter_start_asleep(&w, SYS_ioctl, request_get, id);
	waiter_cancel(&w);
	WANT(!rdma_destroy_id(id));

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(NOBODY, 7), 2000));
	WANT(!rdma_resolve_route(id, 2000));
	waiter_start_asleep(&w, SYS_ioctl, id_connect, id);
	waiter_cancel(&w);
	WANT(!rdma_destroy_id(id));
}

/* Cancels a thread after the kernel has written its event. The event counts as acknowledged. */
static void event_lose(void (*wait)(void *arg), struct rdma_event_channel *ch)
{
	struct waiter w;

	cancel_fetch = true;
	waiter_start(&w, wait, ch);
	waiter_join(&w, PTHREAD_CANCELED);
	cancel_fetch = false;
}

static void test_fetched(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000));
	event_lose(event_get, ch);
	WANT(!rdma_destroy_id(id));

	id = new_bound_id(&ch, RDMA_PS_UDP, ME);
	WANT(!rdma_join_multicast(id, ip_addr("239.8.7.1", 0), NULL));
	event_lose(events_get, ch);
	WANT(!rdma_leave_multicast(id, ip_addr("239.8.7.1", 0)));
	WANT(!rdma_destroy_id(id));
}

/* The request is rejected, because no thread knows its id. */
static void test_fetched_request(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!rdma_connect(p.id, &par));
	event_lose(event_get, p.lch);
	event_expect(p.ch, RDMA_CM_EVENT_REJECTED);
	WANT(!rdma_destroy_id(p.listener));
}

/* Starts a thread that destroys an id and waits until @ev, an event of it, is acknowledged. */
static void waiter_start_destroy(struct waiter *w, struct rdma_cm_event **ev)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000));
	WANT(!rdma_get_cm_event(ch, ev));
	waiter_start_asleep(w, SYS_futex, thread_destroy_id, id);
}

/* A cancelled rdma_destroy_id() does not affect other ids. */
static void test_unacknowledged(void)
{
	struct rdma_cm_event *ev, *lost;
	struct waiter w;

	waiter_start_destroy(&w, &lost);
	waiter_cancel(&w);
	waiter_start_destroy(&w, &ev);
	WANT(!rdma_ack_cm_event(ev));
	waiter_join(&w, NULL);
	WANT(!rdma_ack_cm_event(lost));
}

static void id_disconnect(void *id)
{
	rdma_disconnect(id);
}

/* write() is a cancellation point, and some versions of libibverbs call it. */
static void self_cancel(void)
{
	before_modify = NULL;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

/* A thread that is cancelled in rdma_disconnect() does not leave a QP that cannot be destroyed. */
static void test_disconnect(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_TCP, ME);
	struct waiter w;

	qp_make(id);
	before_modify = self_cancel;
	waiter_start(&w, id_disconnect, id);
	WANT(!pthread_join(w.thread, NULL) && !before_modify);
	rdma_destroy_qp(id);
	WANT(!rdma_destroy_id(id));
}

const struct test cancel_tests[] = {
	{ "cancel: a thread that waits for events", test_waiting },
	{ "cancel: the channel was destroyed before", test_closed },
	{ "cancel: a thread comes when the channel was destroyed", test_late },
	{ "cancel: calls that wait for their event", test_calls },
	{ "cancel: an event was just fetched", test_fetched },
	{ "cancel: a request was just fetched", test_fetched_request },
	{ "cancel: rdma_disconnect() that stops the QP", test_disconnect },
	{ "cancel: rdma_destroy_id() that waits for an event of its id", test_unacknowledged },
	{}
};
