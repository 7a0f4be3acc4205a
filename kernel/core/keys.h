/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_KEYS_H
#define CMX_KEYS_H

#include "id.h"

/* Caller must hold id_priv->lock. */
u16 cmx_pkey_get(const struct cmx_id_private *id_priv);
int cmx_group_rec_get(const struct cmx_id_private *id_priv, union ib_gid *mgid,
		      struct ib_sa_mcmember_rec *rec);
void cmx_broadcast_mgid_get(const struct cmx_id_private *id_priv, u16 pkey, union ib_gid *mgid);
u16 cmx_group_pkey_get(const struct cmx_id_private *id_priv, const struct cmx_mcast_attr *attr);
int cmx_qkey_get(const struct cmx_id_private *id_priv, u32 *qkey);
int cmx_qkey_set(struct cmx_id_private *id_priv, u32 qkey);
int cmx_group_qkey_get(const struct cmx_id_private *id_priv, const struct cmx_mcast_attr *attr,
		       u32 *qkey);
bool cmx_group_qkey_fits(const struct cmx_id_private *id_priv, u32 qkey);

#endif
