// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Devices, names of events, addrinfo, endpoints, synchronous ids, XRC. */
#include "util.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>

static void test_device_list(const void *arg)
{
	struct ibv_context **list;
	int i, num = -1;

	(void)arg;
	list = rdma_get_devices(&num);
	tap_note_print("%d devices", num);
	for (i = 0; list && list[i]; i++)
		tap_note_print("%s", ibv_get_device_name(list[i]->device));
	if (list)
		rdma_free_devices(list);
	list = rdma_get_devices(NULL);
	tap_note_print("again %s", list && list[0] ? ibv_get_device_name(list[0]->device) : "none");
	rdma_free_devices(list);
}

/* An id has the same device context that rdma_get_devices() returns. */
static void test_same_context(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct ibv_context **list = rdma_get_devices(NULL);
	struct rdma_cm_id *id;
	int i, same = 0;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, ADDR, 0);
	for (i = 0; list && list[i]; i++)
		same += list[i] == id->verbs;
	tap_note_print("same %d", same);
	rdma_free_devices(list);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_event_names(const void *arg)
{
	int i;

	(void)arg;
	for (i = -1; i < 20; i++)
		tap_note_print("%d %s", i, rdma_event_str(i));
}

static void test_ports(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
	show_ports(d.id);
	id_bind(d.id, ADDR_6, PORT);
	show_ports(d.id);
	id_resolve_addr(d.id, NULL, ADDR_6, PORT + 1);
	event_trace(d.ch);
	show_ports(d.id);
	tap_note_print("addresses are the id's %d",
		       rdma_get_local_addr(d.id) == &d.id->route.addr.src_addr);
	pair_close(&d);
}

/* Fields of the path that have no meaning on Ethernet, or none at all. */
static void test_path_rest(const void *arg)
{
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, ROUTED);
	tap_note_print("path dlid=%#x slid=%#x preference=%d", ntohs(id->route.path_rec->dlid),
		       ntohs(id->route.path_rec->slid), id->route.path_rec->preference);
	pair_close(&d);
}

/* The default depends on the kernel. All other cases print it as a name. */
static void test_path_life(const void *arg)
{
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, ROUTED);
	tap_note_print("path life=%d", id->route.path_rec->packet_life_time);
	pair_close(&d);
}

static void addrinfo_show(struct rdma_addrinfo *ai)
{
	char host[64], service[16];

	for (; ai; ai = ai->ai_next) {
		tap_note_print("ai flags=%#x family=%d qpt=%d ps=%#x", ai->ai_flags, ai->ai_family,
			       ai->ai_qp_type, ai->ai_port_space);
		tap_note_print("ai src_len=%d dst_len=%d route=%zu connect=%zu", ai->ai_src_len,
			       ai->ai_dst_len, ai->ai_route_len, ai->ai_connect_len);
		tap_note_print("ai names src=%s dst=%s",
			       ai->ai_src_canonname ? ai->ai_src_canonname : "-",
			       ai->ai_dst_canonname ? ai->ai_dst_canonname : "-");
		if (ai->ai_src_len && !getnameinfo(ai->ai_src_addr, ai->ai_src_len, host,
						   sizeof(host), service, sizeof(service),
						   NI_NUMERICHOST | NI_NUMERICSERV))
			tap_note_print("ai src %s:%s", host, service);
		if (ai->ai_dst_len && !getnameinfo(ai->ai_dst_addr, ai->ai_dst_len, host,
						   sizeof(host), service, sizeof(service),
						   NI_NUMERICHOST | NI_NUMERICSERV))
			tap_note_print("ai dst %s:%s", host, service);
	}
}

struct query {
	const char *node, *service;
	struct rdma_addrinfo hints;
	int no_hints;
};

static void test_info(const void *arg)
{
	const struct query *q = arg;
	const char *node = q->node ? ip_addr_real(q->node) : NULL;
	struct rdma_addrinfo *ai = NULL;
	int ret;

	errno = 0;
	ret = rdma_getaddrinfo(node, q->service, q->no_hints ? NULL : &q->hints, &ai);
	tap_note_print("getaddrinfo %s %s -> %d", q->node ? q->node : "-",
		       q->service ? q->service : "-", ret);
	if (ret)
		return;
	addrinfo_show(ai);
	rdma_freeaddrinfo(ai);
}

static void test_info_source(const void *arg)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai = NULL;
	int ret;

	(void)arg;
	hints.ai_src_addr = ip_addr(ADDR_2, 0);
	hints.ai_src_len = sizeof(struct sockaddr_in);
	ret = rdma_getaddrinfo(ip_addr_real(ADDR), "7471", &hints, &ai);
	tap_note_print("getaddrinfo with source -> %d", ret);
	if (!ret) {
		addrinfo_show(ai);
		rdma_freeaddrinfo(ai);
	}
}

static struct ibv_qp_init_attr ep_attr = {
	.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	.sq_sig_all = 1,
};

/* @type: QP type; 0: the one of the port space */
static struct rdma_cm_id *endpoint_create_type(const char *name, int flags, enum rdma_port_space ps,
					       int type, int with_qp)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = ps }, *ai = NULL;
	struct ibv_qp_init_attr attr = ep_attr;
	struct rdma_cm_id *id = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%d", case_port);
	if (rdma_getaddrinfo(ip_addr_real(ADDR), service, &hints, &ai)) {
		tap_note_print("getaddrinfo failed");
		exit(3);
	}
	if (type) {
		ai->ai_port_space = ps;
		ai->ai_qp_type = type;
	}
	if (!CALL(rdma_create_ep(&id, ai, NULL, with_qp ? &attr : NULL), "create_ep %s", name)) {
		id_label(id, name);
		if (id->qp)
			qpn_label(id->qp->qp_num, name);
		show_id(id);
	}
	rdma_freeaddrinfo(ai);
	return id;
}

static struct rdma_cm_id *endpoint_create(const char *name, int flags, enum rdma_port_space ps,
					  int with_qp)
{
	return endpoint_create_type(name, flags, ps, 0, with_qp);
}

static void *passive_run(void *arg)
{
	struct rdma_cm_id *lst = arg, *id = NULL;
	long ret;

	ret = rdma_get_request(lst, &id);
	if (ret)
		return NULL;
	id_label(id, "srv");
	if (id->qp)
		qpn_label(id->qp->qp_num, "srv");
	if (rdma_accept(id, NULL))
		call_report(-1, errno, "accept srv");
	return id;
}

/* The synchronous disconnect of the other side returns only after this one. */
static void *disconnect_late(void *arg)
{
	usleep(300000);
	if (rdma_disconnect(arg))
		call_report(-1, errno, "disconnect srv");
	return NULL;
}

/* Synchronous endpoints on both sides, and a message. */
static void test_endpoints(const void *arg)
{
	struct rdma_cm_id *lst, *cli, *srv = NULL;
	static char buf[2][64];
	struct ibv_mr *mr[2];
	struct ibv_wc wc;
	pthread_t thread;
	void *ret;

	(void)arg;
	lst = endpoint_create("lst", RAI_PASSIVE, RDMA_PS_TCP, 1);
	id_listen(lst, 1);
	cli = endpoint_create("cli", 0, RDMA_PS_TCP, 1);
	pthread_create(&thread, NULL, passive_run, lst);
	CALL(rdma_connect(cli, NULL), "connect cli");
	pthread_join(thread, &ret);
	srv = ret;
	tap_note_print("kept event of cli %s", cli->event ? event_name(cli->event->event) : "none");
	if (!srv)
		return;
	tap_note_print("kept event of srv %s", srv->event ? event_name(srv->event->event) : "none");
	show_id(srv);
	show_qp(cli->qp);
	show_qp(srv->qp);
	mr[0] = rdma_reg_msgs(cli, buf[0], sizeof(buf[0]));
	mr[1] = rdma_reg_msgs(srv, buf[1], sizeof(buf[1]));
	memcpy(buf[0], "a message", 10);
	CALL(rdma_post_recv(srv, NULL, buf[1], sizeof(buf[1]), mr[1]), "post_recv srv");
	CALL(rdma_post_send(cli, NULL, buf[0], 10, mr[0], IBV_SEND_SIGNALED), "post_send cli");
	tap_note_print("send completions %d", rdma_get_send_comp(cli, &wc));
	tap_note_print("receive completions %d, %u bytes: %s", rdma_get_recv_comp(srv, &wc),
		       wc.byte_len, buf[1]);
	rdma_dereg_mr(mr[0]);
	rdma_dereg_mr(mr[1]);
	pthread_create(&thread, NULL, disconnect_late, srv);
	CALL(rdma_disconnect(cli), "disconnect cli");
	pthread_join(thread, NULL);
	tap_note_print("kept event of cli %s", cli->event ? event_name(cli->event->event) : "none");
	rdma_destroy_ep(cli);
	rdma_destroy_ep(srv);
	rdma_destroy_ep(lst);
}

static void show_all_attr(struct rdma_cm_id *id)
{
	show_init_attr(id, IBV_QPS_INIT);
	show_init_attr(id, IBV_QPS_RTR);
	show_init_attr(id, IBV_QPS_RTS);
}

/**
 * struct xrc - the active side of an XRC connection, which runs in a thread
 * @cli: its id
 * @connect: result of rdma_connect()
 * @establish: result of rdma_establish()
 */
struct xrc {
	struct rdma_cm_id *cli;
	int connect, establish;
};

static void *xrc_run(void *arg)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.qp_num = qpn_fake("cli"),
	};
	struct xrc *x = arg;

	x->connect = rdma_connect(x->cli, &param);
	if (!x->connect)
		x->establish = rdma_establish(x->cli);
	return NULL;
}

/*
 * The test devices do not support XRC, so the QP numbers are fake. The case shows how the CM
 * handles the QP type. Only RDMA_PS_IB lets the program choose the type; RDMA_PS_TCP makes it RC.
 */
static void test_xrc(const void *arg)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	const enum rdma_port_space *ps = arg;
	struct rdma_cm_id *lst, *srv = NULL;
	struct xrc x = { };
	pthread_t thread;

	lst = endpoint_create_type("lst", RAI_PASSIVE, *ps, IBV_QPT_XRC_RECV, 0);
	x.cli = endpoint_create_type("cli", 0, *ps, IBV_QPT_XRC_SEND, 0);
	if (!lst || !x.cli)
		return;
	id_listen(lst, 1);
	show_init_attr(x.cli, IBV_QPS_INIT);
	param.qp_num = qpn_fake("srv");
	pthread_create(&thread, NULL, xrc_run, &x);
	if (CALL(rdma_get_request(lst, &srv), "get_request"))
		return;
	id_label(srv, "srv");
	show_event(srv->event);
	show_id(srv);
	show_init_attr(srv, IBV_QPS_INIT);
	CALL(rdma_accept(srv, &param), "accept srv");
	pthread_join(thread, NULL);
	tap_note_print("connect %d establish %d", x.connect, x.establish);
	tap_note_print("kept event of cli %s",
		       x.cli->event ? event_name(x.cli->event->event) : "none");
	tap_note_print("kept event of srv %s", srv->event ? event_name(srv->event->event) : "none");
	show_all_attr(x.cli);
	show_all_attr(srv);
	pthread_create(&thread, NULL, disconnect_late, srv);
	CALL(rdma_disconnect(x.cli), "disconnect cli");
	pthread_join(thread, NULL);
	rdma_destroy_ep(x.cli);
	rdma_destroy_ep(srv);
	rdma_destroy_ep(lst);
}

/* The device refuses to create an XRC QP. */
static void test_xrc_qp(const void *arg)
{
	static const int types[] = { IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV };
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		id = endpoint_create_type("with QP", 0, RDMA_PS_IB, types[i], 1);
		if (id)
			rdma_destroy_ep(id);
	}
}

static void test_endpoint_kinds(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB };
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = endpoint_create("active", 0, tried[i], 0);
		if (id)
			rdma_destroy_ep(id);
		id = endpoint_create("active with QP", 0, tried[i], 1);
		if (id)
			rdma_destroy_ep(id);
		id = endpoint_create("passive", RAI_PASSIVE, tried[i], 1);
		if (id)
			rdma_destroy_ep(id);
	}
}

static void test_sync_refused(const void *arg)
{
	struct rdma_cm_id *cli;

	(void)arg;
	cli = endpoint_create("cli", 0, RDMA_PS_TCP, 1);
	CALL(rdma_connect(cli, NULL), "connect cli, no listener");
	tap_note_print("kept event %s status %d", cli->event ? event_name(cli->event->event) : "none",
		       cli->event ? cli->event->status : 0);
	rdma_destroy_ep(cli);
}

/* Prints nothing after a reject, because the other thread continues and prints. */
static void *request_reject(void *channel)
{
	struct rdma_cm_id *id = event_expect_request(channel, "srv");

	if (id && rdma_reject(id, NULL, 0))
		tap_note_print("reject failed");
	return id;
}

/* The private data of the addrinfo precedes that of the caller, also in a second connect. */
static void test_connect_data(const void *arg)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai = NULL;
	struct rdma_conn_param param = { .private_data = "mine", .private_data_len = 4 };
	struct rdma_cm_id *id = NULL;
	pthread_t thread;
	char service[8];
	struct pair d;
	void *srv;
	int i;

	(void)arg;
	pair_init(&d);
	pair_listen(&d, RDMA_PS_TCP);
	snprintf(service, sizeof(service), "%d", case_port);
	if (rdma_getaddrinfo(ip_addr_real(ADDR), service, &hints, &ai))
		return;
	ai->ai_connect = strdup("the addrinfo's");
	ai->ai_connect_len = 14;
	CALL(rdma_create_ep(&id, ai, NULL, NULL), "create_ep");
	rdma_freeaddrinfo(ai);
	id_label(id, "cli");
	param.qp_num = qpn_fake("cli");
	pthread_create(&thread, NULL, request_reject, d.lch);
	for (i = 0; i < 3; i++)
		CALL(rdma_connect(id, &param), "connect");
	pthread_join(thread, &srv);
	if (srv)
		id_destroy(srv);
	rdma_destroy_ep(id);
	pair_close(&d);
}

static void test_sync_errors(const void *arg)
{
	struct rdma_cm_id *id = NULL;

	(void)arg;
	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "create_id sync");
	id_label(id, "id");
	id_resolve_addr(id, NULL, FOREIGN, PORT);
	id_resolve_addr(id, NULL, ABSENT, PORT);
	tap_note_print("kept event %s status %d", id->event ? event_name(id->event->event) : "none",
		       id->event ? id->event->status : 0);
	id_destroy(id);
}

static void test_request_async(const void *arg)
{
	struct rdma_cm_id *child = NULL;
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_listen(&d, RDMA_PS_TCP);
	CALL(rdma_get_request(d.listener, &child), "get_request of an asynchronous id");
	pair_close(&d);
}

static void test_notify_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST), "notify COMM_EST");
	/* without an alternate path, in-tree ib_cm accepts it and leaks a reference to a GID */
	if (*where != CONNECTED)
		CALL(rdma_notify(id, IBV_EVENT_PATH_MIG), "notify PATH_MIG");
	CALL(rdma_notify(id, IBV_EVENT_QP_FATAL), "notify QP_FATAL");
	CALL(rdma_notify(id, 999), "notify 999");
	pair_close(&d);
}

static void test_shared_queue(const void *arg)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr qp = ep_attr;
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, ADDR, 0);
	CALL(rdma_create_srq(id, NULL, &attr), "create_srq");
	tap_note_print("srq %d pd %d", !!id->srq, !!id->pd);
	qp.qp_type = IBV_QPT_RC;
	qp.srq = id->srq;
	CALL(rdma_create_qp(id, NULL, &qp), "create_qp");
	if (id->qp) {
		tap_note_print("the QP's srq %d", id->qp->srq == id->srq);
		rdma_destroy_qp(id);
	}
	tap_note_print("qp %d", !!id->qp);
	rdma_destroy_srq(id);
	tap_note_print("srq %d", !!id->srq);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

/* An endpoint without a QP type listens for requests of all types. */
static void test_endpoint_any_type(const void *arg)
{
	struct rdma_addrinfo ai = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_IB };
	struct rdma_cm_id *id = NULL;

	(void)arg;
	ai.ai_src_addr = ip_addr(ADDR, PORT);
	ai.ai_src_len = sizeof(struct sockaddr_in);
	if (CALL(rdma_create_ep(&id, &ai, NULL, NULL), "create_ep"))
		return;
	id_label(id, "lst");
	show_id(id);
	id_listen(id, 1);
	rdma_destroy_ep(id);
}

/* The library creates only a send CQ. */
static void test_send_cq(const void *arg)
{
	struct ibv_qp_init_attr attr = ep_attr;
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	struct ibv_cq *cq;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, ADDR, 0);
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	attr.qp_type = IBV_QPT_RC;
	attr.recv_cq = cq;
	CALL(rdma_create_qp(id, NULL, &attr), "create_qp");
	tap_note_print("send cq %d recv cq %d", !!id->send_cq, !!id->recv_cq);
	rdma_destroy_qp(id);
	tap_note_print("send cq %d recv cq %d", !!id->send_cq, !!id->recv_cq);
	if (id->send_cq)
		ibv_destroy_cq(id->send_cq);
	ibv_destroy_cq(cq);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_qp_ex(const void *arg)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.cap = ep_attr.cap,
	};
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, ADDR, 0);
	CALL(rdma_create_qp_ex(id, &attr), "create_qp_ex no pd");
	tap_note_print("pd %d send cq %d recv cq %d channels %d", !!id->pd, !!id->send_cq,
		       !!id->recv_cq, id->send_cq_channel && id->recv_cq_channel);
	if (id->qp) {
		qpn_label(id->qp->qp_num, "id");
		CALL(rdma_create_qp_ex(id, &attr), "create_qp_ex again");
		show_qp(id->qp);
		rdma_destroy_qp(id);
	}
	tap_note_print("send cq %d recv cq %d", !!id->send_cq, !!id->recv_cq);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_many(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id[500];
	size_t i, made = 0, gone = 0;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(id); i++)
		made += !rdma_create_id(ch, &id[i], NULL, RDMA_PS_TCP);
	for (i = 0; i < made; i++)
		gone += !rdma_destroy_id(id[i]);
	tap_note_print("made %zu gone %zu", made, gone);
	rdma_destroy_event_channel(ch);
}

static void test_fresh(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB,
						      RDMA_PS_IB };
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = id_create(ch, "id", tried[i]);
		show_id(id);
		tap_note_print("event %d pd %d srq %d channel %d", !!id->event, !!id->pd, !!id->srq,
			       id->channel == ch);
		id_destroy(id);
	}
	rdma_destroy_event_channel(ch);
}

#define INFO(name, ...)	 { "misc.info." name, test_info, &(const struct query){ __VA_ARGS__ } }
#define NOTIFY(name, where) { "misc.notify_in." name, test_notify_in, &(const enum reach){ where } }

const struct cmp_case misc_cases[] = {
	{ "misc.devices", test_device_list, NULL },
	{ "misc.same_context", test_same_context, NULL },
	{ "misc.event_names", test_event_names, NULL },
	{ "misc.ports", test_ports, NULL },
	{ "misc.path_rest", test_path_rest, NULL },
	{ "misc.path_life", test_path_life, NULL },
	INFO("no_hints", ADDR, "7471", { 0 }, 1),
	INFO("tcp", ADDR, "7471", { .ai_port_space = RDMA_PS_TCP }),
	INFO("udp", ADDR, "7471", { .ai_port_space = RDMA_PS_UDP }),
	INFO("qp_type_ud", ADDR, "7471", { .ai_qp_type = IBV_QPT_UD }),
	INFO("qp_type_rc_udp", ADDR, "7471",
	     { .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_UDP }),
	INFO("ipoib", ADDR, "7471", { .ai_port_space = RDMA_PS_IPOIB }),
	INFO("v6", ADDR_6, "7471", { .ai_port_space = RDMA_PS_TCP }),
	INFO("passive", NULL, "7471", { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }),
	INFO("passive_address", ADDR, "7471",
	     { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }),
	INFO("family_6_of_4", ADDR, "7471", { .ai_flags = RAI_FAMILY, .ai_family = AF_INET6 }),
	INFO("numeric_name", "not-a-number.invalid", "7471", { .ai_flags = RAI_NUMERICHOST }),
	INFO("noroute", ADDR, "7471", { .ai_flags = RAI_NOROUTE, .ai_port_space = RDMA_PS_TCP }),
	INFO("foreign", FOREIGN, "7471", { .ai_port_space = RDMA_PS_TCP }),
	INFO("nothing", NULL, NULL, { .ai_port_space = RDMA_PS_TCP }),
	INFO("bad_service", ADDR, "nosuchservice", { .ai_port_space = RDMA_PS_TCP }),
	{ "misc.info.source", test_info_source, NULL },
	{ "misc.endpoints", test_endpoints, NULL },
	{ "misc.endpoint_kinds", test_endpoint_kinds, NULL },
	{ "misc.xrc.ib", test_xrc, &(const enum rdma_port_space){ RDMA_PS_IB } },
	{ "misc.xrc.tcp", test_xrc, &(const enum rdma_port_space){ RDMA_PS_TCP } },
	{ "misc.xrc.qp", test_xrc_qp, NULL },
	{ "misc.connect_data", test_connect_data, NULL },
	{ "misc.sync_refused", test_sync_refused, NULL },
	{ "misc.sync_errors", test_sync_errors, NULL },
	{ "misc.request_async", test_request_async, NULL },
	NOTIFY("idle", IDLE),
	NOTIFY("bound", BOUND),
	NOTIFY("routed", ROUTED),
	NOTIFY("listening", LISTENING),
	NOTIFY("connected", CONNECTED),
	NOTIFY("disconnected", DISCONNECTED),
	{ "misc.srq", test_shared_queue, NULL },
	{ "misc.endpoint_any_type", test_endpoint_any_type, NULL },
	{ "misc.send_cq", test_send_cq, NULL },
	{ "misc.qp_ex", test_qp_ex, NULL },
	{ "misc.many_ids", test_many, NULL },
	{ "misc.fresh", test_fresh, NULL },
	{ }
};
