// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * net: many connections through a bad network, over the public API, so that it runs on either stack
 *
 *	net [OPTION...] WEATHER SERVER DEV CLIENT DEV
 *	net -l [-v]			prints the names of the weathers; -v also those of MADs
 *
 * SERVER and CLIENT are the IPv4 addresses of the two ends, and each DEV is the network interface of
 * the address before it, NAME or NAME@NAMESPACE. Both ends are in this process and run in one thread, so
 * that a kernel in simulated time repeats a run of a seed exactly.
 *
 *	-s SEED		decides what each connection does, and what the network does (1)
 *	-r ROUNDS	repeats all with the next seeds (1)
 *	-n NUM		number of connections of a round (60)
 *	-v		the network is that of selftests/vib
 *	-i		the in-tree stack: what differs is only counted
 *	-t		prints all events
 *
 * A connection is an id of the client, whose plan follows from the seed and its number, and the ids of
 * the requests that the server gets with this number. A round has these phases: connections are
 * made and end in bad weather; the network heals, and data is sent on what is left; the other
 * connections end in bad weather; the network heals, and all that is left must end by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include "../lib/address.h"
#include "../lib/die.h"
#include "../lib/now.h"
#include "weather.h"

#define MAGIC		0x6e657421
#define PORT		7790
#define NUM_EVENTS	(RDMA_CM_EVENT_TIMEWAIT_EXIT + 1)
#define TRIES		3
#define DATA_LEN	64

/* seconds; Documentation/options.rst and connections.rst explain them */
#define CM_TRY		4.1		/* CM_RESPONSE_TIMEOUT 20 */
#define CM_PATH		0.6		/* ib_cm adds the lifetime of the path to each try */
#define CM_TRIES	(16 * (CM_TRY + CM_PATH))
#define CM_TRIES_MRA	(16 * (68.8 + CM_PATH))
#define CM_EARLIEST	64		/* 16 tries */
#define ACCEPT_LIMIT	276
#define CLOSE_SECONDS	59.9
#define JOIN_EARLIEST	3.2
#define JOIN_LIMIT	11
#define CALL_LIMIT	1
#define DATA_LIMIT	60

/* reasons of a REJ */
#define REJ_TIMEOUT	4
#define REJ_CONSUMER	28

enum kind { RC, UD, GROUP };
enum answer { ACCEPT, REJECT, DROP };
enum ending { BY_CLIENT, BY_SERVER, BY_BOTH, CLIENT_GOES, SERVER_GOES, NUM_ENDINGS };

/**
 * struct plan - what a connection is to do. All times are in seconds
 * @kind: of connection; %GROUP joins a multicast group
 * @qp: both ends have QPs
 * @held: lives until the network has healed, and data is sent
 * @start: after the beginning of the round
 * @cancel: the client destroys its id this long after the start, if it is not %INFINITY
 * @answer: of the server
 * @answer_after: time until the answer
 * @hold: time until the connection ends, or of a held one after the network has become bad again
 * @ending: who ends it, by rdma_disconnect() or by destroying the id
 * @linger: how long the client keeps its id afterwards, and the server its own
 */
struct plan {
	enum kind kind;
	bool qp;
	bool held;
	double start;
	double cancel;
	enum answer answer;
	double answer_after;
	double hold;
	enum ending ending;
	double linger[2];
};

enum state {
	NEW, RESOLVES_ADDR, RESOLVES_ROUTE, CONNECTS, JOINS,	/* client */
	REQUESTED, ACCEPTED,					/* server */
	UP, DISCONNECTS, DOWN, EXITED, FAILED, GONE,
	NUM_STATES
};

static const char *const state_names[] = {
	"new", "resolves the address", "resolves the route", "connects", "joins", "has a request", "accepted",
	"up", "disconnects", "down", "after the timewait", "failed", "gone",
};

/**
 * struct end - an id
 * @conn: its connection
 * @index: 0: that of the client; else the number of the request
 * @id: NULL if it does not exist
 * @state: of the id
 * @since: when it got into this state
 * @act: when it is to do the next thing
 * @seen: how often each event came
 * @tries: how often the address or the route was resolved
 * @has_disconnected: rdma_disconnect() was called while it was up
 * @rejected: rdma_reject() was called
 * @was_up: the connection was established, as far as this end knows
 * @peer: index of the request that the client is connected to
 * @mr: covers @in and @out
 * @sent: a completion came for @out
 * @received: @in has the data of the peer
 */
struct end {
	struct conn *conn;
	int index;
	struct rdma_cm_id *id;
	enum state state;
	double since;
	double act;
	int seen[NUM_EVENTS];
	int tries;
	bool has_disconnected;
	bool rejected;
	bool was_up;
	int peer;
	struct ibv_mr *mr;
	bool sent;
	bool received;
	char in[DATA_LEN];
	char out[DATA_LEN];
	struct end *next;
};

/**
 * struct conn - a connection of the client, and the requests that came of it
 * @num: its number
 * @plan: its plan
 * @client: the id of the client
 * @requests: the ids of the server, the newest first
 * @num_requests: their number
 */
struct conn {
	int num;
	struct plan plan;
	struct end client;
	struct end *requests;
	int num_requests;
};

/* private data of each message */
struct tag {
	uint32_t magic;
	uint32_t num;
	uint32_t index;
	uint32_t seed;
};

enum phase { BAD, HEALED, BAD_AGAIN, GOOD };

/* what must be true */
enum oracle { EVENTS, AGREE, TIME, DATA, CALLS, NUM_ORACLES };

static const char *const oracle_names[] = {
	"each event comes at most once and in order",
	"both ends can explain their states",
	"nothing waits longer than documented, or gives up earlier",
	"data arrives on what is established at both ends",
	"the calls succeed, and none of them waits for the peer",
};

static struct {
	const struct weather *weather;
	struct sockaddr_storage addr[2];	/* 0: client, 1: server */
	const char *dev[2];
	uint64_t seed;
	int rounds;
	int num;
	bool vib, intree, trace;
} opt = { .seed = 1, .rounds = 1, .num = 60 };

static struct rdma_event_channel *channel[2];
static struct conn *conns;
static enum phase phase;
static double begun, weather_next;
static double loop_now;			/* when the loop began its current round */
static int weather_step, dark;
static int broken[NUM_ORACLES];
static long seen[2][NUM_EVENTS];

/* what is no fault, but is counted */
static struct {
	int connections;	/* up at both ends */
	int data;		/* of these, data was sent on */
	int again;		/* requests after the server has refused one of the connection */
	int ghosts;		/* requests that no client has made: after the connection was accepted */
	int half_open;		/* one end does not learn of the end of the other in time */
	int cancelled;
	double longest[NUM_STATES];
} count;

/* a random number that depends on the seed, the connection and the purpose only (SplitMix64) */
static uint64_t random_get(int num, int purpose)
{
	uint64_t x = opt.seed * 0x9e3779b97f4a7c15 + num * 0xd1342543de82ef95 + purpose * 0xff51afd7ed558ccd;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static bool random_percent(int num, int purpose, unsigned int percent)
{
	return random_get(num, purpose) % 100 < percent;
}

static double random_time(int num, int purpose, double max)
{
	return random_get(num, purpose) % 10000 * max / 10000;
}

static struct plan plan_make(int n)
{
	struct plan p = {
		.kind = random_percent(n, 0, 75) ? RC : random_percent(n, 1, 60) ? UD : GROUP,
		.qp = random_percent(n, 2, 50),
		.start = random_time(n, 3, 20),
		.cancel = random_percent(n, 4, 15) ? random_time(n, 5, 30) : INFINITY,
		.answer = random_percent(n, 6, 70) ? ACCEPT : random_percent(n, 7, 50) ? REJECT : DROP,
		.answer_after = random_percent(n, 17, 3) ? 1200 :	/* when nobody waits any more */
				random_percent(n, 8, 50) ? 0 : random_time(n, 9, 15),
		.hold = random_time(n, 10, 10),
		.ending = random_get(n, 11) % NUM_ENDINGS,
		.linger[0] = random_percent(n, 12, 50) ? 0 : random_time(n, 13, 200),
		.linger[1] = random_percent(n, 14, 50) ? 0 : random_time(n, 15, 200),
	};

	p.held = p.kind == RC && p.answer == ACCEPT && p.cancel == INFINITY && random_percent(n, 16, 50);
	return p;
}

static const char *end_name(const struct end *e)
{
	static char name[64];

	if (e->index)
		snprintf(name, sizeof(name), "connection %d, request %d", e->conn->num, e->index);
	else
		snprintf(name, sizeof(name), "connection %d, client", e->conn->num);
	return name;
}

static void line_print(const struct end *e, const char *fmt, va_list args)
{
	printf("# %9.3f %s (%s): ", now() - begun, end_name(e), state_names[e->state]);
	vprintf(fmt, args);
	putchar('\n');
}

__attribute__((format(printf, 2, 3))) static void trace_print(const struct end *e, const char *fmt, ...)
{
	va_list args;

	if (!opt.trace)
		return;
	va_start(args, fmt);
	line_print(e, fmt, args);
	va_end(args);
}

__attribute__((format(printf, 3, 4))) static void fault_report(enum oracle oracle, const struct end *e,
							       const char *fmt, ...)
{
	va_list args;

	broken[oracle]++;
	va_start(args, fmt);
	if (opt.trace || (!opt.intree && broken[oracle] <= 10))
		line_print(e, fmt, args);
	va_end(args);
}

static void state_set(struct end *e, enum state state)
{
	double waited = now() - e->since;

	if (waited > count.longest[e->state])
		count.longest[e->state] = waited;
	e->state = state;
	e->since = now();
	e->act = INFINITY;
}

static void call_end(const struct end *e, const char *name, double begin, int ret)
{
	int err = errno;

	trace_print(e, "%s: %s", name, ret ? strerror(err) : "ok");
	if (ret)
		fault_report(CALLS, e, "%s: %s", name, strerror(err));
	if (now() - begin > CALL_LIMIT)
		fault_report(CALLS, e, "%s took %.3f s", name, now() - begin);
}

#define CALL(e, name, ...)						\
({									\
	double call_begun = now();					\
	int call_ret = name(__VA_ARGS__);				\
									\
	call_end(e, #name, call_begun, call_ret);			\
	call_ret;							\
})

static void end_destroy(struct end *e)
{
	trace_print(e, "is destroyed");
	if (e->id) {
		if (e->id->qp)
			rdma_destroy_qp(e->id);
		if (e->mr)
			ibv_dereg_mr(e->mr);
		CALL(e, rdma_destroy_id, e->id);
		e->id = NULL;
	}
	state_set(e, GONE);
}

static struct tag *tag_make(const struct end *e)
{
	static struct tag tag;

	tag = (struct tag){ MAGIC, e->conn->num, e->index, opt.seed };
	return &tag;
}

static void data_fill(char *data, const struct end *e)
{
	memset(data, 0, DATA_LEN);
	snprintf(data, DATA_LEN, "seed %llu connection %d from %s", (unsigned long long)opt.seed, e->conn->num,
		 e->index ? "the server" : "the client");
}

static void qp_create(struct end *e)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = e->conn->plan.kind == RC ? IBV_QPT_RC : IBV_QPT_UD,
	};

	if (!e->conn->plan.qp || CALL(e, rdma_create_qp, e->id, NULL, &attr))
		return;
	if (e->conn->plan.kind != RC)
		return;
	e->mr = rdma_reg_msgs(e->id, e->in, sizeof(e->in) + sizeof(e->out));
	if (!e->mr || rdma_post_recv(e->id, NULL, e->in, sizeof(e->in), e->mr))
		fault_report(CALLS, e, "no receive: %s", strerror(errno));
}

static struct rdma_conn_param conn_param(const struct end *e)
{
	return (struct rdma_conn_param){
		.private_data = tag_make(e),
		.private_data_len = sizeof(struct tag),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		/* without a QP. No connection has that of another one */
		.qp_num = 0x10000 + (opt.seed % 100 * 1000 + e->conn->num) * 16 + e->index % 16,
	};
}

static void end_fail(struct end *e)
{
	state_set(e, FAILED);
	e->act = now() + e->conn->plan.linger[!!e->index];
}

/* Creates the id if there is none. In half of the cases, the neighbour is asked for its address. */
static void addr_resolve(struct end *e)
{
	if (random_percent(e->conn->num, 20 + e->tries, 50))
		weather_forget(opt.dev[0], ((struct sockaddr_in *)&opt.addr[1])->sin_addr);
	e->tries++;
	/* our id gets its namespace here, an in-tree id when it is created */
	weather_enter(opt.dev[0]);
	if (!e->id && rdma_create_id(channel[0], &e->id, e, e->conn->plan.kind == RC ? RDMA_PS_TCP : RDMA_PS_UDP))
		die("rdma_create_id");
	if (CALL(e, rdma_resolve_addr, e->id, (void *)&opt.addr[0], (void *)&opt.addr[1], 10000))
		end_fail(e);
	else
		state_set(e, RESOLVES_ADDR);
	weather_enter(NULL);
}

static void route_resolve(struct end *e)
{
	e->tries++;
	if (CALL(e, rdma_resolve_route, e->id, 10000))
		end_fail(e);
	else
		state_set(e, RESOLVES_ROUTE);
}

/* Several ids have the same group. The stacks have different ones, so that the SA shows whose are left. */
static struct sockaddr *group_addr(const struct end *e)
{
	static struct sockaddr_in group = { .sin_family = AF_INET };

	group.sin_addr.s_addr = htonl((opt.intree ? 0xef4e0000 : 0xef4d0000) + e->conn->num % 16);
	return (struct sockaddr *)&group;
}

static void group_join(struct end *e)
{
	if (CALL(e, rdma_join_multicast, e->id, group_addr(e), e))
		end_fail(e);
	else
		state_set(e, JOINS);
}

static void client_connect(struct end *e)
{
	struct rdma_conn_param param = conn_param(e);

	qp_create(e);
	if (CALL(e, rdma_connect, e->id, &param))
		end_fail(e);
	else
		state_set(e, CONNECTS);
}

/* When does the end become active by itself? The other one gets two minutes to do so. */
static double ending_time(const struct end *e)
{
	const struct plan *p = &e->conn->plan;
	bool server_ends = p->ending == BY_SERVER || p->ending == SERVER_GOES;

	if (p->kind == RC && p->ending != BY_BOTH && server_ends != !!e->index)
		return p->hold + 120;
	return p->hold;
}

static void end_set_up(struct end *e)
{
	e->was_up = true;
	state_set(e, UP);
	if (!e->conn->plan.held || phase > HEALED)
		e->act = now() + ending_time(e);
}

static void end_disconnect(struct end *e)
{
	const struct plan *p = &e->conn->plan;

	if (p->kind == GROUP && e->conn->num & 1)
		CALL(e, rdma_leave_multicast, e->id, group_addr(e));
	if (p->kind != RC || p->ending == (e->index ? SERVER_GOES : CLIENT_GOES)) {
		end_destroy(e);
		return;
	}
	e->has_disconnected = true;
	CALL(e, rdma_disconnect, e->id);
	state_set(e, DISCONNECTS);
}

static void server_answer(struct end *e)
{
	struct rdma_conn_param param;

	switch (e->conn->plan.answer) {
	case ACCEPT:
		qp_create(e);
		param = conn_param(e);
		/* The client may have given up. */
		if (rdma_accept(e->id, &param)) {
			trace_print(e, "rdma_accept: %s", strerror(errno));
			end_fail(e);
		} else if (e->conn->plan.kind == RC) {
			state_set(e, ACCEPTED);
		} else {
			end_set_up(e);
		}
		break;
	case REJECT:
		e->rejected = true;
		if (rdma_reject(e->id, tag_make(e), sizeof(struct tag)))
			trace_print(e, "rdma_reject: %s", strerror(errno));
		end_fail(e);
		break;
	case DROP:
		end_destroy(e);
		break;
	}
}

static struct end *request_find(const struct conn *c, int index)
{
	struct end *e;

	for (e = c->requests; e; e = e->next)
		if (e->index == index)
			return e;
	return NULL;
}

static const struct tag *event_tag(const struct rdma_cm_event *ev, bool ud)
{
	const struct tag *tag = ud ? ev->param.ud.private_data : ev->param.conn.private_data;
	int len = ud ? ev->param.ud.private_data_len : ev->param.conn.private_data_len;

	return len >= (int)sizeof(*tag) && tag->magic == MAGIC ? tag : NULL;
}

/* A request is one more of a connection: its first one may be lost for the server, or refused. */
static void request_handle(struct rdma_cm_event *ev)
{
	bool ud = ev->listen_id->ps == RDMA_PS_UDP;
	const struct tag *tag = event_tag(ev, ud);
	struct end *e, *before;
	struct conn *c;

	if (!tag || tag->num >= (uint32_t)opt.num || tag->index || tag->seed != (uint32_t)opt.seed ||
	    (conns[tag->num].plan.kind == UD) != ud) {
		fault_report(AGREE, &conns[0].client, "a request that no client can have sent");
		rdma_destroy_id(ev->id);
		return;
	}
	c = &conns[tag->num];
	e = calloc(1, sizeof(*e));
	*e = (struct end){ .conn = c, .index = ++c->num_requests, .id = ev->id, .next = c->requests,
			   .state = REQUESTED, .since = now() };
	c->requests = e;
	e->id->context = e;
	e->act = now() + (c->client.state == CONNECTS ? c->plan.answer_after : 0);
	if (c->client.state < CONNECTS)
		fault_report(AGREE, e, "the client has not connected");
	for (before = e->next; before && before->state != ACCEPTED && !before->was_up; before = before->next)
		;
	if (before)
		count.ghosts++;
	else if (e->next)
		count.again++;
	trace_print(e, "CONNECT_REQUEST");
}

static bool request_has_ended(const struct conn *c)
{
	const struct end *r;

	for (r = c->requests; r; r = r->next)
		if (r->state == FAILED || r->state == GONE)
			return true;
	return false;
}

/* Has the server told the client so? */
static bool rej_is_explained(const struct end *e, const struct rdma_cm_event *ev)
{
	const struct tag *tag = event_tag(ev, e->conn->plan.kind != RC);
	struct end *r = tag ? request_find(e->conn, tag->index) : NULL;

	if (tag)
		return tag->num == (uint32_t)e->conn->num && r && r->rejected;
	return request_has_ended(e->conn);
}

static void client_set_peer(struct end *e, const struct rdma_cm_event *ev)
{
	const struct tag *tag = event_tag(ev, e->conn->plan.kind != RC);
	struct end *r = tag ? request_find(e->conn, tag->index) : NULL;

	if (!r || tag->num != (uint32_t)e->conn->num || tag->seed != (uint32_t)opt.seed)
		fault_report(AGREE, e, "established, but nobody has accepted");
	else
		e->peer = tag->index;
}

/* Has the peer of a disconnected end ended the connection? */
static bool disconnect_is_explained(const struct end *e)
{
	const struct end *peer = e->index ? &e->conn->client : request_find(e->conn, e->peer);

	return !peer || peer->has_disconnected || peer->state == GONE || peer->state == FAILED;
}

static bool client_can_have_given_up(const struct end *e)
{
	const struct end *client = &e->conn->client;

	return client->state == GONE || client->state == FAILED || client->peer != e->index;
}

/* How long the id waits at least until an event says that the peer is silent */
static double event_earliest(const struct end *e, enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return 10;
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		return JOIN_EARLIEST;
	case RDMA_CM_EVENT_UNREACHABLE:
		return CM_EARLIEST;
	case RDMA_CM_EVENT_DISCONNECTED:
		return e->has_disconnected ? CLOSE_SECONDS : CM_EARLIEST;
	default:
		return 0;
	}
}

/* what else an event must be consistent with, before the state of the id changes */
static void event_check(struct end *e, const struct rdma_cm_event *ev)
{
	if (ev->status == -ETIMEDOUT && now() - e->since < event_earliest(e, ev->event))
		fault_report(TIME, e, "%s after %.3f s only", rdma_event_str(ev->event), now() - e->since);
	switch (ev->event) {
	case RDMA_CM_EVENT_UNREACHABLE:
		/* what a refused SIDR REQ leads to */
		if (ev->status <= 0)
			break;
		/* fallthrough */
	case RDMA_CM_EVENT_REJECTED:
		if (e->index ? !client_can_have_given_up(e) : !rej_is_explained(e, ev))
			fault_report(AGREE, e, "rejected with reason %d, but the peer has not", ev->status);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		/* ib_core waits one second for the MAC address of the peer when the QP becomes ready */
		if (!(ev->status == -ETIMEDOUT && e->conn->plan.qp) && !request_has_ended(e->conn))
			fault_report(AGREE, e, "CONNECT_ERROR %d, but the peer has not given up", ev->status);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		client_set_peer(e, ev);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (!e->index)
			client_set_peer(e, ev);
		else if (e->conn->client.peer != e->index || !e->conn->client.was_up)
			fault_report(AGREE, e, "established, but the client is not");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (!e->has_disconnected && !disconnect_is_explained(e))
			fault_report(AGREE, e, "disconnected, but the peer has not");
		break;
	default:
		break;
	}
}

/* The state after an event, in each state in which it may come. Others are faults. */
static const struct {
	enum state from;
	enum rdma_cm_event_type event;
	enum state to;
} table[] = {
	{ RESOLVES_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED, RESOLVES_ROUTE },
	{ RESOLVES_ADDR, RDMA_CM_EVENT_ADDR_ERROR, RESOLVES_ADDR },
	{ RESOLVES_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED, CONNECTS },
	{ RESOLVES_ROUTE, RDMA_CM_EVENT_ROUTE_ERROR, RESOLVES_ROUTE },
	{ JOINS, RDMA_CM_EVENT_MULTICAST_JOIN, UP },
	{ JOINS, RDMA_CM_EVENT_MULTICAST_ERROR, FAILED },
	{ CONNECTS, RDMA_CM_EVENT_CONNECT_RESPONSE, UP },
	{ CONNECTS, RDMA_CM_EVENT_ESTABLISHED, UP },
	{ CONNECTS, RDMA_CM_EVENT_REJECTED, FAILED },
	{ CONNECTS, RDMA_CM_EVENT_UNREACHABLE, FAILED },
	/* the peer has given up while the QP was made ready */
	{ CONNECTS, RDMA_CM_EVENT_CONNECT_ERROR, FAILED },
	/* the client has given up */
	{ REQUESTED, RDMA_CM_EVENT_REJECTED, FAILED },
	{ ACCEPTED, RDMA_CM_EVENT_ESTABLISHED, UP },
	{ ACCEPTED, RDMA_CM_EVENT_REJECTED, FAILED },
	{ ACCEPTED, RDMA_CM_EVENT_UNREACHABLE, FAILED },
	/* the DREQ has overtaken the RTU */
	{ ACCEPTED, RDMA_CM_EVENT_DISCONNECTED, DOWN },
	/* the server has given up, and the RTU was lost */
	{ UP, RDMA_CM_EVENT_REJECTED, FAILED },
	{ DISCONNECTS, RDMA_CM_EVENT_REJECTED, FAILED },
	{ UP, RDMA_CM_EVENT_DISCONNECTED, DOWN },
	{ DISCONNECTS, RDMA_CM_EVENT_DISCONNECTED, DOWN },
	{ DOWN, RDMA_CM_EVENT_TIMEWAIT_EXIT, EXITED },
};

static bool state_find(const struct end *e, enum rdma_cm_event_type type, enum state *to)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].from == e->state && table[i].event == type) {
			*to = table[i].to;
			return true;
		}
	}
	return false;
}

static void establish(struct end *e)
{
	/* the server may have given up meanwhile */
	if (rdma_establish(e->id)) {
		trace_print(e, "rdma_establish: %s", strerror(errno));
		end_fail(e);
	} else {
		end_set_up(e);
	}
}

/* Goes on after an event, in the state that the table has for it. */
static void end_follow(struct end *e, enum rdma_cm_event_type type, enum state to)
{
	switch (to) {
	case RESOLVES_ADDR:
		if (e->tries == TRIES)
			end_fail(e);
		else
			addr_resolve(e);
		break;
	case RESOLVES_ROUTE:
		if (type == RDMA_CM_EVENT_ADDR_RESOLVED)
			e->tries = 0;
		if (e->conn->plan.kind == GROUP)
			group_join(e);
		else if (e->tries == TRIES)
			end_fail(e);
		else
			route_resolve(e);
		break;
	case CONNECTS:
		client_connect(e);
		break;
	case UP:
		if (type == RDMA_CM_EVENT_CONNECT_RESPONSE)
			establish(e);
		else
			end_set_up(e);
		break;
	case DOWN:
		/* the reply to the peer; half of the servers let rdma_destroy_id() send it */
		if (!e->has_disconnected && (!e->index || e->conn->num & 1))
			CALL(e, rdma_disconnect, e->id);
		state_set(e, DOWN);
		e->act = now() + e->conn->plan.linger[!!e->index];
		break;
	case FAILED:
		end_fail(e);
		break;
	default:
		/* the time of its end does not change */
		e->state = to;
	}
}

static void event_handle(int side, struct rdma_cm_event *ev)
{
	enum rdma_cm_event_type type = ev->event;
	struct end *e = ev->id->context;
	enum state to;

	if (type < NUM_EVENTS)
		seen[side][type]++;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		request_handle(ev);
		rdma_ack_cm_event(ev);
		return;
	}
	trace_print(e, "%s %d", rdma_event_str(type), ev->status);
	if (!state_find(e, type, &to)) {
		fault_report(EVENTS, e, "%s %d", rdma_event_str(type), ev->status);
		rdma_ack_cm_event(ev);
		return;
	}
	event_check(e, ev);
	rdma_ack_cm_event(ev);
	end_follow(e, type, to);
}

static void channel_drain(int side)
{
	struct rdma_cm_event *ev;

	while (!rdma_get_cm_event(channel[side], &ev))
		event_handle(side, ev);
	if (errno != EAGAIN)
		die("rdma_get_cm_event");
}

/* Something is due by the plan. */
static void end_act(struct end *e)
{
	e->act = INFINITY;
	switch (e->state) {
	case NEW:
		addr_resolve(e);
		break;
	case REQUESTED:
		server_answer(e);
		break;
	case UP:
		end_disconnect(e);
		break;
	default:
		end_destroy(e);
		break;
	}
}

/* How long the id may wait in its state for an event */
static double state_limit(const struct end *e)
{
	switch (e->state) {
	case RESOLVES_ADDR:
		return 10 + CALL_LIMIT;
	case RESOLVES_ROUTE:
		return 1.1 * 10 + CALL_LIMIT;
	case JOINS:
		return JOIN_LIMIT;
	case CONNECTS:
		/* Once the server has the request, ib_cm may have sent an MRA. */
		return e->conn->num_requests ? CM_TRIES_MRA : CM_TRIES;
	case ACCEPTED:
		return ACCEPT_LIMIT;
	case DISCONNECTS:
		return CM_TRIES;
	default:
		return INFINITY;
	}
}

static void end_check_time(struct end *e)
{
	double limit = state_limit(e);

	if (loop_now - e->since <= limit)
		return;
	fault_report(TIME, e, "no event for %.1f s", limit);
	end_destroy(e);
}

/* Calls @each for each id. */
static void ends_walk(void (*each)(struct end *e))
{
	struct end *e;
	int i;

	for (i = 0; i < opt.num; i++) {
		each(&conns[i].client);
		for (e = conns[i].requests; e; e = e->next)
			each(e);
	}
}

/*
 * Where the peer of an id that is up has ended, the DREQ must arrive. It is repeated for 60 s, which is
 * less than the longest partition.
 */
static void end_check_half_open(struct end *e)
{
	const struct end *peer = e->index ? &e->conn->client : request_find(e->conn, e->peer);
	bool peer_knows = peer && peer->was_up && (!e->index || peer->peer == e->index);

	if (e->state != UP || e->conn->plan.kind != RC || !peer_knows)
		return;
	if ((peer->state != GONE && peer->state != EXITED) || loop_now - peer->since < CM_TRIES)
		return;
	count.half_open++;
	if (!opt.weather->dark)
		fault_report(AGREE, e, "up, but the peer has ended");
	end_destroy(e);
}

static double next_act;

static void end_run(struct end *e)
{
	struct conn *c = e->conn;

	if (!e->index && e->state != NEW && e->state != GONE && loop_now - begun >= c->plan.start + c->plan.cancel) {
		count.cancelled++;
		end_destroy(e);
	}
	if (loop_now >= e->act)
		end_act(e);
	end_check_time(e);
	end_check_half_open(e);
	if (e->act < next_act)
		next_act = e->act;
}

static void weather_change(void)
{
	double wait = random_time(weather_step, 100, 40);
	bool bad = phase == BAD || phase == BAD_AGAIN;

	weather_step++;
	dark = DARK_NONE;
	if (bad && opt.weather->dark && weather_step % 2 == 0) {
		dark = 1 + random_get(weather_step, 101) % 3;
		wait = random_time(weather_step, 102, 90);
	}
	weather_set(bad ? opt.weather : NULL, dark, random_get(weather_step, 103));
	if (opt.trace)
		printf("# %9.3f weather: %s, dark %d\n", now() - begun, bad ? "bad" : "good", dark);
	weather_next = bad && opt.weather->dark ? now() + 5 + wait : INFINITY;
}

static int open_ends;

static void end_count_open(struct end *e)
{
	if (e->state == GONE || (phase <= HEALED && e->conn->plan.held && e->state == UP))
		return;
	open_ends++;
}

static bool ends_are_settled(void)
{
	open_ends = 0;
	ends_walk(end_count_open);
	return !open_ends;
}

/* One round of the loop: waits for events for up to @seconds. */
static void loop_run(double seconds)
{
	struct pollfd p[] = {
		{ .fd = channel[0]->fd, .events = POLLIN },
		{ .fd = channel[1]->fd, .events = POLLIN },
	};
	double wait;

	loop_now = now();
	next_act = loop_now + seconds;
	ends_walk(end_run);
	if (loop_now >= weather_next)
		weather_change();
	wait = fmin(next_act, weather_next) - now();
	poll(p, 2, wait > 0 ? wait * 1000 + 1 : 0);
	channel_drain(0);
	channel_drain(1);
}

static void loop_run_for(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		loop_run(fmin(1, end - now()));
}

static void phase_begin(enum phase next)
{
	phase = next;
	weather_change();
}

/* Until the ids are where they should be, in their own time */
static void phase_settle(void)
{
	while (!ends_are_settled())
		loop_run(1);
}

static struct end *conn_peer(struct conn *c)
{
	struct end *peer = request_find(c, c->client.peer);

	return c->client.state == UP && peer && peer->state == UP ? peer : NULL;
}

/* Returns the peer if data is sent on the connection. */
static struct end *conn_data_peer(struct conn *c)
{
	return c->plan.held && c->plan.qp ? conn_peer(c) : NULL;
}

static void data_send(struct end *e)
{
	data_fill(e->out, e);
	if (rdma_post_send(e->id, NULL, e->out, sizeof(e->out), e->mr, IBV_SEND_SIGNALED))
		fault_report(DATA, e, "rdma_post_send: %s", strerror(errno));
}

static void data_poll(struct end *e, struct end *peer)
{
	char want[DATA_LEN];
	struct ibv_wc wc;

	while (ibv_poll_cq(e->id->send_cq, 1, &wc) > 0) {
		if (wc.status)
			fault_report(DATA, e, "send: %s", ibv_wc_status_str(wc.status));
		e->sent = true;
	}
	while (ibv_poll_cq(e->id->recv_cq, 1, &wc) > 0) {
		data_fill(want, peer);
		if (wc.status || memcmp(e->in, want, DATA_LEN))
			fault_report(DATA, e, "receive: %s: %.*s", ibv_wc_status_str(wc.status), DATA_LEN,
				     e->in);
		e->received = true;
	}
}

/* Returns the number of ends that wait for data. */
static int data_wait(void)
{
	struct end *client, *server;
	int i, waiting = 0;

	for (i = 0; i < opt.num; i++) {
		client = &conns[i].client;
		server = conn_data_peer(&conns[i]);
		if (!server)
			continue;
		data_poll(client, server);
		data_poll(server, client);
		waiting += !client->sent + !client->received + !server->sent + !server->received;
	}
	return waiting;
}

static void data_report_missing(void)
{
	struct end *client, *server;
	int i;

	for (i = 0; i < opt.num; i++) {
		client = &conns[i].client;
		server = conn_data_peer(&conns[i]);
		if (server && !(client->sent && client->received && server->sent && server->received))
			fault_report(DATA, client, "no data");
	}
}

static void data_exchange(void)
{
	double end = now() + DATA_LIMIT;
	struct end *server;
	int i;

	for (i = 0; i < opt.num; i++) {
		count.connections += conns[i].plan.held && conn_peer(&conns[i]);
		server = conn_data_peer(&conns[i]);
		if (!server)
			continue;
		count.data++;
		data_send(&conns[i].client);
		data_send(server);
	}
	while (data_wait() && now() < end)
		loop_run(0.01);
	data_report_missing();
}

static void end_release_held(struct end *e)
{
	if (e->conn->plan.held && e->state == UP)
		e->act = now() + ending_time(e);
}

static void round_run(void)
{
	int i;

	conns = calloc(opt.num, sizeof(*conns));
	begun = now();
	weather_step = 0;
	for (i = 0; i < opt.num; i++) {
		conns[i].num = i;
		conns[i].plan = plan_make(i);
		conns[i].client.conn = &conns[i];
		conns[i].client.since = begun;
		conns[i].client.act = begun + conns[i].plan.start;
	}
	phase_begin(BAD);
	phase_settle();
	phase_begin(HEALED);
	loop_run_for(20);
	phase_settle();
	data_exchange();
	phase_begin(BAD_AGAIN);
	ends_walk(end_release_held);
	phase_settle();
	phase_begin(GOOD);
	/* until what is still on its way has arrived, and has ended */
	loop_run_for(20);
	phase_settle();
}

static void round_free(void)
{
	struct end *e;
	int i;

	for (i = 0; i < opt.num; i++) {
		while ((e = conns[i].requests)) {
			conns[i].requests = e->next;
			free(e);
		}
	}
	free(conns);
}

static void listener_create(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	weather_enter(opt.dev[1]);
	if (rdma_create_id(channel[1], &id, NULL, ps) || rdma_bind_addr(id, (void *)&opt.addr[1]) ||
	    rdma_listen(id, 1000))
		die("listener");
	weather_enter(NULL);
}

static void channel_open(int side)
{
	channel[side] = rdma_create_event_channel();
	if (!channel[side] || fcntl(channel[side]->fd, F_SETFL, O_NONBLOCK))
		die("rdma_create_event_channel");
}

static void counts_print(void)
{
	int side, i;

	for (side = 0; side < 2; side++) {
		printf("# %s:", side ? "server" : "client");
		for (i = 0; i < NUM_EVENTS; i++)
			if (seen[side][i])
				printf(" %s %ld", rdma_event_str(i) + strlen("RDMA_CM_EVENT_"), seen[side][i]);
		printf("\n");
	}
	printf("# %d held connections, %d of them with data; %d ids destroyed early\n", count.connections,
	       count.data, count.cancelled);
	printf("# requests repeated after a refusal %d, that no client made %d; half open %d\n", count.again,
	       count.ghosts, count.half_open);
	printf("# longest wait:");
	for (i = RESOLVES_ADDR; i <= DISCONNECTS; i++)
		if (count.longest[i] > 1 && i != UP)
			printf(" %s %.1f s;", state_names[i], count.longest[i]);
	printf("\n");
}

static int faults_count(void)
{
	int i, n = 0;

	for (i = 0; i < NUM_ORACLES; i++)
		n += broken[i];
	return n;
}

static void faults_print(void)
{
	int i;

	printf("# faults of the in-tree stack:\n");
	for (i = 0; i < NUM_ORACLES; i++)
		printf("# %5d not: %s\n", broken[i], oracle_names[i]);
}

static void result_print(void)
{
	int i;

	for (i = 0; i < NUM_ORACLES; i++)
		printf("%s %d %s\n", broken[i] ? "not ok" : "ok", i + 1, oracle_names[i]);
	printf("1..%d\n", NUM_ORACLES);
}

static int usage(void)
{
	fprintf(stderr, "net [-s SEED] [-r ROUNDS] [-n NUM] [-vit] WEATHER SERVER DEV CLIENT DEV\n");
	return 2;
}

static bool options_parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "s:r:n:vitl")) != -1) {
		switch (o) {
		case 's':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			opt.rounds = atoi(optarg);
			break;
		case 'n':
			opt.num = atoi(optarg);
			break;
		case 'v':
			opt.vib = true;
			break;
		case 'i':
			opt.intree = true;
			break;
		case 't':
			opt.trace = true;
			break;
		case 'l':
			opt.rounds = 0;
			break;
		default:
			return false;
		}
	}
	if (!opt.rounds)
		return true;
	if (argc - optind != 5)
		return false;
	opt.weather = weather_find(argv[optind]);
	opt.addr[1] = address_parse(argv[optind + 1], PORT);
	opt.dev[1] = argv[optind + 2];
	opt.addr[0] = address_parse(argv[optind + 3], 0);
	opt.dev[0] = argv[optind + 4];
	return opt.weather;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	uint64_t last;

	if (!options_parse(argc, argv))
		return usage();
	if (!opt.rounds) {
		weather_list(opt.vib);
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_NOFILE, &files);
	weather_use_netem(opt.dev[0], opt.dev[1]);
	if (opt.vib)
		weather_use_vib();
	channel_open(0);
	channel_open(1);
	listener_create(RDMA_PS_TCP);
	listener_create(RDMA_PS_UDP);
	for (last = opt.seed + opt.rounds - 1; opt.seed <= last; opt.seed++) {
		int before = faults_count();

		round_run();
		if (faults_count() != before && !opt.intree)
			printf("# that was seed %llu\n", (unsigned long long)opt.seed);
		round_free();
	}
	counts_print();
	if (opt.intree)
		faults_print();
	else
		result_print();
	return !opt.intree && faults_count();
}
