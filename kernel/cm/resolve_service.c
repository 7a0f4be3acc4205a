// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resolution of a service: the SA of a subnet knows which port offers it.
 */
#include "device.h"
#include "event.h"
#include "service.h"
#include "transport.h"

static int service_resolve_locked(struct cmx_id_private *id_priv,
				  const struct cmx_service *service, struct cmx_event **ev)
{
	const struct cmx_route_ops *route;
	int ret;

	if (id_priv->state != CMX_BOUND || !id_priv->dev)
		return -EINVAL;
	route = id_priv->dev_port->transport->route;
	if (!route->find_service)
		return -EOPNOTSUPP;
	if (cmx_src(id_priv)->sa_family != AF_IB)
		return -EINVAL;
	cmx_state_move(id_priv, CMX_IN(BOUND), CMX_ADDR_QUERY);
	ret = route->find_service(id_priv, service, ev);
	if (ret)
		cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_BOUND);
	return ret;
}

/**
 * cmx_resolve_service() - find the ports that offer a service, and take the first one as the peer
 * @id_priv: the id, which is bound to an AF_IB address
 * @service: the service
 *
 * %CMX_EVENT_ADDRINFO_RESOLVED or %CMX_EVENT_ADDRINFO_ERROR follows. After the first
 * one the id is in CMX_ADDR_RESOLVED, after the second one in CMX_BOUND, as before.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed and no event follows:
 *
 * * -EINVAL: the id is in another state, or is not bound to an AF_IB address.
 * * -EOPNOTSUPP: ib_sa cannot query ServiceRecords, or the port has no SA.
 * * -EAGAIN: the port has no subnet manager.
 * * -ENOMEM: out of memory.
 */
int cmx_resolve_service(struct cmx_id_private *id_priv, const struct cmx_service *service)
{
	struct cmx_event *ev;
	int ret;

	ev = cmx_event_alloc(id_priv, (enum rdma_cm_event_type)CMX_EVENT_ADDRINFO_RESOLVED, 0,
			     GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	mutex_lock(&id_priv->lock);
	ret = service_resolve_locked(id_priv, service, &ev);
	mutex_unlock(&id_priv->lock);
	cmx_event_free(ev);
	return ret;
}
