/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CLIENT_H
#define CMX_CLIENT_H

struct cmx_transport;

int cmx_client_init_module(const struct cmx_transport *const *transports);
void cmx_client_exit_module(void);

#endif
