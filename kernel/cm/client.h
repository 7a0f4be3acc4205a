/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CLIENT_H
#define CMX_CLIENT_H

int cmx_client_init_module(void);
void cmx_client_exit_module(void);

#endif
