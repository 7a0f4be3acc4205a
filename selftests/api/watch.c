// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Changes of a link layer address on the path of an id. The suite has added 10.77.0.97, a
 * neighbour without a host, and a bond of ba and bb with the address 10.81.0.1.
 */
#include <stdlib.h>
#include "api.h"

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
	/* not a peer, or no change: the suite checks that no work was queued for these */
	WANT(!system("ip neigh replace 10.77.0.98 lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(!system("ip neigh replace 10.81.0.97 lladdr 02:00:00:00:00:96 dev bond1 nud permanent"));
	WANT(!system("ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud noarp"));
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!next_event(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 1);
	WANT(port_stat_get(id, "connect_timeouts") == timeouts);
	/* ids with two addresses of one peer: the suite checks that one work item was queued */
	id = new_id(&moved, RDMA_PS_TCP);
	id_resolve(moved, id, "10.77.0.97", 7601);
	WANT(!rdma_connect(id, &par));
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:95 dev d0 nud permanent"));
	WANT(event_expect(moved, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!next_event(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 3);
	/* an id that has not fetched its event gets no other one, and none is made for it */
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:94 dev d0 nud permanent"));
	WANT(event_expect(moved, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!next_event(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 4);
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!next_event(ch, 0));
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

static void test_bond_fails_over(void)
{
	struct rdma_event_channel *ch, *other, *resolved, *gone;
	struct rdma_cm_id *id;

	new_bound_id(&ch, RDMA_PS_TCP, "10.81.0.1");
	new_bound_id(&other, RDMA_PS_TCP, "10.77.0.1");
	id = new_id(&resolved, RDMA_PS_TCP);
	id_resolve(resolved, id, "10.81.0.1", 7602);
	WANT(!rdma_destroy_id(new_bound_id(&gone, RDMA_PS_TCP, "10.81.0.1")));
	unused_bond_fail_over();
	WANT(!next_event(ch, 100));
	WANT(!system("ip link set ba down"));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!event_expect(resolved, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!next_event(other, 100));
}

const struct test watch_tests[] = {
	{ "the peer gets another MAC address", test_peer_moves },
	{ "a bond fails over", test_bond_fails_over },
	{}
};
