// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * InfiniBand ports by their GID. AF_IB addresses consist of it and a P_Key: there
 * is no interface, and nothing to resolve.
 */
#include <linux/if_arp.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "addr.h"
#include "device.h"
#include "port.h"
#include "sockaddr.h"
#include "transport.h"

struct gid_arg {
	struct cmx_priv *p;
	const union ib_gid *gid;
};

static int attach_port(struct cmx_device *dev, u32 port, void *data)
{
	const struct ib_gid_attr *attr;
	struct gid_arg *arg = data;

	if (!cmx_device_port(dev, port)->transport->has_gid_addr ||
	    !rdma_dev_access_netns(dev->device, cmx_net(arg->p)))
		return 0;
	attr = rdma_find_gid_by_port(dev->device, arg->gid, IB_GID_TYPE_IB, port, NULL);
	if (IS_ERR(attr))
		return 0;
	return !cmx_device_attach_attr(arg->p, dev, port, attr);
}

/**
 * cmx_attach_gid() - attach an id to the InfiniBand port that has a GID
 * @p: the id; its lock is held, it has no device
 * @gid: the GID
 *
 * Return: 0, or -ENODEV: no port has it.
 */
int cmx_attach_gid(struct cmx_priv *p, const union ib_gid *gid)
{
	struct gid_arg arg = { .p = p, .gid = gid };

	return cmx_device_for_each_port(attach_port, &arg) ? 0 : -ENODEV;
}

/* The link layer address that a local AF_IB address is. */
static void set_link(struct cmx_priv *p, const union ib_gid *gid, __be16 pkey)
{
	struct rdma_dev_addr *addr = &p->id.route.addr.dev_addr;
	union ib_gid copy = *gid;

	addr->dev_type = ARPHRD_INFINIBAND;
	rdma_addr_set_sgid(addr, &copy);
	ib_addr_set_pkey(addr, be16_to_cpu(pkey));
}

static struct sockaddr_ib *sib_of(struct sockaddr *addr)
{
	return (struct sockaddr_ib *)addr;
}

/**
 * cmx_addr_ib_bind() - attach an id to the port of its AF_IB address
 * @p: the id; its lock is held, its source address is set, it has no device
 *
 * Return: 0, -ENODEV: no port has that GID; -EINVAL: AF_IB is not for that port
 * space.
 */
int cmx_addr_ib_bind(struct cmx_priv *p)
{
	const struct sockaddr_ib *src = sib_of(cmx_src(p));
	union ib_gid gid;
	int ret;

	lockdep_assert_held(&p->lock);
	memcpy(&gid, &src->sib_addr, sizeof(gid));
	ret = cmx_attach_gid(p, &gid);
	if (!ret)
		set_link(p, &gid, src->sib_pkey);
	return ret;
}

struct subnet_arg {
	struct cmx_priv *p;
	const struct sockaddr_ib *dst;
	union ib_gid sgid;
};

/* The port is the peer itself, or is active in the peer's subnet. */
static bool reaches(struct ib_device *device, u32 port, const union ib_gid *dgid,
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

static int find_subnet(struct cmx_device *dev, u32 port, void *data)
{
	struct subnet_arg *arg = data;
	union ib_gid dgid;
	u16 index;

	if (!cmx_device_port(dev, port)->transport->has_gid_addr ||
	    !rdma_dev_access_netns(dev->device, cmx_net(arg->p)) ||
	    ib_find_cached_pkey(dev->device, port, be16_to_cpu(arg->dst->sib_pkey), &index))
		return 0;
	memcpy(&dgid, &arg->dst->sib_addr, sizeof(dgid));
	return reaches(dev->device, port, &dgid, &arg->sgid);
}

/* Attach to a port of the peer's subnet and partition. */
static int attach_subnet(struct cmx_priv *p, const struct sockaddr_ib *dst)
{
	struct subnet_arg arg = { .p = p, .dst = dst };
	struct sockaddr_ib src = *sib_of(cmx_src(p));
	int ret;

	if (!cmx_device_for_each_port(find_subnet, &arg))
		return -ENODEV;
	ret = cmx_attach_gid(p, &arg.sgid);
	if (ret)
		return ret;
	memcpy(&src.sib_addr, &arg.sgid, sizeof(arg.sgid));
	if (!src.sib_pkey)
		src.sib_pkey = dst->sib_pkey;
	cmx_port_set_addr(p, (struct sockaddr *)&src, NULL);
	set_link(p, &arg.sgid, src.sib_pkey);
	return 0;
}

/**
 * cmx_addr_ib_resolve() - find the way to the AF_IB address of a peer
 * @p: the id; its lock is held, both addresses are set
 *
 * Return: 0, -ENODEV: no port is in its subnet and partition.
 */
int cmx_addr_ib_resolve(struct cmx_priv *p)
{
	const struct sockaddr_ib *dst = sib_of(cmx_dst(p));
	union ib_gid dgid;
	int ret = 0;

	lockdep_assert_held(&p->lock);
	if (!p->dev)
		ret = attach_subnet(p, dst);
	if (ret)
		return ret;
	memcpy(&dgid, &dst->sib_addr, sizeof(dgid));
	rdma_addr_set_dgid(&p->id.route.addr.dev_addr, &dgid);
	return 0;
}
