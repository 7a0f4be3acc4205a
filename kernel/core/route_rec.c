// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The path records of an id.
 */
#include <linux/slab.h>
#include <rdma/ib_sa.h>
#include "compat.h"
#include "route_rec.h"

/**
 * cmx_route_free() - free the path records of an id
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock, unless no other thread can use the id.
 */
void cmx_route_free(struct cmx_id_private *id_priv)
{
	struct rdma_route *route = &id_priv->id.route;

	kfree(route->path_rec);
	route->path_rec = NULL;
	cmx_route_directions_free(route);
	route->num_pri_alt_paths = 0;
}

/**
 * cmx_route_rec_pack() - convert a path record to the format of the SA
 * @to: receives the record. Processes have records of InfiniBand only
 * @rec: the record, of InfiniBand or OPA
 */
void cmx_route_rec_pack(struct ib_path_rec_data *to, const struct sa_path_rec *rec)
{
	struct sa_path_rec ib = *rec;

	if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		sa_convert_path_opa_to_ib(&ib, (struct sa_path_rec *)rec);
	to->flags = CMX_PATH_PRIMARY;
	ib_sa_pack_path(&ib, to->path_rec);
}
