// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The end of an id: what the operations made is taken down, the last one first.
 */
#include "addr.h"
#include "deadline.h"
#include "device.h"
#include "listen.h"
#include "mcast.h"
#include "port.h"
#include "teardown.h"
#include "transport.h"
#include "watch.h"

/**
 * cmx_id_release_device() - give back all that an id holds on its device
 * @p: the id; its lock is held
 *
 * Nothing here waits for the wire or for a callback.
 */
void cmx_id_release_device(struct cmx_priv *p)
{
	lockdep_assert_held(&p->lock);
	cmx_addr_cancel(p);
	if (p->dev && p->dev_port->transport->route->cancel)
		p->dev_port->transport->route->cancel(p);
	cmx_deadline_stop(p);
	cmx_listen_stop(p);
	cmx_conn_release(p);
	cmx_mcast_leave_all(p);
	cmx_unwatch_peer(p);
	cmx_device_detach(p);
}

/* What may take a minute yet does not keep the namespace. */
static void id_drop_net(struct cmx_priv *p)
{
	put_net(cmx_net(p));
	p->id.route.addr.dev_addr.net = NULL;
}

/**
 * cmx_id_kill() - end an id: no event and no verb succeeds after this
 * @p: the id; the caller holds a reference and none of its locks
 *
 * The memory goes with the last reference. Calling it again does nothing.
 */
void cmx_id_kill(struct cmx_priv *p)
{
	mutex_lock(&p->lock);
	if (!cmx_state_move(p, ~CMX_IN(DEAD), CMX_DEAD)) {
		cmx_id_release_device(p);
		cmx_port_release(p);
		if (p->cm_dead)
			id_drop_net(p);
	}
	mutex_unlock(&p->lock);
}
