/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PATH_KEY_H
#define CMX_PATH_KEY_H

#include <rdma/ib_sa.h>

/**
 * struct cmx_path_key - key of a path query; compared and hashed as bytes
 * @dgid: GID of the peer
 * @sgid: GID of the local port
 * @service_id: service ID, which may have a QoS of its own
 * @mask: fields that were in the query
 * @pkey: partition
 * @qos_class: type of service of IPv4
 * @traffic_class: traffic class of IPv6 and AF_IB
 * @sl: requested service level
 * @mtu: requested MTU
 * @pad: zero
 */
struct cmx_path_key {
	union ib_gid dgid;
	union ib_gid sgid;
	__be64 service_id;
	ib_sa_comp_mask mask;
	__be16 pkey;
	__be16 qos_class;
	u8 traffic_class;
	u8 sl;
	u8 mtu;
	u8 pad;
};

void cmx_path_key_init(struct cmx_path_key *key, const struct sa_path_rec *rec,
		       ib_sa_comp_mask mask);
bool cmx_path_key_equal(const struct cmx_path_key *a, const struct cmx_path_key *b);
u32 cmx_path_key_hash(const struct cmx_path_key *key);

#endif
