// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What needs an iWARP device: only the suite of that name asks for it. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/now.h"
#include "api.h"

#define IWARP "10.77.0.1"
#define ROCE "10.79.0.1"
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

/* No other program is asked: to load one may take so long that the attempt has failed. */
static bool is_connecting(void)
{
	FILE *f = fopen("/sys/kernel/debug/rdma_cmx/ids", "r");
	bool found = false;
	char line[512];

	WANT(f);
	while (fgets(line, sizeof(line), f))
		found |= !!strstr(line, " connect ");
	fclose(f);
	return found;
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
	while (!is_connecting())
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

static struct rdma_cm_id *listen_at(struct rdma_event_channel **ch, const char *addr, int port,
				    int backlog)
{
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	WANT(!rdma_bind_addr(id, addr_of(addr, port)) && !rdma_listen(id, backlog));
	return id;
}

static void close_listener(struct rdma_event_channel *ch, struct rdma_cm_id *id)
{
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

/* TCP has the port until the former listener has been destroyed, which its owner is not kept by. */
static void listen_same_port(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 20; i++) {
		id = listen_at(&ch, IWARP, 7531, 1024);
		close_listener(ch, id);
	}
}

#define BUSY 16

static void open_and_close_listeners(void)
{
	struct rdma_event_channel *ch[BUSY];
	struct rdma_cm_id *id[BUSY];
	int i;

	WANT(!setuid(65534) && !prctl(PR_SET_PDEATHSIG, SIGKILL));
	for (;;) {
		for (i = 0; i < BUSY; i++)
			id[i] = listen_at(&ch[i], IWARP, 0, 1024);
		for (i = 0; i < BUSY; i++)
			close_listener(ch[i], id[i]);
	}
}

/* Listeners of another user, on another device, are nothing to wait for. */
static void listen_beside_others(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	double start, sum = 0;
	pid_t pid = fork();
	int i;

	if (!pid)
		open_and_close_listeners();
	while (system("ss -Hlt src " IWARP " | grep -q ."))
		usleep(20000);
	for (i = 0; i < 10; i++) {
		id = new_bound(&ch, RDMA_PS_TCP, ROCE);
		start = now();
		WANT(!rdma_listen(id, 1024));
		sum += now() - start;
		close_listener(ch, id);
	}
	WANT(!waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_note_print("a listen took %.0f ms", sum * 100);
	WANT(sum < 10);
}

const struct test iwarp_tests[] = {
	{ "iwarp: attempt that fails", attempt_fails },
	{ "iwarp: listener on the port of the one before", listen_same_port },
	{ "iwarp: listener on RoCE, beside another user's on iWARP", listen_beside_others },
	{ }
};
