/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEADLINE_H
#define CMX_DEADLINE_H

#include "id.h"

/* Caller must hold id_priv->lock. */
void cmx_deadline_start(struct cmx_id_private *id_priv);
void cmx_deadline_start_end(struct cmx_id_private *id_priv, u32 ms);

#endif
