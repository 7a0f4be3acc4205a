/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ROUTE_SA_H
#define CMX_ROUTE_SA_H

extern struct ib_sa_client cmx_sa_client;

int cmx_route_sa_init_module(void);
void cmx_route_sa_exit_module(void);

#endif
