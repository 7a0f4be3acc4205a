// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A provider of iWARP that waits in a call. Meanwhile no other id waits, and the id can be used,
 * destroyed or lose its device. As in iwarp.c, only the suite iwarp runs these cases. It has loaded
 * the test ULP, which makes the provider wait.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "api.h"

#define IWARP "10.77.0.1"
#define ULP "/sys/kernel/debug/cmx_ulp/"

/* The time limit of the case ends the wait. */
static void ulp_wait_line(const char *want)
{
	bool found = false;
	char line[128];
	FILE *f;

	while (!found) {
		usleep(10000);
		f = fopen(ULP "result", "r");
		WANT(f);
		while (fgets(line, sizeof(line), f))
			found |= !strcmp(line, want);
		fclose(f);
	}
}

/* From now on the provider waits in @call. Returns the process to pass to delay_end(). */
static pid_t delay_begin(const char *call)
{
	pid_t pid = fork();

	if (!pid) {
		WANT(!prctl(PR_SET_PDEATHSIG, SIGTERM));
		file_write(ULP "run", "delay d0 %s", call);
		_exit(1);
	}
	ulp_wait_line("delays\n");
	return pid;
}

static void delay_end(pid_t pid)
{
	WANT(!kill(pid, SIGTERM) && waitpid(pid, NULL, 0) == pid);
}

/**
 * struct caller - a thread whose call waits in the provider
 * @thread: the thread
 * @id: the id
 * @qp_num: the QP of an accept
 * @ret: result of the call
 */
struct caller {
	pthread_t thread;
	struct rdma_cm_id *id;
	uint32_t qp_num;
	int ret;
};

static void *caller_accept(void *arg)
{
	struct caller *c = arg;
	struct rdma_conn_param par = { .qp_num = c->qp_num };

	c->ret = rdma_accept(c->id, &par);
	return NULL;
}

static void *caller_reject(void *arg)
{
	struct caller *c = arg;

	c->ret = rdma_reject(c->id, NULL, 0);
	return NULL;
}

static void *caller_disconnect(void *arg)
{
	struct caller *c = arg;

	c->ret = rdma_disconnect(c->id);
	return NULL;
}

static void *caller_listen(void *arg)
{
	struct caller *c = arg;

	c->ret = rdma_listen(c->id, 1);
	return NULL;
}

/* Returns when the provider waits. */
static void caller_start(struct caller *c, void *(*run)(void *))
{
	WANT(!pthread_create(&c->thread, NULL, run, c));
	ulp_wait_line("waits\n");
}

static int caller_end(struct caller *c)
{
	WANT(!pthread_join(c->thread, NULL));
	return c->ret;
}

/* Returns the QP of the active side. */
static struct ibv_qp *request_make(struct pair *p)
{
	struct rdma_conn_param par = {};
	struct ibv_qp *qp;

	pair_prepare(p, RDMA_PS_TCP);
	qp = iwarp_qp_new(p->id);
	par.qp_num = qp->qp_num;
	pair_request_with(p, RDMA_PS_TCP, &par);
	return qp;
}

/* The passive side can accept. Returns the QP of the active side. */
static struct ibv_qp *accept_prepare(struct pair *p, struct caller *accept)
{
	struct ibv_qp *qp = request_make(p);

	accept->id = p->child;
	accept->qp_num = iwarp_qp_new(p->child)->qp_num;
	return qp;
}

#define FAILS(call) WANT((call) == -1 && errno == EINVAL)

/*
 * While a request is being replied to, it cannot be accepted or rejected. Other requests arrive.
 * The disconnect ends the connection as soon as it is established.
 */
static void test_accept(void)
{
	struct pair p = { .param = plain }, other = p;
	struct caller accept;
	pid_t pid;

	accept_prepare(&p, &accept);
	pid = delay_begin("accept");
	caller_start(&accept, caller_accept);
	FAILS(rdma_reject(p.child, NULL, 0));
	FAILS(rdma_accept(p.child, &(struct rdma_conn_param){ .qp_num = accept.qp_num }));
	WANT(!rdma_disconnect(p.child));
	request_make(&other);
	delay_end(pid);
	WANT(!caller_end(&accept));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
}

/* The destruction of the id does not wait. The connection that comes after it ends. */
static void test_accept_destroy(void)
{
	struct caller accept;
	struct pair p = { .param = plain };
	pid_t pid;

	accept_prepare(&p, &accept);
	pid = delay_begin("accept");
	caller_start(&accept, caller_accept);
	WANT(!rdma_destroy_id(p.child));
	delay_end(pid);
	WANT(!caller_end(&accept));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!event_next(p.lch, 100));
}

/* The deadline of an accept ends while the provider waits. It is the last event. */
static void test_accept_deadline(void)
{
	struct caller accept;
	struct pair p = { .param = plain };
	pid_t pid;

	accept_prepare(&p, &accept);
	WANT(!set_u32(p.child, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 50));
	pid = delay_begin("accept");
	caller_start(&accept, caller_accept);
	WANT(event_expect(p.lch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
	delay_end(pid);
	WANT(!caller_end(&accept));
	WANT(!event_next(p.lch, 100));
}

static void test_reject(void)
{
	struct caller reject;
	struct pair p = { .param = plain };
	pid_t pid;

	request_make(&p);
	reject.id = p.child;
	pid = delay_begin("reject");
	caller_start(&reject, caller_reject);
	FAILS(rdma_reject(p.child, NULL, 0));
	WANT(!rdma_destroy_id(p.child));
	delay_end(pid);
	WANT(!caller_end(&reject));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED));
}

/* The peer ends the connection meanwhile: its event does not wait. */
static void test_disconnect(void)
{
	struct caller disconnect;
	struct pair p = { .param = plain };
	struct ibv_qp *qp;
	pid_t pid;

	qp = accept_prepare(&p, &disconnect);
	caller_accept(&disconnect);
	WANT(!disconnect.ret);
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_ESTABLISHED));
	pid = delay_begin("modify_qp");
	caller_start(&disconnect, caller_disconnect);
	WANT(!ibv_destroy_qp(qp));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!rdma_destroy_id(p.child));
	delay_end(pid);
	WANT(!caller_end(&disconnect));
}

/* The next listener on the port waits until the provider has released it. */
static void test_listen_destroy(void)
{
	struct rdma_event_channel *ch, *next_ch;
	struct caller listen = { .id = new_bound_id(&ch, RDMA_PS_TCP, IWARP) };
	struct rdma_cm_id *next = new_id(&next_ch, RDMA_PS_TCP);
	int port = ntohs(rdma_get_src_port(listen.id));
	pid_t pid;

	pid = delay_begin("listen");
	caller_start(&listen, caller_listen);
	FAILS(rdma_listen(listen.id, 1));
	WANT(!rdma_destroy_id(listen.id));
	delay_end(pid);
	WANT(!caller_end(&listen));
	WANT(!rdma_bind_addr(next, ip_addr(IWARP, port)) && !rdma_listen(next, 1));
}

/* The removal of the device waits for the provider, and for the end of this process. */
static void device_remove(struct pair *p, const char *call, struct caller *c, void *(*run)(void *))
{
	pid_t pid = delay_begin(call);

	caller_start(c, run);
	WANT(!system("rdma link delete siw0 &"));
	WANT(!event_expect(p->lch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(iwarp_device_exists());
	delay_end(pid);
	WANT(!caller_end(c));
}

static void test_listen_removal(void)
{
	struct pair p = { .param = plain };
	struct caller listen = { .id = new_bound_id(&p.lch, RDMA_PS_TCP, IWARP) };

	device_remove(&p, "listen", &listen, caller_listen);
	WANT(!event_next(p.lch, 100));
}

/* Both ends of the connection get the event. The accept may have succeeded before. */
static void test_accept_removal(void)
{
	struct rdma_cm_event *ev;
	struct caller accept;
	struct pair p = { .param = plain };
	bool established;

	accept_prepare(&p, &accept);
	device_remove(&p, "accept", &accept, caller_accept);
	ev = event_next(p.ch, 15000);
	WANT(ev);
	established = ev->event == RDMA_CM_EVENT_ESTABLISHED;
	WANT(established || ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL);
	rdma_ack_cm_event(ev);
	WANT(!established || !event_expect(p.ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
}

const struct test delay_tests[] = {
	{ "delay: accept: the id is usable meanwhile, and no other one waits", test_accept },
	{ "delay: accept and destroy: the connection ends", test_accept_destroy },
	{ "delay: accept and deadline: UNREACHABLE is the last event", test_accept_deadline },
	{ "delay: reject and destroy: the peer is rejected", test_reject },
	{ "delay: disconnect: the peer's end is reported meanwhile", test_disconnect },
	{ "delay: listen and destroy: the port can be used afterwards", test_listen_destroy },
	{ "delay: removal during listen: DEVICE_REMOVAL does not wait", test_listen_removal },
	{ "delay: removal during accept: DEVICE_REMOVAL does not wait", test_accept_removal },
	{ }
};
