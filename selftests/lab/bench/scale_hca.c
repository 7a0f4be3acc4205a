// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One of many HCAs: a process in the network namespace of its IPoIB interface, with one id and one
 * QP that is a member of many groups. Each group has the same number of members. They are HCAs with
 * consecutive numbers.
 *
 * With rdma_cmx the id has MCAST_REJOIN, so the program need not handle a lost group. Otherwise it
 * follows the manual pages: after MULTICAST_ERROR it leaves the group and joins it again. If this
 * fails, it tries again later. With conf.give_up it does so only for a group that it sends to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>

#include "bench.h"
#include "scale.h"

#define RECVS	512
#define GRH	40
#define RETRY	0.1		/* seconds after which a join or a datagram is repeated */
#define POLL_MS	10		/* interval of checking for datagrams */
#define WINDOW	8		/* number of connections in progress */
#define STREAM	0xffffffff	/* the epoch of the datagrams of a stream, whose group is a number */
#define STREAM_MS	1	/* interval of checking whether the next one is due */
#define LINGER	0.5		/* seconds that the last one may take */

/* also the content of a datagram */
struct datagram {
	uint32_t epoch, group;
};

struct slot {
	char grh[GRH];
	struct datagram data;
};

struct group {
	struct sockaddr_in addr;
	struct ibv_ah *ah;
	uint32_t qkey;
	double joined;		/* time of the report; 0: not a member */
	double retry;		/* time at which to join again; 0: never */
};

static struct {
	int i;			/* number of the HCA */
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct slot slots[RECVS + 1];	/* the last one is for sending */
	struct group groups[SCALE_GROUPS];
	double sent;		/* time at which datagrams were sent last */
	double stream;		/* time at which the stream began */
	uint32_t due;		/* number of its next datagram */
	bool seen[SCALE_STREAM];	/* datagrams of the stream */
} hca;

static int num_sets(void)
{
	return conf.hcas / conf.members;
}

/* Returns member number @rank of the groups of this HCA. */
static int group_peer(int rank)
{
	return hca.i % num_sets() + rank * num_sets();
}

static struct group *event_group(const struct rdma_cm_event *ev)
{
	return (struct group *)ev->param.ud.private_data;
}

static void recv_post(int n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&hca.slots[n], .length = sizeof(hca.slots[n]),
		.lkey = hca.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(hca.id->qp, &wr, &bad))
		die("ibv_post_recv");
}

static void hca_open_id(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = SCALE_GROUPS, .max_recv_wr = RECVS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	char ip[32];
	uint32_t on = 1;

	snprintf(ip, sizeof(ip), "10.78.0.%d", hca.i + 1);
	hca.ch = channel_create();
	hca.id = id_create_datagram(hca.ch, ip);
	/* the system's library has no option MCAST_REJOIN */
	if (rdma_cmx_get_version() &&
	    rdma_set_option(hca.id, CMX_OPTION, CMX_OPTION_MCAST_REJOIN, &on, sizeof(on)))
		die("MCAST_REJOIN");
	if (rdma_create_qp(hca.id, NULL, &attr))
		die("rdma_create_qp");
	hca.mr = ibv_reg_mr(hca.id->pd, hca.slots, sizeof(hca.slots), IBV_ACCESS_LOCAL_WRITE);
	if (!hca.mr)
		die("ibv_reg_mr");
	for (int n = 0; n < RECVS; n++)
		recv_post(n);
	if (ibv_req_notify_cq(hca.id->recv_cq, 0))
		die("ibv_req_notify_cq");
	fcntl(hca.ch->fd, F_SETFL, O_NONBLOCK);
}

static void group_join(struct group *g)
{
	g->retry = 0;
	if (rdma_join_multicast(hca.id, (struct sockaddr *)&g->addr, g)) {
		scale->errors[hca.i]++;
		g->retry = now() + RETRY;
	}
}

static void group_rejoin(struct group *g)
{
	rdma_leave_multicast(hca.id, (struct sockaddr *)&g->addr);
	group_join(g);
}

static void group_set_joined(struct group *g, struct rdma_ud_param *ud)
{
	if (g->ah)
		ibv_destroy_ah(g->ah);
	g->ah = ibv_create_ah(hca.id->pd, &ud->ah_attr);
	if (!g->ah)
		die("ibv_create_ah");
	g->qkey = ud->qkey;
	if (g->joined <= scale->mark)
		__atomic_add_fetch(&scale->members[hca.i], 1, __ATOMIC_RELAXED);
	g->joined = now();
	scale->last[hca.i] = g->joined;
}

static bool group_is_sender(int g)
{
	return g % conf.members == hca.i / num_sets();
}

/*
 * Returns the time at which to join again: at once if the membership was lost, but later if a join
 * failed, as it would fail again.
 */
static double group_retry_time(const struct group *g)
{
	if (conf.give_up && !group_is_sender(g - hca.groups))
		return 0;
	return g->joined ? 1 : now() + RETRY;
}

static void event_take(void)
{
	struct rdma_cm_event *ev;
	struct group *g;

	while (!rdma_get_cm_event(hca.ch, &ev)) {
		g = event_group(ev);
		switch (ev->event) {
		case RDMA_CM_EVENT_MULTICAST_JOIN:
			group_set_joined(g, &ev->param.ud);
			break;
		case RDMA_CM_EVENT_MULTICAST_ERROR:
			scale->errors[hca.i]++;
			if (g->joined > scale->mark)
				scale->members[hca.i]--;
			g->retry = group_retry_time(g);
			g->joined = 0;
			break;
		default:
			fprintf(stderr, "HCA %d: %s\n", hca.i, rdma_event_str(ev->event));
		}
		rdma_ack_cm_event(ev);
	}
	if (errno != EAGAIN)
		die("rdma_get_cm_event");
}

static void datagram_count(const struct datagram *d)
{
	if (d->epoch != STREAM) {
		if (d->group < SCALE_GROUPS)
			scale->got[hca.i][d->group] = d->epoch;
	} else if (d->group < SCALE_STREAM && !hca.seen[d->group] && !group_is_sender(0)) {
		hca.seen[d->group] = true;
		scale->streamed[hca.i]++;
	}
}

static void datagrams_take(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(hca.id->recv_cq_channel, &cq, &context) || ibv_req_notify_cq(cq, 0))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	while (ibv_poll_cq(cq, 1, &wc) == 1) {
		if (wc.status == IBV_WC_SUCCESS)
			datagram_count(&hca.slots[wc.wr_id].data);
		recv_post(wc.wr_id);
	}
}

static bool group_has_reached_all(int g)
{
	for (int rank = 0; rank < conf.members; rank++)
		if (group_peer(rank) != hca.i && scale->got[group_peer(rank)][g] != scale->epoch)
			return false;
	return true;
}

static bool datagram_send(const struct group *g, struct datagram data)
{
	struct slot *slot = &hca.slots[RECVS];
	struct ibv_sge sge = {
		.addr = (uintptr_t)&slot->data, .length = sizeof(slot->data), .lkey = hca.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = g->ah, .remote_qpn = 0xffffff, .remote_qkey = g->qkey },
	}, *bad;
	struct ibv_wc wc;

	slot->data = data;
	if (ibv_post_send(hca.id->qp, &wr, &bad))
		return false;
	/* the buffer may be reused only after the send has completed */
	while (!ibv_poll_cq(hca.id->send_cq, 1, &wc))
		sched_yield();
	return wc.status == IBV_WC_SUCCESS;
}

/*
 * Have all datagrams arrived? Sends missing ones again, because the switches may not know the
 * groups yet.
 */
static bool datagrams_have_arrived(void)
{
	bool again = now() - hca.sent >= RETRY, all = true;

	for (int g = 0; g < conf.groups; g++) {
		if (!group_is_sender(g) || group_has_reached_all(g))
			continue;
		all = false;
		if (again && hca.groups[g].joined)
			datagram_send(&hca.groups[g], (struct datagram){ scale->epoch, g });
	}
	if (again)
		hca.sent = now();
	return all;
}

/*
 * Sends the datagrams of the stream that are due, also while the membership is lost. Has the last
 * one had time to arrive?
 */
static bool stream_is_over(void)
{
	double t = now() - hca.stream;
	uint32_t n;

	for (n = hca.due; n < SCALE_STREAM && n < t * SCALE_STREAM_PER_S; n++)
		scale->sent[hca.i] += datagram_send(&hca.groups[0], (struct datagram){ STREAM, n });
	hca.due = n;
	return t > (double)SCALE_STREAM / SCALE_STREAM_PER_S + LINGER;
}

/* Returns the milliseconds until the next join, for poll(). */
static int joins_retry(void)
{
	int wait = -1;

	for (int g = 0; g < conf.groups; g++) {
		if (hca.groups[g].retry && now() >= hca.groups[g].retry)
			group_rejoin(&hca.groups[g]);
		if (hca.groups[g].retry)
			wait = RETRY * 1000;
	}
	return wait;
}

static bool hca_is_member(void)
{
	return scale->members[hca.i] == conf.groups;
}

static void stage_start(char stage)
{
	static bool joined;

	if (stage == 'm' && !joined) {
		joined = true;
		for (int g = 0; g < conf.groups; g++)
			group_join(&hca.groups[g]);
	}
	hca.sent = 0;
	hca.stream = now();
}

/* Connects to all other HCAs, and then ends all connections. */
static void hca_connect_all(void)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *ids[SCALE_HCAS], *id;
	int begun = 0, done = 0, up = 0, ret;
	char ip[32];

	while (done < conf.hcas - 1) {
		while (begun < conf.hcas - 1 && begun - done < WINDOW) {
			snprintf(ip, sizeof(ip), "10.78.0.%d", (hca.i + ++begun) % conf.hcas + 1);
			conf.server = ip;
			conn_start(ch, BENCH_PORT, NULL);
		}
		ret = conn_step(ch, false, &id);
		if (!ret)
			continue;
		done++;
		if (ret > 0)
			ids[up++] = id;
		scale->connected[hca.i] = up;
		scale->failed[hca.i] = done - up;
	}
	for (int n = 0; n < up; n++)
		if (rdma_disconnect(ids[n]))
			die("rdma_disconnect");
	while (up && conn_step(ch, true, NULL) > 0)
		up--;
	rdma_destroy_event_channel(ch);
}

static bool stage_is_over(char stage)
{
	switch (stage) {
	case 'm':
		return hca_is_member();
	case 'f':
		return datagrams_have_arrived();
	case 'c':
		hca_connect_all();
		return true;
	case 's':
		return !group_is_sender(0) || stream_is_over();
	}
	return false;
}

static void stage_report(int done)
{
	if (write(done, "", 1) != 1)
		die("done");
}

void scale_hca(int i, int commands, int done)
{
	char netns[32], stage = 0;
	struct pollfd p[3];
	int wait = -1;

	hca.i = i;
	snprintf(netns, sizeof(netns), "/run/netns/h%d", i);
	if (setns(open(netns, O_RDONLY), CLONE_NEWNET))
		die(netns);
	for (int g = 0; g < conf.groups; g++)
		addr_of_group(&hca.groups[g].addr, "239.9.0.0", i % num_sets() * conf.groups + g);
	hca_open_id();
	stage_report(done);
	p[0] = (struct pollfd){ commands, POLLIN };
	p[1] = (struct pollfd){ hca.ch->fd, POLLIN };
	p[2] = (struct pollfd){ hca.id->recv_cq_channel->fd, POLLIN };
	for (;;) {
		poll(p, 3, stage == 'f' ? POLL_MS : stage == 's' ? STREAM_MS : wait);
		if (p[1].revents)
			event_take();
		if (p[2].revents)
			datagrams_take();
		wait = joins_retry();
		if (p[0].revents) {
			if (read(commands, &stage, 1) != 1)
				exit(0);
			stage_start(stage);
		}
		if (stage && stage_is_over(stage)) {
			stage = 0;
			stage_report(done);
		}
	}
}
