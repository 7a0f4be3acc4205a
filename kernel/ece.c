// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Enhanced connection establishment: one vendor-defined pair in each
 * direction, in REQ and REP.
 */
#include <linux/export.h>
#include "device.h"
#include "ece.h"
#include "transport.h"

#define BEFORE_ANSWER (CMX_IN(IDLE) | CMX_IN(BOUND) | CMX_IN(ADDR_QUERY) |		\
		       CMX_IN(ADDR_RESOLVED) | CMX_IN(ROUTE_QUERY) |			\
		       CMX_IN(ROUTE_RESOLVED))

static u8 policy(const struct cmx_priv *p)
{
	return cmx_opt_set(p, CMX_OPT_ECE_POLICY) ? p->opt.ece_policy : CMX_ECE_AUTO;
}

static bool has_ece(const struct cmx_priv *p)
{
	return !p->dev || p->dev_port->transport->has_ece;
}

/* Our REQ or REP is not out yet. */
static bool can_offer(const struct cmx_priv *p)
{
	if (p->state == CMX_CONNECT)
		return p->passive && p->owed;
	return BIT(p->state) & BEFORE_ANSWER;
}

/**
 * cmx_set_local_ece() - set what is offered in REQ, or answered in REP
 * @id: the id, before its cmx_connect() or cmx_accept()
 * @ece: the pair; vendor_id 0 takes it back
 *
 * Context: process, may sleep.
 *
 * Return: 0, -EINVAL: a vendor id of more than 24 bits, or too late;
 * -EOPNOTSUPP: iWARP.
 */
int cmx_set_local_ece(struct cmx_id *id, const struct rdma_ucm_ece *ece)
{
	struct cmx_priv *p = to_priv(id);
	int ret = 0;

	if (ece->vendor_id > CMX_ECE_VENDOR_MAX)
		return -EINVAL;
	mutex_lock(&p->lock);
	if (!can_offer(p)) {
		ret = -EINVAL;
	} else if (!has_ece(p)) {
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
 * cmx_get_remote_ece() - what the peer offered in REQ, or answered in REP
 * @id: the id
 * @ece: receives it; all zero as long as the peer sent none
 *
 * Context: process, may sleep.
 *
 * Return: 0, -EOPNOTSUPP: iWARP.
 */
int cmx_get_remote_ece(struct cmx_id *id, struct rdma_ucm_ece *ece)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	mutex_lock(&p->lock);
	*ece = p->ece_remote;
	ret = has_ece(p) ? 0 : -EOPNOTSUPP;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_get_remote_ece);

/**
 * cmx_query_ece() - how the negotiation of an id stands
 * @id: the id
 * @info: receives it
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
	info->policy = policy(p);
	mutex_unlock(&p->lock);
}
EXPORT_SYMBOL_GPL(cmx_query_ece);

static void settle(struct cmx_priv *p)
{
	if (p->ece_flags & CMX_ECE_F_OFFERED && p->ece_flags & CMX_ECE_F_REMOTE)
		p->ece_flags |= CMX_ECE_F_APPLIED;
}

/**
 * cmx_ece_offer() - what goes into the REQ or REP that is about to be sent
 * @p: the id; its lock is held
 * @out: receives the pair, or zeroes for none
 */
void cmx_ece_offer(struct cmx_priv *p, struct rdma_ucm_ece *out)
{
	lockdep_assert_held(&p->lock);
	memset(out, 0, sizeof(*out));
	if (policy(p) == CMX_ECE_OFF || !p->ece_local.vendor_id)
		return;
	*out = p->ece_local;
	p->ece_flags |= CMX_ECE_F_OFFERED;
	settle(p);
}

/**
 * cmx_ece_receive() - a REQ or REP came
 * @p: the id; its lock is held
 * @ece: the pair in it; vendor_id 0: none
 *
 * Return: false: the policy wants a pair of the peer's and there is none; the
 * caller rejects with IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED.
 */
bool cmx_ece_receive(struct cmx_priv *p, const struct rdma_ucm_ece *ece)
{
	lockdep_assert_held(&p->lock);
	if (policy(p) == CMX_ECE_OFF)
		return true;
	p->ece_remote = *ece;
	if (ece->vendor_id) {
		p->ece_flags |= CMX_ECE_F_REMOTE;
		settle(p);
		return true;
	}
	if (policy(p) != CMX_ECE_REQUIRE)
		return true;
	p->ece_flags |= CMX_ECE_F_REJECTED;
	return false;
}
