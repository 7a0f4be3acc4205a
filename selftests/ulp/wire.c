// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that no RDMA CM sends, by ib_cm
 *
 *	request6 ADDR PORT	a REQ from and to IPv4 GIDs, with a CMA header for IPv6
 */
#include <linux/in6.h>
#include <rdma/ib_cm.h>
#include "cmx_ulp.h"

/**
 * struct sender - an id with a route, and the request that is sent over it
 * @status: 0 if the route is resolved, then the reason of the REJ, or -errno
 * @settled: @status is valid
 */
struct sender {
	int status;
	struct completion settled;
};

static void sender_settle(struct sender *s, int status)
{
	s->status = status;
	complete(&s->settled);
}

static int sender_route_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct sender *s = id->context;
	int ret = ev->status;

	if (ev->event == RDMA_CM_EVENT_ADDR_RESOLVED) {
		ret = cmx_resolve_route(id, ulp_timeout_ms);
		if (!ret)
			return 0;
	}
	sender_settle(s, ret);
	return 0;
}

static int sender_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct sender *s = cm->context;

	switch (event->event) {
	case IB_CM_REJ_RECEIVED:
		sender_settle(s, event->param.rej_rcvd.reason);
		break;
	case IB_CM_REP_RECEIVED:
		sender_settle(s, -EISCONN);
		break;
	case IB_CM_REQ_ERROR:
		sender_settle(s, -ETIMEDOUT);
		break;
	default:
		break;
	}
	return 0;
}

/* The CMA header of annex A11: IP version 6, port 1, and two IPv6 addresses. */
static const u8 header6[] = {
	[1] = 6 << 4,
	[3] = 1,
	[4] = 0xfd, 0x77, [19] = 2,
	[20] = 0xfd, 0x77, [35] = 1,
};

static int sender_send(struct sender *s, struct cmx_id *id, const struct sockaddr *addr)
{
	struct ib_cm_req_param req = {
		.primary_path = id->route.path_rec,
		.ppath_sgid_attr = id->route.addr.dev_addr.sgid_attr,
		.service_id = cmx_get_service_id(id, (struct sockaddr *)addr),
		.private_data = header6,
		.private_data_len = sizeof(header6),
		.qp_num = 1,
		.qp_type = IB_QPT_RC,
		.responder_resources = 1,
		.initiator_depth = 1,
		.remote_cm_response_timeout = 16,
		.local_cm_response_timeout = 16,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.max_cm_retries = 7,
	};
	struct ib_cm_id *cm = ib_create_cm_id(id->device, sender_cm_event, s);
	int ret;

	if (IS_ERR(cm))
		return PTR_ERR(cm);
	reinit_completion(&s->settled);
	ret = ib_send_cm_req(cm, &req) ?: ulp_wait(&s->settled);
	ib_destroy_cm_id(cm);
	return ret;
}

int ulp_request6(int argc, char **argv)
{
	struct sender s = { .settled = COMPLETION_INITIALIZER_ONSTACK(s.settled) };
	struct sockaddr_storage addr;
	struct cmx_id *id = ulp_id_create(argv, &addr, sender_route_event, &s);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = cmx_resolve_addr(id, NULL, (struct sockaddr *)&addr, ulp_timeout_ms) ?:
	      ulp_wait(&s.settled) ?: s.status ?:
	      sender_send(&s, id, (struct sockaddr *)&addr);
	cmx_destroy_id(id);
	if (ret)
		return ret;
	ulp_print("answered by a REJ with the reason %d\n", s.status);
	return min(s.status, 0);
}
