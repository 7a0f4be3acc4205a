// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_join_multicast() and its kin. */
#include "util.h"

struct join {
	enum rdma_port_space ps;
	const char *bind, *group;
	int with_qp;
};

static struct rdma_event_channel *ch;

static int do_join(struct rdma_cm_id *id, const char *group, void *context)
{
	return CALL(rdma_join_multicast(id, ip(group, 0), context), "join %s %s", idname(id),
		    group);
}

static int do_leave(struct rdma_cm_id *id, const char *group)
{
	return CALL(rdma_leave_multicast(id, ip(group, 0)), "leave %s %s", idname(id), group);
}

static struct rdma_cm_id *member(const char *name, enum rdma_port_space ps, const char *addr,
				 int with_qp)
{
	struct rdma_cm_id *id;

	if (!ch)
		ch = mkchan();
	id = mkid(ch, name, ps);
	if (addr)
		do_bind(id, addr, 0);
	if (with_qp && id->verbs)
		mkqp(id, ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD);
	return id;
}

static void done(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	rmid(id);
}

static void plain(const void *arg)
{
	const struct join *j = arg;
	struct rdma_cm_id *id = member("id", j->ps, j->bind, j->with_qp);

	if (!do_join(id, j->group, "plain"))
		ev(ch);
	show_id(id);
	do_leave(id, j->group);
	do_leave(id, j->group);
	done(id);
}

static void twice(const void *arg)
{
	const int *with_qp = arg;
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, *with_qp);

	if (!do_join(id, GROUP, "first"))
		ev(ch);
	if (!do_join(id, GROUP, "second"))
		ev(ch);
	do_leave(id, GROUP);
	do_leave(id, GROUP);
	do_leave(id, GROUP);
	done(id);
}

static void two_groups(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 1);

	(void)arg;
	do_join(id, GROUP, "first");
	ev(ch);
	do_join(id, GROUP_2, "second");
	ev(ch);
	do_leave(id, GROUP);
	do_leave(id, GROUP);
	do_leave(id, GROUP_2);
	done(id);
}

static void two_ids(const void *arg)
{
	struct rdma_cm_id *a, *b;

	(void)arg;
	a = member("a", RDMA_PS_UDP, ADDR, 1);
	b = member("b", RDMA_PS_UDP, ADDR, 1);
	do_join(a, GROUP, "of a");
	ev(ch);
	do_join(b, GROUP, "of b");
	ev(ch);
	do_leave(a, GROUP);
	do_leave(a, GROUP);
	do_leave(b, GROUP);
	done(a);
	done(b);
}

static void not_joined(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);

	(void)arg;
	do_leave(id, GROUP);
	do_join(id, GROUP, "one");
	do_leave(id, GROUP_2);
	ev(ch);
	do_leave(id, GROUP);
	do_leave(id, GROUP_6);
	CALL(rdma_leave_multicast(id, NULL), "leave NULL");
	done(id);
}

/* Left before the event was fetched: it goes, too. */
static void leave_early(const void *arg)
{
	const int *with_qp = arg;
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, *with_qp);

	do_join(id, GROUP, "early");
	ev_ready(ch, 1000);
	do_leave(id, GROUP);
	ev_none(ch);
	done(id);
}

/* The QP is attached when the event is fetched; one made afterwards is not. */
static void qp_later(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);

	(void)arg;
	do_join(id, GROUP, "before");
	ev(ch);
	mkqp(id, IBV_QPT_UD);
	show_qp(id->qp);
	do_leave(id, GROUP);
	do_join(id, GROUP, "after");
	ev(ch);
	do_leave(id, GROUP);
	done(id);
}

static void joined(union ibv_gid *gid, int *lid)
{
	struct rdma_cm_event *event = ev_raw(ch, 5000);

	if (!event)
		return;
	show_event(event);
	*gid = event->param.ud.ah_attr.grh.dgid;
	*lid = event->param.ud.ah_attr.dlid;
	rdma_ack_cm_event(event);
}

/* The program attaches a QP that was made after the join. Leaving detaches it. */
static void attached_later(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);
	union ibv_gid gid = { };
	int lid = 0;

	(void)arg;
	do_join(id, GROUP, "before");
	joined(&gid, &lid);
	mkqp(id, IBV_QPT_UD);
	CALL(ibv_attach_mcast(id->qp, &gid, lid), "attach");
	do_leave(id, GROUP);
	CALL(ibv_detach_mcast(id->qp, &gid, lid), "detach");
	done(id);
}

static void own_attach(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);
	union ibv_gid gid = { };
	struct ibv_qp *qp;
	int lid = 0;

	(void)arg;
	qp = ext_qp(id, IBV_QPT_UD, "own");
	do_join(id, GROUP, "own");
	joined(&gid, &lid);
	ext_modify(id, qp, IBV_QPS_INIT);
	CALL(ibv_attach_mcast(qp, &gid, lid), "attach");
	CALL(ibv_detach_mcast(qp, &gid, lid), "detach");
	do_leave(id, GROUP);
	rmid(id);
}

static void with_groups(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 1);
	static const char *const groups[] = { GROUP, GROUP_2, "239.77.0.3", "239.77.0.4" };
	size_t i;

	(void)arg;
	/* one by one: an SA answers in whatever order */
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		do_join(id, groups[i], "many");
		ev(ch);
	}
	done(id);
	ev_none(ch);
}

static void unfetched(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 1);

	(void)arg;
	do_join(id, GROUP, "one");
	do_join(id, GROUP_2, "two");
	done(id);
	ev_none(ch);
}

static void qp_first_gone(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 1);

	(void)arg;
	do_join(id, GROUP, "one");
	ev(ch);
	rdma_destroy_qp(id);
	do_leave(id, GROUP);
	rmid(id);
}

static void resolved(const void *arg)
{
	static const char *const src[] = { ADDR, NULL };
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(src); i++) {
		id = member("id", RDMA_PS_UDP, NULL, 0);
		if (!do_resolve(id, src[i], GROUP, PORT))
			ev(ch);
		show_id(id);
		mkqp(id, IBV_QPT_UD);
		if (!do_join(id, GROUP, "resolved"))
			ev(ch);
		do_leave(id, GROUP);
		done(id);
	}
}

static void in_state(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	if (!do_join(id, GROUP, "tcp"))
		ev(id->channel);
	do_leave(id, GROUP);
	duo_end(&d);
}

/* A UDP id that talks to a peer. */
static void udp_states(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_UDP);
	if (!do_join(d.lst, GROUP, "listener"))
		ev(d.cl);
	if (!do_join(d.cli, GROUP, "routed"))
		ev(d.cc);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	mkqp(d.srv, IBV_QPT_UD);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	if (!do_join(d.cli, GROUP, "connected"))
		ev(d.cc);
	if (!do_join(d.srv, GROUP, "accepted"))
		ev(d.cl);
	do_leave(d.cli, GROUP);
	do_leave(d.srv, GROUP);
	duo_end(&d);
}

static void extended(const void *arg)
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
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, *with_qp);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		struct rdma_cm_join_mc_attr_ex attr = {
			.comp_mask = tried[i].mask,
			.join_flags = tried[i].flags,
			.addr = tried[i].addr ? ip(tried[i].addr, 0) : NULL,
		};

		if (CALL(rdma_join_multicast_ex(id, &attr, "extended"),
			 "join_ex mask=%#x flags=%u %s", tried[i].mask, tried[i].flags,
			 tried[i].addr ? tried[i].addr : "NULL"))
			continue;
		ev(ch);
		if (tried[i].addr)
			do_leave(id, tried[i].addr);
	}
	done(id);
}

/* The port in a group's address takes part in nothing, or does it? */
static void group_port(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);

	(void)arg;
	CALL(rdma_join_multicast(id, ip(GROUP, 5), "five"), "join port 5");
	ev(ch);
	CALL(rdma_leave_multicast(id, ip(GROUP, 6)), "leave port 6");
	CALL(rdma_leave_multicast(id, ip(GROUP, 5)), "leave port 5");
	done(id);
}

static void families(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);
	struct sockaddr_storage ss = { .ss_family = 99 };

	(void)arg;
	CALL(rdma_join_multicast(id, NULL, NULL), "join NULL");
	CALL(rdma_join_multicast(id, (struct sockaddr *)&ss, NULL), "join family 99");
	if (!CALL(rdma_join_multicast(id, ib_addr(0), "native"), "join AF_IB"))
		ev(ch);
	done(id);
}

static void many(const void *arg)
{
	struct rdma_cm_id *id = member("id", RDMA_PS_UDP, ADDR, 0);
	char group[32];
	int i, joined = 0, left = 0;

	(void)arg;
	quiet++;
	for (i = 0; i < 64; i++) {
		snprintf(group, sizeof(group), "239.78.0.%d", i + 1);
		if (!do_join(id, group, "many"))
			joined += ev(ch) == RDMA_CM_EVENT_MULTICAST_JOIN;
	}
	for (i = 64; i--;) {
		snprintf(group, sizeof(group), "239.78.0.%d", i + 1);
		left += !do_leave(id, group);
	}
	quiet--;
	say("joined %d left %d", joined, left);
	done(id);
}

#define PLAIN(name, ...)	{ "mcast." name, plain, &(const struct join){ __VA_ARGS__ } }
#define IN(name, where)		{ "mcast.in." name, in_state, &(const enum reach){ where } }

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
	{ "mcast.twice", twice, &(const int){ 0 } },
	{ "mcast.twice_qp", twice, &(const int){ 1 } },
	{ "mcast.two_groups", two_groups, NULL },
	{ "mcast.two_ids", two_ids, NULL },
	{ "mcast.not_joined", not_joined, NULL },
	{ "mcast.leave_early", leave_early, &(const int){ 0 } },
	{ "mcast.leave_early_qp", leave_early, &(const int){ 1 } },
	{ "mcast.qp_later", qp_later, NULL },
	{ "mcast.attached_later", attached_later, NULL },
	{ "mcast.own_attach", own_attach, NULL },
	{ "mcast.destroy_joined", with_groups, NULL },
	{ "mcast.destroy_unfetched", unfetched, NULL },
	{ "mcast.qp_first_gone", qp_first_gone, NULL },
	{ "mcast.resolved", resolved, NULL },
	{ "mcast.udp_states", udp_states, NULL },
	{ "mcast.extended", extended, &(const int){ 0 } },
	{ "mcast.extended_qp", extended, &(const int){ 1 } },
	{ "mcast.group_port", group_port, NULL },
	{ "mcast.families", families, NULL },
	{ "mcast.many", many, NULL },
	IN("idle", IDLE),
	IN("bound", BOUND),
	IN("routed", ROUTED),
	IN("connected", CONNECTED),
	{ }
};
