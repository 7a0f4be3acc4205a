// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RoCE transport: connections over ib_cm as on InfiniBand, paths and multicast groups of IP.
 */
#include "compat.h"
#include "ib.h"
#include "roce.h"
#include "transport.h"

static bool roce_port_fits(const struct ib_device *device, u32 port)
{
	return rdma_cap_ib_cm(device, port) && rdma_protocol_roce(device, port);
}

static enum ib_gid_type roce_port_gid_type(struct ib_device *device, u32 port)
{
	if (roce_gid_type_mask_support(device, port) & BIT(IB_GID_TYPE_ROCE_UDP_ENCAP))
		return IB_GID_TYPE_ROCE_UDP_ENCAP;
	return IB_GID_TYPE_ROCE;
}

const struct cmx_transport cmx_transport_roce = {
	.bit = CMX_TRANSPORT_ROCE,
	.has_ece = 1,
	.gid_is_ip = 1,
	.has_loopback = 1,
	.port_fits = roce_port_fits,
	.port_gid_type = roce_port_gid_type,
	.port = &cmx_ib_port_ops,
	.listen = &cmx_ib_listen_ops,
	.conn = &cmx_ib_conn_ops,
	.dgram = &cmx_ib_sidr_ops,
	.route = &cmx_route_roce_ops,
	.mcast = &cmx_mcast_ip_ops,
};
