// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/inet.h>
#include "../base/sockaddr.c"

#define SA(a) ((struct sockaddr *)&(a))

union sockaddr_test_addr {
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
};

static union sockaddr_test_addr sockaddr_test_parse(const char *ip, u16 port, u32 scope)
{
	union sockaddr_test_addr a = {};

	if (strchr(ip, ':')) {
		a.in6.sin6_family = AF_INET6;
		a.in6.sin6_port = htons(port);
		a.in6.sin6_scope_id = scope;
		in6_pton(ip, -1, a.in6.sin6_addr.s6_addr, -1, NULL);
	} else {
		a.in.sin_family = AF_INET;
		a.in.sin_port = htons(port);
		in4_pton(ip, -1, (u8 *)&a.in.sin_addr, -1, NULL);
	}
	return a;
}

struct sockaddr_test_kind_case {
	const char *ip;
	bool zero, loopback, multicast;
};

static const struct sockaddr_test_kind_case sockaddr_test_kinds[] = {
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

static void sockaddr_test_kind_desc(const struct sockaddr_test_kind_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "kind of address: %s", c->ip);
}

KUNIT_ARRAY_PARAM(sockaddr_test_kind, sockaddr_test_kinds, sockaddr_test_kind_desc);

static void sockaddr_test_kind(struct kunit *test)
{
	const struct sockaddr_test_kind_case *c = test->param_value;
	union sockaddr_test_addr a = sockaddr_test_parse(c->ip, 7, 0);

	KUNIT_EXPECT_EQ(test, cmx_addr_is_any(SA(a)), c->zero);
	KUNIT_EXPECT_EQ(test, cmx_addr_is_loopback(SA(a)), c->loopback);
	KUNIT_EXPECT_EQ(test, cmx_addr_is_multicast(SA(a)), c->multicast);
	KUNIT_EXPECT_EQ(test, cmx_addr_has_no_device(SA(a)), c->zero || c->loopback);
	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(a))), 7);
}

struct sockaddr_test_size_case {
	const char *name;
	sa_family_t family;
	size_t size;
};

static const struct sockaddr_test_size_case sockaddr_test_sizes[] = {
	{ "AF_UNIX", AF_UNIX, 0 },
	{ "AF_INET", AF_INET, 16 },
	{ "AF_INET6", AF_INET6, 28 },
	{ "AF_IB", AF_IB, 48 },
};

static void sockaddr_test_size_desc(const struct sockaddr_test_size_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "size of address: %s", c->name);
}

KUNIT_ARRAY_PARAM(sockaddr_test_size, sockaddr_test_sizes, sockaddr_test_size_desc);

static void sockaddr_test_size(struct kunit *test)
{
	const struct sockaddr_test_size_case *c = test->param_value;
	union sockaddr_test_addr a = { .in.sin_family = c->family };

	KUNIT_EXPECT_EQ(test, cmx_addr_size(SA(a)), c->size);
}

static void sockaddr_test_unknown_family(struct kunit *test)
{
	union sockaddr_test_addr a = { .in.sin_family = AF_UNIX };

	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(a))), 0);
	KUNIT_EXPECT_FALSE(test, cmx_addr_has_no_device(SA(a)));
	KUNIT_EXPECT_FALSE(test, cmx_addr_same_host(SA(a), SA(a)));
}

struct sockaddr_test_pair_case {
	const char *name;
	struct {
		const char *ip;
		u16 port;
		u32 scope;
	} a, b;
	bool same_host;
	bool equal;
};

static const struct sockaddr_test_pair_case sockaddr_test_pairs[] = {
	{ "the same", { "10.0.0.1", 1 }, { "10.0.0.1", 1 }, true, true },
	{ "other port", { "10.0.0.1", 1 }, { "10.0.0.1", 2 }, true, false },
	{ "other host", { "10.0.0.1", 1 }, { "10.0.0.2", 1 }, false, false },
	{ "IPv4-mapped", { "10.0.0.1", 1 }, { "::ffff:10.0.0.1", 1 }, false, false },
	{ "other link, link-local", { "fe80::1", 1, 1 }, { "fe80::1", 1, 2 }, false, false },
	{ "other link, global", { "fd00::1", 1, 1 }, { "fd00::1", 1, 2 }, true, true },
};

static void sockaddr_test_pair_desc(const struct sockaddr_test_pair_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "two addresses: %s", c->name);
}

KUNIT_ARRAY_PARAM(sockaddr_test_pair, sockaddr_test_pairs, sockaddr_test_pair_desc);

static void sockaddr_test_pair(struct kunit *test)
{
	const struct sockaddr_test_pair_case *c = test->param_value;
	union sockaddr_test_addr a = sockaddr_test_parse(c->a.ip, c->a.port, c->a.scope);
	union sockaddr_test_addr b = sockaddr_test_parse(c->b.ip, c->b.port, c->b.scope);

	KUNIT_EXPECT_EQ(test, cmx_addr_same_host(SA(a), SA(b)), c->same_host);
	KUNIT_EXPECT_EQ(test, cmx_addr_equal(SA(a), SA(b)), c->equal);
}

struct sockaddr_test_port_case {
	const char *name;
	const char *ip;
	u16 port;
};

static const struct sockaddr_test_port_case sockaddr_test_ports[] = {
	{ "IPv4", "10.0.0.1", 4791 },
	{ "IPv6", "fd00::1", 65535 },
};

static void sockaddr_test_port_desc(const struct sockaddr_test_port_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "set port: %s", c->name);
}

KUNIT_ARRAY_PARAM(sockaddr_test_port, sockaddr_test_ports, sockaddr_test_port_desc);

static void sockaddr_test_port(struct kunit *test)
{
	const struct sockaddr_test_port_case *c = test->param_value;
	union sockaddr_test_addr a = sockaddr_test_parse(c->ip, 1, 0);

	cmx_addr_set_port(SA(a), htons(c->port));
	KUNIT_EXPECT_EQ(test, ntohs(a.in.sin_family == AF_INET ? a.in.sin_port : a.in6.sin6_port),
			c->port);
}

static void sockaddr_test_ib_port(struct kunit *test)
{
	union sockaddr_test_addr a = {
		.ib = {
			.sib_family = AF_IB,
			.sib_sid = cpu_to_be64(0x0000000001061234ULL),
			.sib_sid_mask = cpu_to_be64(0xffffffffffff0000ULL),
		},
	};

	/* bits outside the mask are no part of the port */
	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(a))), 0);
	cmx_addr_set_port(SA(a), htons(0x4321));
	KUNIT_EXPECT_EQ(test, ntohs(cmx_addr_port(SA(a))), 0x4321);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(a.ib.sib_sid), 0x0000000001064321ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(a.ib.sib_sid_mask), ~0ULL);
}

struct sockaddr_test_space_case {
	u64 sid, mask;
	u16 ps, space;
	u64 result;
};

static const struct sockaddr_test_space_case sockaddr_test_spaces[] = {
	/* with an empty mask, the id's own port space */
	{ 0, 0, RDMA_PS_IB, RDMA_PS_IB, 0x13f0000 },
	{ 0, 0, RDMA_PS_TCP, RDMA_PS_TCP, 0x1060000 },
	{ 0, 0, RDMA_PS_UDP, RDMA_PS_UDP, 0x1110000 },
	{ 0, 0, RDMA_PS_IPOIB, 0, 0 },
	/* bits outside the mask do not count */
	{ 0x7654321, 0xffff, RDMA_PS_TCP, RDMA_PS_TCP, 0x1064321 },
	/* RDMA_PS_IB accepts the other port spaces too */
	{ 0x1061234, ~0ULL, RDMA_PS_IB, RDMA_PS_TCP, 0x1061234 },
	{ 0x1111234, ~0ULL, RDMA_PS_IB, RDMA_PS_UDP, 0x1111234 },
	{ 0x1061234, ~0ULL, RDMA_PS_UDP, 0, 0x1061234 },
	{ 0x13f1234, ~0ULL, RDMA_PS_TCP, 0, 0x13f1234 },
	{ 0x10000001061234ULL, ~0ULL, RDMA_PS_TCP, 0, 0x10000001061234ULL },
};

static void sockaddr_test_space_desc(const struct sockaddr_test_space_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "AF_IB, port space %#x: service ID %#llx, mask %#llx",
		 c->ps, c->sid, c->mask);
}

KUNIT_ARRAY_PARAM(sockaddr_test_space, sockaddr_test_spaces, sockaddr_test_space_desc);

static void sockaddr_test_space(struct kunit *test)
{
	const struct sockaddr_test_space_case *c = test->param_value;
	struct sockaddr_ib sib = {
		.sib_family = AF_IB,
		.sib_sid = cpu_to_be64(c->sid),
		.sib_sid_mask = cpu_to_be64(c->mask),
	};

	KUNIT_EXPECT_EQ(test, cmx_sib_port_space(&sib, c->ps), c->space);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(sib.sib_sid), c->result);
	if (c->space)
		KUNIT_EXPECT_EQ(test, be64_to_cpu(sib.sib_sid_mask) >> 16, ~0ULL >> 16);
}

static struct kunit_case sockaddr_test_cases[] = {
	KUNIT_CASE_PARAM(sockaddr_test_kind, sockaddr_test_kind_gen_params),
	KUNIT_CASE_PARAM(sockaddr_test_size, sockaddr_test_size_gen_params),
	KUNIT_CASE(sockaddr_test_unknown_family),
	KUNIT_CASE_PARAM(sockaddr_test_pair, sockaddr_test_pair_gen_params),
	KUNIT_CASE_PARAM(sockaddr_test_port, sockaddr_test_port_gen_params),
	KUNIT_CASE(sockaddr_test_ib_port),
	KUNIT_CASE_PARAM(sockaddr_test_space, sockaddr_test_space_gen_params),
	{},
};

static struct kunit_suite sockaddr_test_suite = {
	.name = "cmx-sockaddr",
	.test_cases = sockaddr_test_cases,
};

kunit_test_suite(sockaddr_test_suite);

MODULE_DESCRIPTION("KUnit suites of rdma_cmx");
MODULE_LICENSE("Dual BSD/GPL");
