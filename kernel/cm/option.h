/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_OPTION_H
#define CMX_OPTION_H

#include "id.h"
#include "rule.h"

struct cmx_id_option;

/* option_path.c: RDMA_OPTION_IB_PATH */
int cmx_opt_set_path(struct cmx_id_private *id_priv, const void *val, size_t len);
int cmx_opt_get_path(struct cmx_id_private *id_priv, void *val, size_t *len);
int cmx_opt_apply_tos(struct cmx_id_private *id_priv);

u32 cmx_opt_list(const struct cmx_id_private *id_priv, struct cmx_id_option *to);
void cmx_opt_list_defaults(struct cmx_id_option *to);
int cmx_opt_fill_rule_value(struct cmx_rule_value *value, const struct cmx_id_option *option);

bool cmx_opt_is_supported(const struct cmx_id_private *id_priv,
			  enum cmx_opt_bit bit); /* by the transport */

#endif
