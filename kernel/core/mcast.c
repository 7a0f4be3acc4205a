// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memberships of ids in multicast groups. The transport joins and leaves the groups, see
 * &struct cmx_mcast_ops.
 *
 * Each id has a hash table of its memberships, by address. An id may join the same group more than
 * once, also by different addresses with the same MGID. Each join has a leave of its own. The QP
 * stays attached to the group as long as one of these memberships needs it.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "device.h"
#include "mcast.h"
#include "sockaddr.h"
#include "stats.h"
#include "trace.h"
#include "transport.h"

#define MCAST_BITS_MIN 4
#define MCAST_BITS_MAX 20

/**
 * struct mcast_bucket - memberships with the same hash value
 * @all: list of &cmx_mcast.node, hashed by the address without the port
 * @attached: list of &cmx_mcast.attached, hashed by the MGID
 */
struct mcast_bucket {
	struct hlist_head all;
	struct hlist_head attached;
};

/**
 * struct cmx_mcast_table - memberships of an id
 * @count: number of memberships
 * @bits: log2 of the number of buckets
 * @buckets: the buckets
 */
struct cmx_mcast_table {
	u32 count;
	u32 bits;
	struct mcast_bucket *buckets;
};

static struct hlist_head *mcast_bucket_by_addr(struct cmx_mcast_table *t,
					       const struct sockaddr *addr)
{
	u32 hash;

	switch (addr->sa_family) {
	case AF_INET:
		hash = jhash(&((const struct sockaddr_in *)addr)->sin_addr, 4, 0);
		break;
	case AF_INET6:
		hash = jhash(&((const struct sockaddr_in6 *)addr)->sin6_addr, 16, 0);
		break;
	default:
		hash = jhash(&((const struct sockaddr_ib *)addr)->sib_addr, 16, 0);
	}
	return &t->buckets[hash_32(hash, t->bits)].all;
}

static struct hlist_head *mcast_bucket_by_mgid(struct cmx_mcast_table *t, const union ib_gid *mgid)
{
	u32 hash = jhash(mgid, sizeof(*mgid), 0);

	return &t->buckets[hash_32(hash, t->bits)].attached;
}

static struct mcast_bucket *mcast_buckets_alloc(u32 bits)
{
	return kvcalloc(1U << bits, sizeof(struct mcast_bucket), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

/* Double the number of buckets. On allocation failure the table stays as it is. */
static void mcast_table_grow(struct cmx_mcast_table *t)
{
	struct cmx_mcast_table old = *t;
	struct hlist_node *next;
	struct mcast_bucket *buckets;
	struct cmx_mcast *mc;
	u32 i;

	buckets = mcast_buckets_alloc(old.bits + 1);
	if (!buckets)
		return;
	t->buckets = buckets;
	t->bits++;
	for (i = 0; i < 1U << old.bits; i++) {
		hlist_for_each_entry_safe(mc, next, &old.buckets[i].all, node) {
			hlist_del(&mc->node);
			hlist_add_head(&mc->node, mcast_bucket_by_addr(t, &mc->addr.sa));
		}
		hlist_for_each_entry_safe(mc, next, &old.buckets[i].attached, attached) {
			hlist_del(&mc->attached);
			hlist_add_head(&mc->attached, mcast_bucket_by_mgid(t, &mc->mgid));
		}
	}
	kvfree(old.buckets);
}

/**
 * cmx_mcast_table_add() - add a membership to the table of an id
 * @id_priv: the id
 * @mc: the membership. The table takes a reference
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0 or -ENOMEM.
 */
int cmx_mcast_table_add(struct cmx_id_private *id_priv, struct cmx_mcast *mc)
{
	struct cmx_mcast_table *t = id_priv->mcast;

	if (!t) {
		t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
		if (!t)
			return -ENOMEM;
		t->bits = MCAST_BITS_MIN;
		t->buckets = mcast_buckets_alloc(t->bits);
		if (!t->buckets) {
			kfree(t);
			return -ENOMEM;
		}
		id_priv->mcast = t;
	}
	if (t->count >= 1U << t->bits && t->bits < MCAST_BITS_MAX)
		mcast_table_grow(t);
	mc->start = cmx_stats_now();
	hlist_add_head(&mc->node, mcast_bucket_by_addr(t, &mc->addr.sa));
	t->count++;
	kref_get(&mc->ref);
	return 0;
}

/**
 * cmx_mcast_table_del() - undo cmx_mcast_table_add()
 * @id_priv: the id
 * @mc: the membership
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_mcast_table_del(struct cmx_id_private *id_priv, struct cmx_mcast *mc)
{
	hlist_del(&mc->node);
	id_priv->mcast->count--;
	cmx_mcast_put(mc);
}

/**
 * cmx_mcast_count() - count the memberships of an id
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the number of memberships.
 */
u32 cmx_mcast_count(const struct cmx_id_private *id_priv)
{
	return id_priv->mcast ? id_priv->mcast->count : 0;
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

	hlist_for_each_entry(other, mcast_bucket_by_mgid(mc->id_priv->mcast, &mc->mgid), attached)
		if (other->mlid == mc->mlid && !memcmp(&other->mgid, &mc->mgid, sizeof(mc->mgid)))
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
	if (!qp || !cmx_mcast_receives(mc) || !hlist_unhashed(&mc->attached))
		return 0;
	if (!mcast_is_shared(mc)) {
		ret = ib_attach_mcast(qp, &mc->mgid, mc->mlid);
		if (ret)
			return ret;
	}
	hlist_add_head(&mc->attached, mcast_bucket_by_mgid(mc->id_priv->mcast, &mc->mgid));
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
	if (hlist_unhashed(&mc->attached))
		return;
	hlist_del_init(&mc->attached);
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
	if (!id_priv->mcast)
		return NULL;
	hlist_for_each_entry(mc, mcast_bucket_by_addr(id_priv->mcast, addr), node)
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
	cmx_mcast_table_del(id_priv, mc);
}

/**
 * cmx_mcast_leave_all() - end all memberships of an id
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_mcast_leave_all(struct cmx_id_private *id_priv)
{
	struct cmx_mcast_table *t = id_priv->mcast;
	struct hlist_node *next;
	struct cmx_mcast *mc;
	u32 i;

	lockdep_assert_held(&id_priv->lock);
	if (!t)
		return;
	for (i = 0; i < 1U << t->bits; i++)
		hlist_for_each_entry_safe(mc, next, &t->buckets[i].all, node)
			cmx_mcast_leave_locked(mc);
	id_priv->mcast = NULL;
	kvfree(t->buckets);
	kfree(t);
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
	struct cmx_mcast_table *t = id_priv->mcast;
	struct cmx_mcast *mc;
	u32 i;

	lockdep_assert_held(&id_priv->lock);
	for (i = 0; t && i < 1U << t->bits; i++)
		hlist_for_each_entry(mc, &t->buckets[i].all, node)
			cmx_mcast_detach(mc);
}
