// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What must be true, while the network is bad */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "net.h"

/* seconds; Documentation/options.rst and infiniband.rst explain them */
#define CM_TRIES	16
#define CM_TRY		4.1		/* CM_RESPONSE_TIMEOUT 20 */
#define CM_TRY_MRA	69.7		/* the time that the MRA asks for, and the ACK timeout of the path */
#define CM_EARLIEST	64		/* 16 tries */
#define ACCEPT_LIMIT	276
#define CLOSE_SECONDS	59.9
#define CLOSE_LIMIT	65.5		/* a timer of a minute is up to 5 s late with HZ 100 */
#define TIMEWAIT	10		/* after the tries of the DREQ */
#define JOIN_EARLIEST	3.2
#define JOIN_LIMIT	11
#define JOIN_TRIES	3.3		/* how long a request to the SA is repeated */
#define CALL_LIMIT	1

/* ib_cm adds twice the lifetime of the path, which is 18 on the fabric, and 16 on RoCE. */
static double tries_limit(void)
{
	return CM_TRIES * (CM_TRY + (opt.vib ? 2.2 : 0.6));
}

/* ib_mad counts from the arrival of the MRA, so each try takes the time for both messages as well. */
static double mra_limit(void)
{
	return CM_TRIES * (CM_TRY_MRA + 2 * (opt.weather->delay + opt.weather->jitter) / 1000.);
}

/* While replies are late the port has one request in progress, and a join may wait for all others. */
static double join_limit(void)
{
	int i, joins = 0;

	for (i = 0; i < opt.num; i++)
		joins += conns[i].client.has_joined;
	return JOIN_LIMIT + joins * JOIN_TRIES;
}

const struct tag *event_tag(const struct rdma_cm_event *ev, bool ud)
{
	const struct tag *tag = ud ? ev->param.ud.private_data : ev->param.conn.private_data;
	int len = ud ? ev->param.ud.private_data_len : ev->param.conn.private_data_len;

	return len >= (int)sizeof(*tag) && tag->magic == TAG_MAGIC ? tag : NULL;
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

void client_set_peer(struct end *e, const struct rdma_cm_event *ev)
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

/*
 * When a QP becomes ready, ib_core waits a second for the MAC address of the peer. Packets of the CM are not
 * needed for that, so neither the peer nor ib_cm has given up. InfiniBand has no such address.
 */
static bool mac_addr_can_be_lost(const struct end *e)
{
	const struct weather *w = opt.weather;

	return !opt.vib && e->conn->plan.qp && (w->lose || w->delay || w->jitter || w->dark);
}

void event_check(struct end *e, const struct rdma_cm_event *ev)
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
		if (!(ev->status == -ETIMEDOUT && mac_addr_can_be_lost(e)) && !request_has_ended(e->conn))
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

void call_check(const struct end *e, const char *name, double begin, int ret)
{
	int err = errno;

	trace_print(e, "%s: %s", name, ret ? strerror(err) : "ok");
	if (ret)
		fault_report(CALLS, e, "%s: %s", name, strerror(err));
	if (now() - begin > CALL_LIMIT)
		fault_report(CALLS, e, "%s took %.3f s", name, now() - begin);
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
		return join_limit();
	case CONNECTS:
		/* Once the server has the request, ib_cm may have sent an MRA. */
		return e->conn->num_requests ? mra_limit() : tries_limit();
	case ACCEPTED:
		return ACCEPT_LIMIT;
	case DISCONNECTS:
		return opt.intree ? tries_limit() : CLOSE_LIMIT;
	case DOWN:
		return e->has_disconnected || e->has_replied ? tries_limit() + TIMEWAIT : INFINITY;
	default:
		return INFINITY;
	}
}

void end_check_time(struct end *e)
{
	double limit = state_limit(e);

	if (loop_now - e->since <= limit)
		return;
	fault_report(TIME, e, "no event for %.1f s", limit);
	end_destroy(e);
}

/*
 * Where the peer of an id that is up has ended, the DREQ must arrive. It is repeated for 60 s, which is
 * less than the longest partition.
 */
void end_check_half_open(struct end *e)
{
	const struct end *peer = e->index ? &e->conn->client : request_find(e->conn, e->peer);
	bool peer_knows = peer && peer->was_up && (!e->index || peer->peer == e->index);

	if (e->state != UP || e->conn->plan.kind != RC || !peer_knows)
		return;
	if ((peer->state != GONE && peer->state != EXITED) || loop_now - peer->since < tries_limit())
		return;
	count.half_open++;
	if (!opt.weather->dark)
		fault_report(AGREE, e, "up, but the peer has ended");
	end_destroy(e);
}
