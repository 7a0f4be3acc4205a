// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Link layer addresses that change under an id: its own, when a bond fails
 * over (ADDR_CHANGE), and that of its peer (UNREACHABLE). Packets on the path
 * that was resolved would go astray.
 */
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "device.h"
#include "event.h"
#include "verbs.h"

/**
 * struct change - an address that changed
 * @work: looks for the ids concerned
 * @net: the namespace; only compared
 * @ifindex: the interface
 * @len: bytes of @mac that count
 * @mac: the new address
 * @neigh: of a neighbour, whose IP address it is; ss_family 0: of the interface
 */
struct change {
	struct work_struct work;
	const struct net *net;
	int ifindex;
	u8 len;
	u8 mac[MAX_ADDR_LEN];
	struct sockaddr_storage neigh;
};

/* On one interface a scope, which cmx_addr_same_host() asks for, says nothing more. */
static bool same_peer(const struct change *c, const struct cmx_priv *p)
{
	const struct sockaddr *dst = cmx_dst(p);

	if (dst->sa_family != c->neigh.ss_family)
		return false;
	if (dst->sa_family == AF_INET)
		return ((struct sockaddr_in *)dst)->sin_addr.s_addr ==
		       ((struct sockaddr_in *)&c->neigh)->sin_addr.s_addr;
	return ipv6_addr_equal(&((struct sockaddr_in6 *)dst)->sin6_addr,
			       &((struct sockaddr_in6 *)&c->neigh)->sin6_addr);
}

#define HAS_PATH (CMX_IN(ROUTE_RESOLVED) | CMX_IN(CONNECT) | CMX_IN(DISCONNECT))

/* Without p's lock only a guess. */
static bool concerns(const struct cmx_priv *p, const void *arg)
{
	const struct rdma_dev_addr *addr = &p->id.route.addr.dev_addr;
	const struct change *c = arg;

	if (addr->bound_dev_if != c->ifindex || addr->net != c->net)
		return false;
	if (!c->neigh.ss_family)
		return memcmp(addr->src_dev_addr, c->mac, c->len);
	return !p->passive && BIT(p->state) & HAS_PATH && same_peer(c, p) &&
	       memcmp(addr->dst_dev_addr, c->mac, c->len);
}

/* A path of InfiniBand has its addresses from the SA. */
static bool uses_mac(const struct cmx_priv *p)
{
	return rdma_protocol_roce(p->id.device, p->id.port_num);
}

static void tell(struct cmx_priv *p, const struct change *c)
{
	struct cmx_event *ev;

	ev = c->neigh.ss_family ? cmx_event_must(p, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT)
				: cmx_event_must(p, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	mutex_lock(&p->lock);
	/* a ULP's id that is to go keeps its device for a while */
	if (p->dev && p->state != CMX_REMOVED && concerns(p, c) &&
	    (!c->neigh.ss_family || uses_mac(p))) {
		cmx_event_post(ev);
		ev = NULL;
	}
	mutex_unlock(&p->lock);
	if (ev)
		cmx_event_free(ev);
}

static void work(struct work_struct *work)
{
	struct change *c = container_of(work, struct change, work);
	struct cmx_priv **ids;
	size_t i, n;

	ids = cmx_device_ids(concerns, c, &n);
	for (i = 0; i < n; i++) {
		tell(ids[i], c);
		cmx_id_put(ids[i]);
	}
	kvfree(ids);
	kfree(c);
}

static struct change *change_of(const struct net_device *ndev)
{
	struct change *c = kzalloc(sizeof(*c), GFP_ATOMIC);

	if (!c)
		return NULL;
	INIT_WORK(&c->work, work);
	c->net = dev_net(ndev);
	c->ifindex = ndev->ifindex;
	c->len = ndev->addr_len;
	memcpy(c->mac, ndev->dev_addr, ndev->addr_len);
	return c;
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct change *c;

	if (event != NETDEV_BONDING_FAILOVER || !netif_is_bond_master(ndev))
		return NOTIFY_DONE;
	c = change_of(ndev);
	if (c)
		queue_work(cmx_wq, &c->work);
	return NOTIFY_DONE;
}

static int neigh_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct neighbour *neigh = info;
	struct change *c;

	if (event != NETEVENT_NEIGH_UPDATE || !(READ_ONCE(neigh->nud_state) & NUD_VALID))
		return NOTIFY_DONE;
	c = change_of(neigh->dev);
	if (!c)
		return NOTIFY_DONE;
	neigh_ha_snapshot(c->mac, neigh, neigh->dev);
	c->neigh.ss_family = neigh->tbl->family;
	if (neigh->tbl->family == AF_INET)
		memcpy(&((struct sockaddr_in *)&c->neigh)->sin_addr, neigh->primary_key,
		       sizeof(struct in_addr));
	else
		memcpy(&((struct sockaddr_in6 *)&c->neigh)->sin6_addr, neigh->primary_key,
		       sizeof(struct in6_addr));
	queue_work(cmx_wq, &c->work);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block neigh_nb = { .notifier_call = neigh_event };

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

/* What is queued still runs: the work queue goes after the devices do. */
void cmx_watch_exit_module(void)
{
	unregister_netevent_notifier(&neigh_nb);
	unregister_netdevice_notifier(&netdev_nb);
}
