/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_KEYS_H
#define CMX_KEYS_H

#include "id.h"

/* Caller must hold id_priv->lock. */
u16 cmx_pkey_get(const struct cmx_id_private *id_priv);
int cmx_qkey_get(const struct cmx_id_private *id_priv, u32 *qkey);
int cmx_qkey_set(struct cmx_id_private *id_priv, u32 qkey);

#endif
