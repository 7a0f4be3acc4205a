/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_LOOKUP_H
#define CMX_LOOKUP_H

#include <linux/in.h>
#include <linux/in6.h>
#include <rdma/ib_addr.h>
#include "id.h"

/**
 * struct cmx_found - result of a lookup
 * @addr: link layer addresses, interface, hop limit
 * @src: the source address; selected by the route if it was a wildcard
 */
struct cmx_found {
	struct rdma_dev_addr addr;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} src;
};

/**
 * struct cmx_hop - key of a neighbour
 * @net: network namespace, without a reference; only to be compared
 * @ifindex: network interface
 * @family: address family; 0 matches no neighbour
 * @key: address of the neighbour, as in its primary_key
 */
struct cmx_hop {
	const struct net *net;
	int ifindex;
	u16 family;
	u8 key[sizeof(struct in6_addr)];
};

struct neighbour;
struct cmx_hop cmx_hop_of(const struct neighbour *n);
u32 cmx_hop_hash(const struct cmx_hop *hop);
bool cmx_hop_equal(const struct cmx_hop *a, const struct cmx_hop *b);
int cmx_lookup(struct cmx_priv *p, struct cmx_found *f, struct cmx_hop *hop);

#endif
