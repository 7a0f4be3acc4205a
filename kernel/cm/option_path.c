// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Options that change the path records of an id: a path record of the consumer
 * (RDMA_OPTION_IB_PATH), and a traffic class that is set after the route was resolved.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <rdma/ib_sa.h>
#include "charge.h"
#include "compat.h"
#include "device.h"
#include "event.h"
#include "option.h"
#include "option_value.h"
#include "route_rec.h"
#include "transport.h"

/* Find the record that is valid for GMPs and for both directions. Others are not supported. */
static const struct ib_path_rec_data *opt_path_find_primary(const struct ib_path_rec_data *data,
							    size_t len)
{
	size_t i;

	if (len % sizeof(*data))
		return NULL;
	for (i = 0; i < len / sizeof(*data); i++)
		if (data[i].flags == CMX_PATH_PRIMARY)
			return &data[i];
	return NULL;
}

static int opt_path_install(struct cmx_id_private *id_priv, const struct sa_path_rec *from)
{
	const struct cmx_route_ops *ops = id_priv->dev_port->transport->route;
	struct rdma_route *route = &id_priv->id.route;
	struct sa_path_rec *rec = cmx_charge_alloc(id_priv, sizeof(*rec));
	int ret;

	if (!rec)
		return -ENOMEM;
	*rec = *from;
	ret = ops->complete ? ops->complete(id_priv, rec) : 0;
	if (ret) {
		kfree(rec);
		return ret;
	}
	cmx_route_free(id_priv);
	route->path_rec = rec;
	route->num_pri_alt_paths = 1;
	return 0;
}

static int opt_path_resolve(struct cmx_id_private *id_priv, const struct sa_path_rec *rec)
{
	int ret;

	if (!cmx_opt_is_supported(id_priv, CMX_OPT_IB_PATH))
		return -EOPNOTSUPP;
	if (!id_priv->dev || id_priv->state != CMX_ADDR_RESOLVED)
		return -EINVAL;
	if (rec->packet_life_time > CMX_LIFETIME_MAX)
		return -EINVAL;
	if (rec->packet_life_time > cmx_opt_lifetime_max(id_priv))
		return -EPERM;
	ret = opt_path_install(id_priv, rec);
	if (ret)
		return ret;
	id_priv->opt.set |= BIT(CMX_OPT_IB_PATH);
	return cmx_state_move(id_priv, CMX_IN(ADDR_RESOLVED), CMX_ROUTE_RESOLVED);
}

/**
 * cmx_opt_set_path() - set the path record from RDMA_OPTION_IB_PATH, instead of resolving it
 * @id_priv: the id. Caller must not hold its lock
 * @val: array of struct ib_path_rec_data; the first primary record that is valid for GMPs and for
 *	both directions is used
 * @len: length of @val in bytes
 *
 * ROUTE_RESOLVED follows, as after cmx_resolve_route().
 *
 * Return: 0; on error nothing has changed:
 *
 * * -EINVAL: there is no such record, its packet lifetime exceeds 30, @len is not a multiple of the
 *   record size, or the id is not in CMX_ADDR_RESOLVED.
 * * -EPERM: its packet lifetime exceeds 21, and the process lacks CAP_NET_ADMIN.
 * * -EOPNOTSUPP: iWARP.
 * * -EHOSTUNREACH: the peer is behind a gateway, and the option GID type is not RoCE v2.
 * * -ENODEV: on RoCE, the id has a loopback address, or its interface is gone.
 * * -ENOMEM: out of memory.
 */
int cmx_opt_set_path(struct cmx_id_private *id_priv, const void *val, size_t len)
{
	const struct ib_path_rec_data *data = opt_path_find_primary(val, len);
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct ib_path_rec_data copy;
	struct cmx_event *ev;
	int ret;

	if (!data)
		return -EINVAL;
	copy = *data;
	ib_sa_unpack_path(copy.path_rec, &rec);
	ev = cmx_event_alloc(id_priv, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	cmx_id_lock(id_priv);
	ret = opt_path_resolve(id_priv, &rec);
	if (!ret)
		cmx_event_post(ev);
	cmx_id_unlock(id_priv);
	if (ret)
		cmx_event_free(ev);
	return ret;
}

/**
 * cmx_set_ib_path() - set the path record of an id, instead of resolving it
 * @id: the id, whose address has been resolved
 * @rec: the path record, which is copied. On RoCE the link layer fields of the copy, such as the
 *	destination MAC address, are filled in
 *
 * The record is in host format; RDMA_OPTION_IB_PATH takes it in wire format. No event follows: the
 * route is resolved when the function returns.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL if the id is in another state, or the packet lifetime of @rec exceeds 30;
 * -EOPNOTSUPP on iWARP; -EHOSTUNREACH if the peer is behind a gateway and the option GID type is
 * not RoCE v2; -ENODEV on RoCE if the id has a loopback address or its interface is gone; -ENOMEM.
 */
int cmx_set_ib_path(struct cmx_id *id, const struct sa_path_rec *rec)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	mutex_lock(&id_priv->lock);
	ret = opt_path_resolve(id_priv, rec);
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_set_ib_path);

/**
 * cmx_opt_get_path() - get the path records of an id
 * @id_priv: the id. Caller must hold its lock
 * @val: buffer for an array of struct ib_path_rec_data
 * @len: in: size of @val in bytes; out: bytes written
 *
 * Return: 0; -ENOSPC if @val is too small for one record; -EINVAL if there is no route yet.
 */
int cmx_opt_get_path(struct cmx_id_private *id_priv, void *val, size_t *len)
{
	const struct rdma_route *route = &id_priv->id.route;
	struct ib_path_rec_data *data = val;
	size_t i, n = *len / sizeof(*data);

	lockdep_assert_held(&id_priv->lock);
	if (!route->num_pri_alt_paths)
		return -EINVAL;
	if (!n)
		return -ENOSPC;
	n = min_t(size_t, n, route->num_pri_alt_paths);
	memset(data, 0, n * sizeof(*data));
	for (i = 0; i < n; i++)
		cmx_route_rec_pack(&data[i], &route->path_rec[i]);
	*len = n * sizeof(*data);
	return 0;
}

/**
 * cmx_opt_apply_tos() - apply a new traffic class to the path
 * @id_priv: the id. Caller must hold its lock
 *
 * If the route has been resolved already, its path record is updated.
 *
 * Return: 0; -EISCONN on iWARP if TCP uses the old traffic class already; or the error of a path
 * that cannot be updated.
 */
int cmx_opt_apply_tos(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	if (id_priv->dev && id_priv->dev_port->transport->route->apply_tos)
		return id_priv->dev_port->transport->route->apply_tos(id_priv);
	if (id_priv->state == CMX_ROUTE_RESOLVED)
		id_priv->id.route.path_rec->traffic_class = cmx_opt_get(id_priv, CMX_OPT_TOS);
	return 0;
}
