// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Measures the time of calls of librdmacm in the calling process. The program runs with any
 * librdmacm.so.1: LD_LIBRARY_PATH selects the stack that is measured.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct bench_conf conf = {
	.addr = "10.77.0.1", .silent = "10.77.0.9", .hcas = 8, .groups = 50, .members = 8,
};

static const struct {
	const char *name;
	void (*run)(void);
	const char *help;
} benches[] = {
	{ "create", bench_create, "create and destroy an id" },
	{ "bind", bench_bind, "create and bind an id while 8,000 are held; destroy them" },
	{ "option", bench_option, "set an option" },
	{ "get_option", bench_get_option, "read an option" },
	{ "listen", bench_listen, "listen on a bound id" },
	{ "close", bench_close, "create, bind, listen and destroy" },
	{ "migrate", bench_migrate, "move an id to another channel" },
	{ "resolve", bench_resolve, "resolve an address and its route" },
	{ "event", bench_event, "take an event that is queued; acknowledge it" },
	{ "dump", bench_dump, "list 8,000 bound ids" },
	{ "memory", bench_memory, "kernel memory of one bound id" },
	{ "many", bench_many, "calls while 16 to 10,000 processes hold up to 65,536 listeners" },
	{ "mcast", bench_mcast, "join and leave, 100 and 4,000 groups on one id" },
	{ "connect", bench_connect, "connections, 1 and 32 in flight" },
	{ "hundred", bench_hundred, "100 connections at the same time, between two processes" },
	{ "reject", bench_reject, "connections that the server rejects" },
	{ "abandon", bench_abandon, "connections whose request the server destroys" },
	{ "nobody", bench_nobody, "connections to a port on which nobody listens" },
	{ "storm", bench_storm, "10,000 connections at the same time, between 2 and 64 processes" },
	{ "silent", bench_silent, "time to UNREACHABLE when the peer does not answer" },
	{ "stall", bench_stall, "time of a request while another user keeps rtnl busy" },
	{ "sa", bench_sa, "groups and paths of the subnet administrator, and the MADs they take" },
	{ "scale", bench_scale, "many HCAs, by commands from the input" },
};

void result_print(const char *name, double value)
{
	printf("%s %.2f\n", name, value);
	fflush(stdout);
}

struct sockaddr *addr_of(struct sockaddr_in *sin, const char *ip, int port)
{
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_port = htons(port);
	if (inet_pton(AF_INET, ip, &sin->sin_addr) != 1) {
		fprintf(stderr, "%s: not an IPv4 address\n", ip);
		exit(2);
	}
	return (struct sockaddr *)sin;
}

struct sockaddr *addr_of_group(struct sockaddr_in *sin, const char *base, int n)
{
	addr_of(sin, base, 0);
	sin->sin_addr.s_addr = htonl(ntohl(sin->sin_addr.s_addr) + n + 1);
	return (struct sockaddr *)sin;
}

struct rdma_event_channel *channel_create(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	if (!ch)
		die("rdma_create_event_channel");
	return ch;
}

struct rdma_cm_id *id_on(struct rdma_event_channel *ch, void *context)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, context, RDMA_PS_TCP))
		die("rdma_create_id");
	return id;
}

struct rdma_cm_id *id_create_datagram(struct rdma_event_channel *ch, const char *ip)
{
	struct sockaddr_in sin;
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_UDP))
		die("rdma_create_id");
	if (rdma_bind_addr(id, addr_of(&sin, ip, 0)))
		die("rdma_bind_addr");
	return id;
}

struct rdma_cm_event *event_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(ch, &ev))
		die("rdma_get_cm_event");
	if (ev->event != type || ev->status) {
		fprintf(stderr, "%s, status %d, where %s was expected\n",
			rdma_event_str(ev->event), ev->status, rdma_event_str(type));
		exit(1);
	}
	return ev;
}

struct rdma_cm_id *id_routed(struct rdma_event_channel *ch, const char *ip, void *context)
{
	struct rdma_cm_id *id = id_on(ch, context);
	struct sockaddr_in sin;

	if (rdma_resolve_addr(id, NULL, addr_of(&sin, ip, BENCH_PORT), 2000))
		die("rdma_resolve_addr");
	rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
	return id;
}

/* Returns the number of processes and threads of the kernel that run or could run, with this one. */
static unsigned int runnable_count(void)
{
	FILE *f = fopen("/proc/loadavg", "r");
	unsigned int n;

	if (!f || fscanf(f, "%*s %*s %*s %u", &n) != 1)
		die("/proc/loadavg");
	fclose(f);
	return n;
}

void rest_wait(void)
{
	do
		sched_yield();
	while (runnable_count() > 1);
}

static void usage_print(void)
{
	fprintf(stderr, "usage: bench [-a ADDRESS] [-c SERVER-ADDRESS] [-n SERVER-NETNS]\n"
		"             [-s SILENT-ADDRESS] [-d DEADLINE-MS] [-l LIST-COMMAND]\n"
		"             [-H HCAS] [-g GROUPS-EACH] [-m HCAS-IN-A-GROUP] [-u] NAME...\n");
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		fprintf(stderr, "  %-8s %s\n", benches[i].name, benches[i].help);
	exit(2);
}

static void bench_run(const char *name)
{
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
		if (!strcmp(benches[i].name, name)) {
			benches[i].run();
			return;
		}
	}
	usage_print();
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "a:c:n:s:d:l:H:g:m:u")) != -1) {
		switch (c) {
		case 'a':
			conf.addr = optarg;
			break;
		case 'c':
			conf.server = optarg;
			break;
		case 'n':
			conf.netns = optarg;
			break;
		case 's':
			conf.silent = optarg;
			break;
		case 'd':
			conf.deadline = atoi(optarg);
			break;
		case 'l':
			conf.dump = optarg;
			break;
		case 'H':
			conf.hcas = atoi(optarg);
			break;
		case 'g':
			conf.groups = atoi(optarg);
			break;
		case 'm':
			conf.members = atoi(optarg);
			break;
		case 'u':
			conf.give_up = true;
			break;
		default:
			usage_print();
		}
	}
	if (optind == argc)
		usage_print();
	if (!conf.server)
		conf.server = conf.addr;
	for (; optind < argc; optind++)
		bench_run(argv[optind]);
	return 0;
}
