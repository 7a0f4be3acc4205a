// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams over ib_cm: a SIDR REQ asks for the peer's QP number, and a SIDR REP returns it.
 */
#include <rdma/ib_sa.h>
#include "ece.h"
#include "event.h"
#include "ib.h"
#include "ib_close.h"
#include "keys.h"
#include "option_value.h"
#include "qp.h"
#include "timer.h"
#include "trace.h"
#include "transport.h"
#include "cma_hdr.h"

static void sidr_rep_handle(struct cmx_id_private *id_priv,
			    const struct ib_cm_sidr_rep_event_param *rep, struct rdma_cm_event *ev)
{
	struct rdma_ud_param *ud = &ev->param.ud;

	if (rep->status != IB_SIDR_SUCCESS) {
		ev->event = RDMA_CM_EVENT_UNREACHABLE;
		ev->status = rep->status;
		return;
	}
	ev->event = RDMA_CM_EVENT_ADDR_ERROR;
	ev->status = rep->qkey ? cmx_qkey_set(id_priv, rep->qkey) : -EINVAL;
	if (ev->status)
		return;
	ev->status = ib_init_ah_attr_from_path(id_priv->id.device, id_priv->id.port_num,
					       id_priv->id.route.path_rec, &ud->ah_attr,
					       rep->sgid_attr);
	if (ev->status)
		return;
	ud->qp_num = rep->qpn;
	ud->qkey = rep->qkey;
	ev->event = RDMA_CM_EVENT_ESTABLISHED;
	cmx_state_set_established(id_priv, true);
}

/**
 * cmx_sidr_event_handle() - handle a SIDR event of ib_cm
 * @id_priv: the id, in state CMX_CONNECT
 * @event: the event of ib_cm
 * @ev: receives the event for the consumer
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if there is something to report.
 */
bool cmx_sidr_event_handle(struct cmx_id_private *id_priv, const struct ib_cm_event *event,
			   struct cmx_event *ev)
{
	lockdep_assert_held(&id_priv->lock);
	switch (event->event) {
	case IB_CM_SIDR_REQ_ERROR:
		cmx_route_invalidate(id_priv);
		ev->ev.event = RDMA_CM_EVENT_UNREACHABLE;
		ev->ev.status = -ETIMEDOUT;
		break;
	case IB_CM_SIDR_REP_RECEIVED:
		sidr_rep_handle(id_priv, &event->param.sidr_rep_rcvd, &ev->ev);
		cmx_event_set_data(ev, event->private_data, IB_CM_SIDR_REP_PRIVATE_DATA_SIZE);
		break;
	default:
		return false;
	}
	cmx_timer_stop(id_priv);
	return true;
}

static int sidr_req_send(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	u8 data[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE] = {};
	struct ib_cm_sidr_req_param req = {
		.path = id_priv->id.route.path_rec,
		.sgid_attr = id_priv->id.route.addr.dev_addr.sgid_attr,
		.service_id = cmx_service_id(id_priv->id.ps, cmx_dst(id_priv)),
		.timeout_ms = cmx_opt_timeout_ms(cmx_opt_get(id_priv, CMX_OPT_CM_RESPONSE_TIMEOUT)),
		.private_data = data,
		.private_data_len = cmx_cma_hdr_len(cmx_src(id_priv)) + param->private_data_len,
		.max_cm_retries = cmx_opt_get(id_priv, CMX_OPT_CM_RETRIES),
	};
	int ret;

	ret = cmx_req_data_fill(id_priv, param, data) ?: cmx_ib_cm_id_create(id_priv);
	if (ret)
		return ret;

	ret = ib_send_cm_sidr_req(id_priv->ib.cm, &req);
	trace_cmx_cm_send(id_priv, "SIDR REQ", ret);
	if (ret)
		cmx_ib_cm_id_abort(id_priv);
	return ret;
}

static int sidr_connect(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	cmx_ib_work_init(id_priv);
	return cmx_ib_sgid_set(id_priv) ?: cmx_ib_req_start(id_priv, sidr_req_send, param);
}

static int sidr_rep_send(struct cmx_id_private *id_priv, struct ib_cm_sidr_rep_param *rep)
{
	int ret;

	if (!id_priv->passive || !id_priv->response_pending ||
	    rep->private_data_len > IB_CM_SIDR_REP_PRIVATE_DATA_SIZE)
		return -EINVAL;
	ret = ib_send_cm_sidr_rep(id_priv->ib.cm, rep);
	trace_cmx_cm_send(id_priv, "SIDR REP", ret);
	if (!ret)
		id_priv->response_pending = 0;
	return ret;
}

static int sidr_accept(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct ib_cm_sidr_rep_param rep = {
		.status = IB_SIDR_SUCCESS,
		.qp_num = id_priv->qp_num,
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
	};
	u32 old_qkey = id_priv->qkey;
	int ret;

	ret = cmx_qkey_set(id_priv, param->qkey);
	if (ret)
		return ret;
	rep.qkey = id_priv->qkey;
	cmx_ece_mark_offered(id_priv, &rep.ece);
	ret = sidr_rep_send(id_priv, &rep);
	if (ret)
		id_priv->qkey = old_qkey;
	else
		cmx_state_set_established(id_priv, true);
	return ret;
}

static int sidr_establish(struct cmx_id_private *id_priv)
{
	static const struct rdma_conn_param defaults;

	return sidr_accept(id_priv, &defaults);
}

static int sidr_reject(struct cmx_id_private *id_priv, const void *data, u8 len, u8 reason)
{
	struct ib_cm_sidr_rep_param rep = {
		.status = IB_SIDR_REJECT,
		.private_data = data,
		.private_data_len = len,
	};

	return sidr_rep_send(id_priv, &rep);
}

/* There is no connection to end, but the QP is not used any more. */
static int sidr_disconnect(struct cmx_id_private *id_priv, bool qp_is_stopped)
{
	return cmx_qp_to_err(id_priv);
}

static int sidr_init_qp_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	int ret;

	ret = cmx_ib_port_attr(id_priv, attr, mask) ?: cmx_qkey_get(id_priv, &attr->qkey);
	if (ret)
		return ret;
	*mask |= IB_QP_QKEY;
	if (attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = cmx_psn_get(id_priv);
	return 0;
}

const struct cmx_conn_ops cmx_ib_sidr_ops = {
	.private_data = IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE,
	.consumer_reject = IB_CM_REJ_CONSUMER_DEFINED,
	.reject_msg = ibcm_reject_msg,
	.has_conn = cmx_ib_has_conn,
	.is_waiting = cmx_ib_is_waiting,
	.connect = sidr_connect,
	.accept = sidr_accept,
	.establish = sidr_establish,
	.reject = sidr_reject,
	.disconnect = sidr_disconnect,
	.release = cmx_ib_cm_id_release,
	.notify = cmx_ib_notify,
	.init_qp_attr = sidr_init_qp_attr,
};
