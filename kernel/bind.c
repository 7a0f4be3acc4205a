// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binding: a local address, the device that owns it, and a port.
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

/* A link-local address is of one link only: the scope must say which. */
static int set_scope(struct cmx_priv *p, const struct sockaddr *addr)
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

static bool default_afonly(const struct cmx_priv *p, sa_family_t family)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (family == AF_INET6)
		return cmx_net(p)->ipv6.sysctl.bindv6only;
#endif
	return family == AF_INET;
}

static void unbind(struct cmx_priv *p)
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
 * @p: the id, in CMX_BOUND; its lock is held
 */
void cmx_bind_undo(struct cmx_priv *p)
{
	if (!cmx_state_move(p, CMX_IN(BOUND), CMX_IDLE))
		unbind(p);
}

/**
 * cmx_bind_dst() - bind an id that knows its peer
 * @p: the id; its lock is held
 * @addr: local address
 * @dst: the peer's, of the same family, or NULL: helps to choose a port
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

	ret = set_scope(p, addr);
	if (ret)
		return ret;
	memcpy(cmx_src(p), addr, cmx_addr_size(addr));
	if (dst)
		memcpy(cmx_dst(p), dst, cmx_addr_size(dst));
	cmx_dst(p)->sa_family = addr->sa_family;
	if (!cmx_opt_set(p, CMX_OPT_AFONLY))
		p->opt.afonly = default_afonly(p, addr->sa_family);

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
	unbind(p);
	return ret;
}

/**
 * cmx_bind_locked() - as cmx_bind_addr()
 * @p: the id; its lock is held
 * @addr: local address
 */
int cmx_bind_locked(struct cmx_priv *p, const struct sockaddr *addr)
{
	return cmx_bind_dst(p, addr, NULL);
}

/**
 * cmx_bind_addr() - give an id its local address and port
 * @id: the id
 * @addr: AF_INET, AF_INET6 or AF_IB address. A wildcard or loopback address binds to
 *	no device yet. Port 0 has one chosen, which is then in the source address
 *	of the id
 *
 * An id that has not been told to be AF_INET or AF_INET6 only (AFONLY) is so
 * with IPv4, and with IPv6 as net.ipv6.bindv6only says.
 *
 * Return: 0; on error nothing has changed:
 *
 * * -EINVAL: it is bound already, a link-local address lacks its scope id, or
 *   the port space does not fit the device.
 * * -EAFNOSUPPORT: another family.
 * * -EPROTONOSUPPORT: the service ID of an AF_IB address is of another port space.
 * * -EADDRNOTAVAIL: not a local address; a wildcard meets other owners of the
 *   port; no port is free.
 * * -EADDRINUSE: another id has that address and port.
 * * -EACCES: a port below 1024, and the caller lacks CAP_NET_BIND_SERVICE.
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
