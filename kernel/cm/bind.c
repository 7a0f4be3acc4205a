// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binding an id to a local address, to the device that owns the address, and to a port.
 */
#include <linux/export.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include "addr.h"
#include "bind.h"
#include "device.h"
#include "port.h"
#include "sockaddr.h"
#include "watch.h"

/* A link-local address is valid on one link only, which its scope ID must name. */
static int bind_scope_set(struct cmx_priv *p, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	if (addr->sa_family != AF_INET6 ||
	    !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	if (!in6->sin6_scope_id)
		return -EINVAL;
	p->id.route.addr.dev_addr.bound_dev_if = in6->sin6_scope_id;
	return 0;
}

static bool bind_afonly_default(const struct cmx_priv *p, sa_family_t family)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (family == AF_INET6)
		return cmx_net(p)->ipv6.sysctl.bindv6only;
#endif
	return family == AF_INET;
}

static void bind_addr_release(struct cmx_priv *p)
{
	struct rdma_addr *addr = &p->id.route.addr;
	struct net *net = cmx_net(p);

	cmx_port_release(p);
	cmx_unwatch_peer(p);
	cmx_device_detach(p);
	memset(addr, 0, sizeof(*addr));
	addr->dev_addr.net = net;
	p->id.port_num = 0;
	if (!cmx_opt_set(p, CMX_OPT_AFONLY))
		p->opt.afonly = 0;
}

/**
 * cmx_bind_undo() - undo cmx_bind_dst()
 * @p: the id, in CMX_BOUND. Caller must hold its lock
 */
void cmx_bind_undo(struct cmx_priv *p)
{
	if (!cmx_state_move(p, CMX_IN(BOUND), CMX_IDLE))
		bind_addr_release(p);
}

/**
 * cmx_bind_dst() - bind an id whose peer may be known already
 * @p: the id. Caller must hold its lock
 * @addr: local address
 * @dst: peer address of the same family, or NULL. If all ports are in use, it decides whether the
 *	id can share one
 *
 * Return: as cmx_bind_addr().
 */
int cmx_bind_dst(struct cmx_priv *p, const struct sockaddr *addr, const struct sockaddr *dst)
{
	int ret;

	lockdep_assert_held(&p->lock);
	if (!cmx_addr_size(addr))
		return -EAFNOSUPPORT;
	if (p->state != CMX_IDLE)
		return -EINVAL;

	ret = bind_scope_set(p, addr);
	if (ret)
		return ret;
	memcpy(cmx_src(p), addr, cmx_addr_size(addr));
	if (dst)
		memcpy(cmx_dst(p), dst, cmx_addr_size(dst));
	cmx_dst(p)->sa_family = addr->sa_family;
	if (!cmx_opt_set(p, CMX_OPT_AFONLY))
		p->opt.afonly = bind_afonly_default(p, addr->sa_family);

	if (!cmx_addr_any(addr)) {
		ret = cmx_addr_bind_device(p);
		if (ret)
			goto err;
	}
	if (addr->sa_family == AF_IB && !cmx_sib_port_space((void *)cmx_src(p), p->id.ps)) {
		ret = -EPROTONOSUPPORT;
		goto err;
	}
	ret = cmx_port_claim(p);
	if (ret)
		goto err;
	ret = cmx_state_move(p, CMX_IN(IDLE), CMX_BOUND);
	if (ret)
		goto err;
	return 0;

err:
	bind_addr_release(p);
	return ret;
}

/**
 * cmx_bind_locked() - bind an id to a local address and port
 * @p: the id. Caller must hold its lock
 * @addr: local address
 *
 * Return: as cmx_bind_addr().
 */
int cmx_bind_locked(struct cmx_priv *p, const struct sockaddr *addr)
{
	return cmx_bind_dst(p, addr, NULL);
}

/**
 * cmx_bind_addr() - bind an id to a local address and port
 * @id: the id
 * @addr: AF_INET, AF_INET6 or AF_IB address. A wildcard or loopback address does not attach the
 *	id to a device yet. For port 0 a port is chosen and stored in the source address of the id
 *
 * If the option AFONLY has not been set, it defaults to on for IPv4 and to the value of
 * net.ipv6.bindv6only for IPv6.
 *
 * Return: 0; on error nothing has changed:
 *
 * * -EINVAL: the id is bound already, a link-local address lacks its scope ID, or
 *   the port space does not fit the device.
 * * -EAFNOSUPPORT: unsupported address family.
 * * -EPROTONOSUPPORT: the service ID of an AF_IB address belongs to another port space.
 * * -EADDRNOTAVAIL: the address is not local; the port has other owners and one of the addresses
 *   is a wildcard; or no port is free.
 * * -EADDRINUSE: another id owns that address and port.
 * * -EACCES: the port is below 1024, and the caller lacks CAP_NET_BIND_SERVICE.
 * * -ENODEV: no RDMA device has that address.
 * * -ENOMEM: out of memory.
 */
int cmx_bind_addr(struct cmx_id *id, const struct sockaddr *addr)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	mutex_lock(&p->lock);
	ret = cmx_bind_locked(p, addr);
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_bind_addr);

/**
 * cmx_restrict_node_type() - keep an id to devices of one type
 * @id: the id, not bound to a device yet
 * @node_type: %RDMA_NODE_IB_CA, which RoCE devices are too; %RDMA_NODE_RNIC; or
 *	%RDMA_NODE_UNSPECIFIED: any
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL: another type; -EALREADY: bound to a device, or listening.
 */
int cmx_restrict_node_type(struct cmx_id *id, u8 node_type)
{
	struct cmx_priv *p = to_priv(id);
	int ret = 0;

	if (node_type != RDMA_NODE_UNSPECIFIED && node_type != RDMA_NODE_IB_CA &&
	    node_type != RDMA_NODE_RNIC)
		return -EINVAL;
	mutex_lock(&p->lock);
	if (p->dev || !(BIT(p->state) & (CMX_IN(IDLE) | CMX_IN(BOUND))))
		ret = -EALREADY;
	else
		p->node_type = node_type;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_restrict_node_type);
