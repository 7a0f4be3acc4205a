// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast on InfiniBand: table of the memberships that this module has at ib_sa, for operators
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/seq_file.h>
#include "device.h"
#include "mcast_sa.h"

static DEFINE_HASHTABLE(members, 10);	/* by port, MGID and join state */
static DEFINE_SPINLOCK(members_lock);	/* protects members */

/*
 * The seed keeps users from choosing groups that share a bucket. The port is in the hash because a
 * group can have thousands of members on each port, and the functions below walk those of one port.
 */
static u32 sa_member_hash(const struct cmx_sa_member *m)
{
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash(&m->mc->mgid, sizeof(m->mc->mgid),
		     seed ^ hash_ptr(m->dev, 32) ^ m->port << 8 ^ m->rec.join_state);
}

/**
 * cmx_sa_member_list() - add a member to the table that operators see
 * @m: the member; nothing is done if it is in the table
 */
void cmx_sa_member_list(struct cmx_sa_member *m)
{
	spin_lock(&members_lock);
	if (hlist_unhashed(&m->node))
		hash_add(members, &m->node, sa_member_hash(m));
	spin_unlock(&members_lock);
}

static bool sa_member_same_group(const struct cmx_sa_member *a, const struct cmx_sa_member *b)
{
	return a->dev == b->dev && a->port == b->port &&
	       a->rec.join_state == b->rec.join_state &&
	       !memcmp(&a->mc->mgid, &b->mc->mgid, sizeof(a->mc->mgid));
}

/* A member in the table is lost, or belongs to the group. */
static bool sa_member_is_lost(const struct cmx_sa_member *m)
{
	enum cmx_member_state state = READ_ONCE(m->state);

	return state == CMX_MEMBER_LOST || state == CMX_MEMBER_REJOIN_SENT;
}

/**
 * cmx_sa_member_unlist() - undo cmx_sa_member_list()
 * @m: the member; nothing is done if it is not in the table
 *
 * Context: Caller must hold the lock of the id of @m->mc.
 * Return: true if another member in the table keeps the join state of @m for the port.
 */
bool cmx_sa_member_unlist(struct cmx_sa_member *m)
{
	struct cmx_sa_member *other;
	bool kept = false;

	spin_lock(&members_lock);
	hash_del(&m->node);
	/* Usually all are joined or all are lost, so the search is short. */
	if (m->sa) {
		hash_for_each_possible(members, other, node, sa_member_hash(m)) {
			kept = sa_member_same_group(other, m) && !sa_member_is_lost(other);
			if (kept)
				break;
		}
	}
	spin_unlock(&members_lock);
	return kept;
}

/*
 * Print one line for all members of a port with one join state in a group, when called for the
 * first of them.
 */
static void sa_member_show_group(struct seq_file *s, struct hlist_head *bucket,
				 struct cmx_sa_member *m)
{
	unsigned int users = 0, lost = 0;
	struct cmx_sa_member *other;

	hlist_for_each_entry(other, bucket, node) {
		if (!sa_member_same_group(other, m))
			continue;
		if (!users && other != m)
			return;
		users++;
		lost += sa_member_is_lost(other);
	}
	seq_printf(s, "%s/%u %pI6c %u mlid=%#x", dev_name(&m->dev->device->dev), m->port,
		   &m->mc->mgid, users, m->mc->mlid);
	if (lost)
		seq_printf(s, " lost=%u", lost);
	if (m->rec.join_state != BIT(FULLMEMBER_JOIN))
		seq_printf(s, " join_state=%#x", m->rec.join_state);
	seq_putc(s, '\n');
}

/**
 * cmx_mcast_sa_show() - print the groups that InfiniBand ports have joined for ids of this module
 * @s: receives one line for each group
 */
void cmx_mcast_sa_show(struct seq_file *s)
{
	struct cmx_sa_member *m;
	unsigned int i;

	spin_lock(&members_lock);
	for (i = 0; i < HASH_SIZE(members); i++)
		hlist_for_each_entry(m, &members[i], node)
			sa_member_show_group(s, &members[i], m);
	spin_unlock(&members_lock);
}
