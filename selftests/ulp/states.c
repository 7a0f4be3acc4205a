// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A function in each state of an id: the result is a row of the table in Documentation/ulp-api.rst
 *
 *	states FUNCTION ADDR PORT SILENT MISSING
 *
 * SILENT is a peer that never answers, and MISSING one without a neighbour.
 */
#include <linux/atomic.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <rdma/ib_cm.h>
#include "cmx_ulp.h"

/* In the order of the columns. No state up to LISTEN needs a peer. */
enum stage {
	IDLE, BOUND, ADDR_QUERY, ADDR_RESOLVED, ROUTE_RESOLVED, LISTEN, REQ_SENT, REQ_RCVD,
	REP_RCVD, ESTABLISHED, DISCONNECTED, NUM_STAGES,
};

/**
 * struct trial - a call in one state
 * @stage: the state
 * @call: the function
 * @ret: its result
 * @event: the client has an event, which ends a step towards the state
 * @called: the function was called in the handler of the request
 * @children: accepted requests whose ids exist
 */
struct trial {
	enum stage stage;
	int (*call)(struct cmx_id *id);
	int ret;
	struct completion event;
	struct completion called;
	atomic_t children;
};

static struct rdma_conn_param conn_param(void)
{
	static atomic_t qp_num = ATOMIC_INIT(0x1000);

	/* the peer would take a number that was in use before for a stale connection */
	return (struct rdma_conn_param) {
		.qp_num = atomic_inc_return(&qp_num), .retry_count = 7, .rnr_retry_count = 7,
	};
}

static int call_bind_addr(struct cmx_id *id)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	return cmx_bind_addr(id, (struct sockaddr *)&any);
}

static int call_resolve_addr(struct cmx_id *id)
{
	struct sockaddr_in self = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	return cmx_resolve_addr(id, NULL, (struct sockaddr *)&self, ulp_timeout_ms);
}

static int call_resolve_route(struct cmx_id *id)
{
	return cmx_resolve_route(id, ulp_timeout_ms);
}

static int call_set_ib_path(struct cmx_id *id)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };

	return cmx_set_ib_path(id, &rec);
}

static int call_listen(struct cmx_id *id)
{
	return cmx_listen(id, 1);
}

static int call_connect(struct cmx_id *id)
{
	struct rdma_conn_param param = conn_param();

	return cmx_connect(id, &param);
}

static int call_accept(struct cmx_id *id)
{
	struct rdma_conn_param param = conn_param();

	return cmx_accept(id, &param);
}

static int call_reject(struct cmx_id *id)
{
	return cmx_reject(id, NULL, 0, 0);
}

static int call_notify(struct cmx_id *id)
{
	return cmx_notify(id, IB_EVENT_COMM_EST);
}

static int call_create_qp(struct cmx_id *id)
{
	struct ib_qp_init_attr attr = {};
	struct res r = {};
	int ret;

	if (!id->device)
		return cmx_create_qp(id, NULL, &attr);
	ret = res_open(id, &r);
	res_close(id, &r);
	return ret;
}

static int call_init_qp_attr(struct cmx_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask;

	return cmx_init_qp_attr(id, &attr, &mask);
}

static int call_join_multicast(struct cmx_id *id)
{
	struct sockaddr_in group = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef070709),
	};

	return cmx_join_multicast(id, (struct sockaddr *)&group, NULL, NULL);
}

static int call_set_local_ece(struct cmx_id *id)
{
	const struct rdma_ucm_ece ece = { .vendor_id = 1 };

	return cmx_set_local_ece(id, &ece);
}

static int call_restrict_node_type(struct cmx_id *id)
{
	return cmx_restrict_node_type(id, RDMA_NODE_UNSPECIFIED);
}

static const struct {
	const char *name;
	int (*call)(struct cmx_id *id);
} functions[] = {
	{ "cmx_restrict_node_type", call_restrict_node_type },
	{ "cmx_bind_addr", call_bind_addr },
	{ "cmx_resolve_addr", call_resolve_addr },
	{ "cmx_resolve_route", call_resolve_route },
	{ "cmx_set_ib_path", call_set_ib_path },
	{ "cmx_listen", call_listen },
	{ "cmx_set_local_ece", call_set_local_ece },
	{ "cmx_connect", call_connect },
	{ "cmx_accept", call_accept },
	{ "cmx_establish", cmx_establish },
	{ "cmx_reject", call_reject },
	{ "cmx_notify", call_notify },
	{ "cmx_disconnect", cmx_disconnect },
	{ "cmx_create_qp", call_create_qp },
	{ "cmx_init_qp_attr", call_init_qp_attr },
	{ "cmx_join_multicast", call_join_multicast },
};

/* The id of a request gets only events after which it is destroyed, and ESTABLISHED. */
static int server_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct trial *t = id->context;

	if (ev->event == RDMA_CM_EVENT_ESTABLISHED)
		return 0;
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (t->stage == REQ_RCVD) {
			t->ret = t->call(id);
			complete(&t->called);
			return 1;
		}
		atomic_inc(&t->children);
		if (!call_accept(id))
			return 0;
	}
	if (atomic_dec_and_test(&t->children))
		wake_up_var(&t->children);
	return 1;
}

static int client_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct trial *t = id->context;

	complete(&t->event);
	return 0;
}

static int client_wait(struct trial *t, int ret)
{
	return ret ?: ulp_wait(&t->event);
}

/* Take the id, which has just been created, to the state. */
static int client_reach(struct trial *t, struct cmx_id *id, char **argv)
{
	struct sockaddr_storage addr, bind;
	enum stage stage = t->stage;
	const char *host = argv[2];
	int ret;

	if (stage == REQ_SENT)
		host = argv[4];
	if (stage == ADDR_QUERY)
		host = argv[5];
	ret = ulp_addr_parse(host, argv[3], &addr) ?: ulp_addr_parse(argv[2], "0", &bind);
	if (ret || stage == IDLE)
		return ret;
	if (stage == BOUND || stage == LISTEN) {
		ret = cmx_bind_addr(id, (struct sockaddr *)&bind);
		return ret || stage == BOUND ? ret : cmx_listen(id, 1);
	}
	ret = cmx_resolve_addr(id, NULL, (struct sockaddr *)&addr, ulp_timeout_ms);
	if (stage == ADDR_QUERY)
		return ret;
	ret = client_wait(t, ret);
	if (ret || stage == ADDR_RESOLVED)
		return ret;
	ret = client_wait(t, call_resolve_route(id));
	if (ret || stage == ROUTE_RESOLVED)
		return ret;
	ret = call_connect(id);
	if (ret || stage == REQ_SENT)
		return ret;
	if (stage == REQ_RCVD)
		return ulp_wait(&t->called);
	ret = client_wait(t, 0);
	if (ret || stage == REP_RCVD)
		return ret;
	ret = cmx_establish(id);
	if (ret || stage == ESTABLISHED)
		return ret;
	return client_wait(t, cmx_disconnect(id));
}

static int trial_run(struct trial *t, char **argv)
{
	bool ud = t->call == call_join_multicast && t->stage <= REQ_SENT;
	struct cmx_id *id = cmx_create_id(ulp_net(), client_event, t,
					  ud ? RDMA_PS_UDP : RDMA_PS_TCP, ud ? IB_QPT_UD : IB_QPT_RC);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	init_completion(&t->event);
	ret = client_reach(t, id, argv);
	if (!ret && t->stage != REQ_RCVD)
		t->ret = t->call(id);
	cmx_destroy_id(id);
	wait_var_event(&t->children, !atomic_read(&t->children));
	return ret;
}

static void result_print(int ret)
{
	switch (ret) {
	case 0:
		ulp_print("0");
		break;
	case -EINVAL:
		ulp_print("E");
		break;
	case -EISCONN:
		ulp_print("C");
		break;
	case -EALREADY:
		ulp_print("A");
		break;
	default:
		ulp_print("%d", ret);
	}
}

static int trials_run(struct trial *t, char **argv)
{
	int ret;

	for (t->stage = IDLE; t->stage < NUM_STAGES; t->stage++) {
		ret = trial_run(t, argv);
		if (ret) {
			ulp_print("state %d is not reached: %d\n", t->stage, ret);
			return ret;
		}
		if (t->stage)
			ulp_print(", ");
		result_print(t->ret);
	}
	ulp_print("\n");
	return 0;
}

int ulp_states(int argc, char **argv)
{
	struct cmx_id *server = ulp_id_create_bound(argv + 1, server_event);
	struct trial *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int i, ret = IS_ERR(server) ? PTR_ERR(server) : -EINVAL;

	for (i = 0; t && i < ARRAY_SIZE(functions); i++)
		if (!strcmp(argv[1], functions[i].name))
			t->call = functions[i].call;
	if (!IS_ERR(server) && t && t->call) {
		init_completion(&t->called);
		server->context = t;
		ret = cmx_listen(server, 4) ?: trials_run(t, argv);
	}
	if (!IS_ERR(server))
		cmx_destroy_id(server);
	kfree(t);
	return ret;
}
