// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries by kernel ULPs about ids and events.
 */
#include <linux/export.h>
#include "cma_hdr.h"
#include "compat.h"
#include "device.h"
#include "event.h"
#include "transport.h"

static const char * const event_names[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "address resolved",
	[RDMA_CM_EVENT_ADDR_ERROR] = "address error",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "route resolved",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "route error",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "connect request",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "connect response",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "connect error",
	[RDMA_CM_EVENT_UNREACHABLE] = "unreachable",
	[RDMA_CM_EVENT_REJECTED] = "rejected",
	[RDMA_CM_EVENT_ESTABLISHED] = "established",
	[RDMA_CM_EVENT_DISCONNECTED] = "disconnected",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "device removal",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "multicast join",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "multicast error",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "address change",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "timewait exit",
};

/**
 * cmx_query_event() - query the fields of an event that struct rdma_cm_event lacks
 * @event: the event that the handler was called with
 * @info: receives the fields
 * @size: sizeof(*@info); fields that this module does not know are zeroed
 *
 * Context: the handler of the id. The path records are valid until the handler returns.
 *
 * Return: none.
 */
void cmx_query_event(const struct rdma_cm_event *event, struct cmx_event_info *info, size_t size)
{
	const struct cmx_event *ev = container_of_const(event, struct cmx_event, ev);
	const struct rdma_route *route = &ev->id_priv->id.route;
	struct cmx_event_info full = { .flags = ev->flags & CMX_EVENT_F_REJOIN };

	if (route->path_rec) {
		full.num_paths = route->num_pri_alt_paths;
		full.path = route->path_rec;
	}
	memset(info, 0, size);
	memcpy(info, &full, min(size, sizeof(full)));
}
EXPORT_SYMBOL_GPL(cmx_query_event);

/**
 * cmx_event_msg() - get the name of an event for messages
 * @event: the event
 *
 * Context: any.
 *
 * Return: the name; never NULL.
 */
const char *cmx_event_msg(enum rdma_cm_event_type event)
{
	size_t i = event;

	return i < ARRAY_SIZE(event_names) && event_names[i] ? event_names[i] : "unknown event";
}
EXPORT_SYMBOL_GPL(cmx_event_msg);

/* An id without a device cannot receive REJECTED, so any transport will do. */
static const struct cmx_conn_ops *ulp_id_conn_ops(const struct cmx_id *id)
{
	return READ_ONCE(to_id_priv(id)->conn_ops) ?: cmx_transports[0]->conn;
}

/**
 * cmx_reject_msg() - describe the reason of a reject for messages
 * @id: the id that received REJECTED
 * @reason: status of that event
 *
 * Context: any.
 *
 * Return: the description; never NULL.
 */
const char *cmx_reject_msg(struct cmx_id *id, int reason)
{
	return ulp_id_conn_ops(id)->reject_msg(reason);
}
EXPORT_SYMBOL_GPL(cmx_reject_msg);

/**
 * cmx_is_consumer_reject() - check whether the ULP of the peer rejected, and not its CM
 * @id: the id that received REJECTED
 * @reason: status of that event
 *
 * Context: any.
 *
 * Return: true if the ULP of the peer rejected.
 */
bool cmx_is_consumer_reject(struct cmx_id *id, int reason)
{
	return reason == ulp_id_conn_ops(id)->consumer_reject;
}
EXPORT_SYMBOL_GPL(cmx_is_consumer_reject);

/**
 * cmx_consumer_reject_data() - get the private data of a reject by the ULP of the peer
 * @id: the id
 * @event: REJECTED
 * @len: receives the length in bytes; 0 if there is none
 *
 * Context: any. The data is valid as long as @event is.
 *
 * Return: the private data, or NULL if the ULP of the peer did not reject.
 */
const void *cmx_consumer_reject_data(struct cmx_id *id, const struct rdma_cm_event *event, u8 *len)
{
	if (!cmx_is_consumer_reject(id, event->status)) {
		*len = 0;
		return NULL;
	}
	*len = event->param.conn.private_data_len;
	return event->param.conn.private_data;
}
EXPORT_SYMBOL_GPL(cmx_consumer_reject_data);

/**
 * cmx_read_gids() - read the GIDs of a connection
 * @id: the id
 * @sgid: receives the local GID; may be NULL
 * @dgid: receives the GID of the peer; may be NULL
 *
 * Both GIDs are all zero until the id is bound to a device.
 *
 * Context: any. No lock is taken, as in-tree: RDS calls it under the RCU read lock.
 *
 * Return: none.
 */
void cmx_read_gids(struct cmx_id *id, union ib_gid *sgid, union ib_gid *dgid)
{
	union ib_gid from = {}, to = {};

	cmx_id_get_gids(to_id_priv(id), &from, &to);
	if (sgid)
		*sgid = from;
	if (dgid)
		*dgid = to;
}
EXPORT_SYMBOL_GPL(cmx_read_gids);

/**
 * cmx_get_service_id() - get the service ID of an address
 * @id: the id; its port space is used
 * @addr: the address; its port is used
 *
 * Context: any.
 *
 * Return: the service ID.
 */
__be64 cmx_get_service_id(struct cmx_id *id, const struct sockaddr *addr)
{
	return cmx_service_id(id->ps, addr);
}
EXPORT_SYMBOL_GPL(cmx_get_service_id);
