/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORT_H
#define CMX_PORT_H

#include "id.h"

int cmx_port_init_module(void);
void cmx_port_exit_module(void);

/* Caller must hold the lock of the id, except for cmx_port_find(). */
int cmx_port_claim(struct cmx_priv *p);
void cmx_port_release(struct cmx_priv *p);
int cmx_port_recheck(struct cmx_priv *p);
void cmx_port_set_addr(struct cmx_priv *p, const struct sockaddr *src, const struct sockaddr *dst);
struct cmx_priv *cmx_port_find(struct net *net, enum rdma_ucm_port_space ps, __be16 port,
			       bool (*match)(struct cmx_priv *p, void *arg), void *arg);

#endif
