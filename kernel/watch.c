// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Link layer addresses that change under an id: its own, when a bond fails
 * over (ADDR_CHANGE), and that of its peer (UNREACHABLE). Packets on the path
 * that was resolved would go astray.
 */
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "device.h"
#include "event.h"
#include "lookup.h"
#include "transport.h"
#include "watch.h"

/**
 * struct change - the address of an interface changed
 * @work: looks for the ids concerned
 * @net: the namespace; only compared
 * @ifindex: the interface
 * @len: bytes of @mac that count
 * @mac: the new address
 */
struct change {
	struct work_struct work;
	const struct net *net;
	int ifindex;
	u8 len;
	u8 mac[MAX_ADDR_LEN];
};

/**
 * struct cmx_peer - a neighbour that ids have resolved: no other one matters
 * @node: in the bucket of its address
 * @work: tells its ids that it has another link layer address
 * @users: ids, and @work while it is queued or runs; under the bucket's lock
 * @hop: the neighbour
 * @mac: what its ids know
 */
struct cmx_peer {
	struct hlist_node node;
	struct work_struct work;
	unsigned int users;
	struct cmx_hop hop;
	u8 mac[ETH_ALEN];
};

static struct bucket {
	spinlock_t lock;	/* protects peers, and their users */
	struct hlist_head peers;
} buckets[256];

static struct bucket *bucket_of(const struct cmx_hop *hop)
{
	return &buckets[cmx_hop_hash(hop) % ARRAY_SIZE(buckets)];
}

static void peer_put(struct cmx_peer *peer)
{
	struct bucket *b = bucket_of(&peer->hop);
	bool last;

	spin_lock_bh(&b->lock);
	last = !--peer->users;
	if (last)
		hlist_del(&peer->node);
	spin_unlock_bh(&b->lock);
	if (last)
		kfree(peer);
}

/* Without p's lock only a guess. */
static bool is_peer(const struct cmx_priv *p, const void *peer)
{
	return READ_ONCE(p->peer) == peer;
}

static bool interface_changed(const struct cmx_priv *p, const void *arg)
{
	const struct rdma_dev_addr *addr = &p->id.route.addr.dev_addr;
	const struct change *c = arg;

	return addr->bound_dev_if == c->ifindex && addr->net == c->net &&
	       memcmp(addr->src_dev_addr, c->mac, c->len);
}

#define HAS_PATH (CMX_IN(ROUTE_RESOLVED) | CMX_IN(CONNECT) | CMX_IN(DISCONNECT))

static bool peer_moved(const struct cmx_priv *p, const void *peer)
{
	return is_peer(p, peer) && BIT(p->state) & HAS_PATH;
}

/* Posts an event to each id that @concerned says is. */
static void tell_all(bool (*concerned)(const struct cmx_priv *p, const void *arg),
		     const void *arg, enum rdma_cm_event_type type, int status)
{
	struct cmx_priv **ids, *p;
	struct cmx_event *ev;
	size_t i, n;

	ids = cmx_device_ids(concerned, arg, &n);
	for (i = 0; i < n; i++) {
		p = ids[i];
		ev = cmx_event_must(p, type, status);
		mutex_lock(&p->lock);
		/* a ULP's id that is to go keeps its device for a while */
		if (p->dev && p->state != CMX_REMOVED && concerned(p, arg)) {
			cmx_event_post(ev);
			ev = NULL;
		}
		mutex_unlock(&p->lock);
		if (ev)
			cmx_event_free(ev);
		cmx_id_put(p);
	}
	kvfree(ids);
}

static void peer_work(struct work_struct *work)
{
	struct cmx_peer *peer = container_of(work, struct cmx_peer, work);

	tell_all(peer_moved, peer, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	peer_put(peer);
}

static void change_work(struct work_struct *work)
{
	struct change *c = container_of(work, struct change, work);

	tell_all(interface_changed, c, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	kfree(c);
}

/* The peer's address as a neighbour has it. False: it has no such thing. */
static bool hop_of(const struct cmx_priv *p, struct cmx_hop *hop)
{
	const struct sockaddr *dst = cmx_dst(p);

	*hop = (struct cmx_hop) {
		.net = cmx_net(p),
		.ifindex = p->id.route.addr.dev_addr.bound_dev_if,
		.family = dst->sa_family,
	};
	if (dst->sa_family == AF_INET)
		memcpy(hop->key, &((struct sockaddr_in *)dst)->sin_addr, sizeof(struct in_addr));
	else if (dst->sa_family == AF_INET6)
		memcpy(hop->key, &((struct sockaddr_in6 *)dst)->sin6_addr, sizeof(struct in6_addr));
	else
		return false;
	/* a path of InfiniBand has its addresses from the SA */
	return p->dev_port->transport->gid_is_ip;
}

/**
 * cmx_watch_peer() - tell an id when its peer gets another link layer address
 * @p: the id; its lock is held, its address has been resolved. Nothing to do
 *	where that is not known from a neighbour
 *
 * Out of memory it is not told: it finds out when nobody answers.
 */
void cmx_watch_peer(struct cmx_priv *p)
{
	const u8 *mac = p->id.route.addr.dev_addr.dst_dev_addr;
	struct cmx_peer *new, *peer;
	struct cmx_hop hop;
	struct bucket *b;

	lockdep_assert_held(&p->lock);
	if (WARN_ON_ONCE(p->peer) || !hop_of(p, &hop))
		return;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return;
	new->hop = hop;
	memcpy(new->mac, mac, ETH_ALEN);
	INIT_WORK(&new->work, peer_work);

	b = bucket_of(&hop);
	spin_lock_bh(&b->lock);
	hlist_for_each_entry(peer, &b->peers, node)
		if (cmx_hop_equal(&peer->hop, &hop) && !memcmp(peer->mac, mac, ETH_ALEN))
			break;
	if (!peer) {
		peer = new;
		new = NULL;
		hlist_add_head(&peer->node, &b->peers);
	}
	peer->users++;
	spin_unlock_bh(&b->lock);
	kfree(new);
	WRITE_ONCE(p->peer, peer);
}

/**
 * cmx_unwatch_peer() - undo cmx_watch_peer()
 * @p: the id; its lock is held. Nothing to do when it watches none
 */
void cmx_unwatch_peer(struct cmx_priv *p)
{
	struct cmx_peer *peer = p->peer;

	lockdep_assert_held(&p->lock);
	WRITE_ONCE(p->peer, NULL);
	if (peer)
		peer_put(peer);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct change *c;

	if (event != NETDEV_BONDING_FAILOVER || !netif_is_bond_master(ndev))
		return NOTIFY_DONE;
	c = kzalloc(sizeof(*c), GFP_ATOMIC);
	if (!c)
		return NOTIFY_DONE;
	INIT_WORK(&c->work, change_work);
	c->net = dev_net(ndev);
	c->ifindex = ndev->ifindex;
	c->len = ndev->addr_len;
	memcpy(c->mac, ndev->dev_addr, ndev->addr_len);
	queue_work(cmx_wq, &c->work);
	return NOTIFY_DONE;
}

/* Anybody can make neighbours, by the thousand: those that are no peers cost nothing more. */
static int neigh_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct neighbour *neigh = info;
	struct cmx_hop hop;
	u8 mac[MAX_ADDR_LEN];
	struct cmx_peer *peer;
	struct bucket *b;

	if (event != NETEVENT_NEIGH_UPDATE || !(READ_ONCE(neigh->nud_state) & NUD_VALID))
		return NOTIFY_DONE;
	hop = cmx_hop_of(neigh);
	neigh_ha_snapshot(mac, neigh, neigh->dev);

	b = bucket_of(&hop);
	spin_lock_bh(&b->lock);
	hlist_for_each_entry(peer, &b->peers, node)
		if (cmx_hop_equal(&peer->hop, &hop) && memcmp(peer->mac, mac, ETH_ALEN) &&
		    queue_work(cmx_wq, &peer->work))
			peer->users++;
	spin_unlock_bh(&b->lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block neigh_nb = { .notifier_call = neigh_event };

int cmx_watch_init_module(void)
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

/* What is queued still runs: the work queue goes after the devices do. */
void cmx_watch_exit_module(void)
{
	unregister_netevent_notifier(&neigh_nb);
	unregister_netdevice_notifier(&netdev_nb);
}
