/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_RESOLVE_ADDR_H
#define CMX_RESOLVE_ADDR_H

#include "id.h"

/* Caller must hold the lock of the id. */
void cmx_addr_cancel(struct cmx_id_private *id_priv);
int cmx_addr_init_module(void);
void cmx_addr_exit_module(void);

#endif
