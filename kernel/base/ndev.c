// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finding the network interface of an address. Interfaces of two VRFs can have the same address,
 * and so can an interface of a VRF and an interface outside of all VRFs.
 */
#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/l3mdev.h>
#include "ndev.h"

static bool ndev_has_addr4(const struct net_device *ndev, __be32 addr)
{
	const struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			if (ifa->ifa_local == addr)
				return true;
	return false;
}

static bool ndev_has_addr6(struct net_device *ndev, const struct in6_addr *addr)
{
	return ipv6_mod_enabled() && ipv6_chk_addr(dev_net(ndev), addr, ndev, 1);
}

static bool ndev_has_addr(struct net_device *ndev, const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET)
		return ndev_has_addr4(ndev, ((struct sockaddr_in *)addr)->sin_addr.s_addr);
	return ndev_has_addr6(ndev, &((struct sockaddr_in6 *)addr)->sin6_addr);
}

/**
 * cmx_ndev_is_in() - check whether a network interface matches BIND_DEVICE
 * @ndev: the interface
 * @bind_device: index of an interface or of a VRF; 0: every interface matches
 *
 * Context: Caller must hold the RCU read lock.
 * Return: true if it is that interface, or an interface of that VRF.
 */
bool cmx_ndev_is_in(const struct net_device *ndev, int bind_device)
{
	return !bind_device || ndev->ifindex == bind_device ||
	       l3mdev_master_ifindex_rcu(ndev) == bind_device;
}

/**
 * cmx_ndev_index_is_in() - check whether the index of a network interface matches BIND_DEVICE
 * @net: network namespace
 * @ifindex: index of the interface
 * @bind_device: as for cmx_ndev_is_in()
 *
 * Return: as for cmx_ndev_is_in().
 */
bool cmx_ndev_index_is_in(struct net *net, int ifindex, int bind_device)
{
	return !bind_device || ifindex == bind_device ||
	       l3mdev_master_ifindex_by_index(net, ifindex) == bind_device;
}

/**
 * cmx_ndev_find() - find the network interface that has an IP address
 * @net: network namespace
 * @bind_device: index of the interface, or of the VRF that it belongs to. 0: any interface. One
 *	that belongs to no VRF is preferred
 * @addr: the address, of IPv4 or IPv6
 *
 * Context: Caller must hold the RCU read lock.
 * Return: the interface, or NULL.
 */
struct net_device *cmx_ndev_find(struct net *net, int bind_device, const struct sockaddr *addr)
{
	struct net_device *ndev, *in_vrf = NULL;

	/* The kernel's table of IPv4 addresses is fast, but may return an interface of a VRF. */
	if (addr->sa_family == AF_INET && !bind_device) {
		ndev = __ip_dev_find(net, ((struct sockaddr_in *)addr)->sin_addr.s_addr, false);
		if (!ndev || !l3mdev_master_ifindex_rcu(ndev))
			return ndev;
	}
	for_each_netdev_rcu(net, ndev) {
		if (!cmx_ndev_is_in(ndev, bind_device) || !ndev_has_addr(ndev, addr))
			continue;
		if (bind_device || !l3mdev_master_ifindex_rcu(ndev))
			return ndev;
		in_vrf = in_vrf ?: ndev;
	}
	return in_vrf;
}

/**
 * cmx_ndev_copy_link() - copy type, index and addresses of a network interface to an RDMA address
 * @addr: the address
 * @ndev: the interface
 *
 * Context: Caller must hold a reference to the interface, or the RCU read lock.
 */
void cmx_ndev_copy_link(struct rdma_dev_addr *addr, const struct net_device *ndev)
{
	addr->dev_type = ndev->type;
	addr->bound_dev_if = ndev->ifindex;
	memcpy(addr->src_dev_addr, ndev->dev_addr, MAX_ADDR_LEN);
	memcpy(addr->broadcast, ndev->broadcast, MAX_ADDR_LEN);
}
