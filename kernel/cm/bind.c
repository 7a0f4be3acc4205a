// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binding an id to a local address, to the device that owns the address, and to a port.
 */
#include <linux/export.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include "attach.h"
#include "bind.h"
#include "compat.h"
#include "device.h"
#include "ndev.h"
#include "port_space.h"
#include "rule.h"
#include "sockaddr.h"
#include "watch.h"

/* AF_IB addresses have no network interface, and loopback addresses are on lo, in no VRF. */
static int bind_device_check(const struct cmx_id_private *id_priv, const struct sockaddr *addr)
{
	if (!id_priv->opt.bind_device)
		return 0;
	if (addr->sa_family == AF_IB)
		return -EINVAL;
	return cmx_addr_is_loopback(addr) ? -EADDRNOTAVAIL : 0;
}

/*
 * A link-local address is valid on one link only, which its scope ID names, or else the option
 * BIND_DEVICE.
 */
static int bind_scope_set(struct cmx_id_private *id_priv)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)cmx_src(id_priv);
	int bind_device = id_priv->opt.bind_device;

	if (in6->sin6_family != AF_INET6 ||
	    !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	if (!in6->sin6_scope_id)
		in6->sin6_scope_id = bind_device;
	if (!in6->sin6_scope_id ||
	    !cmx_ndev_index_is_in(cmx_net(id_priv), in6->sin6_scope_id, bind_device))
		return -EINVAL;
	id_priv->id.route.addr.dev_addr.bound_dev_if = in6->sin6_scope_id;
	return 0;
}

static bool bind_afonly_default(const struct cmx_id_private *id_priv, sa_family_t family)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (family == AF_INET6)
		return cmx_net(id_priv)->ipv6.sysctl.bindv6only;
#endif
	return family == AF_INET;
}

static void bind_addr_release(struct cmx_id_private *id_priv)
{
	struct rdma_addr *addr = &id_priv->id.route.addr;

	cmx_port_release(id_priv);
	cmx_unwatch(id_priv);
	cmx_device_detach(id_priv);
	/* a request that has found this listener reads the network namespace without the lock */
	memset(addr, 0, offsetof(struct rdma_addr, dev_addr.net));
	memset_after(addr, 0, dev_addr.net);
	id_priv->id.port_num = 0;
	if (!cmx_opt_is_set(id_priv, CMX_OPT_AFONLY))
		id_priv->opt.afonly = 0;
}

/**
 * cmx_bind_undo() - undo cmx_bind_dst()
 * @id_priv: the id, in CMX_BOUND. Caller must hold its lock
 */
void cmx_bind_undo(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	if (!cmx_state_move(id_priv, CMX_IN(BOUND), CMX_IDLE))
		bind_addr_release(id_priv);
}

/**
 * cmx_bind_dst() - bind an id whose peer may be known already
 * @id_priv: the id. Caller must hold its lock
 * @addr: local address
 * @dst: peer address of the same family, or NULL. If all ports are in use, it decides whether the
 *	id can share one
 *
 * Return: as cmx_bind_addr().
 */
int cmx_bind_dst(struct cmx_id_private *id_priv, const struct sockaddr *addr,
		 const struct sockaddr *dst)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!cmx_addr_size(addr))
		return -EAFNOSUPPORT;
	if (id_priv->state != CMX_IDLE)
		return -EINVAL;

	ret = bind_device_check(id_priv, addr);
	if (ret)
		return ret;
	memcpy(cmx_src(id_priv), addr, cmx_addr_size(addr));
	ret = bind_scope_set(id_priv);
	if (ret)
		goto err;
	if (dst)
		memcpy(cmx_dst(id_priv), dst, cmx_addr_size(dst));
	cmx_dst(id_priv)->sa_family = addr->sa_family;
	if (!cmx_opt_is_set(id_priv, CMX_OPT_AFONLY))
		id_priv->opt.afonly = bind_afonly_default(id_priv, addr->sa_family);

	if (!cmx_addr_has_no_device(addr)) {
		ret = cmx_attach_src(id_priv);
		if (ret)
			goto err;
	}
	if (addr->sa_family == AF_IB &&
	    !cmx_sib_port_space((void *)cmx_src(id_priv), id_priv->id.ps)) {
		ret = -EPROTONOSUPPORT;
		goto err;
	}
	ret = cmx_port_reserve(id_priv);
	if (ret)
		goto err;
	cmx_rule_apply(id_priv, id_priv);
	return cmx_state_move(id_priv, CMX_IN(IDLE), CMX_BOUND);

err:
	bind_addr_release(id_priv);
	return ret;
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
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed:
 *
 * * -EINVAL: the id is bound already; a link-local address lacks its scope ID, or has one outside
 *   BIND_DEVICE; BIND_DEVICE is set and the address is of AF_IB; or the port space does not fit the
 *   device.
 * * -EAFNOSUPPORT: unsupported address family, as IPv6 on a host without it.
 * * -EPROTONOSUPPORT: the service ID of an AF_IB address belongs to another port space.
 * * -EADDRNOTAVAIL: the address is not local, or not on BIND_DEVICE; the port has other owners and
 *   one of the addresses is a wildcard; or no port is free.
 * * -EADDRINUSE: another id owns that address and port, or the port has 1,024 owners.
 * * -EACCES: the port is below 1024, and the caller lacks CAP_NET_BIND_SERVICE.
 * * -ENODEV: no RDMA device has that address.
 * * -ENOMEM: out of memory.
 */
int cmx_bind_addr(struct cmx_id *id, const struct sockaddr *addr)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	mutex_lock(&id_priv->lock);
	ret = cmx_bind_dst(id_priv, addr, NULL);
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_bind_addr);

/**
 * cmx_restrict_node_type() - restrict an id to devices of one node type
 * @id: the id, not bound to a device yet
 * @node_type: %RDMA_NODE_IB_CA, which includes RoCE devices; %RDMA_NODE_RNIC; or
 *	%RDMA_NODE_UNSPECIFIED for any type
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL for another type; -EALREADY if the id has a device, or is neither new nor
 * bound.
 */
int cmx_restrict_node_type(struct cmx_id *id, u8 node_type)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret = 0;

	if (node_type != RDMA_NODE_UNSPECIFIED && node_type != RDMA_NODE_IB_CA &&
	    node_type != RDMA_NODE_RNIC)
		return -EINVAL;
	mutex_lock(&id_priv->lock);
	if (id_priv->dev || !(BIT(id_priv->state) & (CMX_IN(IDLE) | CMX_IN(BOUND))))
		ret = -EALREADY;
	else
		id_priv->node_type = node_type;
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_restrict_node_type);
