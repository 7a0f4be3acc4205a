// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Route resolution: the path records to the peer.
 */
#include <linux/export.h>
#include "device.h"
#include "event.h"
#include "transport.h"

/* id_priv->lock is held. @ev is used up on success. */
static int resolve(struct cmx_id_private *id_priv, unsigned long timeout_ms, struct cmx_event **ev)
{
	int ret;

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
 * cmx_resolve_route() - find the path to the peer
 * @id: the id, whose address has been resolved
 * @timeout_ms: how long to wait for an answer, not 0
 *
 * RDMA_CM_EVENT_ROUTE_RESOLVED or RDMA_CM_EVENT_ROUTE_ERROR follows.
 *
 * Return: 0; on error nothing has changed and no event follows: -EINVAL when
 * the id is in another state or @timeout_ms is 0, -ENODEV when its network
 * interface is gone, -EHOSTUNREACH when the GID type that was set cannot reach
 * the peer, -EAGAIN when the InfiniBand port has no subnet manager, -ENOMEM.
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
	mutex_lock(&id_priv->lock);
	ret = resolve(id_priv, timeout_ms, &ev);
	mutex_unlock(&id_priv->lock);
	if (ev)
		cmx_event_free(ev);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_resolve_route);
