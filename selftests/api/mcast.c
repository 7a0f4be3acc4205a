// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast on RoCE: memberships of IGMP and MLD, attributes of a join, IPv6. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "../../lib/cmd.h"
#include "api.h"

/* Counts the lines of /proc/net/igmp or igmp6 with a group. @users receives its user count. */
static int members_count(const char *file, const char *hex, int *users)
{
	char line[256], *at;
	FILE *f = fopen(file, "r");
	int n = 0;

	WANT(f);
	*users = 0;
	while (fgets(line, sizeof(line), f)) {
		at = strcasestr(line, hex);
		if (!at)
			continue;
		n++;
		*users += atoi(at + strlen(hex));
	}
	fclose(f);
	return n;
}

/* Waits until the group is left: a work item leaves it if another process holds rtnl. */
static bool group_wait_left(const char *file, const char *hex)
{
	int i, users;

	for (i = 0; i < 500 && members_count(file, hex, &users); i++)
		usleep(20000);
	return i < 500;
}

static struct rdma_cm_event *join_expect(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev = event_next(ch, 10000);

	WANT(ev && ev->event == RDMA_CM_EVENT_MULTICAST_JOIN && !ev->status);
	return ev;
}

static void test_ipv4(void)
{
	struct rdma_event_channel *ch1, *ch2;
	struct rdma_cm_id *a = new_bound_id(&ch1, RDMA_PS_UDP, "10.77.0.1");
	struct rdma_cm_id *b = new_bound_id(&ch2, RDMA_PS_UDP, "10.77.0.1");
	struct rdma_cm_event *ev;
	int users;

	WANT(!rdma_join_multicast(a, ip_addr("239.1.2.3", 0), &ch1));
	ev = join_expect(ch1);
	WANT(ev->param.ud.private_data == &ch1);
	WANT(ev->param.ud.qp_num == 0xffffff && ev->param.ud.qkey == RDMA_UDP_QKEY);
	rdma_ack_cm_event(ev);
	WANT(members_count("/proc/net/igmp", "030201EF", &users) == 1);
	WANT(!rdma_join_multicast(b, ip_addr("239.1.2.3", 0), NULL));
	rdma_ack_cm_event(join_expect(ch2));
	WANT(!rdma_leave_multicast(a, ip_addr("239.1.2.3", 0)));
	WANT(members_count("/proc/net/igmp", "030201EF", &users) == 1);
	WANT(!rdma_destroy_id(b));
	WANT(group_wait_left("/proc/net/igmp", "030201EF"));
}

static void test_ipv6(void)
{
	static const char group[] = "ff150000000000000000000000000077";
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "fd77::1");
	struct in6_addr want_gid;
	struct rdma_cm_event *ev;
	int users;

	inet_pton(AF_INET6, "ff15::77", &want_gid);
	WANT(!rdma_join_multicast(id, ip_addr("ff15::77", 0), NULL));
	ev = join_expect(ch);
	WANT(!memcmp(&ev->param.ud.ah_attr.grh.dgid, &want_gid, 16));
	rdma_ack_cm_event(ev);
	WANT(members_count("/proc/net/igmp6", group, &users) == 1);
	WANT(!rdma_leave_multicast(id, ip_addr("ff15::77", 0)));
	WANT(group_wait_left("/proc/net/igmp6", group));
}

/* The source GID decides whether datagrams are IPv4 or IPv6, so it has the family of the group. */
static void group_join_as(const char *source, const char *group, const char *source_gid)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, source);
	struct rdma_cm_event *ev;
	union ibv_gid gid, want_gid;

	inet_pton(AF_INET6, source_gid, &want_gid);
	WANT(!rdma_join_multicast(id, ip_addr(group, 0), NULL));
	ev = join_expect(ch);
	WANT(!ibv_query_gid(id->verbs, id->port_num, ev->param.ud.ah_attr.grh.sgid_index, &gid));
	WANT(!memcmp(&gid, &want_gid, sizeof(gid)));
	rdma_ack_cm_event(ev);
	WANT(!rdma_destroy_id(id));
}

static void test_other_family(void)
{
	need_rig();
	group_join_as("10.77.0.1", "239.1.2.3", "::ffff:10.77.0.1");
	group_join_as("10.77.0.1", "ff15::77", "fd77::1");
	group_join_as("fd77::1", "239.1.2.3", "::ffff:10.77.0.1");
	group_join_as("fd77::1", "ff15::77", "fd77::1");
}

/* An MTU that is too small for IPv6 drops the IPv6 groups of the interface. */
static void test_forgotten(void)
{
	static const char group[] = "ff150000000000000000000000000078";
	struct rdma_event_channel *ch1, *ch2;
	struct rdma_cm_id *a = new_bound_id(&ch1, RDMA_PS_UDP, "10.77.0.1");
	struct rdma_cm_id *b = new_bound_id(&ch2, RDMA_PS_UDP, "10.77.0.1");
	int users;

	need_rig();
	WANT(!rdma_join_multicast(a, ip_addr("ff15::78", 0), NULL));
	rdma_ack_cm_event(join_expect(ch1));
	WANT(members_count("/proc/net/igmp6", group, &users) == 1);
	WANT(!system("ip link set d0 mtu 1200 && ip link set d0 mtu 1500"));
	WANT(!system("ip addr replace fd77::1/64 dev d0 nodad"));
	WANT(members_count("/proc/net/igmp6", group, &users) == 0);
	WANT(!rdma_join_multicast(b, ip_addr("ff15::78", 0), NULL));
	rdma_ack_cm_event(join_expect(ch2));
	WANT(members_count("/proc/net/igmp6", group, &users) == 1);
	WANT(!rdma_leave_multicast(a, ip_addr("ff15::78", 0)));
	WANT(members_count("/proc/net/igmp6", group, &users) == 1);
	WANT(!rdma_leave_multicast(b, ip_addr("ff15::78", 0)));
	WANT(group_wait_left("/proc/net/igmp6", group));
}

static void test_send_only(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");
	struct cmx_mcast_attr attr = { .join_state = CMX_MCAST_SENDONLY_FULL };
	int users;

	WANT(!rdma_cmx_join_multicast(id, ip_addr("239.1.2.4", 0), &attr, sizeof(attr), NULL));
	rdma_ack_cm_event(join_expect(ch));
	WANT(members_count("/proc/net/igmp", "040201EF", &users) == 0);
	WANT(!rdma_leave_multicast(id, ip_addr("239.1.2.4", 0)));
}

static void test_attributes(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");
	struct cmx_mcast_attr attr = {
		.mask = CMX_MCAST_QKEY | CMX_MCAST_TCLASS | CMX_MCAST_HOP_LIMIT | CMX_MCAST_SL |
			CMX_MCAST_FLOW_LABEL,
		.qkey = 0x11223344, .tclass = 72, .hop_limit = 9, .sl = 3, .flow_label = 0x54321,
	};
	struct rdma_cm_event *ev;

	WANT(!rdma_cmx_join_multicast(id, ip_addr("239.1.2.5", 0), &attr, sizeof(attr), NULL));
	ev = join_expect(ch);
	WANT(ev->param.ud.qkey == 0x11223344);
	WANT(ev->param.ud.ah_attr.grh.traffic_class == 72);
	WANT(ev->param.ud.ah_attr.grh.hop_limit == 9);
	WANT(ev->param.ud.ah_attr.grh.flow_label == 0x54321);
	WANT(ev->param.ud.ah_attr.sl == 3);
	rdma_ack_cm_event(ev);
	attr.mask = 1u << 31;
	WANT(rdma_cmx_join_multicast(id, ip_addr("239.1.2.6", 0), &attr, sizeof(attr), NULL) && errno == EINVAL);
	attr.mask = 0;
	attr.join_state = 9;
	WANT(rdma_cmx_join_multicast(id, ip_addr("239.1.2.6", 0), &attr, sizeof(attr), NULL) && errno == EINVAL);
}

static void qp_create_datagram(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UD, .cap = { 1, 1, 1, 1 } };

	WANT(!rdma_create_qp(id, NULL, &attr));
}

/* A QP receives what is sent to a group only with the Q_Key of the group. */
static void test_qkey_of_qp(void)
{
	struct cmx_mcast_attr attr = { .mask = CMX_MCAST_QKEY, .qkey = 0x11223344 };
	struct ibv_qp_init_attr init;
	struct rdma_event_channel *ch;
	struct ibv_qp_attr qp_attr;
	struct rdma_cm_id *id;
	int later;

	for (later = 0; later < 2; later++) {
		id = new_id(&ch, RDMA_PS_UDP);
		WANT(!rdma_resolve_addr(id, NULL, ip_addr("10.77.0.1", 7000), 1000));
		WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
		if (!later)
			qp_create_datagram(id);
		WANT(!rdma_cmx_join_multicast(id, ip_addr("239.1.2.7", 0), &attr, sizeof(attr), NULL));
		rdma_ack_cm_event(join_expect(ch));
		if (later)
			qp_create_datagram(id);
		WANT(!ibv_query_qp(id->qp, &qp_attr, IBV_QP_QKEY, &init));
		WANT(qp_attr.qkey == 0x11223344);
		rdma_destroy_qp(id);
		WANT(!rdma_destroy_id(id));
	}
}

/* The id has the Q_Key of its group, and its peer answers with another Q_Key. */
static void test_qkey_of_peer(void)
{
	struct cmx_mcast_attr attr = { .mask = CMX_MCAST_QKEY, .qkey = 0x11223344 };
	struct rdma_conn_param par = plain, answer = plain;
	struct rdma_cm_event *ev;
	struct pair p = { .param = plain };

	answer.private_data = "no";
	answer.private_data_len = 2;
	p.id = new_bound_id(&p.ch, RDMA_PS_UDP, "10.77.0.1");
	WANT(!rdma_cmx_join_multicast(p.id, ip_addr("239.1.2.7", 0), &attr, sizeof(attr), NULL));
	rdma_ack_cm_event(join_expect(p.ch));
	pair_prepare(&p, RDMA_PS_UDP);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_accept(p.child, &answer));
	ev = event_next(p.ch, 10000);
	WANT(ev && ev->event == RDMA_CM_EVENT_ADDR_ERROR && ev->status == -EINVAL);
	WANT(!memcmp(ev->param.ud.private_data, "no", 2));
	rdma_ack_cm_event(ev);
}

static void join_expect_ah(struct rdma_event_channel *ch, const struct ibv_ah_attr *wanted)
{
	struct rdma_cm_event *ev = join_expect(ch);
	const struct ibv_ah_attr *ah = &ev->param.ud.ah_attr;

	WANT(ah->grh.traffic_class == wanted->grh.traffic_class);
	WANT(ah->grh.hop_limit == wanted->grh.hop_limit);
	WANT(ah->grh.flow_label == wanted->grh.flow_label);
	WANT(ah->sl == wanted->sl);
	rdma_ack_cm_event(ev);
}

/* An attribute that the join does not set is taken from the options of the id. */
static void test_options(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");
	struct ibv_ah_attr wanted = {
		.grh = { .traffic_class = 104, .hop_limit = 17, .flow_label = 0x6789a }, .sl = 6,
	};
	struct cmx_mcast_attr attr = {
		.mask = CMX_MCAST_TCLASS | CMX_MCAST_SL, .tclass = 72, .sl = 3,
	};

	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 104));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_SL, 6));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_FLOW_LABEL, 0x6789a));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_HOP_LIMIT, 17));
	WANT(!rdma_join_multicast(id, ip_addr("239.1.2.7", 0), NULL));
	join_expect_ah(ch, &wanted);
	WANT(!rdma_cmx_join_multicast(id, ip_addr("239.1.2.8", 0), &attr, sizeof(attr), NULL));
	wanted.grh.traffic_class = 72;
	wanted.sl = 3;
	join_expect_ah(ch, &wanted);
}

/* Replaces all rules by this one, or NULL: by none. */
static void rules_replace(const struct cmx_rule *rule)
{
	int fd = open("/dev/infiniband/" CMX_DEVICE_NAME, O_RDWR | O_CLOEXEC);
	struct cmxl_cmd cmd;
	uint64_t generation;

	WANT(fd >= 0);
	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_RULES);
	cmxl_cmd_out(&cmd, CMX_ATTR_GENERATION, &generation, sizeof(generation));
	WANT(!cmxl_cmd_issue(&cmd, fd));
	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_SET_RULES);
	if (rule)
		cmxl_cmd_in(&cmd, CMX_ATTR_RULES, rule, sizeof(*rule));
	cmxl_cmd_u64(&cmd, CMX_ATTR_GENERATION, generation);
	WANT(!cmxl_cmd_issue(&cmd, fd));
	close(fd);
}

/* A TOS that neither the join nor the options of the id set is that of a rule for the port. */
static void test_rule(void)
{
	static const struct cmx_rule rule = {
		.match = CMX_RULE_DEVICE | CMX_RULE_PORT_NUM,
		.device = "rxe0",
		.port_num = 1,
		.num_options = 1,
		.options = { { RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 40 } },
	};
	struct ibv_ah_attr wanted = { .grh = { .traffic_class = 40, .hop_limit = 17 } };
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	need_rig();
	rules_replace(&rule);
	id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");
	rules_replace(NULL);
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_HOP_LIMIT, 17));
	WANT(!rdma_join_multicast(id, ip_addr("239.1.2.9", 0), NULL));
	join_expect_ah(ch, &wanted);

	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 104));
	WANT(!rdma_join_multicast(id, ip_addr("239.1.2.10", 0), NULL));
	wanted.grh.traffic_class = 104;
	join_expect_ah(ch, &wanted);
}

static void test_many(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");
	char addr[32];
	int i;

	for (i = 0; i < 1000; i++) {
		snprintf(addr, sizeof(addr), "239.9.%d.%d", i / 200, 1 + i % 200);
		WANT(!rdma_join_multicast(id, ip_addr(addr, 0), (void *)(long)(i + 1)));
	}
	for (i = 0; i < 1000; i++) {
		struct rdma_cm_event *ev = join_expect(ch);

		WANT(ev->param.ud.private_data == (void *)(long)(i + 1));
		rdma_ack_cm_event(ev);
	}
	for (i = 0; i < 1000; i += 2) {
		snprintf(addr, sizeof(addr), "239.9.%d.%d", i / 200, 1 + i % 200);
		WANT(!rdma_leave_multicast(id, ip_addr(addr, 0)));
	}
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

/* The id keeps the event of the join. */
static void test_left_by_sync(void)
{
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	WANT(!rdma_bind_addr(id, ip_addr("10.77.0.1", 0)));
	WANT(!rdma_join_multicast(id, ip_addr("239.1.2.6", 0), NULL));
	WANT(id->event && id->event->event == RDMA_CM_EVENT_MULTICAST_JOIN);
	WANT(!rdma_leave_multicast(id, ip_addr("239.1.2.6", 0)));
	WANT(!id->event);
	WANT(!rdma_destroy_id(id));
}

const struct test mcast_tests[] = {
	{ "multicast: IPv4, one IGMP membership for many ids", test_ipv4 },
	{ "multicast: IPv6 and MLD", test_ipv6 },
	{ "multicast: a group of the other family", test_other_family },
	{ "multicast: IPv6 goes from the interface and comes back", test_forgotten },
	{ "multicast: send-only joins no IGMP", test_send_only },
	{ "multicast: attributes of a join", test_attributes },
	{ "multicast: a QP has the Q_Key of its group", test_qkey_of_qp },
	{ "multicast: the Q_Key of a peer is not that of the group", test_qkey_of_peer },
	{ "multicast: a join with the id's options", test_options },
	{ "multicast: a join with the TOS of a rule", test_rule },
	{ "multicast: a synchronous id leaves", test_left_by_sync },
	{ "multicast: a thousand groups on one id", test_many },
	{}
};
