// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events of ib_cm for connections: messages of the peer, timeouts and send errors.
 */
#include <linux/sched/mm.h>
#include "compat.h"
#include "ece.h"
#include "event.h"
#include "ib.h"
#include "ib_close.h"
#include "ib_state.h"
#include "ib_wake.h"
#include "qp.h"
#include "timer.h"
#include "transport.h"

static void ib_rep_handle(struct cmx_id_private *id_priv, const struct ib_cm_event *event,
			  struct rdma_cm_event *ev)
{
	const struct ib_cm_rep_event_param *rep = &event->param.rep_rcvd;
	struct rdma_conn_param *conn = &ev->param.conn;

	conn->responder_resources = rep->responder_resources;
	conn->initiator_depth = rep->initiator_depth;
	conn->flow_control = rep->flow_control;
	conn->rnr_retry_count = rep->rnr_retry_count;
	conn->srq = rep->srq;
	conn->qp_num = rep->remote_qpn;
	id_priv->response_pending = 1;
	if (!cmx_ece_receive(id_priv, &rep->ece)) {
		cmx_ib_conn_abort(id_priv, IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED);
		cmx_timer_stop(id_priv);
		ev->event = RDMA_CM_EVENT_CONNECT_ERROR;
		ev->status = -EOPNOTSUPP;
	} else if (id_priv->id.qp) {
		ev->status = id_priv->conn_ops->establish(id_priv);
		if (ev->status)
			cmx_timer_stop(id_priv);
		ev->event = ev->status ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_ESTABLISHED;
	} else {
		cmx_mra_send(id_priv->ib.cm);
		ev->event = RDMA_CM_EVENT_CONNECT_RESPONSE;
	}
	ev->ece = id_priv->ece_remote;
}

/* Does the reason say that the path is invalid? A newer path record may then be different. */
static bool ib_rej_is_path_error(int reason)
{
	return (reason >= IB_CM_REJ_INVALID_GID && reason <= IB_CM_REJ_INVALID_PACKET_RATE) ||
	       reason == IB_CM_REJ_INVALID_MTU || reason == IB_CM_REJ_INVALID_FLOW_LABEL;
}

static void ib_rej_handle(struct cmx_id_private *id_priv, const struct ib_cm_event *event,
			  struct rdma_cm_event *ev)
{
	ev->event = RDMA_CM_EVENT_REJECTED;
	ev->status = event->param.rej_rcvd.reason;
	if (ev->status == IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		id_priv->ece_flags |= CMX_ECE_F_REJECTED;
	if (ib_rej_is_path_error(ev->status))
		cmx_route_invalidate(id_priv);
	id_priv->response_pending = 0;
	/* the peer may reject after our RTU, which it has not received */
	cmx_state_set_established(id_priv, false);
	cmx_qp_to_err(id_priv);
	cmx_timer_stop(id_priv);
}

/* Can the event be relevant to the consumer in the current state? */
static bool ib_event_is_relevant(const struct cmx_id_private *id_priv,
				 const struct ib_cm_event *event)
{
	if (event->event == IB_CM_TIMEWAIT_EXIT)
		return id_priv->state == CMX_DISCONNECT;
	return id_priv->state == CMX_CONNECT;
}

/*
 * Handle an event of a connection or of a connection attempt. Return false if there is nothing to
 * report. Caller must hold id_priv->lock.
 */
static bool ib_event_dispatch(struct cmx_id_private *id_priv, const struct ib_cm_event *event,
			      struct cmx_event *ev)
{
	lockdep_assert_held(&id_priv->lock);
	switch (event->event) {
	case IB_CM_REQ_ERROR:
		cmx_route_invalidate(id_priv);
		fallthrough;
	case IB_CM_REP_ERROR:
		ev->ev.event = RDMA_CM_EVENT_UNREACHABLE;
		ev->ev.status = -ETIMEDOUT;
		cmx_timer_stop(id_priv);
		/* a message arrived on the QP, but the RTU never did */
		if (id_priv->established)
			ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
		return !id_priv->established ||
		       !cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
	case IB_CM_REP_RECEIVED:
		ib_rep_handle(id_priv, event, &ev->ev);
		cmx_event_set_data(ev, event->private_data, IB_CM_REP_PRIVATE_DATA_SIZE);
		return true;
	case IB_CM_USER_ESTABLISHED:
		if (id_priv->ib.state != CMX_IB_REP_SENT)
			return false;
		fallthrough;
	case IB_CM_RTU_RECEIVED:
		if (id_priv->established)
			return false;
		ev->ev.event = RDMA_CM_EVENT_ESTABLISHED;
		cmx_state_set_established(id_priv, true);
		cmx_timer_stop(id_priv);
		return true;
	case IB_CM_DREQ_ERROR:
		ev->ev.status = -ETIMEDOUT;
		fallthrough;
	case IB_CM_DREQ_RECEIVED:
	case IB_CM_DREP_RECEIVED:
		ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
		cmx_timer_stop(id_priv);
		return !cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
	case IB_CM_REJ_RECEIVED:
		ib_rej_handle(id_priv, event, &ev->ev);
		cmx_event_set_data(ev, event->private_data, IB_CM_REJ_PRIVATE_DATA_SIZE);
		return true;
	case IB_CM_TIMEWAIT_EXIT:
		ev->ev.event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
		return true;
	default:
		return cmx_sidr_event_handle(id_priv, event, ev);
	}
}

/*
 * The timewait has ended before the work item has reported that the DREQ timed out. Report that
 * now: TIMEWAIT_EXIT comes after DISCONNECTED. The connection stays in CMX_IB_DREQ_SENT, because
 * ib_cm may not have called the handler yet. Caller must hold id_priv->lock.
 */
static void ib_dreq_error_catch_up(struct cmx_id_private *id_priv)
{
	static const struct ib_cm_event dreq_error = { .event = IB_CM_DREQ_ERROR };
	struct cmx_event *ev;

	lockdep_assert_held(&id_priv->lock);
	if (id_priv->ib.state != CMX_IB_DREQ_SENT || id_priv->state != CMX_CONNECT)
		return;
	ev = cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_DISCONNECTED, 0);
	ib_event_dispatch(id_priv, &dreq_error, ev);
	cmx_event_queue(ev);
}

/* Send errors, and a message on the QP before the RTU */
static bool ib_event_is_deferred(const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
	case IB_CM_DREQ_ERROR:
	case IB_CM_SIDR_REQ_ERROR:
	case IB_CM_USER_ESTABLISHED:
		return true;
	default:
		return false;
	}
}

/* Does the consumer get the private data of the message? Requests are handled in ib_req.c. */
static bool ib_event_is_response(const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REP_RECEIVED:
	case IB_CM_REJ_RECEIVED:
	case IB_CM_SIDR_REP_RECEIVED:
		return true;
	default:
		return false;
	}
}

/*
 * ib_cm calls us in its own context, and the handler of a ULP runs there. A deferred event is
 * handled by a work item of cmx_wq, which all devices share, so the handler then runs in the queue
 * of the device.
 */
static void ib_event_process(struct cmx_id_private *id_priv, const struct ib_cm_event *event)
{
	bool post = false, later = ib_event_is_deferred(event);
	struct cmx_event *ev = NULL;

	mutex_lock(&id_priv->lock);
	if (event->event == IB_CM_DREQ_ERROR)
		cmx_close_invalidate_route(id_priv);
	if (event->event == IB_CM_TIMEWAIT_EXIT)
		ib_dreq_error_catch_up(id_priv);
	if (!cmx_close_event_handle(id_priv, event->event) &&
	    ib_event_is_relevant(id_priv, event)) {
		ev = cmx_event_alloc_nofail(id_priv,
					    ib_event_is_response(event) ?
						    RDMA_CM_EVENT_CONNECT_RESPONSE :
						    RDMA_CM_EVENT_CONNECT_ERROR, 0);
		post = ib_event_dispatch(id_priv, event, ev);
	}
	if (post && later)
		cmx_event_post(ev);
	else if (post)
		cmx_event_queue(ev);
	mutex_unlock(&id_priv->lock);
	if (!post)
		cmx_event_free(ev);
	else if (!later)
		id_priv->consumer->deliver(id_priv);
}

static void ib_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv = container_of(work, struct cmx_id_private, ib.work);
	unsigned long reasons = xchg(&id_priv->ib.reasons, 0);
	unsigned int noio = memalloc_noio_save();
	unsigned int reason;

	if (reasons & BIT(CMX_IB_HAS_ROOM)) {
		mutex_lock(&id_priv->lock);
		cmx_ib_step(id_priv, CMX_IB_ON_ROOM);
		mutex_unlock(&id_priv->lock);
	}
	for_each_set_bit(reason, &reasons, CMX_IB_HAS_ROOM) {
		struct ib_cm_event event = { .event = reason };

		ib_event_process(id_priv, &event);
	}
	cmx_id_put(id_priv);
	memalloc_noio_restore(noio);
}

/**
 * cmx_ib_work_init() - prepare the work item of an id
 * @id_priv: the id, which is about to send or has received a request
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_work_init(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	INIT_WORK(&id_priv->ib.work, ib_work);
}

/**
 * cmx_ib_handler() - handle an event of ib_cm: connections and SIDR
 * @cm: the ib_cm id
 * @event: the event
 *
 * ib_destroy_cm_id() does not wait for a handler that reports a timeout. Therefore
 * cmx_ib_cm_id_release() defers the destruction. The release cannot detect a message that times out
 * at the moment of the destruction. RCU keeps both ids in this case, unless the worker of ib_cm is
 * preempted before it calls the handler. Only ib_cm could prevent that.
 *
 * The handler is called for a released ib_cm id, too, until that is destroyed.
 *
 * Send errors come from workers of ib_mad that all users of the port share. These workers also
 * complete the MADs that ib_destroy_cm_id() waits for. So a work item waits for the id's lock.
 *
 * Return: 0. The consumer decides about errors.
 */
int cmx_ib_handler(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct cmx_id_private *id_priv;
	bool got;

	if (event->event == IB_CM_MRA_RECEIVED)
		return 0;
	rcu_read_lock();
	id_priv = cm->context;
	got = cmx_id_tryget(id_priv);
	rcu_read_unlock();
	if (!got)
		return 0;
	if (ib_event_is_deferred(event))
		cmx_ib_wake(id_priv, event->event);
	else
		ib_event_process(id_priv, event);
	cmx_id_put(id_priv);
	return 0;
}
