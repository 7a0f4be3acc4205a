// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Route resolution: gets the path records to the peer.
 */
#include <linux/export.h>
#include "device.h"
#include "event.h"
#include "transport.h"

/* Caller must hold id_priv->lock. On success *@ev is NULL: it no longer belongs to the caller. */
static int route_resolve_locked(struct cmx_id_private *id_priv, unsigned long timeout_ms,
				struct cmx_event **ev)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	ret = cmx_state_move(id_priv, CMX_IN(ADDR_RESOLVED), CMX_ROUTE_QUERY);
	if (ret)
		return ret;

	ret = id_priv->dev_port->transport->route->resolve(id_priv, timeout_ms, ev);
	if (ret == -EINPROGRESS)
		return 0;
	if (ret) {
		cmx_state_move(id_priv, CMX_IN(ROUTE_QUERY), CMX_ADDR_RESOLVED);
		return ret;
	}
	cmx_state_move(id_priv, CMX_IN(ROUTE_QUERY), CMX_ROUTE_RESOLVED);
	cmx_event_post(*ev);
	*ev = NULL;
	return 0;
}

/**
 * cmx_resolve_route() - resolve the path to the peer
 * @id: the id, whose address has been resolved
 * @timeout_ms: how long to wait for a reply, not 0
 *
 * RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR follows.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed and no event follows:
 *
 * * -EINVAL: the id is in another state, or @timeout_ms is 0.
 * * -EINVAL on RoCE: the MTU of the network interface is too small, or too small for PATH_MTU.
 * * -ENODEV: the network interface is gone.
 * * -EHOSTUNREACH: the peer cannot be reached with the GID type that was set.
 * * -EAGAIN: the InfiniBand port has no subnet manager.
 * * -ENOMEM: out of memory.
 */
int cmx_resolve_route(struct cmx_id *id, unsigned long timeout_ms)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	struct cmx_event *ev;
	int ret;

	if (!timeout_ms)
		return -EINVAL;
	ev = cmx_event_alloc(id_priv, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	cmx_id_lock(id_priv);
	ret = route_resolve_locked(id_priv, timeout_ms, &ev);
	cmx_id_unlock(id_priv);
	cmx_event_free(ev);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_resolve_route);
