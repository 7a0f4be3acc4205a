/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TEARDOWN_H
#define CMX_TEARDOWN_H

#include "id.h"

struct cmx_event;

/* Caller must hold id_priv->lock. */
bool cmx_id_set_removed(struct cmx_id_private *id_priv, struct cmx_event *ev);
void cmx_id_release_device(struct cmx_id_private *id_priv);

void cmx_id_shutdown(struct cmx_id_private *id_priv);

#endif
