// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_join_multicast() and rdma_leave_multicast(). */
#include "util.h"

struct join {
	enum rdma_port_space ps;
	const char *bind, *group;
	int with_qp;
};

static struct rdma_event_channel *ch;

static int id_join(struct rdma_cm_id *id, const char *group, void *context)
{
	return CALL(rdma_join_multicast(id, ip_addr(group, 0), context), "join %s %s", id_name(id),
		    group);
}

static int id_leave(struct rdma_cm_id *id, const char *group)
{
	return CALL(rdma_leave_multicast(id, ip_addr(group, 0)), "leave %s %s", id_name(id), group);
}

static struct rdma_cm_id *member_create(const char *name, enum rdma_port_space ps, const char *addr,
					int with_qp)
{
	struct rdma_cm_id *id;

	if (!ch)
		ch = channel_create();
	id = id_create(ch, name, ps);
	if (addr)
		id_bind(id, addr, 0);
	if (with_qp && id->verbs)
		qp_create(id, ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD);
	return id;
}

static void member_destroy(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	id_destroy(id);
}

static void test_plain(const void *arg)
{
	const struct join *j = arg;
	struct rdma_cm_id *id = member_create("id", j->ps, j->bind, j->with_qp);

	if (!id_join(id, j->group, "plain"))
		event_trace(ch);
	show_id(id);
	id_leave(id, j->group);
	id_leave(id, j->group);
	member_destroy(id);
}

static void test_twice(const void *arg)
{
	const int *with_qp = arg;
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, *with_qp);

	if (!id_join(id, GROUP, "first"))
		event_trace(ch);
	if (!id_join(id, GROUP, "second"))
		event_trace(ch);
	id_leave(id, GROUP);
	id_leave(id, GROUP);
	id_leave(id, GROUP);
	member_destroy(id);
}

static void test_two_groups(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 1);

	(void)arg;
	id_join(id, GROUP, "first");
	event_trace(ch);
	id_join(id, GROUP_2, "second");
	event_trace(ch);
	id_leave(id, GROUP);
	id_leave(id, GROUP);
	id_leave(id, GROUP_2);
	member_destroy(id);
}

static void test_two_ids(const void *arg)
{
	struct rdma_cm_id *a, *b;

	(void)arg;
	a = member_create("a", RDMA_PS_UDP, ADDR, 1);
	b = member_create("b", RDMA_PS_UDP, ADDR, 1);
	id_join(a, GROUP, "of a");
	event_trace(ch);
	id_join(b, GROUP, "of b");
	event_trace(ch);
	id_leave(a, GROUP);
	id_leave(a, GROUP);
	id_leave(b, GROUP);
	member_destroy(a);
	member_destroy(b);
}

static void test_not_joined(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);

	(void)arg;
	id_leave(id, GROUP);
	id_join(id, GROUP, "one");
	id_leave(id, GROUP_2);
	event_trace(ch);
	id_leave(id, GROUP);
	id_leave(id, GROUP_6);
	CALL(rdma_leave_multicast(id, NULL), "leave NULL");
	member_destroy(id);
}

/* The group is left before the event is fetched, which drops the event. */
static void test_leave_early(const void *arg)
{
	const int *with_qp = arg;
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, *with_qp);

	id_join(id, GROUP, "early");
	channel_poll(ch, 1000);
	id_leave(id, GROUP);
	event_expect_none(ch);
	member_destroy(id);
}

/* A QP is attached when the event is fetched. A QP that is created later is not attached. */
static void test_qp_later(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);

	(void)arg;
	id_join(id, GROUP, "before");
	event_trace(ch);
	qp_create(id, IBV_QPT_UD);
	show_qp(id->qp);
	id_leave(id, GROUP);
	id_join(id, GROUP, "after");
	event_trace(ch);
	id_leave(id, GROUP);
	member_destroy(id);
}

static void join_fetch(union ibv_gid *gid, int *lid)
{
	struct rdma_cm_event *event = event_fetch(ch, 5000);

	if (!event)
		return;
	show_event(event);
	*gid = event->param.ud.ah_attr.grh.dgid;
	*lid = event->param.ud.ah_attr.dlid;
	rdma_ack_cm_event(event);
}

/* The program attaches a QP that was created after the join. Leaving detaches it. */
static void test_attached_later(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);
	union ibv_gid gid = { };
	int lid = 0;

	(void)arg;
	id_join(id, GROUP, "before");
	join_fetch(&gid, &lid);
	qp_create(id, IBV_QPT_UD);
	CALL(ibv_attach_mcast(id->qp, &gid, lid), "attach");
	id_leave(id, GROUP);
	CALL(ibv_detach_mcast(id->qp, &gid, lid), "detach");
	member_destroy(id);
}

static void test_own_attach(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);
	union ibv_gid gid = { };
	struct ibv_qp *qp;
	int lid = 0;

	(void)arg;
	qp = ext_qp_create(id, IBV_QPT_UD, "own");
	id_join(id, GROUP, "own");
	join_fetch(&gid, &lid);
	ext_qp_modify(id, qp, IBV_QPS_INIT);
	CALL(ibv_attach_mcast(qp, &gid, lid), "attach");
	CALL(ibv_detach_mcast(qp, &gid, lid), "detach");
	id_leave(id, GROUP);
	id_destroy(id);
}

/* More QPs than some devices attach to one group, which no other case joins. */
static void test_attach_fails(const void *arg)
{
	static const char group[] = "239.77.1.1";
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0), *last;
	union ibv_gid gid = { };
	int lid = 0, n = 0;

	(void)arg;
	id_join(id, group, "first");
	join_fetch(&gid, &lid);
	while (n < 100 && !ibv_attach_mcast(ext_qp_create(id, IBV_QPT_UD, "own"), &gid, lid))
		n++;
	tap_note_print("%d attached", n);
	last = member_create("last", RDMA_PS_UDP, ADDR, 1);
	id_join(last, group, "last");
	event_trace(ch);
	member_destroy(last);
	member_destroy(id);
}

static void test_with_groups(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 1);
	static const char *const groups[] = { GROUP, GROUP_2, "239.77.0.3", "239.77.0.4" };
	size_t i;

	(void)arg;
	/* one at a time, because an SA may answer in any order */
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		id_join(id, groups[i], "many");
		event_trace(ch);
	}
	member_destroy(id);
	event_expect_none(ch);
}

static void test_unfetched(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 1);

	(void)arg;
	id_join(id, GROUP, "one");
	id_join(id, GROUP_2, "two");
	member_destroy(id);
	event_expect_none(ch);
}

static void test_qp_first_gone(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 1);

	(void)arg;
	id_join(id, GROUP, "one");
	event_trace(ch);
	rdma_destroy_qp(id);
	id_leave(id, GROUP);
	id_destroy(id);
}

static void test_resolved(const void *arg)
{
	static const char *const src[] = { ADDR, NULL };
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(src); i++) {
		id = member_create("id", RDMA_PS_UDP, NULL, 0);
		if (!id_resolve_addr(id, src[i], GROUP, PORT))
			event_trace(ch);
		show_id(id);
		qp_create(id, IBV_QPT_UD);
		if (!id_join(id, GROUP, "resolved"))
			event_trace(ch);
		id_leave(id, GROUP);
		member_destroy(id);
	}
}

static void test_in_state(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	if (!id_join(id, GROUP, "tcp"))
		event_trace(id->channel);
	id_leave(id, GROUP);
	pair_close(&d);
}

/* A UDP id with a peer, in each of its states. */
static void test_udp_states(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_UDP);
	if (!id_join(d.listener, GROUP, "listener"))
		event_trace(d.lch);
	if (!id_join(d.id, GROUP, "routed"))
		event_trace(d.ch);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_UD);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	if (!id_join(d.id, GROUP, "connected"))
		event_trace(d.ch);
	if (!id_join(d.child, GROUP, "accepted"))
		event_trace(d.lch);
	id_leave(d.id, GROUP);
	id_leave(d.child, GROUP);
	pair_close(&d);
}

static void test_extended(const void *arg)
{
	static const struct {
		uint32_t mask, flags;
		const char *addr;
	} tried[] = {
		{ 0, 0, GROUP },
		{ RDMA_CM_JOIN_MC_ATTR_ADDRESS, 0, GROUP },
		{ RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, 0, GROUP },
		{ 3, RDMA_MC_JOIN_FLAG_FULLMEMBER, GROUP },
		{ 3, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, GROUP_2 },
		{ 3, RDMA_MC_JOIN_FLAG_RESERVED, GROUP },
		{ 3, 99, GROUP },
		{ 7, 0, GROUP },
		{ 4, 0, GROUP },
		{ 3, 0, NULL },
		{ 0x80000003, 0, GROUP },
		{ 3, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, GROUP_6 },
	};
	const int *with_qp = arg;
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, *with_qp);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		struct rdma_cm_join_mc_attr_ex attr = {
			.comp_mask = tried[i].mask,
			.join_flags = tried[i].flags,
			.addr = tried[i].addr ? ip_addr(tried[i].addr, 0) : NULL,
		};

		if (CALL(rdma_join_multicast_ex(id, &attr, "extended"),
			 "join_ex mask=%#x flags=%u %s", tried[i].mask, tried[i].flags,
			 tried[i].addr ? tried[i].addr : "NULL"))
			continue;
		event_trace(ch);
		if (tried[i].addr)
			id_leave(id, tried[i].addr);
	}
	member_destroy(id);
}

/* Does the port in the address of a group have an effect? */
static void test_group_port(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);

	(void)arg;
	CALL(rdma_join_multicast(id, ip_addr(GROUP, 5), "five"), "join port 5");
	event_trace(ch);
	CALL(rdma_leave_multicast(id, ip_addr(GROUP, 6)), "leave port 6");
	CALL(rdma_leave_multicast(id, ip_addr(GROUP, 5)), "leave port 5");
	member_destroy(id);
}

static void test_families(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);
	struct sockaddr_storage ss = { .ss_family = 99 };

	(void)arg;
	CALL(rdma_join_multicast(id, NULL, NULL), "join NULL");
	CALL(rdma_join_multicast(id, (struct sockaddr *)&ss, NULL), "join family 99");
	if (!CALL(rdma_join_multicast(id, ib_addr(0), "native"), "join AF_IB"))
		event_trace(ch);
	member_destroy(id);
}

static void test_many(const void *arg)
{
	struct rdma_cm_id *id = member_create("id", RDMA_PS_UDP, ADDR, 0);
	char group[32];
	int i, joined = 0, left = 0;

	(void)arg;
	quiet++;
	for (i = 0; i < 64; i++) {
		snprintf(group, sizeof(group), "239.78.0.%d", i + 1);
		if (!id_join(id, group, "many"))
			joined += event_trace(ch) == RDMA_CM_EVENT_MULTICAST_JOIN;
	}
	for (i = 64; i--;) {
		snprintf(group, sizeof(group), "239.78.0.%d", i + 1);
		left += !id_leave(id, group);
	}
	quiet--;
	tap_note_print("joined %d left %d", joined, left);
	member_destroy(id);
}

#define PLAIN(name, ...)	{ "mcast." name, test_plain, &(const struct join){ __VA_ARGS__ } }
#define IN(name, where)		{ "mcast.in." name, test_in_state, &(const enum reach){ where } }

const struct cmp_case mcast_cases[] = {
	PLAIN("udp", RDMA_PS_UDP, ADDR, GROUP, 0),
	PLAIN("udp_qp", RDMA_PS_UDP, ADDR, GROUP, 1),
	PLAIN("udp_v6_source", RDMA_PS_UDP, ADDR_6, GROUP, 1),
	PLAIN("ipoib", RDMA_PS_IPOIB, ADDR, GROUP, 0),
	PLAIN("ipoib_qp", RDMA_PS_IPOIB, ADDR, GROUP, 1),
	PLAIN("tcp", RDMA_PS_TCP, ADDR, GROUP, 0),
	PLAIN("tcp_qp", RDMA_PS_TCP, ADDR, GROUP, 1),
	PLAIN("ps_ib", RDMA_PS_IB, ADDR, GROUP, 0),
	PLAIN("unbound", RDMA_PS_UDP, NULL, GROUP, 0),
	PLAIN("wildcard", RDMA_PS_UDP, "0.0.0.0", GROUP, 0),
	PLAIN("loopback", RDMA_PS_UDP, "127.0.0.1", GROUP, 0),
	PLAIN("v6", RDMA_PS_UDP, ADDR_6, GROUP_6, 0),
	PLAIN("v6_qp", RDMA_PS_UDP, ADDR_6, GROUP_6, 1),
	PLAIN("v6_v4_source", RDMA_PS_UDP, ADDR, GROUP_6, 1),
	PLAIN("v6_linklocal_group", RDMA_PS_UDP, ADDR_6, "ff02::7701", 0),
	PLAIN("v6_ipoib", RDMA_PS_IPOIB, ADDR_6, GROUP_6, 0),
	PLAIN("v6_unicast", RDMA_PS_UDP, ADDR_6, "fd77::99", 0),
	PLAIN("v6_any", RDMA_PS_UDP, ADDR_6, "::", 0),
	PLAIN("unicast", RDMA_PS_UDP, ADDR, GHOST, 0),
	PLAIN("unicast_qp", RDMA_PS_UDP, ADDR, GHOST, 1),
	PLAIN("any", RDMA_PS_UDP, ADDR, "0.0.0.0", 0),
	PLAIN("broadcast", RDMA_PS_UDP, ADDR, "255.255.255.255", 0),
	PLAIN("all_hosts", RDMA_PS_UDP, ADDR, "224.0.0.1", 1),
	PLAIN("local_block", RDMA_PS_UDP, ADDR, "224.0.0.251", 0),
	{ "mcast.twice", test_twice, &(const int){ 0 } },
	{ "mcast.twice_qp", test_twice, &(const int){ 1 } },
	{ "mcast.two_groups", test_two_groups, NULL },
	{ "mcast.two_ids", test_two_ids, NULL },
	{ "mcast.not_joined", test_not_joined, NULL },
	{ "mcast.leave_early", test_leave_early, &(const int){ 0 } },
	{ "mcast.leave_early_qp", test_leave_early, &(const int){ 1 } },
	{ "mcast.qp_later", test_qp_later, NULL },
	{ "mcast.attached_later", test_attached_later, NULL },
	{ "mcast.own_attach", test_own_attach, NULL },
	{ "mcast.destroy_joined", test_with_groups, NULL },
	{ "mcast.destroy_unfetched", test_unfetched, NULL },
	{ "mcast.qp_first_gone", test_qp_first_gone, NULL },
	{ "mcast.resolved", test_resolved, NULL },
	{ "mcast.udp_states", test_udp_states, NULL },
	{ "mcast.extended", test_extended, &(const int){ 0 } },
	{ "mcast.extended_qp", test_extended, &(const int){ 1 } },
	{ "mcast.group_port", test_group_port, NULL },
	{ "mcast.attach_fails", test_attach_fails, NULL },
	{ "mcast.families", test_families, NULL },
	{ "mcast.many", test_many, NULL },
	IN("idle", IDLE),
	IN("bound", BOUND),
	IN("routed", ROUTED),
	IN("connected", CONNECTED),
	{ }
};
