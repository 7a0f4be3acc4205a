// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams of mc.c: a QP that sends to a group, and receives from the groups it is attached to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../lib/now.h"
#include "mc.h"

#define RECVS 16
#define GRH 40
#define SLOT (GRH + MC_TEXT)

static int recv_post(struct mc_id *id, uint64_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)id->buf + slot * SLOT, .length = SLOT, .lkey = id->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(id->cm->qp, &wr, &bad);
}

int mc_qp_create(struct mc_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = RECVS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_pd *pd;
	uint64_t i;

	if (rdma_create_qp(id->cm, NULL, &attr))
		return -1;
	pd = id->cm->qp->pd;
	id->buf = calloc(RECVS + 1, SLOT);
	id->mr = ibv_reg_mr(pd, id->buf, (RECVS + 1) * SLOT, IBV_ACCESS_LOCAL_WRITE);
	if (!id->mr)
		return -1;
	for (i = 1; i <= RECVS; i++) {
		errno = recv_post(id, i);
		if (errno)
			return -1;
	}
	return 0;
}

void mc_qp_free(struct mc_id *id)
{
	if (id->ah)
		ibv_destroy_ah(id->ah);
	id->ah = NULL;
	if (id->cm->qp)
		rdma_destroy_qp(id->cm);
	if (id->mr)
		ibv_dereg_mr(id->mr);
	id->mr = NULL;
	free(id->buf);
	id->buf = NULL;
}

int mc_group_set(struct mc_id *id, struct rdma_ud_param *ud)
{
	if (id->ah)
		ibv_destroy_ah(id->ah);
	id->qkey = ud->qkey;
	id->ah = ibv_create_ah(id->cm->qp->pd, &ud->ah_attr);
	return id->ah ? 0 : -1;
}

static bool cq_poll(struct ibv_cq *cq, int ms, struct ibv_wc *wc)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	double end = now() + ms / 1e3;

	do {
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
		nanosleep(&nap, NULL);
	} while (now() < end);
	return false;
}

int mc_send(struct mc_id *id, const char *text)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)id->buf, .length = strlen(text) + 1,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;

	errno = EINVAL;
	if (!id->ah || sge.length > MC_TEXT)
		return -1;
	strcpy(id->buf, text);
	sge.lkey = id->mr->lkey;
	wr.wr.ud.ah = id->ah;
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = id->qkey;
	errno = ibv_post_send(id->cm->qp, &wr, &bad);
	if (errno)
		return -1;
	errno = ETIMEDOUT;
	if (!cq_poll(id->cm->send_cq, 5000, &wc))
		return -1;
	errno = EIO;
	return wc.status ? -1 : 0;
}

bool mc_recv(struct mc_id *id, int ms, char *text)
{
	struct ibv_wc wc;

	if (!cq_poll(id->cm->recv_cq, ms, &wc))
		return false;
	memcpy(text, id->buf + wc.wr_id * SLOT + GRH, MC_TEXT);
	text[MC_TEXT - 1] = 0;
	if (wc.status)
		strcpy(text, ibv_wc_status_str(wc.status));
	recv_post(id, wc.wr_id);
	return true;
}
