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
static int request_alloc(struct cmx_request *req, struct cmx_id_private *listener,
			 enum ib_qp_type qp_type, gfp_t gfp)
{
	req->listener = listener;
	req->conn_id = cmx_id_new(NULL, listener->consumer, listener->id.ps, qp_type, gfp);
	if (IS_ERR(req->conn_id))
		return PTR_ERR(req->conn_id);
	req->conn_id->passive = 1;
	req->conn_id->node_type = listener->node_type;
	req->ev = cmx_event_alloc(req->conn_id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, gfp);
	if (!req->ev) {
		request_id_drop(req->conn_id);
		return -ENOMEM;
	}
	req->ev->listener = cmx_id_get(listener);
	return 0;
}

/**
 * cmx_request_init() - allocate the id and the event of a request
 * @req: the request
 * @listener: the id that listens, with a reference of the caller
 * @qp_type: type of the QP that the peer asks for
 *
 * The caller fills in the event, and then calls cmx_request_deliver(). The memory is charged to the
 * cgroup of the listener.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -ENOMEM, also if the cgroup of the listener exceeds its limit too far.
 */
int cmx_request_init(struct cmx_request *req, struct cmx_id_private *listener,
		     enum ib_qp_type qp_type)
{
	struct cmx_charge charge;
	int ret = -ENOMEM;
	gfp_t gfp;

	gfp = cmx_charge_begin(&charge, listener);
	if (!cmx_charge_is_excessive(&charge))
		ret = request_alloc(req, listener, qp_type, gfp);
	cmx_charge_end(&charge);
	return ret;
}

/* Undo cmx_request_init(). */
static void request_cancel(struct cmx_request *req)
{
	cmx_event_free(req->ev);
	request_id_drop(req->conn_id);
}

/*
 * Run all steps that can fail. The last of them asks the consumer to accept the new id. Caller must
 * hold the locks of both ids until CONNECT_REQUEST is queued. The removal of the device or the end
 * of the listener then comes either before all these steps or after the event.
 */
static int request_id_set_up(struct cmx_request *req, const struct cmx_request_ops *ops, void *arg)
{
	struct cmx_id_private *conn_id = req->conn_id;
	int ret;

	/* A listener that is being started on its devices is not passive yet. */
	if (req->listener->state != CMX_LISTEN || !req->listener->passive)
		return -ECONNREFUSED;
	conn_id->id.route.addr.dev_addr.net = get_net(cmx_net(req->listener));
	cmx_opt_inherit(conn_id, req->listener);
	ret = ops->attach(conn_id, arg);
	if (ret)
		return ret;
	cmx_rule_apply(conn_id, req->listener);
	cmx_watch_bond(conn_id);
	ret = conn_id->consumer->adopt(conn_id, req->listener);
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
 * @req: the request, which must not be used afterwards
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
 * * Errors of &cmx_request_ops.attach.
 * * Other errors with which the consumer refuses the request.
 */
int cmx_request_deliver(struct cmx_request *req, const struct cmx_request_ops *ops, void *arg)
{
	struct cmx_id_private *listener = req->listener, *conn_id = req->conn_id;
	bool taken = false;
	int ret;

	mutex_lock(&listener->lock);
	mutex_lock_nested(&conn_id->lock, SINGLE_DEPTH_NESTING);
	ret = request_id_set_up(req, ops, arg);
	if (!ret) {
		req->ev->ev.ece = conn_id->ece_remote;
		/* The consumer may destroy the id at once. The reference keeps the memory. */
		cmx_id_get(conn_id);
		taken = cmx_event_try_queue(req->ev);
		if (ops->deliver_later)
			conn_id->consumer->deliver_later(conn_id);
	}
	/* Detach it under the lock: the removal of the device must not find it afterwards. */
	if (ret) {
		cmx_unwatch(conn_id);
		cmx_device_detach(conn_id);
	}
	mutex_unlock(&conn_id->lock);
	mutex_unlock(&listener->lock);
	if (ret) {
		request_cancel(req);
		return ret;
	}
	if (!taken)
		conn_id->consumer->discard(req->ev);
	else if (!ops->deliver_later)
		conn_id->consumer->deliver(conn_id);
	cmx_id_put(conn_id);
	return 0;
}
