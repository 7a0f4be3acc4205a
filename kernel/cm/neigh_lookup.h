/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_NEIGH_LOOKUP_H
#define CMX_NEIGH_LOOKUP_H

#include <rdma/ib_addr.h>
#include "sockaddr.h"
#include "watch.h"

/**
 * struct cmx_addr_result - result of a lookup
 * @addr: link layer addresses, interface, hop limit
 * @src: the source address; selected by the route if it was a wildcard
 * @key: the neighbour, if it is not known yet; without a family if the neighbour table is full
 */
struct cmx_addr_result {
	struct rdma_dev_addr addr;
	union cmx_addr src;
	struct cmx_watch_key key;
};

int cmx_neigh_lookup(struct cmx_id_private *id_priv, struct cmx_addr_result *f);

#endif
