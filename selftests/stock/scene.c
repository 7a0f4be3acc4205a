// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "util.h"

const char *const reach_names[REACHES] = {
	"idle", "wildcard", "bound", "addressed", "routed", "listening", "requested", "connected",
	"disconnected",
};

void pair_init(struct pair *d)
{
	memset(d, 0, sizeof(*d));
	d->lch = channel_create();
	d->ch = channel_create();
	d->addr = ADDR;
	d->port = PORT;
	d->qp_create = qp_create;
	d->param.responder_resources = 1;
	d->param.initiator_depth = 1;
	d->param.retry_count = 7;
	d->param.rnr_retry_count = 7;
}

void pair_run_quietly(int (*step)(struct pair *d, enum rdma_port_space ps), struct pair *d,
		      enum rdma_port_space ps)
{
	quiet++;
	step(d, ps);
	quiet--;
}

struct rdma_cm_id *pair_reach(struct pair *d, enum reach where)
{
	struct rdma_cm_id *id = NULL;
	int ret = 0;

	quiet++;
	pair_init(d);
	switch (where) {
	case IDLE:
	case WILDCARD:
	case BOUND:
	case ADDRESSED:
		id = id_create(d->ch, "cli", RDMA_PS_TCP);
		d->id = id;
		if (where == WILDCARD)
			ret = id_bind(id, "0.0.0.0", PORT);
		if (where == BOUND)
			ret = id_bind(id, ADDR, PORT);
		if (where == ADDRESSED)
			ret = id_resolve_addr(id, NULL, ADDR, PORT) ||
			      event_trace(d->ch) != RDMA_CM_EVENT_ADDR_RESOLVED;
		break;
	case ROUTED:
		ret = pair_route(d, RDMA_PS_TCP);
		id = d->id;
		break;
	case LISTENING:
		ret = pair_listen(d, RDMA_PS_TCP);
		id = d->listener;
		break;
	case REQUESTED:
		ret = pair_request(d, RDMA_PS_TCP);
		id = d->child;
		break;
	case CONNECTED:
	case DISCONNECTED:
		ret = pair_connect(d, RDMA_PS_TCP);
		id = d->id;
		if (!ret && where == DISCONNECTED)
			ret = pair_disconnect(d, id, d->child);
		break;
	default:
		ret = -1;
	}
	quiet--;
	if (ret || !id) {
		tap_note_print("state %s not reached", reach_names[where]);
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
		tap_note_print("no external QP");
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
