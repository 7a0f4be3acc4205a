/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_INFO_H
#define CMX_INFO_H

#include "handle.h"

void cmx_info_fill(struct cmx_user_id *user_id, struct cmx_id_info *info, size_t len);
int cmx_info_qp_attr(struct cmx_id_private *id_priv, enum ib_qp_state state,
		     struct ib_uverbs_qp_attr *to);

#endif
