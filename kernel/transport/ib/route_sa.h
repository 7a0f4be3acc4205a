/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ROUTE_SA_H
#define CMX_ROUTE_SA_H

int cmx_sa_init_module(void);
void cmx_sa_exit_module(void);

#endif
