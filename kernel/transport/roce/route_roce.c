// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCE has no subnet manager that could be queried: the path record is derived from the addresses,
 * the network interface and the options.
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include "charge.h"
#include "compat.h"
#include "option_value.h"
#include "roce.h"
#include "route_rec.h"
#include "sockaddr.h"
#include "transport.h"

/* 4.096 us << 16 is 268 ms */
#define PACKET_LIFETIME 16

static int roce_vlan_prio_to_tc(struct net_device *vlan, int prio)
{
	struct net_device *real = vlan_dev_real_dev(vlan);

	if (real->num_tc)
		return netdev_get_prio_tc_map(real, prio);
	return (vlan_dev_get_egress_qos_mask(vlan, prio) & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
}

struct roce_lower_tc {
	int prio;
	int tc;
	bool found;
};

/* The first lower device of a bond or bridge decides. */
static int roce_lower_prio_to_tc(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	struct roce_lower_tc *lower = priv->data;

	lower->found = true;
	if (is_vlan_dev(ndev))
		lower->tc = roce_vlan_prio_to_tc(ndev, lower->prio);
	else if (ndev->num_tc)
		lower->tc = netdev_get_prio_tc_map(ndev, lower->prio);
	return 1;
}

/* Map the traffic class to an SL, as the interface does for IP traffic. */
static u8 roce_tos_to_sl(struct net_device *ndev, u8 tos)
{
	struct roce_lower_tc lower = { .prio = rt_tos2priority(tos) };
	struct netdev_nested_priv priv = { .data = &lower };

	if (is_vlan_dev(ndev))
		return roce_vlan_prio_to_tc(ndev, lower.prio);

	rcu_read_lock();
	netdev_walk_all_lower_dev_rcu(ndev, roce_lower_prio_to_tc, &priv);
	rcu_read_unlock();
	if (lower.found)
		return lower.tc;
	return ndev->num_tc ? netdev_get_prio_tc_map(ndev, lower.prio) : 0;
}

/*
 * The flow label determines the UDP source port of RoCE v2, and thereby the path through a network
 * that has several. Every connection derives its own label from its two ports, unless an IPv6
 * source address contains one.
 */
static u32 roce_default_flow_label(const struct cmx_id_private *id_priv)
{
	const struct sockaddr_in6 *src = (const struct sockaddr_in6 *)cmx_src(id_priv);
	u32 sport, dport, label;

	if (src->sin6_family == AF_INET6) {
		label = be32_to_cpu(src->sin6_flowinfo) & IB_GRH_FLOWLABEL_MASK;
		if (label)
			return label;
	}
	sport = ntohs(cmx_addr_port(cmx_src(id_priv)));
	dport = ntohs(cmx_addr_port(cmx_dst(id_priv)));
	return (sport * 31 + dport) & IB_GRH_FLOWLABEL_MASK;
}

/*
 * Routers forward RoCE v2 only. The messages and the QP have the type of the GID, so another entry
 * of the GID table is needed, unless the program has chosen the type.
 */
static int roce_gid_set_v2(struct cmx_id_private *id_priv)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	union ib_gid gid;

	if (id_priv->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP)
		return 0;
	if (cmx_opt_is_set(id_priv, CMX_OPT_GID_TYPE))
		return -EHOSTUNREACH;
	rdma_ip2gid(cmx_src(id_priv), &gid);
	ndev = dev_get_by_index(addr->net, addr->bound_dev_if);
	/* without an interface, the GID of another network namespace would match */
	if (!ndev)
		return -ENODEV;
	attr = rdma_find_gid_by_port(id_priv->id.device, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP,
				     id_priv->id.port_num, ndev);
	dev_put(ndev);
	if (IS_ERR(attr))
		return -EHOSTUNREACH;
	rdma_put_gid_attr(addr->sgid_attr);
	addr->sgid_attr = attr;
	id_priv->gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	return 0;
}

/*
 * Set the fields that depend on the peer's address: type, destination MAC and resolved flag of the
 * record. Return -EHOSTUNREACH if the peer is behind a router and RoCE v2 cannot be used, -ENODEV
 * without a network interface.
 */
static int roce_complete(struct cmx_id_private *id_priv, struct sa_path_rec *rec)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	int ret;

	/* a loopback address has no interface */
	if (!addr->bound_dev_if)
		return -ENODEV;
	if (addr->network == RDMA_NETWORK_IPV4 || addr->network == RDMA_NETWORK_IPV6) {
		ret = roce_gid_set_v2(id_priv);
		if (ret)
			return ret;
	}
	rec->rec_type = sa_conv_gid_to_pathrec_type(id_priv->gid_type);
	rec->roce.route_resolved = true;
	sa_path_set_dmac(rec, addr->dst_dev_addr);
	return 0;
}

/* The values that the options of the id may replace */
static void roce_rec_set_defaults(const struct cmx_id_private *id_priv, struct net_device *ndev,
				  enum ib_mtu mtu, struct sa_path_rec *rec)
{
	rec->sl = roce_tos_to_sl(ndev, rec->traffic_class);
	rec->hop_limit = id_priv->id.route.addr.dev_addr.hoplimit;
	rec->mtu_selector = IB_SA_EQ;
	rec->mtu = mtu;
	rec->packet_life_time_selector = IB_SA_EQ;
	rec->packet_life_time = PACKET_LIFETIME;
	if (rdma_protocol_roce_udp_encap(id_priv->id.device, id_priv->id.port_num))
		rec->flow_label = cpu_to_be32(roce_default_flow_label(id_priv));
}

static int roce_rec_fill(struct cmx_id_private *id_priv, struct net_device *ndev,
			 struct sa_path_rec *rec)
{
	enum ib_mtu mtu = iboe_get_mtu(ndev->mtu);
	int ret;

	if (!mtu || (cmx_opt_is_set(id_priv, CMX_OPT_PATH_MTU) && id_priv->opt.path_mtu > mtu))
		return -EINVAL;
	ret = roce_complete(id_priv, rec);
	if (ret)
		return ret;

	rdma_ip2gid(cmx_src(id_priv), &rec->sgid);
	rdma_ip2gid(cmx_dst(id_priv), &rec->dgid);
	rec->reversible = 1;
	rec->pkey = cpu_to_be16(0xffff);
	rec->rate_selector = IB_SA_EQ;
	rec->rate = IB_RATE_PORT_CURRENT;
	rec->traffic_class = cmx_opt_get(id_priv, CMX_OPT_TOS);
	roce_rec_set_defaults(id_priv, ndev, mtu, rec);
	if (cmx_path_rec_merge(rec, &id_priv->opt, CMX_PATH_OPTS) & IB_SA_PATH_REC_PACKET_LIFE_TIME)
		rec->packet_life_time = min(rec->packet_life_time, cmx_opt_lifetime_max(id_priv));
	return 0;
}

/*
 * Make the path record. Return -ENODEV without a network interface, as with a loopback address;
 * -EINVAL if the MTU of the interface is too small for any path MTU or for the one that was set;
 * -EHOSTUNREACH as roce_complete(); -ENOMEM. Caller must hold id_priv->lock.
 */
static int roce_path_make(struct cmx_id_private *id_priv)
{
	struct rdma_route *route = &id_priv->id.route;
	struct rdma_dev_addr *addr = &route->addr.dev_addr;
	struct net_device *ndev;
	struct sa_path_rec *rec;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	ndev = dev_get_by_index(addr->net, addr->bound_dev_if);
	if (!ndev)
		return -ENODEV;
	rec = cmx_charge_alloc(id_priv, sizeof(*rec));
	ret = rec ? roce_rec_fill(id_priv, ndev, rec) : -ENOMEM;
	dev_put(ndev);
	if (ret) {
		kfree(rec);
		return ret;
	}
	cmx_route_free(id_priv);
	route->path_rec = rec;
	route->num_pri_alt_paths = 1;
	return 0;
}

static int roce_resolve(struct cmx_id_private *id_priv, unsigned long timeout_ms,
			struct cmx_event **ev)
{
	return roce_path_make(id_priv);
}

/*
 * The SL depends on the traffic class in a record that we made. A record that the consumer has set
 * keeps its SL.
 */
static int roce_apply_tos(struct cmx_id_private *id_priv)
{
	if (id_priv->state != CMX_ROUTE_RESOLVED)
		return 0;
	if (!cmx_opt_is_set(id_priv, CMX_OPT_IB_PATH))
		return roce_path_make(id_priv);
	id_priv->id.route.path_rec->traffic_class = cmx_opt_get(id_priv, CMX_OPT_TOS);
	return 0;
}

static u32 roce_mtu(const struct cmx_id_private *id_priv)
{
	const struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	const struct net_device *ndev;
	u32 mtu;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(addr->net, addr->bound_dev_if);
	mtu = ndev ? iboe_get_mtu(READ_ONCE(ndev->mtu)) : 0;
	rcu_read_unlock();
	return mtu;
}

const struct cmx_route_ops cmx_route_roce_ops = {
	.resolve = roce_resolve,
	.complete = roce_complete,
	.apply_tos = roce_apply_tos,
	.mtu = roce_mtu,
};
