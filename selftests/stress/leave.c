// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * leave withdrawn|refused|notified|unsent|expired N: leaves ids of ib_cm behind
 *
 * Their last message is not answered, and their timeouts add up to days.
 *
 *	withdrawn	a request is withdrawn by its sender
 *	refused		a request is accepted and then rejected
 *	notified	a request is accepted, its QP reports a message, and the id is destroyed
 *	unsent		a user without privileges ends and has more requests than max_user_requests
 *	expired		an id is destroyed while ib_cm reports that its request was not answered;
 *			needs window.ko
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cmx.h>
#include "../lib/die.h"

#define NOBODY "10.77.0.99"	/* a neighbour entry of the suite, without a host */
#define PORT 7410

static struct rdma_event_channel *ch;
static unsigned int response_timeout = 31, retries = 15;

static struct sockaddr *addr_ip4(const char *text)
{
	static struct sockaddr_in sin;

	sin = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(PORT) };
	inet_pton(AF_INET, text, &sin.sin_addr);
	return (struct sockaddr *)&sin;
}

static void option_set(struct rdma_cm_id *id, int name, unsigned int val)
{
	if (rdma_set_option(id, CMX_OPTION, name, &val, sizeof(val)))
		die("rdma_set_option");
}

/* Returns the id of the next event of the type. Other events may belong to destroyed ids. */
static struct rdma_cm_id *event_expect(enum rdma_cm_event_type type)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	enum rdma_cm_event_type got;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	do {
		if (poll(&p, 1, 30000) != 1 || rdma_get_cm_event(ch, &ev))
			die(rdma_event_str(type));
		id = ev->id;
		got = ev->event;
		rdma_ack_cm_event(ev);
	} while (got != type);
	return id;
}

static struct rdma_cm_id *request_send(const char *to, struct rdma_conn_param *par)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	option_set(id, CMX_OPTION_CM_RESPONSE_TIMEOUT, response_timeout);
	option_set(id, CMX_OPTION_CM_RETRIES, retries);
	if (rdma_resolve_addr(id, NULL, addr_ip4(to), 2000))
		die("rdma_resolve_addr");
	event_expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	event_expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	par->qp_num++;
	if (rdma_connect(id, par))
		die("rdma_connect");
	return id;
}

static void leave_withdrawn(struct rdma_conn_param *par)
{
	struct rdma_cm_id *id = request_send(NOBODY, par);

	if (rdma_reject(id, NULL, 0))
		die("rdma_reject");
	rdma_destroy_id(id);
}

static struct rdma_cm_id *request_accept(struct rdma_conn_param *par, struct rdma_cm_id **id)
{
	struct rdma_cm_id *child;

	*id = request_send("10.77.0.1", par);
	child = event_expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	par->qp_num++;
	if (rdma_accept(child, par))
		die("rdma_accept");
	return child;
}

static void leave_unsent(struct rdma_conn_param *par)
{
	response_timeout = 20;
	request_send(NOBODY, par);
}

static void leave_refused(struct rdma_conn_param *par)
{
	struct rdma_cm_id *id, *child = request_accept(par, &id);

	if (rdma_reject(child, NULL, 0))
		die("rdma_reject");
	rdma_destroy_id(child);
	rdma_destroy_id(id);
}

static void leave_notified(struct rdma_conn_param *par)
{
	struct rdma_cm_id *id, *child = request_accept(par, &id);

	if (rdma_notify(child, IBV_EVENT_COMM_EST))
		die("rdma_notify");
	rdma_destroy_id(child);
	rdma_destroy_id(id);
}

/* Reads a counter of window.ko. */
static unsigned int window_count(const char *name)
{
	unsigned int val;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/window/parameters/%s", name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%u", &val) != 1)
		die(path);
	fclose(f);
	return val;
}

static void leave_expired(struct rdma_conn_param *par)
{
	unsigned int reported = window_count("reported");
	struct rdma_cm_id *id;

	response_timeout = 14;
	retries = 0;
	id = request_send(NOBODY, par);
	while (window_count("reported") == reported)
		;
	rdma_destroy_id(id);
	/* window.ko counts work items until its pauses are over, so cause no others */
	usleep(4000 * window_count("pause_ms"));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*leave)(struct rdma_conn_param *par);
	} ways[] = {
		{ "withdrawn", leave_withdrawn },
		{ "refused", leave_refused },
		{ "notified", leave_notified },
		{ "unsent", leave_unsent },
		{ "expired", leave_expired },
	};
	struct rdma_conn_param par = { .qp_num = 0x10000, .retry_count = 7 };
	struct rdma_cm_id *listener;
	unsigned int way;
	int i;

	ch = rdma_create_event_channel();
	if (argc != 3 || !ch || rdma_create_id(ch, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, addr_ip4("0.0.0.0")) || rdma_listen(listener, 0))
		die("leave");
	for (way = 0; way < sizeof(ways) / sizeof(*ways); way++)
		for (i = 0; !strcmp(argv[1], ways[way].name) && i < atoi(argv[2]); i++)
			ways[way].leave(&par);
	return 0;
}
