// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Options and the path records of an id: the record that the owner brings
 * (RDMA_OPTION_IB_PATH), and a traffic class set after the route was resolved.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <rdma/ib_sa.h>
#include "device.h"
#include "event.h"
#include "option.h"
#include "option_value.h"
#include "route_rec.h"
#include "transport.h"

#define PRIMARY (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

/* The record that serves GMPs and both directions; others are of no use to us. */
static const struct ib_path_rec_data *find_primary(const struct ib_path_rec_data *data, size_t len)
{
	size_t i;

	if (len % sizeof(*data))
		return NULL;
	for (i = 0; i < len / sizeof(*data); i++)
		if (data[i].flags == PRIMARY)
			return &data[i];
	return NULL;
}

static int install(struct cmx_priv *p, const struct sa_path_rec *from)
{
	const struct cmx_route_ops *ops = p->dev_port->transport->route;
	struct rdma_route *route = &p->id.route;
	struct sa_path_rec *rec = kmemdup(from, sizeof(*from), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!rec)
		return -ENOMEM;
	ret = ops->complete ? ops->complete(p, rec) : 0;
	if (ret) {
		kfree(rec);
		return ret;
	}
	cmx_route_free(p);
	route->path_rec = rec;
	route->num_pri_alt_paths = 1;
	return 0;
}

static int resolve_with(struct cmx_priv *p, const struct sa_path_rec *rec)
{
	int ret;

	if (!cmx_opt_supported(p, CMX_OPT_IB_PATH))
		return -EOPNOTSUPP;
	if (!p->dev || p->state != CMX_ADDR_RESOLVED)
		return -EINVAL;
	ret = install(p, rec);
	if (ret)
		return ret;
	p->opt.set |= BIT(CMX_OPT_IB_PATH);
	return cmx_state_move(p, CMX_IN(ADDR_RESOLVED), CMX_ROUTE_RESOLVED);
}

/**
 * cmx_opt_set_path() - resolve the route with a path record of the owner's
 * @p: the id
 * @val: array of struct ib_path_rec_data; the first primary record that is
 *	good for GMPs and both directions is taken
 * @len: bytes at @val
 *
 * ROUTE_RESOLVED follows, as after resolving the route.
 *
 * Return: 0, or -EINVAL: no such record, @len is not a multiple of a record,
 * or the id is not in the state between address and route; -ENODEV: the
 * network device is gone; -ENOMEM.
 */
int cmx_opt_set_path(struct cmx_priv *p, const void *val, size_t len)
{
	const struct ib_path_rec_data *data = find_primary(val, len);
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct ib_path_rec_data copy;
	struct cmx_event *ev;
	int ret;

	if (!data)
		return -EINVAL;
	copy = *data;
	ib_sa_unpack_path(copy.path_rec, &rec);
	ev = cmx_event_new(p, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	mutex_lock(&p->lock);
	ret = resolve_with(p, &rec);
	if (!ret)
		cmx_event_post(ev);
	mutex_unlock(&p->lock);
	if (ret)
		cmx_event_free(ev);
	return ret;
}

/**
 * cmx_set_ib_path() - resolve the route with a path record of one's own
 * @id: the id, whose address has been resolved
 * @rec: copied. On RoCE its destination MAC and the like are filled in
 *
 * The record itself; RDMA_OPTION_IB_PATH takes it as it is on the wire. No event
 * follows, the route is resolved when this returns.
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL: the id is in another state; -EOPNOTSUPP: iWARP; -ENODEV:
 * the network device is gone; -ENOMEM.
 */
int cmx_set_ib_path(struct cmx_id *id, const struct sa_path_rec *rec)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	mutex_lock(&p->lock);
	ret = resolve_with(p, rec);
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_set_ib_path);

/**
 * cmx_opt_get_path() - the path records in use
 * @p: the id; its lock is held
 * @val: room for an array of struct ib_path_rec_data
 * @len: in: bytes at @val; out: bytes filled in
 *
 * Return: 0, -ENOSPC: not even room for one, -EINVAL: no route yet.
 */
int cmx_opt_get_path(struct cmx_priv *p, void *val, size_t *len)
{
	const struct rdma_route *route = &p->id.route;
	struct ib_path_rec_data *data = val;
	size_t i, n = *len / sizeof(*data);

	if (!route->num_pri_alt_paths)
		return -EINVAL;
	if (!n)
		return -ENOSPC;
	n = min_t(size_t, n, route->num_pri_alt_paths);
	memset(data, 0, n * sizeof(*data));
	for (i = 0; i < n; i++) {
		data[i].flags = PRIMARY;
		ib_sa_pack_path(&route->path_rec[i], data[i].path_rec);
	}
	*len = n * sizeof(*data);
	return 0;
}

/**
 * cmx_opt_apply_tos() - bring a traffic class that was set into effect
 * @p: the id; its lock is held
 *
 * It may have been set after the route was resolved: then the path must follow.
 *
 * Return: 0; -EISCONN: TCP has taken it already; or the -errno of a path that
 * can't be made so.
 */
int cmx_opt_apply_tos(struct cmx_priv *p)
{
	if (p->dev && p->dev_port->transport->route->apply_tos)
		return p->dev_port->transport->route->apply_tos(p);
	if (p->state == CMX_ROUTE_RESOLVED)
		p->id.route.path_rec->traffic_class = cmx_opt_tos(p);
	return 0;
}
