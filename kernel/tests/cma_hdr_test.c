// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <rdma/rdma_cm.h>
#include "../base/cma_hdr.c"

static const u8 cma_hdr_test_hdr4[CMX_CMA_HDR_LEN] = {
	0x00, 0x40, 0x12, 0x34,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 77, 0, 1,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 77, 0, 2,
};

static const u8 cma_hdr_test_hdr6[CMX_CMA_HDR_LEN] = {
	0x00, 0x60, 0xab, 0xcd,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
};

struct cma_hdr_test_hdr_case {
	const char *name;
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} src, dst;
	const u8 *hdr;
	u16 port;
};

static const struct cma_hdr_test_hdr_case cma_hdr_test_hdrs[] = {
	{
		.name = "IPv4",
		.src.in = {
			.sin_family = AF_INET,
			.sin_port = htons(0x1234),
			.sin_addr.s_addr = htonl(0x0a4d0001),
		},
		.dst.in = {
			.sin_family = AF_INET,
			.sin_port = htons(7174),
			.sin_addr.s_addr = htonl(0x0a4d0002),
		},
		.hdr = cma_hdr_test_hdr4,
		.port = 7174,
	}, {
		.name = "IPv6",
		.src.in6 = {
			.sin6_family = AF_INET6,
			.sin6_port = htons(0xabcd),
			.sin6_addr.s6_addr = { 0xfd, [15] = 1 },
		},
		.dst.in6 = {
			.sin6_family = AF_INET6,
			.sin6_port = htons(1),
			.sin6_addr.s6_addr = { 0xfd, [15] = 2 },
		},
		.hdr = cma_hdr_test_hdr6,
		.port = 1,
	},
};

static void cma_hdr_test_hdr_desc(const struct cma_hdr_test_hdr_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "header: %s", c->name);
}

KUNIT_ARRAY_PARAM(cma_hdr_test_hdr, cma_hdr_test_hdrs, cma_hdr_test_hdr_desc);

static void cma_hdr_test_hdr(struct kunit *test)
{
	const struct cma_hdr_test_hdr_case *c = test->param_value;
	struct sockaddr_storage local, peer;
	u8 buf[CMX_CMA_HDR_LEN + 1];
	u8 *hdr;

	/* the buffer need not be aligned */
	for (hdr = buf; hdr <= buf + 1; hdr++) {
		memset(buf, 0xff, sizeof(buf));
		KUNIT_EXPECT_EQ(test, cmx_cma_hdr_pack(hdr, &c->src.sa, &c->dst.sa), 0);
		KUNIT_EXPECT_EQ(test, memcmp(hdr, c->hdr, CMX_CMA_HDR_LEN), 0);

		KUNIT_EXPECT_EQ(test, cmx_cma_hdr_unpack(hdr, htons(c->port), &local, &peer), 0);
		KUNIT_EXPECT_TRUE(test, cmx_addr_equal((void *)&local, &c->dst.sa));
		KUNIT_EXPECT_TRUE(test, cmx_addr_equal((void *)&peer, &c->src.sa));
	}
}

struct cma_hdr_test_pack_case {
	const char *name;
	sa_family_t src;
	sa_family_t dst;
	int ret;
};

static const struct cma_hdr_test_pack_case cma_hdr_test_packs[] = {
	{ "IPv4 to IPv6", AF_INET, AF_INET6, -EAFNOSUPPORT },
	{ "AF_IB", AF_IB, AF_IB, -EAFNOSUPPORT },
};

static void cma_hdr_test_pack_desc(const struct cma_hdr_test_pack_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "header to write: %s", c->name);
}

KUNIT_ARRAY_PARAM(cma_hdr_test_pack, cma_hdr_test_packs, cma_hdr_test_pack_desc);

static void cma_hdr_test_pack(struct kunit *test)
{
	const struct cma_hdr_test_pack_case *c = test->param_value;
	struct sockaddr_storage src = { .ss_family = c->src };
	struct sockaddr_storage dst = { .ss_family = c->dst };
	u8 hdr[CMX_CMA_HDR_LEN];

	KUNIT_EXPECT_EQ(test, cmx_cma_hdr_pack(hdr, (void *)&src, (void *)&dst), c->ret);
}

struct cma_hdr_test_unpack_case {
	const char *name;
	int index;
	u8 value;
	int ret;
};

/* One byte of cma_hdr_test_hdr4 is changed. */
static const struct cma_hdr_test_unpack_case cma_hdr_test_unpacks[] = {
	{ "unknown version", 0, 0x01, -EINVAL },
	{ "unknown IP version", 1, 0x50, -EAFNOSUPPORT },
	{ "reserved bits are ignored", 1, 0x4f, 0 },
};

static void cma_hdr_test_unpack_desc(const struct cma_hdr_test_unpack_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "header to read: %s", c->name);
}

KUNIT_ARRAY_PARAM(cma_hdr_test_unpack, cma_hdr_test_unpacks, cma_hdr_test_unpack_desc);

static void cma_hdr_test_unpack(struct kunit *test)
{
	const struct cma_hdr_test_unpack_case *c = test->param_value;
	struct sockaddr_storage local, peer;
	u8 hdr[CMX_CMA_HDR_LEN];

	memcpy(hdr, cma_hdr_test_hdr4, sizeof(hdr));
	hdr[c->index] = c->value;
	KUNIT_EXPECT_EQ(test, cmx_cma_hdr_unpack(hdr, 0, &local, &peer), c->ret);
}

struct cma_hdr_test_service_case {
	const char *name;
	u16 ps;
	u16 port;
	u64 id;
};

static const struct cma_hdr_test_service_case cma_hdr_test_services[] = {
	{ "TCP port space", RDMA_PS_TCP, 7174, 0x0000000001061c06ULL },
	{ "UDP port space", RDMA_PS_UDP, 7174, 0x0000000001111c06ULL },
};

static void cma_hdr_test_service_desc(const struct cma_hdr_test_service_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "service ID: %s", c->name);
}

KUNIT_ARRAY_PARAM(cma_hdr_test_service, cma_hdr_test_services, cma_hdr_test_service_desc);

static void cma_hdr_test_service(struct kunit *test)
{
	const struct cma_hdr_test_service_case *c = test->param_value;
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(c->port) };
	__be64 id = cmx_service_id(c->ps, (void *)&in);

	KUNIT_EXPECT_EQ(test, be64_to_cpu(id), c->id);
	KUNIT_EXPECT_EQ(test, cmx_service_id_ps(id), c->ps);
	KUNIT_EXPECT_EQ(test, ntohs(cmx_service_id_port(id)), c->port);
}

static void cma_hdr_test_service_of_af_ib(struct kunit *test)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_sid = cpu_to_be64(0x1234567890abcdefULL),
	};

	KUNIT_EXPECT_EQ(test, be64_to_cpu(cmx_service_id(RDMA_PS_TCP, (void *)&ib)),
			0x1234567890abcdefULL);
}

static struct kunit_case cma_hdr_test_cases[] = {
	KUNIT_CASE_PARAM(cma_hdr_test_hdr, cma_hdr_test_hdr_gen_params),
	KUNIT_CASE_PARAM(cma_hdr_test_pack, cma_hdr_test_pack_gen_params),
	KUNIT_CASE_PARAM(cma_hdr_test_unpack, cma_hdr_test_unpack_gen_params),
	KUNIT_CASE_PARAM(cma_hdr_test_service, cma_hdr_test_service_gen_params),
	KUNIT_CASE(cma_hdr_test_service_of_af_ib),
	{},
};

static struct kunit_suite cma_hdr_test_suite = {
	.name = "cmx-cma-hdr",
	.test_cases = cma_hdr_test_cases,
};

kunit_test_suite(cma_hdr_test_suite);
