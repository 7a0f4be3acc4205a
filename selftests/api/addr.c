// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address resolution with an unknown neighbour or a full neighbour table, AF_IB wildcards, devices
 * without a node GUID, and hosts without IPv6.
 */
#include <net/if.h>
#include <stdlib.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include "../lib/address.h"
#include "../lib/slow.h"
#include "api.h"

#define LATE "10.77.0.98"
/* longer than event_expect() waits, so that the lookup at the end of the timeout does not help */
#define PATIENT slow_time(25000)

/* Repeats a command until it succeeds. The time limit of the case ends the loop. */
static void command_repeat(const char *command)
{
	while (system(command))
		usleep(20000);
}

static void test_late_neighbour(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(LATE, 7510), PATIENT));
	command_repeat("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!event_next(ch, 500));
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!rdma_resolve_route(id, 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* more than the notifier wakes at once */
#define WAITERS 100

/* Many ids wait for the same neighbour, and each of them gets its event. */
static void test_many_wait(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *first = new_id(&ch, RDMA_PS_TCP), *id = first;
	int i;

	need_rig();
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	for (i = 0; i < WAITERS; i++) {
		WANT(!i || !rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id, NULL, ip_addr(LATE, 7511), PATIENT));
	}
	/* the last one and the first one no longer wait */
	WANT(!rdma_destroy_id(id));
	WANT(!rdma_destroy_id(first));
	command_repeat("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	for (i = 2; i < WAITERS; i++)
		WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!event_next(ch, 0));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

static void retrans_time_reset(void)
{
	WANT(!system("sysctl -qw net.ipv4.neigh.d0.retrans_time_ms=1000"));
}

/*
 * The neighbour does not answer for a while. One id at a time has it probed again, for all of them,
 * and when this id is destroyed, another one.
 */
static void test_neighbour_fails(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id[3];
	int i;

	need_rig();
	atexit(retrans_time_reset);
	WANT(!system("sysctl -qw net.ipv4.neigh.d0.retrans_time_ms=100"));
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	id[0] = new_id(&ch, RDMA_PS_TCP);
	for (i = 0; i < 3; i++) {
		WANT(!i || !rdma_create_id(ch, &id[i], NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id[i], NULL, ip_addr(LATE, 7512), 4 * PATIENT));
	}
	while (i--) {
		command_repeat("ip neigh show to " LATE " dev d0 | grep -q FAILED");
		WANT(!i || !rdma_destroy_id(id[i]));
		command_repeat("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	}
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* The interface drops its neighbours when its link goes down; permanent ones stay. */
static void test_neighbour_dropped(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(LATE, 7511), 4 * PATIENT));
	command_repeat("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!file_write("/sys/class/net/d0/carrier", "0"));
	/* the kernel handles a change of the carrier up to one second later */
	sleep(2);
	WANT(!file_write("/sys/class/net/d0/carrier", "1"));
	/* the kernel asks for the neighbour again */
	command_repeat("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* Sets the maximum number of neighbours. */
static int thresholds_set(int max)
{
	char path[64];
	int i, ret = 0;

	for (i = 1; i <= 3 && !ret; i++) {
		snprintf(path, sizeof(path), "/proc/sys/net/ipv4/neigh/default/gc_thresh%d", i);
		ret = file_write(path, "%d", max);
	}
	return ret;
}

/* Returns how often the table had no room for a neighbour (column table_fulls). */
static unsigned int table_fulls_get(void)
{
	FILE *f = fopen("/proc/net/stat/arp_cache", "r");
	unsigned int n = 0, v;
	char line[512];

	WANT(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*x %*x %*x %*x %*x %*x %*x %*x %*x %*x %*x %*x %x", &v) == 1)
			n += v;
	fclose(f);
	return n;
}

static void thresholds_reset(void)
{
	thresholds_set(1024);
}

/*
 * Fills the neighbour table. The kernel makes room by removing neighbours that are older than five
 * seconds, so the caller must resolve at once. The last command makes it remove those of earlier
 * suites.
 */
static void table_fill(void)
{
	need_rig();
	atexit(thresholds_reset);
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	WANT(!system("for i in 1 2 3 4; do echo neigh replace 10.77.0.20$i lladdr 02:00:00:00:02:01 dev d0 nud reachable; done | ip -batch -"));
	WANT(!thresholds_set(1));
	system("ip neigh replace 10.77.0.205 lladdr 02:00:00:00:02:01 dev d0 nud reachable 2>/dev/null");
}

/* There is no neighbour entry to wait for, so the lookup is repeated until there is room. */
static void test_full_table(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	unsigned int before;

	table_fill();
	before = table_fulls_get();
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(LATE, 7513), PATIENT));
	WANT(table_fulls_get() > before);
	WANT(!thresholds_set(1024));
	command_repeat("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

#define MANY_QUERIES 500

/* Each lookup makes the kernel search the whole table, so many queries repeat it less often. */
static void test_full_table_many(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	unsigned int before;
	int i;

	table_fill();
	for (i = 0; i < MANY_QUERIES; i++) {
		WANT(i == 0 || !rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id, NULL, ip_addr(LATE, 7513), PATIENT));
	}
	before = table_fulls_get();
	sleep(2);
	tap_note_print("%u in 2 s", table_fulls_get() - before);
	/* an interval of 0.5 s would cause four lookups for each query */
	WANT(table_fulls_get() - before < 2 * MANY_QUERIES);
	WANT(!thresholds_set(1024));
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	for (i = 0; i < MANY_QUERIES; i++)
		WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* The suite iwarp runs this case as well, because iWARP devices have no AF_IB addresses. */
static void test_af_ib_listener(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	struct sockaddr_ib sib = {
		.sib_family = AF_IB,
		.sib_sid = htobe64(RDMA_IB_IP_PS_TCP + 7512),
		.sib_sid_mask = htobe64(~0ULL),
	};

	WANT(!rdma_bind_addr(id, (struct sockaddr *)&sib));
	WANT(!rdma_listen(id, 1));
}

/* A virtual function has no node GUID until an administrator assigns one. */
static void test_no_node_guid(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	no_guid = true;
	id = new_id(&ch, RDMA_PS_TCP);
	id_resolve(ch, id, "10.77.0.1", 7);
	WANT(id->verbs && id->pd && id->port_num == 1);
	id = new_bound_id(&ch, RDMA_PS_TCP, "10.77.0.1");
	WANT(id->verbs && id->pd && id->port_num == 1);
	id = new_bound_id(&ch, RDMA_PS_TCP, "0.0.0.0");
	WANT(!id->verbs && !id->pd && !id->port_num);
}

static bool is_unsupported(int ret)
{
	return ret == -1 && errno == EAFNOSUPPORT;
}

/* No call of a new id takes the address, and afterwards the id takes one of IPv4. */
static void addr_want_unsupported(struct sockaddr_in6 in6, enum rdma_port_space ps)
{
	struct sockaddr *addr = (struct sockaddr *)&in6;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, ps);

	WANT(is_unsupported(rdma_bind_addr(id, addr)));
	WANT(is_unsupported(rdma_resolve_addr(id, NULL, addr, 1000)));
	WANT(is_unsupported(rdma_resolve_addr(id, addr, addr, 1000)));
	WANT(is_unsupported(rdma_resolve_addr(id, addr, ip_addr("10.77.0.1", 7514), 1000)));
	WANT(is_unsupported(rdma_resolve_addr(id, ip_addr("10.77.0.1", 0), addr, 1000)));
	WANT(!rdma_bind_addr(id, ip_addr("10.77.0.1", 0)));
	WANT(is_unsupported(rdma_resolve_addr(id, NULL, addr, 1000)));
	WANT(is_unsupported(rdma_join_multicast(id, addr, NULL)));
	WANT(!event_next(ch, 0));
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void test_no_ipv6(void)
{
	static const char *const tried[] = {
		"fd77::1", "fd00:77::1", "::", "::1", "::ffff:10.77.0.1", "::ffff:0.0.0.0", "fe80::77",
		"ff0e::77", "ff02::1",
	};
	static const enum rdma_port_space spaces[] = {
		RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB,
	};
	struct sockaddr_storage ss;
	size_t i, j;

	need_rig();
	if (socket(AF_INET6, SOCK_DGRAM, 0) >= 0)
		tap_case_skip("this host has IPv6");
	WANT(errno == EAFNOSUPPORT);
	for (i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
		ss = address_parse(tried[i], 7515);
		((struct sockaddr_in6 *)&ss)->sin6_scope_id = if_nametoindex("d0");
		for (j = 0; j < sizeof(spaces) / sizeof(*spaces); j++)
			addr_want_unsupported(*(struct sockaddr_in6 *)&ss, spaces[j]);
	}
}

/* The suite repeats this when the first device has no GID. */
static void test_loopback(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_resolve_addr(id, NULL, ip_addr("127.0.0.1", 7516), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
}

const struct test addr_tests[] = {
	{ "address: a neighbour that answers late", test_late_neighbour },
	{ "address: many wait for one neighbour", test_many_wait },
	{ "address: a neighbour that fails is probed again", test_neighbour_fails },
	{ "address: the interface drops its neighbours", test_neighbour_dropped },
	{ "address: the neighbour table is full", test_full_table },
	{ "address: the neighbour table is full for hundreds", test_full_table_many },
	{ "address: a wildcard of AF_IB", test_af_ib_listener },
	{ "address: loopback", test_loopback },
	{ "a device without a node GUID", test_no_node_guid },
	{ "address: a host without IPv6", test_no_ipv6 },
	{}
};
