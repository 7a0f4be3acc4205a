// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include <linux/inet.h>
#include "../base/mgid.c"

/* "ib:" stands before an address of AF_IB. */
static void mgid_test_parse(const char *ip, struct sockaddr_storage *ss)
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

/* @want: expected MGID, or NULL if there is none */
static void mgid_test_expect(struct kunit *test, const union ib_gid *mgid, const char *want)
{
	union ib_gid gid;

	if (!want)
		return;
	in6_pton(want, -1, gid.raw, -1, NULL);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(mgid, &gid, sizeof(gid)), 0, "%pI6c", mgid);
}

struct mgid_test_roce_case {
	const char *ip;
	enum ib_gid_type type;
	int ret;
	const char *mgid;
};

static const struct mgid_test_roce_case mgid_test_roce_table[] = {
	{ "239.1.2.3", IB_GID_TYPE_ROCE, 0, "ff0e::ffff:239.1.2.3" },
	{ "239.1.2.3", IB_GID_TYPE_ROCE_UDP_ENCAP, 0, "::ffff:239.1.2.3" },
	{ "224.0.0.1", IB_GID_TYPE_ROCE, 0, "ff0e::ffff:224.0.0.1" },
	{ "ff02::1234", IB_GID_TYPE_ROCE, 0, "ff02::1234" },
	{ "ff0e:1:2::3", IB_GID_TYPE_ROCE_UDP_ENCAP, 0, "ff0e:1:2::3" },
	{ "0.0.0.0", IB_GID_TYPE_ROCE, -EINVAL },
	{ "10.77.0.1", IB_GID_TYPE_ROCE, -EINVAL },
	{ "fd00::1", IB_GID_TYPE_ROCE, -EINVAL },
	{ "ib:::", IB_GID_TYPE_ROCE, -EAFNOSUPPORT },
};

static void mgid_test_roce_desc(const struct mgid_test_roce_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "RoCE v%d: %s",
		 c->type == IB_GID_TYPE_ROCE ? 1 : 2, c->ip);
}

KUNIT_ARRAY_PARAM(mgid_test_roce, mgid_test_roce_table, mgid_test_roce_desc);

static void mgid_test_roce(struct kunit *test)
{
	const struct mgid_test_roce_case *c = test->param_value;
	struct sockaddr_storage ss;
	union ib_gid mgid;

	mgid_test_parse(c->ip, &ss);
	memset(&mgid, 0xa5, sizeof(mgid));
	KUNIT_EXPECT_EQ(test, cmx_mgid_map_roce((struct sockaddr *)&ss, c->type, &mgid), c->ret);
	mgid_test_expect(test, &mgid, c->mgid);
}

struct mgid_test_ib_case {
	const char *ip;
	const char *broadcast;
	bool rdma_cm;
	int ret;
	const char *mgid;
};

/* MGIDs of the broadcast groups of two partitions, with different scopes */
#define PLAIN "ff12:401b:ffff::ffff:ffff"
#define OTHER "ff15:401b:8001::ffff:ffff"

static const struct mgid_test_ib_case mgid_test_ib_table[] = {
	{ "239.1.2.3", PLAIN, false, 0, "ff12:401b:ffff::f01:203" },
	{ "239.1.2.3", PLAIN, true, 0, "ff12:4001:ffff::f01:203" },
	{ "224.0.0.1", OTHER, true, 0, "ff15:4001:8001::1" },
	{ "ff02::1:2", PLAIN, false, 0, "ff12:601b:ffff::1:2" },
	{ "ff05:1:2:3:4:5:6:7", OTHER, true, 0, "ff15:6001:8001:3:4:5:6:7" },
	{ "ff12:a01b:8000::7", PLAIN, true, 0, "ff12:a01b:8000::7" },
	{ "ib:ff12:1:2:3:4:5:6:7", PLAIN, true, 0, "ff12:1:2:3:4:5:6:7" },
	{ "0.0.0.0", PLAIN, true, 0, "::" },
	{ "::", PLAIN, true, 0, "::" },
	{ "ib:::", PLAIN, true, 0, "::" },
	{ "10.77.0.1", PLAIN, true, -EINVAL },
	{ "127.0.0.1", PLAIN, true, -EINVAL },
	{ "fe80::1", PLAIN, true, -EINVAL },
	{ "ib:fe80::1", PLAIN, true, -EINVAL },
};

static void mgid_test_ib_desc(const struct mgid_test_ib_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "InfiniBand, %s: %s, broadcast %s",
		 c->rdma_cm ? "RDMA CM" : "IPoIB", c->ip, c->broadcast);
}

KUNIT_ARRAY_PARAM(mgid_test_ib, mgid_test_ib_table, mgid_test_ib_desc);

static void mgid_test_ib(struct kunit *test)
{
	const struct mgid_test_ib_case *c = test->param_value;
	struct sockaddr_storage ss;
	union ib_gid broadcast, mgid;

	mgid_test_parse(c->ip, &ss);
	in6_pton(c->broadcast, -1, broadcast.raw, -1, NULL);
	memset(&mgid, 0xa5, sizeof(mgid));
	KUNIT_EXPECT_EQ(test, cmx_mgid_map_ib((struct sockaddr *)&ss, &broadcast, c->rdma_cm,
					      &mgid),
			c->ret);
	mgid_test_expect(test, &mgid, c->mgid);
}

static struct kunit_case mgid_test_cases[] = {
	KUNIT_CASE_PARAM(mgid_test_roce, mgid_test_roce_gen_params),
	KUNIT_CASE_PARAM(mgid_test_ib, mgid_test_ib_gen_params),
	{},
};

static struct kunit_suite mgid_test_suite = {
	.name = "cmx-mgid",
	.test_cases = mgid_test_cases,
};

kunit_test_suite(mgid_test_suite);
