// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memberships of ids in multicast groups. How a group is joined is the
 * backend's, see &struct cmx_mcast_ops.
 *
 * An id finds its memberships in a hash table by address. The same group may be
 * joined more than once, and by addresses that have the same MGID; each join is
 * left on its own, and its QP stays attached as long as one of them needs that.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_sa.h>
#include "device.h"
#include "event.h"
#include "mcast.h"
#include "sockaddr.h"
#include "trace.h"
#include "transport.h"
#include "verbs.h"

#define BITS_MIN 4
#define BITS_MAX 20
#define KNOWN_ATTRS (CMX_MCAST_SCOPE * 2 - 1)

/**
 * struct bucket - memberships of the same hash
 * @all: &cmx_mcast.node, hashed by the address without its port
 * @attached: &cmx_mcast.attached, hashed by the MGID
 */
struct bucket {
	struct hlist_head all;
	struct hlist_head attached;
};

/**
 * struct cmx_mcast_table - memberships of an id
 * @count: how many
 * @bits: log2 of the number of buckets
 * @buckets: the memberships
 */
struct cmx_mcast_table {
	u32 count;
	u32 bits;
	struct bucket *buckets;
};

static struct sockaddr *group_addr(struct cmx_mcast *mc)
{
	return (struct sockaddr *)&mc->addr;
}

static struct hlist_head *by_addr(struct cmx_mcast_table *t, const struct sockaddr *addr)
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

static struct hlist_head *by_mgid(struct cmx_mcast_table *t, const union ib_gid *mgid)
{
	u32 hash = jhash(mgid, sizeof(*mgid), 0);

	return &t->buckets[hash_32(hash, t->bits)].attached;
}

static struct bucket *alloc_buckets(u32 bits)
{
	return kvcalloc(1U << bits, sizeof(struct bucket), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

/* Without memory for more buckets the chains get longer. */
static void table_grow(struct cmx_mcast_table *t)
{
	struct cmx_mcast_table old = *t;
	struct hlist_node *next;
	struct bucket *buckets;
	struct cmx_mcast *mc;
	u32 i;

	buckets = alloc_buckets(old.bits + 1);
	if (!buckets)
		return;
	t->buckets = buckets;
	t->bits++;
	for (i = 0; i < 1U << old.bits; i++) {
		hlist_for_each_entry_safe(mc, next, &old.buckets[i].all, node) {
			hlist_del(&mc->node);
			hlist_add_head(&mc->node, by_addr(t, group_addr(mc)));
		}
		hlist_for_each_entry_safe(mc, next, &old.buckets[i].attached, attached) {
			hlist_del(&mc->attached);
			hlist_add_head(&mc->attached, by_mgid(t, &mc->mgid));
		}
	}
	kvfree(old.buckets);
}

static int table_add(struct cmx_priv *p, struct cmx_mcast *mc)
{
	struct cmx_mcast_table *t = p->mcast;

	if (!t) {
		t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
		if (!t)
			return -ENOMEM;
		t->bits = BITS_MIN;
		t->buckets = alloc_buckets(t->bits);
		if (!t->buckets) {
			kfree(t);
			return -ENOMEM;
		}
		p->mcast = t;
	}
	if (t->count >= 1U << t->bits && t->bits < BITS_MAX)
		table_grow(t);
	hlist_add_head(&mc->node, by_addr(t, group_addr(mc)));
	t->count++;
	kref_get(&mc->ref);
	return 0;
}

static void table_del(struct cmx_priv *p, struct cmx_mcast *mc)
{
	hlist_del(&mc->node);
	p->mcast->count--;
	cmx_mcast_put(mc);
}

/**
 * cmx_mcast_count() - memberships of an id
 * @p: the id; its lock is held
 */
u32 cmx_mcast_count(const struct cmx_priv *p)
{
	return p->mcast ? p->mcast->count : 0;
}

/**
 * cmx_mcast_receives() - whether a membership is for more than to send
 * @mc: the membership
 */
bool cmx_mcast_receives(const struct cmx_mcast *mc)
{
	return mc->attr.join_state == CMX_MCAST_FULL || mc->attr.join_state == CMX_MCAST_NON;
}

/* Our QP receives the same MGID for another membership */
static bool shared(struct cmx_mcast *mc)
{
	struct cmx_mcast *other;

	hlist_for_each_entry(other, by_mgid(mc->p->mcast, &mc->mgid), attached)
		if (other->mlid == mc->mlid && !memcmp(&other->mgid, &mc->mgid, sizeof(mc->mgid)))
			return true;
	return false;
}

static int attach(struct cmx_mcast *mc)
{
	struct ib_qp *qp = mc->p->id.qp;
	int ret;

	if (!qp || !cmx_mcast_receives(mc) || !hlist_unhashed(&mc->attached))
		return 0;
	if (!shared(mc)) {
		ret = ib_attach_mcast(qp, &mc->mgid, mc->mlid);
		if (ret)
			return ret;
	}
	hlist_add_head(&mc->attached, by_mgid(mc->p->mcast, &mc->mgid));
	return 0;
}

static void detach(struct cmx_mcast *mc)
{
	if (hlist_unhashed(&mc->attached))
		return;
	hlist_del_init(&mc->attached);
	if (!shared(mc))
		ib_detach_mcast(mc->p->id.qp, &mc->mgid, mc->mlid);
}

/* ib_core does so only for processes; where there is a MAC address at all */
static void set_dmac(struct rdma_ah_attr *attr)
{
	const struct in6_addr *mgid = (struct in6_addr *)rdma_ah_read_grh(attr)->dgid.raw;
	u8 *dmac = rdma_ah_retrieve_dmac(attr);

	if (!dmac)
		return;
	if (ipv6_addr_v4mapped(mgid))
		ip_eth_mc_map(mgid->s6_addr32[3], dmac);
	else
		ipv6_eth_mc_map(mgid, dmac);
}

/* Joined again, the group may have another LID. */
static int attach_again(struct cmx_mcast *mc, u16 mlid)
{
	if (mc->mlid != mlid)
		detach(mc);
	mc->mlid = mlid;
	return attach(mc);
}

static int fill_event(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
		      struct net_device *ndev, struct rdma_ud_param *ud)
{
	struct cmx_priv *p = mc->p;
	int ret;

	/* our QP has the id's Q_Key, so it is settled */
	if (p->id.qp)
		cmx_set_qkey(p, 0);
	ret = cmx_set_qkey(p, be32_to_cpu(rec->qkey));
	if (ret)
		return ret;
	ret = ib_init_ah_from_mcmember(p->id.device, p->id.port_num, rec, ndev, p->gid_type,
				       &ud->ah_attr);
	if (ret)
		return ret;
	set_dmac(&ud->ah_attr);
	ret = attach_again(mc, be16_to_cpu(rec->mlid));
	/*
	 * A process gets the index of the GID. A reference must not wait in its
	 * queue: it would outlive the device.
	 */
	if (ret || p->user)
		rdma_destroy_ah_attr(&ud->ah_attr);
	if (ret)
		return ret;
	ud->qp_num = IB_MULTICAST_QPN;
	ud->qkey = p->qkey;
	return 0;
}

static void post(struct cmx_mcast *mc, struct cmx_event *ev, int status,
		 struct ib_sa_mcmember_rec *rec, struct net_device *ndev)
{
	if (!status)
		status = fill_event(mc, rec, ndev, &ev->ev.param.ud);
	ev->ev.status = status;
	if (status)
		ev->ev.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	trace_cmx_mcast(mc, ev->flags & CMX_EVENT_F_REJOIN ? "rejoin" : "join", status);
	cmx_event_post(ev);
}

/**
 * cmx_mcast_done() - a join has ended: tell the owner
 * @mc: the membership; the lock of its id is held
 * @status: 0, or why there is no membership
 * @rec: the group, when there is a membership. qkey 0: that of the id
 * @ndev: network device to send from (RoCE), or NULL
 */
void cmx_mcast_done(struct cmx_mcast *mc, int status, struct ib_sa_mcmember_rec *rec,
		    struct net_device *ndev)
{
	struct cmx_event *ev = mc->ev;

	mc->ev = NULL;
	post(mc, ev, status, rec, ndev);
}

static struct cmx_event *later_event(struct cmx_mcast *mc)
{
	struct cmx_event *ev = cmx_event_must(mc->p, RDMA_CM_EVENT_MULTICAST_JOIN, 0);

	kref_get(&mc->ref);
	ev->mc = mc;
	ev->ev.param.ud.private_data = mc->context;
	return ev;
}

/**
 * cmx_mcast_lost() - a membership that was reported has ended: tell the owner
 * @mc: the membership; the lock of its id is held
 * @status: why
 */
void cmx_mcast_lost(struct cmx_mcast *mc, int status)
{
	post(mc, later_event(mc), status, NULL, NULL);
}

/**
 * cmx_mcast_again() - a membership that had been lost is back: tell the owner
 * @mc: the membership; the lock of its id is held
 * @rec: the group
 *
 * Return: whether the id's QP cannot be attached yet. Then the owner was not told.
 */
bool cmx_mcast_again(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec)
{
	struct cmx_event *ev;

	if (attach_again(mc, be16_to_cpu(rec->mlid)))
		return true;
	ev = later_event(mc);
	ev->flags = CMX_EVENT_F_REJOIN;
	post(mc, ev, 0, rec, NULL);
	return false;
}

/**
 * cmx_mcast_suspend() - a membership was lost and will be joined again
 * @mc: the membership; the lock of its id is held
 *
 * The id's QP, if any, does not keep others of the port from the group's new LID.
 */
void cmx_mcast_suspend(struct cmx_mcast *mc)
{
	detach(mc);
}

static void mcast_free(struct kref *ref)
{
	struct cmx_mcast *mc = container_of(ref, struct cmx_mcast, ref);

	cmx_id_put(mc->p);
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

static bool attr_ok(const struct cmx_mcast_attr *a)
{
	return a->join_state <= CMX_MCAST_SENDONLY_NON && !(a->mask & ~KNOWN_ATTRS) &&
	       !a->reserved && (!(a->mask & CMX_MCAST_FLOW_LABEL) || a->flow_label <= 0xfffff) &&
	       (!(a->mask & CMX_MCAST_SL) || a->sl <= 15) &&
	       (!(a->mask & CMX_MCAST_SCOPE) || a->scope <= 15) &&
	       (!(a->mask & CMX_MCAST_MTU) || ib_mtu_enum_to_int(a->mtu) > 0) &&
	       (!(a->mask & CMX_MCAST_RATE) || a->rate == IB_RATE_PORT_CURRENT ||
		ib_rate_to_mbps(a->rate) > 0);
}

static struct cmx_mcast *mcast_new(struct cmx_priv *p, const struct sockaddr *addr,
				   const struct cmx_mcast_attr *attr)
{
	struct cmx_mcast *mc = kzalloc(sizeof(*mc), GFP_KERNEL_ACCOUNT);
	struct cmx_event *ev;

	if (!mc)
		return NULL;
	ev = cmx_event_new(p, RDMA_CM_EVENT_MULTICAST_JOIN, 0, GFP_KERNEL_ACCOUNT);
	if (!ev) {
		kfree(mc);
		return NULL;
	}
	kref_init(&mc->ref);
	mc->p = cmx_id_get(p);
	memcpy(&mc->addr, addr, cmx_addr_size(addr));
	if (attr)
		mc->attr = *attr;
	kref_get(&mc->ref);
	ev->mc = mc;
	mc->ev = ev;
	return mc;
}

static int join_locked(struct cmx_priv *p, struct cmx_mcast *mc)
{
	int ret;

	if (!p->dev || !(BIT(p->state) & (CMX_IN(BOUND) | CMX_IN(ADDR_RESOLVED))) ||
	    p->id.qp_type != IB_QPT_UD)
		return -EINVAL;
	if (!p->dev_port->transport->mcast)
		return -EOPNOTSUPP;
	ret = table_add(p, mc);
	if (ret)
		return ret;
	ret = p->dev_port->transport->mcast->join(mc);
	if (ret) {
		mc->left = 1;
		table_del(p, mc);
	}
	return ret;
}

/**
 * cmx_mcast_join() - start to join a group
 * @p: the id; its lock is not held
 * @addr: the group
 * @attr: how to join it; NULL: as a full member with the defaults
 * @context: comes back in the event (ULP)
 * @uid: the owner's name for it (process)
 * @handle: the owner's handle for it (process)
 *
 * MULTICAST_JOIN or MULTICAST_ERROR follows.
 *
 * Return: the membership, with a reference for the caller; or an ERR_PTR, and
 * no event follows: -EINVAL: @addr is no group, an attribute is out of range,
 * the id is not bound to a device, has gone on to connect, or is not for UD;
 * -EOPNOTSUPP: the transport has no multicast, or not that attribute;
 * -EAFNOSUPPORT; -ENODEV: the network device is gone; -ENOMEM.
 */
struct cmx_mcast *cmx_mcast_join(struct cmx_priv *p, const struct sockaddr *addr,
				 const struct cmx_mcast_attr *attr, void *context, u64 uid,
				 u32 handle)
{
	struct cmx_event *ev;
	struct cmx_mcast *mc;
	int ret;

	if (!cmx_addr_size(addr) || (attr && !attr_ok(attr)))
		return ERR_PTR(-EINVAL);
	mc = mcast_new(p, addr, attr);
	if (!mc)
		return ERR_PTR(-ENOMEM);
	mc->context = context;
	mc->uid = uid;
	mc->handle = handle;
	mc->ev->ev.param.ud.private_data = context;

	mutex_lock(&p->lock);
	ret = join_locked(p, mc);
	mutex_unlock(&p->lock);
	if (!ret)
		return mc;

	ev = mc->ev;
	mc->ev = NULL;
	cmx_event_free(ev);
	cmx_mcast_put(mc);
	return ERR_PTR(ret);
}

/* p->lock is held */
static void leave_locked(struct cmx_mcast *mc)
{
	struct cmx_priv *p = mc->p;

	mc->left = 1;
	detach(mc);
	p->dev_port->transport->mcast->leave(mc);
	trace_cmx_mcast(mc, "leave", 0);
	table_del(p, mc);
}

/**
 * cmx_mcast_leave() - end a membership
 * @mc: the membership; the lock of its id is not held. The caller keeps its
 *	reference
 *
 * No event follows. Nothing to do when the id has ended.
 */
void cmx_mcast_leave(struct cmx_mcast *mc)
{
	struct cmx_priv *p = mc->p;

	mutex_lock(&p->lock);
	if (!mc->left)
		leave_locked(mc);
	mutex_unlock(&p->lock);
}

/**
 * cmx_mcast_report() - a process could not attach its QP: report the membership later
 * @mc: the membership; the lock of its id is not held
 *
 * The event comes once more, with a longer wait each time, if the membership was lost before.
 */
void cmx_mcast_report(struct cmx_mcast *mc)
{
	struct cmx_priv *p = mc->p;

	mutex_lock(&p->lock);
	if (!mc->left && p->dev_port->transport->mcast->report)
		p->dev_port->transport->mcast->report(mc);
	mutex_unlock(&p->lock);
}

/**
 * cmx_mcast_leave_all() - end all memberships of an id
 * @p: the id; its lock is held
 */
void cmx_mcast_leave_all(struct cmx_priv *p)
{
	struct cmx_mcast_table *t = p->mcast;
	struct hlist_node *next;
	struct cmx_mcast *mc;
	u32 i;

	lockdep_assert_held(&p->lock);
	if (!t)
		return;
	for (i = 0; i < 1U << t->bits; i++)
		hlist_for_each_entry_safe(mc, next, &t->buckets[i].all, node)
			leave_locked(mc);
	p->mcast = NULL;
	kvfree(t->buckets);
	kfree(t);
}

/**
 * cmx_mcast_detach_all() - the id's QP receives no group any more
 * @p: the id; its lock is held
 *
 * The memberships stay, until they are left.
 */
void cmx_mcast_detach_all(struct cmx_priv *p)
{
	struct cmx_mcast_table *t = p->mcast;
	struct cmx_mcast *mc;
	u32 i;

	lockdep_assert_held(&p->lock);
	for (i = 0; t && i < 1U << t->bits; i++)
		hlist_for_each_entry(mc, &t->buckets[i].all, node)
			detach(mc);
}

/**
 * cmx_join_multicast() - join a multicast group
 * @id: the id, for datagrams, bound to a device
 * @addr: the group
 * @attr: how to join it; NULL: as a full member with the defaults
 * @context: comes back as @private_data of the event
 *
 * RDMA_CM_EVENT_MULTICAST_JOIN follows, with what to send to the group; the QP
 * made by cmx_create_qp(), if any, then receives from it. Or
 * RDMA_CM_EVENT_MULTICAST_ERROR with the reason; the group must be left then too.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or as cmx_mcast_join() and no event follows.
 */
int cmx_join_multicast(struct cmx_id *id, const struct sockaddr *addr,
		       const struct cmx_mcast_attr *attr, void *context)
{
	struct cmx_mcast *mc = cmx_mcast_join(to_priv(id), addr, attr, context, 0, 0);

	if (IS_ERR(mc))
		return PTR_ERR(mc);
	cmx_mcast_put(mc);
	return 0;
}
EXPORT_SYMBOL_GPL(cmx_join_multicast);

/**
 * cmx_leave_multicast() - leave a multicast group
 * @id: the id
 * @addr: the group as it was joined; joined more than once, it is left once
 *
 * An event that waits may still come.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or -ENOENT: not joined.
 */
int cmx_leave_multicast(struct cmx_id *id, const struct sockaddr *addr)
{
	struct cmx_priv *p = to_priv(id);
	int ret = -ENOENT;
	struct cmx_mcast *mc;

	if (!cmx_addr_size(addr))
		return -ENOENT;
	mutex_lock(&p->lock);
	if (p->mcast) {
		hlist_for_each_entry(mc, by_addr(p->mcast, addr), node) {
			if (cmx_addr_equal(group_addr(mc), addr)) {
				leave_locked(mc);
				ret = 0;
				break;
			}
		}
	}
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_leave_multicast);
