/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CONNECT_H
#define CMX_CONNECT_H

#include "id.h"

void cmx_wait_for_qp(const struct cmx_priv *p, const struct rdma_conn_param *param);
int cmx_accept_locked(struct cmx_priv *p, const struct rdma_conn_param *param,
		      const struct rdma_ucm_ece *ece);	/* p->lock is held */

#endif
