// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The trace, the faults and the counts */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "net.h"

static const char *const state_names[] = {
	"new", "resolves the address", "resolves the route", "connects", "joins", "has a request", "accepted",
	"up", "disconnects", "down", "after the timewait", "failed", "gone",
};

static const char *const oracle_names[] = {
	"each event comes at most once and in order",
	"both ends can explain their states",
	"nothing waits longer than documented, or gives up earlier",
	"data arrives on what is established at both ends",
	"the calls succeed, and none of them waits for the peer",
};

struct net_counts count;
static int broken[NUM_ORACLES];

static const char *end_name(const struct end *e)
{
	static char name[64];

	if (e->index)
		snprintf(name, sizeof(name), "connection %d, request %d", e->conn->num, e->index);
	else
		snprintf(name, sizeof(name), "connection %d, client", e->conn->num);
	return name;
}

static void line_print(const struct end *e, const char *fmt, va_list args)
{
	printf("# %9.3f %s (%s): ", now() - begun, end_name(e), state_names[e->state]);
	vprintf(fmt, args);
	putchar('\n');
}

void trace_print(const struct end *e, const char *fmt, ...)
{
	va_list args;

	if (!opt.trace)
		return;
	va_start(args, fmt);
	line_print(e, fmt, args);
	va_end(args);
}

void fault_report(enum oracle oracle, const struct end *e, const char *fmt, ...)
{
	va_list args;

	broken[oracle]++;
	va_start(args, fmt);
	if (opt.trace || (!opt.intree && broken[oracle] <= 10))
		line_print(e, fmt, args);
	va_end(args);
}

void counts_print(void)
{
	int side, i;

	for (side = 0; side < 2; side++) {
		printf("# %s:", side ? "server" : "client");
		for (i = 0; i < NUM_EVENTS; i++)
			if (count.events[side][i])
				printf(" %s %ld", rdma_event_str(i) + strlen("RDMA_CM_EVENT_"), count.events[side][i]);
		printf("\n");
	}
	printf("# %d held connections, %d of them with data; %d ids destroyed early\n", count.connections,
	       count.data, count.cancelled);
	printf("# requests repeated after a refusal %d, that no client made %d; half open %d\n", count.again,
	       count.ghosts, count.half_open);
	printf("# longest wait:");
	for (i = RESOLVES_ADDR; i <= DISCONNECTS; i++)
		if (count.longest[i] > 1 && i != UP)
			printf(" %s %.1f s;", state_names[i], count.longest[i]);
	printf("\n");
}

int faults_count(void)
{
	int i, n = 0;

	for (i = 0; i < NUM_ORACLES; i++)
		n += broken[i];
	return n;
}

void faults_print(void)
{
	int i;

	printf("# faults of the in-tree stack:\n");
	for (i = 0; i < NUM_ORACLES; i++)
		printf("# %5d not: %s\n", broken[i], oracle_names[i]);
}

void result_print(void)
{
	int i;

	for (i = 0; i < NUM_ORACLES; i++)
		printf("%s %d %s\n", broken[i] ? "not ok" : "ok", i + 1, oracle_names[i]);
	printf("1..%d\n", NUM_ORACLES);
}
