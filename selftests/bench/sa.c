// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What needs the subnet administrator, on the fabric of Documentation/vib.rst: joining groups, and
 * paths. MADs are those that the fabric counted; it must be alone with us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define COUNT "/sys/kernel/debug/vib/mad/count"
/* of rdma_cmx: how long a path record is good */
#define CACHE_SECONDS "/sys/module/rdma_cmx/parameters/path_cache_seconds"

#define CLASS_SA 0x03
#define CLASS_CM 0x07
#define MCMEMBER 0x38

enum { ONE_BY_ONE = 100, AT_ONCE = 1000, CONNECTIONS = 100 };

static void put(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die(file);
}

/* MADs to and from the SA for @attr; 0: for any, and those of the CM */
static int sent(unsigned int attr)
{
	unsigned int class, method, a, n, sum = 0;
	FILE *f = fopen(COUNT, "r");
	char line[128];

	if (!f)
		die(COUNT);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%x %x %x %u", &class, &method, &a, &n) == 4 &&
		    (attr ? class == CLASS_SA && a == attr
			  : class == CLASS_SA || class == CLASS_CM))
			sum += n;
	fclose(f);
	return sum;
}

/* The same, when no more come: ib_sa repeats what has no answer for 300 ms. */
static int sent_all(unsigned int attr)
{
	int before, n = sent(attr);

	do {
		before = n;
		usleep(400000);
		n = sent(attr);
	} while (n != before);
	return n;
}

static void count(void)
{
	put(COUNT, "0");
}

static void join(struct rdma_cm_id *id, int n)
{
	struct sockaddr_in sin;

	if (rdma_join_multicast(id, addr_of_group(&sin, "239.8.0.0", n), NULL))
		die("rdma_join_multicast");
}

/* The next event must be that one. Seconds since @t. */
static double joined(struct rdma_event_channel *ch, double t)
{
	rdma_ack_cm_event(expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	return now() - t;
}

static void one_by_one(struct rdma_event_channel *ch, const char *name)
{
	struct rdma_cm_id *id = id_datagram(ch, conf.addr);
	char key[32];
	double t;

	count();
	t = now();
	for (int i = 0; i < ONE_BY_ONE; i++) {
		join(id, i);
		joined(ch, t);
	}
	snprintf(key, sizeof(key), "%s_us", name);
	result(key, (now() - t) / ONE_BY_ONE * 1e6);
	snprintf(key, sizeof(key), "%s_mads", name);
	result(key, (double)sent_all(MCMEMBER) / ONE_BY_ONE);
}

static void at_once(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *id = id_datagram(ch, conf.addr);
	double t;

	count();
	t = now();
	for (int i = 0; i < AT_ONCE; i++)
		join(id, i);
	for (int i = 0; i < AT_ONCE; i++)
		joined(ch, t);
	result("sa_many_ms", (now() - t) * 1e3);
	result("sa_many_mads", (double)sent_all(MCMEMBER) / AT_ONCE);

	count();
	t = now();
	rdma_destroy_id(id);
	result("sa_gone_ms", (now() - t) * 1e3);
	result("sa_gone_mads", (double)sent_all(MCMEMBER) / AT_ONCE);
}

static void connections(const char *name)
{
	pid_t pid = conn_serve(BENCH_PORT);
	char key[32];

	/* one for the neighbour entry, IPoIB's path and our record */
	conn_setup(1);
	sent_all(0);
	count();
	snprintf(key, sizeof(key), "%s_us", name);
	result(key, conn_setup(CONNECTIONS));
	snprintf(key, sizeof(key), "%s_mads", name);
	result(key, (double)sent_all(0) / CONNECTIONS);
	conn_stop(pid);
	sent_all(0);
}

void bench_sa(void)
{
	struct rdma_event_channel *ch = channel();
	bool cache = !access(CACHE_SECONDS, W_OK);

	one_by_one(ch, "sa_new");
	one_by_one(ch, "sa_known");
	/* takes its ids along */
	rdma_destroy_event_channel(ch);
	sent_all(0);

	ch = channel();
	at_once(ch);
	rdma_destroy_event_channel(ch);

	if (cache)
		put(CACHE_SECONDS, "0");
	connections("sa_cold");
	if (cache)
		put(CACHE_SECONDS, "60");
	connections("sa_warm");
}
