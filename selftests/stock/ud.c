// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams: service ID resolution (SIDR). */
#include "util.h"

static unsigned char data[256] = "datagram service, please";

struct lens {
	int req, rep;
};

static void test_full(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_listen(&d, RDMA_PS_UDP);
	pair_route(&d, RDMA_PS_UDP);
	show_id(d.id);
	show_qp(d.id->qp);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	show_id(d.child);
	qp_create(d.child, IBV_QPT_UD);
	show_qp(d.child->qp);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_expect_none(d.lch);
	show_id(d.id);
	show_qp(d.id->qp);
	CALL(rdma_disconnect(d.id), "disconnect cli");
	CALL(rdma_disconnect(d.child), "disconnect srv");
	event_expect_none(d.ch);
	event_expect_none(d.lch);
	pair_close(&d);
}

static void test_private_data(const void *arg)
{
	const struct lens *l = arg;
	struct pair d;

	memset(data + 40, 0xa5, sizeof(data) - 40);
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_UDP);
	d.param.private_data = data;
	d.param.private_data_len = l->req;
	if (CALL(rdma_connect(d.id, &d.param), "connect len=%d", l->req))
		goto out;
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_UD);
	d.param.private_data_len = l->rep;
	if (!CALL(rdma_accept(d.child, &d.param), "accept len=%d", l->rep) ||
	    channel_poll(d.ch, 1000))
		event_trace(d.ch);
out:
	pair_close(&d);
}

static void test_refused(const void *arg)
{
	const int *len = arg;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_UDP);
	CALL(rdma_reject(d.child, data, *len), "reject srv len=%d", *len);
	if (channel_poll(d.ch, 1000))
		event_trace(d.ch);
	CALL(rdma_reject(d.child, data, 0), "reject srv again");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	CALL(rdma_connect(d.id, &d.param), "connect cli again");
	pair_close(&d);
}

static void test_no_listener(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_route, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	event_trace(d.ch);
	pair_close(&d);
}

/* A request of UDP does not find a listener of another port space. */
static void test_wrong_space(const void *arg)
{
	const enum rdma_port_space *ps = arg;
	struct pair d;

	pair_init(&d);
	quiet++;
	pair_listen(&d, ps[0]);
	pair_route(&d, ps[1]);
	quiet--;
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	event_trace(d.ch);
	event_expect_none(d.lch);
	pair_close(&d);
}

static void test_external(const void *arg)
{
	struct ibv_qp *mine, *theirs;
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_UDP);
	mine = ext_qp_create(d.id, IBV_QPT_UD, "mine");
	ext_qp_modify(d.id, mine, IBV_QPS_INIT);
	show_init_attr(d.id, IBV_QPS_RTR);
	show_init_attr(d.id, IBV_QPS_RTS);
	d.param.qp_num = mine->qp_num;
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	CALL(rdma_establish(d.id), "establish cli");
	d.child = event_expect_request(d.lch, "srv");
	theirs = ext_qp_create(d.child, IBV_QPT_UD, "theirs");
	ext_qp_modify(d.child, theirs, IBV_QPS_INIT);
	d.param.qp_num = theirs->qp_num;
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	pair_close(&d);
}

static void test_accept_bare(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.id, NULL), "connect cli NULL");
	d.child = event_expect_request(d.lch, "srv");
	d.param.qp_num = qpn_fake("srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv, no QP");
	event_trace(d.ch);
	pair_close(&d);
}

static void test_twice(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.id, &d.param), "connect cli again");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv again");
	event_trace(d.ch);
	CALL(rdma_connect(d.id, &d.param), "connect cli after all");
	event_expect_none(d.ch);
	pair_close(&d);
}

static void test_destroyed(const void *arg)
{
	const int *which = arg;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_UDP);
	if (*which) {
		rdma_destroy_qp(d.child);
		id_destroy(d.child);
		d.child = NULL;
		event_trace(d.ch);
	} else {
		rdma_destroy_qp(d.id);
		id_destroy(d.id);
		d.id = NULL;
		CALL(rdma_accept(d.child, &d.param), "accept srv");
		event_expect_none(d.lch);
	}
	pair_close(&d);
}

static void test_ghost(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_conn_param param = { };
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_UDP);
	quiet++;
	id_resolve_addr(id, NULL, GHOST, PORT);
	event_trace(ch);
	id_resolve_route(id);
	event_trace(ch);
	qp_create(id, IBV_QPT_UD);
	quiet--;
	CALL(rdma_connect(id, &param), "connect");
	event_expect_none(ch);
	CALL(rdma_disconnect(id), "disconnect");
	rdma_destroy_qp(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_wildcard(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.listener = id_create(d.lch, "lst", RDMA_PS_UDP);
	id_bind(d.listener, "0.0.0.0", PORT);
	id_listen(d.listener, 2);
	pair_run_quietly(pair_route, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	show_id(d.child);
	qp_create(d.child, IBV_QPT_UD);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	pair_close(&d);
}

/* A server answers all SIDR requests with the QP of its listener. */
static void test_listener_qp(const void *arg)
{
	enum rdma_port_space ps = *(const int *)arg;
	struct pair d;
	int i;

	pair_init(&d);
	if (pair_listen(&d, ps) || qp_create(d.listener, IBV_QPT_UD))
		return;
	show_qp(d.listener->qp);
	show_init_attr(d.listener, IBV_QPS_INIT);
	show_init_attr(d.listener, IBV_QPS_RTR);
	show_init_attr(d.listener, IBV_QPS_RTS);
	for (i = 0; i < 2; i++) {
		pair_route(&d, ps);
		d.param.qp_num = 0;
		CALL(rdma_connect(d.id, &d.param), "connect cli");
		d.child = event_expect_request(d.lch, "srv");
		d.param.qp_num = d.listener->qp->qp_num;
		CALL(rdma_accept(d.child, &d.param), "accept srv");
		event_trace(d.ch);
		id_destroy(d.child);
		d.child = NULL;
		rdma_destroy_qp(d.id);
		id_destroy(d.id);
		d.id = NULL;
	}
	pair_close(&d);
}

/* QP attributes of a listener for connections. */
static void test_listener_attr(const void *arg)
{
	struct pair d;

	pair_init(&d);
	pair_listen(&d, *(const int *)arg);
	qp_create(d.listener, IBV_QPT_RC);
	show_init_attr(d.listener, IBV_QPS_INIT);
	pair_close(&d);
}

static void test_qp_types(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_UDP);
	id_bind(id, ADDR, 0);
	qp_create(id, IBV_QPT_RC);
	qp_create(id, IBV_QPT_UC);
	qp_create(id, IBV_QPT_UD);
	show_init_attr(id, IBV_QPS_INIT);
	show_init_attr(id, IBV_QPS_RTR);
	show_init_attr(id, IBV_QPS_RTS);
	show_qp(id->qp);
	if (id->qp)
		rdma_destroy_qp(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

#define DATA(name, ...) { "ud.data." name, test_private_data, &(const struct lens){ __VA_ARGS__ } }

const struct cmp_case ud_cases[] = {
	{ "ud.full", test_full, NULL },
	DATA("0", 0, 0),
	DATA("1", 1, 1),
	DATA("136", 136, 136),
	DATA("137", 137, 137),
	DATA("180", 180, 0),
	DATA("181", 181, 0),
	DATA("255", 255, 255),
	{ "ud.reject.0", test_refused, &(const int){ 0 } },
	{ "ud.reject.30", test_refused, &(const int){ 30 } },
	{ "ud.reject.255", test_refused, &(const int){ 255 } },
	{ "ud.no_listener", test_no_listener, NULL },
	{ "ud.listener_tcp", test_wrong_space,
	  (const enum rdma_port_space[]){ RDMA_PS_TCP, RDMA_PS_UDP } },
	{ "ud.listener_ipoib", test_wrong_space,
	  (const enum rdma_port_space[]){ RDMA_PS_IPOIB, RDMA_PS_UDP } },
	{ "ud.listener_udp", test_wrong_space,
	  (const enum rdma_port_space[]){ RDMA_PS_UDP, RDMA_PS_TCP } },
	{ "ud.external", test_external, NULL },
	{ "ud.accept_bare", test_accept_bare, NULL },
	{ "ud.twice", test_twice, NULL },
	{ "ud.destroy_passive", test_destroyed, &(const int){ 1 } },
	{ "ud.destroy_active", test_destroyed, &(const int){ 0 } },
	{ "ud.ghost", test_ghost, NULL },
	{ "ud.wildcard", test_wildcard, NULL },
	{ "ud.listener_qp.udp", test_listener_qp, &(const int){ RDMA_PS_UDP } },
	{ "ud.listener_qp.ipoib", test_listener_qp, &(const int){ RDMA_PS_IPOIB } },
	{ "ud.listener_qp.tcp", test_listener_attr, &(const int){ RDMA_PS_TCP } },
	{ "ud.qp_types", test_qp_types, NULL },
	{ }
};
