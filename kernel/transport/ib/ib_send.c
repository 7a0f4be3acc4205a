// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The messages for which a user needs a place in the send window: REQ, SIDR REQ and DREQ
 *
 * A message that waits is sent by ib_work() (ib_event.c) when the window has room: by the acts
 * send_req and send_dreq of ib_close.c. The parameters of a REQ are kept for that time. A DREQ has
 * none.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "charge.h"
#include "event.h"
#include "ib_send.h"
#include "ib_window.h"
#include "qp.h"
#include "timer.h"
#include "trace.h"

/**
 * struct cmx_ib_req - a REQ or SIDR REQ that waits
 * @send: sends it
 * @cred: credentials of the caller of the connect
 * @param: argument of @send
 * @data: private data of @param
 */
struct cmx_ib_req {
	cmx_ib_send_fn send;
	const struct cred *cred;
	struct rdma_conn_param param;
	u8 data[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE];
};

static void ib_req_free(struct cmx_id_private *id_priv)
{
	struct cmx_ib_req *req = id_priv->ib.req;

	lockdep_assert_held(&id_priv->lock);
	id_priv->ib.req = NULL;
	if (req)
		put_cred(req->cred);
	kfree(req);
}

static int ib_req_keep(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		       const struct rdma_conn_param *param)
{
	struct cmx_ib_req *req = cmx_charge_alloc(id_priv, sizeof(*req));

	lockdep_assert_held(&id_priv->lock);
	if (!req)
		return -ENOMEM;
	req->send = send;
	req->cred = get_current_cred();
	req->param = *param;
	if (param->private_data)
		req->param.private_data = memcpy(req->data, param->private_data,
						 param->private_data_len);
	id_priv->ib.req = req;
	return 0;
}

/**
 * cmx_ib_req_try() - send a REQ or SIDR REQ, or let it wait for room in the window
 * @id_priv: the id
 * @send: sends the message. Called with the lock of the id held, maybe later
 * @param: argument of @send, which is copied if the message waits
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the return value of @send; -EINPROGRESS if the message waits; -ENOMEM.
 */
int cmx_ib_req_try(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		   const struct rdma_conn_param *param)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	ret = cmx_ib_window_enter(id_priv, false);
	if (ret == -EBUSY)
		ret = ib_req_keep(id_priv, send, param) ?: cmx_ib_window_enter(id_priv, true);
	if (ret == -EINPROGRESS) {
		trace_cmx_cm_send(id_priv, "wait", 0);
		return ret;
	}
	ib_req_free(id_priv);
	if (!ret)
		ret = send(id_priv, param);
	if (ret)
		cmx_ib_window_leave(id_priv);
	return ret;
}

/* Report that a message that waited could not be sent. Caller must hold id_priv->lock. */
static void ib_send_report_error(struct cmx_id_private *id_priv, int ret)
{
	struct cmx_event *ev;

	lockdep_assert_held(&id_priv->lock);
	/* If the connection has just ended (-EINVAL), the handler is about to report that. */
	if (id_priv->state != CMX_CONNECT || (id_priv->established && ret == -EINVAL))
		return;
	ev = cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_CONNECT_ERROR, ret);
	/* A DREQ that fails ends the connection as well. */
	if (id_priv->established) {
		ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
		cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
	}
	cmx_timer_stop(id_priv);
	cmx_event_post(ev);
}

/**
 * cmx_ib_req_resume() - send the REQ or SIDR REQ that waited, now that the window has room
 * @id_priv: the id
 *
 * The number of the QP may belong to another user by now. An error is reported as CONNECT_ERROR.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0 or -errno.
 */
int cmx_ib_req_resume(struct cmx_id_private *id_priv)
{
	const struct cmx_ib_req *req = id_priv->ib.req;
	const struct cred *saved;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	saved = override_creds(req->cred);
	ret = cmx_qp_check_owner(id_priv, id_priv->qp_num);
	revert_creds(saved);
	ret = ret ?: req->send(id_priv, &req->param);
	ib_req_free(id_priv);
	if (ret) {
		cmx_ib_window_leave(id_priv);
		ib_send_report_error(id_priv, ret);
	}
	return ret;
}

/**
 * cmx_ib_req_drop() - cancel the REQ or SIDR REQ that waits: the id is released
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_req_drop(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_ib_window_leave(id_priv);
	ib_req_free(id_priv);
}

/**
 * cmx_ib_drep_send() - send a DREP
 * @id_priv: the id. If the peer has sent no DREQ, ib_cm refuses the DREP
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_drep_send(struct cmx_id_private *id_priv)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	ret = ib_send_cm_drep(id_priv->ib.cm, NULL, 0);
	trace_cmx_cm_send(id_priv, "DREP", ret);
}

/* If the peer has just sent its DREQ, a DREP is sent instead. */
static int ib_dreq_send(struct cmx_id_private *id_priv)
{
	int ret = ib_send_cm_dreq(id_priv->ib.cm, NULL, 0);

	lockdep_assert_held(&id_priv->lock);
	trace_cmx_cm_send(id_priv, "DREQ", ret);
	if (ret == -EINVAL)
		cmx_ib_drep_send(id_priv);
	return ret;
}

/**
 * cmx_ib_dreq_try() - send a DREQ, or let it wait for room in the window
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0; -EINPROGRESS if the DREQ waits; -EINVAL if the connection has just ended; -ENOMEM; or
 * the error of ib_cm, which has then ended the connection.
 */
int cmx_ib_dreq_try(struct cmx_id_private *id_priv)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	ret = cmx_ib_window_enter(id_priv, true);
	if (ret == -EINPROGRESS) {
		trace_cmx_cm_send(id_priv, "wait", 0);
		return ret;
	}
	ret = ret ?: ib_dreq_send(id_priv);
	if (ret)
		cmx_ib_window_leave(id_priv);
	return ret;
}

/**
 * cmx_ib_dreq_resume() - as cmx_ib_dreq_try(), for a DREQ that waited for the window or the RTU
 * @id_priv: the id
 *
 * If the consumer waits for the end of the connection, an error is reported as DISCONNECTED.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: as cmx_ib_dreq_try().
 */
int cmx_ib_dreq_resume(struct cmx_id_private *id_priv)
{
	int ret = cmx_ib_dreq_try(id_priv);

	lockdep_assert_held(&id_priv->lock);
	if (ret && ret != -EINPROGRESS)
		ib_send_report_error(id_priv, ret);
	return ret;
}
