// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ids that use a bond. Users can make bonds of their own and let them fail over without end, so
 * a failover must not search all ids of the host.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include "bond.h"

/**
 * struct cmx_bond - a bond that ids use
 * @item: on the list of bonds
 * @work: calls @report for each id in @todo. Each bond has its own, because an id may be locked for
 *	long
 * @report: argument of cmx_bond_fail_over()
 * @net: network namespace; only to be compared
 * @ifindex: its interface
 * @ids: list of &cmx_id_private.bond_item
 * @todo: list of the ids that @work has still to look at; they are not in @ids
 * @users: number of ids in both lists, plus one while @work is queued or runs
 */
struct cmx_bond {
	struct list_head item;
	struct work_struct work;
	void (*report)(struct cmx_id_private *id_priv);
	const struct net *net;
	int ifindex;
	struct list_head ids;
	struct list_head todo;
	unsigned int users;
};

static LIST_HEAD(bonds);
static DEFINE_SPINLOCK(bonds_lock);	/* protects bonds and their members */

static struct cmx_bond *bond_find(const struct net *net, int ifindex)
{
	struct cmx_bond *bond;

	lockdep_assert_held(&bonds_lock);
	list_for_each_entry(bond, &bonds, item)
		if (bond->net == net && bond->ifindex == ifindex)
			return bond;
	return NULL;
}

/* @id_priv: the id that does not use it any more, or NULL */
static void bond_put(struct cmx_bond *bond, struct cmx_id_private *id_priv)
{
	bool last;

	spin_lock(&bonds_lock);
	if (id_priv)
		list_del(&id_priv->bond_item);
	last = !--bond->users;
	if (last)
		list_del(&bond->item);
	spin_unlock(&bonds_lock);
	if (last)
		kfree(bond);
}

/* Take the next id from the list todo. Returns it with a reference, or NULL if there is none. */
static struct cmx_id_private *bond_next_id(struct cmx_bond *bond)
{
	struct cmx_id_private *id_priv;

	spin_lock(&bonds_lock);
	id_priv = list_first_entry_or_null(&bond->todo, struct cmx_id_private, bond_item);
	if (id_priv) {
		/* an id leaves the list before its last reference is dropped */
		cmx_id_get(id_priv);
		list_move_tail(&id_priv->bond_item, &bond->ids);
	}
	spin_unlock(&bonds_lock);
	return id_priv;
}

static void bond_work(struct work_struct *work)
{
	struct cmx_bond *bond = container_of(work, struct cmx_bond, work);
	struct cmx_id_private *id_priv;

	while ((id_priv = bond_next_id(bond)))
		bond->report(id_priv);
	bond_put(bond, NULL);
}

/* Find or create a bond. Caller must hold bonds_lock. */
static struct cmx_bond *bond_get(const struct net *net, int ifindex)
{
	struct cmx_bond *bond = bond_find(net, ifindex);

	if (bond)
		return bond;
	bond = kzalloc(sizeof(*bond), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!bond)
		return NULL;
	INIT_WORK(&bond->work, bond_work);
	bond->net = net;
	bond->ifindex = ifindex;
	INIT_LIST_HEAD(&bond->ids);
	INIT_LIST_HEAD(&bond->todo);
	list_add(&bond->item, &bonds);
	return bond;
}

static bool bond_exists(const struct rdma_dev_addr *addr)
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
 * cmx_bond_attach() - let an id be told of a failover of its interface, if that is a bond
 * @id_priv: the id, which is attached to a device. The interface of its address may have changed
 *
 * Best effort: on allocation failure the id is not told.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_bond_attach(struct cmx_id_private *id_priv)
{
	const struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	struct cmx_bond *bond = id_priv->bond;

	lockdep_assert_held(&id_priv->lock);
	/* an id that has still to be told of a failover stays on that list */
	if (bond && bond->net == addr->net && bond->ifindex == addr->bound_dev_if)
		return;
	cmx_bond_detach(id_priv);
	if (!addr->bound_dev_if || !bond_exists(addr))
		return;
	spin_lock(&bonds_lock);
	bond = bond_get(addr->net, addr->bound_dev_if);
	if (bond) {
		list_add_tail(&id_priv->bond_item, &bond->ids);
		bond->users++;
	}
	spin_unlock(&bonds_lock);
	id_priv->bond = bond;
}

/**
 * cmx_bond_detach() - undo cmx_bond_attach()
 * @id_priv: the id; nothing is done if its interface is no bond
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_bond_detach(struct cmx_id_private *id_priv)
{
	struct cmx_bond *bond = id_priv->bond;

	lockdep_assert_held(&id_priv->lock);
	id_priv->bond = NULL;
	if (bond)
		bond_put(bond, id_priv);
}

/**
 * cmx_bond_fail_over() - tell the ids of a bond that it has failed over
 * @ndev: the bond
 * @report: called for each of its ids by a work item, with a reference that it drops
 *
 * Context: Process context. Does nothing if no id uses the bond.
 */
void cmx_bond_fail_over(const struct net_device *ndev,
			void (*report)(struct cmx_id_private *id_priv))
{
	struct cmx_bond *bond;

	spin_lock(&bonds_lock);
	bond = bond_find(dev_net(ndev), ndev->ifindex);
	if (bond) {
		list_splice_tail_init(&bond->ids, &bond->todo);
		bond->report = report;
		if (queue_work(cmx_wq, &bond->work))
			bond->users++;
	}
	spin_unlock(&bonds_lock);
}
