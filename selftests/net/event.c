// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What an id does at an event */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/die.h"
#include "net.h"

#define TRIES		3

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
			e->has_replied = !CALL(e, rdma_disconnect, e->id);
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
		count.events[side][type]++;
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

void channel_drain(int side)
{
	struct rdma_cm_event *ev;

	while (!rdma_get_cm_event(channel[side], &ev))
		event_handle(side, ev);
	if (errno != EAGAIN)
		die("rdma_get_cm_event");
}
