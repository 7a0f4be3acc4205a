// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The QP of an id: multicast groups, MCAST_LOOPBACK, and QPs of other users. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/task.h"
#include "api.h"

#define GROUP "239.1.4.1"

static const struct ibv_qp_init_attr datagrams = {
	.qp_type = IBV_QPT_UD,
	.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
};

/* Creates an id with a QP of @pd that is attached to GROUP. */
static struct rdma_cm_id *member_create(struct rdma_event_channel **ch, struct ibv_pd **pd)
{
	struct ibv_qp_init_attr attr = datagrams;
	struct rdma_cm_id *id = new_bound_id(ch, RDMA_PS_UDP, "10.77.0.1");

	*pd = ibv_alloc_pd(id->verbs);
	WANT(*pd && !rdma_create_qp(id, *pd, &attr));
	WANT(!rdma_join_multicast(id, ip_addr(GROUP, 0), NULL));
	WANT(!event_expect(*ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	return id;
}

/* libibverbs does not destroy an attached QP, nor a PD with a QP. */
static void test_leave_detaches(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;

	id = member_create(&ch, &pd);
	WANT(ibv_destroy_qp(id->qp));
	WANT(!rdma_leave_multicast(id, ip_addr(GROUP, 0)));
	WANT(!ibv_destroy_qp(id->qp));
	id->qp = NULL;
	WANT(!rdma_destroy_id(id));
}

static void test_destroy_detaches(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;

	id = member_create(&ch, &pd);
	rdma_destroy_qp(id);
	WANT(!ibv_dealloc_pd(pd));
	WANT(!rdma_leave_multicast(id, ip_addr(GROUP, 0)));
	WANT(!rdma_destroy_id(id));
}

/* rxe cannot block loopback, so creating the QP fails. */
static void test_loopback(void)
{
	struct ibv_qp_init_attr attr = datagrams;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");

	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_MCAST_LOOPBACK, 0));
	WANT(rdma_create_qp(id, NULL, &attr) && !id->qp);
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_MCAST_LOOPBACK, 1));
	WANT(!rdma_create_qp(id, NULL, &attr));
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_MCAST_LOOPBACK, 0) && errno == EISCONN);
}

/* The flags that the id adds do not stay in the struct of the caller. */
static void test_loopback_flag(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_UD, .cap = datagrams.cap, .create_flags = 0x5a,
	};
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");

	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_MCAST_LOOPBACK, 0));
	WANT(rdma_create_qp_ex(id, &attr));
	WANT(!(attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr.create_flags == 0x5a);
	/* the caller can use the struct for another id; only the CQs are gone */
	attr.send_cq = NULL;
	attr.recv_cq = NULL;
	id = new_bound_id(&ch, RDMA_PS_UDP, "10.77.0.1");
	WANT(!rdma_create_qp_ex(id, &attr));
}

/* Connects as a user without privileges. Returns 0 or the errno. */
static int qp_connect_as_nobody(uint32_t qp_num)
{
	struct rdma_conn_param param = { .qp_num = qp_num };
	struct pair p = { .param = plain };
	int status;
	pid_t pid = fork();

	if (!pid) {
		WANT(!setresuid(65534, 65534, 65534));
		pair_prepare(&p, RDMA_PS_TCP);
		_exit(rdma_connect(p.id, &param) ? errno : 0);
	}
	WANT(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Otherwise the peer of that user's connection would treat the connection as stale and end it. */
static void test_qp_of_another_user(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_TCP, "10.77.0.1");
	uint32_t qp_num;

	qp_make(id);
	qp_num = id->qp->qp_num;
	WANT(qp_connect_as_nobody(qp_num) == EPERM);
	rdma_destroy_qp(id);
	WANT(!qp_connect_as_nobody(qp_num));
}

static struct rdma_cm_id *stopped_id;
static pthread_t destroyer;
static pid_t destroyer_tid;

static void *destroyer_run(void *arg)
{
	__atomic_store_n(&destroyer_tid, gettid(), __ATOMIC_RELEASE);
	rdma_destroy_qp(stopped_id);
	return arg;
}

/* Another thread begins to destroy the QP that rdma_disconnect() is about to modify. */
static void qp_begin_destroy(void)
{
	before_modify = NULL;
	WANT(!pthread_create(&destroyer, NULL, destroyer_run, NULL));
	while (task_syscall(__atomic_load_n(&destroyer_tid, __ATOMIC_ACQUIRE)) != SYS_futex) {
		WANT(stopped_id->qp);
		usleep(1000);
	}
	WANT(stopped_id->qp);
}

static void test_destroy_waits(void)
{
	struct rdma_event_channel *ch;

	stopped_id = new_bound_id(&ch, RDMA_PS_TCP, "10.77.0.1");
	qp_make(stopped_id);
	before_modify = qp_begin_destroy;
	/* there is no connection */
	WANT(rdma_disconnect(stopped_id) == -1 && errno == EINVAL);
	WANT(!before_modify && !pthread_join(destroyer, NULL) && !stopped_id->qp);
	WANT(!rdma_destroy_id(stopped_id));
}

const struct test qp_tests[] = {
	{ "the QP of another user can't be connected", test_qp_of_another_user },
	{ "leaving detaches the QP", test_leave_detaches },
	{ "a QP goes although it is in a group", test_destroy_detaches },
	{ "a QP goes only after rdma_disconnect() has stopped it", test_destroy_waits },
	{ "MCAST_LOOPBACK is the id's, not the caller's struct's", test_loopback_flag },
	{ "MCAST_LOOPBACK makes the QP, or has it refused", test_loopback },
	{}
};
