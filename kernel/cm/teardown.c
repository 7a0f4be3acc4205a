// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The end of an id: what the operations made is taken down, the last one first.
 */
#include "resolve_addr.h"
#include "deadline.h"
#include "device.h"
#include "listen.h"
#include "mcast.h"
#include "port_space.h"
#include "teardown.h"
#include "transport.h"
#include "neigh_watch.h"

/**
 * cmx_id_release_device() - give back all that an id holds on its device
 * @id_priv: the id; its lock is held
 *
 * Nothing here waits for the wire or for a callback.
 */
void cmx_id_release_device(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_addr_cancel(id_priv);
	if (id_priv->dev && id_priv->dev_port->transport->route->cancel)
		id_priv->dev_port->transport->route->cancel(id_priv);
	cmx_deadline_stop(id_priv);
	cmx_listen_stop(id_priv);
	cmx_conn_release(id_priv);
	cmx_mcast_leave_all(id_priv);
	cmx_neigh_unwatch(id_priv);
	cmx_device_detach(id_priv);
}

/* What may take a minute yet does not keep the namespace. */
static void id_drop_net(struct cmx_id_private *id_priv)
{
	put_net(cmx_net(id_priv));
	id_priv->id.route.addr.dev_addr.net = NULL;
}

/**
 * cmx_id_shutdown() - end an id: no event and no verb succeeds after this
 * @id_priv: the id; the caller holds a reference and none of its locks
 *
 * The memory goes with the last reference. Calling it again does nothing.
 */
void cmx_id_shutdown(struct cmx_id_private *id_priv)
{
	mutex_lock(&id_priv->lock);
	if (!cmx_state_move(id_priv, ~CMX_IN(DEAD), CMX_DEAD)) {
		cmx_id_release_device(id_priv);
		cmx_port_release(id_priv);
		if (id_priv->conn_dead)
			id_drop_net(id_priv);
	}
	mutex_unlock(&id_priv->lock);
}
