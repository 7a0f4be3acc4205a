// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Information on an id that a process can read.
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_marshall.h>
#include "device.h"
#include "compat.h"
#include "info.h"
#include "option_value.h"
#include "qp.h"
#include "route_rec.h"
#include "sockaddr.h"

static void info_paths_fill(const struct cmx_id_private *id_priv, struct cmx_id_info *info)
{
	const struct rdma_route *route = &id_priv->id.route;
	int i;

	if (!route->path_rec)
		return;
	info->num_paths = min_t(int, route->num_pri_alt_paths, ARRAY_SIZE(info->path));
	for (i = 0; i < info->num_paths; i++)
		cmx_route_rec_pack(&info->path[i], &route->path_rec[i]);
}

static void info_device_fill(struct cmx_id_private *id_priv, struct cmx_id_info *info)
{
	info->node_guid = id_priv->id.device->node_guid;
	info->ibdev_index = id_priv->id.device->index;
	info->port_num = id_priv->id.port_num;
	info->pkey = ib_addr_get_pkey(&id_priv->id.route.addr.dev_addr);
	cmx_id_get_gids(id_priv, (union ib_gid *)info->sgid, (union ib_gid *)info->dgid);
	info_paths_fill(id_priv, info);
}

/**
 * cmx_info_fill() - describe the present state of an id
 * @user_id: the id. Caller must not hold its lock
 * @info: receives the description; valid up to @len
 * @len: number of bytes that the caller asks for
 */
void cmx_info_fill(struct cmx_user_id *user_id, struct cmx_id_info *info, size_t len)
{
	struct cmx_id_private *id_priv = &user_id->id_priv;

	memset(info, 0, min(len, sizeof(*info)));
	if (len > offsetof(struct cmx_id_info, init_attr))
		cmx_info_qp_attr(id_priv, IB_QPS_INIT, &info->init_attr);

	mutex_lock(&id_priv->lock);
	info->state = id_priv->state;
	info->tos = cmx_opt_get(id_priv, CMX_OPT_TOS);
	info->qp_type = id_priv->id.qp_type;
	memcpy(&info->src_addr, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	if (len > offsetof(struct cmx_id_info, dst_addr))
		memcpy(&info->dst_addr, cmx_dst(id_priv), cmx_addr_size(cmx_dst(id_priv)));
	if (id_priv->dev)
		info_device_fill(id_priv, info);
	mutex_unlock(&id_priv->lock);
}

/**
 * cmx_info_qp_attr() - get the QP attributes for ibv_modify_qp()
 * @id_priv: the id. Caller must not hold its lock
 * @state: state that the QP is to be moved to
 * @to: receives the attributes; unchanged on error
 *
 * Return: 0, -EINVAL without a device, or the error of cmx_init_qp_attr().
 */
int cmx_info_qp_attr(struct cmx_id_private *id_priv, enum ib_qp_state state,
		     struct ib_uverbs_qp_attr *to)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = 0, ret;

	if (!READ_ONCE(id_priv->dev))
		return -EINVAL;
	mutex_lock(&id_priv->lock);
	ret = cmx_qp_attr_get(id_priv, &attr, &mask);
	if (!ret) {
		memset(to, 0, sizeof(*to));
		to->qp_attr_mask = mask;
		ib_copy_qp_attr_to_user(id_priv->id.device, to, &attr);
	}
	mutex_unlock(&id_priv->lock);
	return ret;
}
