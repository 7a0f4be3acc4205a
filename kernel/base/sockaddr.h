/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SOCKADDR_H
#define CMX_SOCKADDR_H

#include <linux/socket.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <rdma/ib.h>

/* An address of a supported family. It is much smaller than struct sockaddr_storage. */
union cmx_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
};

/* Helpers for addresses of AF_INET, AF_INET6 and AF_IB: no locks, no I/O. */
bool cmx_addr_has_no_device(const struct sockaddr *addr);
bool cmx_addr_is_any(const struct sockaddr *addr);
bool cmx_addr_is_loopback(const struct sockaddr *addr);
bool cmx_addr_is_multicast(const struct sockaddr *addr);
bool cmx_addr_same_host(const struct sockaddr *a, const struct sockaddr *b); /* without ports */
bool cmx_addr_equal(const struct sockaddr *a, const struct sockaddr *b);     /* with ports */
__be16 cmx_addr_port(const struct sockaddr *addr);
u16 cmx_sib_port_space(struct sockaddr_ib *sib, u16 ps);
void cmx_addr_set_port(struct sockaddr *addr, __be16 port);

/**
 * cmx_addr_size() - get the size of an address
 * @addr: the address
 *
 * Each address of a consumer passes this check before anything else uses it. A host without IPv6
 * (ipv6.disable=1) must not use an IPv6 address: it has no tables of them, and the functions that
 * search these tables do not check that they exist.
 *
 * Return: the size in bytes, or 0 for an unsupported family.
 */
static inline size_t cmx_addr_size(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return ipv6_mod_enabled() ? sizeof(struct sockaddr_in6) : 0;
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

#endif
