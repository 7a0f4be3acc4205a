/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_WINDOW_H
#define CMX_IB_WINDOW_H

#include "id.h"

/* Caller must hold id_priv->lock. */
int cmx_ib_window_enter(struct cmx_id_private *id_priv, bool may_wait);
void cmx_ib_window_leave(struct cmx_id_private *id_priv);
bool cmx_ib_window_is_half_used(const struct cmx_id_private *id_priv);

#endif
