// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The options in effect that all layers ask for, host-wide defaults included.
 */
#include "option_value.h"

/* Some of them are parameters of the module, see option.c. */
unsigned int cmx_opt_defaults[CMX_OPT_NUM] = {
#define CMX_OPTION_VALUE(level, name, label, type, field, min, max, def, ...) \
	[CMX_OPT_##label] = def,
#define CMX_OPTION_RECORDS(...)
#include "option_rows.h"
};

#define OPT_IN_EFFECT(id_priv, label, field) \
	(cmx_opt_set(id_priv, CMX_OPT_##label) ? (id_priv)->opt.field \
					 : READ_ONCE(cmx_opt_defaults[CMX_OPT_##label]))

/**
 * cmx_opt_tos() - traffic class in effect
 * @id_priv: the id; its lock is held
 */
u8 cmx_opt_tos(const struct cmx_id_private *id_priv)
{
	return OPT_IN_EFFECT(id_priv, TOS, tos);
}

/**
 * cmx_opt_cm_retries() - resends of a CM message in effect
 * @id_priv: the id; its lock is held
 */
u8 cmx_opt_cm_retries(const struct cmx_id_private *id_priv)
{
	return OPT_IN_EFFECT(id_priv, CM_RETRIES, cm_retries);
}

/**
 * cmx_opt_cm_response_timeout() - time for an answer in effect, 4.096 us * 2^n
 * @id_priv: the id; its lock is held
 */
u8 cmx_opt_cm_response_timeout(const struct cmx_id_private *id_priv)
{
	return OPT_IN_EFFECT(id_priv, CM_RESPONSE_TIMEOUT, cm_response_timeout);
}

/**
 * cmx_opt_connect_deadline_ms() - deadline of a connect in effect, 0 for none
 * @id_priv: the id; its lock is held
 */
u32 cmx_opt_connect_deadline_ms(const struct cmx_id_private *id_priv)
{
	return OPT_IN_EFFECT(id_priv, CONNECT_DEADLINE_MS, connect_deadline_ms);
}

/**
 * cmx_opt_inherit() - options of an id that a request brings
 * @child: the new id
 * @listener: its listener; both locks are held
 *
 * All but the path, which is the request's.
 */
void cmx_opt_inherit(struct cmx_id_private *child, const struct cmx_id_private *listener)
{
	lockdep_assert_held(&listener->lock);
	child->opt = listener->opt;
	child->opt.set &= ~BIT(CMX_OPT_IB_PATH);
}
