// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QPs: those that the engine moves through their states for a kernel ULP, and
 * the attributes that all others need to do so by themselves.
 */
#include <linux/export.h>
#include <rdma/ib_verbs.h>
#include "mcast.h"
#include "qp.h"
#include "transport.h"

/**
 * cmx_qp_options() - options in effect, as attributes of the QP
 * @id_priv: the id; its lock is held
 * @attr: changed
 * @mask: which of them count
 */
void cmx_qp_options(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_TIMEOUT && cmx_opt_set(id_priv, CMX_OPT_ACK_TIMEOUT))
		attr->timeout = id_priv->opt.ack_timeout;
	if (mask & IB_QP_MIN_RNR_TIMER && cmx_opt_set(id_priv, CMX_OPT_MIN_RNR_TIMER))
		attr->min_rnr_timer = id_priv->opt.min_rnr_timer;
	/* the path of a request came with the peer's traffic class */
	if (mask & IB_QP_AV && cmx_opt_set(id_priv, CMX_OPT_TOS) &&
	    attr->ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE)
		attr->ah_attr.grh.traffic_class = id_priv->opt.tos;
}

static int init_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	int ret = id_priv->ops->init_qp_attr(id_priv, attr, mask);

	if (!ret)
		cmx_qp_options(id_priv, attr, *mask);
	return ret;
}

/**
 * cmx_qp_rtr() - make our QP ready to receive
 * @id_priv: the id; its lock is held
 * @param: what the owner accepts with, or NULL
 *
 * Return: 0, also when the id has no QP of ours, or what the driver says.
 */
int cmx_qp_rtr(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int init_mask, mask, ret;

	if (!id_priv->id.qp)
		return 0;
	/* What INIT got before there was a connection to know it from. */
	ret = init_attr(id_priv, &attr, &init_mask);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = init_attr(id_priv, &attr, &mask);
	if (ret)
		return ret;
	if (param)
		attr.max_dest_rd_atomic = param->responder_resources;
	mask |= init_mask & (IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX);
	return ib_modify_qp(id_priv->id.qp, &attr, mask);
}

/**
 * cmx_qp_rts() - make our QP ready to send
 * @id_priv: the id; its lock is held
 * @param: what the owner accepts with, or NULL
 *
 * Return: as cmx_qp_rtr().
 */
int cmx_qp_rts(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask, ret;

	if (!id_priv->id.qp)
		return 0;
	ret = init_attr(id_priv, &attr, &mask);
	if (ret)
		return ret;
	if (param)
		attr.max_rd_atomic = param->initiator_depth;
	return ib_modify_qp(id_priv->id.qp, &attr, mask);
}

/**
 * cmx_qp_err() - take our QP out of use
 * @id_priv: the id; its lock is held
 *
 * Return: as cmx_qp_rtr().
 */
int cmx_qp_err(struct cmx_id_private *id_priv)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return id_priv->id.qp ? ib_modify_qp(id_priv->id.qp, &attr, IB_QP_STATE) : 0;
}

/**
 * cmx_qp_failed() - whether our QP stopped by itself: the peer did not answer, or refused
 * @id_priv: the id; its lock is held
 */
bool cmx_qp_failed(struct cmx_id_private *id_priv)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (!id_priv->id.qp || ib_query_qp(id_priv->id.qp, &attr, IB_QP_STATE, &init))
		return false;
	return attr.qp_state == IB_QPS_ERR || attr.qp_state == IB_QPS_SQE;
}

static int start_qp(struct cmx_id_private *id_priv, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret;

	ret = init_attr(id_priv, &attr, &mask);
	if (!ret)
		ret = ib_modify_qp(qp, &attr, mask);
	if (ret || id_priv->id.qp_type != IB_QPT_UD)
		return ret;

	/* A datagram QP needs no peer. */
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	attr.sq_psn = 0;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static int create_qp(struct cmx_id_private *id_priv, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct ib_qp *qp;
	int ret;

	if (!id_priv->dev || id_priv->id.qp || id_priv->id.device != pd->device ||
	    id_priv->state == CMX_DEAD)
		return -EINVAL;
	attr->port_num = id_priv->id.port_num;
	if (cmx_opt_set(id_priv, CMX_OPT_MCAST_LOOPBACK) && !id_priv->opt.mcast_loopback)
		attr->create_flags |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp = ib_create_qp(pd, attr);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = start_qp(id_priv, qp);
	if (ret) {
		ib_destroy_qp(qp);
		return ret;
	}
	id_priv->id.qp = qp;
	id_priv->qp_num = qp->qp_num;
	id_priv->srq = !!qp->srq;
	return 0;
}

/**
 * cmx_create_qp() - make the QP of an id
 * @id: the id; it is bound to a device
 * @pd: protection domain on that device
 * @attr: the QP to be; @port_num is filled in
 *
 * From here on the QP goes through its states with the connection. A datagram
 * QP is ready at once. Destroy it with cmx_destroy_qp() before the id.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL without a device, for a @pd of another one, or when the id
 * has a QP; what the driver says.
 */
int cmx_create_qp(struct cmx_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	mutex_lock(&id_priv->lock);
	ret = create_qp(id_priv, pd, attr);
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_create_qp);

/**
 * cmx_destroy_qp() - destroy the QP of an id
 * @id: the id; nothing to do when it has none
 *
 * Context: process, may sleep.
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
	/* on iWARP that waits until events of the connection have been handled */
	if (qp)
		ib_destroy_qp(qp);
}
EXPORT_SYMBOL_GPL(cmx_destroy_qp);

/**
 * cmx_init_qp_attr() - what ib_modify_qp() needs for the next state
 * @id: the id; it is bound to a device
 * @attr: @qp_state says which state; gets the attributes
 * @mask: gets which of them count
 *
 * For owners that move a QP of their own. The options of the id are in it.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL without a device, of a listener for connections, or when the
 * connection has not come so far.
 */
int cmx_init_qp_attr(struct cmx_id *id, struct ib_qp_attr *attr, int *mask)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	mutex_lock(&id_priv->lock);
	/* A datagram QP has no connection to wait for: one can answer all lookups. */
	if (id_priv->ops && (id_priv->state != CMX_LISTEN || id_priv->id.qp_type == IB_QPT_UD))
		ret = init_attr(id_priv, attr, mask);
	else
		ret = -EINVAL;
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_init_qp_attr);
