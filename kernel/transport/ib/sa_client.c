// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module as a client of ib_sa, and the names of what waits for a callback of ib_sa: it may call
 * back twice, and only the first call finds the waiter. See Documentation/locking.rst.
 */
#include <linux/gfp.h>
#include <rdma/ib_sa.h>
#include "sa_client.h"

struct ib_sa_client cmx_sa_client;
DEFINE_XARRAY_ALLOC1(cmx_sa_names);

/**
 * cmx_sa_name_alloc() - give a name to what is to wait for a callback
 * @waiter: the waiter
 * @name: receives the name, which is not used again soon
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int cmx_sa_name_alloc(void *waiter, u32 *name)
{
	static u32 next;
	int ret = xa_alloc_cyclic(&cmx_sa_names, name, waiter, xa_limit_32b, &next, GFP_KERNEL);

	return min(ret, 0);
}

int cmx_sa_client_init_module(void)
{
	ib_sa_register_client(&cmx_sa_client);
	return 0;
}

/* ib_sa_unregister_client() waits for outstanding callbacks, and for the members of groups. */
void cmx_sa_client_exit_module(void)
{
	ib_sa_unregister_client(&cmx_sa_client);
}
