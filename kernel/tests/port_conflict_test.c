// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../base/port_conflict.c"

#define V4(name, ip, port) static const struct sockaddr_in name = { \
	.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip) }
#define V6(name, first) static const struct sockaddr_in6 name = { \
	.sin6_family = AF_INET6, .sin6_port = htons(5), .sin6_addr.s6_addr = { first } }

V4(any4, 0, 5);
V4(any7, 0, 7);
V4(loop4, 0x7f000001, 5);
V4(a4, 0x0a4d0001, 5);
V4(b4, 0x0a4d0002, 5);
V4(peer7, 0x01000000, 7);
V4(peer8, 0x01000000, 8);
V4(peer0, 0x01000000, 0);
V4(other7, 0x02000000, 7);
V6(any6, 0);
V6(a6, 0xfd);
static const struct sockaddr_storage none;

#define REUSE BIT(0)
#define AFONLY BIT(1)
#define LISTENING BIT(2)

/**
 * struct port_conflict_test_owner - an owner of a port, or one that asks for it
 * @src: local address
 * @flags: REUSE, AFONLY, LISTENING
 * @dst: address of the peer, or NULL if it is not known
 * @bind_device: index of its interface, or 0
 */
struct port_conflict_test_owner {
	const void *src;
	u32 flags;
	const void *dst;
	u32 bind_device;
};

struct port_conflict_test_case {
	const char *name;
	struct port_conflict_test_owner have;
	struct port_conflict_test_owner want;
	int ret;
};

static const struct port_conflict_test_case port_conflict_test_conflicts[] = {
	{ "the same IPv4 address", { &a4 }, { &a4 }, -EADDRINUSE },
	{ "two IPv4 addresses", { &a4 }, { &b4 }, 0 },
	{ "the same IPv6 address", { &a6 }, { &a6 }, -EADDRINUSE },
	{ "IPv4 and IPv6 address", { &a4 }, { &a6 }, 0 },
	{ "wildcard before address", { &any4 }, { &a4 }, -EADDRNOTAVAIL },
	{ "address before wildcard", { &a4 }, { &any4 }, -EADDRNOTAVAIL },
	{ "two wildcards", { &any4 }, { &any4 }, -EADDRNOTAVAIL },
	{ "loopback before address", { &loop4 }, { &a4 }, -EADDRNOTAVAIL },

	{ "AFONLY, wildcards of two families", { &any4, AFONLY }, { &any6, AFONLY }, 0 },
	{ "AFONLY of the IPv4 wildcard", { &any4, AFONLY }, { &any6 }, -EADDRNOTAVAIL },
	{ "AFONLY of the IPv6 wildcard", { &any4 }, { &any6, AFONLY }, -EADDRNOTAVAIL },
	{ "AFONLY, the same wildcard", { &any6, AFONLY }, { &any6, AFONLY }, -EADDRNOTAVAIL },
	{ "AFONLY of the address", { &any6 }, { &a4, AFONLY }, -EADDRNOTAVAIL },
	{ "AFONLY, the same address", { &a4, AFONLY }, { &a4, AFONLY }, -EADDRINUSE },

	{ "BIND_DEVICE, two interfaces, the same address", { &a4, 0, NULL, 3 }, { &a4, 0, NULL, 4 },
	  0 },
	{ "BIND_DEVICE, two interfaces, wildcards", { &any4, 0, NULL, 3 }, { &any6, 0, NULL, 4 },
	  0 },
	{ "BIND_DEVICE, two interfaces, listeners", { &any4, LISTENING, NULL, 3 },
	  { &any4, LISTENING, NULL, 4 }, 0 },
	{ "BIND_DEVICE, the same interface", { &a4, 0, NULL, 3 }, { &a4, 0, NULL, 3 },
	  -EADDRINUSE },
	{ "BIND_DEVICE of the first", { &a4, 0, NULL, 3 }, { &a4 }, -EADDRINUSE },
	{ "BIND_DEVICE of the second", { &any4 }, { &a4, 0, NULL, 3 }, -EADDRNOTAVAIL },

	/* both must have REUSEADDR, and neither may listen */
	{ "REUSEADDR, the same address", { &a4, REUSE }, { &a4, REUSE }, 0 },
	{ "REUSEADDR, the same wildcard", { &any4, REUSE }, { &any4, REUSE }, 0 },
	{ "REUSEADDR of the first", { &a4, REUSE }, { &a4 }, -EADDRINUSE },
	{ "REUSEADDR of the second", { &a4 }, { &a4, REUSE }, -EADDRINUSE },
	{ "REUSEADDR, the first listens", { &a4, REUSE | LISTENING }, { &a4, REUSE },
	  -EADDRINUSE },
	{ "REUSEADDR, the second listens", { &a4, REUSE }, { &a4, REUSE | LISTENING },
	  -EADDRINUSE },
	{ "REUSEADDR, listener after wildcard", { &any4, REUSE }, { &a4, REUSE | LISTENING },
	  -EADDRNOTAVAIL },
	{ "REUSEADDR, listeners on two addresses", { &a4, REUSE | LISTENING },
	  { &b4, REUSE | LISTENING }, 0 },
};

static const struct port_conflict_test_case port_conflict_test_shares[] = {
	{ "the same address", { &a4 }, { &a4 }, -EADDRNOTAVAIL },
	{ "two addresses", { &a4 }, { &b4 }, 0 },
	{ "wildcard before address", { &any4 }, { &a4 }, -EADDRNOTAVAIL },
	{ "address before wildcard", { &a4 }, { &any4 }, -EADDRNOTAVAIL },

	{ "two ports of a peer", { &a4, 0, &peer7 }, { &a4, 0, &peer8 }, 0 },
	{ "the same port of a peer", { &a4, 0, &peer7 }, { &a4, 0, &peer7 }, -EADDRNOTAVAIL },
	{ "unknown port of the peer", { &a4, 0, &peer7 }, { &a4, 0, &peer0 }, -EADDRNOTAVAIL },
	{ "two ports of a peer, wildcards", { &any4, 0, &peer7 }, { &any4, 0, &peer8 }, 0 },

	{ "two peers", { &a4, 0, &peer7 }, { &a4, 0, &other7 }, 0 },
	{ "two peers, wildcards", { &any4, 0, &peer7 }, { &any4, 0, &other7 }, 0 },
	{ "unknown address of the peer", { &a4, 0, &any7 }, { &a4, 0, &other7 }, -EADDRNOTAVAIL },
	{ "unknown peer", { &a4 }, { &a4, 0, &other7 }, -EADDRNOTAVAIL },

	{ "addresses of two families", { &a4 }, { &a6 }, 0 },
	{ "wildcards of two families", { &any4 }, { &any6 }, -EADDRNOTAVAIL },
	{ "BIND_DEVICE, two interfaces", { &any4, 0, NULL, 3 }, { &any4, 0, NULL, 4 }, 0 },
	{ "BIND_DEVICE, the same interface", { &any4, 0, NULL, 3 }, { &any4, 0, NULL, 3 },
	  -EADDRNOTAVAIL },
	{ "BIND_DEVICE of one", { &any4, 0, NULL, 3 }, { &any4 }, -EADDRNOTAVAIL },
};

static const struct port_conflict_test_case port_conflict_test_coexists[] = {
	{ "AFONLY, wildcards of two families", { &any4, AFONLY }, { &any6, AFONLY }, 0 },
	{ "AFONLY of the IPv4 wildcard", { &any4, AFONLY }, { &any6 }, -EADDRNOTAVAIL },
	{ "AFONLY of the address", { &a4, AFONLY }, { &any6 }, -EADDRNOTAVAIL },
	{ "addresses of two families", { &a4 }, { &a6 }, 0 },

	/* the peer makes the difference, as long as neither listens */
	{ "two ports of a peer", { &a4, 0, &peer7 }, { &a4, 0, &peer8 }, 0 },
	{ "the same port of a peer", { &a4, 0, &peer7 }, { &a4, 0, &peer7 }, -EADDRINUSE },
	{ "the second listens", { &a4, 0, &peer7 }, { &a4, LISTENING, &peer8 }, -EADDRINUSE },
	{ "the first listens", { &a4, LISTENING, &peer7 }, { &a4, 0, &peer8 }, -EADDRINUSE },
	{ "BIND_DEVICE, two interfaces, one listens", { &any4, LISTENING, NULL, 3 },
	  { &any4, 0, NULL, 4 }, 0 },
	{ "REUSEADDR, the same port of a peer", { &a4, REUSE, &peer7 }, { &a4, REUSE, &peer7 }, 0 },
};

static void port_conflict_test_conflict_desc(const struct port_conflict_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "port asked for: %s", c->name);
}

static void port_conflict_test_share_desc(const struct port_conflict_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "port chosen: %s", c->name);
}

static void port_conflict_test_coexist_desc(const struct port_conflict_test_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "port kept: %s", c->name);
}

KUNIT_ARRAY_PARAM(port_conflict_test_conflict, port_conflict_test_conflicts,
		  port_conflict_test_conflict_desc);
KUNIT_ARRAY_PARAM(port_conflict_test_share, port_conflict_test_shares,
		  port_conflict_test_share_desc);
KUNIT_ARRAY_PARAM(port_conflict_test_coexist, port_conflict_test_coexists,
		  port_conflict_test_coexist_desc);

static struct cmx_bind_key port_conflict_test_claim(const struct port_conflict_test_owner *owner)
{
	return (struct cmx_bind_key) {
		.src = owner->src,
		.dst = owner->dst ?: (const void *)&none,
		.bind_device = owner->bind_device,
		.reuse = owner->flags & REUSE,
		.afonly = owner->flags & AFONLY,
		.listening = owner->flags & LISTENING,
	};
}

static void port_conflict_test_conflict(struct kunit *test)
{
	const struct port_conflict_test_case *c = test->param_value;
	struct cmx_bind_key have = port_conflict_test_claim(&c->have);
	struct cmx_bind_key want = port_conflict_test_claim(&c->want);

	KUNIT_EXPECT_EQ(test, cmx_port_check_conflict(&have, &want), c->ret);
}

static void port_conflict_test_share(struct kunit *test)
{
	const struct port_conflict_test_case *c = test->param_value;
	struct cmx_bind_key have = port_conflict_test_claim(&c->have);
	struct cmx_bind_key want = port_conflict_test_claim(&c->want);

	KUNIT_EXPECT_EQ(test, cmx_port_check_share(&have, &want), c->ret);
	/* the order of the two makes no difference */
	KUNIT_EXPECT_EQ(test, cmx_port_check_share(&want, &have), c->ret);
}

static void port_conflict_test_coexist(struct kunit *test)
{
	const struct port_conflict_test_case *c = test->param_value;
	struct cmx_bind_key have = port_conflict_test_claim(&c->have);
	struct cmx_bind_key want = port_conflict_test_claim(&c->want);

	KUNIT_EXPECT_EQ(test, cmx_port_check_coexist(&have, &want), c->ret);
}

static struct kunit_case port_conflict_test_cases[] = {
	KUNIT_CASE_PARAM(port_conflict_test_conflict, port_conflict_test_conflict_gen_params),
	KUNIT_CASE_PARAM(port_conflict_test_share, port_conflict_test_share_gen_params),
	KUNIT_CASE_PARAM(port_conflict_test_coexist, port_conflict_test_coexist_gen_params),
	{},
};

static struct kunit_suite port_conflict_test_suite = {
	.name = "cmx-port-conflict",
	.test_cases = port_conflict_test_cases,
};

kunit_test_suite(port_conflict_test_suite);
