/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ULP_H
#define CMX_ULP_H

struct cmx_id_private;

const char *cmx_ulp_owner(struct cmx_id_private *id_priv);
int cmx_ulp_init_module(void);
void cmx_ulp_exit_module(void);

#endif
