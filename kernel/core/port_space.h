/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORT_SPACE_H
#define CMX_PORT_SPACE_H

#include "id.h"

int cmx_port_space_init_module(void);
void cmx_port_space_exit_module(void);

/* Caller must hold the lock of the id, except for cmx_port_find_listener(). */
int cmx_port_reserve(struct cmx_id_private *id_priv);
void cmx_port_release(struct cmx_id_private *id_priv);
int cmx_port_recheck(struct cmx_id_private *id_priv);
void cmx_port_set_addr(struct cmx_id_private *id_priv, const struct sockaddr *src,
		       const struct sockaddr *dst);
struct cmx_id_private *
cmx_port_find_listener(struct net *net, enum rdma_ucm_port_space ps, __be16 port,
		       bool (*match)(struct cmx_id_private *id_priv, void *arg), void *arg);

#endif
