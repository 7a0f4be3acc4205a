/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SA_CLIENT_H
#define CMX_SA_CLIENT_H

#include <linux/xarray.h>

extern struct ib_sa_client cmx_sa_client;
extern struct xarray cmx_sa_names;

int cmx_sa_name_alloc(void *waiter, u32 *name);

/* Return the waiter, or NULL if it has been taken before. @context: the name, from a callback */
static inline void *cmx_sa_name_take(const void *context)
{
	return xa_erase(&cmx_sa_names, (unsigned long)context);
}

int cmx_sa_client_init_module(void);
void cmx_sa_client_exit_module(void);

#endif
