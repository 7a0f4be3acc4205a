/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_BOND_H
#define CMX_BOND_H

#include "id.h"

struct net_device;

void cmx_bond_attach(struct cmx_id_private *id_priv);
void cmx_bond_detach(struct cmx_id_private *id_priv);
void cmx_bond_fail_over(const struct net_device *ndev,
			void (*report)(struct cmx_id_private *id_priv));

#endif
