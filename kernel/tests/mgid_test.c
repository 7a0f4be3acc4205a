// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/inet.h>
#include "../mgid.c"

static void parse(const char *ip, struct sockaddr_storage *ss)
{
	memset(ss, 0, sizeof(*ss));
	if (!strncmp(ip, "ib:", 3)) {
		struct sockaddr_ib *sib = (struct sockaddr_ib *)ss;

		sib->sib_family = AF_IB;
		in6_pton(ip + 3, -1, sib->sib_addr.sib_raw, -1, NULL);
	} else if (strchr(ip, ':')) {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

		in6->sin6_family = AF_INET6;
		in6_pton(ip, -1, in6->sin6_addr.s6_addr, -1, NULL);
	} else {
		struct sockaddr_in *in = (struct sockaddr_in *)ss;

		in->sin_family = AF_INET;
		in4_pton(ip, -1, (u8 *)&in->sin_addr, -1, NULL);
	}
}

static int map(const char *ip, enum ib_gid_type type, union ib_gid *mgid)
{
	struct sockaddr_storage ss;

	parse(ip, &ss);
	memset(mgid, 0xa5, sizeof(*mgid));
	return cmx_mgid_roce((struct sockaddr *)&ss, type, mgid);
}

static void groups(struct kunit *test)
{
	static const struct {
		const char *ip;
		enum ib_gid_type type;
		const char *mgid;
	} t[] = {
		{ "239.1.2.3", IB_GID_TYPE_ROCE, "ff0e::ffff:239.1.2.3" },
		{ "239.1.2.3", IB_GID_TYPE_ROCE_UDP_ENCAP, "::ffff:239.1.2.3" },
		{ "224.0.0.1", IB_GID_TYPE_ROCE, "ff0e::ffff:224.0.0.1" },
		{ "ff02::1234", IB_GID_TYPE_ROCE, "ff02::1234" },
		{ "ff0e:1:2::3", IB_GID_TYPE_ROCE_UDP_ENCAP, "ff0e:1:2::3" },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		union ib_gid mgid, want;

		in6_pton(t[i].mgid, -1, want.raw, -1, NULL);
		KUNIT_EXPECT_EQ_MSG(test, map(t[i].ip, t[i].type, &mgid), 0, "%s", t[i].ip);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&mgid, &want, sizeof(want)), 0, "%s: %pI6c",
				    t[i].ip, &mgid);
	}
}

static void others(struct kunit *test)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB };
	union ib_gid mgid;

	KUNIT_EXPECT_EQ(test, map("0.0.0.0", IB_GID_TYPE_ROCE, &mgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, map("10.77.0.1", IB_GID_TYPE_ROCE, &mgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, map("fd00::1", IB_GID_TYPE_ROCE, &mgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, cmx_mgid_roce((void *)&ib, IB_GID_TYPE_ROCE, &mgid), -EAFNOSUPPORT);
}

static int map_ib(const char *ip, const char *broadcast, bool rdma_cm, union ib_gid *mgid)
{
	struct sockaddr_storage ss;
	union ib_gid bcast;

	parse(ip, &ss);
	in6_pton(broadcast, -1, bcast.raw, -1, NULL);
	memset(mgid, 0xa5, sizeof(*mgid));
	return cmx_mgid_ib((struct sockaddr *)&ss, &bcast, rdma_cm, mgid);
}

static void infiniband(struct kunit *test)
{
	static const char plain[] = "ff12:401b:ffff::ffff:ffff";
	static const char other[] = "ff15:401b:8001::ffff:ffff";
	static const struct {
		const char *ip;
		const char *broadcast;
		bool rdma_cm;
		const char *mgid;
	} t[] = {
		{ "239.1.2.3", plain, false, "ff12:401b:ffff::f01:203" },
		{ "239.1.2.3", plain, true, "ff12:4001:ffff::f01:203" },
		{ "224.0.0.1", other, true, "ff15:4001:8001::1" },
		{ "ff02::1:2", plain, false, "ff12:601b:ffff::1:2" },
		{ "ff05:1:2:3:4:5:6:7", other, true, "ff15:6001:8001:3:4:5:6:7" },
		{ "ff12:a01b:8000::7", plain, true, "ff12:a01b:8000::7" },
		{ "ib:ff12:1:2:3:4:5:6:7", plain, true, "ff12:1:2:3:4:5:6:7" },
		{ "0.0.0.0", plain, true, "::" },
		{ "::", plain, true, "::" },
		{ "ib:::", plain, true, "::" },
	};
	union ib_gid mgid, want;
	int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		in6_pton(t[i].mgid, -1, want.raw, -1, NULL);
		KUNIT_EXPECT_EQ_MSG(test, map_ib(t[i].ip, t[i].broadcast, t[i].rdma_cm, &mgid), 0,
				    "%s", t[i].ip);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&mgid, &want, sizeof(want)), 0, "%s: %pI6c",
				    t[i].ip, &mgid);
	}
	KUNIT_EXPECT_EQ(test, map_ib("10.77.0.1", plain, true, &mgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, map_ib("127.0.0.1", plain, true, &mgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, map_ib("fe80::1", plain, true, &mgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, map_ib("ib:fe80::1", plain, true, &mgid), -EINVAL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(groups),
	KUNIT_CASE(infiniband),
	KUNIT_CASE(others),
	{},
};

static struct kunit_suite suite = {
	.name = "cmx-mgid",
	.test_cases = cases,
};

kunit_test_suite(suite);
