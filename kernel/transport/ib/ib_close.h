/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_CLOSE_H
#define CMX_IB_CLOSE_H

#include <rdma/ib_cm.h>
#include "ib_send.h"
#include "id.h"

struct cmx_ib_port;

/* Caller must hold id_priv->lock. None of these functions waits. */
void cmx_ib_step(struct cmx_id_private *id_priv, int ret);
int cmx_ib_req_start(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		     const struct rdma_conn_param *param);
int cmx_ib_dreq_start(struct cmx_id_private *id_priv);
void cmx_ib_cm_id_release(struct cmx_id_private *id_priv);
struct cmx_device *cmx_close_get_device(const struct cmx_id_private *id_priv);
void cmx_close_start_deadline(struct cmx_id_private *id_priv);
void cmx_close_invalidate_route(struct cmx_id_private *id_priv);
bool cmx_close_event_handle(struct cmx_id_private *id_priv, enum ib_cm_event_type type);

void cmx_close_wait(const struct cmx_id_private *id_priv, u32 qp_num);
void cmx_close_stop_port(struct cmx_ib_port *port);
int cmx_close_init_module(void);

#endif
