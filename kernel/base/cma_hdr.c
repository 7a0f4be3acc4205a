// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wire format: the header of IBTA annex A11 that precedes the private data of a REQ or SIDR REQ,
 * and the service IDs of the RDMA IP CM service. Both must match every other RDMA CM.
 */
#include <linux/build_bug.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include "sockaddr.h"
#include "cma_hdr.h"

/**
 * struct cma_hdr - header of a REQ or SIDR REQ
 * @version: major and minor version, 0
 * @ip_version: 4 or 6 in the upper four bits, 0 in the lower four bits
 * @port: port of the sender
 * @src: address of the sender; an IPv4 address is in the last four bytes
 * @dst: address of the receiver
 */
struct cma_hdr {
	u8 version;
	u8 ip_version;
	__be16 port;
	struct in6_addr src;
	struct in6_addr dst;
};

static_assert(sizeof(struct cma_hdr) == CMX_CMA_HDR_LEN);

/**
 * cmx_cma_hdr_len() - get the length of the header in a request
 * @src: address of the sender
 *
 * Return: the length in bytes; 0 for AF_IB, because the request itself identifies the sender.
 */
u8 cmx_cma_hdr_len(const struct sockaddr *src)
{
	return src->sa_family == AF_IB ? 0 : CMX_CMA_HDR_LEN;
}

/**
 * cmx_cma_hdr_pack() - write the header
 * @hdr: %CMX_CMA_HDR_LEN bytes, any alignment
 * @src: address and port of the sender
 * @dst: address of the receiver
 *
 * Return: 0, or -EAFNOSUPPORT if the addresses are not both IPv4 or both IPv6.
 */
int cmx_cma_hdr_pack(u8 *hdr, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct cma_hdr h = {};

	if (src->sa_family != dst->sa_family)
		return -EAFNOSUPPORT;

	switch (src->sa_family) {
	case AF_INET:
		h.ip_version = 4 << 4;
		h.src.s6_addr32[3] = ((const struct sockaddr_in *)src)->sin_addr.s_addr;
		h.dst.s6_addr32[3] = ((const struct sockaddr_in *)dst)->sin_addr.s_addr;
		break;
	case AF_INET6:
		h.ip_version = 6 << 4;
		h.src = ((const struct sockaddr_in6 *)src)->sin6_addr;
		h.dst = ((const struct sockaddr_in6 *)dst)->sin6_addr;
		break;
	default:
		return -EAFNOSUPPORT;
	}
	h.port = cmx_addr_port(src);
	memcpy(hdr, &h, sizeof(h));
	return 0;
}

static void cma_hdr_unpack_addr(struct sockaddr_storage *addr, sa_family_t family,
				const struct in6_addr *ip, __be16 port)
{
	memset(addr, 0, sizeof(*addr));
	addr->ss_family = family;
	if (family == AF_INET)
		((struct sockaddr_in *)addr)->sin_addr.s_addr = ip->s6_addr32[3];
	else
		((struct sockaddr_in6 *)addr)->sin6_addr = *ip;
	cmx_addr_set_port((struct sockaddr *)addr, port);
}

/**
 * cmx_cma_hdr_unpack() - read the header of a received request
 * @hdr: %CMX_CMA_HDR_LEN bytes, any alignment
 * @local_port: destination port of the request
 * @local: receives the address of the receiver
 * @peer: receives the address of the sender
 *
 * Any host can send a header with IPv6 addresses, even over IPv4. A receiver without IPv6 must not
 * look these addresses up, see cmx_addr_size().
 *
 * Return: 0, -EINVAL for an unknown version, or -EAFNOSUPPORT for an unknown IP version or one that
 * this host does not have. @local and @peer are written only on success.
 */
int cmx_cma_hdr_unpack(const u8 *hdr, __be16 local_port, struct sockaddr_storage *local,
		       struct sockaddr_storage *peer)
{
	sa_family_t family;
	struct cma_hdr h;

	memcpy(&h, hdr, sizeof(h));
	if (h.version)
		return -EINVAL;

	switch (h.ip_version >> 4) {
	case 4:
		family = AF_INET;
		break;
	case 6:
		if (!ipv6_mod_enabled())
			return -EAFNOSUPPORT;
		family = AF_INET6;
		break;
	default:
		return -EAFNOSUPPORT;
	}
	cma_hdr_unpack_addr(local, family, &h.dst, local_port);
	cma_hdr_unpack_addr(peer, family, &h.src, h.port);
	return 0;
}

/**
 * cmx_service_id() - get the service ID of a port
 * @ps: port space, an rdma_ucm_port_space
 * @addr: address with the port; an AF_IB address contains the service ID
 *
 * Return: the service ID.
 */
__be64 cmx_service_id(u16 ps, const struct sockaddr *addr)
{
	if (addr->sa_family == AF_IB)
		return ((const struct sockaddr_ib *)addr)->sib_sid;
	return cpu_to_be64((u64)ps << 16 | ntohs(cmx_addr_port(addr)));
}

/**
 * cmx_service_id_ps() - get the port space of a service ID
 * @service_id: the service ID
 *
 * Return: the port space.
 */
u16 cmx_service_id_ps(__be64 service_id)
{
	return be64_to_cpu(service_id) >> 16;
}

/**
 * cmx_service_id_port() - get the port of a service ID
 * @service_id: the service ID
 *
 * Return: the port.
 */
__be16 cmx_service_id_port(__be64 service_id)
{
	return htons((u16)be64_to_cpu(service_id));
}
