// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that share channels, an id, a listener and the library. The test passes if all of them
 * end and nothing remains.
 */
#include <fcntl.h>
#include <malloc.h>
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

/* ip_addr() returns the same buffer each time, so threads cannot use it */
static struct sockaddr *sockaddr_ip4(struct sockaddr_in *in, uint32_t addr, int port)
{
	*in = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(addr),
	};
	if (addr == IP_ME)
		inet_pton(AF_INET, address_real(ME), &in->sin_addr);
	return (struct sockaddr *)in;
}

static void param_init(struct rdma_conn_param *par)
{
	*par = plain;
	par->qp_num = plain.qp_num + __atomic_add_fetch(&qp_nums, 1, __ATOMIC_RELAXED);
}

static void request_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param par;

	param_init(&par);
	WANT(!rdma_accept(id, &par));
}

/* Fetches and handles events until the test is over. Two takers share a channel. */
static void *taker_run(void *channel)
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
		/* the id is being destroyed and has no device any more */
		WANT(!ev->status || (type == RDMA_CM_EVENT_ADDR_ERROR && ev->status == -ENODEV));
		id = ev->id;
		WANT(!rdma_ack_cm_event(ev));
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			request_accept(id);
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

static void id_live(int me, int round)
{
	struct rdma_event_channel *from = channels[round & 1], *to = channels[!(round & 1)];
	struct sockaddr_in in;
	struct rdma_cm_id *id;
	int i;

	WANT(!rdma_create_id(from, &id, NULL, RDMA_PS_UDP));
	WANT(!rdma_bind_addr(id, sockaddr_ip4(&in, IP_ME, 0)));
	for (i = 0; i < 3; i++)
		WANT(!rdma_join_multicast(id, sockaddr_ip4(&in, GROUP(me, 1 + i), 0), NULL));
	WANT(!rdma_migrate_id(id, to));
	WANT(!rdma_leave_multicast(id, sockaddr_ip4(&in, GROUP(me, 1), 0)));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_SL, round & 15));
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_SL, NULL) == (uint32_t)(round & 15));
	WANT(!rdma_destroy_id(id));

	WANT(!rdma_create_id(from, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, sockaddr_ip4(&in, IP_ME, 7), 2000));
	WANT(!rdma_destroy_id(id));
}

/* All threads use one id. Its groups are left in another order than joined. */
static void id_share(int me)
{
	struct sockaddr_in in;
	int i;

	for (i = 10; i < 14; i++)
		WANT(!rdma_join_multicast(shared, sockaddr_ip4(&in, GROUP(me, i), 0), NULL));
	for (i = 13; i >= 10; i--)
		WANT(!rdma_leave_multicast(shared, sockaddr_ip4(&in, GROUP(me, i), 0)));
}

static void *live_run(void *arg)
{
	int me = (long)arg, i;

	pthread_barrier_wait(&together);
	for (i = 0; i < ROUNDS; i++) {
		id_live(me, i);
		id_share(me);
	}
	return NULL;
}

static struct rdma_event_channel *channel_open(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	WANT(ch && !fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	return ch;
}

static void takers_start(pthread_t *takers, int n)
{
	int i;

	for (i = 0; i < n; i++)
		WANT(!pthread_create(&takers[i], NULL, taker_run, channels[i & 1]));
}

static void threads_run(void *(*fn)(void *))
{
	pthread_t threads[THREADS];
	long i;

	WANT(!pthread_barrier_init(&together, NULL, THREADS));
	for (i = 0; i < THREADS; i++)
		WANT(!pthread_create(&threads[i], NULL, fn, (void *)i));
	for (i = 0; i < THREADS; i++)
		WANT(!pthread_join(threads[i], NULL));
}

static void takers_end(pthread_t *takers, int n)
{
	int i;

	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (i = 0; i < n; i++)
		WANT(!pthread_join(takers[i], NULL));
	rdma_destroy_event_channel(channels[0]);
	rdma_destroy_event_channel(channels[1]);
}

static void test_lives(void)
{
	pthread_t takers[4];

	channels[0] = channel_open();
	channels[1] = channel_open();
	WANT(!rdma_create_id(channels[0], &shared, NULL, RDMA_PS_UDP));
	WANT(!rdma_bind_addr(shared, ip_addr(ME, 0)));
	takers_start(takers, 4);
	threads_run(live_run);
	WANT(!rdma_destroy_id(shared));
	takers_end(takers, 4);
	/* wait until no group of the test is left in the list of IGMP */
	while (!system("grep -qi '08EF ' /proc/net/igmp"))
		;
}

static int listener_port;

static void *call_run(void *arg)
{
	struct rdma_conn_param par;
	struct sockaddr_in in;
	struct rdma_cm_id *id;
	int i;

	(void)arg;
	pthread_barrier_wait(&together);
	for (i = 0; i < 5; i++) {
		param_init(&par);
		/* an id without a channel: the calls wait for their events */
		WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id, NULL, sockaddr_ip4(&in, IP_ME, listener_port), 5000));
		WANT(!rdma_resolve_route(id, 5000));
		WANT(!rdma_connect(id, &par));
		WANT(id->event->event == RDMA_CM_EVENT_CONNECT_RESPONSE);
		WANT(!rdma_establish(id));
		WANT(!rdma_disconnect(id));
		WANT(!rdma_destroy_id(id));
	}
	return NULL;
}

static void test_calls(void)
{
	struct rdma_cm_id *listener;
	pthread_t takers[2];

	channels[0] = channel_open();
	channels[1] = channel_open();
	WANT(!rdma_create_id(channels[0], &listener, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(listener, ip_addr(ME, 0)) && !rdma_listen(listener, 64));
	listener_port = ntohs(rdma_get_src_port(listener));
	takers_start(takers, 1);
	threads_run(call_run);
	WANT(!rdma_destroy_id(listener));
	takers_end(takers, 1);
}

static struct rdma_event_channel *call_ch;
static struct rdma_cm_id *call_id;

/* Fetches the event of the call, destroys the id, and has its memory used for something else. */
static void call_id_destroy(void)
{
	size_t size = malloc_usable_size(call_id), i;
	struct rdma_cm_event *ev;
	volatile char *other;

	after_ioctl = NULL;
	WANT(!rdma_get_cm_event(call_ch, &ev) && !rdma_ack_cm_event(ev));
	WANT(!rdma_destroy_id(call_id));
	other = malloc(size);
	WANT(other);
	for (i = 0; i < size; i++)
		other[i] = 0xff;
}

/*
 * Another thread may fetch the event of a call and destroy the id before the call returns. Here it
 * is the thread of the call, right after the system call.
 */
static void test_destroyed_in_call(void)
{
	static const struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP,
	};

	call_id = new_bound_id(&call_ch, RDMA_PS_TCP, ME);
	after_ioctl = call_id_destroy;
	WANT(!rdma_resolve_addr(call_id, NULL, ip_addr(ME, 7), 2000));
	WANT(!after_ioctl);

	call_id = new_bound_id(&call_ch, RDMA_PS_TCP, ME);
	after_ioctl = call_id_destroy;
	WANT(!rdma_resolve_addrinfo(call_id, address_real(ME), "7", &hints));
	WANT(!after_ioctl);
}

const struct test thread_tests[] = {
	{ "threads: lives of ids on shared channels", test_lives },
	{ "threads: calls to one listener", test_calls },
	{ "threads: an id is destroyed before the call returns", test_destroyed_in_call },
	{}
};
