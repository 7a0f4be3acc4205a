// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "util.h"

const char *const reach_names[REACHES] = {
	"idle", "wildcard", "bound", "addressed", "routed", "listening", "requested", "connected",
	"disconnected",
};

static enum ibv_qp_type ps_qp_type(enum rdma_port_space ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

void duo_init(struct duo *d)
{
	memset(d, 0, sizeof(*d));
	d->cl = channel_create();
	d->cc = channel_create();
	d->addr = ADDR;
	d->param.responder_resources = 1;
	d->param.initiator_depth = 1;
	d->param.retry_count = 7;
	d->param.rnr_retry_count = 7;
}

int duo_listen(struct duo *d, enum rdma_port_space ps)
{
	d->lst = id_create(d->cl, "lst", ps);
	return id_bind(d->lst, d->addr, PORT) || id_listen(d->lst, 8);
}

int duo_route(struct duo *d, enum rdma_port_space ps)
{
	d->cli = id_create(d->cc, "cli", ps);
	if (id_resolve_addr(d->cli, NULL, d->addr, PORT) ||
	    event_trace(d->cc) != RDMA_CM_EVENT_ADDR_RESOLVED)
		return -1;
	if (id_resolve_route(d->cli) || event_trace(d->cc) != RDMA_CM_EVENT_ROUTE_RESOLVED)
		return -1;
	return d->no_qp ? 0 : qp_create(d->cli, ps_qp_type(ps));
}

int duo_prepare(struct duo *d, enum rdma_port_space ps)
{
	int ret = duo_listen(d, ps);

	return duo_route(d, ps) || ret;
}

int duo_request(struct duo *d, enum rdma_port_space ps)
{
	if (duo_listen(d, ps) || duo_route(d, ps) ||
	    CALL(rdma_connect(d->cli, &d->param), "connect cli"))
		return -1;
	d->srv = event_trace_request(d->cl, "srv");
	if (!d->srv)
		return -1;
	return d->no_qp ? 0 : qp_create(d->srv, ps_qp_type(ps));
}

int duo_connect(struct duo *d, enum rdma_port_space ps)
{
	if (duo_request(d, ps) || CALL(rdma_accept(d->srv, &d->param), "accept srv"))
		return -1;
	if (event_trace(d->cc) != RDMA_CM_EVENT_ESTABLISHED)
		return -1;
	if (ps_qp_type(ps) == IBV_QPT_UD)
		return 0;
	return event_trace(d->cl) != RDMA_CM_EVENT_ESTABLISHED;
}

/* @second confirms the end. Only then does @first get DISCONNECTED. */
int duo_disconnect(struct duo *d, struct rdma_cm_id *first, struct rdma_cm_id *second)
{
	CALL(rdma_disconnect(first), "disconnect %s", id_name(first));
	if (event_trace(second == d->srv ? d->cl : d->cc) != RDMA_CM_EVENT_DISCONNECTED)
		return -1;
	CALL(rdma_disconnect(second), "disconnect %s", id_name(second));
	return event_trace(first == d->srv ? d->cl : d->cc) != RDMA_CM_EVENT_DISCONNECTED;
}

void duo_run_quietly(int (*step)(struct duo *d, enum rdma_port_space ps), struct duo *d,
		     enum rdma_port_space ps)
{
	quiet++;
	step(d, ps);
	quiet--;
}

static void id_drop(struct rdma_cm_id **id)
{
	if (*id) {
		if ((*id)->qp)
			rdma_destroy_qp(*id);
		id_destroy(*id);
	}
	*id = NULL;
}

/* Destroys all objects, in the order that the manual page requires. */
void duo_end(struct duo *d)
{
	id_drop(&d->cli);
	id_drop(&d->srv);
	id_drop(&d->lst);
	rdma_destroy_event_channel(d->cc);
	rdma_destroy_event_channel(d->cl);
}

struct rdma_cm_id *duo_reach(struct duo *d, enum reach where)
{
	struct rdma_cm_id *id = NULL;
	int ret = 0;

	quiet++;
	duo_init(d);
	switch (where) {
	case IDLE:
	case WILDCARD:
	case BOUND:
	case ADDRESSED:
		id = id_create(d->cc, "cli", RDMA_PS_TCP);
		d->cli = id;
		if (where == WILDCARD)
			ret = id_bind(id, "0.0.0.0", PORT);
		if (where == BOUND)
			ret = id_bind(id, ADDR, PORT);
		if (where == ADDRESSED)
			ret = id_resolve_addr(id, NULL, ADDR, PORT) ||
			      event_trace(d->cc) != RDMA_CM_EVENT_ADDR_RESOLVED;
		break;
	case ROUTED:
		ret = duo_route(d, RDMA_PS_TCP);
		id = d->cli;
		break;
	case LISTENING:
		ret = duo_listen(d, RDMA_PS_TCP);
		id = d->lst;
		break;
	case REQUESTED:
		ret = duo_request(d, RDMA_PS_TCP);
		id = d->srv;
		break;
	case CONNECTED:
	case DISCONNECTED:
		ret = duo_connect(d, RDMA_PS_TCP);
		id = d->cli;
		if (!ret && where == DISCONNECTED)
			ret = duo_disconnect(d, id, d->srv);
		break;
	default:
		ret = -1;
	}
	quiet--;
	if (ret || !id) {
		trace_print("state %s not reached", reach_names[where]);
		exit(3);
	}
	return id;
}

struct ibv_qp *ext_qp_create(struct rdma_cm_id *id, enum ibv_qp_type type, const char *name)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = NULL;
	struct ibv_pd *pd;

	pd = id->verbs ? ibv_alloc_pd(id->verbs) : NULL;
	if (pd) {
		attr.send_cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
		attr.recv_cq = attr.send_cq;
		qp = ibv_create_qp(pd, &attr);
	}
	if (!qp) {
		trace_print("no external QP");
		exit(3);
	}
	qpn_label(qp->qp_num, name);
	return qp;
}

/* Gets the QP attributes from the CM and applies them, as the user of an external QP does. */
int ext_qp_modify(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask = 0, ret;

	ret = CALL(rdma_init_qp_attr(id, &attr, &mask), "init_qp_attr %s state=%d", id_name(id),
		   state);
	if (ret)
		return ret;
	if (!quiet)
		show_attr(&attr, mask);
	return CALL(ibv_modify_qp(qp, &attr, mask), "modify_qp %s state=%d",
		    qpn_name(qp->qp_num), state);
}
