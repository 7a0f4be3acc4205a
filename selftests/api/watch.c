// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Link layer addresses that change under an id. The suite has made 10.77.0.97 a
 * neighbour whom nobody answers for, and put 10.81.0.1 on a bond of ba and bb.
 */
#include <stdlib.h>
#include "api.h"

static void peer_moves(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch, *other, *moved;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	long changed, timeouts;

	resolve(ch, id, "10.77.0.97", 7601);
	changed = port_stat_get(id, "addr_changed");
	timeouts = port_stat_get(id, "connect_timeouts");
	WANT(!rdma_connect(id, &par));
	/* not this one's peer */
	id = new_id(&other, RDMA_PS_TCP);
	resolve(other, id, "10.77.0.99", 7601);
	WANT(!rdma_connect(id, &par));
	/* no peers, or no news: the suite looks whether anything was queued for them */
	WANT(!system("ip neigh replace 10.77.0.98 lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(!system("ip neigh replace 10.81.0.97 lladdr 02:00:00:00:00:96 dev bond1 nud permanent"));
	WANT(!system("ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud noarp"));
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:96 dev d0 nud permanent"));
	WANT(expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	WANT(!next_event(other, 100));
	WANT(port_stat_get(id, "addr_changed") == changed + 1);
	WANT(port_stat_get(id, "connect_timeouts") == timeouts);
	/* ids with different addresses of a peer: the suite looks whether one work item was queued */
	id = new_id(&moved, RDMA_PS_TCP);
	resolve(moved, id, "10.77.0.97", 7601);
	WANT(!rdma_connect(id, &par));
	WANT(!system("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:95 dev d0 nud permanent"));
	WANT(expect(moved, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
}

static void bond_fails_over(void)
{
	struct rdma_event_channel *ch, *other;

	new_bound(&ch, RDMA_PS_TCP, "10.81.0.1");
	new_bound(&other, RDMA_PS_TCP, "10.77.0.1");
	WANT(!system("ip link set ba down"));
	WANT(!expect(ch, RDMA_CM_EVENT_ADDR_CHANGE));
	WANT(!next_event(other, 100));
}

const struct test watch_tests[] = {
	{ "the peer gets another MAC address", peer_moves },
	{ "a bond fails over", bond_fails_over },
	{}
};
