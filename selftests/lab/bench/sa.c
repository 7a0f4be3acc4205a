// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Joins and paths, which need the subnet administrator, on the fabric of selftests/vib. The
 * fabric counts the MADs, so no other program may use it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define COUNT "/sys/kernel/debug/vib/mad/count"
/* of rdma_cmx: how long a path record is kept */
#define CACHE_SECONDS "/sys/module/rdma_cmx/parameters/path_cache_seconds"

#define CLASS_SA 0x03
#define CLASS_CM 0x07
#define MCMEMBER 0x38

enum { ONE_BY_ONE = 100, AT_ONCE = 1000, CONNECTIONS = 100 };

static void file_write(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die(file);
}

/* Counts the MADs to and from the SA with @attr; 0: with any, and those of the CM. */
static int mads_count(unsigned int attr)
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

/* Waits until no more MADs come: ib_sa repeats a request without a reply after 300 ms. */
static int mads_count_all(unsigned int attr)
{
	int before, n = mads_count(attr);

	do {
		before = n;
		usleep(400000);
		n = mads_count(attr);
	} while (n != before);
	return n;
}

static void mads_reset(void)
{
	file_write(COUNT, "0");
}

static void group_join(struct rdma_cm_id *id, int n)
{
	struct sockaddr_in sin;

	if (rdma_join_multicast(id, addr_of_group(&sin, "239.8.0.0", n), NULL))
		die("rdma_join_multicast");
}

/* Waits for MULTICAST_JOIN. Returns the seconds since @t. */
static double join_wait(struct rdma_event_channel *ch, double t)
{
	rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	return now() - t;
}

static void joins_measure_single(struct rdma_event_channel *ch, const char *name)
{
	struct rdma_cm_id *id = id_create_datagram(ch, conf.addr);
	char key[32];
	double t;

	mads_reset();
	t = now();
	for (int i = 0; i < ONE_BY_ONE; i++) {
		group_join(id, i);
		join_wait(ch, t);
	}
	snprintf(key, sizeof(key), "%s_us", name);
	result_print(key, (now() - t) / ONE_BY_ONE * 1e6);
	snprintf(key, sizeof(key), "%s_mads", name);
	result_print(key, (double)mads_count_all(MCMEMBER) / ONE_BY_ONE);
}

static void joins_measure_parallel(struct rdma_event_channel *ch)
{
	struct rdma_cm_id *id = id_create_datagram(ch, conf.addr);
	double t;

	mads_reset();
	t = now();
	for (int i = 0; i < AT_ONCE; i++)
		group_join(id, i);
	for (int i = 0; i < AT_ONCE; i++)
		join_wait(ch, t);
	result_print("sa_many_ms", (now() - t) * 1e3);
	result_print("sa_many_mads", (double)mads_count_all(MCMEMBER) / AT_ONCE);

	mads_reset();
	t = now();
	rdma_destroy_id(id);
	result_print("sa_gone_ms", (now() - t) * 1e3);
	result_print("sa_gone_mads", (double)mads_count_all(MCMEMBER) / AT_ONCE);
}

static void conns_measure(const char *name)
{
	pid_t pid = conn_serve(BENCH_PORT);
	char key[32];

	/* the first connection fills the neighbour entry, the path of IPoIB and the path cache */
	conn_setup(1);
	mads_count_all(0);
	mads_reset();
	snprintf(key, sizeof(key), "%s_us", name);
	result_print(key, conn_setup(CONNECTIONS));
	snprintf(key, sizeof(key), "%s_mads", name);
	result_print(key, (double)mads_count_all(0) / CONNECTIONS);
	conn_stop(pid);
	mads_count_all(0);
}

void bench_sa(void)
{
	struct rdma_event_channel *ch = channel_create();
	bool cache = !access(CACHE_SECONDS, W_OK);

	joins_measure_single(ch, "sa_new");
	joins_measure_single(ch, "sa_known");
	/* the kernel destroys its ids as well */
	rdma_destroy_event_channel(ch);
	mads_count_all(0);

	ch = channel_create();
	joins_measure_parallel(ch);
	rdma_destroy_event_channel(ch);

	if (cache)
		file_write(CACHE_SECONDS, "0");
	conns_measure("sa_cold");
	if (cache)
		file_write(CACHE_SECONDS, "60");
	conns_measure("sa_warm");
}
