/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_JOIN_H
#define CMX_JOIN_H

#include "mcast.h"

/* Caller must not hold the lock of the id. */
struct cmx_mcast *cmx_mcast_start_join(struct cmx_id_private *id_priv, const struct sockaddr *addr,
				       const struct cmx_mcast_attr *attr, void *context,
				       u64 user_data, u32 handle);
void cmx_mcast_end(struct cmx_mcast *mc);
void cmx_mcast_report_again(struct cmx_mcast *mc);

#endif
