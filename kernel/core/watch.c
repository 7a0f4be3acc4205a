// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ids wait for and watch: neighbours and bonds.
 *
 * An id waits until the link layer address of its peer is known. Afterwards it depends on this
 * address: if it changes, the event is UNREACHABLE. If the local address changes because a bond
 * fails over, the event is ADDR_CHANGE. In both cases packets on the resolved path would be lost.
 *
 * Unprivileged users can create thousands of neighbours and bonds, let a host change its address
 * with each packet, a neighbour fail a hundred times in a second, and a bond fail over without
 * end. So each neighbour and each bond that ids use has one entry with one work item. A notifier
 * finds the entry, moves a whole list of ids aside, and queues the work item, which takes one id
 * after the other. For an entry that does not exist, nothing is done.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/if_ether.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/once.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "device.h"
#include "event.h"
#include "neigh_addr.h"
#include "timer.h"
#include "transport.h"
#include "watch.h"

/* Delay before a neighbour that did not answer is probed again */
#define PROBE_DELAY (HZ / 10)

/**
 * struct cmx_watch - a neighbour or a bond
 * @node: in the hash table, by @key
 * @key: what it is
 * @waiting: list of &cmx_watch_link.item of the ids that wait for the neighbour
 * @watching: list of the ids that depend on the address of the neighbour, or use the bond
 * @unvisited: list of the ids that @work has still to look at; they are in none of the other lists
 * @users: number of ids in the lists, plus one each time that @work is queued or runs
 * @mac: link layer address from the last update; before that, from the first id
 * @is_mixed: the ids have resolved different addresses, so the next update is handled even if it
 *	reports @mac
 * @probe: @work is queued, maybe with a delay, to let one of @waiting look the neighbour up. This
 *	probes the neighbour for all of them
 * @work: looks at the ids in @unvisited
 */
struct cmx_watch {
	struct hlist_node node;
	struct cmx_watch_key key;
	struct list_head waiting;
	struct list_head watching;
	struct list_head unvisited;
	unsigned int users;
	u8 mac[ETH_ALEN];
	bool is_mixed;
	bool probe;
	struct delayed_work work;
};

static DEFINE_HASHTABLE(watches, 8);
static DEFINE_SPINLOCK(watch_lock);	/* protects watches and their members */

/**
 * cmx_watch_key_of() - get the key of a neighbour
 * @n: the neighbour
 *
 * Return: the key.
 */
struct cmx_watch_key cmx_watch_key_of(const struct neighbour *n)
{
	struct cmx_watch_key key = {
		.net = dev_net(n->dev),
		.ifindex = n->dev->ifindex,
		.family = n->tbl->family,
	};

	memcpy(key.addr, n->primary_key, min_t(size_t, n->tbl->key_len, sizeof(key.addr)));
	return key;
}

static bool watch_key_equal(const struct cmx_watch_key *a, const struct cmx_watch_key *b)
{
	return a->net == b->net && a->ifindex == b->ifindex && a->family == b->family &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* The random seed prevents that a user chooses neighbours that share a bucket. */
static u32 watch_key_hash(const struct cmx_watch_key *key)
{
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash(key->addr, sizeof(key->addr), key->ifindex ^ hash32_ptr(key->net) ^ seed);
}

static struct cmx_watch *watch_find(const struct cmx_watch_key *key)
{
	struct cmx_watch *w;

	lockdep_assert_held(&watch_lock);
	hash_for_each_possible(watches, w, node, watch_key_hash(key))
		if (watch_key_equal(&w->key, key))
			return w;
	return NULL;
}

/* Drop a user. Caller must hold watch_lock. */
static void watch_put(struct cmx_watch *w)
{
	lockdep_assert_held(&watch_lock);
	if (--w->users)
		return;
	hash_del(&w->node);
	kfree(w);
}

/* Queued work stays at its time if there is a @delay (jiffies). Caller must hold watch_lock. */
static void watch_queue(struct cmx_watch *w, unsigned long delay)
{
	lockdep_assert_held(&watch_lock);
	if (delay ? queue_delayed_work(cmx_wq, &w->work, delay) :
		    !mod_delayed_work(cmx_wq, &w->work, 0))
		w->users++;
}

static bool watch_src_changed(const struct cmx_id_private *id_priv)
{
	const struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	const struct net_device *ndev;
	bool changed;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(addr->net, addr->bound_dev_if);
	changed = ndev && memcmp(addr->src_dev_addr, ndev->dev_addr, ndev->addr_len);
	rcu_read_unlock();
	return changed;
}

#define HAS_PATH (CMX_IN(ROUTE_RESOLVED) | CMX_IN(CONNECT) | CMX_IN(DISCONNECT))

/* An id without a path takes the new address. Returns true if there is a path to the old one. */
static bool watch_dst_update(const struct cmx_watch *w, struct cmx_id_private *id_priv,
			     const u8 *mac)
{
	u8 *dst = id_priv->id.route.addr.dev_addr.dst_dev_addr;

	if (id_priv->peer.watch != w || !memcmp(dst, mac, ETH_ALEN))
		return false;
	if (id_priv->state == CMX_ADDR_RESOLVED)
		memcpy(dst, mac, ETH_ALEN);
	return BIT(id_priv->state) & HAS_PATH;
}

/*
 * Does the path of an id use an address that has changed? An id of a ULP keeps its device for a
 * while after CMX_REMOVED.
 */
static bool watch_id_update(const struct cmx_watch *w, struct cmx_id_private *id_priv,
			    const u8 *mac)
{
	if (!id_priv->dev || id_priv->state == CMX_REMOVED)
		return false;
	return w->key.family ? watch_dst_update(w, id_priv, mac) : watch_src_changed(id_priv);
}

/* Post an event to an id if its path has changed. */
static void watch_id_report(const struct cmx_watch *w, struct cmx_id_private *id_priv,
			    const u8 *mac)
{
	enum rdma_cm_event_type type = w->key.family ? RDMA_CM_EVENT_UNREACHABLE :
						       RDMA_CM_EVENT_ADDR_CHANGE;
	const struct cmx_id_consumer_ops *consumer = id_priv->consumer;
	struct cmx_event *ev;

	/* Addresses may change faster than events that nobody fetches are freed again. */
	if (consumer->is_full && consumer->is_full(id_priv, type))
		return;
	ev = cmx_event_alloc_nofail(id_priv, type, w->key.family ? -ETIMEDOUT : 0);
	ev->is_watch = true;
	mutex_lock(&id_priv->lock);
	if (watch_id_update(w, id_priv, mac)) {
		cmx_event_post(ev);
		ev = NULL;
	}
	mutex_unlock(&id_priv->lock);
	cmx_event_free(ev);
}

/* Let an id look its neighbour up. Returns false if it has ceased to wait for it meanwhile. */
static bool watch_id_look(const struct cmx_watch *w, struct cmx_id_private *id_priv)
{
	bool waits;

	mutex_lock(&id_priv->lock);
	waits = id_priv->peer.watch == w && id_priv->waits;
	if (waits)
		cmx_timer_step(id_priv);
	mutex_unlock(&id_priv->lock);
	return waits;
}

/*
 * Take the next id: from the list unvisited, and then one that waits, if the neighbour is to be
 * probed. Returns it with a reference, or NULL. @waits: it waits. @mac receives the address.
 */
static struct cmx_id_private *watch_next_id(struct cmx_watch *w, bool probe, bool *waits, u8 *mac)
{
	struct cmx_id_private *id_priv = NULL;
	struct cmx_watch_link *link;

	spin_lock_bh(&watch_lock);
	link = list_first_entry_or_null(&w->unvisited, struct cmx_watch_link, item);
	if (!link && probe)
		link = list_first_entry_or_null(&w->waiting, struct cmx_watch_link, item);
	if (link) {
		id_priv = w->key.family ? container_of(link, struct cmx_id_private, peer) :
					  container_of(link, struct cmx_id_private, bond);
		/* an id leaves the list before its last reference is dropped */
		cmx_id_get(id_priv);
		*waits = w->key.family && id_priv->waits;
		list_move_tail(&link->item, *waits ? &w->waiting : &w->watching);
		memcpy(mac, w->mac, ETH_ALEN);
	}
	spin_unlock_bh(&watch_lock);
	return id_priv;
}

/* The neighbour needs no probe if another id looks it up, nor if no id is left that waits. */
static void watch_work(struct work_struct *work)
{
	struct cmx_watch *w = container_of(to_delayed_work(work), struct cmx_watch, work);
	struct cmx_id_private *id_priv;
	bool probe, waits;
	u8 mac[ETH_ALEN];

	spin_lock_bh(&watch_lock);
	probe = w->probe;
	w->probe = false;
	spin_unlock_bh(&watch_lock);
	while ((id_priv = watch_next_id(w, probe, &waits, mac))) {
		if (!waits)
			watch_id_report(w, id_priv, mac);
		else if (watch_id_look(w, id_priv))
			probe = false;
		cmx_id_put(id_priv);
		cond_resched();
	}
	spin_lock_bh(&watch_lock);
	watch_put(w);
	spin_unlock_bh(&watch_lock);
}

/* Find or create an entry. Caller must hold watch_lock. */
static struct cmx_watch *watch_get(const struct cmx_watch_key *key)
{
	struct cmx_watch *w = watch_find(key);

	if (w)
		return w;
	w = kzalloc(sizeof(*w), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!w)
		return NULL;
	w->key = *key;
	INIT_LIST_HEAD(&w->waiting);
	INIT_LIST_HEAD(&w->watching);
	INIT_LIST_HEAD(&w->unvisited);
	INIT_DELAYED_WORK(&w->work, watch_work);
	hash_add(watches, &w->node, watch_key_hash(key));
	return w;
}

/* Returns the entry, or NULL if there is not enough memory. Caller must hold watch_lock. */
static struct cmx_watch *watch_link_add(struct cmx_watch_link *link,
					const struct cmx_watch_key *key, bool waits)
{
	struct cmx_watch *w = watch_get(key);

	link->watch = w;
	if (!w)
		return NULL;
	list_add_tail(&link->item, waits ? &w->waiting : &w->watching);
	w->users++;
	return w;
}

static void watch_link_del(struct cmx_watch_link *link)
{
	struct cmx_watch *w = link->watch;

	if (!w)
		return;
	link->watch = NULL;
	spin_lock_bh(&watch_lock);
	list_del(&link->item);
	/* delayed work must not outlive the ids, since the module does not wait for it */
	if (w->probe && list_empty(&w->waiting) && list_empty(&w->unvisited)) {
		w->probe = false;
		if (cancel_delayed_work(&w->work))
			watch_put(w);
	}
	watch_put(w);
	spin_unlock_bh(&watch_lock);
}

/**
 * cmx_watch_wait() - let an id wait until a neighbour is known
 * @id_priv: the id, in CMX_ADDR_QUERY. Caller must hold its lock, and has probed the neighbour
 * @key: the neighbour; without a family: none, because the neighbour table has no room
 *
 * From now on the step of the timer is called if the neighbour may have become known, or is to be
 * probed again, until cmx_unwatch_peer().
 *
 * Return: 0; 1 if the id did not yet wait for this neighbour: the caller has to look it up again,
 * because it may have become known meanwhile; or -ENOMEM.
 */
int cmx_watch_wait(struct cmx_id_private *id_priv, const struct cmx_watch_key *key)
{
	struct cmx_watch_link *link = &id_priv->peer;
	struct cmx_watch *w;

	lockdep_assert_held(&id_priv->lock);
	if (link->watch && watch_key_equal(&link->watch->key, key))
		return 0;
	watch_link_del(link);
	spin_lock_bh(&watch_lock);
	id_priv->waits = true;
	w = watch_link_add(link, key, true);
	spin_unlock_bh(&watch_lock);
	return w ? !!key->family : -ENOMEM;
}

/**
 * cmx_watch_count_ids() - count the ids that wait for room in the neighbour table
 * @id_priv: one of them, which waits for a key without a family. Caller must hold its lock
 *
 * Return: the number.
 */
unsigned int cmx_watch_count_ids(const struct cmx_id_private *id_priv)
{
	unsigned int users;

	lockdep_assert_held(&id_priv->lock);
	spin_lock_bh(&watch_lock);
	users = id_priv->peer.watch->users;
	spin_unlock_bh(&watch_lock);
	return users;
}

/*
 * Fill in the key of the peer. Returns false if the path does not use a neighbour. If the path
 * leads through a gateway, no neighbour has this key, and the id relies on timeouts, as in-tree.
 */
static bool watch_key_init(const struct cmx_id_private *id_priv, struct cmx_watch_key *key)
{
	const struct sockaddr *dst = cmx_dst(id_priv);

	*key = (struct cmx_watch_key) {
		.net = cmx_net(id_priv),
		.ifindex = id_priv->id.route.addr.dev_addr.bound_dev_if,
		.family = dst->sa_family,
	};
	if (dst->sa_family == AF_INET)
		memcpy(key->addr, &((struct sockaddr_in *)dst)->sin_addr, sizeof(struct in_addr));
	else if (dst->sa_family == AF_INET6)
		memcpy(key->addr, &((struct sockaddr_in6 *)dst)->sin6_addr,
		       sizeof(struct in6_addr));
	else
		return false;
	/* On InfiniBand the SA provides the link layer addresses of a path. */
	return id_priv->dev_port->transport->gid_is_ip;
}

/**
 * cmx_watch_peer() - watch the link layer address of the peer of an id
 * @id_priv: the id, whose address has been resolved, and which watches no peer. Caller must hold
 *	its lock
 *
 * Does nothing if the path does not use a neighbour. Best effort: on allocation failure the peer is
 * not watched, and the id relies on timeouts.
 */
void cmx_watch_peer(struct cmx_id_private *id_priv)
{
	const u8 *mac = id_priv->id.route.addr.dev_addr.dst_dev_addr;
	struct cmx_watch_key key;
	struct cmx_watch *w;

	lockdep_assert_held(&id_priv->lock);
	if (WARN_ON_ONCE(id_priv->peer.watch) || !watch_key_init(id_priv, &key))
		return;
	spin_lock_bh(&watch_lock);
	id_priv->waits = false;
	w = watch_link_add(&id_priv->peer, &key, false);
	if (w && w->users == 1)
		memcpy(w->mac, mac, ETH_ALEN);
	else if (w)
		w->is_mixed |= !!memcmp(w->mac, mac, ETH_ALEN);
	spin_unlock_bh(&watch_lock);
}

/**
 * cmx_unwatch_peer() - undo cmx_watch_wait() or cmx_watch_peer()
 * @id_priv: the id, whose peer may not be watched. Caller must hold its lock
 */
void cmx_unwatch_peer(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	watch_link_del(&id_priv->peer);
}

static bool watch_bond_exists(const struct rdma_dev_addr *addr)
{
	const struct net_device *ndev;
	bool ret;

	rcu_read_lock();
	ndev = dev_get_by_index_rcu(addr->net, addr->bound_dev_if);
	ret = ndev && netif_is_bond_master(ndev);
	rcu_read_unlock();
	return ret;
}

/**
 * cmx_watch_bond() - let an id be told of a failover of its interface, if that is a bond
 * @id_priv: the id, which is attached to a device. The interface of its address may have changed.
 *	Caller must hold its lock
 *
 * Best effort: on allocation failure the id is not told.
 */
void cmx_watch_bond(struct cmx_id_private *id_priv)
{
	const struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	const struct cmx_watch_key key = { .net = addr->net, .ifindex = addr->bound_dev_if };
	struct cmx_watch_link *link = &id_priv->bond;

	lockdep_assert_held(&id_priv->lock);
	/* an id that has still to be told of a failover stays on that list */
	if (link->watch && watch_key_equal(&link->watch->key, &key))
		return;
	watch_link_del(link);
	if (!addr->bound_dev_if || !watch_bond_exists(addr))
		return;
	spin_lock_bh(&watch_lock);
	watch_link_add(link, &key, false);
	spin_unlock_bh(&watch_lock);
}

/**
 * cmx_unwatch() - let an id neither wait for nor watch anything
 * @id_priv: the id. Caller must hold its lock
 */
void cmx_unwatch(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	watch_link_del(&id_priv->peer);
	watch_link_del(&id_priv->bond);
}

/* Let the work item look at @ids. Caller must hold watch_lock. */
static void watch_ids_tell(struct cmx_watch *w, struct list_head *ids)
{
	lockdep_assert_held(&watch_lock);
	if (list_empty(ids))
		return;
	list_splice_tail_init(ids, &w->unvisited);
	watch_queue(w, 0);
}

/*
 * NUD_FAILED is an update, too: the neighbour is probed again as long as ids wait for it. The
 * removal of the entry is one, because nothing probes a removed entry. In both cases one id is
 * enough, and thousands would keep the host busy. Any other update concerns all ids that wait.
 *
 * Two updates of a neighbour can be reported at the same time. The address is read under the lock
 * of this file, so that the one that is stored last is the latest.
 */
static void watch_neigh_update(struct cmx_watch *w, struct neighbour *n)
{
	bool dead = READ_ONCE(n->dead);
	u8 mac[MAX_ADDR_LEN];
	bool valid = cmx_neigh_addr_get(n, mac);

	lockdep_assert_held(&watch_lock);
	if (valid && !dead) {
		watch_ids_tell(w, &w->waiting);
	} else if (!w->probe && !list_empty(&w->waiting)) {
		w->probe = true;
		watch_queue(w, dead ? 0 : PROBE_DELAY);
	}
	if (valid && (w->is_mixed || memcmp(w->mac, mac, ETH_ALEN))) {
		w->is_mixed = false;
		memcpy(w->mac, mac, ETH_ALEN);
		watch_ids_tell(w, &w->watching);
	}
}

static int watch_neigh_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct neighbour *n = data;
	struct cmx_watch_key key;
	struct cmx_watch *w;

	if (event != NETEVENT_NEIGH_UPDATE ||
	    !(READ_ONCE(n->nud_state) & (NUD_VALID | NUD_FAILED) || READ_ONCE(n->dead)))
		return NOTIFY_DONE;
	key = cmx_watch_key_of(n);
	spin_lock_bh(&watch_lock);
	w = watch_find(&key);
	if (w)
		watch_neigh_update(w, n);
	spin_unlock_bh(&watch_lock);
	return NOTIFY_DONE;
}

static int watch_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct net_device *ndev = netdev_notifier_info_to_dev(info);
	const struct cmx_watch_key key = { .net = dev_net(ndev), .ifindex = ndev->ifindex };
	struct cmx_watch *w;

	if (event != NETDEV_BONDING_FAILOVER)
		return NOTIFY_DONE;
	spin_lock_bh(&watch_lock);
	w = watch_find(&key);
	if (w)
		watch_ids_tell(w, &w->watching);
	spin_unlock_bh(&watch_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = watch_netdev_event };
static struct notifier_block neigh_nb = { .notifier_call = watch_neigh_event };

int cmx_watch_init_module(void)
{
	int ret = register_netdevice_notifier(&netdev_nb);

	if (ret)
		return ret;
	ret = register_netevent_notifier(&neigh_nb);
	if (ret)
		unregister_netdevice_notifier(&netdev_nb);
	return ret;
}

/* Queued work still runs: cmx_wq is destroyed after the devices have been released. */
void cmx_watch_exit_module(void)
{
	unregister_netevent_notifier(&neigh_nb);
	unregister_netdevice_notifier(&netdev_nb);
}
