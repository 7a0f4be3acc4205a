// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ece: two ends that create their queue pairs themselves negotiate ECE and print the result.
 *
 *   ece -s ADDRESS PORT [VENDOR OPTIONS]	the passive end
 *   ece ADDRESS PORT [VENDOR OPTIONS]		the active end
 *
 * VENDOR and OPTIONS replace those of the provider, to try this if the provider has no ECE.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cmx.h>

static const char *host, *port;
static struct ibv_ece trial;	/* from the command line */

static void die(const char *step, const struct rdma_cm_id *id, int err)
{
	const struct rdma_cm_event *event = id ? id->event : NULL;

	fprintf(stderr, "ece: %s, %s port %s: %s", step, host, port, strerror(err));
	if (event && event->status)
		fprintf(stderr, " (%s, status %d)", rdma_event_str(event->event), event->status);
	fputc('\n', stderr);
	exit(1);
}

static struct ibv_qp *make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_qp *qp;

	attr.send_cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	qp = pd && attr.send_cq ? ibv_create_qp(pd, &attr) : NULL;
	if (!qp)
		die("create QP", id, errno);
	return qp;
}

/* rdma_init_qp_attr() returns the attributes that each state needs. */
static void move_qp(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask, err;

	if (rdma_init_qp_attr(id, &attr, &mask))
		die("QP attributes", id, errno);
	err = ibv_modify_qp(qp, &attr, mask);
	if (err)
		die("modify QP", id, err);
}

/* Returns the ECE options of the queue pair; vendor 0 means no ECE. */
static struct ibv_ece query_ece(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	struct ibv_ece ece = {};
	int err = trial.vendor_id ? 0 : ibv_query_ece(qp, &ece);

	if (err && err != EOPNOTSUPP)
		die("query ECE", id, err);
	return trial.vendor_id ? trial : ece;
}

/* Sets the options of the peer that the queue pair supports, and returns them. */
static struct ibv_ece set_ece(struct rdma_cm_id *id, struct ibv_qp *qp, struct ibv_ece peer)
{
	int err;

	if (trial.vendor_id) {
		trial.options = peer.vendor_id == trial.vendor_id ? trial.options & peer.options : 0;
	} else if (peer.vendor_id) {
		err = ibv_set_ece(qp, &peer);
		if (err && err != EOPNOTSUPP)
			die("set ECE", id, err);
	}
	return query_ece(id, qp);
}

static void offer_ece(struct rdma_cm_id *id, struct ibv_ece ece)
{
	if (ece.vendor_id && rdma_set_local_ece(id, &ece))
		die("offer ECE", id, errno);
}

static void show(struct rdma_cm_id *id)
{
	struct cmx_ece_info info;

	if (rdma_cmx_query_ece(id, &info, sizeof(info)))
		die("query ECE", id, errno);
	printf("local 0x%x:0x%x, peer 0x%x:0x%x, %s\n", info.local.vendor_id, info.local.options,
	       info.remote.vendor_id, info.remote.options,
	       info.flags & CMX_ECE_F_APPLIED ? "both ends have ECE" : "no ECE");
}

static void call(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct ibv_ece ece;
	struct ibv_qp *qp;

	if (rdma_resolve_addr(id, NULL, addr, 2000) || rdma_resolve_route(id, 2000))
		die("resolve", id, errno);
	qp = make_qp(id);
	offer_ece(id, query_ece(id, qp));
	move_qp(id, qp, IBV_QPS_INIT);
	param.qp_num = qp->qp_num;
	/* the id has no QP for the library to move, so this returns when the answer arrives */
	if (rdma_connect(id, &param))
		die("connect", id, errno);
	if (rdma_get_remote_ece(id, &ece))
		die("read the answer", id, errno);
	set_ece(id, qp, ece);
	move_qp(id, qp, IBV_QPS_RTR);
	move_qp(id, qp, IBV_QPS_RTS);
	if (rdma_establish(id))
		die("establish", id, errno);
	show(id);
}

static void serve(struct rdma_cm_id *listener, struct sockaddr *addr)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *id;
	struct ibv_ece ece;
	struct ibv_qp *qp;

	if (rdma_bind_addr(listener, addr) || rdma_listen(listener, 1))
		die("listen", listener, errno);
	if (rdma_get_request(listener, &id))
		die("wait for a request", listener, errno);
	if (rdma_get_remote_ece(id, &ece))
		die("read the offer", id, errno);
	qp = make_qp(id);
	/* send an answer only to an offer */
	if (ece.vendor_id)
		offer_ece(id, set_ece(id, qp, ece));
	move_qp(id, qp, IBV_QPS_INIT);
	move_qp(id, qp, IBV_QPS_RTR);
	move_qp(id, qp, IBV_QPS_RTS);
	param.qp_num = qp->qp_num;
	if (rdma_accept(id, &param))
		die("accept", id, errno);
	show(id);
}

int main(int argc, char **argv)
{
	int server = argc > 1 && !strcmp(argv[1], "-s");
	struct rdma_cm_id *id;
	struct addrinfo *ai;

	argc -= server;
	argv += server;
	if (argc != 3 && argc != 5)
		return 2;
	host = argv[1];
	port = argv[2];
	if (argc == 5) {
		trial.vendor_id = strtoul(argv[3], NULL, 0);
		trial.options = strtoul(argv[4], NULL, 0);
	}
	if (getaddrinfo(host, port, NULL, &ai))
		die("look up the name", NULL, EINVAL);
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		die("open rdma_cmx", NULL, errno);
	if (server)
		serve(id, ai->ai_addr);
	else
		call(id, ai->ai_addr);
	return 0;
}
