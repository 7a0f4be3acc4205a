/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The user ABI of rdma_cmx: rules, which set options of ids from outside.
 */
#ifndef RDMA_CMX_RULE_H
#define RDMA_CMX_RULE_H

#include <linux/types.h>
#include <rdma/cmx_types.h>

/** define CMX_MAX_RULES - maximum number of rules of a network namespace */
#define CMX_MAX_RULES 128

/** define CMX_RULE_OPTIONS - maximum number of options of a rule */
#define CMX_RULE_OPTIONS 8

/** enum cmx_rule_match - conditions of a rule */
enum cmx_rule_match {
	/** @CMX_RULE_SRC: the local address begins with @src */
	CMX_RULE_SRC = 1 << 0,
	/** @CMX_RULE_DST: the address of the peer begins with @dst */
	CMX_RULE_DST = 1 << 1,
	/**
	 * @CMX_RULE_PORT: the port of the service is @port_min to @port_max. An active id connects
	 * to that port, and the id of a request has it as its local port
	 */
	CMX_RULE_PORT = 1 << 2,
	/** @CMX_RULE_DEVICE: the RDMA device has the name @device */
	CMX_RULE_DEVICE = 1 << 3,
	/** @CMX_RULE_PORT_NUM: the port of the RDMA device is @port_num */
	CMX_RULE_PORT_NUM = 1 << 4,
	/** @CMX_RULE_PS: the port space is @ps */
	CMX_RULE_PS = 1 << 5,
	/** @CMX_RULE_UID: the file of the id was opened by @uid */
	CMX_RULE_UID = 1 << 6,
	/** @CMX_RULE_CGROUP: the file of the id was opened in @cgroup or below it */
	CMX_RULE_CGROUP = 1 << 7,
	/** @CMX_RULE_ULP: the id belongs to the kernel module @ulp */
	CMX_RULE_ULP = 1 << 8,
};

/** enum cmx_rule_flags - flags of a rule */
enum cmx_rule_flags {
	/**
	 * @CMX_RULE_F_FORCE: the values replace those that the consumer sets. In the initial
	 * network namespace they also replace those of the rules of other namespaces
	 */
	CMX_RULE_F_FORCE = 1 << 0,
};

/**
 * struct cmx_rule - options of the ids that meet all conditions
 * @match: enum cmx_rule_match, the conditions; 0: the rule is for all ids
 * @flags: enum cmx_rule_flags
 * @src: an IPv6 address, an IPv4 address as ::ffff:0:0/96, or the GID of an AF_IB address
 * @dst: likewise
 * @src_len: number of bits of @src that are compared, 0 to 128
 * @dst_len: number of bits of @dst that are compared, 0 to 128
 * @ps: enum cmx_ps
 * @port_min: lowest port
 * @port_max: highest port
 * @port_num: port of the RDMA device, from 1
 * @uid: user, in the user namespace of the caller
 * @cgroup: inode number of a folder of cgroup v2, whose memory controller is enabled
 * @device: name of an RDMA device, with a terminating zero
 * @ulp: name of a kernel module, with a terminating zero
 * @num_options: number of @options, 1 to CMX_RULE_OPTIONS
 * @reserved: 0
 * @options: the options; their flags are 0. RDMA_OPTION_IB_PATH, REUSEADDR, AFONLY and BIND_DEVICE
 *	cannot be options of a rule
 *
 * Fields of conditions that are not in @match are 0. A condition is not met while what it compares
 * is not known. Of several rules that set an option, the first one counts.
 */
struct cmx_rule {
	__u32 match;
	__u32 flags;
	__u8 src[16];
	__u8 dst[16];
	__u8 src_len;
	__u8 dst_len;
	__u16 ps;
	__u16 port_min;
	__u16 port_max;
	__u32 port_num;
	__u32 uid;
	__aligned_u64 cgroup;
	char device[64];
	char ulp[64];
	__u32 num_options;
	__u32 reserved;
	struct cmx_id_option options[CMX_RULE_OPTIONS];
};

#endif
