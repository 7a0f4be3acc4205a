// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of transports: what is above a transport reaches it through its row only.
 */
#include <linux/errno.h>
#include "transport.h"

const struct cmx_transport *const *cmx_transports;

/**
 * cmx_transport_find() - find the transport of a port
 * @device: the device
 * @port: the port
 *
 * Return: the first transport of the table that the port fits, or NULL.
 */
const struct cmx_transport *cmx_transport_find(const struct ib_device *device, u32 port)
{
	const struct cmx_transport *const *t;

	cmx_for_each_transport(t)
		if ((*t)->port_fits(device, port))
			return *t;
	return NULL;
}

/* Undo the initialisation of the first @num transports, the last one first. */
static void transports_exit(size_t num)
{
	while (num--)
		if (cmx_transports[num]->exit_module)
			cmx_transports[num]->exit_module();
}

/**
 * cmx_transport_init_module() - initialise all transports
 * @table: the transports that a port can use, in the order in which they are tried; ends with NULL
 *
 * Return: 0 or -errno.
 */
int cmx_transport_init_module(const struct cmx_transport *const *table)
{
	const struct cmx_transport *const *t;
	int ret;

	cmx_transports = table;
	cmx_for_each_transport(t) {
		ret = (*t)->init_module ? (*t)->init_module() : 0;
		if (ret) {
			transports_exit(t - table);
			return ret;
		}
	}
	return 0;
}

void cmx_transport_exit_module(void)
{
	const struct cmx_transport *const *t;
	size_t num = 0;

	cmx_for_each_transport(t)
		num++;
	transports_exit(num);
}
