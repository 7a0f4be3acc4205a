// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Devices, names, endpoints, synchronous ids. */
#include "util.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>

static void device_list(const void *arg)
{
	struct ibv_context **list;
	int i, num = -1;

	(void)arg;
	list = rdma_get_devices(&num);
	say("%d devices", num);
	for (i = 0; list && list[i]; i++)
		say("%s", ibv_get_device_name(list[i]->device));
	if (list)
		rdma_free_devices(list);
	list = rdma_get_devices(NULL);
	say("again %s", list && list[0] ? ibv_get_device_name(list[0]->device) : "none");
	rdma_free_devices(list);
}

/* The context which an id is bound to is the one that rdma_get_devices() shows. */
static void same_context(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct ibv_context **list = rdma_get_devices(NULL);
	struct rdma_cm_id *id;
	int i, same = 0;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_bind(id, ADDR, 0);
	for (i = 0; list && list[i]; i++)
		same += list[i] == id->verbs;
	say("same %d", same);
	rdma_free_devices(list);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void event_names(const void *arg)
{
	int i;

	(void)arg;
	for (i = -1; i < 20; i++)
		say("%d %s", i, rdma_event_str(i));
}

static void ports(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
	show_ports(d.cli);
	do_bind(d.cli, ADDR_6, PORT);
	show_ports(d.cli);
	do_resolve(d.cli, NULL, ADDR_6, PORT + 1);
	ev(d.cc);
	show_ports(d.cli);
	say("addresses are the id's %d",
	    rdma_get_local_addr(d.cli) == &d.cli->route.addr.src_addr);
	duo_end(&d);
}

/* Fields that mean nothing on Ethernet, or nothing at all. */
static void path_rest(const void *arg)
{
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, ROUTED);
	say("path dlid=%#x slid=%#x preference=%d", ntohs(id->route.path_rec->dlid),
	    ntohs(id->route.path_rec->slid), id->route.path_rec->preference);
	duo_end(&d);
}

/* The default is the kernel's choice; all other cases show it by that name. */
static void path_life(const void *arg)
{
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, ROUTED);
	say("path life=%d", id->route.path_rec->packet_life_time);
	duo_end(&d);
}

static void show_info(struct rdma_addrinfo *ai)
{
	char host[64], service[16];

	for (; ai; ai = ai->ai_next) {
		say("ai flags=%#x family=%d qpt=%d ps=%#x", ai->ai_flags, ai->ai_family,
		    ai->ai_qp_type, ai->ai_port_space);
		say("ai src_len=%d dst_len=%d route=%zu connect=%zu", ai->ai_src_len,
		    ai->ai_dst_len, ai->ai_route_len, ai->ai_connect_len);
		say("ai names src=%s dst=%s", ai->ai_src_canonname ? ai->ai_src_canonname : "-",
		    ai->ai_dst_canonname ? ai->ai_dst_canonname : "-");
		if (ai->ai_src_len && !getnameinfo(ai->ai_src_addr, ai->ai_src_len, host,
						   sizeof(host), service, sizeof(service),
						   NI_NUMERICHOST | NI_NUMERICSERV))
			say("ai src %s:%s", host, service);
		if (ai->ai_dst_len && !getnameinfo(ai->ai_dst_addr, ai->ai_dst_len, host,
						   sizeof(host), service, sizeof(service),
						   NI_NUMERICHOST | NI_NUMERICSERV))
			say("ai dst %s:%s", host, service);
	}
}

struct query {
	const char *node, *service;
	struct rdma_addrinfo hints;
	int no_hints;
};

static void info(const void *arg)
{
	const struct query *q = arg;
	const char *node = q->node ? real_addr(q->node) : NULL;
	struct rdma_addrinfo *ai = NULL;
	int ret;

	errno = 0;
	ret = rdma_getaddrinfo(node, q->service, q->no_hints ? NULL : &q->hints, &ai);
	say("getaddrinfo %s %s -> %d", q->node ? q->node : "-", q->service ? q->service : "-", ret);
	if (ret)
		return;
	show_info(ai);
	rdma_freeaddrinfo(ai);
}

static void info_source(const void *arg)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai = NULL;
	int ret;

	(void)arg;
	hints.ai_src_addr = ip(ADDR_2, 0);
	hints.ai_src_len = sizeof(struct sockaddr_in);
	ret = rdma_getaddrinfo(real_addr(ADDR), "7471", &hints, &ai);
	say("getaddrinfo with source -> %d", ret);
	if (!ret) {
		show_info(ai);
		rdma_freeaddrinfo(ai);
	}
}

static struct ibv_qp_init_attr ep_attr = {
	.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	.sq_sig_all = 1,
};

/* @type: 0: what goes with the port space */
static struct rdma_cm_id *endpoint_of(const char *name, int flags, enum rdma_port_space ps,
				      int type, int with_qp)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = ps }, *ai = NULL;
	struct ibv_qp_init_attr attr = ep_attr;
	struct rdma_cm_id *id = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%d", case_port);
	if (rdma_getaddrinfo(real_addr(ADDR), service, &hints, &ai)) {
		say("getaddrinfo failed");
		exit(3);
	}
	if (type) {
		ai->ai_port_space = ps;
		ai->ai_qp_type = type;
	}
	if (!CALL(rdma_create_ep(&id, ai, NULL, with_qp ? &attr : NULL), "create_ep %s", name)) {
		label_id(id, name);
		if (id->qp)
			label_qpn(id->qp->qp_num, name);
		show_id(id);
	}
	rdma_freeaddrinfo(ai);
	return id;
}

static struct rdma_cm_id *endpoint(const char *name, int flags, enum rdma_port_space ps,
				   int with_qp)
{
	return endpoint_of(name, flags, ps, 0, with_qp);
}

static void *passive(void *arg)
{
	struct rdma_cm_id *lst = arg, *id = NULL;
	long ret;

	ret = rdma_get_request(lst, &id);
	if (ret)
		return NULL;
	label_id(id, "srv");
	if (id->qp)
		label_qpn(id->qp->qp_num, "srv");
	if (rdma_accept(id, NULL))
		say_ret(-1, errno, "accept srv");
	return id;
}

/* Without it, the other side's disconnect does not return. */
static void *late_disconnect(void *arg)
{
	usleep(300000);
	if (rdma_disconnect(arg))
		say_ret(-1, errno, "disconnect srv");
	return NULL;
}

/* The synchronous interface, both ends, and a message. */
static void endpoints(const void *arg)
{
	struct rdma_cm_id *lst, *cli, *srv = NULL;
	static char buf[2][64];
	struct ibv_mr *mr[2];
	struct ibv_wc wc;
	pthread_t thread;
	void *ret;

	(void)arg;
	lst = endpoint("lst", RAI_PASSIVE, RDMA_PS_TCP, 1);
	do_listen(lst, 1);
	cli = endpoint("cli", 0, RDMA_PS_TCP, 1);
	pthread_create(&thread, NULL, passive, lst);
	CALL(rdma_connect(cli, NULL), "connect cli");
	pthread_join(thread, &ret);
	srv = ret;
	say("kept event of cli %s", cli->event ? event_name(cli->event->event) : "none");
	if (!srv)
		return;
	say("kept event of srv %s", srv->event ? event_name(srv->event->event) : "none");
	show_id(srv);
	show_qp(cli->qp);
	show_qp(srv->qp);
	mr[0] = rdma_reg_msgs(cli, buf[0], sizeof(buf[0]));
	mr[1] = rdma_reg_msgs(srv, buf[1], sizeof(buf[1]));
	memcpy(buf[0], "a message", 10);
	CALL(rdma_post_recv(srv, NULL, buf[1], sizeof(buf[1]), mr[1]), "post_recv srv");
	CALL(rdma_post_send(cli, NULL, buf[0], 10, mr[0], IBV_SEND_SIGNALED), "post_send cli");
	say("send completions %d", rdma_get_send_comp(cli, &wc));
	say("receive completions %d, %u bytes: %s", rdma_get_recv_comp(srv, &wc), wc.byte_len,
	    buf[1]);
	rdma_dereg_mr(mr[0]);
	rdma_dereg_mr(mr[1]);
	pthread_create(&thread, NULL, late_disconnect, srv);
	CALL(rdma_disconnect(cli), "disconnect cli");
	pthread_join(thread, NULL);
	say("kept event of cli %s", cli->event ? event_name(cli->event->event) : "none");
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
 * struct xrc - what the active side of an XRC connection does in a thread
 * @cli: its id
 * @connect: what rdma_connect() returned
 * @establish: what rdma_establish() returned
 */
struct xrc {
	struct rdma_cm_id *cli;
	int connect, establish;
};

static void *xrc_connect(void *arg)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.qp_num = fake_qpn("cli"),
	};
	struct xrc *x = arg;

	x->connect = rdma_connect(x->cli, &param);
	if (!x->connect)
		x->establish = rdma_establish(x->cli);
	return NULL;
}

/*
 * No device here has XRC: its QP numbers are made up, but what the CM makes of the type is not. Only
 * the port space IB leaves the type to the program; TCP makes it RC.
 */
static void xrc(const void *arg)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	const enum rdma_port_space *ps = arg;
	struct rdma_cm_id *lst, *srv = NULL;
	struct xrc x = { };
	pthread_t thread;

	lst = endpoint_of("lst", RAI_PASSIVE, *ps, IBV_QPT_XRC_RECV, 0);
	x.cli = endpoint_of("cli", 0, *ps, IBV_QPT_XRC_SEND, 0);
	if (!lst || !x.cli)
		return;
	do_listen(lst, 1);
	show_init_attr(x.cli, IBV_QPS_INIT);
	param.qp_num = fake_qpn("srv");
	pthread_create(&thread, NULL, xrc_connect, &x);
	if (CALL(rdma_get_request(lst, &srv), "get_request"))
		return;
	label_id(srv, "srv");
	show_event(srv->event);
	show_id(srv);
	show_init_attr(srv, IBV_QPS_INIT);
	CALL(rdma_accept(srv, &param), "accept srv");
	pthread_join(thread, NULL);
	say("connect %d establish %d", x.connect, x.establish);
	say("kept event of cli %s", x.cli->event ? event_name(x.cli->event->event) : "none");
	say("kept event of srv %s", srv->event ? event_name(srv->event->event) : "none");
	show_all_attr(x.cli);
	show_all_attr(srv);
	pthread_create(&thread, NULL, late_disconnect, srv);
	CALL(rdma_disconnect(x.cli), "disconnect cli");
	pthread_join(thread, NULL);
	rdma_destroy_ep(x.cli);
	rdma_destroy_ep(srv);
	rdma_destroy_ep(lst);
}

/* A QP of that type is for the device to refuse. */
static void xrc_qp(const void *arg)
{
	static const int types[] = { IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV };
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		id = endpoint_of("with QP", 0, RDMA_PS_IB, types[i], 1);
		if (id)
			rdma_destroy_ep(id);
	}
}

static void endpoint_kinds(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB };
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = endpoint("active", 0, tried[i], 0);
		if (id)
			rdma_destroy_ep(id);
		id = endpoint("active with QP", 0, tried[i], 1);
		if (id)
			rdma_destroy_ep(id);
		id = endpoint("passive", RAI_PASSIVE, tried[i], 1);
		if (id)
			rdma_destroy_ep(id);
	}
}

static void sync_refused(const void *arg)
{
	struct rdma_cm_id *cli;

	(void)arg;
	cli = endpoint("cli", 0, RDMA_PS_TCP, 1);
	CALL(rdma_connect(cli, NULL), "connect cli, no listener");
	say("kept event %s status %d", cli->event ? event_name(cli->event->event) : "none",
	    cli->event ? cli->event->status : 0);
	rdma_destroy_ep(cli);
}

/* Once it has rejected, the other thread goes on: from then on this one says nothing. */
static void *refuse(void *channel)
{
	struct rdma_cm_id *id = ev_request(channel, "srv");

	if (id && rdma_reject(id, NULL, 0))
		say("reject failed");
	return id;
}

/* The private data of the addrinfo, ahead of the caller's; and when it is connected again. */
static void connect_data(const void *arg)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *ai = NULL;
	struct rdma_conn_param param = { .private_data = "mine", .private_data_len = 4 };
	struct rdma_cm_id *id = NULL;
	pthread_t thread;
	char service[8];
	struct duo d;
	void *srv;
	int i;

	(void)arg;
	duo_init(&d);
	duo_listen(&d, RDMA_PS_TCP);
	snprintf(service, sizeof(service), "%d", case_port);
	if (rdma_getaddrinfo(real_addr(ADDR), service, &hints, &ai))
		return;
	ai->ai_connect = strdup("the addrinfo's");
	ai->ai_connect_len = 14;
	CALL(rdma_create_ep(&id, ai, NULL, NULL), "create_ep");
	rdma_freeaddrinfo(ai);
	label_id(id, "cli");
	param.qp_num = fake_qpn("cli");
	pthread_create(&thread, NULL, refuse, d.cl);
	for (i = 0; i < 3; i++)
		CALL(rdma_connect(id, &param), "connect");
	pthread_join(thread, &srv);
	if (srv)
		rmid(srv);
	rdma_destroy_ep(id);
	duo_end(&d);
}

static void sync_errors(const void *arg)
{
	struct rdma_cm_id *id = NULL;

	(void)arg;
	CALL(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "create_id sync");
	label_id(id, "id");
	do_resolve(id, NULL, FOREIGN, PORT);
	do_resolve(id, NULL, ABSENT, PORT);
	say("kept event %s status %d", id->event ? event_name(id->event->event) : "none",
	    id->event ? id->event->status : 0);
	rmid(id);
}

static void request_async(const void *arg)
{
	struct rdma_cm_id *child = NULL;
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_listen(&d, RDMA_PS_TCP);
	CALL(rdma_get_request(d.lst, &child), "get_request of an asynchronous id");
	duo_end(&d);
}

static void notify_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_notify(id, IBV_EVENT_COMM_EST), "notify COMM_EST");
	/* without an alternate path ib_cm takes it, and leaks a reference to a GID */
	if (*where != CONNECTED)
		CALL(rdma_notify(id, IBV_EVENT_PATH_MIG), "notify PATH_MIG");
	CALL(rdma_notify(id, IBV_EVENT_QP_FATAL), "notify QP_FATAL");
	CALL(rdma_notify(id, 999), "notify 999");
	duo_end(&d);
}

static void shared_queue(const void *arg)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr qp = ep_attr;
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_bind(id, ADDR, 0);
	CALL(rdma_create_srq(id, NULL, &attr), "create_srq");
	say("srq %d pd %d", !!id->srq, !!id->pd);
	qp.qp_type = IBV_QPT_RC;
	qp.srq = id->srq;
	CALL(rdma_create_qp(id, NULL, &qp), "create_qp");
	if (id->qp) {
		say("the QP's srq %d", id->qp->srq == id->srq);
		rdma_destroy_qp(id);
	}
	say("qp %d", !!id->qp);
	rdma_destroy_srq(id);
	say("srq %d", !!id->srq);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

/* Without a type, it listens for all of them. */
static void endpoint_any_type(const void *arg)
{
	struct rdma_addrinfo ai = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_IB };
	struct rdma_cm_id *id = NULL;

	(void)arg;
	ai.ai_src_addr = ip(ADDR, PORT);
	ai.ai_src_len = sizeof(struct sockaddr_in);
	if (CALL(rdma_create_ep(&id, &ai, NULL, NULL), "create_ep"))
		return;
	label_id(id, "lst");
	show_id(id);
	do_listen(id, 1);
	rdma_destroy_ep(id);
}

/* The library makes a send CQ only. */
static void send_cq(const void *arg)
{
	struct ibv_qp_init_attr attr = ep_attr;
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;
	struct ibv_cq *cq;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_bind(id, ADDR, 0);
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	attr.qp_type = IBV_QPT_RC;
	attr.recv_cq = cq;
	CALL(rdma_create_qp(id, NULL, &attr), "create_qp");
	say("send cq %d recv cq %d", !!id->send_cq, !!id->recv_cq);
	rdma_destroy_qp(id);
	say("send cq %d recv cq %d", !!id->send_cq, !!id->recv_cq);
	if (id->send_cq)
		ibv_destroy_cq(id->send_cq);
	ibv_destroy_cq(cq);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void qp_ex(const void *arg)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.cap = ep_attr.cap,
	};
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_bind(id, ADDR, 0);
	CALL(rdma_create_qp_ex(id, &attr), "create_qp_ex no pd");
	say("pd %d send cq %d recv cq %d channels %d", !!id->pd, !!id->send_cq,
	    !!id->recv_cq, id->send_cq_channel && id->recv_cq_channel);
	if (id->qp) {
		label_qpn(id->qp->qp_num, "id");
		CALL(rdma_create_qp_ex(id, &attr), "create_qp_ex again");
		show_qp(id->qp);
		rdma_destroy_qp(id);
	}
	say("send cq %d recv cq %d", !!id->send_cq, !!id->recv_cq);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void many(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id[500];
	size_t i, made = 0, gone = 0;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(id); i++)
		made += !rdma_create_id(ch, &id[i], NULL, RDMA_PS_TCP);
	for (i = 0; i < made; i++)
		gone += !rdma_destroy_id(id[i]);
	say("made %zu gone %zu", made, gone);
	rdma_destroy_event_channel(ch);
}

static void fresh(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB,
						      RDMA_PS_IB };
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = mkid(ch, "id", tried[i]);
		show_id(id);
		say("event %d pd %d srq %d channel %d", !!id->event, !!id->pd, !!id->srq,
		    id->channel == ch);
		rmid(id);
	}
	rdma_destroy_event_channel(ch);
}

#define INFO(name, ...)	 { "misc.info." name, info, &(const struct query){ __VA_ARGS__ } }
#define NOTIFY(name, where) { "misc.notify_in." name, notify_in, &(const enum reach){ where } }

const struct cmp_case misc_cases[] = {
	{ "misc.devices", device_list, NULL },
	{ "misc.same_context", same_context, NULL },
	{ "misc.event_names", event_names, NULL },
	{ "misc.ports", ports, NULL },
	{ "misc.path_rest", path_rest, NULL },
	{ "misc.path_life", path_life, NULL },
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
	{ "misc.info.source", info_source, NULL },
	{ "misc.endpoints", endpoints, NULL },
	{ "misc.endpoint_kinds", endpoint_kinds, NULL },
	{ "misc.xrc.ib", xrc, &(const enum rdma_port_space){ RDMA_PS_IB } },
	{ "misc.xrc.tcp", xrc, &(const enum rdma_port_space){ RDMA_PS_TCP } },
	{ "misc.xrc.qp", xrc_qp, NULL },
	{ "misc.connect_data", connect_data, NULL },
	{ "misc.sync_refused", sync_refused, NULL },
	{ "misc.sync_errors", sync_errors, NULL },
	{ "misc.request_async", request_async, NULL },
	NOTIFY("idle", IDLE),
	NOTIFY("bound", BOUND),
	NOTIFY("routed", ROUTED),
	NOTIFY("listening", LISTENING),
	NOTIFY("connected", CONNECTED),
	NOTIFY("disconnected", DISCONNECTED),
	{ "misc.srq", shared_queue, NULL },
	{ "misc.endpoint_any_type", endpoint_any_type, NULL },
	{ "misc.send_cq", send_cq, NULL },
	{ "misc.qp_ex", qp_ex, NULL },
	{ "misc.many_ids", many, NULL },
	{ "misc.fresh", fresh, NULL },
	{ }
};
