// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address resolution: maps the IP address of the peer to the local device and port and to the link
 * layer address of the peer.
 *
 * If the neighbour is known, the call itself completes the query. If not, the query waits in a
 * hash table until the neighbour notifier reports an update or its deadline ends. A work item then
 * repeats the whole lookup. If the neighbour does not answer, one of its queries repeats the
 * lookup, which probes the neighbour again for all of them. If the neighbour table of the kernel is
 * full, there is no entry that could be updated, so the query repeats the lookup at a fixed
 * interval.
 */
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <rdma/ib_addr.h>
#include "resolve_addr.h"
#include "attach.h"
#include "bind.h"
#include "event.h"
#include "ndev.h"
#include "neigh_lookup.h"
#include "port_space.h"
#include "sockaddr.h"
#include "neigh_watch.h"

/*
 * Interval of lookups while the neighbour table is full, and its least share for each query that
 * waits for room: a lookup makes the kernel search the whole table for an entry to drop.
 */
#define FULL_TABLE_MS 500U
#define FULL_TABLE_EACH_MS 8U

/* So many queries are woken at once. The notifier, which runs in atomic context, wakes no more. */
#define WAKE_AT_ONCE 64

/* Delay before a neighbour that did not answer is probed again */
#define PROBE_DELAY (HZ / 10)

/**
 * struct cmx_addr_op - a pending address query
 * @ref: one for &cmx_id_private.addr_op, one for @work while it is queued or runs
 * @node: in the hash table, by @neigh_key, if it is the first query that waits for the neighbour
 * @same: ring of the queries that wait for the same neighbour, or on the list of those to wake; on
 *	neither while it is awake, or if @neigh_key has no family
 * @neigh_key: the neighbour that the query waits for
 * @id_priv: the id, with a reference
 * @ev: the event that will end the query; NULL once it is posted
 * @deadline: end of the query, in jiffies
 * @polls: it is one of n_polls
 * @probes: @work is queued to probe the neighbour again, for all of its queries
 * @work: repeats the lookup
 *
 * The query is active while id_priv->addr_op points to it. After that only the memory remains,
 * until the last reference is dropped.
 */
struct cmx_addr_op {
	struct kref ref;
	struct hlist_node node;
	struct list_head same;
	struct cmx_neigh_key neigh_key;
	struct cmx_id_private *id_priv;
	struct cmx_event *ev;
	unsigned long deadline;
	bool polls;
	bool probes;
	struct delayed_work work;
};

/* Thousands may wait for one neighbour: only the first is here, so that a search stays short. */
static DEFINE_HASHTABLE(ops, 8);
static LIST_HEAD(to_wake);
static unsigned int n_polls;		/* queries that wait for room in the neighbour table */
static DEFINE_SPINLOCK(ops_lock);	/* protects the above, neigh_key, polls, probes */

/* End a query and post @ev, which belongs to the consumer from here on. */
static void addr_query_done(struct cmx_id_private *id_priv, struct cmx_addr_result *f,
			    struct cmx_event *ev, int status)
{
	if (!status)
		status = cmx_attach_link(id_priv, &f->addr, &f->src.sa);
	if (status) {
		ev->ev.event = RDMA_CM_EVENT_ADDR_ERROR;
		ev->ev.status = status;
		cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_BOUND);
	} else {
		cmx_port_set_addr(id_priv, &f->src.sa, NULL);
		cmx_neigh_watch(id_priv);
		cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
	}
	cmx_event_post(ev);
}

static void addr_op_free(struct kref *ref)
{
	struct cmx_addr_op *op = container_of(ref, struct cmx_addr_op, ref);

	if (op->ev)
		cmx_event_free(op->ev);
	cmx_id_put(op->id_priv);
	kfree(op);
}

/* Context: any. Caller must ensure that another reference exists. */
static void addr_op_queue(struct cmx_addr_op *op, unsigned long delay)
{
	kref_get(&op->ref);
	if (mod_delayed_work(cmx_wq, &op->work, delay))
		kref_put(&op->ref, addr_op_free);
}

/* The first query that waits for a neighbour, or NULL. Caller must hold ops_lock. */
static struct cmx_addr_op *addr_neigh_first_op(const struct cmx_neigh_key *key)
{
	struct cmx_addr_op *op;

	lockdep_assert_held(&ops_lock);
	hash_for_each_possible(ops, op, node, cmx_neigh_key_hash(key))
		if (cmx_neigh_key_equal(&op->neigh_key, key))
			return op;
	return NULL;
}

/*
 * Let one query probe the neighbour again. It stays in the hash table, so that it is woken at once
 * if another program finds the neighbour. Caller must hold ops_lock.
 */
static void addr_neigh_probe(const struct cmx_neigh_key *key, long delay)
{
	struct cmx_addr_op *op = addr_neigh_first_op(key);
	long left;

	if (!op || op->probes)
		return;
	left = op->deadline - jiffies;
	addr_op_queue(op, clamp(left, 0L, delay));
	op->probes = true;
}

/* The query waits for its neighbour. Caller must hold ops_lock. */
static void addr_op_hash(struct cmx_addr_op *op)
{
	struct cmx_addr_op *first = addr_neigh_first_op(&op->neigh_key);

	if (first)
		list_add_tail(&op->same, &first->same);
	else
		hash_add(ops, &op->node, cmx_neigh_key_hash(&op->neigh_key));
}

/*
 * The query no longer waits for its neighbour. If it was to probe the neighbour, another one does.
 * Caller must hold ops_lock.
 */
static void addr_op_unhash(struct cmx_addr_op *op)
{
	struct cmx_addr_op *next = list_next_entry(op, same);

	lockdep_assert_held(&ops_lock);
	if (hash_hashed(&op->node)) {
		hash_del(&op->node);
		if (next != op)
			hash_add(ops, &next->node, cmx_neigh_key_hash(&next->neigh_key));
	}
	list_del_init(&op->same);
	n_polls -= op->polls;
	op->polls = false;
	if (op->probes)
		addr_neigh_probe(&op->neigh_key, 0);
	op->probes = false;
}

/* Detach the query from its id. Caller must hold the lock of the id. */
static void addr_op_detach(struct cmx_addr_op *op)
{
	lockdep_assert_held(&op->id_priv->lock);
	op->id_priv->addr_op = NULL;
	spin_lock_bh(&ops_lock);
	addr_op_unhash(op);
	spin_unlock_bh(&ops_lock);
}

/*
 * Wait for an update of the neighbour @key, @left jiffies at most. As soon as the query is in the
 * hash table, the notifier finds it. Any earlier update shows in the lookup that follows.
 */
static void addr_op_wait(struct cmx_addr_op *op, const struct cmx_neigh_key *key,
			 unsigned long left)
{
	unsigned long last = msecs_to_jiffies(FULL_TABLE_MS);
	struct cmx_addr_result f;
	struct cmx_neigh_key now;
	unsigned int poll_ms;

	spin_lock_bh(&ops_lock);
	/* the lookup has probed the neighbour, unless it is another one now */
	op->probes = op->probes && !cmx_neigh_key_equal(&op->neigh_key, key);
	addr_op_unhash(op);
	op->polls = !key->family;
	n_polls += op->polls;
	poll_ms = max(FULL_TABLE_MS, n_polls * FULL_TABLE_EACH_MS);
	op->neigh_key = *key;
	if (key->family) {
		addr_op_hash(op);
		/* under the lock: it must not replace the time that the notifier sets */
		addr_op_queue(op, left);
	}
	spin_unlock_bh(&ops_lock);

	if (!key->family) {
		/* once shortly before the end, so that a neighbour that was just added can reply */
		left = left > last ? left - last : left;
		addr_op_queue(op, min(left, msecs_to_jiffies(poll_ms)));
		return;
	}
	if (cmx_neigh_lookup(op->id_priv, &f, &now) != -ENODATA || !cmx_neigh_key_equal(&now, key))
		addr_op_queue(op, 0);
}

static void addr_op_try(struct cmx_addr_op *op)
{
	long left = op->deadline - jiffies;
	struct cmx_addr_result f;
	struct cmx_neigh_key key;
	int ret;

	ret = cmx_neigh_lookup(op->id_priv, &f, &key);
	if (ret && left <= 0)
		ret = -ETIMEDOUT;
	if (ret == -ENODATA) {
		addr_op_wait(op, &key, left);
		return;
	}
	addr_op_detach(op);
	addr_query_done(op->id_priv, &f, op->ev, ret);
	op->ev = NULL;
	kref_put(&op->ref, addr_op_free);
}

static void addr_op_work(struct work_struct *work)
{
	struct cmx_addr_op *op = container_of(to_delayed_work(work), struct cmx_addr_op, work);
	struct cmx_id_private *id_priv = op->id_priv;

	mutex_lock(&id_priv->lock);
	if (id_priv->addr_op == op && id_priv->state == CMX_ADDR_QUERY)
		addr_op_try(op);
	mutex_unlock(&id_priv->lock);
	kref_put(&op->ref, addr_op_free);
}

static int addr_op_start(struct cmx_id_private *id_priv, const struct cmx_neigh_key *key,
			 struct cmx_event *ev, unsigned long timeout_ms)
{
	unsigned long timeout = msecs_to_jiffies(min_t(unsigned long, timeout_ms, INT_MAX));
	struct cmx_addr_op *op;

	op = kzalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
	if (!op)
		return -ENOMEM;
	kref_init(&op->ref);
	INIT_LIST_HEAD(&op->same);
	INIT_DELAYED_WORK(&op->work, addr_op_work);
	op->id_priv = cmx_id_get(id_priv);
	op->ev = ev;
	op->deadline = jiffies + timeout;
	id_priv->addr_op = op;
	addr_op_wait(op, key, timeout);
	return 0;
}

/**
 * cmx_addr_cancel() - cancel the address query of an id
 * @id_priv: the id, which may have no query. Caller must hold its lock
 *
 * No event follows, and the state does not change. The function does not wait for the work item.
 */
void cmx_addr_cancel(struct cmx_id_private *id_priv)
{
	struct cmx_addr_op *op = id_priv->addr_op;

	lockdep_assert_held(&id_priv->lock);
	if (!op)
		return;
	addr_op_detach(op);
	if (cancel_delayed_work(&op->work))
		kref_put(&op->ref, addr_op_free);
	kref_put(&op->ref, addr_op_free);
}

/* Returns whether there are more queries to wake. Caller must hold ops_lock. */
static bool addr_wake_some(void)
{
	struct cmx_addr_op *op, *next;
	unsigned int woken = 0;

	lockdep_assert_held(&ops_lock);
	list_for_each_entry_safe(op, next, &to_wake, same) {
		if (woken++ == WAKE_AT_ONCE)
			return true;
		list_del_init(&op->same);
		addr_op_queue(op, 0);
	}
	return false;
}

static void addr_wake_work(struct work_struct *work)
{
	bool more;

	do {
		spin_lock_bh(&ops_lock);
		more = addr_wake_some();
		spin_unlock_bh(&ops_lock);
		cond_resched();
	} while (more);
}

static DECLARE_WORK(wake_work, addr_wake_work);

/*
 * NUD_FAILED is an update, too: the neighbour is probed again until the deadlines of its queries
 * end. The removal of the entry is one, because nothing probes a removed entry. In both cases one
 * query is enough, and thousands would keep the host busy: an entry may fail a hundred times in a
 * second. Any other update wakes all queries. They leave the table until they wait again, so that
 * the next update does not find thousands that are awake.
 */
static int addr_neigh_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct neighbour *n = data;
	struct cmx_addr_op *op;
	struct cmx_neigh_key key;

	if (event != NETEVENT_NEIGH_UPDATE ||
	    !(READ_ONCE(n->nud_state) & (NUD_VALID | NUD_FAILED) || READ_ONCE(n->dead)))
		return NOTIFY_DONE;
	key = cmx_neigh_key_of(n);
	spin_lock_bh(&ops_lock);
	if (READ_ONCE(n->dead) || !(READ_ONCE(n->nud_state) & NUD_VALID)) {
		addr_neigh_probe(&key, READ_ONCE(n->dead) ? 0 : PROBE_DELAY);
		spin_unlock_bh(&ops_lock);
		return NOTIFY_DONE;
	}
	op = addr_neigh_first_op(&key);
	if (op) {
		hash_del(&op->node);
		/* the ring becomes a part of the list */
		list_splice_tail_init(&op->same, &to_wake);
		list_add_tail(&op->same, &to_wake);
		if (addr_wake_some())
			queue_work(cmx_wq, &wake_work);
	}
	spin_unlock_bh(&ops_lock);
	return NOTIFY_DONE;
}

static struct notifier_block neigh_notifier = {
	.notifier_call = addr_neigh_event,
};

int cmx_addr_init_module(void)
{
	return register_netevent_notifier(&neigh_notifier);
}

void cmx_addr_exit_module(void)
{
	unregister_netevent_notifier(&neigh_notifier);
	cancel_work_sync(&wake_work);
}

static void addr_loopback_set_src(struct cmx_id_private *id_priv)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_ib ib;
	} src;

	memcpy(&src, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	switch (src.sa.sa_family) {
	case AF_INET:
		src.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case AF_INET6:
		src.in6.sin6_addr = in6addr_loopback;
		break;
	default:
		ib_addr_set(&src.ib.sib_addr, 0, 0, 0, htonl(1));
	}
	cmx_port_set_addr(id_priv, &src.sa, NULL);
}

/* The peer is a wildcard or loopback address. */
static int addr_loopback_resolve(struct cmx_id_private *id_priv, struct cmx_event *ev)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	union ib_gid gid;
	int ret;

	if (!id_priv->dev) {
		ret = cmx_attach_loopback(id_priv);
		if (ret)
			return ret;
		addr_loopback_set_src(id_priv);
	}
	rdma_addr_get_sgid(addr, &gid);
	rdma_addr_set_dgid(addr, &gid);
	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
	cmx_event_post(ev);
	return 0;
}

/* The peer has an AF_IB address: there is no network interface, and nothing to resolve. */
static int addr_ib_resolve(struct cmx_id_private *id_priv, struct cmx_event *ev)
{
	const struct sockaddr_ib *dst = (const struct sockaddr_ib *)cmx_dst(id_priv);
	union ib_gid dgid;
	int ret;

	if (!id_priv->dev) {
		ret = cmx_attach_ib_subnet(id_priv);
		if (ret)
			return ret;
	}
	memcpy(&dgid, &dst->sib_addr, sizeof(dgid));
	rdma_addr_set_dgid(&id_priv->id.route.addr.dev_addr, &dgid);
	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
	cmx_event_post(ev);
	return 0;
}

static int addr_query_start(struct cmx_id_private *id_priv, struct cmx_event *ev,
			    unsigned long timeout_ms)
{
	struct cmx_addr_result f;
	struct cmx_neigh_key key;
	int ret;

	if (cmx_dst(id_priv)->sa_family == AF_IB)
		return addr_ib_resolve(id_priv, ev);
	ret = cmx_neigh_lookup(id_priv, &f, &key);
	if (ret == -ENODATA)
		return addr_op_start(id_priv, &key, ev, timeout_ms);
	if (!ret)
		addr_query_done(id_priv, &f, ev, 0);
	return ret;
}

/* Bind an idle id: to @src if it is given, else to a wildcard, and the route selects the source. */
static int addr_src_bind(struct cmx_id_private *id_priv, const struct sockaddr *src,
			 const struct sockaddr *dst)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in6 in6;
		struct sockaddr_ib ib;
	} any = { .ib.sib_family = dst->sa_family };

	if (src && src->sa_family)
		return src->sa_family == dst->sa_family ? cmx_bind_dst(id_priv, src, dst) : -EINVAL;
	if (dst->sa_family == AF_IB)
		any.ib.sib_pkey = ((const struct sockaddr_ib *)dst)->sib_pkey;
	return cmx_bind_dst(id_priv, &any.sa, dst);
}

/*
 * An id that is bound to an interface or VRF has no loopback address, and as with TCP no link-local
 * peer on another link.
 */
static int addr_dst_check(const struct cmx_id_private *id_priv)
{
	const struct sockaddr_in6 *dst = (const struct sockaddr_in6 *)cmx_dst(id_priv);
	int oif = id_priv->id.route.addr.dev_addr.bound_dev_if ?: id_priv->opt.bind_device;

	if (id_priv->opt.bind_device && cmx_addr_has_no_device(cmx_dst(id_priv)))
		return -EADDRNOTAVAIL;
	if (dst->sin6_family != AF_INET6 || !dst->sin6_scope_id ||
	    !(ipv6_addr_type(&dst->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	return cmx_ndev_index_is_in(cmx_net(id_priv), dst->sin6_scope_id, oif) ? 0 : -EINVAL;
}

/* Caller must hold id_priv->lock. On success @ev no longer belongs to the caller. */
static int addr_resolve_locked(struct cmx_id_private *id_priv, const struct sockaddr *src,
			       const struct sockaddr *dst, unsigned long timeout_ms,
			       struct cmx_event *ev)
{
	struct sockaddr_storage old = id_priv->id.route.addr.dst_addr;
	bool idle = id_priv->state == CMX_IDLE;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!cmx_addr_size(dst))
		return -EAFNOSUPPORT;
	if (idle) {
		ret = addr_src_bind(id_priv, src, dst);
		if (ret)
			return ret;
	}
	if (id_priv->state != CMX_BOUND || cmx_src(id_priv)->sa_family != dst->sa_family)
		return -EINVAL;
	cmx_port_set_addr(id_priv, NULL, dst);

	cmx_state_move(id_priv, CMX_IN(BOUND), CMX_ADDR_QUERY);
	ret = addr_dst_check(id_priv);
	if (!ret && !idle)
		ret = cmx_port_recheck(id_priv);
	if (!ret)
		ret = cmx_addr_has_no_device(dst) ? addr_loopback_resolve(id_priv, ev)
					: addr_query_start(id_priv, ev, timeout_ms);
	if (!ret)
		return 0;

	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_BOUND);
	if (idle)
		cmx_bind_undo(id_priv);
	else
		cmx_port_set_addr(id_priv, NULL, (struct sockaddr *)&old);
	return ret;
}

/**
 * cmx_resolve_addr() - resolve the address of a peer
 * @id: the id, new or bound
 * @src: local address for an id that is not bound yet; NULL: the route selects it
 * @dst: address of the peer: of a host or a multicast group, or a loopback address
 * @timeout_ms: how long to wait for the link layer address of the peer
 *
 * RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR follows. The status of an error is
 * -ETIMEDOUT, -ENODEV (no RDMA device on the route), or an error of the route lookup. After
 * ADDR_ERROR the id is bound.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed and no event follows:
 *
 * * -EINVAL: the id is in another state, the address families differ, or a link-local @dst is on
 *   another link than the id.
 * * -ENETUNREACH and other errors: the route lookup failed.
 * * -ENODEV: no RDMA device is on the route.
 * * -EADDRNOTAVAIL: the peer of an id on InfiniBand is behind an IP router; or BIND_DEVICE is set,
 *   and @dst is a loopback address.
 * * -ENOMEM: out of memory.
 * * Errors of cmx_bind_addr().
 */
int cmx_resolve_addr(struct cmx_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		     unsigned long timeout_ms)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	struct cmx_event *ev;
	int ret;

	ev = cmx_event_alloc(id_priv, RDMA_CM_EVENT_ADDR_RESOLVED, 0, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	cmx_id_lock(id_priv);
	ret = addr_resolve_locked(id_priv, src, dst, timeout_ms, ev);
	cmx_id_unlock(id_priv);
	if (ret)
		cmx_event_free(ev);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_resolve_addr);
