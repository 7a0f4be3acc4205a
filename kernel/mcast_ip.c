// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast on RoCE: a group is an IP group. For RoCE v2 the network learns of
 * receivers by IGMP and MLD, so the interface becomes a member as if a socket
 * had joined; RoCE v1 is no IP.
 *
 * An interface is a member once, whatever the number of ids. Joining adds it at
 * once, under rtnl. Leaving takes it out at once, too, while there are few
 * groups; else that would cost a walk along all of them, so a work does it soon,
 * for all that were left meanwhile. Whoever leaves never waits for rtnl.
 */
#include <linux/hashtable.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/list_sort.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>
#include "mcast.h"
#include "mcast_ip.h"
#include "mgid.h"
#include "option_value.h"
#include "transport.h"

/*
 * Most groups to remove under one rtnl; and with as many, leaving one is put
 * off, to be done with others.
 */
#define MANY 256
#define PUT_OFF_MS 50

/**
 * struct ip_group - an interface's membership in a group
 * @node: in groups, as long as @ndev is a member
 * @idle: on idle_groups, while @users is 0
 * @addr: the group, IPv4 as IPv4-mapped address
 * @ndev: the interface, with a reference; NULL once it has forgotten the group
 * @tracker: of that reference
 * @users: memberships of ids
 * @seq: order of joining
 */
struct ip_group {
	struct hlist_node node;
	struct list_head idle;
	struct in6_addr addr;
	struct net_device *ndev;
	netdevice_tracker tracker;
	u32 users;
	u64 seq;
};

static DEFINE_HASHTABLE(groups, 12);
static unsigned int n_groups;
static LIST_HEAD(idle_groups);
static u64 last_seq;
static DEFINE_SPINLOCK(lock);	/* protects the above and all of struct ip_group */

static u32 group_hash(const struct net_device *ndev, const struct in6_addr *addr)
{
	return jhash2((const u32 *)addr->s6_addr32, 4, hash_ptr(ndev, 32));
}

static struct ip_group *get_group(const struct net_device *ndev, const struct in6_addr *addr)
{
	struct ip_group *g, *found = NULL;

	spin_lock(&lock);
	hash_for_each_possible(groups, g, node, group_hash(ndev, addr)) {
		if (g->ndev == ndev && ipv6_addr_equal(&g->addr, addr)) {
			g->users++;
			list_del_init(&g->idle);
			found = g;
			break;
		}
	}
	spin_unlock(&lock);
	return found;
}

#if IS_REACHABLE(CONFIG_IPV6)
static int mld_add(struct net_device *ndev, const struct in6_addr *addr)
{
	return ipv6_dev_mc_inc(ndev, addr);
}

static void mld_del(struct net_device *ndev, const struct in6_addr *addr)
{
	ipv6_dev_mc_dec(ndev, addr);
}
#else
static int mld_add(struct net_device *ndev, const struct in6_addr *addr)
{
	return -EAFNOSUPPORT;
}

static void mld_del(struct net_device *ndev, const struct in6_addr *addr)
{
}
#endif

/* rtnl is held in both. */
static int member_add(struct net_device *ndev, const struct in6_addr *addr)
{
	struct in_device *in_dev;

	if (ndev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (!ipv6_addr_v4mapped(addr))
		return mld_add(ndev, addr);
	in_dev = __in_dev_get_rtnl(ndev);
	if (!in_dev)
		return -ENODEV;
	/* it could not tell that there was no memory */
	__ip_mc_inc_group(in_dev, addr->s6_addr32[3], GFP_KERNEL | __GFP_NOFAIL);
	return 0;
}

static void member_del(struct net_device *ndev, const struct in6_addr *addr)
{
	struct in_device *in_dev;

	if (ndev->reg_state != NETREG_REGISTERED)
		return;
	if (!ipv6_addr_v4mapped(addr)) {
		mld_del(ndev, addr);
		return;
	}
	in_dev = __in_dev_get_rtnl(ndev);
	if (in_dev)
		ip_mc_dec_group(in_dev, addr->s6_addr32[3]);
}

/* rtnl is held, and keeps others from making the same group. */
static int make_group(struct ip_group *g, struct net_device *ndev, const struct in6_addr *addr)
{
	int ret = member_add(ndev, addr);

	if (ret)
		return ret;
	INIT_LIST_HEAD(&g->idle);
	g->addr = *addr;
	g->ndev = ndev;
	g->users = 1;
	netdev_hold(ndev, &g->tracker, GFP_KERNEL);
	spin_lock(&lock);
	g->seq = ++last_seq;
	n_groups++;
	hash_add(groups, &g->node, group_hash(ndev, addr));
	spin_unlock(&lock);
	return 0;
}

static struct ip_group *join_group(struct net_device *ndev, const struct in6_addr *addr)
{
	struct ip_group *g = get_group(ndev, addr), *made;
	int ret = 0;

	if (g)
		return g;
	made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT);
	if (!made)
		return ERR_PTR(-ENOMEM);
	rtnl_lock();
	g = get_group(ndev, addr);
	if (!g)
		ret = make_group(made, ndev, addr);
	rtnl_unlock();
	if (!g && !ret)
		return made;
	kfree(made);
	return g ?: ERR_PTR(ret);
}

static int newest_first(void *priv, const struct list_head *a, const struct list_head *b)
{
	const struct ip_group *x = list_entry(a, struct ip_group, idle);
	const struct ip_group *y = list_entry(b, struct ip_group, idle);

	return x->seq < y->seq;
}

static void take_idle(struct list_head *batch)
{
	struct ip_group *g;

	spin_lock(&lock);
	list_splice_init(&idle_groups, batch);
	list_for_each_entry(g, batch, idle) {
		hash_del(&g->node);
		n_groups--;
	}
	spin_unlock(&lock);
}

/*
 * The network layer keeps an interface's groups in a list, the newest first:
 * in this order each is found at its head. rtnl is held, and may be let go of
 * meanwhile: an interface can be joined to the same group anew, as the network
 * layer counts for itself.
 */
static void remove_idle(void)
{
	struct ip_group *g, *next;
	LIST_HEAD(batch);
	int n = 0;

	take_idle(&batch);
	list_sort(NULL, &batch, newest_first);
	list_for_each_entry_safe(g, next, &batch, idle) {
		member_del(g->ndev, &g->addr);
		netdev_put(g->ndev, &g->tracker);
		kfree(g);
		if (++n % MANY == 0) {
			rtnl_unlock();
			cond_resched();
			rtnl_lock();
		}
	}
}

static void idle_fn(struct work_struct *work)
{
	rtnl_lock();
	remove_idle();
	rtnl_unlock();
}

static DECLARE_DELAYED_WORK(idle_work, idle_fn);

static void put_group(struct ip_group *g)
{
	bool gone, few;

	spin_lock(&lock);
	if (--g->users) {
		spin_unlock(&lock);
		return;
	}
	gone = !g->ndev;
	few = n_groups < MANY;
	if (!gone)
		list_add(&g->idle, &idle_groups);
	spin_unlock(&lock);

	if (gone) {
		kfree(g);
	} else if (few && rtnl_trylock()) {
		remove_idle();
		rtnl_unlock();
	} else {
		queue_delayed_work(system_unbound_wq, &idle_work,
				   msecs_to_jiffies(few ? 0 : PUT_OFF_MS));
	}
}

/* The interface has forgotten its groups by itself; what is left is our reference. */
static void forget_interface(struct net_device *ndev, bool ipv4, bool ipv6)
{
	struct hlist_node *next;
	struct ip_group *g;
	int i;

	spin_lock(&lock);
	hash_for_each_safe(groups, i, next, g, node) {
		if (g->ndev != ndev || !(ipv6_addr_v4mapped(&g->addr) ? ipv4 : ipv6))
			continue;
		hash_del(&g->node);
		n_groups--;
		netdev_put(ndev, &g->tracker);
		g->ndev = NULL;
		if (!g->users) {
			list_del(&g->idle);
			kfree(g);
		}
	}
	spin_unlock(&lock);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_UNREGISTER)
		forget_interface(ndev, true, true);
	/* an MTU that is too small for a protocol ends it on the interface */
	if (event == NETDEV_CHANGEMTU)
		forget_interface(ndev, !__in_dev_get_rtnl(ndev), !__in6_dev_get(ndev));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };

static void fill_rec(const struct cmx_mcast *mc, bool v2, struct ib_sa_mcmember_rec *rec)
{
	const struct cmx_mcast_attr *a = &mc->attr;
	const struct cmx_priv *p = mc->p;
	u32 flow_label = cmx_opt_set(p, CMX_OPT_FLOW_LABEL) ? p->opt.flow_label : 0;

	rec->mgid = mc->mgid;
	rdma_ip2gid(cmx_src(p), &rec->port_gid);
	rec->pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	rec->rate = IB_RATE_PORT_CURRENT;
	rec->sl = cmx_opt_set(p, CMX_OPT_SL) ? p->opt.sl : 0;
	rec->traffic_class = cmx_opt_tos(p);
	rec->hop_limit = v2 ? IPV6_DEFAULT_HOPLIMIT : 1;
	if (cmx_opt_set(p, CMX_OPT_HOP_LIMIT))
		rec->hop_limit = p->opt.hop_limit;

	if (a->mask & CMX_MCAST_QKEY)
		rec->qkey = cpu_to_be32(a->qkey);
	if (a->mask & CMX_MCAST_RATE)
		rec->rate = a->rate;
	if (a->mask & CMX_MCAST_SL)
		rec->sl = a->sl;
	if (a->mask & CMX_MCAST_TCLASS)
		rec->traffic_class = a->tclass;
	if (a->mask & CMX_MCAST_HOP_LIMIT)
		rec->hop_limit = a->hop_limit;
	if (a->mask & CMX_MCAST_FLOW_LABEL)
		flow_label = a->flow_label;
	rec->flow_label = cpu_to_be32(flow_label);
}

static int join_on(struct cmx_mcast *mc, struct net_device *ndev)
{
	bool v2 = mc->p->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct ib_sa_mcmember_rec rec = { .mtu = iboe_get_mtu(ndev->mtu) };
	struct ip_group *g;

	if (!rec.mtu || (mc->attr.mask & CMX_MCAST_MTU && mc->attr.mtu > rec.mtu))
		return -EINVAL;
	if (v2 && cmx_mcast_receives(mc)) {
		g = join_group(ndev, (const struct in6_addr *)&mc->mgid);
		if (IS_ERR(g))
			return PTR_ERR(g);
		mc->backend = g;
	}
	fill_rec(mc, v2, &rec);
	cmx_mcast_done(mc, 0, &rec, ndev);
	return 0;
}

static int ip_join(struct cmx_mcast *mc)
{
	const struct rdma_dev_addr *addr = &mc->p->id.route.addr.dev_addr;
	struct net_device *ndev;
	int ret;

	if (mc->attr.mask & (CMX_MCAST_PKEY | CMX_MCAST_SCOPE))
		return -EOPNOTSUPP;
	ret = cmx_mgid_roce((const struct sockaddr *)&mc->addr, mc->p->gid_type, &mc->mgid);
	if (ret)
		return ret;
	ndev = addr->bound_dev_if ? dev_get_by_index(addr->net, addr->bound_dev_if) : NULL;
	if (!ndev)
		return -ENODEV;
	ret = join_on(mc, ndev);
	dev_put(ndev);
	return ret;
}

static void ip_leave(struct cmx_mcast *mc)
{
	if (mc->backend)
		put_group(mc->backend);
	mc->backend = NULL;
}

const struct cmx_mcast_ops cmx_mcast_ip_ops = {
	.join = ip_join,
	.leave = ip_leave,
};

/**
 * cmx_mcast_ip_show() - the groups that interfaces are members of for us
 * @s: one line each is added
 */
void cmx_mcast_ip_show(struct seq_file *s)
{
	struct ip_group *g;
	int i;

	spin_lock(&lock);
	hash_for_each(groups, i, g, node) {
		if (ipv6_addr_v4mapped(&g->addr))
			seq_printf(s, "%s %pI4 %u\n", g->ndev->name, &g->addr.s6_addr32[3],
				   g->users);
		else
			seq_printf(s, "%s %pI6c %u\n", g->ndev->name, &g->addr, g->users);
	}
	spin_unlock(&lock);
}

int cmx_mcast_ip_init_module(void)
{
	return register_netdevice_notifier(&netdev_nb);
}

void cmx_mcast_ip_exit_module(void)
{
	/* to the notifier, each interface goes now: what is idle must be left before */
	flush_delayed_work(&idle_work);
	unregister_netdevice_notifier(&netdev_nb);
	flush_delayed_work(&idle_work);
}
