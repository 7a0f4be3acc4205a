// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events of memberships: the transports report the results of joins, and memberships that are lost
 * or rejoined. The events go to the consumer.
 */
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_sa.h>
#include "event.h"
#include "keys.h"
#include "mcast.h"
#include "trace.h"

/* Set the destination MAC address on RoCE. ib_core does this for processes only. */
static void mcast_set_dmac(struct rdma_ah_attr *attr)
{
	const struct in6_addr *mgid = (struct in6_addr *)rdma_ah_read_grh(attr)->dgid.raw;
	u8 *dmac = rdma_ah_retrieve_dmac(attr);

	if (!dmac)
		return;
	if (ipv6_addr_v4mapped(mgid))
		ip_eth_mc_map(mgid->s6_addr32[3], dmac);
	else
		ipv6_eth_mc_map(mgid, dmac);
}

/* The MLID of the group may have changed when it was rejoined. */
static int mcast_attach_again(struct cmx_mcast *mc, u16 mlid)
{
	if (mc->mlid != mlid)
		cmx_mcast_detach(mc);
	mc->mlid = mlid;
	return cmx_mcast_attach(mc);
}

static int mcast_event_fill(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
			    struct net_device *ndev, struct rdma_ud_param *ud)
{
	struct cmx_id_private *id_priv = mc->id_priv;
	int ret;

	ret = cmx_qkey_set(id_priv, be32_to_cpu(rec->qkey));
	if (ret)
		return ret;
	ret = ib_init_ah_from_mcmember(id_priv->id.device, id_priv->id.port_num, rec, ndev,
				       id_priv->gid_type, &ud->ah_attr);
	if (ret)
		return ret;
	mcast_set_dmac(&ud->ah_attr);
	ret = mcast_attach_again(mc, be16_to_cpu(rec->mlid));
	if (ret) {
		rdma_destroy_ah_attr(&ud->ah_attr);
		return ret;
	}
	ud->qp_num = IB_MULTICAST_QPN;
	ud->qkey = id_priv->qkey;
	return 0;
}

static void mcast_event_post(struct cmx_mcast *mc, struct cmx_event *ev, int status,
			     struct ib_sa_mcmember_rec *rec, struct net_device *ndev)
{
	if (!status)
		status = mcast_event_fill(mc, rec, ndev, &ev->ev.param.ud);
	ev->ev.status = status;
	if (status)
		ev->ev.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	trace_cmx_mcast(mc, ev->flags & CMX_EVENT_F_REJOIN ? "rejoin" : "join", status);
	mc->posted++;
	cmx_event_post(ev);
}

/**
 * cmx_mcast_report_join() - report the result of a join
 * @mc: the membership
 * @status: 0, or the error if the join failed
 * @rec: the group, if @status is 0. A qkey of 0 stands for the Q_Key of the id
 * @ndev: network interface to send from (RoCE), or NULL
 *
 * Context: Caller must hold the lock of the id.
 */
void cmx_mcast_report_join(struct cmx_mcast *mc, int status, struct ib_sa_mcmember_rec *rec,
			   struct net_device *ndev)
{
	struct cmx_event *ev = mc->ev;

	lockdep_assert_held(&mc->id_priv->lock);
	mc->ev = NULL;
	mcast_event_post(mc, ev, status, rec, ndev);
}

static struct cmx_event *mcast_event_new(struct cmx_mcast *mc)
{
	struct cmx_event *ev = cmx_event_alloc_nofail(mc->id_priv, RDMA_CM_EVENT_MULTICAST_JOIN, 0);

	kref_get(&mc->ref);
	ev->mc = mc;
	ev->ev.param.ud.private_data = mc->context;
	return ev;
}

/**
 * cmx_mcast_report_error() - report that a membership has ended
 * @mc: the membership, whose join has been reported
 * @status: the error
 *
 * Context: Caller must hold the lock of the id.
 */
void cmx_mcast_report_error(struct cmx_mcast *mc, int status)
{
	lockdep_assert_held(&mc->id_priv->lock);
	mcast_event_post(mc, mcast_event_new(mc), status, NULL, NULL);
}

/**
 * cmx_mcast_report_rejoin() - report that a group was rejoined after the membership was lost
 * @mc: the membership
 * @rec: the group
 *
 * Context: Caller must hold the lock of the id.
 * Return: true if the QP of the id cannot be attached yet, or the consumer has too many events. In
 *	this case nothing is reported.
 */
bool cmx_mcast_report_rejoin(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec)
{
	const struct cmx_id_consumer_ops *consumer = mc->id_priv->consumer;
	struct cmx_event *ev;

	lockdep_assert_held(&mc->id_priv->lock);
	if (mcast_attach_again(mc, be16_to_cpu(rec->mlid)) ||
	    (consumer->is_full && consumer->is_full(mc->id_priv, RDMA_CM_EVENT_MULTICAST_JOIN)))
		return true;
	ev = mcast_event_new(mc);
	ev->flags = CMX_EVENT_F_REJOIN;
	mcast_event_post(mc, ev, 0, rec, NULL);
	return false;
}
