// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ports of InfiniBand, and of RoCE, which uses the same code for connections.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include "ib.h"
#include "ib_close.h"
#include "ib_port.h"
#include "lock_order.h"
#include "path_cache.h"
#include "transport.h"

static int ib_port_init(struct cmx_device *dev, u32 port)
{
	struct cmx_dev_port *dp = cmx_device_port(dev, port);
	struct cmx_ib_port *ib = kzalloc(sizeof(*ib), GFP_KERNEL);

	if (!ib)
		return -ENOMEM;
	spin_lock_init(&ib->windows_lock);
	INIT_LIST_HEAD(&ib->windows);
	INIT_LIST_HEAD(&ib->released);
	cmx_sa_queue_init(&ib->sa);
	mutex_init(&ib->mtu_lock);
	dp->priv = ib;
	if (!dp->transport->has_sa)
		return 0;
	ib->paths = cmx_path_cache_new();
	return ib->paths ? 0 : -ENOMEM;
}

/*
 * A provider may send a firmware command to reply. Ids therefore use the last reply, and nobody
 * waits for this lock with that of an id.
 */
static void ib_port_read_mtu(struct cmx_ib_port *ib, struct ib_device *device, u32 port)
{
	struct ib_port_attr attr;

	cmx_id_lock_assert_none();
	mutex_lock(&ib->mtu_lock);
	if (!ib_query_port(device, port, &attr))
		WRITE_ONCE(ib->mtu, attr.active_mtu);
	mutex_unlock(&ib->mtu_lock);
}

/*
 * After an event that may mean another SA, or other paths, drop the cached path records of the port
 * and do not pause any longer between its requests. The MTU of the port may have changed as well.
 */
static void ib_port_event(struct cmx_device *dev, u32 port, enum ib_event_type event)
{
	struct cmx_ib_port *ib = cmx_ib_port(dev, port);

	if (!ib->paths)
		return;
	ib_port_read_mtu(ib, dev->device, port);
	if (event == IB_EVENT_PORT_ACTIVE)
		return;
	cmx_sa_queue_restart(&ib->sa);
	cmx_path_cache_drop_all(ib->paths);
}

static void ib_port_stop(struct cmx_device *dev, u32 port)
{
	struct cmx_ib_port *ib = cmx_ib_port(dev, port);

	cmx_sa_queue_stop(&ib->sa);
	cmx_close_stop_port(ib);
}

static void ib_port_exit(struct cmx_device *dev, u32 port)
{
	struct cmx_ib_port *ib = cmx_ib_port(dev, port);

	cmx_path_cache_free(ib->paths);
	mutex_destroy(&ib->mtu_lock);
	kfree(ib);
}

const struct cmx_port_ops cmx_ib_port_ops = {
	.init = ib_port_init,
	.event = ib_port_event,
	.stop = ib_port_stop,
	.exit = ib_port_exit,
};

/**
 * cmx_route_invalidate_on() - as cmx_route_invalidate(), for an id that may have been detached
 * @id_priv: the id
 * @dev: device to which the id is or was attached. Caller must hold a reference
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_route_invalidate_on(struct cmx_id_private *id_priv, struct cmx_device *dev)
{
	struct cmx_path_cache *paths = cmx_ib_port(dev, id_priv->id.port_num)->paths;
	union ib_gid dgid;

	lockdep_assert_held(&id_priv->lock);
	if (!paths)
		return;
	rdma_addr_get_dgid(&id_priv->id.route.addr.dev_addr, &dgid);
	cmx_path_cache_drop_dgid(paths, &dgid);
}
