// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hello: a first program. The client sets a traffic class, connects within two seconds or gives up,
 * sends a line and prints the answer.
 *
 *   hello -s ADDRESS PORT	the server: answers one client and ends
 *   hello ADDRESS PORT		the client
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>

static const char *host, *port;
static char text[2][64];	/* receive buffer, send buffer */
static struct ibv_mr *mr;

/* Prints the step that failed, the peer and the reason. */
static void die(const char *step, const struct rdma_cm_id *id)
{
	const struct rdma_cm_event *event = id ? id->event : NULL;

	fprintf(stderr, "hello: %s, %s port %s: %s", step, host, port, strerror(errno));
	/* a call on a synchronous id leaves the event that it waited for */
	if (event && event->status)
		fprintf(stderr, " (%s, status %d)", rdma_event_str(event->event), event->status);
	fputc('\n', stderr);
	exit(1);
}

static void set_options(struct rdma_cm_id *id)
{
	uint32_t ms = 2000;
	uint8_t tos = 104;

	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		die("set TOS", id);
	if (rdma_set_option(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, &ms, sizeof(ms)))
		die("set CONNECT_DEADLINE_MS", id);
}

static void show_option(struct rdma_cm_id *id, const char *name, int level, int option)
{
	uint32_t val = 0, flags;
	size_t len = sizeof(val);

	if (rdma_cmx_get_option(id, level, option, &val, &len, &flags))
		die(name, id);
	printf("%s is %u, %s\n", name, val, flags & CMX_OPT_F_SET ? "set" : "the default");
}

/* The library creates the queue pair, its completion queues and a protection domain. */
static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (rdma_create_qp(id, NULL, &attr))
		die("create QP", id);
	mr = rdma_reg_msgs(id, text, sizeof(text));
	if (!mr || rdma_post_recv(id, NULL, text[0], sizeof(text[0]), mr))
		die("post receive", id);
}

static void send_text(struct rdma_cm_id *id, const char *what)
{
	struct ibv_wc wc;

	snprintf(text[1], sizeof(text[1]), "%s", what);
	if (rdma_post_send(id, NULL, text[1], sizeof(text[1]), mr, IBV_SEND_SIGNALED) ||
	    rdma_get_send_comp(id, &wc) < 0 || wc.status)
		die("send", id);
}

static void print_text(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	if (rdma_get_recv_comp(id, &wc) < 0 || wc.status)
		die("receive", id);
	printf("received: %.*s\n", (int)sizeof(text[0]), text[0]);
}

static void serve(struct rdma_cm_id *listener, struct sockaddr *addr)
{
	struct rdma_cm_id *id;

	if (rdma_bind_addr(listener, addr) || rdma_listen(listener, 1))
		die("listen", listener);
	if (rdma_get_request(listener, &id))
		die("wait for a request", listener);
	make_qp(id);
	if (rdma_accept(id, NULL))
		die("accept", id);
	print_text(id);
	send_text(id, "hello, client");
	rdma_disconnect(id);
}

static void call(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	set_options(id);
	show_option(id, "TOS", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS);
	show_option(id, "CONNECT_DEADLINE_MS", CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS);
	show_option(id, "CM_RETRIES", CMX_OPTION, CMX_OPTION_CM_RETRIES);
	if (rdma_resolve_addr(id, NULL, addr, 2000))
		die("resolve address", id);
	if (rdma_resolve_route(id, 2000))
		die("resolve route", id);
	make_qp(id);
	if (rdma_connect(id, &param))
		die("connect", id);
	send_text(id, "hello, server");
	print_text(id);
	rdma_disconnect(id);
}

int main(int argc, char **argv)
{
	int server = argc == 4 && !strcmp(argv[1], "-s");
	struct rdma_cm_id *id;
	struct addrinfo *ai;

	if (argc != 3 + server)
		return 2;
	host = argv[1 + server];
	port = argv[2 + server];
	if (getaddrinfo(host, port, NULL, &ai))
		die("look up the name", NULL);
	/* without a channel the id is synchronous: each call waits for its event */
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		die("open rdma_cmx", NULL);
	if (server)
		serve(id, ai->ai_addr);
	else
		call(id, ai->ai_addr);
	return 0;
}
