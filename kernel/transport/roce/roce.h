/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The row of RoCE, and its operations */
#ifndef CMX_ROCE_H
#define CMX_ROCE_H

extern const struct cmx_transport cmx_transport_roce;

extern const struct cmx_route_ops cmx_route_roce_ops;
extern const struct cmx_mcast_ops cmx_mcast_ip_ops;

int cmx_mcast_ip_init_module(void);
void cmx_mcast_ip_exit_module(void);

#endif
