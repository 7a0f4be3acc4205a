// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Calls on an id that need no peer, and the memory of an id. */
#include <rdma/rdma_cmx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define HELD 8000

static struct rdma_cm_id *held[HELD];

void bench_create(void)
{
	struct rdma_event_channel *ch = channel_create();
	const int n = 5000;
	double t;

	for (int i = 0; i < 100; i++)
		rdma_destroy_id(id_on(ch, NULL));
	t = now();
	for (int i = 0; i < n; i++)
		rdma_destroy_id(id_on(ch, NULL));
	result_print("create_us", (now() - t) / n * 1e6);
	rdma_destroy_event_channel(ch);
}

static void ids_hold(struct rdma_event_channel *ch)
{
	struct sockaddr_in sin;

	addr_of(&sin, conf.addr, 0);
	for (int i = 0; i < HELD; i++) {
		held[i] = id_on(ch, NULL);
		if (rdma_bind_addr(held[i], (struct sockaddr *)&sin))
			die("rdma_bind_addr");
	}
}

static void ids_drop(void)
{
	for (int i = 0; i < HELD; i++)
		rdma_destroy_id(held[i]);
}

void bench_bind(void)
{
	struct rdma_event_channel *ch = channel_create();
	double t = now();

	ids_hold(ch);
	result_print("bind_us", (now() - t) / HELD * 1e6);
	t = now();
	ids_drop();
	result_print("destroy_us", (now() - t) / HELD * 1e6);
	rdma_destroy_event_channel(ch);
}

void bench_option(void)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id = id_on(ch, NULL);
	const int n = 20000;
	uint8_t tos = 8;
	double t = now();

	for (int i = 0; i < n; i++)
		if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
			die("rdma_set_option");
	result_print("option_us", (now() - t) / n * 1e6);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}

void bench_get_option(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	const int n = 20000;
	uint8_t tos;
	double t;

	/* the in-tree stack has no rdma_cmx_get_option() */
	if (!rdma_cmx_get_version())
		return;
	ch = channel_create();
	id = id_on(ch, NULL);
	t = now();
	for (int i = 0; i < n; i++) {
		size_t len = sizeof(tos);

		if (rdma_cmx_get_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, &len, NULL))
			die("rdma_cmx_get_option");
	}
	result_print("get_option_us", (now() - t) / n * 1e6);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}

void bench_listen(void)
{
	struct rdma_event_channel *ch = channel_create();
	const int n = 1000;
	double t, sum = 0;

	for (int i = 0; i < n; i++) {
		struct rdma_cm_id *id = id_on(ch, NULL);
		struct sockaddr_in sin;

		if (rdma_bind_addr(id, addr_of(&sin, conf.addr, 0)))
			die("rdma_bind_addr");
		t = now();
		if (rdma_listen(id, 1))
			die("rdma_listen");
		sum += now() - t;
		rdma_destroy_id(id);
	}
	result_print("listen_us", sum / n * 1e6);
	rdma_destroy_event_channel(ch);
}

void bench_close(void)
{
	struct rdma_event_channel *ch = channel_create();
	const int n = 1000;
	double t = now();

	for (int i = 0; i < n; i++) {
		struct rdma_cm_id *id = id_on(ch, NULL);
		struct sockaddr_in sin;

		if (rdma_bind_addr(id, addr_of(&sin, conf.addr, 0)) || rdma_listen(id, 1))
			die("listen");
		rdma_destroy_id(id);
	}
	rest_wait();
	result_print("close_us", (now() - t) / n * 1e6);
	rdma_destroy_event_channel(ch);
}

void bench_migrate(void)
{
	struct rdma_event_channel *ch[] = { channel_create(), channel_create() };
	struct rdma_cm_id *id = id_on(ch[0], NULL);
	const int n = 5000;
	double t = now();

	for (int i = 1; i <= n; i++)
		if (rdma_migrate_id(id, ch[i % 2]))
			die("rdma_migrate_id");
	result_print("migrate_us", (now() - t) / n * 1e6);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch[0]);
	rdma_destroy_event_channel(ch[1]);
}

void bench_resolve(void)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	const int n = 500;
	double t, sum = 0;

	for (int i = 0; i < n; i++) {
		struct sockaddr_in sin;

		id = id_on(ch, NULL);
		addr_of(&sin, conf.addr, BENCH_PORT);
		t = now();
		if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, 2000))
			die("rdma_resolve_addr");
		rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
		if (rdma_resolve_route(id, 2000))
			die("rdma_resolve_route");
		rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
		sum += now() - t;
		rdma_destroy_id(id);
	}
	result_print("resolve_us", sum / n * 1e6);
	rdma_destroy_event_channel(ch);
}

void bench_event(void)
{
	struct rdma_event_channel *ch = channel_create();
	static struct rdma_cm_event *events[1000];
	const int n = sizeof(events) / sizeof(events[0]);
	double t;

	for (int i = 0; i < n; i++) {
		struct sockaddr_in sin;

		held[i] = id_on(ch, NULL);
		if (rdma_resolve_addr(held[i], NULL, addr_of(&sin, conf.addr, BENCH_PORT), 2000))
			die("rdma_resolve_addr");
	}
	/* all events are queued now, so fetching them does not wait */
	sleep(1);
	t = now();
	for (int i = 0; i < n; i++)
		events[i] = event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED);
	result_print("event_us", (now() - t) / n * 1e6);
	t = now();
	for (int i = 0; i < n; i++)
		rdma_ack_cm_event(events[i]);
	result_print("ack_us", (now() - t) / n * 1e6);
	for (int i = 0; i < n; i++)
		rdma_destroy_id(held[i]);
	rdma_destroy_event_channel(ch);
}

/* The command conf.dump lists the ids of the stack. */
void bench_dump(void)
{
	struct rdma_event_channel *ch = channel_create();
	double t;

	if (!conf.dump)
		return;
	ids_hold(ch);
	t = now();
	if (system(conf.dump))
		die(conf.dump);
	result_print("dump_us", (now() - t) / HELD * 1e6);
	ids_drop();
	rdma_destroy_event_channel(ch);
}

static long meminfo_read(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	long kb = -1;
	char line[128];

	if (!f)
		die("/proc/meminfo");
	while (kb < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			kb = atol(line + strlen(name) + 1);
	fclose(f);
	return kb * 1024;
}

long memory_in_use(void)
{
	return meminfo_read("Slab") + meminfo_read("VmallocUsed") + meminfo_read("Percpu");
}

long memory_available(void)
{
	return meminfo_read("MemAvailable");
}

static void memory_shrink(void)
{
	FILE *f = fopen("/proc/sys/vm/drop_caches", "w");

	if (f) {
		fputs("2", f);
		fclose(f);
	}
}

void bench_memory(void)
{
	struct rdma_event_channel *ch = channel_create();
	long before;

	/* a first round, which is not measured, fills the caches */
	ids_hold(ch);
	ids_drop();
	rdma_destroy_event_channel(ch);
	ch = channel_create();
	memory_shrink();
	before = memory_in_use();
	ids_hold(ch);
	result_print("memory_bytes", (double)(memory_in_use() - before) / HELD);
	ids_drop();
	rdma_destroy_event_channel(ch);
}
