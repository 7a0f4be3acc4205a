// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Teardown of an id: the effects of the CM operations are undone, the last one first.
 */
#include "device.h"
#include "event.h"
#include "listen.h"
#include "mcast.h"
#include "port_space.h"
#include "teardown.h"
#include "timer.h"
#include "transport.h"
#include "watch.h"

/**
 * cmx_id_set_removed() - move an id to CMX_REMOVED and queue an event
 * @id_priv: the id
 * @ev: DEVICE_REMOVAL. It belongs to the consumer from now on, or is freed
 *
 * The connection still exists. The caller has the event delivered, as for cmx_event_queue().
 *
 * Context: Caller must hold id_priv->lock.
 * Return: false if the id is in CMX_REMOVED already, or shut down; the event is the caller's then.
 */
bool cmx_id_set_removed(struct cmx_id_private *id_priv, struct cmx_event *ev)
{
	lockdep_assert_held(&id_priv->lock);
	if (cmx_state_move(id_priv, ~(CMX_IN(REMOVED) | CMX_IN(DEAD)), CMX_REMOVED))
		return false;
	cmx_timer_stop(id_priv);
	cmx_unwatch(id_priv);
	cmx_event_queue(ev);
	return true;
}

/**
 * cmx_id_release_device() - release all resources of an id on its device, and its port number
 * @id_priv: the id
 *
 * The function waits neither for messages of the peer nor for callbacks.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_id_release_device(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_timer_stop(id_priv);
	if (id_priv->dev && id_priv->dev_port->transport->route->cancel)
		id_priv->dev_port->transport->route->cancel(id_priv);
	cmx_listen_stop(id_priv);
	cmx_conn_release(id_priv);
	cmx_mcast_leave_all(id_priv);
	cmx_unwatch(id_priv);
	cmx_device_detach(id_priv);
	cmx_port_release(id_priv);
}

/*
 * A connection that is closing may keep the id in memory for close_seconds. It must not keep the
 * network namespace that long.
 */
static void id_net_put(struct cmx_id_private *id_priv)
{
	struct net *net = cmx_net(id_priv);

	/* the list of ids reads it without the lock */
	WRITE_ONCE(id_priv->id.route.addr.dev_addr.net, NULL);
	put_net(net);
}

/**
 * cmx_id_shutdown() - shut down an id
 * @id_priv: the id; nothing is done if it is shut down already
 *
 * No event is posted and no CM operation succeeds afterwards. The last reference frees the memory.
 *
 * Context: Caller must hold a reference, and must not hold id_priv->lock.
 */
void cmx_id_shutdown(struct cmx_id_private *id_priv)
{
	mutex_lock(&id_priv->lock);
	if (!cmx_state_move(id_priv, ~CMX_IN(DEAD), CMX_DEAD)) {
		cmx_id_release_device(id_priv);
		if (id_priv->released)
			id_net_put(id_priv);
	}
	mutex_unlock(&id_priv->lock);
}
