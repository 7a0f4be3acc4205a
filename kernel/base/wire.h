/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_WIRE_H
#define CMX_WIRE_H

#include <linux/socket.h>
#include <linux/types.h>

/** define CMX_HDR_LEN - length of the header of IBTA annex A11, which precedes the private data */
#define CMX_HDR_LEN 36

u8 cmx_hdr_len(const struct sockaddr *src);
int cmx_hdr_pack(u8 *hdr, const struct sockaddr *src, const struct sockaddr *dst);
int cmx_hdr_unpack(const u8 *hdr, __be16 local_port, struct sockaddr_storage *local,
		   struct sockaddr_storage *peer);
__be64 cmx_service_id(u16 ps, const struct sockaddr *addr);
u16 cmx_service_id_ps(__be64 service_id);
__be16 cmx_service_id_port(__be64 service_id);

#endif
