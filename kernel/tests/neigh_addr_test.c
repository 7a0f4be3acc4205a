// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/if_ether.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include "../base/neigh_addr.c"

static const u8 neigh_addr_test_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x77 };

/**
 * struct neigh_addr_test_reader - reads the address of a neighbour on another processor
 * @work: reads it
 * @started: the work item runs
 * @n: the neighbour
 * @lladdr: the address that was read
 * @valid: whether it was valid
 */
struct neigh_addr_test_reader {
	struct work_struct work;
	struct completion started;
	struct neighbour *n;
	u8 lladdr[MAX_ADDR_LEN];
	bool valid;
};

static void neigh_addr_test_work(struct work_struct *work)
{
	struct neigh_addr_test_reader *r =
		container_of(work, struct neigh_addr_test_reader, work);

	complete(&r->started);
	/* until the update has stored the state */
	while (!READ_ONCE(r->n->nud_state))
		cond_resched();
	r->valid = cmx_neigh_addr_get(r->n, r->lladdr);
}

static struct neighbour *neigh_addr_test_new(struct kunit *test)
{
	struct neighbour *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);
	struct net_device *ndev = kunit_kzalloc(test, sizeof(*ndev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	KUNIT_ASSERT_NOT_NULL(test, ndev);
	rwlock_init(&n->lock);
	seqlock_init(&n->ha_lock);
	ndev->addr_len = ETH_ALEN;
	n->dev = ndev;
	return n;
}

/* An update stores first the state and then the address: a reader sees neither or both. */
static void neigh_addr_test_update(struct kunit *test)
{
	struct neigh_addr_test_reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	if (num_online_cpus() == 1)
		kunit_skip(test, "the reader cannot run during the update");
	KUNIT_ASSERT_NOT_NULL(test, r);
	r->n = neigh_addr_test_new(test);
	init_completion(&r->started);
	INIT_WORK(&r->work, neigh_addr_test_work);
	queue_work(system_unbound_wq, &r->work);
	wait_for_completion(&r->started);

	write_lock_bh(&r->n->lock);
	WRITE_ONCE(r->n->nud_state, NUD_REACHABLE);
	/* the reader waits for the lock meanwhile */
	mdelay(20);
	write_seqlock(&r->n->ha_lock);
	memcpy(r->n->ha, neigh_addr_test_mac, ETH_ALEN);
	write_sequnlock(&r->n->ha_lock);
	write_unlock_bh(&r->n->lock);

	flush_work(&r->work);
	KUNIT_EXPECT_TRUE(test, r->valid);
	KUNIT_EXPECT_MEMEQ(test, r->lladdr, neigh_addr_test_mac, ETH_ALEN);
}

/* The address of an entry that is not valid is an old one. */
static void neigh_addr_test_failed(struct kunit *test)
{
	struct neighbour *n = neigh_addr_test_new(test);
	u8 lladdr[MAX_ADDR_LEN] = {};

	memcpy(n->ha, neigh_addr_test_mac, ETH_ALEN);
	n->nud_state = NUD_FAILED;
	KUNIT_EXPECT_FALSE(test, cmx_neigh_addr_get(n, lladdr));
	KUNIT_EXPECT_EQ(test, lladdr[0], 0);
}

static struct kunit_case neigh_addr_test_cases[] = {
	KUNIT_CASE(neigh_addr_test_update),
	KUNIT_CASE(neigh_addr_test_failed),
	{},
};

static struct kunit_suite neigh_addr_test_suite = {
	.name = "cmx-neigh-addr",
	.test_cases = neigh_addr_test_cases,
};

kunit_test_suite(neigh_addr_test_suite);
