// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp: how a device handles requests of a connected QP, by the public API of libibverbs.
 *
 *	qp DEVICE CASE
 *
 * Two QPs of port 1 are connected to each other. The status is 0 if the device does what IBTA says.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "../lib/die.h"
#include "../lib/now.h"

#define LENGTH 64
#define WAIT_MS 2000
#define QUIET_MS 100
#define ENDLESS_RNR 7

static struct ibv_context *verbs;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;		/* for sends of the first QP */
static struct ibv_cq *recv_cq;		/* for receives of the second QP */
static struct ibv_qp *qp[2];
static char buf[2 * LENGTH];

static void check_result(int ok, const char *what)
{
	if (!ok) {
		printf("does not hold: %s\n", what);
		exit(1);
	}
}

static void device_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			verbs = ibv_open_device(list[i]);
	if (!verbs)
		die(name);
	pd = ibv_alloc_pd(verbs);
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	cq = ibv_create_cq(verbs, 16, NULL, NULL, 0);
	recv_cq = ibv_create_cq(verbs, 16, NULL, NULL, 0);
	if (!pd || !mr || !cq || !recv_cq)
		die("set-up");
	fcntl(verbs->async_fd, F_SETFL, O_NONBLOCK);
}

static struct ibv_qp *qp_create(enum ibv_qp_type type, unsigned int access)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = recv_cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = type,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = access,
	};
	struct ibv_qp *new = ibv_create_qp(pd, &init);

	if (!new)
		die("ibv_create_qp");
	if (ibv_modify_qp(new, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("INIT");
	return new;
}

static void qp_connect(struct ibv_qp *to, struct ibv_qp *peer)
{
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.min_rnr_timer = 12,
		.ah_attr.port_num = 1,
	};
	struct ibv_port_attr port;

	if (ibv_query_port(verbs, 1, &port))
		die("ibv_query_port");
	attr.ah_attr.dlid = port.lid;
	if (to->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (ibv_modify_qp(to, &attr, mask))
		die("RTR");
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = ENDLESS_RNR;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (to->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	if (ibv_modify_qp(to, &attr, mask))
		die("RTS");
}

static void pair_create(enum ibv_qp_type type, unsigned int access)
{
	qp[0] = qp_create(type, access);
	qp[1] = qp_create(type, access);
	qp_connect(qp[0], qp[1]);
	qp_connect(qp[1], qp[0]);
}

static enum ibv_qp_state qp_state(struct ibv_qp *of, int *draining)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(of, &attr, IBV_QP_STATE, &init))
		die("ibv_query_qp");
	if (draining)
		*draining = attr.sq_draining;
	return attr.qp_state;
}

static void recv_post(unsigned int length)
{
	struct ibv_sge sge = { (uintptr_t)buf + LENGTH, length, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(qp[1], &wr, &bad))
		die("ibv_post_recv");
}

static void send_post(unsigned int wr_id, unsigned int length)
{
	struct ibv_sge sge = { (uintptr_t)buf, length, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	}, *bad;

	if (ibv_post_send(qp[0], &wr, &bad))
		die("ibv_post_send");
}

static void write_post(uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)buf, LENGTH, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)buf + LENGTH, rkey },
	}, *bad;

	if (ibv_post_send(qp[0], &wr, &bad))
		die("ibv_post_send");
}

/* Returns the status of the next completion, or -1 if none comes within @ms. */
static int wc_wait(struct ibv_cq *of, int ms, struct ibv_wc *wc)
{
	long long end = now_ms() + ms;

	do {
		if (ibv_poll_cq(of, 1, wc) > 0)
			return wc->status;
		poll(NULL, 0, 1);
	} while (now_ms() < end);
	return -1;
}

/* Returns whether @of gets the event @type within @ms. Other events before it are skipped. */
static int event_arrives(struct ibv_qp *of, enum ibv_event_type type, int ms)
{
	long long end = now_ms() + ms;
	struct ibv_async_event event;
	int found;

	do {
		while (!ibv_get_async_event(verbs, &event)) {
			found = event.event_type == type && event.element.qp == of;
			ibv_ack_async_event(&event);
			if (found)
				return 1;
		}
		poll(NULL, 0, 1);
	} while (now_ms() < end);
	return 0;
}

/* A UC responder drops a bad request. The receive stays posted for the next message. */
static void test_uc_drops(void)
{
	struct ibv_wc wc;

	pair_create(IBV_QPT_UC, IBV_ACCESS_REMOTE_WRITE);
	recv_post(LENGTH / 2);
	write_post(mr->rkey + 1);
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_SUCCESS, "the sender is not told");
	send_post(2, LENGTH);
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_SUCCESS, "of a long message neither");
	check_result(qp_state(qp[1], NULL) == IBV_QPS_RTS, "the responder is in RTS");
	check_result(wc_wait(recv_cq, QUIET_MS, &wc) == -1, "nothing was received");
	send_post(3, LENGTH / 2);
	check_result(wc_wait(recv_cq, WAIT_MS, &wc) == IBV_WC_SUCCESS, "a good message arrives");
}

static void test_access_error(void)
{
	struct ibv_wc wc;

	pair_create(IBV_QPT_RC, IBV_ACCESS_REMOTE_WRITE);
	write_post(mr->rkey + 1);
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR");
	check_result(event_arrives(qp[1], IBV_EVENT_QP_ACCESS_ERR, WAIT_MS), "QP_ACCESS_ERR");
	check_result(qp_state(qp[1], NULL) == IBV_QPS_ERR, "the responder is in error");
}

static void test_request_error(void)
{
	struct ibv_wc wc;

	pair_create(IBV_QPT_RC, 0);
	write_post(mr->rkey);
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR");
	check_result(event_arrives(qp[1], IBV_EVENT_QP_REQ_ERR, WAIT_MS), "QP_REQ_ERR");
}

/* An error that completes a receive is reported only by that completion. */
static void test_length_error(void)
{
	struct ibv_wc wc;

	pair_create(IBV_QPT_RC, 0);
	recv_post(LENGTH / 2);
	send_post(1, LENGTH);
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR");
	check_result(wc_wait(recv_cq, WAIT_MS, &wc) == IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR");
	check_result(!event_arrives(qp[1], IBV_EVENT_QP_REQ_ERR, QUIET_MS), "no QP_REQ_ERR");
}

/*
 * SQD: sends that have begun complete, then the event SQ_DRAINED comes, and the other sends wait
 * for RTS.
 */
static void test_send_queue_drains(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_wc wc;
	int draining;

	pair_create(IBV_QPT_RC, 0);
	send_post(1, LENGTH);
	check_result(wc_wait(cq, QUIET_MS, &wc) == -1, "a send waits for a receive");
	send_post(2, LENGTH);
	if (ibv_modify_qp(qp[0], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY))
		die("SQD");
	check_result(qp_state(qp[0], &draining) == IBV_QPS_SQD && draining, "the queue drains");
	check_result(!event_arrives(qp[0], IBV_EVENT_SQ_DRAINED, QUIET_MS),
		     "and is not drained yet");
	recv_post(LENGTH);
	recv_post(LENGTH);
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_SUCCESS && wc.wr_id == 1,
		     "the first send ends");
	check_result(event_arrives(qp[0], IBV_EVENT_SQ_DRAINED, WAIT_MS), "SQ_DRAINED");
	check_result(qp_state(qp[0], &draining) == IBV_QPS_SQD && !draining,
		     "the queue is drained");
	check_result(wc_wait(cq, QUIET_MS, &wc) == -1, "the second send has not begun");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp[0], &attr, IBV_QP_STATE))
		die("RTS");
	check_result(wc_wait(cq, WAIT_MS, &wc) == IBV_WC_SUCCESS && wc.wr_id == 2,
		     "the second send");

	attr.qp_state = IBV_QPS_SQD;
	if (ibv_modify_qp(qp[0], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY))
		die("SQD");
	check_result(event_arrives(qp[0], IBV_EVENT_SQ_DRAINED, WAIT_MS),
		     "SQ_DRAINED of an idle queue");
}

/* vib does not support automatic path migration. */
static void test_no_alternate_path(void)
{
	struct ibv_qp_attr attr = {
		.alt_ah_attr = { .dlid = 1, .port_num = 1 },
		.alt_port_num = 1,
		.path_mig_state = IBV_MIG_REARM,
	};

	pair_create(IBV_QPT_RC, 0);
	check_result(ibv_modify_qp(qp[0], &attr, IBV_QP_ALT_PATH) == EINVAL, "no ALT_PATH");
	check_result(ibv_modify_qp(qp[0], &attr, IBV_QP_PATH_MIG_STATE) == EINVAL, "no REARM");
	check_result(qp_state(qp[0], NULL) == IBV_QPS_RTS, "the QP is as it was");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "uc-drops", test_uc_drops },
	{ "access-error", test_access_error },
	{ "request-error", test_request_error },
	{ "length-error", test_length_error },
	{ "sqd", test_send_queue_drains },
	{ "no-alternate-path", test_no_alternate_path },
};

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; argc == 3 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[2], cases[i].name)) {
			device_open(argv[1]);
			cases[i].run();
			return 0;
		}
	fprintf(stderr, "qp DEVICE CASE\n");
	return 2;
}
