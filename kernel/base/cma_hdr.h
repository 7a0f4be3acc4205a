/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CMA_HDR_H
#define CMX_CMA_HDR_H

#include <linux/socket.h>
#include <linux/types.h>

/** define CMX_CMA_HDR_LEN - length of the header before the private data, IBTA annex A11 */
#define CMX_CMA_HDR_LEN 36

u8 cmx_cma_hdr_len(const struct sockaddr *src);
int cmx_cma_hdr_pack(u8 *hdr, const struct sockaddr *src, const struct sockaddr *dst);
int cmx_cma_hdr_unpack(const u8 *hdr, __be16 local_port, struct sockaddr_storage *local,
		       struct sockaddr_storage *peer);
__be64 cmx_service_id(u16 ps, const struct sockaddr *addr);
u16 cmx_service_id_ps(__be64 service_id);
__be16 cmx_service_id_port(__be64 service_id);

#endif
