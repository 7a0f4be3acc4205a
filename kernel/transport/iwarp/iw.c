// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The iWARP transport: connections over iw_cm. TCP finds the path, and there is no multicast.
 */
#include <rdma/ib_verbs.h>
#include "iw.h"
#include "transport.h"

/* TCP needs no path record. */
static int iw_route_resolve(struct cmx_id_private *id_priv, unsigned long timeout_ms,
			    struct cmx_event **ev)
{
	return 0;
}

/* TCP gets the traffic class when the id connects or listens. */
static int iw_apply_tos(struct cmx_id_private *id_priv)
{
	return id_priv->iw.cm || id_priv->listener ? -EISCONN : 0;
}

static const struct cmx_route_ops iw_route_ops = {
	.resolve = iw_route_resolve,
	.apply_tos = iw_apply_tos,
};

static bool iw_port_fits(const struct ib_device *device, u32 port)
{
	return rdma_cap_iw_cm(device, port);
}

/* An iWARP connection is a TCP connection between IP addresses. */
static bool iw_id_fits(const struct cmx_id_private *id_priv)
{
	return id_priv->id.ps == RDMA_PS_TCP && id_priv->id.qp_type == IB_QPT_RC &&
	       cmx_src(id_priv)->sa_family != AF_IB;
}

/* No loopback: TCP to a loopback address uses no other interface than lo. */
const struct cmx_transport cmx_transport_iwarp = {
	.bit = CMX_TRANSPORT_IWARP,
	.port_fits = iw_port_fits,
	.id_fits = iw_id_fits,
	.port_gid = cmx_iw_port_gid,
	.listen = &cmx_iw_listen_ops,
	.conn = &cmx_iw_conn_ops,
	.route = &iw_route_ops,
};
