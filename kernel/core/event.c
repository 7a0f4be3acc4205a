// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The one way up: everything that an owner learns is a &struct cmx_event.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "event.h"
#include "mcast.h"
#include "trace.h"

/**
 * cmx_event_alloc() - make an event
 * @id_priv: the id that it is about; a reference is taken
 * @type: what happened
 * @status: 0, -errno, or the reason of a reject
 * @gfp: how to allocate
 *
 * Verbs make the event that they will need before they change anything.
 *
 * Return: the event, or NULL.
 */
struct cmx_event *cmx_event_alloc(struct cmx_id_private *id_priv, enum rdma_cm_event_type type,
				  int status, gfp_t gfp)
{
	struct cmx_event *ev = kzalloc(sizeof(*ev), gfp);

	if (!ev)
		return NULL;
	ev->id_priv = cmx_id_get(id_priv);
	ev->ev.event = type;
	ev->ev.status = status;
	return ev;
}

/**
 * cmx_event_alloc_nofail() - make an event that may not be lost
 * @id_priv: the id that it is about; a reference is taken
 * @type: what happened
 * @status: 0, -errno, or the reason of a reject
 *
 * For changes of state that the wire or the device brought: nobody is there
 * to take an error, and an owner who never hears of it hangs. Process context.
 */
struct cmx_event *cmx_event_alloc_nofail(struct cmx_id_private *id_priv,
					 enum rdma_cm_event_type type, int status)
{
	return cmx_event_alloc(id_priv, type, status, GFP_KERNEL | __GFP_NOFAIL);
}

static void *keep(struct cmx_event *ev, const void *data, size_t *len)
{
	*len = min_t(size_t, *len, U8_MAX);
	if (!data || !*len)
		return NULL;
	return memcpy(ev->data, data, *len);
}

/**
 * cmx_event_data() - add the private data of a connection message
 * @ev: the event
 * @data: copied; may be NULL
 * @len: its length in bytes, at most 255
 */
void cmx_event_data(struct cmx_event *ev, const void *data, size_t len)
{
	ev->ev.param.conn.private_data = keep(ev, data, &len);
	ev->ev.param.conn.private_data_len = data ? len : 0;
}

/**
 * cmx_event_ud_data() - add the private data of a datagram message
 * @ev: the event
 * @data: copied; may be NULL
 * @len: its length in bytes, at most 255
 */
void cmx_event_ud_data(struct cmx_event *ev, const void *data, size_t len)
{
	ev->ev.param.ud.private_data = keep(ev, data, &len);
	ev->ev.param.ud.private_data_len = data ? len : 0;
}

/**
 * cmx_event_queue() - hand an event to its owner; the caller flushes
 * @ev: as for cmx_event_post()
 *
 * For who can call &cmx_id_consumer_ops.flush as soon as the lock is dropped: an owner who
 * is called back is then called from here, and no work item is needed.
 */
void cmx_event_queue(struct cmx_event *ev)
{
	lockdep_assert_held(&ev->id_priv->lock);
	trace_cmx_event(ev->id_priv, ev->ev.event, ev->ev.status);
	ev->id_priv->consumer->post(ev);
}

/**
 * cmx_event_post() - hand an event to its owner
 * @ev: the owner's from here on. @ev->id_priv->lock is held, so that events are
 *	queued in the order of the changes that they report
 */
void cmx_event_post(struct cmx_event *ev)
{
	struct cmx_id_private *id_priv = ev->id_priv;

	cmx_event_queue(ev);
	id_priv->consumer->flush_later(id_priv);
}

/**
 * cmx_event_finish() - deliver an event that was queued, or free it
 * @id_priv: the id that it is about, with a reference; its lock has been dropped
 * @ev: the event, or NULL
 * @queued: whether cmx_event_queue() has it
 */
void cmx_event_finish(struct cmx_id_private *id_priv, struct cmx_event *ev, bool queued)
{
	if (queued)
		id_priv->consumer->flush(id_priv);
	else if (ev)
		cmx_event_free(ev);
}

/**
 * cmx_event_free() - let go of an event and of what it refers to
 * @ev: the event. May sleep; no id's lock is held
 */
void cmx_event_free(struct cmx_event *ev)
{
	if (ev->ev.event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	    (ev->ev.event == RDMA_CM_EVENT_ESTABLISHED && ev->id_priv->id.qp_type == IB_QPT_UD))
		rdma_destroy_ah_attr(&ev->ev.param.ud.ah_attr);
	if (ev->mc)
		cmx_mcast_put(ev->mc);
	if (ev->listener)
		cmx_id_put(ev->listener);
	cmx_id_put(ev->id_priv);
	kfree(ev);
}
