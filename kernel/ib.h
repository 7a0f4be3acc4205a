/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What ib_conn.c, ib_req.c and ib_sidr.c share. An ib_cm id belongs to the
 * &struct cmx_priv that is its context, and holds a reference to it.
 */
#ifndef CMX_IB_H
#define CMX_IB_H

#include <rdma/ib_cm.h>
#include "id.h"

/* ib_conn.c: p->lock is held */
int cmx_cm_create(struct cmx_priv *p);
void cmx_cm_abort(struct cmx_priv *p);		/* nothing has been sent on it */
int cmx_req_data(struct cmx_priv *p, const struct rdma_conn_param *param, u8 *data);
u32 cmx_psn(struct cmx_priv *p);
int cmx_ib_notify(struct cmx_priv *p, enum ib_event_type event);	/* no lock is needed */
int cmx_ib_port_attr(struct cmx_priv *p, struct ib_qp_attr *attr, int *mask);

/* ib_sidr.c: p->lock is held */
bool cmx_sidr_message(struct cmx_priv *p, const struct ib_cm_event *event, struct cmx_event *ev);

/* handlers of ib_cm */
int cmx_ib_handler(struct ib_cm_id *cm, const struct ib_cm_event *event);
int cmx_ib_req_handler(struct ib_cm_id *cm, const struct ib_cm_event *event);

#endif
