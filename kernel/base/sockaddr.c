// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Helpers for socket addresses. An address of an unsupported family has size 0 and port 0, and is
 * neither a wildcard nor a loopback address.
 *
 * On a host without IPv6, IPv6 is unsupported: cmx_addr_size() is 0, and no other function is
 * called with such an address.
 */
#include <linux/in.h>
#include <net/ipv6.h>
#include <rdma/rdma_user_cm.h>
#include "sockaddr.h"

static const struct sockaddr_in *addr_to_sin(const struct sockaddr *addr)
{
	return (const struct sockaddr_in *)addr;
}

static const struct sockaddr_in6 *addr_to_sin6(const struct sockaddr *addr)
{
	return (const struct sockaddr_in6 *)addr;
}

static const struct sockaddr_ib *addr_to_sib(const struct sockaddr *addr)
{
	return (const struct sockaddr_ib *)addr;
}

/**
 * cmx_addr_is_any() - check for an unspecified address
 * @addr: the address
 *
 * Return: true for the all-zero address of the family.
 */
bool cmx_addr_is_any(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_zeronet(addr_to_sin(addr)->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_any(&addr_to_sin6(addr)->sin6_addr);
	case AF_IB:
		return ib_addr_any(&addr_to_sib(addr)->sib_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_is_loopback() - check for a loopback address
 * @addr: the address
 *
 * Return: true for a loopback address.
 */
bool cmx_addr_is_loopback(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_loopback(addr_to_sin(addr)->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_loopback(&addr_to_sin6(addr)->sin6_addr);
	case AF_IB:
		return ib_addr_loopback(&addr_to_sib(addr)->sib_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_has_no_device() - check for an address that selects no particular RDMA device
 * @addr: the address
 *
 * A loopback address counts as a wildcard, because no RDMA device owns it.
 *
 * Return: true for an unspecified or loopback address.
 */
bool cmx_addr_has_no_device(const struct sockaddr *addr)
{
	return cmx_addr_is_any(addr) || cmx_addr_is_loopback(addr);
}

/**
 * cmx_addr_is_multicast() - check for the address of an IP multicast group
 * @addr: the address
 *
 * Return: true for an IPv4 or IPv6 multicast address.
 */
bool cmx_addr_is_multicast(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_multicast(addr_to_sin(addr)->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_is_multicast(&addr_to_sin6(addr)->sin6_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_same_host() - compare two addresses without their ports
 * @a: one address
 * @b: the other address
 *
 * IPv6 link-local addresses are equal only if their scope IDs are equal, too.
 *
 * Return: true if the addresses are equal.
 */
bool cmx_addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;

	switch (a->sa_family) {
	case AF_INET:
		return addr_to_sin(a)->sin_addr.s_addr == addr_to_sin(b)->sin_addr.s_addr;
	case AF_INET6:
		if (!ipv6_addr_equal(&addr_to_sin6(a)->sin6_addr, &addr_to_sin6(b)->sin6_addr))
			return false;
		return !(ipv6_addr_type(&addr_to_sin6(a)->sin6_addr) & IPV6_ADDR_LINKLOCAL) ||
		       addr_to_sin6(a)->sin6_scope_id == addr_to_sin6(b)->sin6_scope_id;
	case AF_IB:
		return !ib_addr_cmp(&addr_to_sib(a)->sib_addr, &addr_to_sib(b)->sib_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_equal() - compare two addresses and their ports
 * @a: one address
 * @b: the other address
 *
 * Return: true if addresses and ports are equal.
 */
bool cmx_addr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	return cmx_addr_same_host(a, b) && cmx_addr_port(a) == cmx_addr_port(b);
}

/**
 * cmx_addr_port() - get the port of an address
 * @addr: the address
 *
 * Return: the port.
 */
__be16 cmx_addr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return addr_to_sin(addr)->sin_port;
	case AF_INET6:
		return addr_to_sin6(addr)->sin6_port;
	case AF_IB:
		return htons((u16)be64_to_cpu(addr_to_sib(addr)->sib_sid &
					      addr_to_sib(addr)->sib_sid_mask));
	default:
		return 0;
	}
}

/**
 * cmx_addr_set_port() - set the port of an address
 * @addr: the address
 * @port: the new port
 */
void cmx_addr_set_port(struct sockaddr *addr, __be16 port)
{
	struct sockaddr_ib *ib;
	u64 sid;

	switch (addr->sa_family) {
	case AF_INET:
		((struct sockaddr_in *)addr)->sin_port = port;
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)addr)->sin6_port = port;
		break;
	case AF_IB:
		ib = (struct sockaddr_ib *)addr;
		sid = be64_to_cpu(ib->sib_sid & ib->sib_sid_mask);
		ib->sib_sid = cpu_to_be64((sid & ~0xffffULL) | ntohs(port));
		ib->sib_sid_mask = cpu_to_be64(~0ULL);
		break;
	}
}

/**
 * cmx_sib_port_space() - determine the port space of an AF_IB address
 * @sib: the address. The bits of the port space that its mask leaves open are filled in, in the
 *	service ID and in the mask
 * @ps: port space of the id: RDMA_PS_TCP and RDMA_PS_UDP match only themselves,
 *	RDMA_PS_IB matches all three
 *
 * Return: an rdma_ucm_port_space, or 0 if the service ID matches none of them.
 */
u16 cmx_sib_port_space(struct sockaddr_ib *sib, u16 ps)
{
	static const u16 spaces[] = { RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP };
	u64 mask = be64_to_cpu(sib->sib_sid_mask) & ~0xffffULL;
	u64 sid = be64_to_cpu(sib->sib_sid) & mask;
	u64 space;
	int i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		space = (u64)spaces[i] << 16;
		if ((ps != RDMA_PS_IB && ps != spaces[i]) || sid != (space & mask))
			continue;
		sib->sib_sid = cpu_to_be64(space | ntohs(cmx_addr_port((struct sockaddr *)sib)));
		sib->sib_sid_mask |= cpu_to_be64(~0xffffULL);
		return spaces[i];
	}
	return 0;
}
