/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ADDR_H
#define CMX_ADDR_H

#include "id.h"

union ib_gid;

/* addr.c; p->lock is held */
int cmx_addr_bind_device(struct cmx_priv *p);
void cmx_addr_cancel(struct cmx_priv *p);
int cmx_addr_init_module(void);
void cmx_addr_exit_module(void);

/* addr_ib.c; p->lock is held */
int cmx_attach_gid(struct cmx_priv *p, const union ib_gid *gid);
int cmx_addr_ib_bind(struct cmx_priv *p);
int cmx_addr_ib_resolve(struct cmx_priv *p);

#endif
