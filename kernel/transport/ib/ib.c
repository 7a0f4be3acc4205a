// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The InfiniBand transport: connections over ib_cm, paths and multicast groups from the SA.
 */
#include <rdma/ib_verbs.h>
#include "ib.h"
#include "transport.h"

static bool ib_port_fits(const struct ib_device *device, u32 port)
{
	return rdma_cap_ib_cm(device, port) && rdma_cap_ib_sa(device, port);
}

const struct cmx_transport cmx_transport_ib = {
	.bit = CMX_TRANSPORT_IB,
	.has_sa = 1,
	.has_ece = 1,
	.has_gid_addr = 1,
	.has_loopback = 1,
	.port_fits = ib_port_fits,
	.default_qkey = cmx_ib_default_qkey,
	.port = &cmx_ib_port_ops,
	.listen = &cmx_ib_listen_ops,
	.conn = &cmx_ib_conn_ops,
	.dgram = &cmx_ib_sidr_ops,
	.route = &cmx_route_sa_ops,
	.mcast = &cmx_mcast_sa_ops,
};
