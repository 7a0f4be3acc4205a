/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_CLOSE_H
#define CMX_IB_CLOSE_H

#include <rdma/ib_cm.h>
#include "id.h"

struct cmx_ib_port;

/* Caller must hold id_priv->lock. The function never waits. */
void cmx_ib_cm_id_release(struct cmx_id_private *id_priv);

/* Caller must hold id_priv->lock. */
void cmx_close_begin(struct cmx_id_private *id_priv);
void cmx_close_start_deadline(struct cmx_id_private *id_priv);
bool cmx_close_stop(struct cmx_id_private *id_priv);
int cmx_ib_dreq_send(struct cmx_id_private *id_priv);
bool cmx_close_event_handle(struct cmx_id_private *id_priv, struct ib_cm_id *cm,
			    enum ib_cm_event_type type);
void cmx_close_invalidate_route(struct cmx_id_private *id_priv); /* under id_priv->lock */
void cmx_close_wait(const struct cmx_id_private *id_priv, u32 qp_num);
void cmx_close_init_port(struct cmx_ib_port *port);
void cmx_close_stop_port(struct cmx_ib_port *port);
unsigned int cmx_close_count(void);
int cmx_close_init_module(void);

#endif
