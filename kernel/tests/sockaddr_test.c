// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/inet.h>
#include "../sockaddr.c"

#define SA(a) ((struct sockaddr *)&(a))

union addr {
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
};

static union addr v4(const char *ip, u16 port)
{
	union addr a = { .in = { .sin_family = AF_INET, .sin_port = htons(port) } };

	in4_pton(ip, -1, (u8 *)&a.in.sin_addr, -1, NULL);
	return a;
}

static union addr v6(const char *ip, u16 port, u32 scope)
{
	union addr a = { .in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port),
				  .sin6_scope_id = scope } };

	in6_pton(ip, -1, a.in6.sin6_addr.s6_addr, -1, NULL);
	return a;
}

static void kinds(struct kunit *test)
{
	static const struct {
		const char *ip;
		bool zero, loopback, multicast;
	} t[] = {
		{ "0.0.0.0", true, false, false },
		{ "0.1.2.3", false, false, false },
		{ "127.0.0.1", false, true, false },
		{ "127.9.9.9", false, true, false },
		{ "10.77.0.1", false, false, false },
		{ "223.255.255.255", false, false, false },
		{ "224.0.0.1", false, false, true },
		{ "239.255.255.255", false, false, true },
		{ "255.255.255.255", false, false, false },
		{ "::", true, false, false },
		{ "::1", false, true, false },
		{ "fe80::1", false, false, false },
		{ "fd00::1", false, false, false },
		{ "ff02::1", false, false, true },
		{ "ff0e::1234", false, false, true },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		union addr a = strchr(t[i].ip, ':') ? v6(t[i].ip, 7, 0) : v4(t[i].ip, 7);

		KUNIT_EXPECT_EQ_MSG(test, cmx_addr_zero(SA(a)), t[i].zero, "%s", t[i].ip);
		KUNIT_EXPECT_EQ_MSG(test, cmx_addr_loopback(SA(a)), t[i].loopback, "%s", t[i].ip);
		KUNIT_EXPECT_EQ_MSG(test, cmx_addr_multicast(SA(a)), t[i].multicast, "%s",
				    t[i].ip);
		KUNIT_EXPECT_EQ_MSG(test, cmx_addr_any(SA(a)), t[i].zero || t[i].loopback, "%s",
				    t[i].ip);
		KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(a))), 7);
	}
}

static void sizes(struct kunit *test)
{
	union addr a = { .in.sin_family = AF_UNIX };

	KUNIT_EXPECT_EQ(test, cmx_addr_size(SA(a)), 0);
	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(a))), 0);
	KUNIT_EXPECT_FALSE(test, cmx_addr_any(SA(a)));
	KUNIT_EXPECT_FALSE(test, cmx_addr_same_host(SA(a), SA(a)));
	a.in.sin_family = AF_INET;
	KUNIT_EXPECT_EQ(test, cmx_addr_size(SA(a)), 16);
	a.in.sin_family = AF_INET6;
	KUNIT_EXPECT_EQ(test, cmx_addr_size(SA(a)), 28);
	a.in.sin_family = AF_IB;
	KUNIT_EXPECT_EQ(test, cmx_addr_size(SA(a)), 48);
}

static void compare(struct kunit *test)
{
	union addr a = v4("10.0.0.1", 1), b = v4("10.0.0.1", 2), c = v4("10.0.0.2", 1);
	union addr l1 = v6("fe80::1", 1, 1), l2 = v6("fe80::1", 1, 2);
	union addr g1 = v6("fd00::1", 1, 1), g2 = v6("fd00::1", 1, 2);
	union addr mapped = v6("::ffff:10.0.0.1", 1, 0);

	KUNIT_EXPECT_TRUE(test, cmx_addr_same_host(SA(a), SA(b)));
	KUNIT_EXPECT_FALSE(test, cmx_addr_equal(SA(a), SA(b)));
	KUNIT_EXPECT_TRUE(test, cmx_addr_equal(SA(a), SA(a)));
	KUNIT_EXPECT_FALSE(test, cmx_addr_same_host(SA(a), SA(c)));
	KUNIT_EXPECT_FALSE(test, cmx_addr_same_host(SA(a), SA(mapped)));
	/* the scope counts for link-local addresses only */
	KUNIT_EXPECT_FALSE(test, cmx_addr_same_host(SA(l1), SA(l2)));
	KUNIT_EXPECT_TRUE(test, cmx_addr_same_host(SA(g1), SA(g2)));
}

static void ports(struct kunit *test)
{
	union addr a = v4("10.0.0.1", 1), b = v6("fd00::1", 1, 0), ib = {
		.ib = {
			.sib_family = AF_IB,
			.sib_sid = cpu_to_be64(0x0000000001061234ULL),
			.sib_sid_mask = cpu_to_be64(0xffffffffffff0000ULL),
		},
	};

	cmx_addr_set_port(SA(a), htons(4791));
	cmx_addr_set_port(SA(b), htons(65535));
	KUNIT_EXPECT_EQ(test, ntohs(a.in.sin_port), 4791);
	KUNIT_EXPECT_EQ(test, ntohs(b.in6.sin6_port), 65535);

	/* what the mask leaves out is not the port */
	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(ib))), 0);
	cmx_addr_set_port(SA(ib), htons(0x4321));
	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(ib))), 0x4321);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ib.ib.sib_sid), 0x0000000001064321ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ib.ib.sib_sid_mask), ~0ULL);
}

static void ib_port_space(struct kunit *test)
{
	static const struct {
		u64 sid, mask;
		u16 ps, space;
		u64 result;
	} t[] = {
		/* nothing said: the id's own port space */
		{ 0, 0, RDMA_PS_IB, RDMA_PS_IB, 0x13f0000 },
		{ 0, 0, RDMA_PS_TCP, RDMA_PS_TCP, 0x1060000 },
		{ 0, 0, RDMA_PS_UDP, RDMA_PS_UDP, 0x1110000 },
		{ 0, 0, RDMA_PS_IPOIB, 0, 0 },
		/* what the mask leaves out does not count */
		{ 0x7654321, 0xffff, RDMA_PS_TCP, RDMA_PS_TCP, 0x1064321 },
		/* RDMA_PS_IB takes the others too */
		{ 0x1061234, ~0ULL, RDMA_PS_IB, RDMA_PS_TCP, 0x1061234 },
		{ 0x1111234, ~0ULL, RDMA_PS_IB, RDMA_PS_UDP, 0x1111234 },
		{ 0x1061234, ~0ULL, RDMA_PS_UDP, 0, 0x1061234 },
		{ 0x13f1234, ~0ULL, RDMA_PS_TCP, 0, 0x13f1234 },
		{ 0x10000001061234ULL, ~0ULL, RDMA_PS_TCP, 0, 0x10000001061234ULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sockaddr_ib sib = {
			.sib_family = AF_IB,
			.sib_sid = cpu_to_be64(t[i].sid),
			.sib_sid_mask = cpu_to_be64(t[i].mask),
		};

		KUNIT_EXPECT_EQ_MSG(test, cmx_sib_port_space(&sib, t[i].ps), t[i].space, "%zu", i);
		KUNIT_EXPECT_EQ_MSG(test, be64_to_cpu(sib.sib_sid), t[i].result, "%zu", i);
		if (t[i].space)
			KUNIT_EXPECT_EQ_MSG(test, be64_to_cpu(sib.sib_sid_mask) >> 16,
					    ~0ULL >> 16, "%zu", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(kinds),
	KUNIT_CASE(sizes),
	KUNIT_CASE(compare),
	KUNIT_CASE(ports),
	KUNIT_CASE(ib_port_space),
	{},
};

static struct kunit_suite suite = {
	.name = "cmx-sockaddr",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit suites of rdma_cmx");
MODULE_LICENSE("Dual BSD/GPL");
