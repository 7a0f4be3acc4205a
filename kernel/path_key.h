/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PATH_KEY_H
#define CMX_PATH_KEY_H

#include <rdma/ib_sa.h>

/**
 * struct cmx_path_key - what the SA was asked for; compared and hashed as bytes
 * @dgid: the peer
 * @sgid: the port
 * @service_id: it may have a QoS of its own
 * @mask: which of the fields were in the question
 * @pkey: partition
 * @qos_class: of IPv4: type of service
 * @traffic_class: of IPv6 and AF_IB
 * @sl: service level that was asked for
 * @mtu: MTU that was asked for
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

void cmx_path_key(struct cmx_path_key *key, const struct sa_path_rec *rec, ib_sa_comp_mask mask);
bool cmx_path_key_equal(const struct cmx_path_key *a, const struct cmx_path_key *b);
u32 cmx_path_key_hash(const struct cmx_path_key *key);

#endif
