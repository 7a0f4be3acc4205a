// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_bind_addr(): the addresses and ports that can be bound, and conflicts between ids. */
#define _GNU_SOURCE
#include "util.h"
#include <endian.h>
#include <sched.h>
#include <sys/socket.h>
#include <infiniband/ib.h>

/*
 * The user that binds. The last two run in namespaces that a user has created; NS_LOW has the local
 * port range 800 to 899.
 */
enum who { ROOT, USER, NS_ROOT, NS_LOW };

struct one {
	const char *addr;
	int port;
	enum rdma_port_space ps;
	enum who who;
};

/*
 * struct two - the steps of two ids: R sets REUSEADDR, O sets AFONLY, o clears AFONLY, B binds, L
 * listens, D destroys
 */
struct two {
	const char *a_steps, *a_addr;
	const char *b_steps, *b_addr;
	enum rdma_port_space a_ps, b_ps;
};

static void sysctl_set(const char *name, const char *value)
{
	FILE *f = fopen(name, "w");

	if (!f || fputs(value, f) < 0 || fclose(f))
		tap_note_print("%s: %s", name, strerror(errno));
}

static void test_single(const void *arg)
{
	const struct one *o = arg;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	if (o->who != ROOT)
		CALL(setuid(65534), "setuid");
	if (o->who >= NS_ROOT)
		CALL(unshare(CLONE_NEWUSER | CLONE_NEWNET), "unshare");
	if (o->who == NS_LOW) {
		sysctl_set("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
		sysctl_set("/proc/sys/net/ipv4/ip_local_port_range", "800 899");
	}
	ch = channel_create();
	id = id_create(ch, "id", o->ps ? o->ps : RDMA_PS_TCP);
	id_bind(id, o->addr, o->port);
	show_id(id);
	show_ports(id);
	id_listen(id, 1);
	show_id(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void id_run_steps(struct rdma_cm_id *id, const char *step, const char *addr)
{
	int one = 1, zero = 0;

	for (; *step; step++) {
		switch (*step) {
		case 'R':
			CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one,
					     sizeof(one)), "reuseaddr %s", id_name(id));
			break;
		case 'O':
			CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one,
					     sizeof(one)), "afonly %s", id_name(id));
			break;
		case 'o':
			CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &zero,
					     sizeof(zero)), "not afonly %s", id_name(id));
			break;
		case 'B':
			id_bind(id, addr, PORT);
			break;
		case 'L':
			id_listen(id, 2);
			break;
		}
	}
}

static void test_two(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	const struct two *p = arg;
	struct rdma_cm_id *a, *b;

	a = id_create(ch, "a", p->a_ps ? p->a_ps : RDMA_PS_TCP);
	b = id_create(ch, "b", p->b_ps ? p->b_ps : RDMA_PS_TCP);
	id_run_steps(a, p->a_steps, p->a_addr);
	id_run_steps(b, p->b_steps, p->b_addr);
	show_id(b);
	id_destroy(a);
	id_run_steps(b, p->b_steps, p->b_addr);
	id_destroy(b);
	rdma_destroy_event_channel(ch);
}

static void test_again(const void *arg)
{
	static const char *const first[] = { ADDR, ADDR_6, "0.0.0.0", NORDMA };
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(first); i++) {
		id = id_create(ch, "id", RDMA_PS_TCP);
		id_bind(id, first[i], PORT);
		id_bind(id, ADDR, PORT + 1);
		show_id(id);
		id_destroy(id);
	}
	rdma_destroy_event_channel(ch);
}

static void test_in_state(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	id_bind(id, ADDR, PORT + 1);
	id_bind(id, "0.0.0.0", 0);
	show_ports(id);
	pair_close(&d);
}

static void test_families(const void *arg)
{
	static const int tried[] = { 0, AF_UNIX, AF_PACKET, AF_NETLINK, 99, 65535 };
	struct rdma_event_channel *ch = channel_create();
	struct sockaddr_storage ss;
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	CALL(rdma_bind_addr(id, NULL), "bind NULL");
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		memset(&ss, 0, sizeof(ss));
		ss.ss_family = tried[i];
		CALL(rdma_bind_addr(id, (struct sockaddr *)&ss), "bind family %d", tried[i]);
	}
	show_id(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_native(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB };
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = id_create(ch, "id", tried[i]);
		CALL(rdma_bind_addr(id, ib_addr(PORT)), "bind AF_IB");
		show_id(id);
		id_listen(id, 1);
		id_destroy(id);
	}
	rdma_destroy_event_channel(ch);
}

/* Binds to the GID of the port and to the service ID of an IP listener on PORT in RDMA_PS_TCP. */
static int id_bind_native(struct rdma_cm_id *id, struct rdma_event_channel *ch)
{
	return CALL(rdma_bind_addr(id, ib_addr_local(ch, PORT)), "bind %s AF_IB", id_name(id));
}

/*
 * One id listens on the GID of the port, the other one on its IP address. The trace shows which of
 * them gets a request to the IP address.
 */
static void test_native_beside(const void *arg)
{
	const char *order = arg;
	struct rdma_cm_event *event;
	struct rdma_cm_id *native;
	struct pair d;

	pair_init(&d);
	d.qp_create = NULL;
	d.listener = id_create(d.lch, "lst", RDMA_PS_TCP);
	native = id_create(d.lch, "native", RDMA_PS_TCP);
	for (; *order; order++) {
		if (*order == 'n' ? id_bind_native(native, d.lch) : id_bind(d.listener, ADDR, PORT))
			goto out;
		id_listen(*order == 'n' ? native : d.listener, 1);
	}
	pair_route(&d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	/* not traced, because an AF_IB listener sees the CMA header, which has an ephemeral port */
	event = event_fetch(d.lch, 5000);
	tap_note_print("the request is for %s", event ? id_name(event->listen_id) : "nobody");
	if (event) {
		d.child = event->id;
		id_label(d.child, "srv");
		rdma_ack_cm_event(event);
	}
out:
	id_destroy(native);
	pair_close(&d);
}

/* Ephemeral ports: chosen at the bind, distinct, and free again after the destroy. */
static void test_ephemeral(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id[64];
	size_t i, j, same = 0;

	(void)arg;
	quiet++;
	for (i = 0; i < ARRAY_SIZE(id); i++) {
		id[i] = id_create(ch, "id", RDMA_PS_TCP);
		id_bind(id[i], ADDR, 0);
		for (j = 0; j < i; j++)
			same += rdma_get_src_port(id[i]) == rdma_get_src_port(id[j]);
	}
	show_ports(id[0]);
	tap_note_print("%zu equal ports", same);
	for (i = 0; i < ARRAY_SIZE(id); i++)
		id_destroy(id[i]);
	quiet--;
	rdma_destroy_event_channel(ch);
}

static void test_free_again(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		id = id_create(ch, "id", RDMA_PS_TCP);
		id_bind(id, ADDR, PORT);
		id_listen(id, 1);
		id_destroy(id);
	}
	rdma_destroy_event_channel(ch);
}

/* A failed bind must leave the id usable. */
static void test_after_failure(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, FOREIGN, PORT);
	show_id(id);
	id_bind(id, NORDMA, PORT);
	show_id(id);
	id_bind(id, ADDR, PORT);
	show_id(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

#define ONE(name, ...)	{ "bind." name, test_single, &(const struct one){ __VA_ARGS__ } }
#define TWO(name, ...)	{ "bind.two." name, test_two, &(const struct two){ __VA_ARGS__ } }
#define IN(name, where)	{ "bind.in." name, test_in_state, &(const enum reach){ where } }

const struct cmp_case bind_cases[] = {
	ONE("v4", ADDR, PORT),
	ONE("v4_second", ADDR_2, PORT),
	ONE("v4_port0", ADDR, 0),
	ONE("v4_any", "0.0.0.0", PORT),
	ONE("v4_any_port0", "0.0.0.0", 0),
	ONE("v4_loopback", "127.0.0.1", PORT),
	ONE("v4_loopback_2", "127.0.0.2", PORT),
	ONE("v4_unknown", FOREIGN, PORT),
	ONE("v4_same_subnet", ABSENT, PORT),
	ONE("v4_no_rdma", NORDMA, PORT),
	ONE("v4_broadcast", "255.255.255.255", PORT),
	ONE("v4_multicast", GROUP, PORT),
	ONE("v4_multicast_udp", GROUP, PORT, RDMA_PS_UDP),
	ONE("v6", ADDR_6, PORT),
	ONE("v6_port0", ADDR_6, 0),
	ONE("v6_any", "::", PORT),
	ONE("v6_any_port0", "::", 0),
	ONE("v6_loopback", "::1", PORT),
	ONE("v6_unknown", "fd99::1", PORT),
	ONE("v6_mapped", "::ffff:" ADDR, PORT),
	ONE("v6_linklocal", ADDR_LL "%" DEV, PORT),
	ONE("v6_linklocal_no_scope", ADDR_LL, PORT),
	ONE("v6_linklocal_wrong_scope", ADDR_LL "%lo", PORT),
	ONE("v6_linklocal_unknown", "fe80::1234%" DEV, PORT),
	ONE("v6_global_with_scope", ADDR_6 "%" DEV, PORT),
	ONE("v6_multicast_udp", GROUP_6, PORT, RDMA_PS_UDP),
	ONE("port_1_root", ADDR, 1),
	ONE("port_1023_root", ADDR, 1023),
	ONE("port_65535", ADDR, 65535),
	ONE("port_1_user", ADDR, 1, RDMA_PS_TCP, USER),
	ONE("port_1023_user", ADDR, 1023, RDMA_PS_TCP, USER),
	ONE("port_1024_user", ADDR, 1024, RDMA_PS_TCP, USER),
	ONE("port_1023_user_udp", "0.0.0.0", 1023, RDMA_PS_UDP, USER),
	ONE("port_1023_ns_root", "0.0.0.0", 1023, RDMA_PS_TCP, NS_ROOT),
	ONE("port_1024_ns_root", "0.0.0.0", 1024, RDMA_PS_TCP, NS_ROOT),
	ONE("port_0_ns_low", "0.0.0.0", 0, RDMA_PS_TCP, NS_LOW),
	ONE("port_0_user", ADDR, 0, RDMA_PS_TCP, USER),
	ONE("udp", ADDR, PORT, RDMA_PS_UDP),
	ONE("ipoib", ADDR, PORT, RDMA_PS_IPOIB),
	ONE("ipoib_any", "0.0.0.0", PORT, RDMA_PS_IPOIB),
	ONE("ps_ib", ADDR, PORT, RDMA_PS_IB),
	ONE("ps_ib_port0", ADDR, 0, RDMA_PS_IB),
	TWO("same", "B", ADDR, "B", ADDR),
	TWO("other_address", "B", ADDR, "B", ADDR_2),
	TWO("other_address_listen", "BL", ADDR, "BL", ADDR_2),
	TWO("any_then_one", "B", "0.0.0.0", "B", ADDR),
	TWO("one_then_any", "B", ADDR, "B", "0.0.0.0"),
	TWO("loopback_then_one", "B", "127.0.0.1", "B", ADDR),
	TWO("v4_then_v6", "B", ADDR, "B", ADDR_6),
	TWO("v4_then_v6_listen", "BL", ADDR, "BL", ADDR_6),
	TWO("any4_then_any6", "B", "0.0.0.0", "B", "::"),
	TWO("any6_then_any4", "B", "::", "B", "0.0.0.0"),
	TWO("any4_then_any6_only", "B", "0.0.0.0", "OB", "::"),
	TWO("any6_only_then_any4", "OB", "::", "B", "0.0.0.0"),
	TWO("any6_only_then_any4_listen", "OBL", "::", "BL", "0.0.0.0"),
	TWO("any4_then_any6_late", "B", "0.0.0.0", "OBo", "::"),
	TWO("any4_then_any6_late_listen", "BL", "0.0.0.0", "OBoL", "::"),
	TWO("one4_then_any6_late_listen", "BL", ADDR, "OBoL", "::"),
	TWO("any6_only_late", "B", ADDR_2, "OBoL", ADDR_6),
	TWO("any6_then_one4", "B", "::", "B", ADDR),
	TWO("any6_only_then_one4", "OB", "::", "B", ADDR),
	TWO("one4_then_any6", "B", ADDR, "B", "::"),
	TWO("one4_then_any6_only", "B", ADDR, "OB", "::"),
	TWO("any6_only_twice", "OB", "::", "OB", "::"),
	TWO("mapped_then_one4", "B", "::ffff:" ADDR, "B", ADDR),
	TWO("reuse_both", "RB", ADDR, "RB", ADDR),
	TWO("reuse_first", "RB", ADDR, "B", ADDR),
	TWO("reuse_second", "B", ADDR, "RB", ADDR),
	TWO("reuse_both_listen_first", "RBL", ADDR, "RB", ADDR),
	TWO("reuse_both_listen_second", "RB", ADDR, "RBL", ADDR),
	TWO("reuse_both_listen_both", "RBL", ADDR, "RBL", ADDR),
	TWO("reuse_late", "BR", ADDR, "RB", ADDR),
	TWO("reuse_any", "RB", "0.0.0.0", "RB", ADDR),
	TWO("reuse_any_listen", "RBL", "0.0.0.0", "RBL", ADDR),
	TWO("reuse_any6_any4", "RB", "::", "RB", "0.0.0.0"),
	TWO("linklocal", "B", ADDR_LL "%" DEV, "B", ADDR_LL "%" DEV),
	TWO("linklocal_global", "B", ADDR_LL "%" DEV, "B", ADDR_6),
	TWO("tcp_udp", "B", ADDR, "B", ADDR, RDMA_PS_TCP, RDMA_PS_UDP),
	TWO("udp_ipoib", "B", ADDR, "B", ADDR, RDMA_PS_UDP, RDMA_PS_IPOIB),
	TWO("tcp_ib", "B", ADDR, "B", ADDR, RDMA_PS_TCP, RDMA_PS_IB),
	TWO("udp_same", "B", ADDR, "B", ADDR, RDMA_PS_UDP, RDMA_PS_UDP),
	TWO("listen_unbound", "L", ADDR, "L", ADDR),
	TWO("listen_twice", "BLL", ADDR, "B", ADDR),
	{ "bind.again", test_again, NULL },
	{ "bind.families", test_families, NULL },
	{ "bind.af_ib", test_native, NULL },
	{ "bind.af_ib_then_ip", test_native_beside, "ni" },
	{ "bind.ip_then_af_ib", test_native_beside, "in" },
	{ "bind.af_ib_alone", test_native_beside, "n" },
	{ "bind.ephemeral", test_ephemeral, NULL },
	{ "bind.free_again", test_free_again, NULL },
	{ "bind.after_failure", test_after_failure, NULL },
	IN("addressed", ADDRESSED),
	IN("routed", ROUTED),
	IN("listening", LISTENING),
	IN("requested", REQUESTED),
	IN("connected", CONNECTED),
	IN("disconnected", DISCONNECTED),
	{ }
};
