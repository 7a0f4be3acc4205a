// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rejects, disconnects, and ids that are destroyed during a connection. */
#include "util.h"

static unsigned char data[256] = "refused by the application, see its log";

static void test_with_data(const void *arg)
{
	const int *len = arg;
	struct duo d;

	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.srv, *len ? data : NULL, *len), "reject srv len=%d", *len);
	if (channel_poll(d.cc, 1000))
		event_trace(d.cc);
	show_qp(d.cli->qp);
	CALL(rdma_reject(d.srv, NULL, 0), "reject srv");
	event_expect_none(d.cl);
	duo_end(&d);
}

static void test_null_data(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.srv, NULL, 8), "reject srv NULL len=8");
	event_trace(d.cc);
	duo_end(&d);
}

static void test_reject_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_reject(id, data, 4), "reject %s", id_name(id));
	duo_end(&d);
}

static void test_then(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.srv, data, 4), "reject srv");
	event_trace(d.cc);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_disconnect(d.srv), "disconnect srv");
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	CALL(rdma_reject(d.cli, NULL, 0), "reject cli");
	show_id(d.cli);
	duo_end(&d);
}

static void test_disconnect_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_disconnect(id), "disconnect %s", id_name(id));
	if (channel_poll(d.cc, 2000))
		event_trace(d.cc);
	if (channel_poll(d.cl, 2000))
		event_trace(d.cl);
	show_qp(id->qp);
	duo_end(&d);
}

static void test_normal(const void *arg)
{
	const int *passive = arg;
	struct duo d;

	duo_init(&d);
	duo_run_quietly(duo_connect, &d, RDMA_PS_TCP);
	duo_disconnect(&d, *passive ? d.srv : d.cli, *passive ? d.cli : d.srv);
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	CALL(rdma_disconnect(d.srv), "disconnect srv");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	show_id(d.cli);
	show_id(d.srv);
	duo_end(&d);
}

static void test_both(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_connect, &d, RDMA_PS_TCP);
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	CALL(rdma_disconnect(d.srv), "disconnect srv");
	event_trace(d.cc);
	event_trace(d.cl);
	duo_end(&d);
}

/* One side destroys its id without a disconnect. */
static void test_peer_gone(const void *arg)
{
	const int *passive = arg;
	struct rdma_cm_id **id;
	struct duo d;

	duo_init(&d);
	duo_run_quietly(duo_connect, &d, RDMA_PS_TCP);
	id = *passive ? &d.srv : &d.cli;
	rdma_destroy_qp(*id);
	id_destroy(*id);
	*id = NULL;
	event_trace(*passive ? d.cc : d.cl);
	duo_end(&d);
}

static void test_destroyed_request(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	rdma_destroy_qp(d.srv);
	id_destroy(d.srv);
	d.srv = NULL;
	event_trace(d.cc);
	duo_end(&d);
}

static void test_unfetched_request(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	quiet++;
	duo_listen(&d, RDMA_PS_TCP);
	duo_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	channel_poll(d.cl, 5000);
	quiet--;
	id_destroy(d.lst);
	d.lst = NULL;
	event_trace(d.cc);
	event_expect_none(d.cl);
	duo_end(&d);
}

static void test_listener_first(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	id_destroy(d.lst);
	d.lst = NULL;
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	event_trace(d.cc);
	event_trace(d.cl);
	duo_disconnect(&d, d.cli, d.srv);
	duo_end(&d);
}

static void test_active_gone(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	rdma_destroy_qp(d.cli);
	id_destroy(d.cli);
	d.cli = NULL;
	if (channel_poll(d.cl, 2000))
		event_trace(d.cl);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_reject(d.srv, NULL, 0), "reject srv");
	event_expect_none(d.cl);
	duo_end(&d);
}

static void test_channel_closed(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_connect, &d, RDMA_PS_TCP);
	rdma_destroy_event_channel(d.cl);
	event_trace(d.cc);
	show_qp(d.cli->qp);
}

/* A reject after the accept, while the reply is in flight. */
static void test_accepted(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_run_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_reject(d.srv, data, 4), "reject srv");
	/* no event shows that the reply has arrived */
	sleep(2);
	event_trace(d.cc);
	duo_end(&d);
}

/* The active side rejects the reply. */
static void test_active_rejects(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_run_quietly(duo_prepare, &d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = event_trace_request(d.cl, "srv");
	d.param.qp_num = qpn_fake("srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	event_trace(d.cc);
	CALL(rdma_reject(d.cli, data, 12), "reject cli");
	event_trace(d.cl);
	CALL(rdma_establish(d.cli), "establish cli");
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	duo_end(&d);
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
