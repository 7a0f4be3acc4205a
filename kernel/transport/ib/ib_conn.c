// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections over ib_cm: REQ, REP, RTU and REJ, and the start of the DREQ, which ib_send.c sends.
 */
#include <linux/random.h>
#include <rdma/ib_cache.h>
#include "cma_hdr.h"
#include "compat.h"
#include "device.h"
#include "ece.h"
#include "event.h"
#include "ib.h"
#include "ib_close.h"
#include "ib_state.h"
#include "ib_wake.h"
#include "keys.h"
#include "option_value.h"
#include "qp.h"
#include "timer.h"
#include "trace.h"
#include "transport.h"

/* The messages of ib_cm have three bits for each retry count of a QP. */
#define MAX_RETRIES 7

/**
 * cmx_ib_cm_id_create() - create the ib_cm id of an id
 * @id_priv: the id, which has no ib_cm id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0 or -ENOMEM.
 */
int cmx_ib_cm_id_create(struct cmx_id_private *id_priv)
{
	struct ib_cm_id *cm = ib_create_cm_id(id_priv->id.device, cmx_ib_handler, id_priv);

	lockdep_assert_held(&id_priv->lock);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	cmx_id_get(id_priv);
	WRITE_ONCE(id_priv->ib.cm, cm);
	return 0;
}

/**
 * cmx_ib_cm_id_abort() - undo cmx_ib_cm_id_create()
 * @id_priv: the id. Nothing has been sent on its ib_cm id, so no handler runs, and the
 *	destruction does not wait for one
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_cm_id_abort(struct cmx_id_private *id_priv)
{
	struct ib_cm_id *cm = id_priv->ib.cm;

	lockdep_assert_held(&id_priv->lock);
	WRITE_ONCE(id_priv->ib.cm, NULL);
	ib_destroy_cm_id(cm);
	cmx_id_put(id_priv);
}

/**
 * cmx_ib_has_conn() - check whether an id has an ib_cm id that was not released, or will have one
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if it has one, or if its request waits.
 */
bool cmx_ib_has_conn(const struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	return id_priv->ib.state != CMX_IB_NONE && !cmx_ib_state_is_released(id_priv->ib.state);
}

/**
 * cmx_ib_is_waiting() - check whether a message of an id waits for the send window
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if it does.
 */
bool cmx_ib_is_waiting(const struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	return cmx_ib_state_is_waiting(id_priv->ib.state);
}

/**
 * cmx_psn_get() - get the starting PSN of an id's QP
 * @id_priv: the id
 *
 * The first call chooses the PSN, because most ids never need one.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the PSN.
 */
u32 cmx_psn_get(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	while (!id_priv->seq_num)
		id_priv->seq_num = get_random_u32() & 0xffffff;
	return id_priv->seq_num;
}

/**
 * cmx_req_data_fill() - write the private data of a request: the CMA header and the consumer's data
 * @id_priv: the id
 * @param: the consumer's data, whose length has been checked
 * @data: zeroed, and long enough for both
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0 or the error of cmx_cma_hdr_pack().
 */
int cmx_req_data_fill(struct cmx_id_private *id_priv, const struct rdma_conn_param *param, u8 *data)
{
	u8 hdr = cmx_cma_hdr_len(cmx_src(id_priv));

	lockdep_assert_held(&id_priv->lock);
	if (param->private_data)
		memcpy(data + hdr, param->private_data, param->private_data_len);
	if (hdr)
		return cmx_cma_hdr_pack(data, cmx_src(id_priv), cmx_dst(id_priv));
	/*
	 * Even without a header the first byte is the CMA version. A peer takes any other value for
	 * a header that it does not know.
	 */
	data[0] = 0;
	return 0;
}

static int ib_req_send(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	u8 data[IB_CM_REQ_PRIVATE_DATA_SIZE] = {};
	struct rdma_route *route = &id_priv->id.route;
	struct ib_cm_req_param req = {
		.primary_path = &route->path_rec[0],
		.ppath_sgid_attr = route->addr.dev_addr.sgid_attr,
		.service_id = cmx_service_id(id_priv->id.ps, cmx_dst(id_priv)),
		.qp_num = id_priv->qp_num,
		.qp_type = id_priv->id.qp_type,
		.starting_psn = cmx_psn_get(id_priv),
		.private_data = data,
		.private_data_len = cmx_cma_hdr_len(cmx_src(id_priv)) + param->private_data_len,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.flow_control = param->flow_control,
		.retry_count = min_t(u8, MAX_RETRIES, param->retry_count),
		.rnr_retry_count = min_t(u8, MAX_RETRIES, param->rnr_retry_count),
		/* ib_cm adds twice the lifetime of packets on the path */
		.remote_cm_response_timeout = cmx_opt_get(id_priv, CMX_OPT_CM_RESPONSE_TIMEOUT),
		.local_cm_response_timeout = cmx_opt_get(id_priv, CMX_OPT_CM_RESPONSE_TIMEOUT),
		.max_cm_retries = cmx_opt_get(id_priv, CMX_OPT_CM_RETRIES),
		.srq = id_priv->srq,
	};
	int ret;

	ret = cmx_req_data_fill(id_priv, param, data) ?: cmx_ib_cm_id_create(id_priv);
	if (ret)
		return ret;

	cmx_req_directions_set(&req, route);
	cmx_ece_mark_offered(id_priv, &req.ece);
	ret = ib_send_cm_req(id_priv->ib.cm, &req);
	trace_cmx_cm_send(id_priv, "REQ", ret);
	if (ret)
		cmx_ib_cm_id_abort(id_priv);
	return ret;
}

/**
 * cmx_ib_sgid_set() - give an id without a GID the one of its path
 * @id_priv: the id, whose route has been resolved. An id for loopback has no GID yet
 *
 * Without it ib_cm takes the first port of any device that has this GID, and a user can choose the
 * GID (RDMA_OPTION_IB_PATH). ib_cm would hold a GID of a device whose removal does not end the id.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0; -EADDRNOTAVAIL if the port of the id does not have the GID.
 */
int cmx_ib_sgid_set(struct cmx_id_private *id_priv)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	struct sa_path_rec *path = id_priv->id.route.path_rec;
	const struct ib_gid_attr *attr;

	lockdep_assert_held(&id_priv->lock);
	if (addr->sgid_attr)
		return 0;
	attr = rdma_find_gid_by_port(id_priv->id.device, &path->sgid,
				     sa_conv_pathrec_to_gid_type(path), id_priv->id.port_num, NULL);
	if (IS_ERR(attr))
		return -EADDRNOTAVAIL;
	addr->sgid_attr = attr;
	return 0;
}

static int ib_connect(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	cmx_ib_work_init(id_priv);
	return cmx_ib_sgid_set(id_priv) ?: cmx_ib_req_start(id_priv, ib_req_send, param);
}

/**
 * cmx_ib_conn_abort() - abort the connection attempt and send a REJ
 * @id_priv: the id
 * @reason: reason of the REJ
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_conn_abort(struct cmx_id_private *id_priv, enum ib_cm_rej_reason reason)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	cmx_qp_to_err(id_priv);
	id_priv->response_pending = 0;
	ret = ib_send_cm_rej(id_priv->ib.cm, reason, NULL, 0, NULL, 0);
	trace_cmx_cm_send(id_priv, "REJ", ret);
}

/*
 * Finish the response to a REQ or REP of the peer. If it failed, a QP that we manage may be in an
 * intermediate state and cannot be used any more, so the attempt ends with a REJ. A QP that the
 * consumer manages has not been changed yet. Caller must hold id_priv->lock.
 */
static int ib_response_finish(struct cmx_id_private *id_priv, int ret)
{
	lockdep_assert_held(&id_priv->lock);
	if (!ret)
		id_priv->response_pending = 0;
	else if (id_priv->id.qp)
		cmx_ib_conn_abort(id_priv, IB_CM_REJ_CONSUMER_DEFINED);
	return ret;
}

static int ib_accept(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct ib_cm_rep_param rep = {
		.qp_num = id_priv->qp_num,
		.starting_psn = cmx_psn_get(id_priv),
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.flow_control = param->flow_control,
		.rnr_retry_count = min_t(u8, MAX_RETRIES, param->rnr_retry_count),
		.srq = id_priv->srq,
	};
	int ret;

	if (!id_priv->passive || !id_priv->response_pending ||
	    param->private_data_len > IB_CM_REP_PRIVATE_DATA_SIZE)
		return -EINVAL;
	ret = cmx_qp_to_rts(id_priv, param);
	if (!ret) {
		cmx_ece_mark_offered(id_priv, &rep.ece);
		ret = ib_send_cm_rep(id_priv->ib.cm, &rep);
		trace_cmx_cm_send(id_priv, "REP", ret);
	}
	if (!ret)
		cmx_ib_step(id_priv, CMX_IB_ON_REP);
	return ib_response_finish(id_priv, ret);
}

static int ib_establish(struct cmx_id_private *id_priv)
{
	int ret;

	if (id_priv->passive || !id_priv->response_pending)
		return -EINVAL;
	ret = cmx_qp_to_rts(id_priv, NULL);
	if (!ret) {
		ret = ib_send_cm_rtu(id_priv->ib.cm, NULL, 0);
		trace_cmx_cm_send(id_priv, "RTU", ret);
	}
	if (!ret) {
		cmx_state_set_established(id_priv, true);
		cmx_timer_stop(id_priv);
	}
	return ib_response_finish(id_priv, ret);
}

/*
 * Cancel our own REQ or REP. Destroying the ib_cm id cancels the message and sends a REJ. After
 * ib_send_cm_rej() alone ib_mad would still send the message as often as it was asked to.
 */
static int ib_conn_cancel(struct cmx_id_private *id_priv)
{
	u8 state = id_priv->ib.state;

	if (id_priv->established || (state != CMX_IB_REQ_WAITS && state != CMX_IB_REQ_SENT &&
				     state != CMX_IB_REP_SENT))
		return -EINVAL;
	cmx_timer_stop(id_priv);
	cmx_ib_cm_id_release(id_priv);
	return 0;
}

static int ib_reject(struct cmx_id_private *id_priv, const void *data, u8 len, u8 reason)
{
	int ret;

	if (data && len > IB_CM_REJ_PRIVATE_DATA_SIZE)
		return -EINVAL;
	if (!id_priv->response_pending)
		return ib_conn_cancel(id_priv);
	ret = ib_send_cm_rej(id_priv->ib.cm, reason, NULL, 0, data, len);
	trace_cmx_cm_send(id_priv, "REJ", ret);
	if (ret)
		return ret;
	id_priv->response_pending = 0;
	cmx_timer_stop(id_priv);
	return 0;
}

/* Report the end of the connection. Caller must hold id_priv->lock. */
static void ib_conn_set_disconnected(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_timer_stop(id_priv);
	cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
	cmx_event_post(cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_DISCONNECTED, 0));
}

/*
 * Send a DREQ, or a DREP if the peer has sent its DREQ. It is no error if there is nothing to send:
 * the connection may just have ended, or ended before it was established.
 *
 * The consumer destroys its QP when it gets DISCONNECTED. A QP that has not been stopped may still
 * receive from the peer, so the event then waits for the reply.
 */
static int ib_disconnect(struct cmx_id_private *id_priv, bool qp_is_stopped)
{
	bool rep_is_unanswered = id_priv->ib.state == CMX_IB_REP_SENT;
	bool at_once = qp_is_stopped || rep_is_unanswered;
	/* The consumer waits for the event, whatever is returned. */
	bool is_open = id_priv->state == CMX_CONNECT && id_priv->established;
	int ret;

	if (is_open && id_priv->dev_port->transport->has_sa && cmx_qp_has_failed(id_priv))
		cmx_route_invalidate(id_priv);
	ret = cmx_qp_to_err(id_priv);
	if (ret)
		return ret;
	/*
	 * ib_cm accepts no DREQ while the REP is unanswered. ib_close.c sends the DREQ when the RTU
	 * has arrived.
	 */
	if (!is_open || !rep_is_unanswered)
		ret = cmx_ib_dreq_start(id_priv);
	/* An earlier call or ib_cm has sent it. The peer may have chosen a timeout of days. */
	if (is_open && ret == -EINVAL && READ_ONCE(id_priv->ib.cm->state) == IB_CM_DREQ_SENT) {
		cmx_ib_step(id_priv, CMX_IB_ON_SENT);
		ret = 0;
	}
	if (is_open && !at_once && (!ret || ret == -EINVAL)) {
		/* A handler will report the end. ib_cm may have sent the DREQ by itself. */
		cmx_close_start_deadline(id_priv);
	} else if (is_open && (!ret || READ_ONCE(id_priv->ib.cm->state) == IB_CM_TIMEWAIT)) {
		/*
		 * ib_cm ends the connection even if it cannot send the DREQ. After a DREQ
		 * ib_close.c waits for the reply.
		 */
		if (!ret)
			cmx_ib_step(id_priv, CMX_IB_ON_CLOSE);
		ib_conn_set_disconnected(id_priv);
		return 0;
	}
	return is_open && ret == -ENOMEM ? ret : 0;
}

/*
 * ib_cm_notify() would cancel the REP only if nothing else arrived before the work item of ib_cm
 * runs. Therefore ib_cm is not notified, and sends the REP until the RTU arrives.
 */
static int ib_notify_comm_est(struct cmx_id_private *id_priv, const struct ib_cm_id *cm)
{
	switch (READ_ONCE(cm->state)) {
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
		break;
	case IB_CM_ESTABLISHED:
		return -EISCONN;
	default:
		return -EINVAL;
	}
	/* rechecked under the lock of the id */
	if (data_race(!!id_priv->established) || !cmx_ib_wake(id_priv, IB_CM_USER_ESTABLISHED))
		return -EISCONN;
	return 0;
}

/**
 * cmx_ib_notify() - handle an event of the QP
 * @id_priv: the id
 * @event: %IB_EVENT_COMM_EST
 *
 * RCU keeps the memory of an ib_cm id that is being destroyed.
 *
 * Context: Any context, because drivers report events of QPs in any. id_priv->lock is not needed.
 * Return: 0, -EINVAL without a connection or for another event, -EISCONN.
 */
int cmx_ib_notify(struct cmx_id_private *id_priv, enum ib_event_type event)
{
	struct ib_cm_id *cm;
	int ret = -EINVAL;

	/* For PATH_MIG, ib_cm copies the alternate path to the primary one: a GID is put twice. */
	if (event != IB_EVENT_COMM_EST)
		return -EINVAL;
	rcu_read_lock();
	cm = READ_ONCE(id_priv->ib.cm);
	if (cm && !cmx_ib_state_is_released(READ_ONCE(id_priv->ib.state)))
		ret = ib_notify_comm_est(id_priv, cm);
	rcu_read_unlock();
	return ret;
}

/**
 * cmx_ib_port_attr() - get the QP attributes that depend only on the port
 * @id_priv: the id
 * @attr: receives port and P_Key index
 * @mask: receives the mask of valid attributes
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, -ENOENT when the port is not in the partition.
 */
int cmx_ib_port_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	attr->port_num = id_priv->id.port_num;
	*mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;
	return ib_find_cached_pkey(id_priv->id.device, id_priv->id.port_num, cmx_pkey_get(id_priv),
				   &attr->pkey_index);
}

static int ib_init_qp_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	if (id_priv->ib.cm && !cmx_ib_state_is_released(id_priv->ib.state)) {
		ret = ib_cm_init_qp_attr(id_priv->ib.cm, attr, mask);
	} else {
		ret = cmx_ib_port_attr(id_priv, attr, mask);
		attr->qp_access_flags = 0;
		*mask |= IB_QP_ACCESS_FLAGS;
	}
	if (!ret && attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = cmx_psn_get(id_priv);
	return ret;
}

const struct cmx_conn_ops cmx_ib_conn_ops = {
	.private_data = IB_CM_REQ_PRIVATE_DATA_SIZE,
	.consumer_reject = IB_CM_REJ_CONSUMER_DEFINED,
	.reject_msg = ibcm_reject_msg,
	.has_conn = cmx_ib_has_conn,
	.is_waiting = cmx_ib_is_waiting,
	.connect = ib_connect,
	.accept = ib_accept,
	.establish = ib_establish,
	.reject = ib_reject,
	.disconnect = ib_disconnect,
	.release = cmx_ib_cm_id_release,
	.notify = cmx_ib_notify,
	.wait_closed = cmx_close_wait,
	.init_qp_attr = ib_init_qp_attr,
};
