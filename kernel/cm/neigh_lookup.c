// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One lookup in the routing and neighbour tables. It never waits for the network.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/l3mdev.h>
#include <net/neighbour.h>
#include <net/route.h>
#include "compat.h"
#include "ndev.h"
#include "neigh_addr.h"
#include "neigh_lookup.h"
#include "option_value.h"
#include "sockaddr.h"
#include "watch.h"

/*
 * struct neigh_route - a route to the peer
 * @dst: the route
 * @daddr: address of the peer
 * @oif: the interface that the route was looked up for, or a VRF; 0: any
 * @gateway: the peer is behind a router
 * @local: the peer is this host
 */
struct neigh_route {
	const struct dst_entry *dst;
	const void *daddr;
	int oif;
	bool gateway;
	bool local;
};

/* Returns -ENODATA if the neighbour is not known yet; see &cmx_addr_result.key. */
static int neigh_lookup_entry(const struct neigh_route *r, struct cmx_addr_result *f)
{
	struct neighbour *n = dst_neigh_lookup(r->dst, r->daddr);
	int ret = 0;

	memset(&f->key, 0, sizeof(f->key));
	if (!n)
		return -ENODATA;
	if (!cmx_neigh_addr_get(n, f->addr.dst_dev_addr)) {
		f->key = cmx_watch_key_of(n);
		neigh_event_send(n, NULL);
		ret = -ENODATA;
	}
	neigh_release(n);
	return ret;
}

/*
 * The peer is this host: its link layer address is that of the interface which the id uses, or else
 * of the one that owns @dst. The device of a local route is lo, or the VRF of that interface.
 */
static int neigh_lookup_local(const struct neigh_route *r, const struct sockaddr *dst,
			      struct rdma_dev_addr *addr)
{
	const struct net_device *ndev, *own = dev_get_by_index_rcu(addr->net, r->oif);

	ndev = cmx_ndev_find(addr->net, l3mdev_master_ifindex_rcu(READ_ONCE(r->dst->dev)), dst);
	if (!ndev)
		return -ENODEV;
	if (own && !netif_is_l3_master(own))
		ndev = own;
	cmx_ndev_copy_link(addr, ndev);
	memcpy(addr->dst_dev_addr, addr->src_dev_addr, MAX_ADDR_LEN);
	return 0;
}

static int neigh_lookup_link(const struct neigh_route *r, const struct sockaddr *peer,
			     struct cmx_addr_result *f)
{
	int ret = 0;

	rcu_read_lock();
	if (r->local)
		ret = neigh_lookup_local(r, peer, &f->addr);
	else
		cmx_ndev_copy_link(&f->addr, READ_ONCE(r->dst->dev));
	rcu_read_unlock();
	if (ret)
		return ret;

	/* An IP gateway does not route InfiniBand packets. */
	if (r->gateway && f->addr.dev_type == ARPHRD_INFINIBAND)
		return -EADDRNOTAVAIL;
	/* Only RoCE v2 packets can be routed: a gateway requires RoCE v2. */
	f->addr.network = !r->gateway ? RDMA_NETWORK_IB :
			peer->sa_family == AF_INET ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	return r->local ? 0 : neigh_lookup_entry(r, f);
}

static int neigh_lookup_route4(struct cmx_id_private *id_priv, struct cmx_addr_result *f)
{
	const struct sockaddr_in *dst = (const struct sockaddr_in *)cmx_dst(id_priv);
	struct net *net = cmx_net(id_priv);
	struct neigh_route r = {
		.daddr = &dst->sin_addr,
		.oif = f->addr.bound_dev_if ?: id_priv->opt.bind_device,
	};
	struct flowi4 fl4 = {};
	struct rtable *rt;
	int ret;

	flowi4_init_output(&fl4, r.oif, 0, cmx_opt_get(id_priv, CMX_OPT_TOS),
			   RT_SCOPE_UNIVERSE, 0, 0, dst->sin_addr.s_addr, f->src.in.sin_addr.s_addr,
			   0, 0, sock_net_uid(net, NULL));
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	f->src.in.sin_addr.s_addr = fl4.saddr;
	f->addr.hoplimit = ip4_dst_hoplimit(&rt->dst);
	r.dst = &rt->dst;
	r.gateway = rt->rt_uses_gateway;
	r.local = rt->rt_type == RTN_LOCAL;
	ret = neigh_lookup_link(&r, cmx_dst(id_priv), f);
	ip_rt_put(rt);
	return ret;
}

#if IS_ENABLED(CONFIG_IPV6)
static int neigh_lookup_route6(struct cmx_id_private *id_priv, struct cmx_addr_result *f)
{
	const struct sockaddr_in6 *peer = (const struct sockaddr_in6 *)cmx_dst(id_priv);
	struct neigh_route r = { .daddr = &peer->sin6_addr };
	struct flowi6 fl6 = {
		.flowlabel = ip6_make_flowinfo(cmx_opt_get(id_priv, CMX_OPT_TOS), 0),
		.daddr = peer->sin6_addr,
		.saddr = f->src.in6.sin6_addr,
	};
	struct dst_entry *dst;
	int ret;

	/* another interface of this host may have the same address */
	if (!f->addr.bound_dev_if && ipv6_addr_type(&peer->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		f->addr.bound_dev_if = peer->sin6_scope_id;
	r.oif = f->addr.bound_dev_if ?: id_priv->opt.bind_device;
	fl6.flowi6_oif = r.oif;
	dst = cmx_ip6_dst_lookup(cmx_net(id_priv), &fl6);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	f->src.in6.sin6_addr = fl6.saddr;
	f->addr.hoplimit = ip6_dst_hoplimit(dst);
	r.dst = dst;
	r.gateway = dst_rt6_info(dst)->rt6i_flags & RTF_GATEWAY;
	r.local = dst_rt6_info(dst)->rt6i_flags & RTF_LOCAL;
	ret = neigh_lookup_link(&r, cmx_dst(id_priv), f);
	if (ipv6_addr_type(&fl6.saddr) & IPV6_ADDR_LINKLOCAL)
		f->src.in6.sin6_scope_id = f->addr.bound_dev_if;
	dst_release(dst);
	return ret;
}
#else
static int neigh_lookup_route6(struct cmx_id_private *id_priv, struct cmx_addr_result *f)
{
	return -EADDRNOTAVAIL;
}
#endif

/**
 * cmx_neigh_lookup() - look up the destination of an id in the tables of the IP stack
 * @id_priv: the id, which has both addresses and is not changed. Caller must hold its lock
 * @f: receives the result; in case of -ENODATA only the key of the neighbour
 *
 * Return:
 *
 * * 0: success.
 * * -ENODATA: the neighbour is being resolved. Wait for its key and repeat the lookup. A key
 *   without a family means that the neighbour table is full.
 * * -ENODEV: the destination is a local address that no interface has.
 * * -EADDRNOTAVAIL: the route on InfiniBand leads through a gateway.
 * * Other errors of the route lookup.
 */
int cmx_neigh_lookup(struct cmx_id_private *id_priv, struct cmx_addr_result *f)
{
	lockdep_assert_held(&id_priv->lock);
	f->addr = id_priv->id.route.addr.dev_addr;
	memcpy(&f->src, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	return cmx_dst(id_priv)->sa_family == AF_INET ? neigh_lookup_route4(id_priv, f)
						: neigh_lookup_route6(id_priv, f);
}
