// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <rdma/rdma_cm.h>
#include "../wire.c"

static const u8 hdr4[CMX_HDR_LEN] = {
	0x00, 0x40, 0x12, 0x34,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 77, 0, 1,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 77, 0, 2,
};

static const u8 hdr6[CMX_HDR_LEN] = {
	0x00, 0x60, 0xab, 0xcd,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
};

static void ipv4(struct kunit *test)
{
	struct sockaddr_in src = {
		.sin_family = AF_INET,
		.sin_port = htons(0x1234),
		.sin_addr.s_addr = htonl(0x0a4d0001),
	};
	struct sockaddr_in dst = {
		.sin_family = AF_INET,
		.sin_port = htons(7174),
		.sin_addr.s_addr = htonl(0x0a4d0002),
	};
	struct sockaddr_storage local, peer;
	u8 hdr[CMX_HDR_LEN + 1];

	/* the buffer need not be aligned */
	memset(hdr, 0xff, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, cmx_hdr_pack(hdr + 1, (void *)&src, (void *)&dst), 0);
	KUNIT_EXPECT_EQ(test, memcmp(hdr + 1, hdr4, CMX_HDR_LEN), 0);

	KUNIT_EXPECT_EQ(test, cmx_hdr_unpack(hdr + 1, htons(7174), &local, &peer), 0);
	KUNIT_EXPECT_TRUE(test, cmx_addr_equal((void *)&local, (void *)&dst));
	KUNIT_EXPECT_TRUE(test, cmx_addr_equal((void *)&peer, (void *)&src));
}

static void ipv6(struct kunit *test)
{
	struct sockaddr_in6 src = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(0xabcd),
		.sin6_addr.s6_addr = { 0xfd, [15] = 1 },
	};
	struct sockaddr_in6 dst = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(1),
		.sin6_addr.s6_addr = { 0xfd, [15] = 2 },
	};
	struct sockaddr_storage local, peer;
	u8 hdr[CMX_HDR_LEN];

	memset(hdr, 0xff, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, cmx_hdr_pack(hdr, (void *)&src, (void *)&dst), 0);
	KUNIT_EXPECT_EQ(test, memcmp(hdr, hdr6, CMX_HDR_LEN), 0);

	KUNIT_EXPECT_EQ(test, cmx_hdr_unpack(hdr, htons(1), &local, &peer), 0);
	KUNIT_EXPECT_TRUE(test, cmx_addr_equal((void *)&local, (void *)&dst));
	KUNIT_EXPECT_TRUE(test, cmx_addr_equal((void *)&peer, (void *)&src));
}

static void bad(struct kunit *test)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_ib ib = { .sib_family = AF_IB };
	struct sockaddr_storage local, peer;
	u8 hdr[CMX_HDR_LEN];

	KUNIT_EXPECT_EQ(test, cmx_hdr_pack(hdr, (void *)&in, (void *)&in6), -EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, cmx_hdr_pack(hdr, (void *)&ib, (void *)&ib), -EAFNOSUPPORT);

	memcpy(hdr, hdr4, sizeof(hdr));
	hdr[0] = 1;
	KUNIT_EXPECT_EQ(test, cmx_hdr_unpack(hdr, 0, &local, &peer), -EINVAL);
	hdr[0] = 0;
	hdr[1] = 0x50;
	KUNIT_EXPECT_EQ(test, cmx_hdr_unpack(hdr, 0, &local, &peer), -EAFNOSUPPORT);
	/* the lower four bits are reserved: not looked at */
	hdr[1] = 0x4f;
	KUNIT_EXPECT_EQ(test, cmx_hdr_unpack(hdr, 0, &local, &peer), 0);
}

static void service_id(struct kunit *test)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(7174) };
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_sid = cpu_to_be64(0x1234567890abcdefULL),
	};
	__be64 id = cmx_service_id(RDMA_PS_TCP, (void *)&in);

	KUNIT_EXPECT_EQ(test, be64_to_cpu(id), 0x0000000001061c06ULL);
	KUNIT_EXPECT_EQ(test, cmx_service_id_ps(id), RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, ntohs(cmx_service_id_port(id)), 7174);
	id = cmx_service_id(RDMA_PS_UDP, (void *)&in);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(id), 0x0000000001111c06ULL);
	id = cmx_service_id(RDMA_PS_TCP, (void *)&ib);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(id), 0x1234567890abcdefULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ipv4),
	KUNIT_CASE(ipv6),
	KUNIT_CASE(bad),
	KUNIT_CASE(service_id),
	{},
};

static struct kunit_suite suite = {
	.name = "cmx-wire",
	.test_cases = cases,
};

kunit_test_suite(suite);
