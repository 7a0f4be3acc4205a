// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The structs of the user ABI have the same layout in 32-bit and 64-bit programs. "make check"
 * compiles this file for both; it is never linked.
 */
#include <stddef.h>
#include <rdma/cmx_ioctl.h>

#define SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), "size of " #type)
#define OFFSET(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), "place of " #type "." #member)

SIZE(cmx_id_info, 600);
OFFSET(cmx_id_info, port_num, 12);
OFFSET(cmx_id_info, pkey, 16);
OFFSET(cmx_id_info, sgid, 24);
OFFSET(cmx_id_info, src_addr, 56);
OFFSET(cmx_id_info, dst_addr, 184);
OFFSET(cmx_id_info, path, 312);
OFFSET(cmx_id_info, init_attr, 456);

SIZE(cmx_ece_info, 24);
OFFSET(cmx_ece_info, remote, 8);
OFFSET(cmx_ece_info, flags, 16);
OFFSET(cmx_ece_info, policy, 20);

SIZE(cmx_mcast_attr, 28);
OFFSET(cmx_mcast_attr, pkey, 16);
OFFSET(cmx_mcast_attr, sl, 20);
OFFSET(cmx_mcast_attr, reserved, 24);

SIZE(cmx_event_resp, 632);
OFFSET(cmx_event_resp, id, 8);
OFFSET(cmx_event_resp, status, 20);
OFFSET(cmx_event_resp, ece, 32);
OFFSET(cmx_event_resp, param, 40);
OFFSET(cmx_event_resp, rtr, 344);
OFFSET(cmx_event_resp, rts, 488);

SIZE(cmx_event_sizes, 8);
OFFSET(cmx_event_sizes, info, 4);
OFFSET(cmx_event_record, info, 632);

SIZE(cmx_id_option, 16);
SIZE(cmx_id_record, 432);
OFFSET(cmx_id_record, trace_id, 8);
OFFSET(cmx_id_record, comm, 64);
OFFSET(cmx_id_record, ece_local, 96);
OFFSET(cmx_id_record, device, 112);
OFFSET(cmx_id_record, dst_addr, 304);

SIZE(ib_uverbs_ioctl_hdr, 24);
SIZE(ib_uverbs_attr, 16);
OFFSET(ib_uverbs_attr, data, 8);
SIZE(rdma_ucm_conn_param, 272);
SIZE(rdma_ucm_ud_param, 304);
SIZE(ib_uverbs_qp_attr, 144);
SIZE(ib_path_rec_data, 72);
