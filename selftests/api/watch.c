// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Changes of a link layer address on the path of an id. The suite has added 10.77.0.97, a
 * neighbour without a host, and a bond of ba and bb with the address 10.81.0.1.
 */
#include <stdlib.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "api.h"

/* Writes a line into the trace, between which the suite counts the work items. */
static void trace_mark(const char *line)
{
	file_write("/sys/kernel/tracing/trace_marker", "%s", line);
}

static void test_peer_moves(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch, *other, *moved;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	long changed, timeouts;

	id_resolve(ch, id, "10.77.0.97", 7601);
	changed = port_stat_get(id, "addr_changed");
	timeouts = port_stat_get(id, "connect_timeouts");
	WANT(!rdma_connect(id, &par));
	/* an id with another peer */
	id = new_id(&other, RDMA_PS_TCP);
	id_resolve(other, id, "10.77.0.99", 7601);
	WANT(!rdma_connect(id, &par));
	trace_mark("peer: begin");
	/* not a peer, or no change: the suite checks that no work was queued for these */
	WANT(!system("ip neigh replace 10.77.0.98 lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(!system("ip neigh replace 10.81.0.97 lladdr 02:00:00:00:00:96 dev bond1 nud permanent"));
	WANT(!system("ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud noarp"));
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 1);
	WANT(port_stat_get(id, "connect_timeouts") == timeouts);
	/* ids with two addresses of one peer: the suite checks that one work item was queued */
	id = new_id(&moved, RDMA_PS_TCP);
	id_resolve(moved, id, "10.77.0.97", 7601);
	WANT(!rdma_connect(id, &par));
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:95 dev d0 nud permanent"));
	WANT(event_expect(moved, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 3);
	/* an id that has not fetched its event gets no other one, and none is made for it */
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:94 dev d0 nud permanent"));
	WANT(event_expect(moved, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 4);
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(ch, 0));
	trace_mark("peer: end");
}

#define EARLY "10.77.0.95"

/* The path has the address that the peer has when the route is resolved, not an older one. */
static void test_peer_moves_early(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!system("ip neigh replace " EARLY " lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(!id_resolve_addr(id, NULL, EARLY, 7604));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh replace " EARLY " lladdr 02:00:00:00:00:95 dev d0 nud permanent"));
	WANT(!event_next(ch, 100));
	WANT(!id_resolve_route(id));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
	/* the older address is a change now */
	WANT(!system("ip neigh replace " EARLY " lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!system("ip neigh del " EARLY " dev d0"));
}

#define WAITED "10.77.0.96"

/* One id waits for a neighbour that is the peer of another one, and both get their event. */
static void test_wait_and_watch(void)
{
	struct rdma_event_channel *ch, *late;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!system("ip neigh replace " WAITED " lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	id_resolve(ch, id, WAITED, 7603);
	WANT(!system("ip neigh del " WAITED " dev d0"));
	WANT(!event_next(ch, 0));
	id = new_id(&late, RDMA_PS_TCP);
	/* longer than event_expect() waits */
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(WAITED, 7603), slow_time(25000)));
	WANT(!event_next(late, 100));
	WANT(!system("ip neigh replace " WAITED " lladdr 02:00:00:00:00:95 dev d0 nud permanent"));
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_expect(late, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!rdma_resolve_route(id, 2000));
	WANT(!event_expect(late, RDMA_CM_EVENT_ROUTE_RESOLVED));
	/* both watch it now */
	WANT(!system("ip neigh replace " WAITED " lladdr 02:00:00:00:00:94 dev d0 nud permanent"));
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(event_expect(late, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!event_next(ch, 0) && !event_next(late, 0));
	WANT(!system("ip neigh del " WAITED " dev d0"));
}

/* A bond that no id uses. The suite checks that no work was queued for it. */
static void unused_bond_fail_over(void)
{
	int i;

	WANT(!system("ip link add bond2 type bond mode active-backup"));
	WANT(!system("ip link add bc type dummy && ip link set bc master bond2"));
	WANT(!system("ip link add bd type dummy && ip link set bd master bond2"));
	WANT(!system("ip link set bond2 up"));
	for (i = 0; i < 5; i++) {
		WANT(!system("ip link set bond2 type bond active_slave bc"));
		WANT(!system("ip link set bond2 type bond active_slave bd"));
	}
	WANT(!system("ip link del bc; ip link del bd; ip link del bond2"));
}

/* Takes the link in use down when the other one is up, so that the bond moves to that one. */
static void bond_fail_over(void)
{
	WANT(!system("ip link set ba up && ip link set bb up"));
	/* the bond looks at its links every 50 ms. The time limit of the case ends the loop */
	while (!system("cat /sys/class/net/b[ab]/bonding_slave/mii_status | grep -qv up"))
		usleep(20000);
	WANT(!system("ip link set $(cat /sys/class/net/bond1/bonding/active_slave) down"));
}

/*
 * When a bond fails over, ib_core removes the GIDs of its addresses and adds them again, in a work
 * item. It handles changes in order, so that the GID of an address that is added now comes last.
 */
static void bond_wait_gids(void)
{
	static const char find[] =
		"cd /sys/class/infiniband/rxe1/ports/1/gids && grep -qs ffff:0a51:0009 ? ??";

	WANT(!system("ip addr add 10.81.0.9/24 dev bond1"));
	while (system(find))
		usleep(20000);
	WANT(!system("ip addr del 10.81.0.9/24 dev bond1"));
	while (!system(find))
		usleep(20000);
}

static void test_bond_fails_over(void)
{
	struct rdma_event_channel *ch, *other, *resolved, *gone;
	struct rdma_cm_id *id;

	need_rig();
	trace_mark("bond: begin");
	new_bound_id(&ch, RDMA_PS_TCP, "10.81.0.1");
	new_bound_id(&other, RDMA_PS_TCP, "10.77.0.1");
	id = new_id(&resolved, RDMA_PS_TCP);
	id_resolve(resolved, id, "10.81.0.1", 7602);
	WANT(!rdma_destroy_id(new_bound_id(&gone, RDMA_PS_TCP, "10.81.0.1")));
	unused_bond_fail_over();
	WANT(!event_next(ch, 100));
	bond_fail_over();
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!event_expect(resolved, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!event_next(other, 100));
	trace_mark("bond: end");
}

/*
 * The bond moves away from a link and back to it. An id keeps the address that it was bound to, so
 * that the second change concerns only the id that was bound after the first one.
 */
static void test_bond_fails_over_twice(void)
{
	struct rdma_event_channel *ch, *later;

	need_rig();
	new_bound_id(&ch, RDMA_PS_TCP, "10.81.0.1");
	bond_fail_over();
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_CHANGE));
	bond_wait_gids();
	new_bound_id(&later, RDMA_PS_TCP, "10.81.0.1");
	bond_fail_over();
	WANT(!event_expect(later, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!event_next(ch, 100));
	/* and once more: the id has fetched the event of the first change */
	bond_fail_over();
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!event_next(later, 100));
}

static struct rdma_cm_id *listen_on(struct rdma_event_channel *ch, int port)
{
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(id, ip_addr("10.81.0.1", port)) && !rdma_listen(id, 8));
	return id;
}

/* A server replaces its listener when the address of the bond has changed. */
static void test_listen_again(void)
{
	struct pair p = { .param = plain };
	int port;

	need_rig();
	p.lch = rdma_create_event_channel();
	WANT(p.lch);
	p.listener = listen_on(p.lch, 0);
	port = ntohs(rdma_get_src_port(p.listener));
	bond_fail_over();
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!rdma_destroy_id(p.listener));
	bond_wait_gids();
	p.listener = listen_on(p.lch, port);
	p.id = new_id(&p.ch, RDMA_PS_TCP);
	id_resolve(p.ch, p.id, "10.81.0.1", port);
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_disconnect(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
}

const struct test watch_tests[] = {
	{ "the peer gets another MAC address", test_peer_moves },
	{ "the peer gets another MAC address before the route is resolved", test_peer_moves_early },
	{ "an id waits for the peer of another one", test_wait_and_watch },
	{ "a bond fails over", test_bond_fails_over },
	{ "a bond fails over twice", test_bond_fails_over_twice },
	{ "a server listens again after ADDR_CHANGE", test_listen_again },
	{}
};
