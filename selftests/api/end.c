// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The end of a connection: disconnects, deadlines, and devices that are removed. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "api.h"

static void test_no_answer_needed(void)
{
	struct pair p = { .param = plain };

	pair_connect(&p, RDMA_PS_TCP);
	qp_make(p.id);
	WANT(!rdma_disconnect(p.id));
	/* a query may be a command to the firmware, and on RoCE there is no path record to drop */
	WANT(!qp_queries);
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!event_next(p.ch, 300));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

/*
 * DISCONNECTED waits for the peer if the QP does not belong to the id, because the peer may still
 * send to that QP.
 */
static void test_answer_needed(void)
{
	struct pair p = { .param = plain };

	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_disconnect(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!event_next(p.ch, 300));
	WANT(!rdma_disconnect(p.id));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

/* The request of the peer will ask for timeouts and retries of days. */
static void pair_resolve_patient(struct pair *p)
{
	pair_prepare(p, RDMA_PS_TCP);
	WANT(!set_u32(p->id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 31));
	WANT(!set_u32(p->id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 15));
}

/* The peer does not answer the DREQ. The suite has set close_seconds, which limits the wait. */
static void pair_disconnect_silent(struct pair *p)
{
	pair_resolve_patient(p);
	pair_connect(p, RDMA_PS_TCP);
	WANT(!rdma_disconnect(p->child));
}

static void test_no_answer_comes(void)
{
	struct pair p = { .param = plain };

	pair_disconnect_silent(&p);
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED) == -ETIMEDOUT);
}

/* The QP is stopped by a second rdma_disconnect(), after the DREQ was sent. */
static void test_stopped_later(void)
{
	struct pair p = { .param = plain };

	pair_disconnect_silent(&p);
	qp_make(p.child);
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
}

static void test_passive_ends_it(void)
{
	struct pair p = { .param = plain };

	pair_connect(&p, RDMA_PS_TCP);
	qp_make(p.child);
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_destroy_id(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

static void test_peer_hears_of_it(void)
{
	struct pair p = { .param = plain };

	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_disconnect(p.id));
	WANT(!rdma_destroy_id(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

static void test_peer_is_silent(void)
{
	struct pair p = { .param = plain };

	pair_disconnect_silent(&p);
	WANT(!rdma_destroy_id(p.child));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(gauge_sum_get("closing") > 0);
	closing_wait(200);
}

/* Returns an id whose request gets no answer. @n determines the QP number. */
static struct rdma_cm_id *connect_silent(struct rdma_event_channel *ch, int n)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 4));
	id_resolve(ch, id, "10.77.0.99", 7520);
	par.qp_num = 0x800000 + n;
	WANT(!rdma_connect(id, &par));
	return id;
}

/* ib_cm waits for the answer to a request that its sender has withdrawn. */
static void test_many_taken_back(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int i;

	ch = rdma_create_event_channel();
	WANT(ch);
	/* a work queue runs 512 work items at a time */
	for (i = 0; i < 520; i++) {
		id = connect_silent(ch, i);
		WANT(!rdma_reject(id, NULL, 0));
		WANT(!rdma_destroy_id(id));
	}
	test_peer_is_silent();
}

#define MANY 24

/*
 * Returns the id of the next event, which must be of type @type. Skips TIMEWAIT_EXIT of earlier
 * connections, which comes first on a slow machine.
 */
static struct rdma_cm_id *event_expect_id(struct rdma_event_channel *ch,
					  enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	while ((ev = event_next(ch, 15000)) && ev->event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		rdma_ack_cm_event(ev);
	WANT(ev && ev->event == type && !ev->status);
	id = ev->id;
	rdma_ack_cm_event(ev);
	return id;
}

static int id_index(struct rdma_cm_id *const *ids, const struct rdma_cm_id *id)
{
	int i;

	for (i = 0; i < MANY && ids[i] != id; i++)
		;
	WANT(i < MANY);
	return i;
}

/* Connects a new id on the channel of @p to the listener. @n determines the QP numbers. */
static void many_connect_one(const struct pair *p, struct rdma_cm_id **id,
			     struct rdma_cm_id **child, int n)
{
	struct rdma_conn_param par = plain;

	WANT(!rdma_create_id(p->ch, id, NULL, RDMA_PS_TCP));
	id_resolve(p->ch, *id, "10.77.0.1", ntohs(rdma_get_src_port(p->listener)));
	par.qp_num = plain.qp_num + 2 * n;
	WANT(!rdma_connect(*id, &par));
	*child = event_expect_id(p->lch, RDMA_CM_EVENT_CONNECT_REQUEST);
	par.qp_num++;
	WANT(!rdma_accept(*child, &par));
	WANT(event_expect_id(p->ch, RDMA_CM_EVENT_CONNECT_RESPONSE) == *id);
	WANT(!rdma_establish(*id));
	WANT(event_expect_id(p->lch, RDMA_CM_EVENT_ESTABLISHED) == *child);
}

/* Half of the ids of a channel are destroyed while all are connected. The others are as before. */
static void test_half_go(void)
{
	struct rdma_cm_id *id[MANY], *child[MANY], *extra[2];
	struct pair p = { .param = plain };
	int i, n;

	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!rdma_bind_addr(p.listener, ip_addr("10.77.0.1", 0)) && !rdma_listen(p.listener, 8));
	p.ch = rdma_create_event_channel();
	WANT(p.ch);
	for (i = 0; i < MANY; i++)
		many_connect_one(&p, &id[i], &child[i], i);
	for (i = 0; i < MANY; i += 2)
		WANT(!rdma_destroy_id(id[i]));
	for (n = 0; n < MANY / 2; n++) {
		i = id_index(child, event_expect_id(p.lch, RDMA_CM_EVENT_DISCONNECTED));
		WANT(i % 2 == 0);
		WANT(!rdma_disconnect(child[i]) && !rdma_destroy_id(child[i]));
		child[i] = NULL;
	}
	closing_wait(200);

	/* the channels and the listener still work, and the other half is still connected */
	many_connect_one(&p, &extra[0], &extra[1], MANY);
	for (i = 1; i < MANY; i += 2) {
		WANT(!rdma_disconnect(id[i]));
		WANT(event_expect_id(p.lch, RDMA_CM_EVENT_DISCONNECTED) == child[i]);
		WANT(!rdma_disconnect(child[i]));
		WANT(event_expect_id(p.ch, RDMA_CM_EVENT_DISCONNECTED) == id[i]);
		WANT(!rdma_destroy_id(id[i]) && !rdma_destroy_id(child[i]));
	}
	closing_wait(200);
}

/* Each side gets one DISCONNECTED, whichever DREQ arrives first. */
static void test_both_end_it(void)
{
	for (int i = 0; i < 8; i++) {
		struct pair p = { .param = plain };

		pair_connect(&p, RDMA_PS_TCP);
		WANT(!rdma_disconnect(i & 1 ? p.id : p.child));
		WANT(!rdma_disconnect(i & 1 ? p.child : p.id));
		WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
		WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
		/* these calls have no effect */
		WANT(!rdma_disconnect(p.id));
		WANT(!rdma_disconnect(p.child));
		WANT(!event_expect(p.ch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
		WANT(!event_expect(p.lch, RDMA_CM_EVENT_TIMEWAIT_EXIT));
		plain.qp_num += 2;
	}
}

static void *disconnect_late(void *child)
{
	usleep(300000);
	rdma_disconnect(child);
	return NULL;
}

/*
 * The peer would refuse the next connection of the QP until it has noticed the end of the last one,
 * so rdma_connect() waits for that.
 */
static void test_same_qp_again(void)
{
	struct rdma_event_channel *ch;
	struct rdma_conn_param par;
	struct rdma_cm_id *again;
	struct pair p = { .param = plain };
	pthread_t thread;

	pair_connect(&p, RDMA_PS_TCP);
	again = new_id(&ch, RDMA_PS_TCP);
	id_resolve(ch, again, "10.77.0.1", ntohs(rdma_get_src_port(p.listener)));
	par = plain;
	WANT(!rdma_disconnect(p.id));
	WANT(!rdma_destroy_id(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!pthread_create(&thread, NULL, disconnect_late, p.child));
	WANT(!rdma_connect(again, &par));
	event_expect_id(p.lch, RDMA_CM_EVENT_CONNECT_REQUEST);
	pthread_join(thread, NULL);
}

/*
 * The peer gets the REJ of an attempt before the next request of the same QP, which it would refuse
 * as stale otherwise. The REJ is sent by a work item, which waits behind hundreds of others.
 */
static void test_same_qp_after_attempt(void)
{
	struct pair p = { .param = plain };
	struct rdma_cm_id *id[200], *first;
	int i;

	need_rig();
	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!pair_request(&p, RDMA_PS_TCP));
	first = p.id;
	p.id = NULL;
	WANT(!pair_route(&p, RDMA_PS_TCP));
	for (i = 0; i < 200; i++)
		id[i] = connect_silent(p.ch, i);
	for (i = 0; i < 200; i++)
		WANT(!rdma_destroy_id(id[i]));
	WANT(!rdma_destroy_id(first) && !rdma_destroy_id(p.child));
	WANT(!pair_request(&p, RDMA_PS_TCP));
}

/* The peer never confirms the reply. */
static void test_accept_deadline(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!set_u32(p.child, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 300));
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	/* a call that is refused does not change the deadline */
	WANT(rdma_accept(p.child, &par) && errno == EINVAL);
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_CONNECT_RESPONSE));
	WANT(event_expect(p.lch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(p.lch, 300));
}

#define RESPONSE_TIMEOUT "/sys/module/rdma_cmx/parameters/cm_response_timeout"

static void response_timeout_reset(void)
{
	file_write(RESPONSE_TIMEOUT, "20");
}

/* The peer never confirms the reply and wants it to be repeated for days. The host limits that. */
static void test_accept_bound(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_resolve_patient(&p);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	atexit(response_timeout_reset);
	WANT(!file_write(RESPONSE_TIMEOUT, "12"));
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_CONNECT_RESPONSE));
	WANT(event_expect(p.lch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(p.lch, 300));
}

static void test_accept_deadline_met(void)
{
	struct pair p = { .param = plain };

	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS,
		       slow_time(1000)));
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!event_next(p.lch, 1300));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
}

static void event_wait(struct rdma_event_channel *ch)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	WANT(poll(&p, 1, slow_time(10000)) == 1);
}

/* Removes rxe1 and creates it again. */
static void device_renew(void)
{
	WANT(!system("timeout 60 rdma link del rxe1"));
	WANT(!system("rdma link add rxe1 type rxe netdev bond1"));
}

/* The program never gets ADDR_RESOLVED for an id whose device is gone. */
static void test_device_gone_resolved(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	need_rig();
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!rdma_resolve_addr(id, NULL, ip_addr("10.81.0.1", 7), 2000));
	event_wait(ch);
	device_renew();
	WANT(event_expect(ch, RDMA_CM_EVENT_ADDR_ERROR) == -ENODEV);
}

static void route_until_removed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, ip_addr("10.81.0.1", 7), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!rdma_resolve_route(id, 2000));
	event_wait(ch);
	WANT(!system("rdma link delete rxe1 &"));
	while (!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 8))
		usleep(10000);
	WANT(errno == ENODEV);
	WANT(event_expect(ch, RDMA_CM_EVENT_ROUTE_ERROR) == -ENODEV);
}

/* Runs a function that removes rxe1, which is gone when the process that used it has ended. */
static void removal_run(void (*until_removed)(void))
{
	int status;
	pid_t pid;

	need_rig();
	pid = fork();
	if (!pid) {
		until_removed();
		_exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && !status);
	while (system("rdma link add rxe1 type rxe netdev bond1 2>/dev/null"))
		usleep(100000);
}

static void test_device_gone_routed(void)
{
	removal_run(route_until_removed);
}

static void connect_until_removed(int port)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	id_resolve(ch, id, "10.81.0.1", port);
	WANT(!rdma_connect(id, &par));
	WANT(!event_expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
}

static void test_device_gone_request(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	int status;
	pid_t pid;

	need_rig();
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!rdma_bind_addr(id, ip_addr("0.0.0.0", 0)) && !rdma_listen(id, 8));
	pid = fork();
	if (!pid) {
		connect_until_removed(ntohs(rdma_get_src_port(id)));
		_exit(0);
	}
	event_wait(ch);
	device_renew();
	WANT(waitpid(pid, &status, 0) == pid && !status);
	WANT(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	WANT(rdma_get_cm_event(ch, &ev) == -1 && errno == EAGAIN);
}

/* Each of the three ids gets DEVICE_REMOVAL, and no end of the connection. */
static void pair_until_removed(void)
{
	struct pair p = { .param = plain, .addr = "10.81.0.1" };

	pair_connect(&p, RDMA_PS_TCP);
	WANT(!system("rdma link delete rxe1 &"));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!event_next(p.ch, 300));
	WANT(!event_next(p.lch, 0));
}

static void test_device_gone_pair(void)
{
	removal_run(pair_until_removed);
}

const struct test end_tests[] = {
	{ "end: the side that disconnects gets DISCONNECTED at once", test_no_answer_needed },
	{ "end: an id that has no QP gets DISCONNECTED with the DREP", test_answer_needed },
	{ "end: an id that has no QP gets DISCONNECTED after lost DREPs", test_no_answer_comes },
	{ "end: DISCONNECTED arrives at once when the QP is stopped later", test_stopped_later },
	{ "end: the passive side disconnects", test_passive_ends_it },
	{ "end: the peer of a destroyed id gets DISCONNECTED", test_peer_hears_of_it },
	{ "end: DREQs to a silent peer are repeated for a limited time", test_peer_is_silent },
	{ "end: hundreds of cancelled requests do not delay other ids", test_many_taken_back },
	{ "end: half of the ids go, and the others stay connected", test_half_go },
	{ "both ends disconnect", test_both_end_it },
	{ "the deadline of an accept", test_accept_deadline },
	{ "an accept waits only as long as the host allows", test_accept_bound },
	{ "the deadline of an accept that is met", test_accept_deadline_met },
	{ "the same QP connects again", test_same_qp_again },
	{ "the same QP connects after an attempt that was given up", test_same_qp_after_attempt },
	{ "the device goes before ADDR_RESOLVED is fetched", test_device_gone_resolved },
	{ "the device goes before ROUTE_RESOLVED is fetched", test_device_gone_routed },
	{ "the device goes before CONNECT_REQUEST is fetched", test_device_gone_request },
	{ "the device of both ends goes: DEVICE_REMOVAL comes alone", test_device_gone_pair },
	{}
};
