// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binding ids, resolving addresses and routes.
 */
#include <string.h>
#include "cmx_lib.h"

/* 0 without an address, and for an address family that RDMA does not have */
socklen_t cmxl_addr_len(const struct sockaddr *addr)
{
	if (!addr)
		return 0;
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

__be16 cmxl_addr_port(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)addr)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)addr)->sin6_port;
	case AF_IB:
		return htobe16(be64toh(((const struct sockaddr_ib *)addr)->sib_sid));
	default:
		return 0;
	}
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_get_src_port, 0, (id));
	return cmxl_addr_port(&id->route.addr.src_addr);
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_get_dst_port, 0, (id));
	return cmxl_addr_port(&id->route.addr.dst_addr);
}

int rdma_bind_addr(struct rdma_cm_id *cm_id, struct sockaddr *addr)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	socklen_t len = cmxl_addr_len(addr);
	struct cmx_id_info info;
	struct cmxl_cmd cmd;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_bind_addr, -1, (cm_id, addr));
	if (!len)
		return cmxl_err(EINVAL);
	cmxl_id_cmd(&cmd, id, CMX_ID_BIND);
	cmxl_cmd_in(&cmd, CMX_ATTR_SRC_ADDR, addr, len);
	cmxl_cmd_out_start(&cmd, &info);
	if (cmxl_id_issue_new(&cmd, id))
		return -1;
	return cmxl_id_apply_info(id, &info);
}

/*
 * The result comes with the event, not with the return of the call: only the thread that fetches
 * the event fills it in.
 */
int rdma_resolve_addr(struct rdma_cm_id *cm_id, struct sockaddr *src_addr,
		      struct sockaddr *dst_addr, int timeout_ms)
{
	socklen_t src_len = cmxl_addr_len(src_addr), dst_len = cmxl_addr_len(dst_addr);
	struct sockaddr_storage before = cm_id->route.addr.dst_storage;
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;
	bool sync;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_resolve_addr, -1,
					(cm_id, src_addr, dst_addr, timeout_ms));
	if (!dst_len || (src_addr && !src_len))
		return cmxl_err(EINVAL);
	cmxl_id_cmd(&cmd, id, CMX_ID_RESOLVE_ADDR);
	/* a command that creates the id has the order of the kernel's list: its first attribute last */
	cmxl_cmd_u32(&cmd, CMX_ATTR_TIMEOUT, timeout_ms);
	cmxl_cmd_in(&cmd, CMX_ATTR_DST_ADDR, dst_addr, dst_len);
	if (src_len)
		cmxl_cmd_in(&cmd, CMX_ATTR_SRC_ADDR, src_addr, src_len);
	sync = id->sync;
	/* set it before the event can arrive, which another thread may fetch */
	memcpy(&cm_id->route.addr.dst_storage, dst_addr, dst_len);
	if (cmxl_id_issue_new(&cmd, id)) {
		cm_id->route.addr.dst_storage = before;
		return -1;
	}
	/* another thread may have destroyed the id meanwhile, see cmxl_id_run() */
	return sync ? cmxl_id_wait_event(id) : 0;
}

int rdma_resolve_route(struct rdma_cm_id *cm_id, int timeout_ms)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_resolve_route, -1, (cm_id, timeout_ms));
	cmxl_id_cmd(&cmd, id, CMX_ID_RESOLVE_ROUTE);
	cmxl_cmd_u32(&cmd, CMX_ATTR_TIMEOUT, timeout_ms);
	return cmxl_id_run(&cmd, id);
}
