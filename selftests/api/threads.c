// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that share channels, an id, a listener and the library. Each does so
 * much and ends; that all of them do, and that nothing is left, is the test.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include "../lib/address.h"
#include "api.h"

#define ME "10.77.0.1"
#define THREADS 4
#define ROUNDS 30

static struct rdma_event_channel *channels[2];
static struct rdma_cm_id *shared;
static pthread_barrier_t together;
static bool over;
static uint32_t qp_nums;

#define IP_ME 0x0a4d0001u
#define GROUP(thread, n) (0xef080000u | (thread) << 8 | (n))

/* addr_of() has but one result */
static struct sockaddr *ip4(struct sockaddr_in *in, uint32_t addr, int port)
{
	*in = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(addr),
	};
	if (addr == IP_ME)
		inet_pton(AF_INET, address_real(ME), &in->sin_addr);
	return (struct sockaddr *)in;
}

static void next_qp(struct rdma_conn_param *par)
{
	*par = plain;
	par->qp_num = plain.qp_num + __atomic_add_fetch(&qp_nums, 1, __ATOMIC_RELAXED);
}

static void answer(struct rdma_cm_id *id)
{
	struct rdma_conn_param par;

	next_qp(&par);
	WANT(!rdma_accept(id, &par));
}

/* Takes what comes, as long as something may. Two of them share a channel. */
static void *take_events(void *channel)
{
	struct rdma_event_channel *ch = channel;
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	enum rdma_cm_event_type type;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		if (poll(&p, 1, 20) < 1)
			continue;
		if (rdma_get_cm_event(ch, &ev)) {
			WANT(errno == EAGAIN);
			continue;
		}
		type = ev->event;
		/* its id is being destroyed, and has no device any more */
		WANT(!ev->status || (type == RDMA_CM_EVENT_ADDR_ERROR && ev->status == -ENODEV));
		id = ev->id;
		WANT(!rdma_ack_cm_event(ev));
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			answer(id);
		else if (type == RDMA_CM_EVENT_DISCONNECTED)
			WANT(!rdma_destroy_id(id));
		else
			WANT(type == RDMA_CM_EVENT_ADDR_RESOLVED ||
			     type == RDMA_CM_EVENT_ADDR_ERROR ||
			     type == RDMA_CM_EVENT_MULTICAST_JOIN ||
			     type == RDMA_CM_EVENT_ESTABLISHED ||
			     type == RDMA_CM_EVENT_TIMEWAIT_EXIT);
	}
	return NULL;
}

static void one_life(int me, int round)
{
	struct rdma_event_channel *from = channels[round & 1], *to = channels[!(round & 1)];
	struct sockaddr_in in;
	struct rdma_cm_id *id;
	int i;

	WANT(!rdma_create_id(from, &id, NULL, RDMA_PS_UDP));
	WANT(!rdma_bind_addr(id, ip4(&in, IP_ME, 0)));
	for (i = 0; i < 3; i++)
		WANT(!rdma_join_multicast(id, ip4(&in, GROUP(me, 1 + i), 0), NULL));
	WANT(!rdma_migrate_id(id, to));
	WANT(!rdma_leave_multicast(id, ip4(&in, GROUP(me, 1), 0)));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_SL, round & 15));
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_SL, NULL) == (uint32_t)(round & 15));
	WANT(!rdma_destroy_id(id));

	WANT(!rdma_create_id(from, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, ip4(&in, IP_ME, 7), 2000));
	WANT(!rdma_destroy_id(id));
}

/* Groups of one id, left in another order than joined. */
static void share_id(int me)
{
	struct sockaddr_in in;
	int i;

	for (i = 10; i < 14; i++)
		WANT(!rdma_join_multicast(shared, ip4(&in, GROUP(me, i), 0), NULL));
	for (i = 13; i >= 10; i--)
		WANT(!rdma_leave_multicast(shared, ip4(&in, GROUP(me, i), 0)));
}

static void *live(void *arg)
{
	int me = (long)arg, i;

	pthread_barrier_wait(&together);
	for (i = 0; i < ROUNDS; i++) {
		one_life(me, i);
		share_id(me);
	}
	return NULL;
}

static struct rdma_event_channel *nonblocking(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	WANT(ch && !fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	return ch;
}

static void start(pthread_t *takers, int n)
{
	int i;

	for (i = 0; i < n; i++)
		WANT(!pthread_create(&takers[i], NULL, take_events, channels[i & 1]));
}

static void run(void *(*fn)(void *))
{
	pthread_t threads[THREADS];
	long i;

	WANT(!pthread_barrier_init(&together, NULL, THREADS));
	for (i = 0; i < THREADS; i++)
		WANT(!pthread_create(&threads[i], NULL, fn, (void *)i));
	for (i = 0; i < THREADS; i++)
		WANT(!pthread_join(threads[i], NULL));
}

static void end(pthread_t *takers, int n)
{
	int i;

	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (i = 0; i < n; i++)
		WANT(!pthread_join(takers[i], NULL));
	rdma_destroy_event_channel(channels[0]);
	rdma_destroy_event_channel(channels[1]);
}

static void lives(void)
{
	pthread_t takers[4];

	channels[0] = nonblocking();
	channels[1] = nonblocking();
	WANT(!rdma_create_id(channels[0], &shared, NULL, RDMA_PS_UDP));
	WANT(!rdma_bind_addr(shared, addr_of(ME, 0)));
	start(takers, 4);
	run(live);
	WANT(!rdma_destroy_id(shared));
	end(takers, 4);
	/* IGMP's list ends with the interface's own groups: all of ours are left, soon */
	while (!system("grep -qi '08EF ' /proc/net/igmp"))
		;
}

static int listener_port;

static void *call(void *arg)
{
	struct rdma_conn_param par;
	struct sockaddr_in in;
	struct rdma_cm_id *id;
	int i;

	(void)arg;
	pthread_barrier_wait(&together);
	for (i = 0; i < 5; i++) {
		next_qp(&par);
		/* waits for its events in the calls */
		WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id, NULL, ip4(&in, IP_ME, listener_port), 5000));
		WANT(!rdma_resolve_route(id, 5000));
		WANT(!rdma_connect(id, &par));
		WANT(id->event->event == RDMA_CM_EVENT_CONNECT_RESPONSE);
		WANT(!rdma_establish(id));
		WANT(!rdma_disconnect(id));
		WANT(!rdma_destroy_id(id));
	}
	return NULL;
}

static void calls(void)
{
	struct rdma_cm_id *listener;
	pthread_t takers[2];

	channels[0] = nonblocking();
	channels[1] = nonblocking();
	WANT(!rdma_create_id(channels[0], &listener, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(listener, addr_of(ME, 0)) && !rdma_listen(listener, 64));
	listener_port = ntohs(rdma_get_src_port(listener));
	start(takers, 1);
	run(call);
	WANT(!rdma_destroy_id(listener));
	end(takers, 1);
}

const struct test thread_tests[] = {
	{ "threads: lives of ids on shared channels", lives },
	{ "threads: calls to one listener", calls },
	{}
};
