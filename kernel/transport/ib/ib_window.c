// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send window of a user: the MADs of ib_cm that the user may have unanswered on a port
 *
 * Since Linux 6.17 ib_mad sends at most 128 MADs of ib_cm on a port that wait for a reply. All
 * others wait in one queue until one of these is answered, or not answered in time, after 4.3 s by
 * default. A user with 10,000 requests to silent peers would stop everybody for minutes. Therefore
 * each user has a send window of its own on each port, and messages beyond it wait here. REQ, SIDR
 * REQ and DREQ are counted. REP is not, because ib_mad does not count it.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include "charge.h"
#include "compat.h"
#include "deadline.h"
#include "device.h"
#include "event.h"
#include "ib_close.h"
#include "ib_port.h"
#include "ib_window.h"
#include "param.h"
#include "qp.h"
#include "trace.h"

CMX_PARAM(max_user_requests, 0, 2147483647, CMX_MAX_USER_REQUESTS,
	  "maximum number of unanswered REQs, SIDR REQs and DREQs of a user without CAP_SYS_RESOURCE on a port; 0: no limit");

/**
 * struct cmx_ib_window - send window of a user on a port
 * @item: in &cmx_ib_port.windows
 * @port: the port; its lock protects @sent and @waiting
 * @user: the user
 * @sent: number of messages that may be sent and have not ended. 0 only while it is being set up
 * @waiting: list of &cmx_ib_pending_msg.item
 */
struct cmx_ib_window {
	struct list_head item;
	struct cmx_ib_port *port;
	const struct cmx_quota *user;
	unsigned int sent;
	struct list_head waiting;
};

/**
 * struct cmx_ib_pending_msg - a message that waits
 * @item: in &cmx_ib_window.waiting; empty when the message may be sent
 * @work: sends it
 * @id_priv: the id, with a reference
 * @send: sends it
 * @cred: credentials of the caller of a connect; NULL for a DREQ, which names no QP of ours
 * @param: argument of @send
 * @data: private data of @param
 */
struct cmx_ib_pending_msg {
	struct list_head item;
	struct work_struct work;
	struct cmx_id_private *id_priv;
	cmx_ib_send_fn send;
	const struct cred *cred;
	struct rdma_conn_param param;
	u8 data[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE];
};

static void window_msg_free(struct cmx_ib_pending_msg *msg)
{
	if (msg)
		put_cred(msg->cred);
	kfree(msg);
}

/* The number of the QP may belong to another user by now. Caller must hold the lock of the id. */
static int window_msg_send(struct cmx_ib_pending_msg *msg)
{
	const struct cred *saved;
	int ret = 0;

	lockdep_assert_held(&msg->id_priv->lock);
	if (msg->cred) {
		saved = override_creds(msg->cred);
		ret = cmx_qp_check_owner(msg->id_priv, msg->id_priv->qp_num);
		revert_creds(saved);
	}
	return ret ?: msg->send(msg->id_priv, &msg->param);
}

/* Send a message that waited, unless it was cancelled meanwhile. */
static void window_msg_send_work(struct work_struct *work)
{
	struct cmx_ib_pending_msg *msg = container_of(work, struct cmx_ib_pending_msg, work);
	struct cmx_id_private *id_priv = msg->id_priv;
	struct cmx_event *ev = cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_CONNECT_ERROR, 0);
	bool post = false;

	mutex_lock(&id_priv->lock);
	if (id_priv->ib.waiting == msg) {
		ev->ev.status = window_msg_send(msg);
		/* after the state of the ib_cm id, see close_give_up() */
		smp_store_release(&id_priv->ib.waiting, NULL);
		if (ev->ev.status) {
			cmx_ib_window_release(id_priv);
			/*
			 * A DREQ that fails ends the connection as well. If the connection has just
			 * ended (-EINVAL), the handler is about to report that.
			 */
			post = !cmx_close_stop(id_priv) && id_priv->state == CMX_CONNECT &&
			       !(id_priv->established && ev->ev.status == -EINVAL);
		}
	}
	if (post) {
		if (id_priv->established) {
			ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
			cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
		}
		cmx_deadline_stop(id_priv);
		cmx_event_post(ev);
	}
	mutex_unlock(&id_priv->lock);
	if (!post)
		cmx_event_free(ev);
	cmx_id_put(id_priv);
	window_msg_free(msg);
}

static struct cmx_ib_pending_msg *window_msg_new(struct cmx_id_private *id_priv,
						 cmx_ib_send_fn send,
						 const struct rdma_conn_param *param)
{
	struct cmx_ib_pending_msg *msg = cmx_charge_alloc(id_priv, sizeof(*msg));

	if (!msg)
		return NULL;
	INIT_WORK(&msg->work, window_msg_send_work);
	msg->id_priv = id_priv;
	msg->send = send;
	if (param) {
		msg->cred = get_current_cred();
		msg->param = *param;
		if (param->private_data)
			msg->param.private_data = memcpy(msg->data, param->private_data,
							 param->private_data_len);
	}
	return msg;
}

/* Caller must hold the lock of the port. */
static struct cmx_ib_window *window_find(struct cmx_ib_port *port, const struct cmx_quota *user)
{
	struct cmx_ib_window *window;

	list_for_each_entry(window, &port->windows, item)
		if (window->user == user)
			return window;
	return NULL;
}

/**
 * cmx_ib_window_is_half_used() - check whether half of the window of a user is in use
 * @id_priv: an id of the user, with a port
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if at least half of it is in use; false if there is no limit.
 */
bool cmx_ib_window_is_half_used(const struct cmx_id_private *id_priv)
{
	struct cmx_ib_port *port = cmx_ib_port(id_priv->dev, id_priv->id.port_num);
	unsigned int limit = cmx_param_get(&max_user_requests);
	const struct cmx_ib_window *window;
	bool half_used;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->quota || !limit)
		return false;
	spin_lock(&port->windows_lock);
	window = window_find(port, id_priv->quota);
	half_used = window && (window->sent >= limit / 2 || !list_empty(&window->waiting));
	spin_unlock(&port->windows_lock);
	return half_used;
}

/* Caller must hold the lock of the port. The user has no window. */
static void window_add(struct cmx_ib_port *port, const struct cmx_quota *user,
		       struct cmx_ib_window *window)
{
	window->port = port;
	window->user = user;
	INIT_LIST_HEAD(&window->waiting);
	list_add(&window->item, &port->windows);
}

/*
 * Reserve a place for a message. @new is used, and cleared, if the user has no window, and @msg if
 * the window is full. Return 0: send it; -EINPROGRESS: it waits; -ENOENT: @new is needed; -EBUSY:
 * @msg is needed.
 */
static int window_enter(struct cmx_id_private *id_priv, unsigned int limit,
			struct cmx_ib_window **new, struct cmx_ib_pending_msg *msg)
{
	struct cmx_ib_port *port = cmx_ib_port(id_priv->dev, id_priv->id.port_num);
	struct cmx_ib_window *window;
	int ret = -ENOENT;

	spin_lock(&port->windows_lock);
	window = window_find(port, id_priv->quota);
	if (!window && *new) {
		window = *new;
		*new = NULL;
		window_add(port, id_priv->quota, window);
	}
	if (window && window->sent < limit && list_empty(&window->waiting)) {
		window->sent++;
		ret = 0;
	} else if (window && msg) {
		cmx_id_get(id_priv);
		list_add_tail(&msg->item, &window->waiting);
		WRITE_ONCE(id_priv->ib.waiting, msg);
		ret = -EINPROGRESS;
	} else if (window) {
		ret = -EBUSY;
	}
	if (!ret || ret == -EINPROGRESS)
		WRITE_ONCE(id_priv->ib.window, window);
	spin_unlock(&port->windows_lock);
	return ret;
}

/*
 * Reserve a place for a message. Memory is allocated only if it is needed: most messages find a
 * window with room. Return 0: send it; -EINPROGRESS: it waits; -ENOMEM.
 */
static int window_reserve(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
			  const struct rdma_conn_param *param, unsigned int limit)
{
	struct cmx_ib_pending_msg *msg = NULL;
	struct cmx_ib_window *new = NULL;
	int ret;

	do {
		ret = window_enter(id_priv, limit, &new, msg);
		if (ret == -ENOENT)
			new = cmx_charge_alloc(id_priv, sizeof(*new));
		else if (ret == -EBUSY)
			msg = window_msg_new(id_priv, send, param);
	} while ((ret == -ENOENT && new) || (ret == -EBUSY && msg));
	kfree(new);
	if (ret && ret != -EINPROGRESS)
		return -ENOMEM;
	if (!ret)
		window_msg_free(msg);
	return ret;
}

/**
 * cmx_ib_window_send() - send a message that expects a reply, now or when the window has room
 * @id_priv: the id
 * @send: sends the message. If the message waits, it is called later with the lock of the id held,
 *	and an error is then reported to the consumer as CONNECT_ERROR, or DISCONNECTED for a DREQ
 * @param: argument of @send, which is copied; may be NULL
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the return value of @send; 0 if the message waits; -ENOMEM.
 */
int cmx_ib_window_send(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		       const struct rdma_conn_param *param)
{
	unsigned int limit = cmx_param_get(&max_user_requests);
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (id_priv->ib.waiting)
		return 0;
	if (!id_priv->quota || !limit || id_priv->ib.window)
		return send(id_priv, param);
	ret = window_reserve(id_priv, send, param, limit);
	if (ret == -EINPROGRESS) {
		trace_cmx_cm_send(id_priv, "wait", 0);
		return 0;
	}
	if (ret)
		return ret;
	ret = send(id_priv, param);
	if (ret)
		cmx_ib_window_release(id_priv);
	return ret;
}

/* Send the waiting messages that fit the window. Caller must hold the lock of the port. */
static void window_fill(struct cmx_ib_window *window)
{
	unsigned int limit = cmx_param_get(&max_user_requests);
	struct cmx_ib_pending_msg *msg, *next;

	list_for_each_entry_safe(msg, next, &window->waiting, item) {
		if (limit && window->sent >= limit)
			break;
		window->sent++;
		list_del_init(&msg->item);
		queue_work(cmx_wq, &msg->work);
	}
}

/**
 * cmx_ib_window_release() - give back the place of a message in the window
 * @id_priv: the id; nothing is done if it has no message that counts
 *
 * The message was answered, has failed or is cancelled.
 * The next message of the user may be sent.
 *
 * Context: Caller must hold id_priv->lock, and a reference to the id that is not the last one.
 */
void cmx_ib_window_release(struct cmx_id_private *id_priv)
{
	struct cmx_ib_pending_msg *msg = id_priv->ib.waiting;
	struct cmx_ib_window *window = id_priv->ib.window;
	struct cmx_ib_port *port;

	lockdep_assert_held(&id_priv->lock);
	if (!window)
		return;
	port = window->port;
	WRITE_ONCE(id_priv->ib.waiting, NULL);
	spin_lock(&port->windows_lock);
	if (msg && !list_empty(&msg->item)) {
		list_del(&msg->item);
	} else {
		msg = NULL;
		window->sent--;
		window_fill(window);
	}
	/* Messages wait only while others are sent. */
	if (window->sent)
		window = NULL;
	else
		list_del(&window->item);
	spin_unlock(&port->windows_lock);
	/* after the last use of the port, see cm_id_destroy() */
	smp_store_release(&id_priv->ib.window, NULL);
	kfree(window);
	if (msg)
		cmx_id_put(id_priv);
	window_msg_free(msg);
}
