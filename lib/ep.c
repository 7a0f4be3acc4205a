// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Endpoints: creating an id, its route and its QP in one call.
 */
#include <stdlib.h>
#include <string.h>
#include "cmx_lib.h"

/* of the address resolution and of the route resolution, each */
#define EP_TIMEOUT_MS 2000

static int cmxl_ep_init_passive(struct rdma_cm_id *cm_id, struct rdma_addrinfo *res,
				struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);

	if (rdma_bind_addr(cm_id, res->ai_src_addr))
		return -1;
	if (pd)
		cm_id->pd = pd;
	if (!attr)
		return 0;
	id->qp_init_attr = malloc(sizeof(*attr));
	if (!id->qp_init_attr)
		return cmxl_err(ENOMEM);
	*id->qp_init_attr = *attr;
	id->qp_init_attr->qp_type = res->ai_qp_type;
	return 0;
}

static int cmxl_ep_resolve_route(struct rdma_cm_id *id, const struct rdma_addrinfo *res)
{
	if (!res->ai_route_len)
		return rdma_resolve_route(id, EP_TIMEOUT_MS);
	/* setting the path resolves the route, and its event is pending */
	if (rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, res->ai_route,
			    res->ai_route_len))
		return -1;
	return cmxl_id_wait_event(to_cmxl_id(id));
}

static int cmxl_ep_init_active(struct rdma_cm_id *cm_id, struct rdma_addrinfo *res,
			       struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);

	if (rdma_resolve_addr(cm_id, res->ai_src_addr, res->ai_dst_addr, EP_TIMEOUT_MS) ||
	    cmxl_ep_resolve_route(cm_id, res))
		return -1;
	if (attr) {
		attr->qp_type = res->ai_qp_type;
		if (rdma_create_qp(cm_id, pd, attr))
			return -1;
	}
	if (!res->ai_connect_len)
		return 0;
	id->connect = malloc(res->ai_connect_len);
	if (!id->connect)
		return cmxl_err(ENOMEM);
	memcpy(id->connect, res->ai_connect, res->ai_connect_len);
	id->connect_len = res->ai_connect_len;
	return 0;
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr)
{
	struct rdma_cm_id *new;
	int ret, err;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_ep, -1, (id, res, pd, qp_init_attr));
	if (cmxl_id_create(NULL, &new, NULL, res->ai_port_space, res->ai_qp_type))
		return -1;
	if (res->ai_flags & RAI_PASSIVE)
		ret = cmxl_ep_init_passive(new, res, pd, qp_init_attr);
	else
		ret = cmxl_ep_init_active(new, res, pd, qp_init_attr);
	if (ret) {
		err = errno;
		rdma_destroy_ep(new);
		return cmxl_err(err);
	}
	*id = new;
	return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (cmxl_system_is_used()) {
		CMXL_SYSTEM_CALL(rdma_destroy_ep, (void)0, (id));
		return;
	}
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

/*
 * Opens the channel for the id of the next request. Without it, the request could only be rejected after
 * it has been fetched.
 */
static int cmxl_ep_reserve_channel(struct cmxl_id *listener)
{
	struct rdma_event_channel *channel, *none = NULL;

	if (__atomic_load_n(&listener->request_channel, __ATOMIC_ACQUIRE))
		return 0;
	channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	if (!__atomic_compare_exchange_n(&listener->request_channel, &none, channel, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		rdma_destroy_event_channel(channel);
	return 0;
}

/* On an error the listener keeps the event and acknowledges it later. */
int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct cmxl_id *listener = to_cmxl_id(listen);
	struct rdma_cm_event *event;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_get_request, -1, (listen, id));
	if (!listener->sync)
		return cmxl_err(EINVAL);
	cmxl_event_ack_kept(listener);
	if (cmxl_ep_reserve_channel(listener) || rdma_get_cm_event(listen->channel, &event))
		return -1;
	if (cmxl_event_error(event))
		goto err;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		errno = EINVAL;
		goto err;
	}
	if (listener->qp_init_attr) {
		struct ibv_qp_init_attr attr = *listener->qp_init_attr;

		if (rdma_create_qp(event->id, listen->pd, &attr))
			goto err;
	}
	*id = event->id;
	(*id)->event = event;
	return 0;

err:
	listen->event = event;
	return -1;
}
