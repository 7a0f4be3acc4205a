// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast on InfiniBand: the MCMemberRecord of a join
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>
#include "ib.h"
#include "keys.h"
#include "mcast.h"
#include "mcast_sa.h"
#include "mgid.h"

/* The SA creates no group without these. */
#define TO_CREATE (IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_SL |			\
		   IB_SA_MCMEMBER_REC_FLOW_LABEL | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS)
#define MTU_IS (IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU)
#define RATE_IS (IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE)
/* These of a group are those of the broadcast group, unless the consumer has given others. */
#define OF_BROADCAST (IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL |		\
		      IB_SA_MCMEMBER_REC_TRAFFIC_CLASS | MTU_IS | RATE_IS |		\
		      IB_SA_MCMEMBER_REC_HOP_LIMIT)

static const u8 join_states[] = {
	[CMX_MCAST_FULL] = BIT(FULLMEMBER_JOIN),
	[CMX_MCAST_SENDONLY_FULL] = BIT(SENDONLY_FULLMEMBER_JOIN),
	[CMX_MCAST_NON] = BIT(NONMEMBER_JOIN),
	[CMX_MCAST_SENDONLY_NON] = BIT(SENDONLY_NONMEBER_JOIN),
};

/* The P_Key of the join, otherwise that of the id */
static u16 mcast_rec_pkey(const struct cmx_mcast *mc)
{
	return mc->attr.mask & CMX_MCAST_PKEY ? mc->attr.pkey : cmx_pkey_get(mc->id_priv);
}

/* The Q_Key of the join, otherwise that of the id, otherwise the default of the partition */
static int mcast_rec_get_qkey(const struct cmx_mcast *mc, u16 pkey, u32 *qkey)
{
	*qkey = mc->attr.mask & CMX_MCAST_QKEY ? mc->attr.qkey : mc->id_priv->qkey;
	return *qkey ? 0 : cmx_ib_default_qkey(mc->id_priv, pkey, qkey);
}

static int mcast_rec_fill_mgid(struct cmx_mcast *mc, union ib_gid *broadcast)
{
	const struct sockaddr *addr = &mc->addr.sa;
	bool given;
	int ret;

	ret = cmx_mgid_map_ib(addr, broadcast, mc->id_priv->id.ps == RDMA_PS_UDP, &mc->mgid);
	if (ret || !(mc->attr.mask & CMX_MCAST_SCOPE) || !mc->mgid.raw[0])
		return ret;
	given = addr->sa_family == AF_IB || mc->mgid.raw[2] == 0xa0;
	if (given)
		return (mc->mgid.raw[1] & 15) == mc->attr.scope ? 0 : -EINVAL;
	mc->mgid.raw[1] = (mc->mgid.raw[1] & 0xf0) | mc->attr.scope;
	return 0;
}

/**
 * cmx_mcast_fill_rec() - make the MCMemberRecord of a join
 * @mc: the membership, which receives its MGID
 * @rec: is overwritten
 * @mask: receives the fields of @rec that count
 * @defaults: receives the fields that have the values of the broadcast group, because neither the
 *	join nor an option has set them
 *
 * If the group does not exist, the SA creates it as the record says. Therefore the record needs the
 * values for this. A member that cannot create a group accepts the group as it is, except for the
 * requested values.
 *
 * Context: Caller must hold the lock of the membership's id.
 * Return: 0, or the reason why no such join is possible.
 */
int cmx_mcast_fill_rec(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
		       ib_sa_comp_mask *mask, ib_sa_comp_mask *defaults)
{
	struct rdma_dev_addr *addr = &mc->id_priv->id.route.addr.dev_addr;
	bool creates = mc->attr.join_state == CMX_MCAST_FULL ||
		       mc->attr.join_state == CMX_MCAST_SENDONLY_FULL;
	bool ipoib = mc->id_priv->id.ps == RDMA_PS_IPOIB;
	u16 pkey = mcast_rec_pkey(mc);
	union ib_gid broadcast;
	ib_sa_comp_mask given;
	bool known;
	u32 qkey;
	int ret;

	lockdep_assert_held(&mc->id_priv->lock);
	cmx_broadcast_mgid_get(mc->id_priv, pkey, &broadcast);
	known = !cmx_group_rec_get(mc->id_priv, &broadcast, rec);
	if (!known)
		memset(rec, 0, sizeof(*rec));
	ret = mcast_rec_fill_mgid(mc, &broadcast);
	if (!ret)
		ret = mcast_rec_get_qkey(mc, pkey, &qkey);
	if (ret)
		return ret;

	*mask = IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
		IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_JOIN_STATE;
	if (creates)
		*mask |= TO_CREATE;
	if (mc->attr.mask & CMX_MCAST_QKEY || mc->id_priv->qkey)
		*mask |= IB_SA_MCMEMBER_REC_QKEY;
	if (creates && ipoib && known) {
		rec->mtu_selector = IB_SA_EQ;
		rec->rate_selector = IB_SA_EQ;
		*mask |= MTU_IS | RATE_IS | IB_SA_MCMEMBER_REC_HOP_LIMIT;
	}
	rec->mgid = mc->mgid;
	rdma_addr_get_sgid(addr, &rec->port_gid);
	rec->pkey = cpu_to_be16(pkey);
	rec->qkey = cpu_to_be32(qkey);
	rec->join_state = join_states[mc->attr.join_state];
	given = cmx_mcast_rec_merge(rec, &mc->attr, &mc->id_priv->opt);
	*mask |= given;
	*defaults = OF_BROADCAST & ~given;
	return 0;
}

/**
 * cmx_mcast_update_rec() - take over the present values of the broadcast group
 * @mc: the membership
 * @rec: its record
 * @defaults: the fields to update. Nothing is done while IPoIB has not joined the broadcast group
 *
 * Context: Caller must hold the lock of the membership's id.
 */
void cmx_mcast_update_rec(const struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
			  ib_sa_comp_mask defaults)
{
	struct ib_sa_mcmember_rec now;
	union ib_gid broadcast;

	lockdep_assert_held(&mc->id_priv->lock);
	cmx_broadcast_mgid_get(mc->id_priv, be16_to_cpu(rec->pkey), &broadcast);
	/* ib_sa keeps the record of a group that the port has lost, without a join state */
	if (cmx_group_rec_get(mc->id_priv, &broadcast, &now) || !now.join_state)
		return;
	if (defaults & IB_SA_MCMEMBER_REC_SL)
		rec->sl = now.sl;
	if (defaults & IB_SA_MCMEMBER_REC_FLOW_LABEL)
		rec->flow_label = now.flow_label;
	if (defaults & IB_SA_MCMEMBER_REC_TRAFFIC_CLASS)
		rec->traffic_class = now.traffic_class;
	if (defaults & IB_SA_MCMEMBER_REC_MTU)
		rec->mtu = now.mtu;
	if (defaults & IB_SA_MCMEMBER_REC_RATE)
		rec->rate = now.rate;
	if (defaults & IB_SA_MCMEMBER_REC_HOP_LIMIT)
		rec->hop_limit = now.hop_limit;
}
