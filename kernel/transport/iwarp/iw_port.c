// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The network interface of an iWARP port
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <rdma/ib_cache.h>
#include "iw.h"

/*
 * Is @ndev the interface of the port, or one that shares its link as a VLAN? A VLAN that was moved
 * to another network namespace is not: some providers look up addresses in the initial one only.
 */
static bool iw_port_has_ndev(const struct ib_gid_attr *attr, const struct net_device *ndev)
{
	const struct net_device *own;
	bool same;

	rcu_read_lock();
	own = rcu_dereference(attr->ndev);
	if (own)
		same = own == ndev ||
		       (net_eq(dev_net(own), dev_net(ndev)) &&
			((is_vlan_dev(ndev) && vlan_dev_real_dev(ndev) == own) ||
			 (is_vlan_dev(own) && vlan_dev_real_dev(own) == ndev)));
	else
		/* before Linux 6.6, the GID names no interface, but begins with its address */
		same = !memcmp(attr->gid.raw, ndev->dev_addr, ETH_ALEN);
	rcu_read_unlock();
	return same;
}

/**
 * cmx_iw_port_gid() - get the GID of a port for a network interface
 * @device: the device
 * @port: the port, which has one GID
 * @ndev: the interface
 *
 * Return: the GID with a reference, or an ERR_PTR if the port does not belong to @ndev.
 */
const struct ib_gid_attr *cmx_iw_port_gid(struct ib_device *device, u32 port,
					  struct net_device *ndev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, port, 0);

	if (IS_ERR(attr) || iw_port_has_ndev(attr, ndev))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

/**
 * cmx_iw_device_is_in() - is the network interface of an iWARP device in a network namespace?
 * @device: the device
 * @net: the namespace
 *
 * Return: false also if the interface is not known, as before Linux 6.6.
 */
bool cmx_iw_device_is_in(struct ib_device *device, const struct net *net)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, rdma_start_port(device), 0);
	const struct net_device *own;
	bool same;

	if (IS_ERR(attr))
		return false;
	rcu_read_lock();
	own = rcu_dereference(attr->ndev);
	same = own && net_eq(dev_net(own), net);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return same;
}
