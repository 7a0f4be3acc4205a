// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * InfiniBand ports found by their GID. An AF_IB address consists of a GID and a P_Key: there is no
 * network interface, and nothing to resolve.
 */
#include <linux/if_arp.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "resolve_addr.h"
#include "device.h"
#include "port_space.h"
#include "sockaddr.h"
#include "transport.h"

/* Set the link-layer address that corresponds to a local AF_IB address. */
static void addr_ib_set_link(struct cmx_id_private *id_priv, const union ib_gid *gid, __be16 pkey)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	union ib_gid copy = *gid;

	addr->dev_type = ARPHRD_INFINIBAND;
	rdma_addr_set_sgid(addr, &copy);
	ib_addr_set_pkey(addr, be16_to_cpu(pkey));
}

static struct sockaddr_ib *addr_ib_cast(struct sockaddr *addr)
{
	return (struct sockaddr_ib *)addr;
}

/**
 * cmx_addr_ib_bind() - attach an id to the port of its AF_IB address
 * @id_priv: the id, which has a source address and no device
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, -ENODEV if no port has the GID, -EINVAL if the port space does not support AF_IB.
 */
int cmx_addr_ib_bind(struct cmx_id_private *id_priv)
{
	const struct sockaddr_ib *src = addr_ib_cast(cmx_src(id_priv));
	union ib_gid gid;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	memcpy(&gid, &src->sib_addr, sizeof(gid));
	ret = cmx_addr_attach_gid(id_priv, &gid, NULL);
	if (!ret)
		addr_ib_set_link(id_priv, &gid, src->sib_pkey);
	return ret;
}

struct addr_ib_subnet_arg {
	struct cmx_id_private *id_priv;
	const struct sockaddr_ib *dst;
	union ib_gid sgid;
};

/* Is the port the peer itself, or active in the subnet of the peer? */
static bool addr_ib_port_reaches(struct ib_device *device, u32 port, const union ib_gid *dgid,
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

static int addr_ib_find_port(struct cmx_device *dev, u32 port, void *data)
{
	struct addr_ib_subnet_arg *arg = data;
	union ib_gid dgid;
	u16 index;

	if (!cmx_device_port(dev, port)->transport->has_gid_addr ||
	    !rdma_dev_access_netns(dev->device, cmx_net(arg->id_priv)) ||
	    ib_find_cached_pkey(dev->device, port, be16_to_cpu(arg->dst->sib_pkey), &index))
		return 0;
	memcpy(&dgid, &arg->dst->sib_addr, sizeof(dgid));
	return addr_ib_port_reaches(dev->device, port, &dgid, &arg->sgid);
}

/* Attach to a port in the subnet and partition of the peer. */
static int addr_ib_attach_subnet(struct cmx_id_private *id_priv, const struct sockaddr_ib *dst)
{
	struct addr_ib_subnet_arg arg = { .id_priv = id_priv, .dst = dst };
	struct sockaddr_ib src = *addr_ib_cast(cmx_src(id_priv));
	int ret;

	if (!cmx_device_for_each_port(addr_ib_find_port, &arg))
		return -ENODEV;
	ret = cmx_addr_attach_gid(id_priv, &arg.sgid, NULL);
	if (ret)
		return ret;
	memcpy(&src.sib_addr, &arg.sgid, sizeof(arg.sgid));
	if (!src.sib_pkey)
		src.sib_pkey = dst->sib_pkey;
	cmx_port_set_addr(id_priv, (struct sockaddr *)&src, NULL);
	addr_ib_set_link(id_priv, &arg.sgid, src.sib_pkey);
	return 0;
}

/**
 * cmx_addr_ib_resolve() - resolve the AF_IB address of a peer
 * @id_priv: the id, which has both addresses
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, or -ENODEV if no port is in the subnet and partition of the peer.
 */
int cmx_addr_ib_resolve(struct cmx_id_private *id_priv)
{
	const struct sockaddr_ib *dst = addr_ib_cast(cmx_dst(id_priv));
	union ib_gid dgid;
	int ret = 0;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->dev)
		ret = addr_ib_attach_subnet(id_priv, dst);
	if (ret)
		return ret;
	memcpy(&dgid, &dst->sib_addr, sizeof(dgid));
	rdma_addr_set_dgid(&id_priv->id.route.addr.dev_addr, &dgid);
	return 0;
}
