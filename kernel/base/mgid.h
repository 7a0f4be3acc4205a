/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MGID_H
#define CMX_MGID_H

#include <linux/socket.h>
#include <rdma/ib_verbs.h>

int cmx_mgid_map_roce(const struct sockaddr *addr, enum ib_gid_type gid_type, union ib_gid *mgid);
int cmx_mgid_map_ib(const struct sockaddr *addr, const union ib_gid *broadcast, bool rdma_cm,
		    union ib_gid *mgid);

#endif
