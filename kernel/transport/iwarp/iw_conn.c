// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections over iw_cm: on iWARP a connection is a TCP connection.
 *
 * The provider moves the QP through its states. Private data has no CMA header, because TCP carries
 * the addresses.
 *
 * One worker of iw_cm makes the callbacks for all connections, and a QP is not destroyed before
 * that worker has seen the end of its connection. Therefore no handler of a consumer runs in this
 * worker, and nothing here waits for the worker with an id's lock held. A work item of the id waits
 * for the provider: it disconnects in place of that worker, and destroys the iw_cm id. The latter
 * would also wait for the peer, so it follows the result of the connection attempt.
 */
#include <linux/nsproxy.h>
#include <rdma/iw_cm.h>
#include "device.h"
#include "ece.h"
#include "event.h"
#include "iw.h"
#include "lock_order.h"
#include "option_value.h"
#include "qp.h"
#include "sockaddr.h"
#include "timer.h"
#include "trace.h"
#include "transport.h"
#include "cma_hdr.h"

/* Queue the work item, which holds a reference to the id. Caller must hold id_priv->lock. */
static void iw_wake(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_id_get(id_priv);
	if (!queue_work(id_priv->iw.dev->destroy_wq, &id_priv->iw.work))
		cmx_id_put(id_priv);
}

/*
 * Queue the destruction of @iw, which drops the references that @iw holds. Caller must hold
 * id_priv->lock.
 */
static void iw_id_defer_destroy(struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	lockdep_assert_held(&id_priv->lock);
	id_priv->released = 1;
	id_priv->iw.released = iw;
	if (!id_priv->iw.result_pending)
		iw_wake(id_priv);
}

/* A connection attempt has ended: destroy @iw if it was released meanwhile. */
static void iw_result_handle(struct cmx_id_private *id_priv, const struct iw_cm_id *iw,
			     const struct iw_cm_event *event)
{
	if (event->event != IW_CM_EVENT_CONNECT_REPLY && event->event != IW_CM_EVENT_ESTABLISHED)
		return;
	id_priv->iw.result_pending = 0;
	if (id_priv->iw.released == iw)
		iw_wake(id_priv);
}

/* While the provider is being called, iw_call_end() queues the destruction. */
static void iw_release(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	if (id_priv->iw.cm && !id_priv->iw.calls)
		iw_id_defer_destroy(id_priv, id_priv->iw.cm);
	id_priv->iw.cm = NULL;
}

/*
 * Release id_priv->lock for a call of the provider, which may wait for its firmware, for TCP, or
 * for memory of a process. Meanwhile events arrive, and the consumer can give up. The iw_cm id is
 * not destroyed before iw_call_end(). Caller must hold a reference to the id.
 */
static void iw_call_begin(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	id_priv->iw.calls++;
	mutex_unlock(&id_priv->lock);
	cmx_id_lock_assert_none();
}

/*
 * Take id_priv->lock again after a call for @iw that has sent @msg and returned @ret. If @iw was
 * released meanwhile, the end has been reported, so the result is dropped. Returns the result.
 */
static int iw_call_end(struct cmx_id_private *id_priv, struct iw_cm_id *iw, const char *msg,
		       int ret)
{
	mutex_lock(&id_priv->lock);
	trace_cmx_cm_send(id_priv, msg, ret);
	id_priv->iw.calls--;
	if (ret)
		id_priv->iw.result_pending = 0;
	if (id_priv->iw.cm != iw) {
		if (!id_priv->iw.calls)
			iw_id_defer_destroy(id_priv, iw);
		ret = 0;
	}
	return ret;
}

/**
 * cmx_iw_ece_is_supported() - check whether the ECE options of an id allow a connection
 * @id_priv: the id
 *
 * The messages of iWARP have no place for ECE: none can be offered, and none will be received.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: false if ECE is offered or required.
 */
bool cmx_iw_ece_is_supported(struct cmx_id_private *id_priv)
{
	static const struct rdma_ucm_ece none;

	return !id_priv->ece_local.vendor_id && cmx_ece_receive(id_priv, &none);
}

static struct iw_cm_conn_param iw_conn_param_init(struct cmx_id_private *id_priv,
						  const struct rdma_conn_param *param)
{
	return (struct iw_cm_conn_param) {
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.ord = param->initiator_depth,
		.ird = param->responder_resources,
		.qpn = id_priv->qp_num,
	};
}

/* Set the attributes that the connection needs and that the QP did not get at its creation. */
static int iw_qp_init(struct cmx_id_private *id_priv)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret;

	if (!id_priv->id.qp)
		return 0;
	ret = iw_cm_init_qp_attr(id_priv->iw.cm, &attr, &mask);
	return ret ?: ib_modify_qp(id_priv->id.qp, &attr, mask);
}

/**
 * cmx_iw_id_set_tos() - set the type of service of the packets of TCP
 * @id_priv: the id
 * @iw: its iw_cm id, before it connects or listens
 */
void cmx_iw_id_set_tos(const struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	iw->tos = cmx_opt_get(id_priv, CMX_OPT_TOS);
	iw->tos_set = iw->tos;
}

static int iw_conn_close(struct cmx_id_private *id_priv)
{
	struct iw_cm_id *iw = id_priv->iw.cm;

	iw_call_begin(id_priv);
	return iw_call_end(id_priv, iw, "FIN", iw_cm_disconnect(iw, 0));
}

/* Destroy an iw_cm id, and drop the references that it holds. */
static void iw_id_destroy(struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	struct cmx_device *dev = id_priv->iw.dev;

	cmx_id_lock_assert_none();
	iw_destroy_cm_id(iw);
	cmx_id_put(id_priv);
	cmx_device_put(dev);
}

/* Disconnect, then destroy a released iw_cm id. */
static void iw_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv = container_of(work, struct cmx_id_private, iw.work);
	struct iw_cm_id *iw = NULL;

	mutex_lock(&id_priv->lock);
	if (id_priv->iw.cm && id_priv->established && id_priv->iw.disconnect_pending) {
		id_priv->iw.disconnect_pending = 0;
		iw_conn_close(id_priv);
	}
	if (!id_priv->iw.result_pending)
		swap(iw, id_priv->iw.released);
	mutex_unlock(&id_priv->lock);
	if (iw)
		iw_id_destroy(id_priv, iw);
	cmx_id_put(id_priv);
}

/**
 * cmx_iw_conn_init() - give an id its iw_cm id
 * @id_priv: the id, which is attached to a device and has none
 * @iw: the iw_cm id. The caller has taken the reference to the id that it holds
 */
void cmx_iw_conn_init(struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	id_priv->iw.cm = iw;
	id_priv->iw.dev = id_priv->dev;
	cmx_device_get(id_priv->dev);
	id_priv->iw.disconnect_pending = 0;
	INIT_WORK(&id_priv->iw.work, iw_work);
}

/* The worker of iw_cm, which calls this, must not wait for the provider. */
static void iw_conn_set_established(struct cmx_id_private *id_priv)
{
	cmx_state_set_established(id_priv, true);
	if (id_priv->iw.disconnect_pending)
		iw_wake(id_priv);
}

static enum rdma_cm_event_type iw_reply_handle(struct cmx_id_private *id_priv, int status)
{
	cmx_timer_stop(id_priv);
	switch (status) {
	case 0:
		iw_conn_set_established(id_priv);
		return RDMA_CM_EVENT_ESTABLISHED;
	case -ECONNRESET:
	case -ECONNREFUSED:
		return RDMA_CM_EVENT_REJECTED;
	case -ETIMEDOUT:
		return RDMA_CM_EVENT_UNREACHABLE;
	default:
		return RDMA_CM_EVENT_CONNECT_ERROR;
	}
}

static bool iw_event_handle(struct cmx_id_private *id_priv, const struct iw_cm_event *event,
			    struct cmx_event *ev)
{
	if (id_priv->state != CMX_CONNECT)
		return false;
	ev->ev.status = event->status;
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		ev->ev.event = iw_reply_handle(id_priv, event->status);
		/* iw_cm does not keep the private data of other events */
		cmx_event_set_data(ev, event->private_data, event->private_data_len);
		break;
	case IW_CM_EVENT_ESTABLISHED:
		cmx_timer_stop(id_priv);
		if (!event->status)
			iw_conn_set_established(id_priv);
		ev->ev.event = event->status ? RDMA_CM_EVENT_CONNECT_ERROR
					     : RDMA_CM_EVENT_ESTABLISHED;
		break;
	case IW_CM_EVENT_CLOSE:
		ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
		cmx_timer_stop(id_priv);
		cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
		break;
	default:
		return false;
	}
	ev->ev.param.conn.responder_resources = event->ord;
	ev->ev.param.conn.initiator_depth = event->ird;
	return true;
}

/**
 * cmx_iw_conn_handler() - handle an event of a connection
 * @iw: its iw_cm id
 * @event: the event
 *
 * Context: the worker of iw_cm.
 * Return: 0.
 */
int cmx_iw_conn_handler(struct iw_cm_id *iw, struct iw_cm_event *event)
{
	struct cmx_id_private *id_priv = iw->context;
	enum rdma_cm_event_type type = event->event == IW_CM_EVENT_CONNECT_REPLY ?
					       RDMA_CM_EVENT_CONNECT_RESPONSE :
					       RDMA_CM_EVENT_CONNECT_ERROR;
	struct cmx_event *ev = cmx_event_alloc_nofail(id_priv, type, 0);
	bool post;

	mutex_lock(&id_priv->lock);
	iw_result_handle(id_priv, iw, event);
	post = id_priv->iw.cm == iw && iw_event_handle(id_priv, event, ev);
	if (post)
		cmx_event_post(ev);
	mutex_unlock(&id_priv->lock);
	if (!post)
		cmx_event_free(ev);
	return 0;
}

static int iw_provider_connect(struct cmx_id_private *id_priv, struct iw_cm_id *iw,
			       struct iw_cm_conn_param *conn)
{
	id_priv->iw.result_pending = 1;
	iw_call_begin(id_priv);
	return iw_call_end(id_priv, iw, "MPA request", iw_cm_connect(iw, conn));
}

/*
 * Destroy the iw_cm id of a failed attempt. The worker of iw_cm may be waiting for
 * id_priv->lock, so the lock is released meanwhile. Caller must hold id_priv->lock.
 */
static void iw_conn_abort(struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_timer_stop(id_priv);
	id_priv->iw.cm = NULL;
	mutex_unlock(&id_priv->lock);
	/* not the last reference to the id: the caller holds one */
	iw_id_destroy(id_priv, iw);
	mutex_lock(&id_priv->lock);
}

static int iw_connect(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param conn = iw_conn_param_init(id_priv, param);
	struct iw_cm_id *iw;
	int ret;

	/* siw uses the TCP of the caller's namespace, whose owner can have it wait for hours. */
	if (id_priv->user && !net_eq(current->nsproxy->net_ns, cmx_net(id_priv)))
		return -EINVAL;
	if (!cmx_iw_ece_is_supported(id_priv))
		return -EOPNOTSUPP;
	iw = iw_create_cm_id(id_priv->id.device, cmx_iw_conn_handler, id_priv);
	if (IS_ERR(iw))
		return PTR_ERR(iw);
	cmx_id_get(id_priv);
	cmx_iw_id_set_tos(id_priv, iw);
	memcpy(&iw->local_addr, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	memcpy(&iw->remote_addr, cmx_dst(id_priv), cmx_addr_size(cmx_dst(id_priv)));
	cmx_iw_conn_init(id_priv, iw);
	ret = iw_qp_init(id_priv) ?: iw_provider_connect(id_priv, iw, &conn);
	if (ret)
		iw_conn_abort(id_priv, iw);
	return ret;
}

/* @ret: 0, or the error that prevents the accept. The request of a ULP ends in any case. */
static int iw_provider_accept(struct cmx_id_private *id_priv, struct iw_cm_conn_param *conn,
			      int ret)
{
	struct iw_cm_id *iw = id_priv->iw.cm;
	bool is_ulp = id_priv->id.qp;

	id_priv->iw.result_pending = 1;
	iw_call_begin(id_priv);
	ret = ret ?: iw_cm_accept(iw, conn);
	/* fails if the provider has given up the connection by itself */
	if (ret && is_ulp)
		iw_cm_reject(iw, NULL, 0);
	return iw_call_end(id_priv, iw, "MPA reply", ret);
}

static int iw_accept(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param conn = iw_conn_param_init(id_priv, param);
	int ret;

	if (!id_priv->passive || !id_priv->response_pending)
		return -EINVAL;
	if (!cmx_iw_ece_is_supported(id_priv))
		return -EOPNOTSUPP;
	id_priv->response_pending = 0;
	id_priv->iw.disconnect_pending = 0;
	ret = iw_provider_accept(id_priv, &conn, iw_qp_init(id_priv));
	if (ret && !id_priv->id.qp)
		id_priv->response_pending = 1;
	else if (ret)
		cmx_qp_to_err(id_priv);
	return ret;
}

/* The active side of an iWARP connection has nothing to confirm. */
static int iw_establish(struct cmx_id_private *id_priv)
{
	return -EINVAL;
}

static int iw_reject(struct cmx_id_private *id_priv, const void *data, u8 len, u8 reason)
{
	struct iw_cm_id *iw = id_priv->iw.cm;
	int ret;

	/* an MPA reply has no reason */
	if (!id_priv->passive || !id_priv->response_pending)
		return -EINVAL;
	id_priv->response_pending = 0;
	iw_call_begin(id_priv);
	ret = iw_call_end(id_priv, iw, "MPA reject", iw_cm_reject(iw, data, len));
	if (ret)
		id_priv->response_pending = 1;
	return ret;
}

/*
 * iw_cm_disconnect() would wait for the end of a connection attempt. In that case it is called when
 * the connection is established.
 */
static int iw_disconnect(struct cmx_id_private *id_priv, bool qp_is_stopped)
{
	/* The id of a ULP keeps its connection when its device is removed. */
	if (id_priv->state == CMX_REMOVED && id_priv->established)
		return iw_conn_close(id_priv);
	if (id_priv->state != CMX_CONNECT || id_priv->response_pending)
		return 0;
	if (id_priv->established)
		return iw_conn_close(id_priv);
	id_priv->iw.disconnect_pending = 1;
	return 0;
}

static int iw_notify(struct cmx_id_private *id_priv, enum ib_event_type event)
{
	return id_priv->iw.cm ? 0 : -EINVAL;
}

static int iw_init_qp_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	int ret = 0;

	if (id_priv->iw.cm) {
		ret = iw_cm_init_qp_attr(id_priv->iw.cm, attr, mask);
	} else {
		attr->qp_access_flags = 0;
		*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	}
	attr->port_num = id_priv->id.port_num;
	*mask |= IB_QP_PORT;
	return ret;
}

static bool iw_has_conn(const struct cmx_id_private *id_priv)
{
	return id_priv->iw.cm;
}

static const char *iw_reject_msg(int reason)
{
	return reason == -ECONNREFUSED ? "rejected by the consumer" : "rejected by the transport";
}

const struct cmx_conn_ops cmx_iw_conn_ops = {
	.private_data = CMX_CMA_HDR_LEN + U8_MAX,
	.consumer_reject = -ECONNREFUSED,
	.reject_msg = iw_reject_msg,
	.has_conn = iw_has_conn,
	.connect = iw_connect,
	.accept = iw_accept,
	.establish = iw_establish,
	.reject = iw_reject,
	.disconnect = iw_disconnect,
	.release = iw_release,
	.notify = iw_notify,
	.init_qp_attr = iw_init_qp_attr,
};
