// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The path records of an id.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include "device.h"
#include "path_cache.h"
#include "route_rec.h"

/**
 * cmx_route_free() - free the path records of an id
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock, unless no other thread can use the id.
 */
void cmx_route_free(struct cmx_id_private *id_priv)
{
	struct rdma_route *route = &id_priv->id.route;

	kfree(route->path_rec);
	kfree(route->path_rec_inbound);
	kfree(route->path_rec_outbound);
	route->path_rec = NULL;
	route->path_rec_inbound = NULL;
	route->path_rec_outbound = NULL;
	route->num_pri_alt_paths = 0;
}

/**
 * cmx_route_invalidate() - remove the path to the peer of an id from the path cache
 * @id_priv: the id
 *
 * This is called if the path may be wrong, because the peer does not reply or rejects it.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_route_invalidate(struct cmx_id_private *id_priv)
{
	struct cmx_device *dev = id_priv->dev;
	struct cmx_path_cache *paths;
	union ib_gid dgid;

	lockdep_assert_held(&id_priv->lock);
	/* A destroyed id keeps its device until its connection is closed. */
	if (!dev && READ_ONCE(id_priv->closing))
		dev = id_priv->dead_dev;
	paths = dev ? cmx_device_port(dev, id_priv->id.port_num)->paths : NULL;
	if (!paths)
		return;
	rdma_addr_get_dgid(&id_priv->id.route.addr.dev_addr, &dgid);
	cmx_path_cache_forget(paths, &dgid);
}
