/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORT_H
#define CMX_PORT_H

#include "id.h"

int cmx_port_init_module(void);
void cmx_port_exit_module(void);

/*
 * Claims the port of cmx_src(p) (0: choose one and write it there) in the
 * port space of the id and its network namespace. p->lock is held.
 * -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, -EINVAL, -ENOMEM.
 */
int cmx_port_claim(struct cmx_priv *p);
void cmx_port_release(struct cmx_priv *p);

/*
 * After a change of what decides about conflicts: AFONLY, REUSEADDR, the peer's
 * address, CMX_LISTEN. p->lock is held. -EADDRINUSE, -EADDRNOTAVAIL.
 */
int cmx_port_recheck(struct cmx_priv *p);

/*
 * Changes the addresses of p (NULL: leave it), so that a check of another id
 * against the port never sees half of one. p->lock is held.
 */
void cmx_port_set_addr(struct cmx_priv *p, const struct sockaddr *src, const struct sockaddr *dst);

/*
 * Calls @match on the listeners of a port, under the bucket's lock (a
 * spinlock), and returns the first match with a reference, or NULL.
 */
struct cmx_priv *cmx_port_find(struct net *net, enum rdma_ucm_port_space ps, __be16 port,
			       bool (*match)(struct cmx_priv *p, void *arg), void *arg);

#endif
