/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ROUTE_REC_H
#define CMX_ROUTE_REC_H

#include <rdma/ib_sa.h>
#include <rdma/ib_user_sa.h>
#include "id.h"

/* flags of a record that is valid for GMPs and for both directions */
#define CMX_PATH_PRIMARY (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

/* The options of a path; those of them that the SA is asked for, and those that it is not */
#define CMX_PATH_OPTS_OF_QUERY (BIT(CMX_OPT_SL) | BIT(CMX_OPT_PATH_MTU))
#define CMX_PATH_OPTS_OF_REPLY (BIT(CMX_OPT_FLOW_LABEL) | BIT(CMX_OPT_HOP_LIMIT))
#define CMX_PATH_OPTS (CMX_PATH_OPTS_OF_QUERY | CMX_PATH_OPTS_OF_REPLY | BIT(CMX_OPT_ACK_TIMEOUT))

/* path_attr.c */
ib_sa_comp_mask cmx_path_rec_merge(struct sa_path_rec *rec, const struct cmx_opts *opt, u32 use);

void cmx_route_rec_pack(struct ib_path_rec_data *to, const struct sa_path_rec *rec);
void cmx_route_free(struct cmx_id_private *id_priv);	/* Caller must hold id_priv->lock. */

#endif
