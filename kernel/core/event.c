// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events. Everything that is reported to a consumer is a &struct cmx_event. cmx_event_post() is the
 * usual way to pass one on: by &cmx_id_consumer_ops.deliver_later, the handler of a ULP runs in a
 * work item. cmx_event_queue() is for callers that may run it themselves, by
 * &cmx_id_consumer_ops.deliver after the unlock. Only a CONNECT_REQUEST is passed on by
 * cmx_event_try_queue(), because its id ends if nobody takes it.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "charge.h"
#include "event.h"
#include "mcast.h"
#include "stats.h"
#include "trace.h"

/*
 * Can the private data of a message come with the event? It takes more memory than all else. The
 * event for any reply to a request is allocated as CONNECT_RESPONSE, and gets its type later.
 */
static bool event_has_data(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE;
}

/**
 * cmx_event_alloc() - allocate an event
 * @id_priv: the id of the event; a reference is taken
 * @type: type of the event
 * @status: 0, -errno, or the reason of a reject
 * @gfp: flags of the allocation
 *
 * A CM operation allocates its event before it changes anything.
 *
 * Return: the event, or NULL.
 */
struct cmx_event *cmx_event_alloc(struct cmx_id_private *id_priv, enum rdma_cm_event_type type,
				  int status, gfp_t gfp)
{
	bool has_data = event_has_data(type);
	struct cmx_event *ev;

	ev = kzalloc(struct_size(ev, data, has_data ? CMX_EVENT_DATA : 0), gfp);
	if (!ev)
		return NULL;
	ev->has_data = has_data;
	ev->id_priv = cmx_id_get(id_priv);
	ev->ev.event = type;
	ev->ev.status = status;
	return ev;
}

/**
 * cmx_event_alloc_nofail() - allocate an event that must not be lost
 * @id_priv: the id of the event; a reference is taken
 * @type: type of the event
 * @status: 0, -errno, or the reason of a reject
 *
 * This is for changes that a message of the peer, a timeout, a neighbour or the device has caused.
 * There is no caller to which an error could be returned, and a consumer that misses the event may
 * wait for ever.
 *
 * The memory is charged to the cgroup of the id as long as the host has enough. The allocation
 * starts no I/O: a write may be for a disk that this connection attaches, and wait for the report
 * that the connection has ended.
 *
 * Context: Process context. May sleep.
 * Return: the event.
 */
struct cmx_event *cmx_event_alloc_nofail(struct cmx_id_private *id_priv,
					 enum rdma_cm_event_type type, int status)
{
	struct cmx_event *ev = NULL;
	struct cmx_charge charge;
	gfp_t gfp;

	gfp = cmx_charge_begin(&charge, id_priv);
	if (gfp & __GFP_ACCOUNT)
		ev = cmx_event_alloc(id_priv, type, status, gfp);
	cmx_charge_end(&charge);
	return ev ?: cmx_event_alloc(id_priv, type, status, GFP_NOIO | __GFP_NOFAIL);
}

/* The parameters of connections and of datagrams both begin with the private data. */
static_assert(offsetof(struct rdma_conn_param, private_data_len) ==
	      offsetof(struct rdma_ud_param, private_data_len));

/**
 * cmx_event_set_data() - add the private data of a message
 * @ev: the event, to which no data has been added yet
 * @data: the private data, which is copied, or NULL
 * @len: length of @data in bytes; no more than the first 255 bytes are copied
 */
void cmx_event_set_data(struct cmx_event *ev, const void *data, size_t len)
{
	struct rdma_conn_param *param = &ev->ev.param.conn;

	/* the type may have changed since the event was allocated */
	if (!data || !len || WARN_ON_ONCE(!ev->has_data))
		return;
	param->private_data_len = min_t(size_t, len, U8_MAX);
	param->private_data = memcpy(ev->data, data, param->private_data_len);
}

/**
 * cmx_event_try_queue() - pass an event to the consumer, if it takes it
 * @ev: the event
 *
 * Context: Caller must hold the lock of the id.
 * Return: true if the event belongs to the consumer from now on.
 */
bool cmx_event_try_queue(struct cmx_event *ev)
{
	lockdep_assert_held(&ev->id_priv->lock);
	trace_cmx_event(ev->id_priv, ev->ev.event, ev->ev.status);
	cmx_stats_count_event(ev);
	return ev->id_priv->consumer->queue(ev);
}

/**
 * cmx_event_queue() - pass an event to the consumer; the caller must then have it delivered
 * @ev: the event, not a CONNECT_REQUEST. It belongs to the consumer from now on, or is freed
 *
 * The caller calls &cmx_id_consumer_ops.deliver after it has released the lock, unless it is the id
 * of a process. The handler of a ULP then runs in this context, without a work item.
 *
 * Context: Caller must hold the lock of the id. Not in a work item of cmx_wq, which all devices
 *	share: the handler may wait for its device.
 */
void cmx_event_queue(struct cmx_event *ev)
{
	if (!cmx_event_try_queue(ev))
		cmx_event_free(ev);
}

/**
 * cmx_event_post() - pass an event to the consumer, and have it delivered in another context
 * @ev: the event, not a CONNECT_REQUEST. It belongs to the consumer from now on, or is freed
 *
 * Context: Caller must hold the lock of the id, so that events are queued in the order of the
 *	changes that they report.
 */
void cmx_event_post(struct cmx_event *ev)
{
	struct cmx_id_private *id_priv = ev->id_priv;

	cmx_event_queue(ev);
	id_priv->consumer->deliver_later(id_priv);
}

/**
 * cmx_event_put_gid() - drop the reference of an event to its GID
 * @ev: the event, which may have none
 *
 * The index of the GID stays valid.
 */
void cmx_event_put_gid(struct cmx_event *ev)
{
	if (ev->ev.event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	    (ev->ev.event == RDMA_CM_EVENT_ESTABLISHED && ev->id_priv->id.qp_type == IB_QPT_UD))
		rdma_destroy_ah_attr(&ev->ev.param.ud.ah_attr);
}

/**
 * cmx_event_free() - free an event and drop its references
 * @ev: the event, or NULL
 *
 * Context: Process context. May sleep. A caller that holds the lock of an id must also hold
 *	references to the id and to the membership.
 */
void cmx_event_free(struct cmx_event *ev)
{
	if (!ev)
		return;
	cmx_event_put_gid(ev);
	if (ev->mc)
		cmx_mcast_put(ev->mc);
	if (ev->listener)
		cmx_id_put(ev->listener);
	cmx_id_put(ev->id_priv);
	kfree(ev);
}
