// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hold [-n CONNECTIONS] [-g GROUPS] [-p PORT] [-w]: keeps ids in each state and prints their events
 *
 * -w creates only wildcard ids, for a host without an RDMA device. They listen on PORT. The program
 * prints "ready N removals M" when all N ids exist, of which M will get DEVICE_REMOVAL, "removal N"
 * for each such event, and "still there" if a call on the id then does not fail with ENODEV. A line
 * on standard input makes it destroy all ids, print "gone" and exit.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include "../lib/die.h"
#include "../lib/slow.h"

#define MAX_IDS 4096

static struct rdma_event_channel *ch;
static struct rdma_cm_id *ids[MAX_IDS];
static int n_ids;
static int n_requests;	/* ids of requests that are not accepted, and thus get no other event */

static struct sockaddr *addr_ip4(const char *text, int port)
{
	static struct sockaddr_in sin;

	sin = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, text, &sin.sin_addr);
	return (struct sockaddr *)&sin;
}

static struct rdma_cm_id *id_create(enum rdma_port_space ps)
{
	if (n_ids == MAX_IDS || rdma_create_id(ch, &ids[n_ids], NULL, ps))
		die("rdma_create_id");
	return ids[n_ids++];
}

static struct rdma_cm_id *id_create_bound(enum rdma_port_space ps, const char *addr, int port)
{
	struct rdma_cm_id *id = id_create(ps);

	if (rdma_bind_addr(id, addr_ip4(addr, port)))
		die("rdma_bind_addr");
	return id;
}

static struct rdma_cm_event *event_next(void)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	struct rdma_cm_event *ev;

	if (poll(&p, 1, slow_time(10000)) != 1)
		die("no event");
	if (rdma_get_cm_event(ch, &ev))
		die("rdma_get_cm_event");
	return ev;
}

static void event_expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev = event_next();

	if (ev->event != type) {
		fprintf(stderr, "%s, status %d, instead of %s\n", rdma_event_str(ev->event),
			ev->status, rdma_event_str(type));
		exit(1);
	}
	rdma_ack_cm_event(ev);
}

static void id_create_resolved(int port, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = id_create(ps);

	if (rdma_resolve_addr(id, NULL, addr_ip4("10.77.0.1", port), 2000))
		die("rdma_resolve_addr");
	event_expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	event_expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Creates a connection up to a step: 1 request, 2 accepted, 3 established. */
static void connection_create(int port, int steps)
{
	struct rdma_conn_param par = { .qp_num = 0x1234, .retry_count = 7 };
	struct rdma_cm_id *id, *child;
	struct rdma_cm_event *ev;

	id_create_resolved(port, RDMA_PS_TCP);
	id = ids[n_ids - 1];
	par.qp_num += n_ids;
	if (rdma_connect(id, &par))
		die("rdma_connect");
	ev = event_next();
	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST || n_ids == MAX_IDS)
		die("no request");
	child = ids[n_ids++] = ev->id;
	rdma_ack_cm_event(ev);
	if (steps < 2) {
		n_requests++;
		return;
	}
	par.qp_num += MAX_IDS;
	if (rdma_accept(child, &par))
		die("rdma_accept");
	event_expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (steps < 3)
		return;
	if (rdma_establish(id))
		die("rdma_establish");
	event_expect(RDMA_CM_EVENT_ESTABLISHED);
}

/* Only ids with a device get DEVICE_REMOVAL. */
static int removals_count(void)
{
	int i, n = -n_requests;

	for (i = 0; i < n_ids; i++)
		n += !!ids[i]->verbs;
	return n;
}

static void events_watch(void)
{
	struct pollfd p[2] = { { .fd = ch->fd, .events = POLLIN }, { .events = POLLIN } };
	int removed = 0;

	while (poll(p, 2, -1) > 0 && !p[1].revents) {
		struct rdma_cm_event *ev = event_next();

		if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
			if (!rdma_listen(ev->id, 1) || errno != ENODEV)
				puts("still there");
			printf("removal %d\n", ++removed);
		} else {
			printf("%s\n", rdma_event_str(ev->event));
		}
		rdma_ack_cm_event(ev);
	}
}

int main(int argc, char **argv)
{
	int c, i, conns = 8, groups = 8, port = 7400, wild = 0;
	struct rdma_cm_id *id;

	setlinebuf(stdout);
	while ((c = getopt(argc, argv, "n:g:p:w")) != -1) {
		switch (c) {
		case 'n':
			conns = atoi(optarg);
			break;
		case 'g':
			groups = atoi(optarg);
			break;
		case 'p':
			port = atoi(optarg);
			break;
		case 'w':
			wild = 1;
			break;
		default:
			return 2;
		}
	}
	ch = rdma_create_event_channel();
	if (!ch)
		die("rdma_create_event_channel");
	id_create(RDMA_PS_TCP);
	id_create(RDMA_PS_UDP);
	id_create_bound(RDMA_PS_TCP, "0.0.0.0", 0);
	id = id_create_bound(RDMA_PS_TCP, "0.0.0.0", port);
	if (rdma_listen(id, MAX_IDS))
		die("rdma_listen");
	if (!wild) {
		id_create_bound(RDMA_PS_TCP, "10.77.0.1", 0);
		id_create_bound(RDMA_PS_UDP, "10.77.0.1", 0);
		id = id_create_bound(RDMA_PS_TCP, "10.77.0.1", 7401);
		if (rdma_listen(id, 8))
			die("rdma_listen");
		id_create_resolved(7400, RDMA_PS_TCP);
		id_create_resolved(7400, RDMA_PS_UDP);
		for (i = 0; i < conns; i++)
			connection_create(7400, 1 + i % 3);
		id = id_create_bound(RDMA_PS_UDP, "10.77.0.1", 0);
		for (i = 0; i < groups; i++) {
			char addr[32];

			snprintf(addr, sizeof(addr), "239.77.%d.%d", i / 250, 1 + i % 250);
			if (rdma_join_multicast(id, addr_ip4(addr, 0), NULL))
				die("rdma_join_multicast");
			event_expect(RDMA_CM_EVENT_MULTICAST_JOIN);
		}
	}
	printf("ready %d removals %d\n", n_ids, removals_count());
	events_watch();
	while (n_ids)
		if (rdma_destroy_id(ids[--n_ids]))
			die("rdma_destroy_id");
	rdma_destroy_event_channel(ch);
	printf("gone\n");
	return 0;
}
