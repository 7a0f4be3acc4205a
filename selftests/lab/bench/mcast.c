// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Joining and leaving many groups on one id. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

#define BASE "239.7.0.0"

/* Returns whether the interface is still a member: leaving may finish in the background. */
static bool group_is_joined(void)
{
	FILE *f = fopen("/proc/net/igmp", "r");
	bool found = false;
	unsigned int addr;
	char line[128];

	if (!f)
		die("/proc/net/igmp");
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, " %8x", &addr) == 1 && (ntohl(addr) >> 16) == 0xef07;
	fclose(f);
	return found;
}

static void groups_join_leave(int groups)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id = id_create_datagram(ch, conf.addr);
	struct sockaddr_in sin;
	char name[32];
	double t;

	t = now();
	for (int i = 0; i < groups; i++) {
		if (rdma_join_multicast(id, addr_of_group(&sin, BASE, i), NULL))
			die("rdma_join_multicast");
		rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	}
	snprintf(name, sizeof(name), "join%d_us", groups);
	result_print(name, (now() - t) / groups * 1e6);

	t = now();
	for (int i = 0; i < groups; i++)
		if (rdma_leave_multicast(id, addr_of_group(&sin, BASE, i)))
			die("rdma_leave_multicast");
	snprintf(name, sizeof(name), "leave%d_us", groups);
	result_print(name, (now() - t) / groups * 1e6);
	while (group_is_joined())
		usleep(2000);
	snprintf(name, sizeof(name), "left%d_us", groups);
	result_print(name, (now() - t) / groups * 1e6);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}

void bench_mcast(void)
{
	groups_join_leave(100);
	groups_join_leave(4000);
}
