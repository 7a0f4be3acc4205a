/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_NEIGH_LOOKUP_H
#define CMX_NEIGH_LOOKUP_H

#include <linux/in.h>
#include <linux/in6.h>
#include <rdma/ib_addr.h>
#include "id.h"

/**
 * struct cmx_addr_result - result of a lookup
 * @addr: link layer addresses, interface, hop limit
 * @src: the source address; selected by the route if it was a wildcard
 */
struct cmx_addr_result {
	struct rdma_dev_addr addr;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} src;
};

/**
 * struct cmx_neigh_key - key of a neighbour
 * @net: network namespace, without a reference; only to be compared
 * @ifindex: network interface
 * @family: address family; 0 matches no neighbour
 * @key: address of the neighbour, as in its primary_key
 */
struct cmx_neigh_key {
	const struct net *net;
	int ifindex;
	u16 family;
	u8 key[sizeof(struct in6_addr)];
};

struct neighbour;
struct cmx_neigh_key cmx_neigh_key_of(const struct neighbour *n);
u32 cmx_neigh_key_hash(const struct cmx_neigh_key *key);
bool cmx_neigh_key_equal(const struct cmx_neigh_key *a, const struct cmx_neigh_key *b);
int cmx_neigh_lookup(struct cmx_id_private *id_priv, struct cmx_addr_result *f,
		     struct cmx_neigh_key *key);

#endif
