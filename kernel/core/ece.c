// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Enhanced connection establishment (ECE): REQ and REP each carry one pair of vendor ID and
 * vendor-defined attributes.
 */
#include <linux/export.h>
#include "device.h"
#include "ece.h"
#include "transport.h"

#define BEFORE_ANSWER (CMX_IN(IDLE) | CMX_IN(BOUND) | CMX_IN(ADDR_QUERY) |		\
		       CMX_IN(ADDR_RESOLVED) | CMX_IN(ROUTE_QUERY) |			\
		       CMX_IN(ROUTE_RESOLVED))

static u8 ece_policy(const struct cmx_priv *p)
{
	return cmx_opt_set(p, CMX_OPT_ECE_POLICY) ? p->opt.ece_policy : CMX_ECE_AUTO;
}

static bool ece_is_supported(const struct cmx_priv *p)
{
	return !p->dev || p->dev_port->transport->has_ece;
}

/* Is our REQ or REP still to be sent? */
static bool ece_can_offer(const struct cmx_priv *p)
{
	if (p->state == CMX_CONNECT)
		return p->passive && p->owed;
	return BIT(p->state) & BEFORE_ANSWER;
}

/**
 * cmx_set_local_ece() - set the ECE pair to offer in the REQ or to answer in the REP
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
	struct cmx_priv *p = to_priv(id);
	int ret = 0;

	if (ece->vendor_id > CMX_ECE_VENDOR_MAX)
		return -EINVAL;
	mutex_lock(&p->lock);
	if (!ece_can_offer(p)) {
		ret = -EINVAL;
	} else if (!ece_is_supported(p)) {
		ret = -EOPNOTSUPP;
	} else {
		p->ece_local = *ece;
		p->ece_flags &= ~CMX_ECE_F_LOCAL;
		if (ece->vendor_id)
			p->ece_flags |= CMX_ECE_F_LOCAL;
	}
	mutex_unlock(&p->lock);
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
	struct cmx_priv *p = to_priv(id);
	int ret;

	mutex_lock(&p->lock);
	*ece = p->ece_remote;
	ret = ece_is_supported(p) ? 0 : -EOPNOTSUPP;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_get_remote_ece);

/**
 * cmx_query_ece() - query the state of the ECE negotiation
 * @id: the id
 * @info: receives the state
 *
 * Context: process, may sleep.
 */
void cmx_query_ece(struct cmx_id *id, struct cmx_ece_info *info)
{
	struct cmx_priv *p = to_priv(id);

	mutex_lock(&p->lock);
	info->local = p->ece_local;
	info->remote = p->ece_remote;
	info->flags = p->ece_flags;
	info->policy = ece_policy(p);
	mutex_unlock(&p->lock);
}
EXPORT_SYMBOL_GPL(cmx_query_ece);

static void ece_applied_update(struct cmx_priv *p)
{
	if (p->ece_flags & CMX_ECE_F_OFFERED && p->ece_flags & CMX_ECE_F_REMOTE)
		p->ece_flags |= CMX_ECE_F_APPLIED;
}

/**
 * cmx_ece_offer() - get the ECE pair for the REQ or REP that is about to be sent
 * @p: the id. Caller must hold its lock
 * @out: receives the pair, or zeroes for none
 */
void cmx_ece_offer(struct cmx_priv *p, struct rdma_ucm_ece *out)
{
	lockdep_assert_held(&p->lock);
	memset(out, 0, sizeof(*out));
	if (ece_policy(p) == CMX_ECE_OFF || !p->ece_local.vendor_id)
		return;
	*out = p->ece_local;
	p->ece_flags |= CMX_ECE_F_OFFERED;
	ece_applied_update(p);
}

/**
 * cmx_ece_receive() - store the ECE pair of a received REQ or REP
 * @p: the id. Caller must hold its lock
 * @ece: the pair of the message; vendor_id 0: the message has none
 *
 * Return: false if the policy requires a pair of the peer and the message has none. The caller
 * then rejects with IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED.
 */
bool cmx_ece_receive(struct cmx_priv *p, const struct rdma_ucm_ece *ece)
{
	lockdep_assert_held(&p->lock);
	if (ece_policy(p) == CMX_ECE_OFF)
		return true;
	p->ece_remote = *ece;
	if (ece->vendor_id) {
		p->ece_flags |= CMX_ECE_F_REMOTE;
		ece_applied_update(p);
		return true;
	}
	if (ece_policy(p) != CMX_ECE_REQUIRE)
		return true;
	p->ece_flags |= CMX_ECE_F_REJECTED;
	return false;
}
