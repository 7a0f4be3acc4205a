// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_connect(), rdma_listen() and rdma_accept(). */
#include "util.h"
#include <net/if.h>

static unsigned char data[256] = "hello from the private data of a connection";

struct lens {
	int req, rep;
};

/* Private data of both directions. */
static void test_private_data(const void *arg)
{
	const struct lens *l = arg;
	struct pair d;

	memset(data + 50, 0x5a, sizeof(data) - 50);
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	d.param.private_data = data;
	d.param.private_data_len = l->req;
	if (CALL(rdma_connect(d.id, &d.param), "connect len=%d", l->req)) {
		show_qp(d.id->qp);
		d.param.private_data_len = 0;
		if (CALL(rdma_connect(d.id, &d.param), "connect again len=0"))
			goto out;
	}
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_RC);
	d.param.private_data_len = l->rep;
	if (CALL(rdma_accept(d.child, &d.param), "accept len=%d", l->rep)) {
		show_qp(d.child->qp);
		if (channel_poll(d.ch, 1000))
			event_trace(d.ch);
		goto out;
	}
	event_trace(d.ch);
	event_trace(d.lch);
out:
	pair_close(&d);
}

static void test_null_data(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	d.param.private_data_len = 8;
	CALL(rdma_connect(d.id, &d.param), "connect NULL data len=8");
	if (channel_poll(d.lch, 1000))
		d.child = event_expect_request(d.lch, "srv");
	pair_close(&d);
}

/* All state that a simple connection shows: from the third address, if there is one, to the second. */
static void test_full(const void *arg)
{
	const char *const *addr = arg;
	struct pair d;

	pair_init(&d);
	d.listener = id_create(d.lch, "lst", RDMA_PS_TCP);
	id_bind(d.listener, addr[0], PORT);
	id_listen(d.listener, 8);
	d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
	if (addr[2])
		id_bind(d.id, addr[2], 0);
	id_resolve_addr(d.id, NULL, addr[1], PORT);
	event_trace(d.ch);
	if (id_resolve_route(d.id))
		goto out;
	event_trace(d.ch);
	qp_create(d.id, IBV_QPT_RC);
	show_qp(d.id->qp);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	if (!channel_poll(d.lch, 5000)) {
		event_trace(d.ch);
		goto out;
	}
	d.child = event_expect_request(d.lch, "srv");
	show_id(d.listener);
	show_id(d.child);
	qp_create(d.child, IBV_QPT_RC);
	show_qp(d.child->qp);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	show_qp(d.child->qp);
	event_trace(d.ch);
	event_trace(d.lch);
	show_id(d.id);
	show_id(d.child);
	show_ports(d.id);
	show_ports(d.child);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	pair_disconnect(&d, d.id, d.child);
out:
	pair_close(&d);
}

static void test_vrf(const void *arg)
{
	if (!if_nametoindex(VRF))
		tap_case_skip("needs a VRF, and Linux 6.18");
	test_full(arg);
}

struct params {
	struct rdma_conn_param req, rep;
};

static void test_params(const void *arg)
{
	const struct params *p = arg;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	d.param = p->req;
	if (CALL(rdma_connect(d.id, &d.param), "connect cli"))
		goto out;
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_RC);
	d.param = p->rep;
	if (CALL(rdma_accept(d.child, &d.param), "accept srv"))
		goto out;
	event_trace(d.ch);
	event_trace(d.lch);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
out:
	pair_close(&d);
}

static void test_no_params(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, NULL), "connect cli NULL");
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_RC);
	CALL(rdma_accept(d.child, NULL), "accept srv NULL");
	event_trace(d.ch);
	event_trace(d.lch);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	pair_close(&d);
}

static void test_no_listener(const void *arg)
{
	const int *qp = arg;
	struct pair d;

	pair_init(&d);
	if (!*qp)
		d.qp_create = NULL;
	pair_run_quietly(pair_route, &d, RDMA_PS_TCP);
	if (!*qp)
		d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	event_trace(d.ch);
	show_id(d.id);
	show_qp(d.id->qp);
	CALL(rdma_connect(d.id, &d.param), "connect cli again");
	pair_close(&d);
}

static void test_listener_gone(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	id_destroy(d.listener);
	d.listener = NULL;
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	event_trace(d.ch);
	pair_close(&d);
}

static void test_connect_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_conn_param param = { .qp_num = 0x654321 };
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_connect(id, &param), "connect %s", id_name(id));
	pair_close(&d);
}

static void test_accept_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_accept(id, &d.param), "accept %s", id_name(id));
	pair_close(&d);
}

static void test_listen_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	id_listen(id, 1);
	show_id(id);
	pair_close(&d);
}

static void test_destroy_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	if (id->qp)
		rdma_destroy_qp(id);
	id_destroy(id);
	/* wait for TIMEWAIT_EXIT: 2.1 s on Linux 6.1, where the packet lifetime is longer */
	if (channel_poll(d.lch, 6000))
		event_trace(d.lch);
	if (channel_poll(d.ch, 500))
		event_trace(d.ch);
}

static void test_create_qp_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	qp_create(id, IBV_QPT_UD);
	qp_create(id, IBV_QPT_UC);
	qp_create(id, IBV_QPT_RC);
	show_qp(id->qp);
	pair_close(&d);
}

/* The program has changed attributes of the QP since its creation; rdma_accept() sets them anew. */
static void test_accept_modified_qp(const void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, REQUESTED);
	CALL(ibv_modify_qp(id->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						  IBV_QP_ACCESS_FLAGS), "modify_qp, no access");
	show_qp(id->qp);
	CALL(rdma_accept(id, &d.param), "accept");
	show_qp(id->qp);
	pair_close(&d);
}

static void test_attr_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	show_init_attr(id, IBV_QPS_RESET);
	show_init_attr(id, IBV_QPS_INIT);
	show_init_attr(id, IBV_QPS_RTR);
	show_init_attr(id, IBV_QPS_RTS);
	show_init_attr(id, IBV_QPS_ERR);
	show_init_attr(id, 99);
	pair_close(&d);
}

static void test_twice(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli again");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv again");
	event_trace(d.ch);
	event_trace(d.lch);
	CALL(rdma_accept(d.child, &d.param), "accept srv after all");
	CALL(rdma_connect(d.id, &d.param), "connect cli after all");
	pair_close(&d);
}

static void test_accept_no_qp(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	d.param.qp_num = qpn_fake("srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv, external QP");
	event_trace(d.ch);
	event_trace(d.lch);
	show_qp(d.id->qp);
	pair_close(&d);
}

/* Both QPs belong to the application. */
static void test_external(const void *arg)
{
	struct ibv_qp *mine, *theirs;
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_listen(&d, RDMA_PS_TCP);
	pair_route(&d, RDMA_PS_TCP);
	mine = ext_qp_create(d.id, IBV_QPT_RC, "mine");
	ext_qp_modify(d.id, mine, IBV_QPS_INIT);
	show_init_attr(d.id, IBV_QPS_RTR);
	d.param.qp_num = mine->qp_num;
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	theirs = ext_qp_create(d.child, IBV_QPT_RC, "theirs");
	ext_qp_modify(d.child, theirs, IBV_QPS_INIT);
	ext_qp_modify(d.child, theirs, IBV_QPS_RTR);
	ext_qp_modify(d.child, theirs, IBV_QPS_RTS);
	d.param.qp_num = theirs->qp_num;
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_expect_none(d.lch);
	ext_qp_modify(d.id, mine, IBV_QPS_RTR);
	ext_qp_modify(d.id, mine, IBV_QPS_RTS);
	CALL(rdma_establish(d.id), "establish cli");
	CALL(rdma_establish(d.id), "establish cli again");
	event_trace(d.lch);
	event_expect_none(d.ch);
	show_qp(mine);
	show_qp(theirs);
	pair_disconnect(&d, d.child, d.id);
	show_qp(mine);
	pair_close(&d);
}

/* The program stores QPs of its own in the ids. They are in RESET, and the library moves them. */
static void test_own_qp(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	d.id->qp = ext_qp_create(d.id, IBV_QPT_RC, "cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	d.child->qp = ext_qp_create(d.child, IBV_QPT_RC, "srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_trace(d.lch);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	pair_disconnect(&d, d.id, d.child);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	rdma_destroy_qp(d.id);
	tap_note_print("qp of cli %d", !!d.id->qp);
	pair_close(&d);
}

/* The program replaces the device context of the id by one of its own, and uses its own PD. */
static void test_own_verbs(const void *arg)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	verbs = ibv_open_device(d.id->verbs->device);
	pd = verbs ? ibv_alloc_pd(verbs) : NULL;
	if (!pd) {
		tap_note_print("no PD");
		return;
	}
	CALL(rdma_create_qp(d.id, pd, &attr), "create_qp, PD of another context");
	d.id->verbs = verbs;
	if (CALL(rdma_create_qp(d.id, pd, &attr), "create_qp"))
		return;
	qpn_label(d.id->qp->qp_num, "cli");
	tap_note_print("own context %d, own PD %d", d.id->qp->context == verbs, d.id->qp->pd == pd);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_RC);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_trace(d.lch);
	tap_note_print("own context %d", d.id->verbs == verbs);
	pair_disconnect(&d, d.id, d.child);
	pair_close(&d);
	tap_note_print("dealloc_pd %d", ibv_dealloc_pd(pd));
	tap_note_print("close_device %d", ibv_close_device(verbs));
}

/* Traces whether the active side gets DISCONNECTED before the passive side has confirmed. */
static void duo_trace_end(struct pair *d)
{
	CALL(rdma_disconnect(d->id), "disconnect cli");
	event_trace(d->lch);
	tap_note_print("told: %d", channel_poll(d->ch, 300));
	CALL(rdma_disconnect(d->child), "disconnect srv");
	event_trace(d->ch);
}

static void test_unanswered(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	if (!pair_connect(&d, RDMA_PS_TCP))
		duo_trace_end(&d);
	pair_close(&d);
}

static void test_unanswered_external(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	d.param.qp_num = qpn_fake("cli");
	if (!pair_request(&d, RDMA_PS_TCP)) {
		d.param.qp_num = qpn_fake("srv");
		CALL(rdma_accept(d.child, &d.param), "accept srv");
		event_trace(d.ch);
		CALL(rdma_establish(d.id), "establish cli");
		event_trace(d.lch);
		duo_trace_end(&d);
	}
	pair_close(&d);
}

/* rdma_establish() before the reply has arrived. */
static void test_establish_early(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	CALL(rdma_establish(d.id), "establish cli");
	if (channel_poll(d.ch, 2000))
		event_trace(d.ch);
	if (channel_poll(d.lch, 2000))
		event_trace(d.lch);
	pair_close(&d);
}

/* The reply is never confirmed. rdma_notify() establishes the passive side. */
static void test_notified(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	quiet++;
	pair_listen(&d, RDMA_PS_TCP);
	pair_route(&d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	d.param.qp_num = qpn_fake("srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	quiet--;
	event_trace(d.ch);
	CALL(rdma_notify(d.child, IBV_EVENT_COMM_EST), "notify srv");
	event_trace(d.lch);
	CALL(rdma_notify(d.child, IBV_EVENT_COMM_EST), "notify srv again");
	pair_close(&d);
}

/* Requests beyond the backlog are dropped silently, and their peers repeat them. */
static void test_backlog(const void *arg)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *cli[3];
	struct pair d;
	int i;

	(void)arg;
	pair_init(&d);
	quiet++;
	d.listener = id_create(d.lch, "lst", RDMA_PS_TCP);
	id_bind(d.listener, ADDR, PORT);
	id_listen(d.listener, 1);
	for (i = 0; i < 3; i++) {
		cli[i] = id_create(d.ch, "cli", RDMA_PS_TCP);
		id_resolve_addr(cli[i], NULL, ADDR, PORT);
		event_trace(d.ch);
		id_resolve_route(cli[i]);
		event_trace(d.ch);
		param.qp_num = qpn_fake("cli");
		CALL(rdma_connect(cli[i], &param), "connect cli");
		usleep(300000);
	}
	quiet--;
	event_expect_none(d.ch);
	d.child = event_expect_request(d.lch, "srv");
	event_expect_none(d.lch);
	quiet++;
	for (i = 0; i < 3; i++)
		id_destroy(cli[i]);
	quiet--;
	pair_close(&d);
}

static void test_backlogs(const void *arg)
{
	static const int tried[] = { -1, 0, 1, 1 << 20 };
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = id_create(ch, "id", RDMA_PS_TCP);
		id_bind(id, ADDR, PORT);
		id_listen(id, tried[i]);
		id_destroy(id);
	}
	rdma_destroy_event_channel(ch);
}

/* A listener exists on the port, but on another address. */
static void test_other_address(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	d.listener = id_create(d.lch, "lst", RDMA_PS_TCP);
	id_bind(d.listener, ADDR_2, PORT);
	id_listen(d.listener, 1);
	pair_run_quietly(pair_route, &d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	event_trace(d.ch);
	event_expect_none(d.lch);
	pair_close(&d);
}

/* Two listeners, a specific and a wildcard one of another family or port space. */
static void test_choose(const void *arg)
{
	struct rdma_cm_id *other;
	struct pair d;
	int one = 1;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	d.listener = id_create(d.lch, "any6", RDMA_PS_TCP);
	CALL(rdma_set_option(d.listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, sizeof(one)),
	     "afonly");
	id_bind(d.listener, "::", PORT);
	id_listen(d.listener, 1);
	other = id_create(d.lch, "any4", RDMA_PS_TCP);
	id_bind(other, "0.0.0.0", PORT);
	id_listen(other, 1);
	pair_route(&d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	if (channel_poll(d.lch, 5000))
		d.child = event_expect_request(d.lch, "srv");
	else
		event_trace(d.ch);
	id_destroy(other);
	pair_close(&d);
}

static const char *const pair_v4[3] = { ADDR, ADDR };
static const char *const pair_any[3] = { "0.0.0.0", ADDR };
static const char *const pair_any_second[3] = { "0.0.0.0", ADDR_2 };
static const char *const pair_any6_v4[3] = { "::", ADDR };
static const char *const pair_v6[3] = { ADDR_6, ADDR_6 };
static const char *const pair_any6[3] = { "::", ADDR_6 };
static const char *const pair_loop[3] = { "127.0.0.1", "127.0.0.1" };
static const char *const pair_any_loop[3] = { "0.0.0.0", "127.0.0.1" };
static const char *const pair_ll[3] = { ADDR_LL "%" DEV, ADDR_LL "%" DEV };
static const char *const vrf_v4[3] = { VRF_4, VRF_4, VRF_4 };
static const char *const vrf_v6[3] = { VRF_6, VRF_6, VRF_6 };
static const char *const vrf_any6[3] = { "::", VRF_4, VRF_4 };

#define DATA(name, ...) \
	{ "connect.data." name, test_private_data, &(const struct lens){ __VA_ARGS__ } }
#define FULL(name, pair) { "connect.full." name, test_full, pair }
#define PARAM(name, ...) \
	{ "connect.param." name, test_params, &(const struct params){ __VA_ARGS__ } }
#define IN(what, fn, name, where) { what "." name, fn, &(const enum reach){ where } }
#define EVERYWHERE(what, fn)						\
	IN(what, fn, "idle", IDLE), IN(what, fn, "wildcard", WILDCARD),	\
	IN(what, fn, "bound", BOUND), IN(what, fn, "addressed", ADDRESSED),	\
	IN(what, fn, "routed", ROUTED), IN(what, fn, "listening", LISTENING),	\
	IN(what, fn, "requested", REQUESTED), IN(what, fn, "connected", CONNECTED), \
	IN(what, fn, "disconnected", DISCONNECTED)

const struct cmp_case connect_cases[] = {
	FULL("v4", pair_v4),
	{ "connect.accept_modified_qp", test_accept_modified_qp, NULL },
	FULL("any", pair_any),
	FULL("any_second", pair_any_second),
	FULL("any6_v4", pair_any6_v4),
	FULL("v6", pair_v6),
	FULL("any6", pair_any6),
	FULL("loopback", pair_loop),
	FULL("any_loopback", pair_any_loop),
	FULL("linklocal", pair_ll),
	{ "connect.vrf.v4", test_vrf, vrf_v4 },
	{ "connect.vrf.v6", test_vrf, vrf_v6 },
	{ "connect.vrf.any6", test_vrf, vrf_any6 },
	DATA("0", 0, 0),
	DATA("1", 1, 1),
	DATA("55", 55, 56),
	DATA("56", 56, 196),
	DATA("57", 57, 197),
	DATA("255", 255, 255),
	{ "connect.null_data", test_null_data, NULL },
	PARAM("zero", { .retry_count = 0 }, { .rnr_retry_count = 0 }),
	PARAM("retry", { .retry_count = 3, .rnr_retry_count = 2 }, { .rnr_retry_count = 5 }),
	PARAM("retry_big", { .retry_count = 200, .rnr_retry_count = 200 },
	      { .rnr_retry_count = 200 }),
	PARAM("depth", { .responder_resources = 16, .initiator_depth = 8 },
	      { .responder_resources = 8, .initiator_depth = 16 }),
	PARAM("depth_max", { .responder_resources = 0xff, .initiator_depth = 0xff },
	      { .responder_resources = 0xff, .initiator_depth = 0xff }),
	PARAM("depth_over", { .responder_resources = 200, .initiator_depth = 200 },
	      { .responder_resources = 200, .initiator_depth = 200 }),
	PARAM("depth_accept_over", { .responder_resources = 4, .initiator_depth = 4 },
	      { .responder_resources = 200, .initiator_depth = 200 }),
	PARAM("flow_srq", { .flow_control = 1, .srq = 1 }, { .flow_control = 1, .srq = 1 }),
	PARAM("flow_big", { .flow_control = 7, .srq = 9 }, { .flow_control = 7, .srq = 9 }),
	{ "connect.no_params", test_no_params, NULL },
	{ "connect.no_listener", test_no_listener, &(const int){ 1 } },
	{ "connect.no_listener_no_qp", test_no_listener, &(const int){ 0 } },
	{ "connect.listener_gone", test_listener_gone, NULL },
	{ "connect.twice", test_twice, NULL },
	{ "connect.accept_no_qp", test_accept_no_qp, NULL },
	{ "connect.external", test_external, NULL },
	{ "connect.own_qp", test_own_qp, NULL },
	{ "connect.own_verbs", test_own_verbs, NULL },
	{ "connect.unanswered", test_unanswered, NULL },
	{ "connect.unanswered_external", test_unanswered_external, NULL },
	{ "connect.establish_early", test_establish_early, NULL },
	{ "connect.notified", test_notified, NULL },
	{ "connect.backlog", test_backlog, NULL },
	{ "connect.backlogs", test_backlogs, NULL },
	{ "connect.other_address", test_other_address, NULL },
	{ "connect.choose", test_choose, NULL },
	EVERYWHERE("connect.in", test_connect_in),
	EVERYWHERE("accept.in", test_accept_in),
	EVERYWHERE("listen.in", test_listen_in),
	EVERYWHERE("destroy.in", test_destroy_in),
	EVERYWHERE("create_qp.in", test_create_qp_in),
	EVERYWHERE("init_qp_attr.in", test_attr_in),
	{ }
};
