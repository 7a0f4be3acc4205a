// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holds ids in every state and says on standard output what befalls them:
 *   hold [-n CONNECTIONS] [-g GROUPS] [-p PORT] [-w]
 * -w: wildcard ids only, for a place without an RDMA device; -p: what they listen on.
 * "ready N removals M" when all N stand, of which M will hear that the device goes; "removal N" for
 * each DEVICE_REMOVAL, and "still there" when a call does not say so of the id; a line on standard
 * input makes it destroy all, say "gone" and end.
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
static int n_requests;	/* not accepted: until then, an id has no other event */

static struct sockaddr *ip4(const char *text, int port)
{
	static struct sockaddr_in sin;

	sin = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, text, &sin.sin_addr);
	return (struct sockaddr *)&sin;
}

static struct rdma_cm_id *new_id(enum rdma_port_space ps)
{
	if (n_ids == MAX_IDS || rdma_create_id(ch, &ids[n_ids], NULL, ps))
		die("rdma_create_id");
	return ids[n_ids++];
}

static struct rdma_cm_id *new_bound(enum rdma_port_space ps, const char *addr, int port)
{
	struct rdma_cm_id *id = new_id(ps);

	if (rdma_bind_addr(id, ip4(addr, port)))
		die("rdma_bind_addr");
	return id;
}

static struct rdma_cm_event *next(void)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	struct rdma_cm_event *ev;

	if (poll(&p, 1, slow_time(10000)) != 1)
		die("no event");
	if (rdma_get_cm_event(ch, &ev))
		die("rdma_get_cm_event");
	return ev;
}

static void expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev = next();

	if (ev->event != type) {
		fprintf(stderr, "%s, status %d, instead of %s\n", rdma_event_str(ev->event),
			ev->status, rdma_event_str(type));
		exit(1);
	}
	rdma_ack_cm_event(ev);
}

static void new_resolved(int port, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = new_id(ps);

	if (rdma_resolve_addr(id, NULL, ip4("10.77.0.1", port), 2000))
		die("rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* A connection, as far as @steps goes: 1 the request, 2 accepted, 3 established. */
static void new_connection(int port, int steps)
{
	struct rdma_conn_param par = { .qp_num = 0x1234, .retry_count = 7 };
	struct rdma_cm_id *id, *child;
	struct rdma_cm_event *ev;

	new_resolved(port, RDMA_PS_TCP);
	id = ids[n_ids - 1];
	par.qp_num += n_ids;
	if (rdma_connect(id, &par))
		die("rdma_connect");
	ev = next();
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
	expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (steps < 3)
		return;
	if (rdma_establish(id))
		die("rdma_establish");
	expect(RDMA_CM_EVENT_ESTABLISHED);
}

/* An id on no device does not hear of its end. */
static int count_removals(void)
{
	int i, n = -n_requests;

	for (i = 0; i < n_ids; i++)
		n += !!ids[i]->verbs;
	return n;
}

static void watch(void)
{
	struct pollfd p[2] = { { .fd = ch->fd, .events = POLLIN }, { .events = POLLIN } };
	int removed = 0;

	while (poll(p, 2, -1) > 0 && !p[1].revents) {
		struct rdma_cm_event *ev = next();

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
	new_id(RDMA_PS_TCP);
	new_id(RDMA_PS_UDP);
	new_bound(RDMA_PS_TCP, "0.0.0.0", 0);
	id = new_bound(RDMA_PS_TCP, "0.0.0.0", port);
	if (rdma_listen(id, MAX_IDS))
		die("rdma_listen");
	if (!wild) {
		new_bound(RDMA_PS_TCP, "10.77.0.1", 0);
		new_bound(RDMA_PS_UDP, "10.77.0.1", 0);
		id = new_bound(RDMA_PS_TCP, "10.77.0.1", 7401);
		if (rdma_listen(id, 8))
			die("rdma_listen");
		new_resolved(7400, RDMA_PS_TCP);
		new_resolved(7400, RDMA_PS_UDP);
		for (i = 0; i < conns; i++)
			new_connection(7400, 1 + i % 3);
		id = new_bound(RDMA_PS_UDP, "10.77.0.1", 0);
		for (i = 0; i < groups; i++) {
			char addr[32];

			snprintf(addr, sizeof(addr), "239.77.%d.%d", i / 250, 1 + i % 250);
			if (rdma_join_multicast(id, ip4(addr, 0), NULL))
				die("rdma_join_multicast");
			expect(RDMA_CM_EVENT_MULTICAST_JOIN);
		}
	}
	printf("ready %d removals %d\n", n_ids, count_removals());
	watch();
	while (n_ids)
		if (rdma_destroy_id(ids[--n_ids]))
			die("rdma_destroy_id");
	rdma_destroy_event_channel(ch);
	printf("gone\n");
	return 0;
}
