// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../base/ndev.c"

/*
 * A network namespace of two interfaces, with the indices 1 and 2, which nobody else sees. Both
 * have the address 10.77.0.1, and the second one has 10.77.0.2 as well. The suites in a virtual
 * machine cover VRFs and the lookups in tables of the kernel.
 */
#define NDEV_TEST_NUM 2

struct ndev_test {
	struct net net;
	struct net_device *ndev[NDEV_TEST_NUM];
	struct in_device in_dev[NDEV_TEST_NUM];
	struct in_ifaddr shared[NDEV_TEST_NUM];
	struct in_ifaddr second;
};

static void ndev_test_add_addr(struct in_device *in_dev, struct in_ifaddr *ifa, u32 addr)
{
	ifa->ifa_local = htonl(addr);
	ifa->ifa_next = in_dev->ifa_list;
	rcu_assign_pointer(in_dev->ifa_list, ifa);
}

static struct ndev_test *ndev_test_new(struct kunit *test)
{
	struct ndev_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	INIT_LIST_HEAD(&t->net.dev_base_head);
	for (i = 0; i < NDEV_TEST_NUM; i++) {
		t->ndev[i] = kunit_kzalloc(test, sizeof(*t->ndev[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, t->ndev[i]);
		t->ndev[i]->ifindex = i + 1;
		rcu_assign_pointer(t->ndev[i]->ip_ptr, &t->in_dev[i]);
		ndev_test_add_addr(&t->in_dev[i], &t->shared[i], 0x0a4d0001);
		list_add_tail_rcu(&t->ndev[i]->dev_list, &t->net.dev_base_head);
	}
	ndev_test_add_addr(&t->in_dev[1], &t->second, 0x0a4d0002);
	return t;
}

struct ndev_test_find_case {
	const char *name;
	int bind_device;
	u32 addr;
	int found;
};

static const struct ndev_test_find_case ndev_test_finds[] = {
	{ "shared address, first interface", 1, 0x0a4d0001, 1 },
	{ "shared address, second interface", 2, 0x0a4d0001, 2 },
	{ "address of the second interface only", 2, 0x0a4d0002, 2 },
	{ "address of the other interface", 1, 0x0a4d0002, 0 },
	{ "address of no interface", 1, 0x0a4d0003, 0 },
	{ "no such interface", 3, 0x0a4d0001, 0 },
};

static void ndev_test_find_desc(const struct ndev_test_find_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "interface of an address: %s", c->name);
}

KUNIT_ARRAY_PARAM(ndev_test_find, ndev_test_finds, ndev_test_find_desc);

static void ndev_test_find(struct kunit *test)
{
	const struct ndev_test_find_case *c = test->param_value;
	struct ndev_test *t = ndev_test_new(test);
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(c->addr),
	};
	struct net_device *ndev;

	rcu_read_lock();
	ndev = cmx_ndev_find(&t->net, c->bind_device, (struct sockaddr *)&addr);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, ndev ? ndev->ifindex : 0, c->found);
}

static void ndev_test_is_in(struct kunit *test)
{
	struct ndev_test *t = ndev_test_new(test);

	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, cmx_ndev_is_in(t->ndev[0], 0));
	KUNIT_EXPECT_TRUE(test, cmx_ndev_is_in(t->ndev[0], 1));
	KUNIT_EXPECT_FALSE(test, cmx_ndev_is_in(t->ndev[0], 2));
	rcu_read_unlock();
	KUNIT_EXPECT_TRUE(test, cmx_ndev_index_is_in(&t->net, 1, 0));
	KUNIT_EXPECT_TRUE(test, cmx_ndev_index_is_in(&t->net, 1, 1));
}

static void ndev_test_copy_link(struct kunit *test)
{
	static const u8 mac[MAX_ADDR_LEN] = { 2, [MAX_ADDR_LEN - 1] = 0x77 };
	struct ndev_test *t = ndev_test_new(test);
	struct rdma_dev_addr addr = {};

	t->ndev[1]->type = ARPHRD_ETHER;
	t->ndev[1]->dev_addr = mac;
	memset(t->ndev[1]->broadcast, 0xff, MAX_ADDR_LEN);
	cmx_ndev_copy_link(&addr, t->ndev[1]);
	KUNIT_EXPECT_EQ(test, addr.dev_type, ARPHRD_ETHER);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, 2);
	KUNIT_EXPECT_MEMEQ(test, addr.src_dev_addr, mac, MAX_ADDR_LEN);
	KUNIT_EXPECT_MEMEQ(test, addr.broadcast, t->ndev[1]->broadcast, MAX_ADDR_LEN);
}

static struct kunit_case ndev_test_cases[] = {
	KUNIT_CASE_PARAM(ndev_test_find, ndev_test_find_gen_params),
	KUNIT_CASE(ndev_test_is_in),
	KUNIT_CASE(ndev_test_copy_link),
	{},
};

static struct kunit_suite ndev_test_suite = {
	.name = "cmx-ndev",
	.test_cases = ndev_test_cases,
};

kunit_test_suite(ndev_test_suite);
