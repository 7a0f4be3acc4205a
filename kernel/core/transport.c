// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of transports: what is above a transport reaches it through its row only.
 */
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
