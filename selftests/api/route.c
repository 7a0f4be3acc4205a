// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resolving routes: who waits for the event, in whatever way, gets it once; and what is done to the
 * id before, between and after.
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

static int ready(struct rdma_event_channel *ch, int ms)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	return poll(&p, 1, ms);
}

static void get(struct rdma_event_channel *ch, struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;

	WANT(!rdma_get_cm_event(ch, &ev));
	WANT(ev->event == type && !ev->status && ev->id == id);
	WANT(!rdma_ack_cm_event(ev));
}

static struct rdma_cm_id *resolved(struct rdma_event_channel **ch, enum rdma_port_space ps,
				   int port)
{
	struct rdma_cm_id *id = new_id(ch, ps);

	WANT(!rdma_resolve_addr(id, NULL, addr_of(ME, port), 2000));
	get(*ch, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(!id->route.num_paths);
	return id;
}

/* An id whose ROUTE_RESOLVED waits. */
static struct rdma_cm_id *waiting(struct rdma_event_channel **ch)
{
	struct rdma_cm_id *id = resolved(ch, RDMA_PS_TCP, 7);

	WANT(!rdma_resolve_route(id, 2000));
	WANT(ready(*ch, 5000) == 1);
	return id;
}

/* A listener, and an id that has resolved its address. */
static void paired(struct pair *p, enum rdma_port_space ps)
{
	p->listener = new_bound(&p->lch, ps, ME);
	WANT(!rdma_listen(p->listener, 8));
	p->id = resolved(&p->ch, ps, ntohs(rdma_get_src_port(p->listener)));
}

/* The id is ready to connect. */
static void routed(struct pair *p, enum rdma_port_space ps)
{
	paired(p, ps);
	WANT(!rdma_resolve_route(p->id, 2000));
	get(p->ch, p->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(p->id->route.num_paths == 1);
}

static void polled_at_once(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);

	WANT(ready(ch, 0) == 1);
	WANT(!id->route.num_paths);
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.num_paths == 1 && id->route.path_rec->mtu);
	WANT(ready(ch, 0) == 0);
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void polled_before(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = resolved(&ch, RDMA_PS_TCP, 7);

	WANT(ready(ch, 0) == 0);
	WANT(!rdma_resolve_route(id, 2000));
	WANT(ready(ch, 5000) == 1);
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void nonblocking(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = resolved(&ch, RDMA_PS_TCP, 7);
	struct rdma_cm_event *ev;

	WANT(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	WANT(rdma_get_cm_event(ch, &ev) && errno == EAGAIN);
	WANT(!rdma_resolve_route(id, 2000));
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(rdma_get_cm_event(ch, &ev) && errno == EAGAIN);
}

struct waiter {
	pthread_t thread;
	pthread_barrier_t start;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int epfd;
};

static void *wait_in_get(void *arg)
{
	struct waiter *w = arg;

	pthread_barrier_wait(&w->start);
	get(w->ch, w->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return NULL;
}

static void *wait_in_poll(void *arg)
{
	struct waiter *w = arg;

	pthread_barrier_wait(&w->start);
	WANT(ready(w->ch, -1) == 1);
	get(w->ch, w->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return NULL;
}

static void *wait_in_epoll(void *arg)
{
	struct waiter *w = arg;
	struct epoll_event event;

	pthread_barrier_wait(&w->start);
	WANT(epoll_wait(w->epfd, &event, 1, -1) == 1);
	/* level triggered: it still is */
	WANT(epoll_wait(w->epfd, &event, 1, 0) == 1);
	get(w->ch, w->id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(epoll_wait(w->epfd, &event, 1, 0) == 0);
	return NULL;
}

/* One thread waits for the event that another one brings about, @us later. */
static void wait_and_resolve(void *(*fn)(void *), int us)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct waiter w;

	w.id = resolved(&w.ch, RDMA_PS_TCP, 7);
	w.epfd = epoll_create1(0);
	if (fn == wait_in_epoll)
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

static void waiting_in_get(void)
{
	wait_and_resolve(wait_in_get, 200000);
}

static void waiting_in_poll(void)
{
	wait_and_resolve(wait_in_poll, 200000);
}

static void waiting_in_epoll(void)
{
	wait_and_resolve(wait_in_epoll, 200000);
}

/* Just when the other one goes to sleep. */
static void races(void)
{
	int i;

	for (i = 0; i < RACES; i++) {
		wait_and_resolve(wait_in_get, i * 5);
		wait_and_resolve(wait_in_poll, i * 5);
	}
}

static unsigned int tclass(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	WANT(!rdma_init_qp_attr(id, &attr, &mask));
	return attr.ah_attr.grh.traffic_class;
}

static void connected_with_tos(struct pair *p, unsigned int tos)
{
	struct rdma_conn_param par = plain;

	pair_request(p, &par);
	par.qp_num++;
	WANT(!rdma_accept(p->child, &par));
	get(p->ch, p->id, RDMA_CM_EVENT_CONNECT_RESPONSE);
	WANT(tclass(p->id) == tos);
}

/* Set before the route is resolved: it must be in the path. */
static void tos_before(void)
{
	struct pair p = {};

	paired(&p, RDMA_PS_TCP);
	WANT(!set_u32(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 96));
	WANT(!rdma_resolve_route(p.id, 2000));
	get(p.ch, p.id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(p.id->route.path_rec->traffic_class == 96);
	connected_with_tos(&p, 96);
}

/* While the event waits: it shows the path as it is then. */
static void tos_meanwhile(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);

	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 96));
	WANT(ready(ch, 0) == 1);
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.path_rec->traffic_class == 96);
	WANT(ready(ch, 100) == 0);
}

static void tos_after(void)
{
	struct pair p = {};

	routed(&p, RDMA_PS_TCP);
	WANT(!set_u32(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 96));
	WANT(ready(p.ch, 100) == 0);
	connected_with_tos(&p, 96);
}

/* What cannot take effect with the route resolved is refused, as ever. */
static void late_option(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);
	struct pair p = {};

	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_SL, 3) && errno == EISCONN);
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_SL, 3) && errno == EISCONN);
	routed(&p, RDMA_PS_TCP);
	WANT(set_u32(p.id, CMX_OPTION, CMX_OPTION_SL, 3) && errno == EISCONN);
	WANT(get_u32(p.id, CMX_OPTION, CMX_OPTION_FLOW_LABEL, NULL));
	WANT(ready(p.ch, 100) == 0);
}

static void wrong_state(void)
{
	struct sockaddr_storage group;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_UDP);
	struct pair p = {};

	memcpy(&group, addr_of("239.77.1.1", 0), sizeof(struct sockaddr_in));
	WANT(!rdma_bind_addr(id, addr_of(ME, 0)));
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);
	WANT(!rdma_resolve_addr(id, NULL, addr_of(ME, 7), 2000));
	get(ch, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(rdma_resolve_route(id, 0) && errno == EINVAL);
	WANT(!rdma_resolve_route(id, 2000));
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);

	routed(&p, RDMA_PS_UDP);
	WANT(rdma_join_multicast(p.id, (struct sockaddr *)&group, NULL) && errno == EINVAL);
	WANT(rdma_resolve_route(p.id, 2000) && errno == EINVAL);
	WANT(rdma_resolve_addr(p.id, NULL, addr_of(ME, 7), 2000) && errno == EINVAL);
	WANT(rdma_bind_addr(p.id, addr_of(ME, 0)) && errno == EINVAL);
	WANT(rdma_listen(p.id, 1) && errno == EINVAL);
}

/* A connect that fails leaves everything as it was. */
static void connect_fails(void)
{
	static char data[200];
	struct rdma_conn_param par = plain;
	struct pair p = {};

	routed(&p, RDMA_PS_TCP);
	par.private_data = data;
	par.private_data_len = sizeof(data);
	WANT(rdma_connect(p.id, &par) && errno == EINVAL);
	WANT(rdma_connect(p.id, &par) && errno == EINVAL);
	connected_with_tos(&p, 0);
	WANT(rdma_connect(p.id, &plain) && errno == EINVAL);
}

static void datagram(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = {};

	routed(&p, RDMA_PS_UDP);
	pair_request(&p, &par);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	get(p.ch, p.id, RDMA_CM_EVENT_ESTABLISHED);
}

/* Connecting before the event was fetched: it still comes first. */
static void order(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_event *ev[8];
	struct rdma_event_channel *ch;
	struct rdma_cm_id *a, *b;
	struct pair p = {};

	paired(&p, RDMA_PS_TCP);
	WANT(!rdma_resolve_route(p.id, 2000));
	pair_request(&p, &par);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	get(p.ch, p.id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	get(p.ch, p.id, RDMA_CM_EVENT_CONNECT_RESPONSE);

	/* two ids, many events at once */
	a = resolved(&ch, RDMA_PS_TCP, 7);
	WANT(!rdma_create_id(ch, &b, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(b, NULL, addr_of(ME, 8), 2000));
	get(ch, b, RDMA_CM_EVENT_ADDR_RESOLVED);
	WANT(!rdma_resolve_route(b, 2000));
	WANT(!rdma_resolve_route(a, 2000));
	WANT(ready(ch, 5000) == 1);
	WANT(rdma_cmx_get_events(ch, ev, 8) == 2);
	WANT(ev[0]->id == b && ev[1]->id == a);
	rdma_ack_cm_event(ev[0]);
	rdma_ack_cm_event(ev[1]);
	WANT(ready(ch, 0) == 0);
}

static void migrated_before(void)
{
	struct rdma_event_channel *ch, *to = rdma_create_event_channel();
	struct rdma_cm_id *id = resolved(&ch, RDMA_PS_TCP, 7);

	WANT(!rdma_migrate_id(id, to));
	WANT(!rdma_resolve_route(id, 2000));
	get(to, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.num_paths == 1 && ready(ch, 0) == 0);
}

static void migrated_meanwhile(void)
{
	struct rdma_event_channel *ch, *to = rdma_create_event_channel();
	struct rdma_cm_id *id = waiting(&ch);

	WANT(!rdma_migrate_id(id, to));
	WANT(ready(ch, 0) == 0);
	rdma_destroy_event_channel(ch);
	WANT(ready(to, 0) == 1);
	get(to, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(id->route.num_paths == 1 && ready(to, 100) == 0);
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(to);
}

static void migrated_after(void)
{
	struct pair p = {};
	struct rdma_event_channel *to = rdma_create_event_channel();

	routed(&p, RDMA_PS_TCP);
	WANT(!rdma_migrate_id(p.id, to));
	WANT(ready(to, 0) == 0);
	p.ch = to;
	connected_with_tos(&p, 0);
	WANT(!rdma_destroy_id(p.id));
}

static void synchronous(void)
{
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, addr_of(ME, 7), 2000));
	WANT(!rdma_resolve_route(id, 2000));
	WANT(id->event && id->event->event == RDMA_CM_EVENT_ROUTE_RESOLVED && id->event->id == id);
	WANT(id->route.num_paths == 1);
	WANT(rdma_resolve_route(id, 2000) && errno == EINVAL);
	WANT(!rdma_destroy_id(id));
}

static void destroyed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);

	WANT(!rdma_destroy_id(id));
	WANT(ready(ch, 0) == 0);
	rdma_destroy_event_channel(ch);
}

static void *destroy(void *id)
{
	WANT(!rdma_destroy_id(id));
	return NULL;
}

/* An event that was handed out keeps its id until it is acknowledged. */
static void unacknowledged(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);
	struct rdma_cm_event *ev;
	pthread_t thread;

	WANT(!rdma_get_cm_event(ch, &ev));
	WANT(!pthread_create(&thread, NULL, destroy, id));
	usleep(300000);
	WANT(pthread_tryjoin_np(thread, NULL) == EBUSY);
	WANT(ev->id == id && ev->event == RDMA_CM_EVENT_ROUTE_RESOLVED);
	rdma_ack_cm_event(ev);
	WANT(!pthread_join(thread, NULL));
}

/* Whether everything that a channel had is gone: it had this port. */
static void port_is_free(int port)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_bind_addr(id, addr_of(ME, port)));
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void channel_closed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);
	int port = ntohs(rdma_get_src_port(id));

	rdma_destroy_event_channel(ch);
	port_is_free(port);
}

/* A child that has closed its files has nothing of the channel. */
static void child_lives(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);
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
	port_is_free(port);
	WANT(write(go[1], "", 1) == 1);
	WANT(waitpid(pid, &port, 0) == pid && !port);
}

/* A child that closes the channel does no harm, to itself or to its parent. */
static void child_closes(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		rdma_destroy_event_channel(ch);
		exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && !status);
	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void *wait_for_nothing(void *ch)
{
	struct rdma_cm_event *ev;

	rdma_get_cm_event(ch, &ev);
	return NULL;
}

/* rping ends like this. */
static void closed_under_waiter(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = waiting(&ch);
	pthread_t thread;

	get(ch, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	WANT(!pthread_create(&thread, NULL, wait_for_nothing, ch));
	usleep(200000);
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

const struct test route_tests[] = {
	{ "route: poll() sees the event", polled_at_once },
	{ "route: poll() before and after", polled_before },
	{ "route: a channel that does not block", nonblocking },
	{ "route: a thread waits for the event", waiting_in_get },
	{ "route: a thread waits in poll()", waiting_in_poll },
	{ "route: a thread waits in epoll", waiting_in_epoll },
	{ "route: a thread begins to wait", races },
	{ "route: TOS set before", tos_before },
	{ "route: TOS set while the event waits", tos_meanwhile },
	{ "route: TOS set after", tos_after },
	{ "route: an option that comes too late", late_option },
	{ "route: calls in the wrong state", wrong_state },
	{ "route: a connect that fails", connect_fails },
	{ "route: datagrams", datagram },
	{ "route: order of events", order },
	{ "route: the id moves before", migrated_before },
	{ "route: the id moves while the event waits", migrated_meanwhile },
	{ "route: the id moves after", migrated_after },
	{ "route: a synchronous id", synchronous },
	{ "route: the id is destroyed", destroyed },
	{ "route: the event is not acknowledged", unacknowledged },
	{ "route: the channel is closed", channel_closed },
	{ "route: a child lives on", child_lives },
	{ "route: a child closes the channel", child_closes },
	{ "route: the channel is closed under a waiter", closed_under_waiter },
	{},
};
