// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The CM operations of a connection.
 */
#include <linux/export.h>
#include <rdma/ib_cm.h>
#include "connect.h"
#include "deadline.h"
#include "ece.h"
#include "qp.h"
#include "timer.h"
#include "transport.h"
#include "cma_hdr.h"

/**
 * struct connect_backup - fields of an id that are restored if connect or accept fails
 * @ece_local: see &struct cmx_id_private
 * @ece_flags: see &struct cmx_id_private
 * @qp_num: see &struct cmx_id_private
 * @srq: see &struct cmx_id_private
 */
struct connect_backup {
	struct rdma_ucm_ece ece_local;
	u8 ece_flags;
	u32 qp_num;
	u8 srq;
};

/* Store the QP and ECE of the caller for the transport. Returns the values before. */
static struct connect_backup connect_param_apply(struct cmx_id_private *id_priv,
						 const struct rdma_conn_param *param,
						 const struct rdma_ucm_ece *ece)
{
	struct connect_backup b = { id_priv->ece_local, id_priv->ece_flags, id_priv->qp_num,
				    id_priv->srq };

	if (param && !id_priv->id.qp) {
		WRITE_ONCE(id_priv->qp_num, param->qp_num);
		id_priv->srq = !!param->srq;
	}
	if (ece)
		cmx_ece_store_local(id_priv, ece);
	return b;
}

static void connect_param_restore(struct cmx_id_private *id_priv, const struct connect_backup *b)
{
	id_priv->ece_local = b->ece_local;
	id_priv->ece_flags = b->ece_flags;
	WRITE_ONCE(id_priv->qp_num, b->qp_num);
	id_priv->srq = b->srq;
}

/**
 * cmx_qp_wait_closed() - wait until a QP can be connected again
 * @id_priv: the id. Caller must not hold its lock
 * @param: parameters with the QP number, or NULL for no QP
 *
 * The peer may not have noticed yet that the last connection of the QP has ended. The function does
 * not wait for ULPs: they have a new QP for each connection, and may call from a context that must
 * not wait.
 */
void cmx_qp_wait_closed(const struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	const struct cmx_conn_ops *ops = READ_ONCE(id_priv->conn_ops);

	if (id_priv->user && param && ops && ops->wait_closed)
		ops->wait_closed(id_priv, param->qp_num);
}

static int connect_locked(struct cmx_id_private *id_priv, const struct rdma_conn_param *param,
			  const struct rdma_ucm_ece *ece)
{
	struct connect_backup b;
	int ret;

	if (id_priv->state != CMX_ROUTE_RESOLVED ||
	    cmx_cma_hdr_len(cmx_src(id_priv)) + param->private_data_len >
		    id_priv->conn_ops->private_data)
		return -EINVAL;
	ret = cmx_qp_check_owner(id_priv, param->qp_num);
	if (ret)
		return ret;
	cmx_deadline_start(id_priv);
	b = connect_param_apply(id_priv, param, ece);
	cmx_state_move(id_priv, CMX_IN(ROUTE_RESOLVED), CMX_CONNECT);
	ret = id_priv->conn_ops->connect(id_priv, param);
	if (ret) {
		cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_ROUTE_RESOLVED);
		connect_param_restore(id_priv, &b);
		cmx_timer_stop(id_priv);
	}
	return ret;
}

/**
 * cmx_connect_ece() - as cmx_connect(), with an ECE offer
 * @id: the id
 * @param: parameters of the connection
 * @ece: the pair to offer, or NULL for the one that cmx_set_local_ece() has set
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_connect().
 */
int cmx_connect_ece(struct cmx_id *id, const struct rdma_conn_param *param,
		    const struct rdma_ucm_ece *ece)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	if (ece && !cmx_ece_is_valid(ece))
		return -EINVAL;
	cmx_qp_wait_closed(id_priv, param);
	cmx_id_lock(id_priv);
	ret = connect_locked(id_priv, param, ece);
	cmx_id_unlock(id_priv);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_connect_ece);

/**
 * cmx_connect() - request a connection, or the datagram QP of the peer
 * @id: the id; its route is resolved
 * @param: parameters of the connection; @qp_num and @srq are used only if the id has no QP
 *	from cmx_create_qp()
 *
 * One of these events follows: ESTABLISHED; CONNECT_RESPONSE if the id has no QP from
 * cmx_create_qp(), to which the consumer replies with cmx_establish(); REJECTED; UNREACHABLE;
 * CONNECT_ERROR; ADDR_ERROR for datagrams.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed and no event follows:
 *
 * * -EINVAL: the id is in another state, the private data is too long (more than 56
 *   bytes; 180 for datagrams; 92 and 216 with AF_IB addresses; 255 on iWARP), or QPs of that type
 *   cannot be connected. On iWARP also: the process is in another network namespace than the id.
 * * -EADDRNOTAVAIL, -ENOENT: the port does not have the GID, or the P_Key, of the path.
 * * -ENODEV: the device is gone.
 * * -EOPNOTSUPP: ECE is offered or required on iWARP.
 * * -ENOMEM: out of memory.
 * * Errors of the driver on iWARP, for example -ECONNREFUSED and -ETIMEDOUT: the driver may wait
 *   for TCP.
 */
int cmx_connect(struct cmx_id *id, const struct rdma_conn_param *param)
{
	return cmx_connect_ece(id, param, NULL);
}
EXPORT_SYMBOL_GPL(cmx_connect);

/**
 * cmx_accept_locked() - as cmx_accept_ece(), without waiting for the QP
 * @id_priv: the id. Caller must hold its lock and a reference. On iWARP the lock is released
 *	meanwhile, and events may be posted
 * @param: parameters of the connection
 * @ece: the pair to answer with, or NULL
 *
 * Return: as cmx_accept().
 */
int cmx_accept_locked(struct cmx_id_private *id_priv, const struct rdma_conn_param *param,
		      const struct rdma_ucm_ece *ece)
{
	/* No message follows the reply to a SIDR REQ. A second accept starts no deadline. */
	bool timed = param && id_priv->passive && id_priv->response_pending &&
		     id_priv->id.qp_type != IB_QPT_UD;
	struct connect_backup b;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (ece && !cmx_ece_is_valid(ece))
		return -EINVAL;
	if (id_priv->state != CMX_CONNECT || !cmx_conn_exists(id_priv))
		return -EINVAL;
	ret = param ? cmx_qp_check_owner(id_priv, param->qp_num) : 0;
	if (ret)
		return ret;
	if (timed)
		cmx_deadline_start(id_priv);
	b = connect_param_apply(id_priv, param, ece);
	if (param)
		ret = id_priv->conn_ops->accept(id_priv, param);
	else
		ret = id_priv->conn_ops->establish(id_priv);
	if (ret) {
		connect_param_restore(id_priv, &b);
		if (timed)
			cmx_timer_stop(id_priv);
	}
	return ret;
}

/**
 * cmx_accept_ece() - as cmx_accept(), with an answer to the ECE offer
 * @id: the id
 * @param: parameters of the connection
 * @ece: the pair to answer with, or NULL for the one that cmx_set_local_ece() has set
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_accept().
 */
int cmx_accept_ece(struct cmx_id *id, const struct rdma_conn_param *param,
		   const struct rdma_ucm_ece *ece)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	cmx_qp_wait_closed(id_priv, param);
	cmx_id_lock(id_priv);
	ret = cmx_accept_locked(id_priv, param, ece);
	cmx_id_unlock(id_priv);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_accept_ece);

/**
 * cmx_accept() - accept a request
 * @id: the id that came with CONNECT_REQUEST
 * @param: parameters of the connection; @qp_num and @srq are used only if the id has no QP
 *	from cmx_create_qp(), @qkey only for datagrams (0: the default). NULL: as cmx_establish()
 *
 * ESTABLISHED or UNREACHABLE follows; no event follows for datagrams. Without
 * %CMX_OPTION_CONNECT_DEADLINE_MS the RTU of the peer is awaited for 16 tries of four times the
 * host's default of %CMX_OPTION_CM_RESPONSE_TIMEOUT at most. A QP from cmx_create_qp() is
 * made ready first. If that or sending the reply fails, the request is rejected and the QP goes to
 * the error state.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed, unless the id has a QP from cmx_create_qp():
 *
 * * -EINVAL: no request waits for a reply, the private data is too long (more than 196 bytes;
 *   136 for datagrams; 255 on iWARP), or the id has another Q_Key.
 * * -EADDRNOTAVAIL: the default Q_Key of RDMA_PS_IPOIB is not known.
 * * -EOPNOTSUPP: ECE is offered or required on iWARP.
 * * -ENOMEM: out of memory.
 * * Errors of the driver.
 */
int cmx_accept(struct cmx_id *id, const struct rdma_conn_param *param)
{
	return cmx_accept_ece(id, param, NULL);
}
EXPORT_SYMBOL_GPL(cmx_accept);

/**
 * cmx_establish() - reply to CONNECT_RESPONSE: the QP is ready
 * @id: the id
 *
 * No event follows. A datagram request is accepted with the defaults. For a QP
 * from cmx_create_qp() see cmx_accept().
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL if no message of the peer waits for this reply; -ENOMEM. On error nothing
 * has changed.
 */
int cmx_establish(struct cmx_id *id)
{
	return cmx_accept_ece(id, NULL, NULL);
}
EXPORT_SYMBOL_GPL(cmx_establish);

/**
 * cmx_reject() - reject a request or reply of the peer, or cancel the own one
 * @id: the id
 * @private_data: for the peer, or NULL. It is sent only if a request or reply is rejected
 * @len: its length in bytes: up to 148; 136 for datagrams
 * @reason: 0 or %IB_CM_REJ_CONSUMER_DEFINED; or %IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED if the
 *	ECE pair of the peer is not acceptable. If the caller withdraws its own message, ib_cm
 *	chooses the reason
 *
 * No event follows, and the id cannot be used again.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL for another @reason, for private data that is too long, or
 * if there is nothing to reject or withdraw; -ENOMEM.
 */
int cmx_reject(struct cmx_id *id, const void *private_data, u8 len, u8 reason)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret = -EINVAL;

	if (!reason)
		reason = IB_CM_REJ_CONSUMER_DEFINED;
	if (reason != IB_CM_REJ_CONSUMER_DEFINED &&
	    reason != IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		return -EINVAL;
	cmx_id_lock(id_priv);
	if (cmx_conn_exists(id_priv))
		ret = id_priv->conn_ops->reject(id_priv, private_data, len, reason);
	if (!ret && reason == IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		id_priv->ece_flags |= CMX_ECE_F_REJECTED;
	cmx_id_unlock(id_priv);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_reject);

/**
 * cmx_disconnect_locked() - cmx_disconnect() for a caller that holds the lock of the id
 * @id_priv: the id
 * @qp_is_stopped: the QP is in the error state, or will be
 *
 * Context: Caller must hold id_priv->lock, which is released meanwhile on iWARP, and a reference.
 * Return: as cmx_disconnect().
 */
int cmx_disconnect_locked(struct cmx_id_private *id_priv, bool qp_is_stopped)
{
	lockdep_assert_held(&id_priv->lock);
	if (cmx_conn_exists(id_priv))
		return id_priv->conn_ops->disconnect(id_priv, qp_is_stopped);
	if (BIT(id_priv->state) & (CMX_IN(CONNECT) | CMX_IN(DISCONNECT)))
		return cmx_qp_to_err(id_priv);
	return -EINVAL;
}

/**
 * cmx_disconnect() - disconnect, or confirm that the peer has disconnected
 * @id: the id
 *
 * A QP from cmx_create_qp() goes to the error state. If the connection was established,
 * DISCONNECTED follows: at once if the id has such a QP, else when the peer has confirmed, or with
 * status -ETIMEDOUT if it does not. The peer is informed in the background, even if @id is
 * destroyed. TIMEWAIT_EXIT follows some time after the peer has confirmed.
 *
 * Context: process, may sleep.
 *
 * Return: 0, also if there is nothing to disconnect; -EINVAL if the id never had
 * a connection; -ENOMEM; errors of the driver.
 */
int cmx_disconnect(struct cmx_id *id)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	cmx_id_lock(id_priv);
	ret = cmx_disconnect_locked(id_priv, id->qp);
	cmx_id_unlock(id_priv);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_disconnect);

/**
 * cmx_notify() - report an asynchronous event of the QP to its connection
 * @id: the id
 * @event: %IB_EVENT_COMM_EST: the QP received a message before the RTU of the peer arrived, and
 *	ESTABLISHED follows
 *
 * Context: any, such as the event handler of a QP.
 *
 * Return: 0; -EISCONN if the connection is established already; -EINVAL for
 * another event, or if there is no connection. On iWARP every event of a connection has no effect
 * and returns 0.
 */
int cmx_notify(struct cmx_id *id, enum ib_event_type event)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	const struct cmx_conn_ops *ops = READ_ONCE(id_priv->conn_ops);

	return ops ? ops->notify(id_priv, event) : -EINVAL;
}
EXPORT_SYMBOL_GPL(cmx_notify);
