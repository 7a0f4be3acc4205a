// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast on RoCE: a group is an IP multicast group. For RoCE v2 the network learns of receivers
 * by IGMP and MLD, so the network interface becomes a member as if a socket had joined. RoCE v1
 * does not use IP.
 *
 * An interface is a member once, whatever the number of ids. A join waits for rtnl to add the
 * membership, and releases the lock of its id meanwhile: any user can keep rtnl busy, and a handler
 * of ib_cm or a work item for many ids may wait for that lock. A leave never waits for rtnl. It
 * removes the membership at once if rtnl is free and there are few groups. With many groups the
 * removal would walk all of them, so a work item does it soon afterwards, for all groups that were
 * left meanwhile.
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
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include "mcast.h"
#include "mgid.h"
#include "roce.h"
#include "option_value.h"
#include "transport.h"

/*
 * Maximum number of groups to remove without releasing rtnl. With this many groups, leaving one is
 * deferred, so that several are left together.
 */
#define LEAVE_BATCH 256
#define LEAVE_DELAY_MS 50

/**
 * struct ip_group - membership of a network interface in a group
 * @node: in groups, as long as @ndev is a member
 * @of_ndev: in groups_of_ndev, likewise
 * @idle: on idle_groups, while @users is 0
 * @addr: the group; IPv4 as an IPv4-mapped address
 * @ndev: the interface, with a reference; NULL once the interface has dropped the group
 * @users: number of memberships of ids
 * @seq: order of joining
 */
struct ip_group {
	struct hlist_node node;
	struct hlist_node of_ndev;
	struct list_head idle;
	struct in6_addr addr;
	struct net_device *ndev;
	u32 users;
	u64 seq;
};

static DEFINE_HASHTABLE(groups, 12);
static DEFINE_HASHTABLE(groups_of_ndev, 8);
static unsigned int n_groups;
static LIST_HEAD(idle_groups);
static u64 last_seq;
static DEFINE_SPINLOCK(lock);	/* protects the above and all of struct ip_group */

static u32 ip_group_hash(const struct net_device *ndev, const struct in6_addr *addr)
{
	return jhash2((const u32 *)addr->s6_addr32, 4, hash_ptr(ndev, 32));
}

static struct ip_group *ip_group_get(const struct net_device *ndev, const struct in6_addr *addr)
{
	struct ip_group *group, *found = NULL;

	spin_lock(&lock);
	hash_for_each_possible(groups, group, node, ip_group_hash(ndev, addr)) {
		if (group->ndev == ndev && ipv6_addr_equal(&group->addr, addr)) {
			group->users++;
			list_del_init(&group->idle);
			found = group;
			break;
		}
	}
	spin_unlock(&lock);
	return found;
}

/* Caller must hold rtnl, here and for ip_member_del(). */
static int ip_member_add(struct net_device *ndev, const struct in6_addr *addr)
{
	struct in_device *in_dev;

	if (ndev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (!ipv6_addr_v4mapped(addr))
		return IS_REACHABLE(CONFIG_IPV6) ? ipv6_dev_mc_inc(ndev, addr) : -EAFNOSUPPORT;
	in_dev = __in_dev_get_rtnl(ndev);
	if (!in_dev)
		return -ENODEV;
	/*
	 * __ip_mc_inc_group() cannot report that there is no memory. Reclaim may start I/O, as
	 * elsewhere under rtnl: no report that a connection has ended waits for rtnl.
	 */
	__ip_mc_inc_group(in_dev, addr->s6_addr32[3], GFP_KERNEL | __GFP_NOFAIL);
	return 0;
}

static void ip_member_del(struct net_device *ndev, const struct in6_addr *addr)
{
	struct in_device *in_dev;

	if (ndev->reg_state != NETREG_REGISTERED)
		return;
	if (!ipv6_addr_v4mapped(addr)) {
		if (IS_REACHABLE(CONFIG_IPV6))
			ipv6_dev_mc_dec(ndev, addr);
		return;
	}
	in_dev = __in_dev_get_rtnl(ndev);
	if (in_dev)
		ip_mc_dec_group(in_dev, addr->s6_addr32[3]);
}

/* Caller must hold rtnl, which prevents others from creating the same group. */
static int ip_group_create(struct ip_group *group, struct net_device *ndev,
			   const struct in6_addr *addr)
{
	int ret = ip_member_add(ndev, addr);

	if (ret)
		return ret;
	INIT_LIST_HEAD(&group->idle);
	group->addr = *addr;
	group->ndev = ndev;
	group->users = 1;
	dev_hold(ndev);
	spin_lock(&lock);
	group->seq = ++last_seq;
	n_groups++;
	hash_add(groups, &group->node, ip_group_hash(ndev, addr));
	hash_add(groups_of_ndev, &group->of_ndev, (uintptr_t)ndev);
	spin_unlock(&lock);
	return 0;
}

/* Caller must hold no lock of an id, because this waits for rtnl. */
static struct ip_group *ip_group_join(struct net_device *ndev, const struct in6_addr *addr)
{
	struct ip_group *group, *made;
	int ret = 0;

	made = kzalloc(sizeof(*made), GFP_KERNEL_ACCOUNT);
	if (!made)
		return ERR_PTR(-ENOMEM);
	rtnl_lock();
	group = ip_group_get(ndev, addr);
	if (!group)
		ret = ip_group_create(made, ndev, addr);
	rtnl_unlock();
	if (!group && !ret)
		return made;
	kfree(made);
	return group ?: ERR_PTR(ret);
}

static int ip_group_cmp_newest(void *priv, const struct list_head *a, const struct list_head *b)
{
	const struct ip_group *x = list_entry(a, struct ip_group, idle);
	const struct ip_group *y = list_entry(b, struct ip_group, idle);

	return x->seq < y->seq;
}

/* Idle groups that are being removed; under rtnl */
static LIST_HEAD(removals);

/* Caller must hold the lock. */
static void ip_group_unhash(struct ip_group *group)
{
	hash_del(&group->node);
	hash_del(&group->of_ndev);
	n_groups--;
}

static void ip_group_unhash_idle(void)
{
	struct ip_group *group;

	spin_lock(&lock);
	list_for_each_entry(group, &idle_groups, idle)
		ip_group_unhash(group);
	list_splice_init(&idle_groups, &removals);
	spin_unlock(&lock);
}

/*
 * The network layer keeps the groups of an interface in a list, with the newest first. The groups
 * are removed in this order, so that each one is found at the head of the list.
 *
 * Remove LEAVE_BATCH groups at most, and return true if none is left. Caller must hold rtnl. It may
 * release rtnl before it removes the next ones. An interface can then be joined to the same group
 * again, because the network layer has a count of its own.
 */
static bool ip_group_remove_idle(void)
{
	struct ip_group *group;
	int n;

	if (list_empty(&removals)) {
		ip_group_unhash_idle();
		list_sort(NULL, &removals, ip_group_cmp_newest);
	}
	for (n = 0; n < LEAVE_BATCH; n++) {
		group = list_first_entry_or_null(&removals, struct ip_group, idle);
		if (!group)
			break;
		list_del(&group->idle);
		ip_member_del(group->ndev, &group->addr);
		dev_put(group->ndev);
		kfree(group);
	}
	return list_empty(&removals);
}

static void ip_group_idle_work(struct work_struct *work)
{
	bool done;

	do {
		rtnl_lock();
		done = ip_group_remove_idle();
		rtnl_unlock();
		cond_resched();
	} while (!done);
}

static DECLARE_DELAYED_WORK(idle_work, ip_group_idle_work);

static void ip_group_put(struct ip_group *group)
{
	bool gone, few, done = false;

	spin_lock(&lock);
	if (--group->users) {
		spin_unlock(&lock);
		return;
	}
	gone = !group->ndev;
	few = n_groups < LEAVE_BATCH;
	if (!gone)
		list_add(&group->idle, &idle_groups);
	spin_unlock(&lock);

	if (gone) {
		kfree(group);
		return;
	}
	if (few && rtnl_trylock()) {
		/* a work item that has released rtnl may have thousands left */
		done = list_empty(&removals) && ip_group_remove_idle();
		rtnl_unlock();
	}
	if (!done)
		queue_delayed_work(system_unbound_wq, &idle_work,
				   msecs_to_jiffies(few ? 0 : LEAVE_DELAY_MS));
}

/* Is it a group of the interface, and of IPv4 or IPv6 as selected? */
static bool ip_group_is_of(const struct ip_group *group, const struct net_device *ndev, bool ipv4,
			   bool ipv6)
{
	return group->ndev == ndev && (ipv6_addr_v4mapped(&group->addr) ? ipv4 : ipv6);
}

/*
 * The interface has dropped its groups by itself: only our references are left. Caller must hold
 * rtnl.
 */
static void ip_group_forget_ndev(struct net_device *ndev, bool ipv4, bool ipv6)
{
	struct hlist_node *next;
	struct ip_group *group, *later;

	if (!ipv4 && !ipv6)
		return;
	list_for_each_entry_safe(group, later, &removals, idle) {
		if (!ip_group_is_of(group, ndev, ipv4, ipv6))
			continue;
		list_del(&group->idle);
		dev_put(ndev);
		kfree(group);
	}
	spin_lock(&lock);
	hash_for_each_possible_safe(groups_of_ndev, group, next, of_ndev, (uintptr_t)ndev) {
		if (!ip_group_is_of(group, ndev, ipv4, ipv6))
			continue;
		ip_group_unhash(group);
		dev_put(ndev);
		group->ndev = NULL;
		if (!group->users) {
			list_del(&group->idle);
			kfree(group);
		}
	}
	spin_unlock(&lock);
}

static int ip_group_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_UNREGISTER)
		ip_group_forget_ndev(ndev, true, true);
	/* a protocol is disabled on the interface if the MTU is too small for it */
	if (event == NETDEV_CHANGEMTU)
		ip_group_forget_ndev(ndev, !__in_dev_get_rtnl(ndev), !__in6_dev_get(ndev));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = ip_group_netdev_event };

static bool ip_gid_is_v4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

static bool ip_gid_is_link_local(const union ib_gid *gid)
{
	return ipv6_addr_type((const struct in6_addr *)gid) & IPV6_ADDR_LINKLOCAL;
}

/*
 * With RoCE v2 the source GID of a datagram decides between IPv4 and IPv6. If @gid, that of the id,
 * is of the other family than the group, take another GID of the interface, and a link-local one
 * only if there is no other. An interface without one can only receive.
 */
static void ip_source_gid_select(const struct cmx_mcast *mc, const struct net_device *ndev,
				 union ib_gid *gid)
{
	struct ib_device *device = mc->id_priv->id.device;
	u32 port = mc->id_priv->id.port_num;
	const struct ib_gid_attr *attr;
	bool found = false;
	int i;

	if (ip_gid_is_v4(gid) == ip_gid_is_v4(&mc->mgid))
		return;
	for (i = 0; i < device->port_data[port].immutable.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(device, port, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    rcu_access_pointer(attr->ndev) == ndev &&
		    ip_gid_is_v4(&attr->gid) == ip_gid_is_v4(&mc->mgid) &&
		    (!found || ip_gid_is_link_local(gid))) {
			*gid = attr->gid;
			found = true;
		}
		rdma_put_gid_attr(attr);
	}
}

static void ip_rec_fill(const struct cmx_mcast *mc, const struct net_device *ndev, bool v2,
			struct ib_sa_mcmember_rec *rec)
{
	const struct cmx_id_private *id_priv = mc->id_priv;

	rec->mgid = mc->mgid;
	rdma_ip2gid(cmx_src(id_priv), &rec->port_gid);
	if (v2)
		ip_source_gid_select(mc, ndev, &rec->port_gid);
	rec->pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	if (mc->attr.mask & CMX_MCAST_QKEY)
		rec->qkey = cpu_to_be32(mc->attr.qkey);
	rec->rate = IB_RATE_PORT_CURRENT;
	rec->traffic_class = cmx_opt_get(id_priv, CMX_OPT_TOS);
	rec->hop_limit = v2 ? IPV6_DEFAULT_HOPLIMIT : 1;
	cmx_mcast_rec_merge(rec, &mc->attr, &id_priv->opt);
}

/*
 * Make the interface a member. The lock of the id is released while rtnl may be waited for. Returns
 * -ECANCELED if the membership has ended meanwhile.
 */
static int ip_join_group(struct cmx_mcast *mc, struct net_device *ndev)
{
	const struct in6_addr *addr = (const struct in6_addr *)&mc->mgid;
	struct ip_group *group = ip_group_get(ndev, addr);

	if (!group) {
		mutex_unlock(&mc->id_priv->lock);
		group = ip_group_join(ndev, addr);
		mutex_lock(&mc->id_priv->lock);
	}
	if (!mc->left && !IS_ERR(group)) {
		mc->transport_data = group;
		return 0;
	}
	if (!IS_ERR(group))
		ip_group_put(group);
	return mc->left ? -ECANCELED : PTR_ERR(group);
}

static int ip_join_ndev(struct cmx_mcast *mc, struct net_device *ndev)
{
	bool v2 = mc->id_priv->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct ib_sa_mcmember_rec rec = { .mtu = iboe_get_mtu(ndev->mtu) };
	int ret;

	if (!rec.mtu || (mc->attr.mask & CMX_MCAST_MTU && mc->attr.mtu > rec.mtu))
		return -EINVAL;
	if (v2 && cmx_mcast_receives(mc)) {
		ret = ip_join_group(mc, ndev);
		if (ret)
			return ret;
	}
	ip_rec_fill(mc, ndev, v2, &rec);
	cmx_mcast_report_join(mc, 0, &rec, ndev);
	return 0;
}

static int ip_join(struct cmx_mcast *mc)
{
	const struct rdma_dev_addr *addr = &mc->id_priv->id.route.addr.dev_addr;
	struct net_device *ndev;
	int ret;

	if (mc->attr.mask & (CMX_MCAST_PKEY | CMX_MCAST_SCOPE))
		return -EOPNOTSUPP;
	ret = cmx_mgid_map_roce(&mc->addr.sa, mc->id_priv->gid_type, &mc->mgid);
	if (ret)
		return ret;
	ndev = dev_get_by_index(addr->net, addr->bound_dev_if);
	if (!ndev)
		return -ENODEV;
	ret = ip_join_ndev(mc, ndev);
	dev_put(ndev);
	return ret;
}

static void ip_leave(struct cmx_mcast *mc)
{
	if (mc->transport_data)
		ip_group_put(mc->transport_data);
	mc->transport_data = NULL;
}

static void ip_groups_show(struct seq_file *s)
{
	struct ip_group *group;
	int i;

	spin_lock(&lock);
	hash_for_each(groups, i, group, node) {
		if (ipv6_addr_v4mapped(&group->addr))
			seq_printf(s, "%s %pI4 %u\n", group->ndev->name, &group->addr.s6_addr32[3],
				   group->users);
		else
			seq_printf(s, "%s %pI6c %u\n", group->ndev->name, &group->addr,
				   group->users);
	}
	spin_unlock(&lock);
}

const struct cmx_mcast_ops cmx_mcast_ip_ops = {
	.join = ip_join,
	.leave = ip_leave,
	.show = ip_groups_show,
};

int cmx_mcast_ip_init_module(void)
{
	return register_netdevice_notifier(&netdev_nb);
}

void cmx_mcast_ip_exit_module(void)
{
	/*
	 * For the notifier all interfaces are unregistered now: groups that are idle must be left
	 * before.
	 */
	flush_delayed_work(&idle_work);
	unregister_netdevice_notifier(&netdev_nb);
	flush_delayed_work(&idle_work);
}
