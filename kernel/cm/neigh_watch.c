// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watches the link layer addresses that the resolved path of an id depends on. If the local one
 * changes because a bond fails over, the event is ADDR_CHANGE. If that of the peer changes, the
 * event is UNREACHABLE. In both cases packets on the resolved path would be lost.
 */
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "bond.h"
#include "device.h"
#include "event.h"
#include "neigh_addr.h"
#include "neigh_lookup.h"
#include "transport.h"
#include "neigh_watch.h"

/**
 * struct cmx_neigh - a neighbour that is the peer of ids
 * @node: in the bucket of @key
 * @work: posts the event to its ids after a change of its link layer address
 * @ids: list of &cmx_id_private.peer_item; under the lock of the bucket
 * @todo: the ids that @work has still to look at, which are not in @ids; under the lock of the
 *	bucket
 * @users: number of ids in both lists, plus one while @work is queued or runs; under the lock of
 *	the bucket
 * @key: key of the neighbour
 * @mac: link layer address from the last update; before that, from the first id. Under the lock of
 *	the bucket
 * @is_mixed: the ids have resolved different addresses, so the next update is handled even if it
 *	reports @mac; under the lock of the bucket
 */
struct cmx_neigh {
	struct hlist_node node;
	struct work_struct work;
	struct hlist_head ids;
	struct hlist_head todo;
	unsigned int users;
	struct cmx_neigh_key key;
	u8 mac[ETH_ALEN];
	bool is_mixed;
};

/* The link layer address of a peer by its last update */
struct watch_peer_change {
	const struct cmx_neigh *peer;
	u8 mac[ETH_ALEN];
};

static struct watch_bucket {
	spinlock_t lock;	/* protects peers, and the ids, todo and users of each peer */
	struct hlist_head peers;
} buckets[256];

static struct watch_bucket *watch_bucket_of(const struct cmx_neigh_key *key)
{
	return &buckets[cmx_neigh_key_hash(key) % ARRAY_SIZE(buckets)];
}

/* @id_priv: the id that does not use it any more, or NULL */
static void watch_peer_put(struct cmx_neigh *peer, struct cmx_id_private *id_priv)
{
	struct watch_bucket *b = watch_bucket_of(&peer->key);
	bool last;

	spin_lock_bh(&b->lock);
	if (id_priv)
		hlist_del(&id_priv->peer_item);
	last = !--peer->users;
	if (last)
		hlist_del(&peer->node);
	spin_unlock_bh(&b->lock);
	if (last)
		kfree(peer);
}

static bool watch_src_mac_changed(const struct cmx_id_private *id_priv, const void *arg)
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

static bool watch_dst_mac_changed(const struct cmx_id_private *id_priv, const void *arg)
{
	const struct watch_peer_change *c = arg;

	return id_priv->peer == c->peer && BIT(id_priv->state) & HAS_PATH &&
	       memcmp(id_priv->id.route.addr.dev_addr.dst_dev_addr, c->mac, ETH_ALEN);
}

/*
 * Post an event to an id if @concerned returns true under its lock. A reference to the id is
 * dropped.
 */
static void watch_event_post(struct cmx_id_private *id_priv,
			     bool (*concerned)(const struct cmx_id_private *id_priv,
					       const void *arg),
			     const void *arg, enum rdma_cm_event_type type, int status)
{
	const struct cmx_id_consumer_ops *consumer = id_priv->consumer;
	struct cmx_event *ev;

	/* Addresses may change faster than events that nobody fetches are freed again. */
	if (consumer->is_full && consumer->is_full(id_priv, type))
		goto out;
	ev = cmx_event_alloc_nofail(id_priv, type, status);
	ev->is_watch = true;
	mutex_lock(&id_priv->lock);
	/* An id of a ULP keeps its device for a while after CMX_REMOVED. */
	if (id_priv->dev && id_priv->state != CMX_REMOVED && concerned(id_priv, arg)) {
		cmx_event_post(ev);
		ev = NULL;
	}
	mutex_unlock(&id_priv->lock);
	if (ev)
		cmx_event_free(ev);
out:
	cmx_id_put(id_priv);
	cond_resched();
}

/*
 * Take the next id from the list todo of a peer. Returns it with a reference, or NULL if there is
 * none. @mac receives the address of the peer.
 */
static struct cmx_id_private *watch_peer_next_id(struct cmx_neigh *peer, u8 *mac)
{
	struct watch_bucket *b = watch_bucket_of(&peer->key);
	struct cmx_id_private *id_priv;

	spin_lock_bh(&b->lock);
	id_priv = hlist_entry_safe(peer->todo.first, struct cmx_id_private, peer_item);
	if (id_priv) {
		/* an id leaves the list before its last reference is dropped */
		cmx_id_get(id_priv);
		hlist_del(&id_priv->peer_item);
		hlist_add_head(&id_priv->peer_item, &peer->ids);
	}
	memcpy(mac, peer->mac, ETH_ALEN);
	spin_unlock_bh(&b->lock);
	return id_priv;
}

/* A peer may have thousands of ids, and the notifier waits for the lock in atomic context. */
static void watch_peer_work(struct work_struct *work)
{
	struct cmx_neigh *peer = container_of(work, struct cmx_neigh, work);
	struct watch_bucket *b = watch_bucket_of(&peer->key);
	struct watch_peer_change c = { .peer = peer };
	struct cmx_id_private *id_priv;

	spin_lock_bh(&b->lock);
	hlist_move_list(&peer->ids, &peer->todo);
	spin_unlock_bh(&b->lock);
	while ((id_priv = watch_peer_next_id(peer, c.mac)))
		watch_event_post(id_priv, watch_dst_mac_changed, &c, RDMA_CM_EVENT_UNREACHABLE,
				 -ETIMEDOUT);
	watch_peer_put(peer, NULL);
}

static void watch_bond_report(struct cmx_id_private *id_priv)
{
	watch_event_post(id_priv, watch_src_mac_changed, NULL, RDMA_CM_EVENT_ADDR_CHANGE, 0);
}

/* Fill in the neighbour key of the peer. Returns false if the path does not use a neighbour. */
static bool watch_key_init(const struct cmx_id_private *id_priv, struct cmx_neigh_key *key)
{
	const struct sockaddr *dst = cmx_dst(id_priv);

	*key = (struct cmx_neigh_key) {
		.net = cmx_net(id_priv),
		.ifindex = id_priv->id.route.addr.dev_addr.bound_dev_if,
		.family = dst->sa_family,
	};
	if (dst->sa_family == AF_INET)
		memcpy(key->key, &((struct sockaddr_in *)dst)->sin_addr, sizeof(struct in_addr));
	else if (dst->sa_family == AF_INET6)
		memcpy(key->key, &((struct sockaddr_in6 *)dst)->sin6_addr, sizeof(struct in6_addr));
	else
		return false;
	/* On InfiniBand the SA provides the link layer addresses of a path. */
	return id_priv->dev_port->transport->gid_is_ip;
}

/* Caller must hold the lock of the bucket. */
static struct cmx_neigh *watch_peer_find(const struct watch_bucket *b,
					 const struct cmx_neigh_key *key)
{
	struct cmx_neigh *peer;

	hlist_for_each_entry(peer, &b->peers, node)
		if (cmx_neigh_key_equal(&peer->key, key))
			return peer;
	return NULL;
}

/* Find or create a peer. Caller must hold the lock of the bucket. */
static struct cmx_neigh *watch_peer_get(struct watch_bucket *b, const struct cmx_neigh_key *key,
					const u8 *mac)
{
	struct cmx_neigh *peer = watch_peer_find(b, key);

	if (peer) {
		peer->is_mixed |= !!memcmp(peer->mac, mac, ETH_ALEN);
		return peer;
	}
	peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!peer)
		return NULL;
	peer->key = *key;
	memcpy(peer->mac, mac, ETH_ALEN);
	INIT_WORK(&peer->work, watch_peer_work);
	hlist_add_head(&peer->node, &b->peers);
	return peer;
}

/**
 * cmx_neigh_watch() - watch the link layer address of the peer of an id
 * @id_priv: the id, whose address has been resolved. Caller must hold its lock
 *
 * Does nothing if the path does not use a neighbour. Best effort: on allocation failure the peer is
 * not watched, and the id relies on timeouts.
 */
void cmx_neigh_watch(struct cmx_id_private *id_priv)
{
	struct cmx_neigh *peer;
	struct cmx_neigh_key key;
	struct watch_bucket *b;

	lockdep_assert_held(&id_priv->lock);
	if (WARN_ON_ONCE(id_priv->peer) || !watch_key_init(id_priv, &key))
		return;
	b = watch_bucket_of(&key);
	spin_lock_bh(&b->lock);
	peer = watch_peer_get(b, &key, id_priv->id.route.addr.dev_addr.dst_dev_addr);
	if (peer) {
		hlist_add_head(&id_priv->peer_item, &peer->ids);
		peer->users++;
	}
	spin_unlock_bh(&b->lock);
	id_priv->peer = peer;
}

/**
 * cmx_neigh_unwatch() - undo cmx_neigh_watch()
 * @id_priv: the id, whose peer may not be watched. Caller must hold its lock
 */
void cmx_neigh_unwatch(struct cmx_id_private *id_priv)
{
	struct cmx_neigh *peer = id_priv->peer;

	lockdep_assert_held(&id_priv->lock);
	id_priv->peer = NULL;
	if (peer)
		watch_peer_put(peer, id_priv);
}

/*
 * Unprivileged users can make bonds of their own and let them fail over without end: a failover
 * that concerns no id queues no work, and a bond has one work item.
 */
static int watch_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	if (event == NETDEV_BONDING_FAILOVER)
		cmx_bond_fail_over(netdev_notifier_info_to_dev(info), watch_bond_report);
	return NOTIFY_DONE;
}

/*
 * Unprivileged users can create thousands of neighbours, and a host can change its address with
 * each packet: an update of a neighbour that is no peer queues no work, and a peer has one work
 * item.
 *
 * Two updates of a neighbour can be reported at the same time. The address is read under the lock
 * of the bucket, so that the one that is stored last is the latest.
 */
static int watch_neigh_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct neighbour *neigh = info;
	struct cmx_neigh_key key;
	struct cmx_neigh *peer;
	struct watch_bucket *b;
	u8 mac[MAX_ADDR_LEN];

	if (event != NETEVENT_NEIGH_UPDATE || !(READ_ONCE(neigh->nud_state) & NUD_VALID))
		return NOTIFY_DONE;
	key = cmx_neigh_key_of(neigh);

	b = watch_bucket_of(&key);
	spin_lock_bh(&b->lock);
	peer = watch_peer_find(b, &key);
	if (peer && cmx_neigh_addr_get(neigh, mac) &&
	    (peer->is_mixed || memcmp(peer->mac, mac, ETH_ALEN))) {
		peer->is_mixed = false;
		memcpy(peer->mac, mac, ETH_ALEN);
		if (queue_work(cmx_wq, &peer->work))
			peer->users++;
	}
	spin_unlock_bh(&b->lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = watch_netdev_event };
static struct notifier_block neigh_nb = { .notifier_call = watch_neigh_event };

int cmx_neigh_watch_init_module(void)
{
	int ret, i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		spin_lock_init(&buckets[i].lock);
	ret = register_netdevice_notifier(&netdev_nb);
	if (ret)
		return ret;
	ret = register_netevent_notifier(&neigh_nb);
	if (ret)
		unregister_netdevice_notifier(&netdev_nb);
	return ret;
}

/* Queued work still runs: cmx_wq is destroyed after the devices have been released. */
void cmx_neigh_watch_exit_module(void)
{
	unregister_netevent_notifier(&neigh_nb);
	unregister_netdevice_notifier(&netdev_nb);
}
