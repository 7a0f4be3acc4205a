// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Route resolution: the event arrives once, whichever way a thread waits for it. Also calls on the
 * id before the route is resolved, while the event waits, and afterwards.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "api.h"

#define ME "10.77.0.1"
#define RACES 60

static int channel_poll(struct rdma_event_channel *ch, int ms)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	return poll(&p, 1, ms);
}

static void event_expect_of(struct rdma_event_channel *ch, struct rdma_cm_id *id,
			    enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;

	WANT(!rdma_get_cm_event(ch, &ev));
	WANT(ev->event == type && !ev->status && ev->id == id);
	WANT(!rdma_ack_cm_event(ev));
}

static struct rdma_cm_id *id_create_resolved(struct rdma_event_channel **ch,
					     enum rdma_port_space ps, int port)
{
	struct rdma_cm_id *id = new_id(ch, ps);

	WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, port), 2000));
	event_expect_of(*ch, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(!id->route.num_paths);
	return id;
}

/* Creates an id whose ROUTE_RESOLVED waits in the channel. */
static struct rdma_cm_id *id_create_waiting(struct rdma_event_channel **ch)
{
	struct rdma_cm_id *id = id_create_resolved(ch, RDMA_PS_TCP, 7);

	WANT(!rdma_resolve_route(id, 2000));
	WANT(channel_poll(*ch, 5000) == 1);
	return id;
}

/* Creates the listener, and an id that has resolved its address. */
static void pair_resolve_addr(struct pair *p, enum rdma_port_space ps)
{
	pair_listen(p, ps);
	p->id = id_create_resolved(&p->ch, ps, ntohs(rdma_get_src_port(p->listener)));
}

/* Creates the listener, and an id that can connect to it. */
static void pair_resolve_route(struct pair *p, enum rdma_port_space ps)
{
	pair_resolve_addr(p, ps);
	WANT(!rdma_resolve_route(p->id, 2000));
	event_expect_of(p->ch, p->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(p->id->route.num_paths == 1);
}

static void test_polled_at_once(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);

	WANT(channel_poll(ch, 0) == 1);
	WANT(!id->route.num_paths);
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.num_paths == 1 && id->route.path_rec->mtu);
	WANT(channel_poll(ch, 0) == 0);
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void test_polled_before(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_resolved(&ch, RDMA_PS_TCP, 7);

	WANT(channel_poll(ch, 0) == 0);
	WANT(!rdma_resolve_route(id, 2000));
	WANT(channel_poll(ch, 5000) == 1);
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void test_nonblocking(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_resolved(&ch, RDMA_PS_TCP, 7);
	struct rdma_cm_event *ev;

	WANT(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	WANT(rdma_get_cm_event(ch, &ev) && errno == EAGAIN);
	WANT(!rdma_resolve_route(id, 2000));
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(rdma_get_cm_event(ch, &ev) && errno == EAGAIN);
}

struct waiter {
	pthread_t thread;
	pthread_barrier_t start;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int epfd;
};

static void *waiter_get(void *arg)
{
	struct waiter *w = arg;

	pthread_barrier_wait(&w->start);
	event_expect_of(w->ch, w->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return NULL;
}

static void *waiter_poll(void *arg)
{
	struct waiter *w = arg;

	pthread_barrier_wait(&w->start);
	WANT(channel_poll(w->ch, -1) == 1);
	event_expect_of(w->ch, w->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return NULL;
}

static void *waiter_epoll(void *arg)
{
	struct waiter *w = arg;
	struct epoll_event event;

	pthread_barrier_wait(&w->start);
	WANT(epoll_wait(w->epfd, &event, 1, -1) == 1);
	/* level-triggered: still readable */
	WANT(epoll_wait(w->epfd, &event, 1, 0) == 1);
	event_expect_of(w->ch, w->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(epoll_wait(w->epfd, &event, 1, 0) == 0);
	return NULL;
}

/* A thread waits for the event of a call that this thread makes @us later. */
static void waiter_resolve(void *(*fn)(void *), int us)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct waiter w;

	w.id = id_create_resolved(&w.ch, RDMA_PS_TCP, 7);
	w.epfd = epoll_create1(0);
	if (fn == waiter_epoll)
		WANT(!epoll_ctl(w.epfd, EPOLL_CTL_ADD, w.ch->fd, &event));
	pthread_barrier_init(&w.start, NULL, 2);
	WANT(!pthread_create(&w.thread, NULL, fn, &w));
	pthread_barrier_wait(&w.start);
	usleep(us);
	WANT(!rdma_resolve_route(w.id, 2000));
	WANT(!pthread_join(w.thread, NULL));
	close(w.epfd);
	WANT(!rdma_destroy_id(w.id));
	rdma_destroy_event_channel(w.ch);
}

static void test_waiting_in_get(void)
{
	waiter_resolve(waiter_get, 200000);
}

static void test_waiting_in_poll(void)
{
	waiter_resolve(waiter_poll, 200000);
}

static void test_waiting_in_epoll(void)
{
	waiter_resolve(waiter_epoll, 200000);
}

/* The event comes while the other thread goes to sleep. */
static void test_wait_races(void)
{
	int i;

	for (i = 0; i < RACES; i++) {
		waiter_resolve(waiter_get, i * 5);
		waiter_resolve(waiter_poll, i * 5);
	}
}

static unsigned int id_tclass(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	WANT(!rdma_init_qp_attr(id, &attr, &mask));
	return attr.ah_attr.grh.traffic_class;
}

static void pair_connect_with_tos(struct pair *p, unsigned int tos)
{
	struct rdma_conn_param par = plain;

	pair_request_with(p, RDMA_PS_TCP, &par);
	par.qp_num++;
	WANT(!rdma_accept(p->child, &par));
	event_expect_of(p->ch, p->id, RDMA_CM_EVENT_CONNECT_RESPONSE);
	WANT(id_tclass(p->id) == tos);
}

/* A TOS that is set before the route is resolved is in the path. */
static void test_tos_before(void)
{
	struct pair p = { .param = plain };

	pair_resolve_addr(&p, RDMA_PS_TCP);
	WANT(!set_u32(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 96));
	WANT(!rdma_resolve_route(p.id, 2000));
	event_expect_of(p.ch, p.id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(p.id->route.path_rec->traffic_class == 96);
	pair_connect_with_tos(&p, 96);
}

/* A TOS that is set while the event waits is in the path that the event shows. */
static void test_tos_meanwhile(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);

	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 96));
	WANT(channel_poll(ch, 0) == 1);
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.path_rec->traffic_class == 96);
	WANT(channel_poll(ch, 100) == 0);
}

static void test_tos_after(void)
{
	struct pair p = { .param = plain };

	pair_resolve_route(&p, RDMA_PS_TCP);
	WANT(!set_u32(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 96));
	WANT(channel_poll(p.ch, 100) == 0);
	pair_connect_with_tos(&p, 96);
}

/* An option of the path is refused once the route is resolved, even before the event is fetched. */
static void test_late_option(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);
	struct pair p = { .param = plain };

	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_SL, 3) && errno == EISCONN);
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_SL, 3) && errno == EISCONN);
	pair_resolve_route(&p, RDMA_PS_TCP);
	WANT(set_u32(p.id, CMX_OPTION, CMX_OPTION_SL, 3) && errno == EISCONN);
	WANT(get_u32(p.id, CMX_OPTION, CMX_OPTION_FLOW_LABEL, NULL));
	WANT(channel_poll(p.ch, 100) == 0);
}

static void test_wrong_state(void)
{
	struct sockaddr_storage group;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_UDP);
	struct pair p = { .param = plain };

	memcpy(&group, ip_addr("239.77.1.1", 0), sizeof(struct sockaddr_in));
	WANT(!rdma_bind_addr(id, ip_addr(ME, 0)));
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000));
	event_expect_of(ch, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(rdma_resolve_route(id, 0) && errno == EINVAL);
	WANT(!rdma_resolve_route(id, 2000));
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);

	pair_resolve_route(&p, RDMA_PS_UDP);
	WANT(rdma_join_multicast(p.id, (struct sockaddr *)&group, NULL) && errno == EINVAL);
	WANT(rdma_resolve_route(p.id, 2000) && errno == EINVAL);
	WANT(rdma_resolve_addr(p.id, NULL, ip_addr(ME, 7), 2000) && errno == EINVAL);
	WANT(rdma_bind_addr(p.id, ip_addr(ME, 0)) && errno == EINVAL);
	WANT(rdma_listen(p.id, 1) && errno == EINVAL);
}

/* A connect that fails changes nothing. */
static void test_connect_fails(void)
{
	static char data[200];
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_resolve_route(&p, RDMA_PS_TCP);
	par.private_data = data;
	par.private_data_len = sizeof(data);
	WANT(rdma_connect(p.id, &par) && errno == EINVAL);
	WANT(rdma_connect(p.id, &par) && errno == EINVAL);
	pair_connect_with_tos(&p, 0);
	WANT(rdma_connect(p.id, &plain) && errno == EINVAL);
}

static void test_datagram(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_resolve_route(&p, RDMA_PS_UDP);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	event_expect_of(p.ch, p.id, RDMA_CM_EVENT_ESTABLISHED);
}

/* The id connects before ROUTE_RESOLVED is fetched, which still comes first. */
static void test_event_order(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_event *ev[8];
	struct rdma_event_channel *ch;
	struct rdma_cm_id *a, *b;
	struct pair p = { .param = plain };

	pair_resolve_addr(&p, RDMA_PS_TCP);
	WANT(!rdma_resolve_route(p.id, 2000));
	pair_request_with(&p, RDMA_PS_TCP, &par);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	event_expect_of(p.ch, p.id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	event_expect_of(p.ch, p.id, RDMA_CM_EVENT_CONNECT_RESPONSE);

	/* two ids, many events at once */
	a = id_create_resolved(&ch, RDMA_PS_TCP, 7);
	WANT(!rdma_create_id(ch, &b, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(b, NULL, ip_addr(ME, 8), 2000));
	event_expect_of(ch, b, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(!rdma_resolve_route(b, 2000));
	WANT(!rdma_resolve_route(a, 2000));
	WANT(channel_poll(ch, 5000) == 1);
	WANT(rdma_cmx_get_events(ch, ev, 8) == 2);
	WANT(ev[0]->id == b && ev[1]->id == a);
	rdma_ack_cm_event(ev[0]);
	rdma_ack_cm_event(ev[1]);
	WANT(channel_poll(ch, 0) == 0);
}

static void test_migrated_before(void)
{
	struct rdma_event_channel *ch, *to = rdma_create_event_channel();
	struct rdma_cm_id *id = id_create_resolved(&ch, RDMA_PS_TCP, 7);

	WANT(!rdma_migrate_id(id, to));
	WANT(!rdma_resolve_route(id, 2000));
	event_expect_of(to, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.num_paths == 1 && channel_poll(ch, 0) == 0);
}

static void test_migrated_meanwhile(void)
{
	struct rdma_event_channel *ch, *to = rdma_create_event_channel();
	struct rdma_cm_id *id = id_create_waiting(&ch);

	WANT(!rdma_migrate_id(id, to));
	WANT(channel_poll(ch, 0) == 0);
	rdma_destroy_event_channel(ch);
	WANT(channel_poll(to, 0) == 1);
	event_expect_of(to, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.num_paths == 1 && channel_poll(to, 100) == 0);
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(to);
}

static void test_migrated_after(void)
{
	struct pair p = { .param = plain };
	struct rdma_event_channel *to = rdma_create_event_channel();

	pair_resolve_route(&p, RDMA_PS_TCP);
	WANT(!rdma_migrate_id(p.id, to));
	WANT(channel_poll(to, 0) == 0);
	p.ch = to;
	pair_connect_with_tos(&p, 0);
	WANT(!rdma_destroy_id(p.id));
}

static void test_synchronous(void)
{
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000));
	WANT(!rdma_resolve_route(id, 2000));
	WANT(id->event && id->event->event == RDMA_CM_EVENT_ROUTE_RESOLVED && id->event->id == id);
	WANT(id->route.num_paths == 1);
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);
	WANT(!rdma_destroy_id(id));
}

static void test_destroyed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);

	WANT(!rdma_destroy_id(id));
	WANT(channel_poll(ch, 0) == 0);
	rdma_destroy_event_channel(ch);
}

static void *thread_destroy_id(void *id)
{
	WANT(!rdma_destroy_id(id));
	return NULL;
}

/* rdma_destroy_id() waits until the event is acknowledged. */
static void test_unacknowledged(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);
	struct rdma_cm_event *ev;
	pthread_t thread;

	WANT(!rdma_get_cm_event(ch, &ev));
	WANT(!pthread_create(&thread, NULL, thread_destroy_id, id));
	usleep(300000);
	WANT(pthread_tryjoin_np(thread, NULL) == EBUSY);
	WANT(ev->id == id && ev->event == RDMA_CM_EVENT_ROUTE_RESOLVED);
	rdma_ack_cm_event(ev);
	WANT(!pthread_join(thread, NULL));
}

/* Checks that the ids of a destroyed channel are gone: one of them had this port. */
static void port_check_free(int port)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_bind_addr(id, ip_addr(ME, port)));
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void test_channel_closed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);
	int port = ntohs(rdma_get_src_port(id));

	rdma_destroy_event_channel(ch);
	port_check_free(port);
}

/* A child that has closed its files does not keep the channel open. */
static void test_child_lives(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);
	int port = ntohs(rdma_get_src_port(id)), go[2];
	pid_t pid;
	char c;

	WANT(!socketpair(AF_UNIX, SOCK_STREAM, 0, go));
	pid = fork();
	if (!pid) {
		close_range(3, go[0] - 1, 0);
		close_range(go[0] + 1, ~0U, 0);
		exit(write(go[0], "", 1) != 1 || read(go[0], &c, 1) != 1);
	}
	WANT(read(go[1], &c, 1) == 1);
	rdma_destroy_event_channel(ch);
	port_check_free(port);
	WANT(write(go[1], "", 1) == 1);
	WANT(waitpid(pid, &port, 0) == pid && !port);
}

/* A child that destroys the channel affects neither itself nor its parent. */
static void test_child_closes(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		rdma_destroy_event_channel(ch);
		exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && !status);
	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void *channel_wait(void *ch)
{
	struct rdma_cm_event *ev;

	rdma_get_cm_event(ch, &ev);
	return NULL;
}

/* rping ends in this way. */
static void test_closed_under_waiter(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_waiting(&ch);
	pthread_t thread;

	event_expect_of(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(!pthread_create(&thread, NULL, channel_wait, ch));
	usleep(200000);
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

const struct test route_tests[] = {
	{ "route: poll() sees the event", test_polled_at_once },
	{ "route: poll() before and after the event", test_polled_before },
	{ "route: a channel that does not block", test_nonblocking },
	{ "route: a thread waits for the event", test_waiting_in_get },
	{ "route: a thread waits in poll()", test_waiting_in_poll },
	{ "route: a thread waits in epoll", test_waiting_in_epoll },
	{ "route: a thread begins to wait", test_wait_races },
	{ "route: TOS set before the resolution", test_tos_before },
	{ "route: TOS set while the event waits", test_tos_meanwhile },
	{ "route: TOS set after the event is fetched", test_tos_after },
	{ "route: an option that comes too late", test_late_option },
	{ "route: calls in the wrong state", test_wrong_state },
	{ "route: a connect that fails", test_connect_fails },
	{ "route: datagrams", test_datagram },
	{ "route: order of events", test_event_order },
	{ "route: the id moves before the resolution", test_migrated_before },
	{ "route: the id moves while the event waits", test_migrated_meanwhile },
	{ "route: the id moves after the event is fetched", test_migrated_after },
	{ "route: a synchronous id", test_synchronous },
	{ "route: the id is destroyed", test_destroyed },
	{ "route: the event is not acknowledged", test_unacknowledged },
	{ "route: the channel is closed", test_channel_closed },
	{ "route: a child lives on", test_child_lives },
	{ "route: a child closes the channel", test_child_closes },
	{ "route: the channel is closed under a waiter", test_closed_under_waiter },
	{},
};
