/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IW_H
#define CMX_IW_H

#include <rdma/iw_cm.h>
#include "id.h"

extern const struct cmx_transport cmx_transport_iwarp;

bool cmx_iw_device_is_in(struct ib_device *device, const struct net *net);
int cmx_iw_listen(struct cmx_id_private *id_priv, struct ib_device *device, int backlog,
		  struct iw_cm_id **listener);
void cmx_iw_listen_stop(struct iw_cm_id *iw);

#endif
