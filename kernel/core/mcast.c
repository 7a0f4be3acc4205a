// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memberships of ids in multicast groups. The transport joins and leaves the groups, see
 * &struct cmx_mcast_ops.
 *
 * An id may join the same group more than once, also by different addresses with the same MGID.
 * Each join has a leave of its own. The QP stays attached to the group as long as one of these
 * memberships needs it.
 */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "mcast.h"
#include "sockaddr.h"
#include "stats.h"
#include "trace.h"
#include "transport.h"

/**
 * cmx_mcast_add() - add a membership to the list of an id
 * @id_priv: the id
 * @mc: the membership. The list takes a reference
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_mcast_add(struct cmx_id_private *id_priv, struct cmx_mcast *mc)
{
	mc->start = cmx_stats_now();
	hlist_add_head(&mc->node, &id_priv->groups);
	id_priv->num_groups++;
	kref_get(&mc->ref);
}

/**
 * cmx_mcast_del() - undo cmx_mcast_add()
 * @id_priv: the id
 * @mc: the membership
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_mcast_del(struct cmx_id_private *id_priv, struct cmx_mcast *mc)
{
	hlist_del(&mc->node);
	id_priv->num_groups--;
	cmx_mcast_put(mc);
}

/**
 * cmx_mcast_receives() - check whether a membership receives from the group
 * @mc: the membership
 *
 * Return: false if the membership is send-only.
 */
bool cmx_mcast_receives(const struct cmx_mcast *mc)
{
	return mc->attr.join_state == CMX_MCAST_FULL || mc->attr.join_state == CMX_MCAST_NON;
}

/* Is our QP attached to the same MGID and MLID for another membership? */
static bool mcast_is_shared(struct cmx_mcast *mc)
{
	struct cmx_mcast *other;

	hlist_for_each_entry(other, &mc->id_priv->groups, node)
		if (other != mc && other->attached && other->mlid == mc->mlid &&
		    !memcmp(&other->mgid, &mc->mgid, sizeof(mc->mgid)))
			return true;
	return false;
}

/**
 * cmx_mcast_attach() - attach the QP of the id to the group
 * @mc: the membership
 *
 * Does nothing if the id has no QP that we manage, or if the membership is send-only.
 *
 * Context: Caller must hold the lock of the id.
 * Return: 0 or the error of the driver.
 */
int cmx_mcast_attach(struct cmx_mcast *mc)
{
	struct ib_qp *qp = mc->id_priv->id.qp;
	int ret;

	lockdep_assert_held(&mc->id_priv->lock);
	if (!qp || !cmx_mcast_receives(mc) || mc->attached)
		return 0;
	if (!mcast_is_shared(mc)) {
		ret = ib_attach_mcast(qp, &mc->mgid, mc->mlid);
		if (ret)
			return ret;
	}
	mc->attached = true;
	return 0;
}

/**
 * cmx_mcast_detach() - undo cmx_mcast_attach()
 * @mc: the membership; nothing is done if it is not attached
 *
 * The membership continues.
 *
 * Context: Caller must hold the lock of the id.
 */
void cmx_mcast_detach(struct cmx_mcast *mc)
{
	lockdep_assert_held(&mc->id_priv->lock);
	if (!mc->attached)
		return;
	mc->attached = false;
	if (!mcast_is_shared(mc))
		ib_detach_mcast(mc->id_priv->id.qp, &mc->mgid, mc->mlid);
}

static void mcast_free(struct kref *ref)
{
	struct cmx_mcast *mc = container_of(ref, struct cmx_mcast, ref);

	cmx_id_put(mc->id_priv);
	kfree(mc);
}

/**
 * cmx_mcast_put() - drop a reference
 * @mc: the membership
 */
void cmx_mcast_put(struct cmx_mcast *mc)
{
	kref_put(&mc->ref, mcast_free);
}

/**
 * cmx_mcast_find() - find a membership by its address
 * @id_priv: the id
 * @addr: the address by which the group was joined
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the membership, without a reference, or NULL.
 */
struct cmx_mcast *cmx_mcast_find(struct cmx_id_private *id_priv, const struct sockaddr *addr)
{
	struct cmx_mcast *mc;

	lockdep_assert_held(&id_priv->lock);
	hlist_for_each_entry(mc, &id_priv->groups, node)
		if (cmx_addr_equal(&mc->addr.sa, addr))
			return mc;
	return NULL;
}

/**
 * cmx_mcast_leave_locked() - end a membership
 * @mc: the membership, which has not been left yet
 *
 * Context: Caller must hold the lock of the id.
 */
void cmx_mcast_leave_locked(struct cmx_mcast *mc)
{
	struct cmx_id_private *id_priv = mc->id_priv;

	lockdep_assert_held(&mc->id_priv->lock);
	WRITE_ONCE(mc->left, 1);
	cmx_mcast_detach(mc);
	id_priv->dev_port->transport->mcast->leave(mc);
	trace_cmx_mcast(mc, "leave", 0);
	cmx_mcast_del(id_priv, mc);
}

/**
 * cmx_mcast_leave_all() - end all memberships of an id
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_mcast_leave_all(struct cmx_id_private *id_priv)
{
	struct hlist_node *next;
	struct cmx_mcast *mc;

	lockdep_assert_held(&id_priv->lock);
	hlist_for_each_entry_safe(mc, next, &id_priv->groups, node)
		cmx_mcast_leave_locked(mc);
}

/**
 * cmx_mcast_detach_all() - detach the QP of an id from all groups
 * @id_priv: the id
 *
 * The memberships continue until the groups are left.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_mcast_detach_all(struct cmx_id_private *id_priv)
{
	struct cmx_mcast *mc;

	lockdep_assert_held(&id_priv->lock);
	hlist_for_each_entry(mc, &id_priv->groups, node)
		cmx_mcast_detach(mc);
}
