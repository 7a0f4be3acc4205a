// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Addresses whose neighbour is asked for first. */
#include <stdlib.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include "../lib/slow.h"
#include "api.h"

#define LATE "10.77.0.98"
/* longer than expect() waits: there is a last look at the end of it */
#define PATIENT slow_time(25000)

/* A case of its own has 30 seconds to wait in. */
static void until(const char *command)
{
	while (system(command))
		usleep(20000);
}

static void late_neighbour(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	WANT(!rdma_resolve_addr(id, NULL, addr_of(LATE, 7510), PATIENT));
	until("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!next_event(ch, 500));
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!rdma_resolve_route(id, 2000));
	WANT(!expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* More ids than one wait for the same neighbour, and all are told. */
static void many_wait(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id[4];
	int i;

	need_rig();
	id[0] = new_id(&ch, RDMA_PS_TCP);
	for (i = 1; i < 4; i++)
		WANT(!rdma_create_id(ch, &id[i], NULL, RDMA_PS_TCP));
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	for (i = 0; i < 4; i++)
		WANT(!rdma_resolve_addr(id[i], NULL, addr_of(LATE, 7511), PATIENT));
	WANT(!rdma_destroy_id(id[3]));
	until("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	for (i = 0; i < 3; i++)
		WANT(!expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!next_event(ch, 0));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* The interface drops its neighbours when its link goes down; permanent ones stay. */
static void neighbour_dropped(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	WANT(!rdma_resolve_addr(id, NULL, addr_of(LATE, 7511), 4 * PATIENT));
	until("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!file_write("/sys/class/net/d0/carrier", "0"));
	/* the kernel hears of it up to a second later */
	sleep(2);
	WANT(!file_write("/sys/class/net/d0/carrier", "1"));
	/* it is asked for again */
	until("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* How many neighbours there may be */
static int thresholds(int max)
{
	char path[64];
	int i, ret = 0;

	for (i = 1; i <= 3 && !ret; i++) {
		snprintf(path, sizeof(path), "/proc/sys/net/ipv4/neigh/default/gc_thresh%d", i);
		ret = file_write(path, "%d", max);
	}
	return ret;
}

/* How often there was no room for one, by the column of that name */
static unsigned int refusals(void)
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
	thresholds(1024);
}

/*
 * The kernel makes room of neighbours that are older than five seconds, so that no time may pass between
 * this and resolving. Those of suites before go when one more is added.
 */
static void table_fill(void)
{
	need_rig();
	atexit(thresholds_reset);
	WANT(!system("ip neigh flush to " LATE " dev d0 nud all"));
	WANT(!system("for i in 1 2 3 4; do echo neigh replace 10.77.0.20$i lladdr 02:00:00:00:02:01 dev d0 nud reachable; done | ip -batch -"));
	WANT(!thresholds(1));
	system("ip neigh replace 10.77.0.205 lladdr 02:00:00:00:02:01 dev d0 nud reachable 2>/dev/null");
}

/* There is no neighbour to wait for: it is looked for again as soon as there is room. */
static void full_table(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	unsigned int before;

	table_fill();
	before = refusals();
	WANT(!rdma_resolve_addr(id, NULL, addr_of(LATE, 7513), PATIENT));
	WANT(refusals() > before);
	WANT(!thresholds(1024));
	until("ip neigh show to " LATE " dev d0 | grep -q INCOMPLETE");
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	WANT(!expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

#define MANY_QUERIES 500

/* Each of these lookups makes the kernel search the whole table. */
static void full_table_many(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	unsigned int before;
	int i;

	table_fill();
	for (i = 0; i < MANY_QUERIES; i++) {
		WANT(i == 0 || !rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id, NULL, addr_of(LATE, 7513), PATIENT));
	}
	before = refusals();
	sleep(2);
	tap_note_print("%u in 2 s", refusals() - before);
	/* with an interval of 0.5 s it would be four times their number */
	WANT(refusals() - before < 2 * MANY_QUERIES);
	WANT(!thresholds(1024));
	WANT(!system("ip neigh replace " LATE " lladdr 02:00:00:00:00:98 dev d0 nud permanent"));
	for (i = 0; i < MANY_QUERIES; i++)
		WANT(!expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!system("ip neigh del " LATE " dev d0"));
}

/* The suite iwarp does it too, as iWARP has no such addresses. */
static void af_ib_listener(void)
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

/* A virtual function has none before its administrator gives it one. */
static void no_node_guid(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	no_guid = true;
	id = new_id(&ch, RDMA_PS_TCP);
	resolve(ch, id, "10.77.0.1", 7);
	WANT(id->verbs && id->pd && id->port_num == 1);
	id = new_bound(&ch, RDMA_PS_TCP, "10.77.0.1");
	WANT(id->verbs && id->pd && id->port_num == 1);
	id = new_bound(&ch, RDMA_PS_TCP, "0.0.0.0");
	WANT(!id->verbs && !id->pd && !id->port_num);
}

const struct test addr_tests[] = {
	{ "address: a neighbour that answers late", late_neighbour },
	{ "address: many wait for one neighbour", many_wait },
	{ "address: the interface drops its neighbours", neighbour_dropped },
	{ "address: the neighbour table is full", full_table },
	{ "address: the neighbour table is full for hundreds", full_table_many },
	{ "address: a wildcard of AF_IB", af_ib_listener },
	{ "a device without a node GUID", no_node_guid },
	{}
};
