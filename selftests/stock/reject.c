// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rejects, disconnects, and ids that are destroyed during a connection. */
#include "util.h"

static unsigned char data[256] = "refused by the application, see its log";

static void test_with_data(const void *arg)
{
	const int *len = arg;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.child, *len ? data : NULL, *len), "reject srv len=%d", *len);
	if (channel_poll(d.ch, 1000))
		event_trace(d.ch);
	show_qp(d.id->qp);
	CALL(rdma_reject(d.child, NULL, 0), "reject srv");
	event_expect_none(d.lch);
	pair_close(&d);
}

static void test_null_data(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.child, NULL, 8), "reject srv NULL len=8");
	event_trace(d.ch);
	pair_close(&d);
}

static void test_reject_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_reject(id, data, 4), "reject %s", id_name(id));
	pair_close(&d);
}

static void test_then(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.child, data, 4), "reject srv");
	event_trace(d.ch);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	CALL(rdma_disconnect(d.child), "disconnect srv");
	CALL(rdma_disconnect(d.id), "disconnect cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	CALL(rdma_reject(d.id, NULL, 0), "reject cli");
	show_id(d.id);
	pair_close(&d);
}

static void test_disconnect_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_disconnect(id), "disconnect %s", id_name(id));
	if (channel_poll(d.ch, 2000))
		event_trace(d.ch);
	if (channel_poll(d.lch, 2000))
		event_trace(d.lch);
	show_qp(id->qp);
	pair_close(&d);
}

static void test_normal(const void *arg)
{
	const int *passive = arg;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_connect, &d, RDMA_PS_TCP);
	pair_disconnect(&d, *passive ? d.child : d.id, *passive ? d.id : d.child);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	CALL(rdma_disconnect(d.id), "disconnect cli");
	CALL(rdma_disconnect(d.child), "disconnect srv");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	show_id(d.id);
	show_id(d.child);
	pair_close(&d);
}

static void test_both(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_connect, &d, RDMA_PS_TCP);
	CALL(rdma_disconnect(d.id), "disconnect cli");
	CALL(rdma_disconnect(d.child), "disconnect srv");
	event_trace(d.ch);
	event_trace(d.lch);
	pair_close(&d);
}

/* One side destroys its id without a disconnect. */
static void test_peer_gone(const void *arg)
{
	const int *passive = arg;
	struct rdma_cm_id **id;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_connect, &d, RDMA_PS_TCP);
	id = *passive ? &d.child : &d.id;
	rdma_destroy_qp(*id);
	id_destroy(*id);
	*id = NULL;
	event_trace(*passive ? d.ch : d.lch);
	pair_close(&d);
}

static void test_destroyed_request(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	rdma_destroy_qp(d.child);
	id_destroy(d.child);
	d.child = NULL;
	event_trace(d.ch);
	pair_close(&d);
}

static void test_unfetched_request(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	quiet++;
	pair_listen(&d, RDMA_PS_TCP);
	pair_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	channel_poll(d.lch, 5000);
	quiet--;
	id_destroy(d.listener);
	d.listener = NULL;
	event_trace(d.ch);
	event_expect_none(d.lch);
	pair_close(&d);
}

static void test_listener_first(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	id_destroy(d.listener);
	d.listener = NULL;
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_trace(d.lch);
	pair_disconnect(&d, d.id, d.child);
	pair_close(&d);
}

static void test_active_gone(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	rdma_destroy_qp(d.id);
	id_destroy(d.id);
	d.id = NULL;
	if (channel_poll(d.lch, 2000))
		event_trace(d.lch);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	CALL(rdma_reject(d.child, NULL, 0), "reject srv");
	event_expect_none(d.lch);
	pair_close(&d);
}

static void test_channel_closed(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_connect, &d, RDMA_PS_TCP);
	rdma_destroy_event_channel(d.lch);
	event_trace(d.ch);
	show_qp(d.id->qp);
}

/* A reject after the accept, while the reply is in flight. */
static void test_accepted(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_request, &d, RDMA_PS_TCP);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	CALL(rdma_reject(d.child, data, 4), "reject srv");
	/* no event shows that the reply has arrived */
	sleep(2);
	event_trace(d.ch);
	pair_close(&d);
}

/* The active side rejects the reply. */
static void test_active_rejects(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	d.param.qp_num = qpn_fake("srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	CALL(rdma_reject(d.id, data, 12), "reject cli");
	event_trace(d.lch);
	CALL(rdma_establish(d.id), "establish cli");
	CALL(rdma_disconnect(d.id), "disconnect cli");
	pair_close(&d);
}

static void test_ghost(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *id = id_create(ch, "id", RDMA_PS_TCP);

	(void)arg;
	quiet++;
	id_resolve_addr(id, NULL, GHOST, PORT);
	event_trace(ch);
	id_resolve_route(id);
	event_trace(ch);
	qp_create(id, IBV_QPT_RC);
	quiet--;
	show_id(id);
	CALL(rdma_connect(id, &param), "connect");
	event_expect_none(ch);
	CALL(rdma_disconnect(id), "disconnect");
	event_expect_none(ch);
	rdma_destroy_qp(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

#define DATA(name, len)		{ "reject.data." name, test_with_data, &(const int){ len } }
#define IN(name, where)		{ "reject.in." name, test_reject_in, &(const enum reach){ where } }
#define DISC(name, where) \
	{ "disconnect.in." name, test_disconnect_in, &(const enum reach){ where } }

const struct cmp_case reject_cases[] = {
	DATA("0", 0),
	DATA("1", 1),
	DATA("40", 40),
	DATA("148", 148),
	DATA("149", 149),
	DATA("255", 255),
	{ "reject.null_data", test_null_data, NULL },
	IN("idle", IDLE),
	IN("bound", BOUND),
	IN("addressed", ADDRESSED),
	IN("routed", ROUTED),
	IN("listening", LISTENING),
	IN("connected", CONNECTED),
	IN("disconnected", DISCONNECTED),
	{ "reject.then", test_then, NULL },
	{ "reject.accepted", test_accepted, NULL },
	{ "reject.active", test_active_rejects, NULL },
	{ "reject.destroyed_request", test_destroyed_request, NULL },
	{ "reject.unfetched_request", test_unfetched_request, NULL },
	{ "disconnect.active", test_normal, &(const int){ 0 } },
	{ "disconnect.passive", test_normal, &(const int){ 1 } },
	{ "disconnect.both", test_both, NULL },
	DISC("idle", IDLE),
	DISC("bound", BOUND),
	DISC("addressed", ADDRESSED),
	DISC("routed", ROUTED),
	DISC("listening", LISTENING),
	DISC("requested", REQUESTED),
	{ "disconnect.ghost", test_ghost, NULL },
	{ "destroy.passive", test_peer_gone, &(const int){ 1 } },
	{ "destroy.active", test_peer_gone, &(const int){ 0 } },
	{ "destroy.listener_first", test_listener_first, NULL },
	{ "destroy.active_early", test_active_gone, NULL },
	{ "destroy.channel", test_channel_closed, NULL },
	{ }
};
