/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ROUTE_REC_H
#define CMX_ROUTE_REC_H

#include <rdma/ib_user_sa.h>
#include "id.h"

/* flags of a record that is valid for GMPs and for both directions */
#define CMX_PATH_PRIMARY (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

void cmx_route_rec_pack(struct ib_path_rec_data *to, const struct sa_path_rec *rec);
void cmx_route_free(struct cmx_id_private *id_priv);	/* Caller must hold id_priv->lock. */

#endif
