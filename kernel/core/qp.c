// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs. The module creates the QP of a kernel ULP and changes its state. A consumer that changes the
 * state of its QP itself gets the attributes for this from here.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>
#include "keys.h"
#include "lock_order.h"
#include "mcast.h"
#include "qp.h"
#include "transport.h"

static void qp_apply_options(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_TIMEOUT && cmx_opt_is_set(id_priv, CMX_OPT_ACK_TIMEOUT))
		attr->timeout = id_priv->opt.ack_timeout;
	if (mask & IB_QP_MIN_RNR_TIMER && cmx_opt_is_set(id_priv, CMX_OPT_MIN_RNR_TIMER))
		attr->min_rnr_timer = id_priv->opt.min_rnr_timer;
	/* The path of a request has the traffic class of the peer. */
	if (mask & IB_QP_AV && cmx_opt_is_set(id_priv, CMX_OPT_TOS) &&
	    attr->ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE)
		attr->ah_attr.grh.traffic_class = id_priv->opt.tos;
}

static int qp_attr_init(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	int ret = id_priv->conn_ops->init_qp_attr(id_priv, attr, mask);

	if (!ret)
		qp_apply_options(id_priv, attr, *mask);
	return ret;
}

/**
 * cmx_qp_to_rts() - move a QP that we manage to RTR, and on to RTS
 * @id_priv: the id
 * @param: parameters of the accept, or NULL
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, also if we manage no QP for the id, or the error of the transport or driver.
 */
int cmx_qp_to_rts(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int init_mask, mask, ret;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->id.qp)
		return 0;
	/* In INIT the QP got these attributes before there was a connection. Set them again. */
	ret = qp_attr_init(id_priv, &attr, &init_mask);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = qp_attr_init(id_priv, &attr, &mask);
	if (ret)
		return ret;
	if (param)
		attr.max_dest_rd_atomic = param->responder_resources;
	mask |= init_mask & (IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX);
	ret = ib_modify_qp(id_priv->id.qp, &attr, mask);
	if (ret)
		return ret;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IB_QPS_RTS;
	ret = qp_attr_init(id_priv, &attr, &mask);
	if (ret)
		return ret;
	if (param)
		attr.max_rd_atomic = param->initiator_depth;
	return ib_modify_qp(id_priv->id.qp, &attr, mask);
}

/**
 * cmx_qp_to_err() - move a QP that we manage to the error state
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, also if we manage no QP for the id, or the error of the driver.
 */
int cmx_qp_to_err(struct cmx_id_private *id_priv)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	lockdep_assert_held(&id_priv->lock);
	return id_priv->id.qp ? ib_modify_qp(id_priv->id.qp, &attr, IB_QP_STATE) : 0;
}

/**
 * cmx_qp_has_failed() - check whether a QP that we manage is in an error state
 * @id_priv: the id
 *
 * Before cmx_qp_to_err() is called, a QP is in an error state only if it has failed by itself: the
 * peer has not replied, or has replied with an error.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if the QP has failed; false also if we manage no QP for the id.
 */
bool cmx_qp_has_failed(struct cmx_id_private *id_priv)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (!id_priv->id.qp || ib_query_qp(id_priv->id.qp, &attr, IB_QP_STATE, &init))
		return false;
	return attr.qp_state == IB_QPS_ERR || attr.qp_state == IB_QPS_SQE;
}

/**
 * cmx_qp_check_owner() - check whether the current user may connect a QP
 * @id_priv: the id, which is attached to a device
 * @qp_num: number of the QP, which the caller has chosen
 *
 * If the peer has a connection of a QP with that number, it takes that connection for stale and
 * ends it. A number that ib_core does not know is accepted, because a driver need not tell ib_core
 * of a QP. The QP of a ULP and the numbers of datagram QPs are not checked.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0; -EPERM if the QP belongs to the kernel or to another user, and the current one lacks
 * CAP_NET_ADMIN of the host.
 */
int cmx_qp_check_owner(const struct cmx_id_private *id_priv, u32 qp_num)
{
	struct rdma_restrack_entry *res;
	bool own;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->user || id_priv->id.qp_type == IB_QPT_UD)
		return 0;
	res = rdma_restrack_get_byid(id_priv->id.device, RDMA_RESTRACK_QP, qp_num);
	if (IS_ERR(res))
		return 0;
	own = !rdma_is_kernel_res(res) && uid_eq(task_uid(res->task), current_uid());
	rdma_restrack_put(res);
	return own || capable(CAP_NET_ADMIN) ? 0 : -EPERM;
}

static int qp_start(struct cmx_id_private *id_priv, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret;

	ret = qp_attr_init(id_priv, &attr, &mask);
	if (!ret)
		ret = ib_modify_qp(qp, &attr, mask);
	if (ret || id_priv->id.qp_type != IB_QPT_UD)
		return ret;

	/* A datagram QP needs no connection. */
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	attr.sq_psn = 0;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/* Check that the id can have a QP, and complete its attributes. Caller must hold id_priv->lock. */
static int qp_attr_check(const struct cmx_id_private *id_priv, const struct ib_pd *pd,
			 struct ib_qp_init_attr *attr)
{
	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->dev || id_priv->id.qp || id_priv->id.device != pd->device ||
	    id_priv->state == CMX_DEAD)
		return -EINVAL;
	attr->port_num = id_priv->id.port_num;
	if (cmx_opt_is_set(id_priv, CMX_OPT_MCAST_LOOPBACK) && !id_priv->opt.mcast_loopback)
		attr->create_flags |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	return 0;
}

/* Caller must hold id_priv->lock. */
static int qp_attach(struct cmx_id_private *id_priv, struct ib_qp *qp)
{
	int ret = qp_start(id_priv, qp);

	lockdep_assert_held(&id_priv->lock);
	if (ret)
		return ret;
	id_priv->id.qp = qp;
	WRITE_ONCE(id_priv->qp_num, qp->qp_num);
	id_priv->srq = !!qp->srq;
	/* the QP has the Q_Key of the id, which therefore cannot change any more */
	if (id_priv->id.qp_type == IB_QPT_UD)
		cmx_qkey_set(id_priv, 0);
	return 0;
}

/**
 * cmx_create_qp() - create the QP of an id
 * @id: the id, which is bound to a device
 * @pd: protection domain on the same device
 * @attr: attributes of the QP; port_num is filled in
 *
 * The state of the QP follows the connection from then on. A datagram QP is in state RTS when the
 * function returns. The QP must be destroyed with cmx_destroy_qp() before the id is destroyed.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or:
 *
 * * -EINVAL: the id is not bound to a device, @pd belongs to another device, or the id has a QP
 *   already.
 * * Errors of the driver.
 */
int cmx_create_qp(struct cmx_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	struct ib_qp *qp;
	int ret;

	mutex_lock(&id_priv->lock);
	ret = qp_attr_check(id_priv, pd, attr);
	mutex_unlock(&id_priv->lock);
	if (ret)
		return ret;
	cmx_id_lock_assert_none();
	qp = ib_create_qp(pd, attr);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	mutex_lock(&id_priv->lock);
	/* a second call of the ULP may have been faster */
	ret = qp_attr_check(id_priv, pd, attr) ?: qp_attach(id_priv, qp);
	mutex_unlock(&id_priv->lock);
	if (ret)
		ib_destroy_qp(qp);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_create_qp);

/**
 * cmx_destroy_qp() - destroy the QP of an id
 * @id: the id; nothing is done if it has no QP
 *
 * Context: process, may sleep.
 *
 * Return: none.
 */
void cmx_destroy_qp(struct cmx_id *id)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	struct ib_qp *qp;

	mutex_lock(&id_priv->lock);
	qp = id->qp;
	if (qp)
		cmx_mcast_detach_all(id_priv);
	id->qp = NULL;
	mutex_unlock(&id_priv->lock);
	cmx_id_lock_assert_none();
	/* On iWARP this waits until the events of the connection have been handled. */
	if (qp)
		ib_destroy_qp(qp);
}
EXPORT_SYMBOL_GPL(cmx_destroy_qp);

/**
 * cmx_qp_attr_get() - as cmx_init_qp_attr(), under the lock
 * @id_priv: the id
 * @attr: as there
 * @mask: as there
 *
 * Context: Caller must hold id_priv->lock.
 * Return: as there. On success the id is attached to a device.
 */
int cmx_qp_attr_get(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	lockdep_assert_held(&id_priv->lock);
	/* A datagram QP needs no connection: the QP of a listener can serve all SIDR requests. */
	if (!id_priv->conn_ops ||
	    (id_priv->state == CMX_LISTEN && id_priv->id.qp_type != IB_QPT_UD))
		return -EINVAL;
	return qp_attr_init(id_priv, attr, mask);
}

/**
 * cmx_init_qp_attr() - get the attributes that move a QP to its next state
 * @id: the id, which is bound to a device
 * @attr: in: qp_state, the next state; out: attributes for ib_modify_qp()
 * @mask: receives the mask of the valid attributes
 *
 * This is for consumers that change the state of their QP themselves. The attributes take the
 * options of the id into account.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL if the id is not bound to a device, is a listener for connections, or has a
 * connection that is not yet in the right state; or another error of the transport.
 */
int cmx_init_qp_attr(struct cmx_id *id, struct ib_qp_attr *attr, int *mask)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	mutex_lock(&id_priv->lock);
	ret = cmx_qp_attr_get(id_priv, attr, mask);
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_init_qp_attr);
