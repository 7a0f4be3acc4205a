// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which device and port has an address? An IP address leads to a network interface, and the
 * interface to a GID. An AF_IB address consists of a GID and a P_Key, without an interface.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "attach.h"
#include "device.h"
#include "ndev.h"
#include "port_space.h"
#include "rule.h"
#include "sockaddr.h"
#include "transport.h"
#include "watch.h"

struct attach_gid_arg {
	struct cmx_id_private *id_priv;
	const union ib_gid *gid;
	struct net_device *ndev;
};

static int attach_gid_port(struct cmx_device *dev, u32 port, void *data)
{
	const struct cmx_dev_port *dp = cmx_device_port(dev, port);
	const struct cmx_transport *transport = dp->transport;
	const struct attach_gid_arg *arg = data;
	struct cmx_id_private *id_priv = arg->id_priv;
	const struct ib_gid_attr *attr;
	u8 gid_type;

	if (transport->has_gid_addr != !arg->ndev ||
	    !rdma_dev_access_netns(dev->device, cmx_net(id_priv)))
		return 0;
	gid_type = cmx_rule_gid_type(id_priv, dev->device, port, dp);
	attr = transport->port_gid ?
		       transport->port_gid(dev->device, port, arg->ndev) :
		       rdma_find_gid_by_port(dev->device, arg->gid, gid_type, port, arg->ndev);
	if (IS_ERR(attr))
		return 0;
	return !cmx_device_attach_attr(id_priv, dev, port, attr);
}

/*
 * Attach an id, which has no device, to the port that has a GID. @ndev: network interface of the
 * port; NULL: the port is one of InfiniBand.
 */
static int attach_gid(struct cmx_id_private *id_priv, const union ib_gid *gid,
		      struct net_device *ndev)
{
	struct attach_gid_arg arg = { .id_priv = id_priv, .gid = gid, .ndev = ndev };

	lockdep_assert_held(&id_priv->lock);
	return cmx_device_for_each_port(attach_gid_port, &arg) ? 0 : -ENODEV;
}

/*
 * Attach the id to the port that has the GID of @src on the network interface of @addr. The
 * hardware address of an IPoIB interface contains the GID.
 */
static int attach_link_port(struct cmx_id_private *id_priv, struct rdma_dev_addr *addr,
			    struct sockaddr *src)
{
	struct net_device *ndev;
	union ib_gid gid;
	int ret;

	if (addr->dev_type == ARPHRD_INFINIBAND) {
		rdma_addr_get_sgid(addr, &gid);
		return attach_gid(id_priv, &gid, NULL);
	}
	/* RDMA_PS_IPOIB is for InfiniBand only. */
	if (id_priv->id.ps == RDMA_PS_IPOIB)
		return -EINVAL;
	if (rdma_ip2gid(src, &gid))
		return -ENODEV;
	ndev = dev_get_by_index(addr->net, addr->bound_dev_if);
	if (!ndev)
		return -ENODEV;
	ret = attach_gid(id_priv, &gid, ndev);
	dev_put(ndev);
	return ret;
}

/* Copy all fields except those that attaching to the device has set, which was done before. */
static void attach_link_copy(struct cmx_id_private *id_priv, const struct rdma_dev_addr *from)
{
	struct rdma_dev_addr *to = &id_priv->id.route.addr.dev_addr;

	memcpy(to->src_dev_addr, from->src_dev_addr, MAX_ADDR_LEN);
	memcpy(to->dst_dev_addr, from->dst_dev_addr, MAX_ADDR_LEN);
	memcpy(to->broadcast, from->broadcast, MAX_ADDR_LEN);
	to->dev_type = from->dev_type;
	to->bound_dev_if = from->bound_dev_if;
	to->network = from->network;
	to->hoplimit = from->hoplimit;
	cmx_watch_bond(id_priv);
}

/**
 * cmx_attach_link() - attach an id to the port of a network interface
 * @id_priv: the id; if it has a device, only its link layer addresses are set. Caller must hold its
 *	lock
 * @addr: link layer addresses, with the interface
 * @src: address of the interface
 *
 * Return: 0; -ENODEV if no RDMA device has the address; -EINVAL if the device does not support the
 * port space.
 */
int cmx_attach_link(struct cmx_id_private *id_priv, struct rdma_dev_addr *addr,
		    struct sockaddr *src)
{
	int ret = 0;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->dev)
		ret = attach_link_port(id_priv, addr, src);
	if (!ret)
		attach_link_copy(id_priv, addr);
	return ret;
}

/* Find the network interface of the source address. A link-local address has one already. */
static int attach_src_find(const struct cmx_id_private *id_priv, struct rdma_dev_addr *addr)
{
	bool known = addr->bound_dev_if;
	const struct net_device *ndev;

	rcu_read_lock();
	ndev = known ? dev_get_by_index_rcu(addr->net, addr->bound_dev_if) :
		       cmx_ndev_find(addr->net, id_priv->opt.bind_device, cmx_src(id_priv));
	if (ndev)
		cmx_ndev_copy_link(addr, ndev);
	rcu_read_unlock();
	if (ndev)
		return 0;
	return known ? -ENODEV : -EADDRNOTAVAIL;
}

/* Set the link layer address that corresponds to a local AF_IB address. */
static void attach_ib_set_link(struct cmx_id_private *id_priv, const union ib_gid *gid, __be16 pkey)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	union ib_gid copy = *gid;

	addr->dev_type = ARPHRD_INFINIBAND;
	rdma_addr_set_sgid(addr, &copy);
	ib_addr_set_pkey(addr, be16_to_cpu(pkey));
}

static int attach_ib_src(struct cmx_id_private *id_priv)
{
	const struct sockaddr_ib *src = (const struct sockaddr_ib *)cmx_src(id_priv);
	union ib_gid gid;
	int ret;

	memcpy(&gid, &src->sib_addr, sizeof(gid));
	ret = attach_gid(id_priv, &gid, NULL);
	if (!ret)
		attach_ib_set_link(id_priv, &gid, src->sib_pkey);
	return ret;
}

/**
 * cmx_attach_src() - attach an id to the port that owns its address
 * @id_priv: the id; its source address is set, and it has no device. Caller must hold its lock
 *
 * Return: 0; -EADDRNOTAVAIL if the address is not local; -ENODEV if no RDMA device has it;
 * -EINVAL if the device does not support the port space.
 */
int cmx_attach_src(struct cmx_id_private *id_priv)
{
	struct rdma_dev_addr addr = id_priv->id.route.addr.dev_addr;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (cmx_src(id_priv)->sa_family == AF_IB)
		return attach_ib_src(id_priv);
	ret = attach_src_find(id_priv, &addr);
	return ret ?: cmx_attach_link(id_priv, &addr, cmx_src(id_priv));
}

struct attach_loopback_arg {
	struct cmx_id_private *id_priv;
	bool active;
};

static int attach_loopback_port(struct cmx_device *dev, u32 port, void *data)
{
	const struct cmx_dev_port *dp = cmx_device_port(dev, port);
	const struct cmx_transport *transport = dp->transport;
	struct attach_loopback_arg *arg = data;
	struct cmx_id_private *id_priv = arg->id_priv;
	enum ib_port_state state;
	union ib_gid gid;
	u16 pkey;

	if (!rdma_dev_access_netns(dev->device, cmx_net(id_priv)) ||
	    !transport->has_loopback || !cmx_dev_port_fits(id_priv, dev, port))
		return 0;
	if (arg->active && (ib_get_cached_port_state(dev->device, port, &state) ||
			    state != IB_PORT_ACTIVE))
		return 0;
	/* the next port may do: that of an interface that has just left a bond has no GID */
	if (rdma_query_gid(dev->device, port, 0, &gid) ||
	    ib_get_cached_pkey(dev->device, port, 0, &pkey) ||
	    cmx_device_attach(id_priv, dev, port))
		return 0;
	id_priv->gid_type = cmx_rule_gid_type(id_priv, dev->device, port, dp);
	id_priv->id.route.addr.dev_addr.dev_type = transport->has_gid_addr ? ARPHRD_INFINIBAND
								     : ARPHRD_ETHER;
	rdma_addr_set_sgid(&id_priv->id.route.addr.dev_addr, &gid);
	ib_addr_set_pkey(&id_priv->id.route.addr.dev_addr, pkey);
	return 1;
}

/**
 * cmx_attach_loopback() - attach an id whose peer is this host to any port
 * @id_priv: the id, which has no device. Caller must hold its lock
 *
 * Return: 0: the id is attached to the first active port of any device that has a GID, or to the
 * first port if none is active; or -ENODEV.
 */
int cmx_attach_loopback(struct cmx_id_private *id_priv)
{
	struct attach_loopback_arg arg = { .id_priv = id_priv, .active = true };

	lockdep_assert_held(&id_priv->lock);
	if (cmx_device_for_each_port(attach_loopback_port, &arg))
		return 0;
	arg.active = false;
	return cmx_device_for_each_port(attach_loopback_port, &arg) ? 0 : -ENODEV;
}

struct attach_subnet_arg {
	struct cmx_id_private *id_priv;
	const struct sockaddr_ib *dst;
	union ib_gid sgid;
};

/* Is the port the peer itself, or active in the subnet of the peer? */
static bool attach_subnet_reaches(struct ib_device *device, u32 port, const union ib_gid *dgid,
				  union ib_gid *sgid)
{
	int i, num = device->port_data[port].immutable.gid_tbl_len;
	enum ib_port_state state;

	if (ib_get_cached_port_state(device, port, &state))
		return false;
	for (i = 0; i < num; i++) {
		if (rdma_query_gid(device, port, i, sgid))
			continue;
		if (!memcmp(sgid, dgid, sizeof(*sgid)))
			return true;
		if (state == IB_PORT_ACTIVE &&
		    sgid->global.subnet_prefix == dgid->global.subnet_prefix)
			return true;
	}
	return false;
}

static int attach_subnet_find_port(struct cmx_device *dev, u32 port, void *data)
{
	struct attach_subnet_arg *arg = data;
	union ib_gid dgid;
	u16 index;

	if (!cmx_device_port(dev, port)->transport->has_gid_addr ||
	    !rdma_dev_access_netns(dev->device, cmx_net(arg->id_priv)) ||
	    ib_find_cached_pkey(dev->device, port, be16_to_cpu(arg->dst->sib_pkey), &index))
		return 0;
	memcpy(&dgid, &arg->dst->sib_addr, sizeof(dgid));
	return attach_subnet_reaches(dev->device, port, &dgid, &arg->sgid);
}

/**
 * cmx_attach_ib_subnet() - attach an id to a port in the subnet and partition of its AF_IB peer
 * @id_priv: the id, which has both addresses and no device. Caller must hold its lock
 *
 * The GID of the port, and the P_Key of the peer, become the source address of the id.
 *
 * Return: 0, or -ENODEV if no port is in the subnet and partition of the peer.
 */
int cmx_attach_ib_subnet(struct cmx_id_private *id_priv)
{
	const struct sockaddr_ib *dst = (const struct sockaddr_ib *)cmx_dst(id_priv);
	struct attach_subnet_arg arg = { .id_priv = id_priv, .dst = dst };
	struct sockaddr_ib src = *(struct sockaddr_ib *)cmx_src(id_priv);
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!cmx_device_for_each_port(attach_subnet_find_port, &arg))
		return -ENODEV;
	ret = attach_gid(id_priv, &arg.sgid, NULL);
	if (ret)
		return ret;
	memcpy(&src.sib_addr, &arg.sgid, sizeof(arg.sgid));
	if (!src.sib_pkey)
		src.sib_pkey = dst->sib_pkey;
	cmx_port_set_addr(id_priv, (struct sockaddr *)&src, NULL);
	attach_ib_set_link(id_priv, &arg.sgid, src.sib_pkey);
	return 0;
}
