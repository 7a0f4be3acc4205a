// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../portmap.c"

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

#define PLAIN 0
#define REUSE BIT(0)
#define AFONLY BIT(1)
#define LISTENING BIT(2)

static struct cmx_claim claim(const void *src, const void *dst, u32 flags)
{
	return (struct cmx_claim) {
		.src = src,
		.dst = dst,
		.reuse = flags & REUSE,
		.afonly = flags & AFONLY,
		.listening = flags & LISTENING,
	};
}

static void conflict(struct kunit *test)
{
	static const struct {
		const void *have;
		u32 have_flags;
		const void *want;
		u32 want_flags;
		int ret;
	} t[] = {
		{ &a4, PLAIN, &a4, PLAIN, -EADDRINUSE },
		{ &a4, PLAIN, &b4, PLAIN, 0 },
		{ &a6, PLAIN, &a6, PLAIN, -EADDRINUSE },
		{ &a4, PLAIN, &a6, PLAIN, 0 },
		{ &any4, PLAIN, &a4, PLAIN, -EADDRNOTAVAIL },
		{ &a4, PLAIN, &any4, PLAIN, -EADDRNOTAVAIL },
		{ &any4, PLAIN, &any4, PLAIN, -EADDRNOTAVAIL },
		{ &loop4, PLAIN, &a4, PLAIN, -EADDRNOTAVAIL },
		/* families */
		{ &any4, AFONLY, &any6, AFONLY, 0 },
		{ &any4, AFONLY, &any6, PLAIN, -EADDRNOTAVAIL },
		{ &any4, PLAIN, &any6, AFONLY, -EADDRNOTAVAIL },
		{ &any6, AFONLY, &any6, AFONLY, -EADDRNOTAVAIL },
		{ &any6, PLAIN, &a4, AFONLY, -EADDRNOTAVAIL },
		{ &a4, AFONLY, &a4, AFONLY, -EADDRINUSE },
		/* reuse: both must agree, and neither may listen */
		{ &a4, REUSE, &a4, REUSE, 0 },
		{ &any4, REUSE, &any4, REUSE, 0 },
		{ &a4, REUSE, &a4, PLAIN, -EADDRINUSE },
		{ &a4, PLAIN, &a4, REUSE, -EADDRINUSE },
		{ &a4, REUSE | LISTENING, &a4, REUSE, -EADDRINUSE },
		{ &a4, REUSE, &a4, REUSE | LISTENING, -EADDRINUSE },
		{ &any4, REUSE, &a4, REUSE | LISTENING, -EADDRNOTAVAIL },
		{ &a4, REUSE | LISTENING, &b4, REUSE | LISTENING, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct cmx_claim have = claim(t[i].have, &none, t[i].have_flags);
		struct cmx_claim want = claim(t[i].want, &none, t[i].want_flags);

		KUNIT_EXPECT_EQ_MSG(test, cmx_portmap_conflict(&have, &want), t[i].ret,
				    "row %d", i);
	}
}

static void share(struct kunit *test)
{
	static const struct {
		const void *have_src, *have_dst;
		const void *want_src, *want_dst;
		int ret;
	} t[] = {
		{ &a4, &none, &a4, &none, -EADDRNOTAVAIL },
		{ &a4, &none, &b4, &none, 0 },
		{ &any4, &none, &a4, &none, -EADDRNOTAVAIL },
		{ &a4, &none, &any4, &none, -EADDRNOTAVAIL },
		/* another port of the peer */
		{ &a4, &peer7, &a4, &peer8, 0 },
		{ &a4, &peer7, &a4, &peer7, -EADDRNOTAVAIL },
		{ &a4, &peer7, &a4, &peer0, -EADDRNOTAVAIL },
		{ &any4, &peer7, &any4, &peer8, 0 },
		/* another peer */
		{ &a4, &peer7, &a4, &other7, 0 },
		{ &any4, &peer7, &any4, &other7, 0 },
		{ &a4, &any7, &a4, &other7, -EADDRNOTAVAIL },
		{ &a4, &none, &a4, &other7, -EADDRNOTAVAIL },
		/* another family */
		{ &a4, &none, &a6, &none, 0 },
		{ &any4, &none, &any6, &none, -EADDRNOTAVAIL },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct cmx_claim have = claim(t[i].have_src, t[i].have_dst, PLAIN);
		struct cmx_claim want = claim(t[i].want_src, t[i].want_dst, PLAIN);

		KUNIT_EXPECT_EQ_MSG(test, cmx_portmap_share(&have, &want), t[i].ret, "row %d", i);
		/* who came first does not matter */
		KUNIT_EXPECT_EQ_MSG(test, cmx_portmap_share(&want, &have), t[i].ret, "row %d", i);
	}
}

static void coexist(struct kunit *test)
{
	static const struct {
		const void *have_src, *have_dst;
		u32 have_flags;
		const void *want_src, *want_dst;
		u32 want_flags;
		int ret;
	} t[] = {
		{ &any4, &none, AFONLY, &any6, &none, AFONLY, 0 },
		{ &any4, &none, AFONLY, &any6, &none, PLAIN, -EADDRNOTAVAIL },
		{ &a4, &none, AFONLY, &any6, &none, PLAIN, -EADDRNOTAVAIL },
		{ &a4, &none, PLAIN, &a6, &none, PLAIN, 0 },
		/* their peers tell them apart, as long as neither listens */
		{ &a4, &peer7, PLAIN, &a4, &peer8, PLAIN, 0 },
		{ &a4, &peer7, PLAIN, &a4, &peer7, PLAIN, -EADDRINUSE },
		{ &a4, &peer7, PLAIN, &a4, &peer8, LISTENING, -EADDRINUSE },
		{ &a4, &peer7, LISTENING, &a4, &peer8, PLAIN, -EADDRINUSE },
		{ &a4, &peer7, REUSE, &a4, &peer7, REUSE, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct cmx_claim have = claim(t[i].have_src, t[i].have_dst, t[i].have_flags);
		struct cmx_claim want = claim(t[i].want_src, t[i].want_dst, t[i].want_flags);

		KUNIT_EXPECT_EQ_MSG(test, cmx_portmap_coexist(&have, &want), t[i].ret,
				    "row %d", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(conflict),
	KUNIT_CASE(share),
	KUNIT_CASE(coexist),
	{},
};

static struct kunit_suite suite = {
	.name = "cmx-portmap",
	.test_cases = cases,
};

kunit_test_suite(suite);
