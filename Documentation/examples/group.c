// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * group: joins a multicast group with MCAST_REJOIN, and prints the datagrams that arrive. When the
 * subnet manager restarts, the membership is restored.
 *
 *   group ADDRESS GROUP	ADDRESS is an address of this host
 *   group ADDRESS GROUP TEXT	also sends TEXT once a second
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>

#define GRH sizeof(struct ibv_grh)	/* precedes each received datagram */

static const char *host, *group;
static struct rdma_cm_id *id;
static struct ibv_mr *mr;
static struct ibv_ah *ah;	/* for the group; NULL: not a member yet */
static uint32_t group_qpn;
static char in[GRH + 64], out[64];

static void die(const char *step, int err)
{
	fprintf(stderr, "group: %s, %s at %s: %s\n", step, group, host, strerror(err));
	exit(1);
}

static struct sockaddr *addr_of(const char *name)
{
	struct addrinfo *ai;

	if (getaddrinfo(name, NULL, NULL, &ai))
		die("look up the name", EINVAL);
	return ai->ai_addr;
}

static void make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (rdma_create_qp(id, NULL, &attr))
		die("create QP", errno);
	mr = rdma_reg_msgs(id, in, sizeof(in));
	if (!mr || rdma_post_recv(id, NULL, in, sizeof(in), mr))
		die("post receive", errno);
}

/* Called for the first join and for each rejoin, after which the group may have another MLID. */
static void on_join(struct rdma_ud_param *ud)
{
	char mgid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &ud->ah_attr.grh.dgid, mgid, sizeof(mgid));
	printf("%s: MGID %s, MLID 0x%x\n", ah ? "member again" : "member", mgid, ud->ah_attr.dlid);
	if (ah)
		ibv_destroy_ah(ah);
	ah = ibv_create_ah(id->pd, &ud->ah_attr);
	if (!ah)
		die("create address handle", errno);
	group_qpn = ud->qp_num;
}

static void on_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("get event", errno);
	if (event->event == RDMA_CM_EVENT_MULTICAST_JOIN)
		on_join(&event->param.ud);
	else
		die(rdma_event_str(event->event), abs(event->status));
	rdma_ack_cm_event(event);
}

static void print_texts(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(id->recv_cq, 1, &wc) > 0) {
		if (wc.status)
			die(ibv_wc_status_str(wc.status), EIO);
		printf("received: %.*s\n", (int)(wc.byte_len - GRH), in + GRH);
		if (rdma_post_recv(id, NULL, in, sizeof(in), mr))
			die("post receive", errno);
	}
}

static void send_text(const char *text)
{
	static struct ibv_mr *out_mr;
	struct ibv_wc wc;

	if (!out_mr)
		out_mr = rdma_reg_msgs(id, out, sizeof(out));
	snprintf(out, sizeof(out), "%s", text);
	if (!out_mr || rdma_post_ud_send(id, NULL, out, strlen(out), out_mr, IBV_SEND_SIGNALED,
					 ah, group_qpn) || rdma_get_send_comp(id, &wc) < 0)
		die("send", errno);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
	uint32_t on = 1;
	void *context;

	if (argc < 3 || argc > 4)
		return 2;
	host = argv[1];
	group = argv[2];
	setlinebuf(stdout);
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_UDP))
		die("open rdma_cmx", errno);
	if (rdma_bind_addr(id, addr_of(host)))
		die("bind", errno);
	if (rdma_set_option(id, CMX_OPTION, CMX_OPTION_MCAST_REJOIN, &on, sizeof(on)))
		die("set MCAST_REJOIN", errno);
	make_qp();
	if (rdma_join_multicast(id, addr_of(group), NULL))
		die("join", errno);
	for (;;) {
		struct pollfd files[] = { { .fd = channel->fd, .events = POLLIN },
					  { .fd = id->recv_cq_channel->fd, .events = POLLIN } };

		ibv_req_notify_cq(id->recv_cq, 0);
		print_texts();
		if (!poll(files, 2, 1000) && argc == 4 && ah)
			send_text(argv[3]);
		if (files[0].revents)
			on_event(channel);
		if (files[1].revents && !ibv_get_cq_event(id->recv_cq_channel, &cq, &context))
			ibv_ack_cq_events(cq, 1);
	}
}
