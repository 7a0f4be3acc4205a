// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Joining and leaving multicast groups.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "event.h"
#include "join.h"
#include "mcast.h"
#include "sockaddr.h"
#include "transport.h"

#define MCAST_KNOWN_ATTRS (CMX_MCAST_SCOPE * 2 - 1)

static bool mcast_attr_is_valid(const struct cmx_mcast_attr *a)
{
	return a->join_state <= CMX_MCAST_SENDONLY_NON && !(a->mask & ~MCAST_KNOWN_ATTRS) &&
	       !a->reserved && (!(a->mask & CMX_MCAST_FLOW_LABEL) || a->flow_label <= 0xfffff) &&
	       (!(a->mask & CMX_MCAST_SL) || a->sl <= 15) &&
	       (!(a->mask & CMX_MCAST_SCOPE) || a->scope <= 15) &&
	       (!(a->mask & CMX_MCAST_MTU) || ib_mtu_enum_to_int(a->mtu) > 0) &&
	       (!(a->mask & CMX_MCAST_RATE) || a->rate == IB_RATE_PORT_CURRENT ||
		ib_rate_to_mbps(a->rate) > 0);
}

static struct cmx_mcast *mcast_new(struct cmx_id_private *id_priv, const struct sockaddr *addr,
				   const struct cmx_mcast_attr *attr)
{
	struct cmx_mcast *mc = kzalloc(sizeof(*mc), GFP_KERNEL_ACCOUNT);
	struct cmx_event *ev;

	if (!mc)
		return NULL;
	ev = cmx_event_alloc(id_priv, RDMA_CM_EVENT_MULTICAST_JOIN, 0, GFP_KERNEL_ACCOUNT);
	if (!ev) {
		kfree(mc);
		return NULL;
	}
	kref_init(&mc->ref);
	mc->id_priv = cmx_id_get(id_priv);
	memcpy(&mc->addr, addr, cmx_addr_size(addr));
	if (attr)
		mc->attr = *attr;
	kref_get(&mc->ref);
	ev->mc = mc;
	mc->ev = ev;
	return mc;
}

static int mcast_join_locked(struct cmx_id_private *id_priv, struct cmx_mcast *mc)
{
	int ret;

	if (!id_priv->dev || !(BIT(id_priv->state) & (CMX_IN(BOUND) | CMX_IN(ADDR_RESOLVED))) ||
	    id_priv->id.qp_type != IB_QPT_UD)
		return -EINVAL;
	if (!id_priv->dev_port->transport->mcast)
		return -EOPNOTSUPP;
	cmx_mcast_add(id_priv, mc);
	ret = id_priv->dev_port->transport->mcast->join(mc);
	if (ret && ret != -ECANCELED) {
		mc->left = 1;
		cmx_mcast_del(id_priv, mc);
	}
	return ret;
}

/**
 * cmx_mcast_start_join() - start to join a group
 * @id_priv: the id
 * @addr: address of the group
 * @attr: attributes of the join; NULL: full member with the default attributes
 * @context: context for the event (ULP)
 * @user_data: user data for the event (process)
 * @handle: handle of the membership (process)
 *
 * MULTICAST_JOIN or MULTICAST_ERROR follows, unless the membership ends before the function
 * returns.
 *
 * Context: Caller must not hold id_priv->lock. On RoCE the function may wait for rtnl.
 *
 * Return: the membership, with a reference for the caller. On error no event follows, and an
 * ERR_PTR with an error of cmx_join_multicast() is returned.
 */
struct cmx_mcast *cmx_mcast_start_join(struct cmx_id_private *id_priv, const struct sockaddr *addr,
				       const struct cmx_mcast_attr *attr, void *context,
				       u64 user_data, u32 handle)
{
	struct cmx_event *ev;
	struct cmx_mcast *mc;
	int ret;

	if (!cmx_addr_size(addr))
		return ERR_PTR(-EAFNOSUPPORT);
	if (attr && !mcast_attr_is_valid(attr))
		return ERR_PTR(-EINVAL);
	mc = mcast_new(id_priv, addr, attr);
	if (!mc)
		return ERR_PTR(-ENOMEM);
	mc->context = context;
	mc->user_data = user_data;
	mc->handle = handle;
	mc->ev->ev.param.ud.private_data = context;

	mutex_lock(&id_priv->lock);
	ret = mcast_join_locked(id_priv, mc);
	mutex_unlock(&id_priv->lock);
	if (!ret)
		return mc;

	ev = mc->ev;
	mc->ev = NULL;
	cmx_event_free(ev);
	/* The group was joined and left, for example because the device was removed. */
	if (ret == -ECANCELED)
		return mc;
	cmx_mcast_put(mc);
	return ERR_PTR(ret);
}

/**
 * cmx_mcast_end() - end a membership
 * @mc: the membership; the caller keeps its reference
 *
 * No event follows. Does nothing if the group has been left already, for example because the id has
 * been shut down.
 *
 * Context: Caller must not hold the lock of the id.
 */
void cmx_mcast_end(struct cmx_mcast *mc)
{
	struct cmx_id_private *id_priv = mc->id_priv;

	mutex_lock(&id_priv->lock);
	if (!mc->left)
		cmx_mcast_leave_locked(mc);
	mutex_unlock(&id_priv->lock);
}

/**
 * cmx_mcast_report_again() - report a rejoined group again later
 * @mc: the membership
 *
 * A process calls this if it could not attach its QP after a rejoin. The event is posted once more,
 * and the delay doubles with each call up to a limit. Does nothing on RoCE, where no membership is
 * rejoined.
 *
 * Context: Caller must not hold the lock of the id.
 */
void cmx_mcast_report_again(struct cmx_mcast *mc)
{
	struct cmx_id_private *id_priv = mc->id_priv;

	mutex_lock(&id_priv->lock);
	if (!mc->left && id_priv->dev_port->transport->mcast->report)
		id_priv->dev_port->transport->mcast->report(mc);
	mutex_unlock(&id_priv->lock);
}

/**
 * cmx_join_multicast() - join a multicast group
 * @id: the id, which is of type UD and bound to a device
 * @addr: address of the group
 * @attr: attributes of the join; NULL: full member with the default attributes
 * @context: private_data of the event
 *
 * RDMA_CM_EVENT_MULTICAST_JOIN or RDMA_CM_EVENT_MULTICAST_ERROR follows. The first contains the
 * parameters for sending to the group. If the id has a QP from cmx_create_qp() and @attr is not
 * send-only, the QP receives from the group from then on. The second contains the error as its
 * status. The group must be left in both cases.
 *
 * Context: process, may sleep. On RoCE it may wait for rtnl, but not with a lock of the id.
 *
 * Return: 0; on error no event follows:
 *
 * * -EINVAL: @addr is not a multicast group, or an attribute is out of range.
 * * -EINVAL: the id is not bound to a device, is in another state than bound or address resolved,
 *   or is not of type UD.
 * * -EOPNOTSUPP: P_Key or scope on RoCE.
 * * -EAFNOSUPPORT: unsupported address family, as IPv6 on a host without it; AF_IB on RoCE.
 * * -EADDRNOTAVAIL: the default Q_Key of RDMA_PS_IPOIB is not known.
 * * -ENODEV: the network interface is gone.
 * * -ENOMEM: out of memory.
 */
int cmx_join_multicast(struct cmx_id *id, const struct sockaddr *addr,
		       const struct cmx_mcast_attr *attr, void *context)
{
	struct cmx_mcast *mc = cmx_mcast_start_join(to_id_priv(id), addr, attr, context, 0, 0);

	if (IS_ERR(mc))
		return PTR_ERR(mc);
	cmx_mcast_put(mc);
	return 0;
}
EXPORT_SYMBOL_GPL(cmx_join_multicast);

/**
 * cmx_leave_multicast() - leave a multicast group
 * @id: the id
 * @addr: the address by which the group was joined. If it was joined more than once, only one of
 *	the memberships ends
 *
 * Events of the membership that wait are not delivered any more. To wait for a handler that runs, a
 * ULP calls cmx_lock_handler() before.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or -ENOENT if the group was not joined.
 */
int cmx_leave_multicast(struct cmx_id *id, const struct sockaddr *addr)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	struct cmx_mcast *mc;

	mutex_lock(&id_priv->lock);
	mc = cmx_mcast_find(id_priv, addr);
	if (mc)
		cmx_mcast_leave_locked(mc);
	mutex_unlock(&id_priv->lock);
	return mc ? 0 : -ENOENT;
}
EXPORT_SYMBOL_GPL(cmx_leave_multicast);
