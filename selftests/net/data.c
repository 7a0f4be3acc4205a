// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Data on the connections that are up at both ends */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_verbs.h>
#include "net.h"

#define DATA_SECONDS	60

static void data_fill(char *data, const struct end *e)
{
	memset(data, 0, DATA_LEN);
	snprintf(data, DATA_LEN, "seed %llu connection %d from %s", (unsigned long long)opt.seed, e->conn->num,
		 e->index ? "the server" : "the client");
}

struct end *conn_peer(struct conn *c)
{
	struct end *peer = request_find(c, c->client.peer);

	return c->client.state == UP && peer && peer->state == UP ? peer : NULL;
}

/* Returns the peer if data is sent on the connection. */
static struct end *conn_data_peer(struct conn *c)
{
	return c->plan.held && c->plan.qp ? conn_peer(c) : NULL;
}

static void data_send(struct end *e)
{
	data_fill(e->out, e);
	if (rdma_post_send(e->id, NULL, e->out, sizeof(e->out), e->mr, IBV_SEND_SIGNALED))
		fault_report(DATA, e, "rdma_post_send: %s", strerror(errno));
}

static void data_poll(struct end *e, struct end *peer)
{
	char want[DATA_LEN];
	struct ibv_wc wc;

	while (ibv_poll_cq(e->id->send_cq, 1, &wc) > 0) {
		if (wc.status)
			fault_report(DATA, e, "send: %s", ibv_wc_status_str(wc.status));
		e->sent = true;
	}
	while (ibv_poll_cq(e->id->recv_cq, 1, &wc) > 0) {
		data_fill(want, peer);
		if (wc.status || memcmp(e->in, want, DATA_LEN))
			fault_report(DATA, e, "receive: %s: %.*s", ibv_wc_status_str(wc.status), DATA_LEN,
				     e->in);
		e->received = true;
	}
}

/* Returns the number of ends that wait for data. */
static int data_wait(void)
{
	struct end *client, *server;
	int i, waiting = 0;

	for (i = 0; i < opt.num; i++) {
		client = &conns[i].client;
		server = conn_data_peer(&conns[i]);
		if (!server)
			continue;
		data_poll(client, server);
		data_poll(server, client);
		waiting += !client->sent + !client->received + !server->sent + !server->received;
	}
	return waiting;
}

static void data_report_missing(void)
{
	struct end *client, *server;
	int i;

	for (i = 0; i < opt.num; i++) {
		client = &conns[i].client;
		server = conn_data_peer(&conns[i]);
		if (server && !(client->sent && client->received && server->sent && server->received))
			fault_report(DATA, client, "no data");
	}
}

void data_exchange(void)
{
	double end = now() + DATA_SECONDS;
	struct end *server;
	int i;

	for (i = 0; i < opt.num; i++) {
		count.connections += conns[i].plan.held && conn_peer(&conns[i]);
		server = conn_data_peer(&conns[i]);
		if (!server)
			continue;
		count.data++;
		data_send(&conns[i].client);
		data_send(server);
	}
	while (data_wait() && now() < end)
		loop_run(0.01);
	data_report_missing();
}
