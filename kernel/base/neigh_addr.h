/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_NEIGH_ADDR_H
#define CMX_NEIGH_ADDR_H

#include <net/neighbour.h>

bool cmx_neigh_addr_get(struct neighbour *n, u8 *lladdr);

#endif
