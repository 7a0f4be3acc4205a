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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cmx.h>
#include "../lib/die.h"
#include "../lib/pair.h"

#define NOBODY "10.77.0.99"	/* a neighbour entry of the suite, without a host */
#define PORT 7410

static struct rdma_event_channel *ch;
static unsigned int response_timeout = 31, retries = 15;

static void option_set(struct rdma_cm_id *id, int name, unsigned int val)
{
	CALL(rdma_set_option(id, CMX_OPTION, name, &val, sizeof(val)), "option %d", name);
}

/* Returns the id of the next event of the type. Other events may belong to destroyed ids. */
static struct rdma_cm_id *event_wait(enum rdma_cm_event_type type)
{
	enum rdma_cm_event_type got;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	do {
		ev = event_next(ch, 30000);
		if (!ev)
			die(rdma_event_str(type));
		id = ev->id;
		got = ev->event;
		rdma_ack_cm_event(ev);
	} while (got != type);
	return id;
}

static struct rdma_cm_id *request_send(const char *to, struct rdma_conn_param *par)
{
	struct rdma_cm_id *id = id_create(ch, "cli", RDMA_PS_TCP);

	option_set(id, CMX_OPTION_CM_RESPONSE_TIMEOUT, response_timeout);
	option_set(id, CMX_OPTION_CM_RETRIES, retries);
	id_resolve_addr(id, NULL, to, PORT);
	event_wait(RDMA_CM_EVENT_ADDR_RESOLVED);
	id_resolve_route(id);
	event_wait(RDMA_CM_EVENT_ROUTE_RESOLVED);
	par->qp_num++;
	CALL(rdma_connect(id, par), "connect");
	return id;
}

static void leave_withdrawn(struct rdma_conn_param *par)
{
	struct rdma_cm_id *id = request_send(NOBODY, par);

	CALL(rdma_reject(id, NULL, 0), "reject");
	id_destroy(id);
}

static struct rdma_cm_id *request_accept(struct rdma_conn_param *par, struct rdma_cm_id **id)
{
	struct rdma_cm_id *child;

	*id = request_send("10.77.0.1", par);
	child = event_wait(RDMA_CM_EVENT_CONNECT_REQUEST);
	par->qp_num++;
	CALL(rdma_accept(child, par), "accept");
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

	CALL(rdma_reject(child, NULL, 0), "reject");
	id_destroy(child);
	id_destroy(id);
}

static void leave_notified(struct rdma_conn_param *par)
{
	struct rdma_cm_id *id, *child = request_accept(par, &id);

	CALL(rdma_notify(child, IBV_EVENT_COMM_EST), "notify");
	id_destroy(child);
	id_destroy(id);
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
	id_destroy(id);
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

	if (argc != 3)
		return 2;
	ch = channel_create();
	listener = id_create(ch, "lst", RDMA_PS_TCP);
	id_bind(listener, "0.0.0.0", PORT);
	id_listen(listener, 0);
	for (way = 0; way < sizeof(ways) / sizeof(*ways); way++)
		for (i = 0; !strcmp(argv[1], ways[way].name) && i < atoi(argv[2]); i++)
			ways[way].leave(&par);
	return 0;
}
