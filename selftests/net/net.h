/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Connections through a bad network, see net.c
 */
#ifndef NET_H
#define NET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <rdma/rdma_cma.h>
#include "../lib/now.h"
#include "weather.h"

#define NUM_EVENTS	(RDMA_CM_EVENT_TIMEWAIT_EXIT + 1)
#define DATA_LEN	64

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

/**
 * struct end - an id
 * @conn: its connection
 * @index: 0: that of the client; else the number of the request
 * @id: NULL if it does not exist
 * @state: of the id
 * @since: when it got into this state
 * @act: when it is to do the next thing
 * @tries: how often the address or the route was resolved
 * @has_disconnected: rdma_disconnect() was called while it was up
 * @has_replied: rdma_disconnect() was called after the peer has disconnected
 * @has_joined: a group was joined, or this was tried
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
	int tries;
	bool has_disconnected;
	bool has_replied;
	bool has_joined;
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
#define TAG_MAGIC	0x6e657421

struct tag {
	uint32_t magic;
	uint32_t num;
	uint32_t index;
	uint32_t seed;
};

enum phase { BAD, HEALED, BAD_AGAIN, GOOD };

/* what must be true; report.c has the names */
enum oracle { EVENTS, AGREE, TIME, DATA, CALLS, NUM_ORACLES };

/* net.c */
extern struct net_options {
	const struct weather *weather;
	struct sockaddr_storage addr[2];	/* 0: client, 1: server */
	const char *dev[2];
	uint64_t seed;
	int rounds;
	int num;
	bool vib, intree, trace;
} opt;

extern struct rdma_event_channel *channel[2];
extern struct conn *conns;
extern enum phase phase;
extern double begun;		/* when the round began */
extern double loop_now;		/* when the loop began its current round */

/* One round of the loop: waits for events for up to @seconds. */
void loop_run(double seconds);

/* plan.c: random numbers depend on the seed, the connection and the purpose only */
uint64_t random_get(int num, int purpose);
bool random_percent(int num, int purpose, unsigned int percent);
double random_time(int num, int purpose, double max);
struct plan plan_make(int n);

/* end.c: what an id does, and its state */
struct end *request_find(const struct conn *c, int index);
/* Calls @each for each id. */
void ends_walk(void (*each)(struct end *e));
void state_set(struct end *e, enum state state);
void end_destroy(struct end *e);
void end_fail(struct end *e);
void end_set_up(struct end *e);
/* Creates the id if there is none. In half of the cases, the neighbour is asked for its address. */
void addr_resolve(struct end *e);
void route_resolve(struct end *e);
void group_join(struct end *e);
void client_connect(struct end *e);
/* When does the end become active by itself? The other one gets two minutes to do so. */
double ending_time(const struct end *e);
/* Something is due by the plan. */
void end_act(struct end *e);

/* group.c */
struct sockaddr *group_addr(int num);
void group_note_leave(int num);
/* Nothing arrived between these times. */
void groups_note_interruption(double from, double to);
/* Prints the end of the MGIDs of the groups whose last leave the SA may not have received. */
void groups_print(void);
/* Joins and leaves each group in a good network, so that the SA keeps none. */
void groups_clear(void);

/* event.c */
void channel_drain(int side);

/* data.c */
/* Returns the id that a client is connected to, if both are up. */
struct end *conn_peer(struct conn *c);
void data_exchange(void);

/* oracle.c: how long a call and an id may wait, and what an event must be consistent with */
const struct tag *event_tag(const struct rdma_cm_event *ev, bool ud);
void client_set_peer(struct end *e, const struct rdma_cm_event *ev);
/* Called before the state of the id changes. */
void event_check(struct end *e, const struct rdma_cm_event *ev);
void call_check(const struct end *e, const char *name, double begin, int ret);
void end_check_time(struct end *e);
void end_check_half_open(struct end *e);

#define CALL(e, name, ...)						\
({									\
	double call_begun = now();					\
	int call_ret = name(__VA_ARGS__);				\
									\
	call_check(e, #name, call_begun, call_ret);			\
	call_ret;							\
})

/* report.c: what is no fault, but is counted */
extern struct net_counts {
	long events[2][NUM_EVENTS];
	int connections;	/* up at both ends */
	int data;		/* of these, data was sent on */
	int again;		/* requests after the server has refused one of the connection */
	int ghosts;		/* requests that no client has made: after the connection was accepted */
	int half_open;		/* one end does not learn of the end of the other in time */
	int cancelled;
	double longest[NUM_STATES];
} count;

__attribute__((format(printf, 2, 3)))
void trace_print(const struct end *e, const char *fmt, ...);
__attribute__((format(printf, 3, 4)))
void fault_report(enum oracle oracle, const struct end *e, const char *fmt, ...);
int faults_count(void);
void faults_print(void);
void counts_print(void);
void result_print(void);

#endif
