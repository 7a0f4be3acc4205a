// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The end of a connection */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "api.h"

static void no_answer_needed(void)
{
	struct pair p = {};

	pair_connect(&p);
	qp_make(p.id);
	WANT(!rdma_disconnect(p.id));
	WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!next_event(p.ch, 300));
	WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.ch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
	WANT(!expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

/* The peer, which has not confirmed the end, may still send to a QP that is not the id's. */
static void answer_needed(void)
{
	struct pair p = {};

	pair_connect(&p);
	WANT(!rdma_disconnect(p.id));
	WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!next_event(p.ch, 300));
	WANT(!rdma_disconnect(p.id));
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!expect(p.ch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

/* The peer wants to be told for days, and does not answer; the suite has set close_seconds. */
static void disconnect_from_silent(struct pair *p)
{
	pair_resolve(p, RDMA_PS_TCP);
	WANT(!set_u32(p->id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 31));
	WANT(!set_u32(p->id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 15));
	pair_connect(p);
	WANT(!rdma_disconnect(p->child));
}

static void no_answer_comes(void)
{
	struct pair p = {};

	disconnect_from_silent(&p);
	WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(expect(p.lch, RDMA_CM_EVENT_DISCONNECTED) == -ETIMEDOUT);
}

/* The DREQ is out when the program says that the QP receives nothing more. */
static void stopped_later(void)
{
	struct pair p = {};

	disconnect_from_silent(&p);
	qp_make(p.child);
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
}

static void passive_ends_it(void)
{
	struct pair p = {};

	pair_connect(&p);
	qp_make(p.child);
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_destroy_id(p.id));
	WANT(!expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

static void peer_hears_of_it(void)
{
	struct pair p = {};

	pair_connect(&p);
	WANT(!rdma_disconnect(p.id));
	WANT(!rdma_destroy_id(p.id));
	WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

static void peer_is_silent(void)
{
	struct pair p = {};

	disconnect_from_silent(&p);
	WANT(!rdma_destroy_id(p.child));
	WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(closing_count() > 0);
	for (int i = 0; i < slow_time(200) && closing_count(); i++)
		usleep(100000);
	WANT(!closing_count());
}

/* Of a request that was rejected by who sent it ib_cm waits for the answer. */
static void many_taken_back(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int i;

	ch = rdma_create_event_channel();
	WANT(ch);
	/* a work queue runs 512 at once */
	for (i = 0; i < 520; i++) {
		WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 4));
		resolve(ch, id, "10.77.0.99", 7520);
		par.qp_num = 0x800000 + i;
		WANT(!rdma_connect(id, &par));
		WANT(!rdma_reject(id, NULL, 0));
		WANT(!rdma_destroy_id(id));
	}
	peer_is_silent();
}

/* One DISCONNECTED for each, whichever DREQ comes first. */
static void both_end_it(void)
{
	for (int i = 0; i < 8; i++) {
		struct pair p = {};

		pair_connect(&p);
		WANT(!rdma_disconnect(i & 1 ? p.id : p.child));
		WANT(!rdma_disconnect(i & 1 ? p.child : p.id));
		WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
		WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
		/* nothing happens any more */
		WANT(!rdma_disconnect(p.id));
		WANT(!rdma_disconnect(p.child));
		WANT(!expect(p.ch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
		WANT(!expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
		plain.qp_num += 2;
	}
}

static void *answer_late(void *child)
{
	usleep(300000);
	rdma_disconnect(child);
	return NULL;
}

/* On a slow machine the last connection is over for its owner before that. */
static void expect_request(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type type;

	do {
		ev = next_event(ch, 15000);
		WANT(ev);
		type = ev->event;
		rdma_ack_cm_event(ev);
	} while (type == RDMA_CM_EVENT_TIMEWAIT_EXIT);
	WANT(type == RDMA_CM_EVENT_CONNECT_REQUEST);
}

/* The peer would refuse the QP's next connection as long as it knows of the last one. */
static void same_qp_again(void)
{
	struct rdma_event_channel *ch;
	struct rdma_conn_param par;
	struct rdma_cm_id *again;
	struct pair p = {};
	pthread_t thread;

	pair_connect(&p);
	again = new_id(&ch, RDMA_PS_TCP);
	resolve(ch, again, "10.77.0.1", ntohs(rdma_get_src_port(p.listener)));
	par = plain;
	WANT(!rdma_disconnect(p.id));
	WANT(!rdma_destroy_id(p.id));
	WANT(!expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!pthread_create(&thread, NULL, answer_late, p.child));
	WANT(!rdma_connect(again, &par));
	expect_request(p.lch);
	pthread_join(thread, NULL);
}

/* A reply that is never confirmed. */
static void accept_deadline(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = {};

	pair_request(&p, &par);
	WANT(!set_u32(p.child, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 300));
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	/* what is refused leaves the deadline alone */
	WANT(rdma_accept(p.child, &par) && errno == EINVAL);
	WANT(!expect(p.ch, RDMA_CM_EVENT_CONNECT_RESPONSE));
	WANT(expect(p.lch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!next_event(p.lch, 300));
}

static void accept_deadline_met(void)
{
	struct pair p = {};

	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS,
		       slow_time(1000)));
	pair_connect(&p);
	WANT(!next_event(p.lch, 1300));
	WANT(!rdma_disconnect(p.child));
	WANT(!expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
}

static void wait_for_event(struct rdma_event_channel *ch)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	WANT(poll(&p, 1, slow_time(10000)) == 1);
}

/* rxe1 goes, and comes back. */
static void renew_device(void)
{
	WANT(!system("timeout 60 rdma link del rxe1"));
	WANT(!system("rdma link add rxe1 type rxe netdev bond1"));
}

/* The program never sees an id without a device, where it expects one. */
static void device_gone_resolved(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	need_rig();
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!rdma_resolve_addr(id, NULL, addr_of("10.81.0.1", 7), 2000));
	wait_for_event(ch);
	renew_device();
	WANT(expect(ch, RDMA_CM_EVENT_ADDR_ERROR) == -ENODEV);
}

static void route_until_removed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, addr_of("10.81.0.1", 7), 2000));
	WANT(!expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!rdma_resolve_route(id, 2000));
	wait_for_event(ch);
	WANT(!system("rdma link delete rxe1 &"));
	while (!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 8))
		usleep(10000);
	WANT(errno == ENODEV);
	WANT(expect(ch, RDMA_CM_EVENT_ROUTE_ERROR) == -ENODEV);
}

static void device_gone_routed(void)
{
	int status;
	pid_t pid;

	need_rig();
	pid = fork();
	if (!pid) {
		route_until_removed();
		_exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && !status);
	/* the device goes when the process has closed it */
	while (system("rdma link add rxe1 type rxe netdev bond1 2>/dev/null"))
		usleep(100000);
}

static void connect_until_removed(int port)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	resolve(ch, id, "10.81.0.1", port);
	WANT(!rdma_connect(id, &par));
	WANT(!expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
}

static void device_gone_request(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	int status;
	pid_t pid;

	need_rig();
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!rdma_bind_addr(id, addr_of("0.0.0.0", 0)) && !rdma_listen(id, 8));
	pid = fork();
	if (!pid) {
		connect_until_removed(ntohs(rdma_get_src_port(id)));
		_exit(0);
	}
	wait_for_event(ch);
	renew_device();
	WANT(waitpid(pid, &status, 0) == pid && !status);
	WANT(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	WANT(rdma_get_cm_event(ch, &ev) == -1 && errno == EAGAIN);
}

const struct test end_tests[] = {
	{ "who disconnects is told at once", no_answer_needed },
	{ "end: without a QP, told when the peer confirms", answer_needed },
	{ "end: without a QP, told when the peer does not confirm", no_answer_comes },
	{ "end: told at once when the QP is stopped later", stopped_later },
	{ "the passive end disconnects", passive_ends_it },
	{ "the peer of a destroyed id hears of it", peer_hears_of_it },
	{ "end: a silent peer is told for so long only", peer_is_silent },
	{ "end: hundreds of requests taken back keep nobody waiting", many_taken_back },
	{ "both ends disconnect", both_end_it },
	{ "the deadline of an accept", accept_deadline },
	{ "the deadline of an accept that is met", accept_deadline_met },
	{ "the same QP connects again", same_qp_again },
	{ "the device goes before ADDR_RESOLVED is fetched", device_gone_resolved },
	{ "the device goes before ROUTE_RESOLVED is fetched", device_gone_routed },
	{ "the device goes before CONNECT_REQUEST is fetched", device_gone_request },
	{}
};
