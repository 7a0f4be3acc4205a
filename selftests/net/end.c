// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What an id does by its plan */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>
#include <rdma/rdma_verbs.h>
#include "../lib/die.h"
#include "net.h"

struct end *request_find(const struct conn *c, int index)
{
	struct end *e;

	for (e = c->requests; e; e = e->next)
		if (e->index == index)
			return e;
	return NULL;
}

void ends_walk(void (*each)(struct end *e))
{
	struct end *e;
	int i;

	for (i = 0; i < opt.num; i++) {
		each(&conns[i].client);
		for (e = conns[i].requests; e; e = e->next)
			each(e);
	}
}

void state_set(struct end *e, enum state state)
{
	double waited = now() - e->since;

	if (waited > count.longest[e->state])
		count.longest[e->state] = waited;
	e->state = state;
	e->since = now();
	e->act = INFINITY;
}

void end_destroy(struct end *e)
{
	trace_print(e, "is destroyed");
	if (e->id) {
		if (e->id->qp)
			rdma_destroy_qp(e->id);
		if (e->mr)
			ibv_dereg_mr(e->mr);
		CALL(e, rdma_destroy_id, e->id);
		if (e->has_joined)
			group_note_leave(e->conn->num);
		e->id = NULL;
	}
	state_set(e, GONE);
}

void end_fail(struct end *e)
{
	state_set(e, FAILED);
	e->act = now() + e->conn->plan.linger[!!e->index];
}

static struct tag *tag_make(const struct end *e)
{
	static struct tag tag;

	tag = (struct tag){ TAG_MAGIC, e->conn->num, e->index, opt.seed };
	return &tag;
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

void addr_resolve(struct end *e)
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

void route_resolve(struct end *e)
{
	e->tries++;
	if (CALL(e, rdma_resolve_route, e->id, 10000))
		end_fail(e);
	else
		state_set(e, RESOLVES_ROUTE);
}

void group_join(struct end *e)
{
	e->has_joined = true;
	if (CALL(e, rdma_join_multicast, e->id, group_addr(e->conn->num), e))
		end_fail(e);
	else
		state_set(e, JOINS);
}

void client_connect(struct end *e)
{
	struct rdma_conn_param param = conn_param(e);

	qp_create(e);
	if (CALL(e, rdma_connect, e->id, &param))
		end_fail(e);
	else
		state_set(e, CONNECTS);
}

double ending_time(const struct end *e)
{
	const struct plan *p = &e->conn->plan;
	bool server_ends = p->ending == BY_SERVER || p->ending == SERVER_GOES;

	if (p->kind == RC && p->ending != BY_BOTH && server_ends != !!e->index)
		return p->hold + 120;
	return p->hold;
}

void end_set_up(struct end *e)
{
	e->was_up = true;
	state_set(e, UP);
	if (!e->conn->plan.held || phase > HEALED)
		e->act = now() + ending_time(e);
}

void end_disconnect(struct end *e)
{
	const struct plan *p = &e->conn->plan;

	if (p->kind == GROUP && e->conn->num & 1)
		CALL(e, rdma_leave_multicast, e->id, group_addr(e->conn->num));
	if (p->kind != RC || p->ending == (e->index ? SERVER_GOES : CLIENT_GOES)) {
		end_destroy(e);
		return;
	}
	e->has_disconnected = true;
	CALL(e, rdma_disconnect, e->id);
	state_set(e, DISCONNECTS);
}

void server_answer(struct end *e)
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

void end_act(struct end *e)
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
