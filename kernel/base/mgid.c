// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mapping of multicast groups to multicast GIDs.
 *
 * On RoCE a receiver compares the MGID with the destination address of the packet: of the IP header
 * for RoCE v2 (IPv4 as an IPv4-mapped address), and of the GRH for RoCE v1. On InfiniBand the MGID
 * identifies the group at the SA, and IP addresses are mapped as in IPoIB.
 */
#include <linux/errno.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <rdma/ib_addr.h>
#include "mgid.h"
#include "sockaddr.h"

/**
 * cmx_mgid_map_roce() - map an IP group to its multicast GID
 * @addr: the group
 * @gid_type: %IB_GID_TYPE_ROCE or %IB_GID_TYPE_ROCE_UDP_ENCAP
 * @mgid: the result
 *
 * * IPv6: the address of the group, for RoCE v1 and v2.
 * * IPv4 with RoCE v2: the IPv4-mapped address, ::ffff:a.b.c.d.
 * * IPv4 with RoCE v1: ff0e::ffff:a.b.c.d.
 *
 * Return: 0, -EINVAL if @addr is not a multicast address, or -EAFNOSUPPORT for
 * other families.
 */
int cmx_mgid_map_roce(const struct sockaddr *addr, enum ib_gid_type gid_type, union ib_gid *mgid)
{
	if (rdma_ip2gid((struct sockaddr *)addr, mgid))
		return -EAFNOSUPPORT;
	if (!cmx_addr_is_multicast(addr))
		return -EINVAL;
	if (addr->sa_family == AF_INET && gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
		mgid->raw[0] = 0xff;
		mgid->raw[1] = 0x0e;
	}
	return 0;
}

/* ff1x:a01b: the SA has assigned this MGID, to this node or to another one. */
static bool mgid_is_sa_assigned(const struct in6_addr *ip)
{
	return (ip->s6_addr32[0] & htonl(0xfff0ffff)) == htonl(0xff10a01b);
}

/**
 * cmx_mgid_map_ib() - map a group to its multicast GID on InfiniBand
 * @addr: the group
 * @broadcast: MGID of the partition's broadcast group, which gives scope and P_Key
 * @rdma_cm: use the signature of the RDMA CM (for RDMA_PS_UDP) instead of the signature of IPoIB
 * @mgid: the result
 *
 * * IPv4: ff1s:401b:pppp::a.b.c.d, without the upper four bits of the address.
 * * IPv6: ff1s:601b:pppp and the last ten bytes of the address.
 * * AF_IB, and IPv6 of the form ff1x:a01b::/32: the address itself.
 * * The wildcard address of each family: zero, which requests an MGID from the SA.
 *
 * With @rdma_cm the signature is 4001 instead of 401b, and 6001 instead of 601b.
 *
 * Return: 0, -EINVAL if @addr is not a multicast address, or -EAFNOSUPPORT for
 * other families.
 */
int cmx_mgid_map_ib(const struct sockaddr *addr, const union ib_gid *broadcast, bool rdma_cm,
		    union ib_gid *mgid)
{
	const struct in6_addr *ip6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;
	u8 bcast[4 + sizeof(*mgid)] = {}, hw[4 + sizeof(*mgid)];

	if (!cmx_addr_size(addr))
		return -EAFNOSUPPORT;
	if (cmx_addr_is_any(addr)) {
		memset(mgid, 0, sizeof(*mgid));
		return 0;
	}
	if (addr->sa_family == AF_IB) {
		memcpy(mgid, &((const struct sockaddr_ib *)addr)->sib_addr, sizeof(*mgid));
		return mgid->raw[0] == 0xff ? 0 : -EINVAL;
	}
	if (!cmx_addr_is_multicast(addr))
		return -EINVAL;
	if (addr->sa_family == AF_INET6 && mgid_is_sa_assigned(ip6)) {
		memcpy(mgid, ip6, sizeof(*mgid));
		return 0;
	}

	memcpy(bcast + 4, broadcast, sizeof(*broadcast));
	if (addr->sa_family == AF_INET6)
		ipv6_ib_mc_map(ip6, bcast, hw);
	else
		ip_ib_mc_map(((const struct sockaddr_in *)addr)->sin_addr.s_addr, bcast, hw);
	memcpy(mgid, hw + 4, sizeof(*mgid));
	if (rdma_cm)
		mgid->raw[3] = 0x01;
	return 0;
}
