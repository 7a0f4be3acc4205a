/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_OPTION_VALUE_H
#define CMX_OPTION_VALUE_H

#include "id.h"
#include "param.h"

/* Default and range of each option */
extern struct cmx_param cmx_opt_defaults[CMX_OPT_NUM];

/*
 * The packet lifetime of a path, 4.096 us * 2^n: the longest that is used, and the longest that a
 * process without CAP_NET_ADMIN can choose, 8.6 s.
 */
#define CMX_LIFETIME_MAX 30
#define CMX_LIFETIME_USER_MAX 21

/* Unprivileged processes may exceed the default CM_RESPONSE_TIMEOUT by 2: four times as long. */
#define CMX_RESPONSE_TIMEOUT_MARGIN 2

/* Return: 4.096 us * 2^@n in ms, rounded as in ib_cm. */
static inline u32 cmx_opt_timeout_ms(u8 n)
{
	return 1U << (n > 8 ? n - 8 : 0);
}

/* Options of the route and of an active connection, which the id of a request does not have */
#define CMX_OPTS_OF_ACTIVE								\
	(BIT(CMX_OPT_IB_PATH) | BIT(CMX_OPT_CM_RETRIES) | BIT(CMX_OPT_CM_RESPONSE_TIMEOUT) |	\
	 BIT(CMX_OPT_RESOLVE_RETRIES) | BIT(CMX_OPT_SL) | BIT(CMX_OPT_FLOW_LABEL) |		\
	 BIT(CMX_OPT_HOP_LIMIT) | BIT(CMX_OPT_GID_TYPE) | BIT(CMX_OPT_PKEY) |			\
	 BIT(CMX_OPT_PATH_MTU))

u32 cmx_opts_value(const struct cmx_opts *opt, enum cmx_opt_bit bit);
void cmx_opts_store(struct cmx_opts *opt, enum cmx_opt_bit bit, u32 val);

/*
 * Return: the value of an option that was set, or else the default of the host. Caller must hold
 * id_priv->lock.
 */
static inline u32 cmx_opt_get(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	return cmx_opt_is_set(id_priv, bit) ? cmx_opts_value(&id_priv->opt, bit) :
					      cmx_param_get(&cmx_opt_defaults[bit]);
}

/* Return: the largest CM_RESPONSE_TIMEOUT of a process without CAP_NET_ADMIN. */
static inline u32 cmx_opt_response_timeout_max(void)
{
	return cmx_param_get(&cmx_opt_defaults[CMX_OPT_CM_RESPONSE_TIMEOUT]) +
	       CMX_RESPONSE_TIMEOUT_MARGIN;
}

/* Values in effect, including defaults. Caller must hold id_priv->lock. */
u8 cmx_opt_lifetime_max(const struct cmx_id_private *id_priv);
u32 cmx_opt_connect_deadline_ms(const struct cmx_id_private *id_priv);
void cmx_opt_inherit(struct cmx_id_private *child, const struct cmx_id_private *listener);

#endif
