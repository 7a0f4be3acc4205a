/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ULP_H
#define CMX_ULP_H

struct cmx_priv;

int cmx_ulp_for_each(int (*fn)(struct cmx_priv *p, void *arg), void *arg);
int cmx_ulp_init_module(void);
void cmx_ulp_exit_module(void);

#endif
