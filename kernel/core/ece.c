// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Enhanced connection establishment (ECE): REQ and REP each carry one pair of vendor ID and
 * vendor-defined attributes.
 */
#include <linux/export.h>
#include "device.h"
#include "ece.h"
#include "option_value.h"
#include "transport.h"

static bool ece_is_supported(const struct cmx_id_private *id_priv)
{
	return !id_priv->dev || id_priv->dev_port->transport->has_ece;
}

/* Is our REQ or REP still to be sent? */
static bool ece_can_offer(const struct cmx_id_private *id_priv)
{
	if (id_priv->state == CMX_CONNECT)
		return id_priv->passive && id_priv->response_pending;
	return id_priv->state <= CMX_ROUTE_RESOLVED;
}

/**
 * cmx_ece_store_local() - store the ECE pair for the REQ or REP
 * @id_priv: the id. Caller must hold its lock
 * @ece: the pair, which cmx_ece_is_valid() accepts; vendor_id 0 clears it
 */
void cmx_ece_store_local(struct cmx_id_private *id_priv, const struct rdma_ucm_ece *ece)
{
	lockdep_assert_held(&id_priv->lock);
	id_priv->ece_local = *ece;
	id_priv->ece_flags &= ~CMX_ECE_F_LOCAL;
	if (ece->vendor_id)
		id_priv->ece_flags |= CMX_ECE_F_LOCAL;
}

/**
 * cmx_set_local_ece() - set the ECE pair for the REQ or REP
 * @id: the id, before its cmx_connect() or cmx_accept()
 * @ece: the pair; vendor_id 0 clears it
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL if the vendor ID has more than 24 bits, or if the REQ or REP has been sent;
 * -EOPNOTSUPP on iWARP.
 */
int cmx_set_local_ece(struct cmx_id *id, const struct rdma_ucm_ece *ece)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret = 0;

	if (!cmx_ece_is_valid(ece))
		return -EINVAL;
	mutex_lock(&id_priv->lock);
	if (!ece_can_offer(id_priv))
		ret = -EINVAL;
	else if (!ece_is_supported(id_priv))
		ret = -EOPNOTSUPP;
	else
		cmx_ece_store_local(id_priv, ece);
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_set_local_ece);

/**
 * cmx_get_remote_ece() - get the ECE pair that the peer sent in its REQ or REP
 * @id: the id
 * @ece: receives the pair; all zero until the peer has sent one
 *
 * Context: process, may sleep.
 *
 * Return: 0, or -EOPNOTSUPP on iWARP.
 */
int cmx_get_remote_ece(struct cmx_id *id, struct rdma_ucm_ece *ece)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	mutex_lock(&id_priv->lock);
	*ece = id_priv->ece_remote;
	ret = ece_is_supported(id_priv) ? 0 : -EOPNOTSUPP;
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_get_remote_ece);

/**
 * cmx_query_ece() - query the state of the ECE negotiation
 * @id: the id
 * @info: receives the state
 *
 * Context: process, may sleep.
 *
 * Return: none.
 */
void cmx_query_ece(struct cmx_id *id, struct cmx_ece_info *info)
{
	struct cmx_id_private *id_priv = to_id_priv(id);

	mutex_lock(&id_priv->lock);
	info->local = cmx_ece_to_user(&id_priv->ece_local);
	info->remote = cmx_ece_to_user(&id_priv->ece_remote);
	info->flags = id_priv->ece_flags;
	info->policy = cmx_opt_get(id_priv, CMX_OPT_ECE_POLICY);
	mutex_unlock(&id_priv->lock);
}
EXPORT_SYMBOL_GPL(cmx_query_ece);

static void ece_update_applied(struct cmx_id_private *id_priv)
{
	if (id_priv->ece_flags & CMX_ECE_F_OFFERED && id_priv->ece_flags & CMX_ECE_F_REMOTE)
		id_priv->ece_flags |= CMX_ECE_F_APPLIED;
}

/**
 * cmx_ece_mark_offered() - write the ECE pair to the REQ or REP that is about to be sent
 * @id_priv: the id. Caller must hold its lock
 * @out: receives the pair, or zeroes for none
 */
void cmx_ece_mark_offered(struct cmx_id_private *id_priv, struct rdma_ucm_ece *out)
{
	lockdep_assert_held(&id_priv->lock);
	memset(out, 0, sizeof(*out));
	if (cmx_opt_get(id_priv, CMX_OPT_ECE_POLICY) == CMX_ECE_OFF ||
	    !id_priv->ece_local.vendor_id)
		return;
	*out = id_priv->ece_local;
	id_priv->ece_flags |= CMX_ECE_F_OFFERED;
	ece_update_applied(id_priv);
}

/**
 * cmx_ece_receive() - store the ECE pair of a received REQ or REP
 * @id_priv: the id. Caller must hold its lock
 * @ece: the pair of the message; vendor_id 0: the message has none
 *
 * Return: false if the policy requires a pair of the peer and the message has none. The caller
 * then rejects with IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED.
 */
bool cmx_ece_receive(struct cmx_id_private *id_priv, const struct rdma_ucm_ece *ece)
{
	lockdep_assert_held(&id_priv->lock);
	if (cmx_opt_get(id_priv, CMX_OPT_ECE_POLICY) == CMX_ECE_OFF)
		return true;
	id_priv->ece_remote = *ece;
	if (ece->vendor_id) {
		id_priv->ece_flags |= CMX_ECE_F_REMOTE;
		ece_update_applied(id_priv);
		return true;
	}
	if (cmx_opt_get(id_priv, CMX_OPT_ECE_POLICY) != CMX_ECE_REQUIRE)
		return true;
	id_priv->ece_flags |= CMX_ECE_F_REJECTED;
	return false;
}
