// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hold [-n CONNECTIONS] [-g GROUPS] [-p PORT] [-q QPN] [-w]: keeps ids in each state and prints their events
 *
 * The QP numbers count up from QPN.
 *
 * -w creates only wildcard ids, for a host without an RDMA device. They listen on PORT. The program
 * prints "ready N removals M" when all N ids exist, of which M will get DEVICE_REMOVAL, "removal N"
 * for each such event, and "still there" if a call on the id then does not fail with ENODEV. A line
 * on standard input makes it destroy all ids, print "gone" and exit.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lib/die.h"
#include "../lib/pair.h"

#define MAX_IDS 4096

static struct rdma_event_channel *ch;
static struct rdma_cm_id *ids[MAX_IDS];
static int n_ids;
static int n_requests;	/* ids of requests that are not accepted, and thus get no other event */

static struct rdma_cm_id *id_add(struct rdma_cm_id *id)
{
	if (n_ids == MAX_IDS)
		die("too many ids");
	ids[n_ids++] = id;
	return id;
}

static struct rdma_cm_id *id_add_new(enum rdma_port_space ps)
{
	return id_add(id_create(ch, "id", ps));
}

static struct rdma_cm_id *id_add_bound(enum rdma_port_space ps, const char *addr, int port)
{
	struct rdma_cm_id *id = id_add_new(ps);

	id_bind(id, addr, port);
	return id;
}

static void id_add_resolved(int port, enum rdma_port_space ps)
{
	id_resolve(ch, id_add_new(ps), "10.77.0.1", port);
}

/* Creates a connection up to a step: 1 request, 2 accepted, 3 established. */
static void connection_create(int port, int qpn, int steps)
{
	struct pair p = { .ch = ch, .lch = ch, .port = port, .param.retry_count = 7 };

	pair_route(&p, RDMA_PS_TCP);
	id_add(p.id);
	p.param.qp_num = qpn + n_ids;
	pair_request(&p, RDMA_PS_TCP);
	id_add(p.child);
	if (steps == 1)
		n_requests++;
	else if (steps == 2)
		pair_accept(&p);
	else
		pair_connect(&p, RDMA_PS_TCP);
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
		struct rdma_cm_event *ev = event_next(ch, 10000);

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
	int c, i, conns = 8, groups = 8, port = 7400, qpn = 0x1234, wild = 0;
	struct rdma_cm_id *id;

	setlinebuf(stdout);
	while ((c = getopt(argc, argv, "n:g:p:q:w")) != -1) {
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
		case 'q':
			qpn = atoi(optarg);
			break;
		case 'w':
			wild = 1;
			break;
		default:
			return 2;
		}
	}
	ch = channel_create();
	id_add_new(RDMA_PS_TCP);
	id_add_new(RDMA_PS_UDP);
	id_add_bound(RDMA_PS_TCP, "0.0.0.0", 0);
	id_listen(id_add_bound(RDMA_PS_TCP, "0.0.0.0", port), MAX_IDS);
	if (!wild) {
		id_add_bound(RDMA_PS_TCP, "10.77.0.1", 0);
		id_add_bound(RDMA_PS_UDP, "10.77.0.1", 0);
		id_listen(id_add_bound(RDMA_PS_TCP, "10.77.0.1", 7401), 8);
		id_add_resolved(7400, RDMA_PS_TCP);
		id_add_resolved(7400, RDMA_PS_UDP);
		for (i = 0; i < conns; i++)
			connection_create(7400, qpn, 1 + i % 3);
		id = id_add_bound(RDMA_PS_UDP, "10.77.0.1", 0);
		for (i = 0; i < groups; i++) {
			char addr[32];

			snprintf(addr, sizeof(addr), "239.77.%d.%d", i / 250, 1 + i % 250);
			CALL(rdma_join_multicast(id, ip_addr(addr, 0), NULL), "join %s", addr);
			event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN);
		}
	}
	printf("ready %d removals %d\n", n_ids, removals_count());
	events_watch();
	while (n_ids)
		id_destroy(ids[--n_ids]);
	rdma_destroy_event_channel(ch);
	printf("gone\n");
	return 0;
}
