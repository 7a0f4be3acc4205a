// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Echo over a multicast group, between two datagram ids with a QP each. One id sends to the group,
 * and the other one answers to the group. The join attaches the QP; this code does not.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include "cmx_ulp.h"

#define GRH sizeof(struct ib_grh)
#define SLOTS 8
#define SLOT 64

struct msg {
	u32 to;
	u32 seq;
};

/* several receives, because a peer receives its own messages as well */
struct slot {
	struct ib_cqe cqe;
	struct peer *p;
	u32 offset;
};

struct peer {
	struct cmx_id *id;
	struct res r;
	u32 me;
	u32 seq;		/* sequence number of the last message */
	struct slot slots[SLOTS];
	struct ib_cqe send_cqe;
	struct ib_ah *ah;
	u32 qkey;
	u32 qpn;
	u8 dmac[ETH_ALEN];	/* only on RoCE */
	int status;
	struct completion joined;
	struct completion sent;
	struct completion received;
};

static int peer_send(struct peer *p, u32 to, u32 seq)
{
	struct msg *m = p->r.buf + BUF_SIZE / 2;
	struct ib_sge sge = {
		.addr = p->r.dma + BUF_SIZE / 2,
		.length = sizeof(*m),
		.lkey = p->r.pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &p->send_cqe, .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
		},
		.ah = p->ah,
		.remote_qpn = p->qpn,
		.remote_qkey = p->qkey,
	};

	m->to = to;
	m->seq = seq;
	return ib_post_send(p->id->qp, &wr.wr, NULL);
}

static void peer_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct peer *p = container_of(wc->wr_cqe, struct peer, send_cqe);

	complete(&p->sent);
}

static void peer_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct slot *slot = container_of(wc->wr_cqe, struct slot, cqe);
	struct peer *p = slot->p;
	struct msg m;

	if (wc->status)
		return;
	memcpy(&m, p->r.buf + slot->offset + GRH, sizeof(m));
	res_recv(p->id, &p->r, &slot->cqe, slot->offset, GRH + sizeof(m));
	if (m.to != p->me)
		return;
	p->seq = m.seq;
	if (p->me)
		peer_send(p, 0, m.seq);
	complete(&p->received);
}

static int peer_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct peer *p = id->context;
	struct rdma_ud_param *ud = &ev->param.ud;

	p->status = ev->status;
	if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN && ud->private_data == p) {
		p->qkey = ud->qkey;
		p->qpn = ud->qp_num;
		if (rdma_ah_retrieve_dmac(&ud->ah_attr))
			ether_addr_copy(p->dmac, rdma_ah_retrieve_dmac(&ud->ah_attr));
		if (!p->ah)
			p->ah = rdma_create_ah(p->r.pd, &ud->ah_attr, RDMA_CREATE_AH_SLEEPABLE);
		if (IS_ERR(p->ah)) {
			p->status = PTR_ERR(p->ah);
			p->ah = NULL;
		}
	} else if (!p->status) {
		p->status = -EPROTO;
	}
	complete(&p->joined);
	return 0;
}

static int peer_post_recvs(struct peer *p)
{
	int i, ret = 0;

	for (i = 0; !ret && i < SLOTS; i++) {
		p->slots[i] = (struct slot) { { peer_recv_done }, p, i * SLOT };
		ret = res_recv(p->id, &p->r, &p->slots[i].cqe, i * SLOT, GRH + sizeof(struct msg));
	}
	return ret;
}

static int peer_open(struct peer *p, const struct sockaddr *addr, const struct sockaddr *group)
{
	const struct cmx_mcast_attr attr = { .mask = CMX_MCAST_HOP_LIMIT, .hop_limit = 3 };
	int ret;

	init_completion(&p->joined);
	init_completion(&p->sent);
	init_completion(&p->received);
	p->send_cqe.done = peer_send_done;
	p->id = cmx_create_id(ulp_net(), peer_event, p, RDMA_PS_UDP, IB_QPT_UD);
	if (IS_ERR(p->id)) {
		ret = PTR_ERR(p->id);
		p->id = NULL;
		return ret;
	}
	ret = cmx_bind_addr(p->id, addr) ?: res_open(p->id, &p->r) ?:
	      peer_post_recvs(p) ?: cmx_join_multicast(p->id, group, &attr, p);
	if (!ret)
		ret = ulp_wait(&p->joined) ?: p->status;
	return ret;
}

static void peer_close(struct peer *p)
{
	if (!p->id)
		return;
	if (p->ah)
		rdma_destroy_ah(p->ah, RDMA_DESTROY_AH_SLEEPABLE);
	cmx_disconnect(p->id);
	res_close(p->id, &p->r);
	cmx_destroy_id(p->id);
}

static int peers_talk(struct peer *p, int count)
{
	int i, ret;

	for (i = 1; i <= count; i++) {
		ret = peer_send(&p[0], 1, i) ?: ulp_wait(&p[0].sent) ?: ulp_wait(&p[0].received);
		if (ret)
			return ret;
		if (p[0].seq != i || p[1].seq != i)
			return -EBADMSG;
	}
	return 0;
}

/* A peer that has left the group receives no messages. */
static int peer_leave(struct peer *p, const struct sockaddr *group, int count)
{
	int ret;

	ret = cmx_leave_multicast(p[1].id, group) ?: peer_send(&p[0], 1, count + 1) ?:
	      ulp_wait(&p[0].sent);
	if (ret)
		return ret;
	msleep(200);
	return p[1].seq == count ? 0 : -EBADMSG;
}

/* Joins the group by another address and leaves it by the first one. Messages still arrive. */
static int peer_switch_group(struct peer *p, const struct sockaddr *group,
			     const struct sockaddr *other, int count)
{
	int ret;

	reinit_completion(&p[1].joined);
	ret = cmx_join_multicast(p[1].id, other, NULL, &p[1]) ?:
	      ulp_wait(&p[1].joined) ?: p[1].status;
	if (!ret)
		ret = cmx_leave_multicast(p[1].id, group) ?: peers_talk(p, count);
	return ret;
}

int ulp_echo(int argc, char **argv)
{
	struct sockaddr_storage addr, group, other;
	struct peer *p;
	int i, count, ret;

	ret = ulp_addr_parse(argv[1], "0", &addr) ?: ulp_addr_parse(argv[2], "0", &group) ?:
	      ulp_addr_parse(argv[3], "0", &other) ?: kstrtoint(argv[4], 0, &count);
	if (ret)
		return ret;
	p = kcalloc(2, sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	for (i = 0; !ret && i < 2; i++) {
		p[i].me = i;
		ret = peer_open(&p[i], (struct sockaddr *)&addr, (struct sockaddr *)&group);
	}
	if (!ret)
		ret = peers_talk(p, count);
	if (!ret)
		ret = peer_switch_group(p, (struct sockaddr *)&group, (struct sockaddr *)&other,
					count);
	if (!ret)
		ret = peer_leave(p, (struct sockaddr *)&other, count);
	ulp_print("qkey %#x, dmac %pM, seq %u %u, %d\n", p[0].qkey, p[0].dmac, p[0].seq, p[1].seq,
		  ret);
	peer_close(&p[0]);
	peer_close(&p[1]);
	kfree(p);
	return ret;
}
