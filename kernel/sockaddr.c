// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Questions about socket addresses. Families that the RDMA stack does not
 * know get the dull answer: no size, no port, neither any nor loopback.
 */
#include <linux/in.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <rdma/rdma_user_cm.h>
#include "sockaddr.h"

static const struct sockaddr_in *in4(const struct sockaddr *addr)
{
	return (const struct sockaddr_in *)addr;
}

static const struct sockaddr_in6 *in6(const struct sockaddr *addr)
{
	return (const struct sockaddr_in6 *)addr;
}

static const struct sockaddr_ib *sib(const struct sockaddr *addr)
{
	return (const struct sockaddr_ib *)addr;
}

/**
 * cmx_addr_zero() - whether an address names no host
 * @addr: the address
 */
bool cmx_addr_zero(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_zeronet(in4(addr)->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_any(&in6(addr)->sin6_addr);
	case AF_IB:
		return ib_addr_any(&sib(addr)->sib_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_loopback() - whether an address is one of the loopback addresses
 * @addr: the address
 */
bool cmx_addr_loopback(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_loopback(in4(addr)->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_loopback(&in6(addr)->sin6_addr);
	case AF_IB:
		return ib_addr_loopback(&sib(addr)->sib_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_any() - whether an address leads to no particular RDMA device
 * @addr: the address
 *
 * No RDMA device owns a loopback address, so that counts as a wildcard.
 */
bool cmx_addr_any(const struct sockaddr *addr)
{
	return cmx_addr_zero(addr) || cmx_addr_loopback(addr);
}

/**
 * cmx_addr_multicast() - whether an address is that of an IP multicast group
 * @addr: the address
 */
bool cmx_addr_multicast(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_multicast(in4(addr)->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_is_multicast(&in6(addr)->sin6_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_same_host() - whether two addresses are equal, ports apart
 * @a: one address
 * @b: the other
 *
 * IPv6 link-local addresses are equal only on the same link.
 */
bool cmx_addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;

	switch (a->sa_family) {
	case AF_INET:
		return in4(a)->sin_addr.s_addr == in4(b)->sin_addr.s_addr;
	case AF_INET6:
		if (!ipv6_addr_equal(&in6(a)->sin6_addr, &in6(b)->sin6_addr))
			return false;
		return !(ipv6_addr_type(&in6(a)->sin6_addr) & IPV6_ADDR_LINKLOCAL) ||
		       in6(a)->sin6_scope_id == in6(b)->sin6_scope_id;
	case AF_IB:
		return !ib_addr_cmp(&sib(a)->sib_addr, &sib(b)->sib_addr);
	default:
		return false;
	}
}

/**
 * cmx_addr_equal() - whether two addresses are equal, with their ports
 * @a: one address
 * @b: the other
 */
bool cmx_addr_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	return cmx_addr_same_host(a, b) && cmx_addr_port(a) == cmx_addr_port(b);
}

/**
 * cmx_addr_port() - the port of an address
 * @addr: the address
 */
__be16 cmx_addr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return in4(addr)->sin_port;
	case AF_INET6:
		return in6(addr)->sin6_port;
	case AF_IB:
		return htons((u16)be64_to_cpu(sib(addr)->sib_sid & sib(addr)->sib_sid_mask));
	default:
		return 0;
	}
}

/**
 * cmx_addr_set_port() - change the port of an address
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
 * cmx_sib_port_space() - find out the port space of an AF_IB address
 * @sib: the address. As far as the mask leaves it open, its service ID gets the
 *	port space, and says it from then on
 * @ps: port space of the id: RDMA_PS_TCP and RDMA_PS_UDP want their own,
 *	RDMA_PS_IB takes any of the three
 *
 * Return: an rdma_ucm_port_space, or 0 when the service ID is of none of them.
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
