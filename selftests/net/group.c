// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The multicast groups, and which of them the SA may keep after their last member has left */
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>
#include "../lib/die.h"
#include "net.h"

#define NUM_GROUPS	16

/* seconds; Documentation/multicast.rst explains them */
#define LEAVE_REPEATED	13	/* how long ib_core repeats a leave */
#define LEAVE_WAITS	10	/* for requests that the port has sent before */
#define CLEAR_SECONDS	5

static double left_at[NUM_GROUPS];
static bool can_be_kept[NUM_GROUPS];

/* Several ids have the same group. The stacks have different ones, so that the SA shows whose are left. */
static uint32_t group_ip(int num)
{
	return (opt.intree ? 0xef4e0000 : 0xef4d0000) + num % NUM_GROUPS;
}

struct sockaddr *group_addr(int num)
{
	static struct sockaddr_in group = { .sin_family = AF_INET };

	group.sin_addr.s_addr = htonl(group_ip(num));
	return (struct sockaddr *)&group;
}

void group_note_leave(int num)
{
	left_at[num % NUM_GROUPS] = now();
	can_be_kept[num % NUM_GROUPS] = false;
}

void groups_note_interruption(double from, double to)
{
	int i;

	for (i = 0; i < NUM_GROUPS; i++)
		if (left_at[i] > from - LEAVE_WAITS && left_at[i] < to - LEAVE_REPEATED)
			can_be_kept[i] = true;
}

void groups_print(void)
{
	int i;

	printf("# leaves that may be lost:");
	for (i = 0; i < NUM_GROUPS; i++)
		if (can_be_kept[i])
			printf(" %x:%x", group_ip(i) >> 16 & 0xfff, group_ip(i) & 0xffff);
	printf("\n");
}

static void group_expect_join(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(ch, &ev) || ev->event != RDMA_CM_EVENT_MULTICAST_JOIN)
		die("no MULTICAST_JOIN");
	rdma_ack_cm_event(ev);
}

void groups_clear(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	int i;

	weather_enter(opt.dev[0]);
	if (!ch || rdma_create_id(ch, &id, NULL, RDMA_PS_UDP) || rdma_bind_addr(id, (void *)&opt.addr[0]))
		die("bind");
	weather_enter(NULL);
	for (i = 0; i < NUM_GROUPS; i++) {
		if (rdma_join_multicast(id, group_addr(i), NULL))
			die("rdma_join_multicast");
		group_expect_join(ch);
		if (rdma_leave_multicast(id, group_addr(i)))
			die("rdma_leave_multicast");
	}
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
	/* The last leaves must arrive before the network becomes bad. */
	sleep(CLEAR_SECONDS);
}
