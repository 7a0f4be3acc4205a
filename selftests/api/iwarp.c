// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tests that need an iWARP device. Only the suite iwarp runs them, with the option -x. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/now.h"
#include "api.h"

#define IWARP "10.77.0.1"
#define ROCE "10.79.0.1"
#define LATE "10.77.0.99"

struct ibv_qp *iwarp_qp_new(struct rdma_cm_id *id)
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
	return qp;
}

static void *id_connect_to_nobody(void *id)
{
	struct rdma_conn_param par = { .qp_num = iwarp_qp_new(id)->qp_num };

	WANT(rdma_connect(id, &par));
	return NULL;
}

/*
 * A disconnect during an attempt applies to that attempt only. The next connection of the id is not
 * disconnected.
 */
static void test_attempt_fails(void)
{
	struct rdma_event_channel *ch, *lch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	struct rdma_cm_id *listener = new_id(&lch, RDMA_PS_TCP);
	struct rdma_conn_param par = {};
	struct rdma_cm_event *ev;
	pthread_t thread;

	WANT(!system("echo 1 >/proc/sys/net/ipv4/tcp_syn_retries"));
	id_resolve(ch, id, LATE, 7530);
	WANT(!pthread_create(&thread, NULL, id_connect_to_nobody, id));
	while (module_sum_get("state-connect") != 1)
		usleep(20000);
	WANT(!rdma_disconnect(id));
	WANT(!pthread_join(thread, NULL));

	WANT(!system("ip addr add " LATE "/32 dev d0"));
	WANT(!rdma_bind_addr(listener, ip_addr(LATE, 7530)));
	WANT(!rdma_listen(listener, 1));
	par.qp_num = iwarp_qp_new(id)->qp_num;
	WANT(!rdma_connect(id, &par));
	ev = event_next(lch, 15000);
	WANT(ev && ev->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	par.qp_num = iwarp_qp_new(ev->id)->qp_num;
	WANT(!rdma_accept(ev->id, &par));
	WANT(!rdma_ack_cm_event(ev));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_expect(lch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_next(ch, 1000));
	WANT(!system("ip addr del " LATE "/32 dev d0"));
}

/* Does a process or a worker of the kernel wait in the destruction of an iw_cm id? */
static bool destruction_waits(void)
{
	return !system("grep -Eqsw '(iw_)?destroy_cm_id' /proc/[0-9]*/stack");
}

/*
 * A peer that accepts the TCP connection and never replies. Destroying the id does not wait for it,
 * and neither does a worker: users share the workers. When the peer gives up, the iw_cm id is
 * destroyed. The suite unloads the module, which would wait for one that is left.
 */
static void test_silent_peer(void)
{
	struct rdma_conn_param par = {};
	struct rdma_event_channel *ch;
	int tcp = socket(AF_INET, SOCK_STREAM, 0), peer, i;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(tcp >= 0 && !bind(tcp, ip_addr(IWARP, 7532), sizeof(struct sockaddr_in)) &&
	     !listen(tcp, 1));
	id_resolve(ch, id, IWARP, 7532);
	par.qp_num = iwarp_qp_new(id)->qp_num;
	WANT(!rdma_connect(id, &par));
	peer = accept(tcp, NULL, NULL);
	WANT(peer >= 0);
	WANT(!rdma_destroy_id(id));
	for (i = 0; i < 10; i++) {
		usleep(20000);
		WANT(!destruction_waits());
	}
	close(peer);
	close(tcp);
}

/* TCP must not connect from a namespace in which the address may belong to another host. */
static void test_other_namespace(void)
{
	struct rdma_conn_param par = {};
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	id_resolve(ch, id, IWARP, 7533);
	par.qp_num = iwarp_qp_new(id)->qp_num;
	WANT(!unshare(CLONE_NEWNET));
	WANT(rdma_connect(id, &par) && errno == EINVAL);
}

static void id_connect_and_wait(const char *addr, int port)
{
	struct rdma_conn_param par = {};
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	WANT(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	id = new_id(&ch, RDMA_PS_TCP);
	id_resolve(ch, id, addr, port);
	par.qp_num = iwarp_qp_new(id)->qp_num;
	rdma_connect(id, &par);
	for (;;)
		pause();
}

bool iwarp_device_exists(void)
{
	return !access("/sys/class/infiniband/siw0", F_OK);
}

/* Removes the device while a process connects, and then kills that process. */
static void device_remove(const char *addr, int port)
{
	pid_t pid = fork();

	if (!pid)
		id_connect_and_wait(addr, port);
	while (module_sum_get("state-connect") != 1)
		usleep(20000);
	WANT(!system("rdma link delete siw0 &"));
	usleep(500000);
	WANT(iwarp_device_exists());
	WANT(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	/* the time limit of the case ends the loop */
	while (iwarp_device_exists())
		usleep(100000);
}

static void test_removal_tcp(void)
{
	device_remove(LATE, 7534);
}

/* The peer accepts the TCP connection and never replies. The provider waits for some time. */
static void test_removal_mpa(void)
{
	int tcp = socket(AF_INET, SOCK_STREAM, 0);

	WANT(tcp >= 0 && !bind(tcp, ip_addr(IWARP, 7535), sizeof(struct sockaddr_in)) &&
	     !listen(tcp, 1));
	device_remove(IWARP, 7535);
	/* a listener that ends with a connection in its queue shows lockdep a fault of siw's locks */
	close(accept(tcp, NULL, NULL));
	close(tcp);
}

static struct rdma_cm_id *listener_open(struct rdma_event_channel **ch, const char *addr, int port,
					int backlog)
{
	struct rdma_cm_id *id = new_id(ch, RDMA_PS_TCP);

	WANT(!rdma_bind_addr(id, ip_addr(addr, port)) && !rdma_listen(id, backlog));
	return id;
}

static void listener_close(struct rdma_event_channel *ch, struct rdma_cm_id *id)
{
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

/*
 * rdma_destroy_id() does not wait until TCP has released the port of a listener. The next
 * rdma_listen() on that port does.
 */
static void test_listen_same_port(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 20; i++) {
		id = listener_open(&ch, IWARP, 7531, 1024);
		listener_close(ch, id);
	}
}

#define BUSY 16

static void listeners_open_and_close(void)
{
	struct rdma_event_channel *ch[BUSY];
	struct rdma_cm_id *id[BUSY];
	int i;

	WANT(!setuid(65534) && !prctl(PR_SET_PDEATHSIG, SIGKILL));
	for (;;) {
		for (i = 0; i < BUSY; i++)
			id[i] = listener_open(&ch[i], IWARP, 0, 1024);
		for (i = 0; i < BUSY; i++)
			listener_close(ch[i], id[i]);
	}
}

/* A listener does not wait for listeners of another user on another device. */
static void test_listen_beside_others(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	double start, sum = 0;
	pid_t pid = fork();
	int i;

	if (!pid)
		listeners_open_and_close();
	while (system("ss -Hlt src " IWARP " | grep -q ."))
		usleep(20000);
	for (i = 0; i < 10; i++) {
		id = new_bound_id(&ch, RDMA_PS_TCP, ROCE);
		start = now();
		WANT(!rdma_listen(id, 1024));
		sum += now() - start;
		listener_close(ch, id);
	}
	WANT(!waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_note_print("a listen took %.0f ms", sum * 100);
	WANT(sum < 10);
}

const struct test iwarp_tests[] = {
	{ "iwarp: attempt that fails", test_attempt_fails },
	{ "iwarp: peer that does not reply", test_silent_peer },
	{ "iwarp: removal during TCP set-up", test_removal_tcp },
	{ "iwarp: removal during MPA set-up", test_removal_mpa },
	{ "iwarp: connect from another network namespace", test_other_namespace },
	{ "iwarp: listener on the port of the one before", test_listen_same_port },
	{ "iwarp: listener on RoCE, beside another user's on iWARP", test_listen_beside_others },
	{ }
};
