// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Set-up of the id for a connection request.
 */
#include "charge.h"
#include "device.h"
#include "event.h"
#include "option_value.h"
#include "request.h"
#include "rule.h"
#include "stats.h"
#include "trace.h"
#include "watch.h"

static void request_id_drop(struct cmx_id_private *conn_id)
{
	mutex_lock(&conn_id->lock);
	cmx_state_move(conn_id, CMX_IN(IDLE), CMX_DEAD);
	mutex_unlock(&conn_id->lock);
	cmx_id_put(conn_id);
}

/* The new id has no network namespace yet: a listener that has ended may have none. */
static struct cmx_event *request_alloc(struct cmx_id_private *listener, enum ib_qp_type qp_type,
				       gfp_t gfp)
{
	struct cmx_id_private *conn_id;
	struct cmx_event *ev;

	conn_id = cmx_id_new(NULL, listener->consumer, listener->id.ps, qp_type, gfp);
	if (IS_ERR(conn_id))
		return NULL;
	conn_id->passive = 1;
	conn_id->node_type = listener->node_type;
	ev = cmx_event_alloc(conn_id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, gfp);
	if (ev)
		ev->listener = cmx_id_get(listener);
	else
		request_id_drop(conn_id);
	return ev;
}

/**
 * cmx_request_new() - allocate the id and the event of a request
 * @listener: the id that listens, with a reference of the caller
 * @qp_type: type of the QP that the peer asks for
 *
 * The caller fills in the event, and then calls cmx_request_deliver(). The memory is charged to the
 * cgroup of the listener.
 *
 * Context: process, may sleep.
 *
 * Return: the event with the new id, which no other thread knows yet; NULL if there is no memory,
 * or if the cgroup of the listener exceeds its limit too far.
 */
struct cmx_event *cmx_request_new(struct cmx_id_private *listener, enum ib_qp_type qp_type)
{
	struct cmx_event *ev = NULL;
	struct cmx_charge charge;
	gfp_t gfp;

	gfp = cmx_charge_begin(&charge, listener);
	if (!cmx_charge_is_excessive(&charge))
		ev = request_alloc(listener, qp_type, gfp);
	cmx_charge_end(&charge);
	return ev;
}

/*
 * Run all steps that can fail. The last of them asks the consumer to accept the new id. Caller must
 * hold the locks of both ids until CONNECT_REQUEST is queued. The removal of the device or the end
 * of the listener then comes either before all these steps or after the event.
 */
static int request_id_set_up(struct cmx_id_private *conn_id, struct cmx_id_private *listener,
			     const struct cmx_request_ops *ops, void *arg)
{
	int ret;

	/* A listener that is being started on its devices is not passive yet. */
	if (listener->state != CMX_LISTEN || !listener->passive)
		return -ECONNREFUSED;
	conn_id->id.route.addr.dev_addr.net = get_net(cmx_net(listener));
	cmx_opt_inherit(conn_id, listener);
	ret = ops->set_up(conn_id, arg);
	if (ret)
		return ret;
	cmx_rule_apply(conn_id, listener);
	cmx_watch_bond(conn_id);
	ret = conn_id->consumer->adopt(conn_id, listener);
	if (ret)
		return ret;
	cmx_state_move(conn_id, CMX_IN(IDLE), CMX_CONNECT);
	conn_id->response_pending = 1;
	cmx_id_get(conn_id);
	ops->set_cm(conn_id, arg);
	return 0;
}

/**
 * cmx_request_record_refusal() - trace and count a request that is refused
 * @device: the device that received it
 * @port: the port
 * @peer: address of the peer
 * @local: the address that the request is for
 * @gid: GID of the peer, or NULL
 * @ret: the reason, -errno
 *
 * Context: Process context.
 */
void cmx_request_record_refusal(struct ib_device *device, u32 port,
				const struct sockaddr_storage *peer,
				const struct sockaddr_storage *local, const union ib_gid *gid,
				int ret)
{
	static const union ib_gid none;

	trace_cmx_req_refused(device, port, peer, local, gid ?: &none, ret);
	cmx_stats_count_refused(device, port, ret);
}

/**
 * cmx_request_deliver() - give the new id to the consumer of its listener
 * @ev: from cmx_request_new(); it must not be used afterwards. The caller holds a reference to the
 *	listener
 * @ops: operations of the transport
 * @arg: argument of @ops
 *
 * Context: process, may sleep.
 *
 * Return: 0, or:
 *
 * * -ECONNREFUSED: the listener no longer listens.
 * * -ENOMEM: out of memory.
 * * -EAGAIN: the backlog of the listener is full.
 * * -EDQUOT: the quota of its consumer is used up.
 * * Errors of &cmx_request_ops.set_up.
 * * Other errors with which the consumer refuses the request.
 */
int cmx_request_deliver(struct cmx_event *ev, const struct cmx_request_ops *ops, void *arg)
{
	struct cmx_id_private *listener = ev->listener, *conn_id = ev->id_priv;
	bool taken = false;
	int ret;

	mutex_lock(&listener->lock);
	mutex_lock_nested(&conn_id->lock, SINGLE_DEPTH_NESTING);
	ret = request_id_set_up(conn_id, listener, ops, arg);
	if (!ret) {
		ev->ev.ece = conn_id->ece_remote;
		/* The consumer may destroy the id at once. The reference keeps the memory. */
		cmx_id_get(conn_id);
		taken = cmx_event_try_queue(ev);
		if (ops->deliver_later)
			conn_id->consumer->deliver_later(conn_id);
	} else {
		/* under the lock: the removal of the device must not find it afterwards */
		cmx_unwatch(conn_id);
		cmx_device_detach(conn_id);
	}
	mutex_unlock(&conn_id->lock);
	mutex_unlock(&listener->lock);
	if (ret) {
		cmx_event_free(ev);
		request_id_drop(conn_id);
		return ret;
	}
	if (!taken)
		conn_id->consumer->discard(ev);
	else if (!ops->deliver_later)
		conn_id->consumer->deliver(conn_id);
	cmx_id_put(conn_id);
	return 0;
}
