// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What needs an iWARP device: only the suite of that name asks for it. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "own.h"

#define LATE "10.77.0.99"

static uint32_t new_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_qp *qp;

	attr.send_cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	WANT(pd && attr.send_cq);
	qp = ibv_create_qp(pd, &attr);
	WANT(qp);
	return qp->qp_num;
}

static void *connect_to_nobody(void *id)
{
	struct rdma_conn_param par = { .qp_num = new_qp(id) };

	WANT(rdma_connect(id, &par));
	return NULL;
}

/* That it was to be disconnected goes with the attempt: the next one stays. */
static void attempt_fails(void)
{
	struct rdma_event_channel *ch, *lch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	struct rdma_cm_id *listener = new_id(&lch, RDMA_PS_TCP);
	struct rdma_conn_param par = {};
	struct rdma_cm_event *ev;
	pthread_t thread;

	WANT(!system("echo 1 >/proc/sys/net/ipv4/tcp_syn_retries"));
	resolve(ch, id, LATE, 7530);
	WANT(!pthread_create(&thread, NULL, connect_to_nobody, id));
	while (system("grep -q ' connect ' /sys/kernel/debug/rdma_cmx/ids"))
		usleep(20000);
	WANT(!rdma_disconnect(id));
	WANT(!pthread_join(thread, NULL));

	WANT(!system("ip addr add " LATE "/32 dev d0"));
	WANT(!rdma_bind_addr(listener, addr_of(LATE, 7530)));
	WANT(!rdma_listen(listener, 1));
	par.qp_num = new_qp(id);
	WANT(!rdma_connect(id, &par));
	ev = next_event(lch, 15000);
	WANT(ev && ev->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	par.qp_num = new_qp(ev->id);
	WANT(!rdma_accept(ev->id, &par));
	WANT(!rdma_ack_cm_event(ev));
	WANT(!expect(ch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!expect(lch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!next_event(ch, 1000));
	WANT(!system("ip addr del " LATE "/32 dev d0"));
}

const struct test iwarp_tests[] = {
	{ "iwarp: attempt that fails", attempt_fails },
	{ }
};
