// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verbs of a connection.
 */
#include <linux/export.h>
#include <rdma/ib_cm.h>
#include "connect.h"
#include "deadline.h"
#include "ece.h"
#include "ib_close.h"
#include "qp.h"
#include "transport.h"
#include "wire.h"

/**
 * struct backup - what a verb that fails must not have changed
 * @ece_local: see &struct cmx_priv
 * @ece_flags: as well
 * @qp_num: as well
 * @srq: as well
 */
struct backup {
	struct rdma_ucm_ece ece_local;
	u8 ece_flags;
	u32 qp_num;
	u8 srq;
};

/* Take over the caller's QP and ECE, which the transport will send. */
static struct backup take_over(struct cmx_priv *p, const struct rdma_conn_param *param,
			       const struct rdma_ucm_ece *ece)
{
	struct backup b = { p->ece_local, p->ece_flags, p->qp_num, p->srq };

	if (param && !p->id.qp) {
		p->qp_num = param->qp_num;
		p->srq = !!param->srq;
	}
	if (ece) {
		p->ece_local = *ece;
		if (ece->vendor_id)
			p->ece_flags |= CMX_ECE_F_LOCAL;
		else
			p->ece_flags &= ~CMX_ECE_F_LOCAL;
	}
	return b;
}

static void restore(struct cmx_priv *p, const struct backup *b)
{
	p->ece_local = b->ece_local;
	p->ece_flags = b->ece_flags;
	p->qp_num = b->qp_num;
	p->srq = b->srq;
}

/**
 * cmx_wait_for_qp() - wait until a QP can be connected
 * @p: the id; its lock is not held
 * @param: its QP; NULL: nothing to wait for
 *
 * The last connection of the QP may not be over for the peer yet. A ULP has a
 * new QP for each connection, and can call from where nothing may wait.
 */
void cmx_wait_for_qp(const struct cmx_priv *p, const struct rdma_conn_param *param)
{
	if (p->user && param && p->id.qp_type != IB_QPT_UD)
		cmx_close_wait(p->quota, READ_ONCE(p->id.device), param->qp_num);
}

static int connect_locked(struct cmx_priv *p, const struct rdma_conn_param *param,
			  const struct rdma_ucm_ece *ece)
{
	struct backup b;
	int ret;

	if (p->state != CMX_ROUTE_RESOLVED ||
	    cmx_hdr_len(cmx_src(p)) + param->private_data_len > p->ops->private_data)
		return -EINVAL;
	ret = cmx_deadline_start(p);
	if (ret)
		return ret;
	b = take_over(p, param, ece);
	cmx_state_move(p, CMX_IN(ROUTE_RESOLVED), CMX_CONNECT);
	ret = p->ops->connect(p, param);
	if (ret) {
		cmx_state_move(p, CMX_IN(CONNECT), CMX_ROUTE_RESOLVED);
		restore(p, &b);
		cmx_deadline_stop(p);
	}
	return ret;
}

/**
 * cmx_connect_ece() - as cmx_connect(), with an offer of ECE
 * @id: the id
 * @param: parameters of the connection
 * @ece: what to offer, or NULL: what cmx_set_local_ece() has set
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_connect().
 */
int cmx_connect_ece(struct cmx_id *id, const struct rdma_conn_param *param,
		    const struct rdma_ucm_ece *ece)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	if (ece && ece->vendor_id > CMX_ECE_VENDOR_MAX)
		return -EINVAL;
	cmx_wait_for_qp(p, param);
	/* iWARP lets go of the lock, and the handler may end the id */
	cmx_id_get(p);
	mutex_lock(&p->lock);
	ret = connect_locked(p, param, ece);
	mutex_unlock(&p->lock);
	cmx_id_put(p);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_connect_ece);

/**
 * cmx_connect() - ask the peer for a connection, or for its datagram QP
 * @id: the id; its route is resolved
 * @param: parameters of the connection; @qp_num and @srq count without a QP
 *	from cmx_create_qp()
 *
 * One of these events follows: ESTABLISHED; CONNECT_RESPONSE for an owner with
 * a QP of its own, who answers by cmx_establish(); REJECTED; UNREACHABLE;
 * CONNECT_ERROR; for datagrams ADDR_ERROR.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed and no event follows:
 *
 * * -EINVAL: the id is in another state, the private data is too long (56
 *   bytes; 180 for datagrams), or QPs of that type don't connect.
 * * -EADDRNOTAVAIL, -ENODEV: the port is gone.
 * * -EOPNOTSUPP: iWARP, and ECE is offered or required.
 * * -ENOMEM: out of memory.
 * * iWARP: what the driver says, which may wait for TCP: -ECONNREFUSED and
 *   -ETIMEDOUT, for example.
 */
int cmx_connect(struct cmx_id *id, const struct rdma_conn_param *param)
{
	return cmx_connect_ece(id, param, NULL);
}
EXPORT_SYMBOL_GPL(cmx_connect);

/**
 * cmx_accept_locked() - cmx_accept_ece() without waiting for the QP
 * @p: the id; its lock is held, so that no event comes before the caller drops it
 * @param: parameters of the connection
 * @ece: what to answer, or NULL
 *
 * Return: as cmx_accept().
 */
int cmx_accept_locked(struct cmx_priv *p, const struct rdma_conn_param *param,
		      const struct rdma_ucm_ece *ece)
{
	/* datagrams get no answer to wait for; a second accept has no deadline of its own */
	bool timed = param && p->passive && p->owed && p->id.qp_type != IB_QPT_UD;
	struct backup b;
	int ret;

	lockdep_assert_held(&p->lock);
	if (ece && ece->vendor_id > CMX_ECE_VENDOR_MAX)
		return -EINVAL;
	if (p->state != CMX_CONNECT || !p->cm)
		return -EINVAL;
	if (timed) {
		ret = cmx_deadline_start(p);
		if (ret)
			return ret;
	}
	b = take_over(p, param, ece);
	ret = param ? p->ops->accept(p, param) : p->ops->establish(p);
	if (ret) {
		restore(p, &b);
		if (timed)
			cmx_deadline_stop(p);
	}
	return ret;
}

/**
 * cmx_accept_ece() - as cmx_accept(), with an answer to the offer of ECE
 * @id: the id
 * @param: parameters of the connection
 * @ece: what to answer, or NULL: what cmx_set_local_ece() has set
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_accept().
 */
int cmx_accept_ece(struct cmx_id *id, const struct rdma_conn_param *param,
		   const struct rdma_ucm_ece *ece)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	cmx_wait_for_qp(p, param);
	mutex_lock(&p->lock);
	ret = cmx_accept_locked(p, param, ece);
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_accept_ece);

/**
 * cmx_accept() - agree to a request
 * @id: the id that came with CONNECT_REQUEST
 * @param: parameters of the connection; @qp_num and @srq count without a QP
 *	from cmx_create_qp(), @qkey for datagrams (0: the default). NULL does
 *	what cmx_establish() does
 *
 * ESTABLISHED or UNREACHABLE follows; nothing for datagrams. A QP from
 * cmx_create_qp() is made ready first; if that or the sending fails, the
 * request is rejected and the QP goes to the error state.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL: no request waits for an answer, the private data is too
 * long (196 bytes; 136 for datagrams), or the id has another Q_Key; -ENOMEM;
 * what the driver says. On error, but for a QP from cmx_create_qp(), nothing
 * has changed.
 */
int cmx_accept(struct cmx_id *id, const struct rdma_conn_param *param)
{
	return cmx_accept_ece(id, param, NULL);
}
EXPORT_SYMBOL_GPL(cmx_accept);

/**
 * cmx_establish() - answer CONNECT_RESPONSE: the QP is ready
 * @id: the id
 *
 * No event follows. A datagram request is accepted with the defaults. Of a QP
 * from cmx_create_qp(), see cmx_accept().
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL: no reply waits for an answer; -ENOMEM. On error nothing
 * has changed.
 */
int cmx_establish(struct cmx_id *id)
{
	return cmx_accept_ece(id, NULL, NULL);
}
EXPORT_SYMBOL_GPL(cmx_establish);

/**
 * cmx_reject() - refuse a request or a reply, or take one's own back
 * @id: the id
 * @private_data: for the peer, or NULL. Goes with the refusal of a request or a reply only
 * @len: its length in bytes: up to 148; 136 for datagrams
 * @reason: 0 or %IB_CM_REJ_CONSUMER_DEFINED; or
 *	%IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED: its ECE won't do. To take one's own
 *	back has a reason of ib_cm
 *
 * No event follows; the id is of no more use.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL for another @reason, private data that is too long, or
 * when there is nothing to refuse; -ENOMEM.
 */
int cmx_reject(struct cmx_id *id, const void *private_data, u8 len, u8 reason)
{
	struct cmx_priv *p = to_priv(id);
	int ret = -EINVAL;

	if (!reason)
		reason = IB_CM_REJ_CONSUMER_DEFINED;
	if (reason != IB_CM_REJ_CONSUMER_DEFINED &&
	    reason != IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		return -EINVAL;
	mutex_lock(&p->lock);
	if (p->cm)
		ret = p->ops->reject(p, private_data, len, reason);
	if (!ret && reason == IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		p->ece_flags |= CMX_ECE_F_REJECTED;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_reject);

/**
 * cmx_disconnect() - end a connection, or agree that the peer has ended it
 * @id: the id
 *
 * A QP from cmx_create_qp() goes to the error state. If the connection was
 * there DISCONNECTED follows at once: the peer learns of the end by itself, also
 * when @id is destroyed. When it knows, and some time has passed, TIMEWAIT_EXIT
 * follows.
 *
 * Context: process, may sleep.
 *
 * Return: 0, also when there is nothing to end; -EINVAL when the id never had
 * a connection; -ENOMEM; what the driver says.
 */
int cmx_disconnect(struct cmx_id *id)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	mutex_lock(&p->lock);
	if (p->cm)
		ret = p->ops->disconnect(p);
	else if (BIT(p->state) & (CMX_IN(CONNECT) | CMX_IN(DISCONNECT)))
		ret = cmx_qp_err(p);
	else
		ret = -EINVAL;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_disconnect);

/**
 * cmx_notify() - report an event of the QP that the connection depends on
 * @id: the id
 * @event: %IB_EVENT_COMM_EST: a message came in before the peer's RTU did, so
 *	that ESTABLISHED follows; %IB_EVENT_PATH_MIG
 *
 * Context: any, as the event handler of a QP.
 *
 * Return: 0; -EISCONN: the connection is established already; -EINVAL for
 * another event, or when there is no connection; -ENOMEM.
 */
int cmx_notify(struct cmx_id *id, enum ib_event_type event)
{
	struct cmx_priv *p = to_priv(id);
	const struct cmx_transport_ops *ops = READ_ONCE(p->ops);

	return ops ? ops->notify(p, event) : -EINVAL;
}
EXPORT_SYMBOL_GPL(cmx_notify);
