// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ends of connections: refused, given up, taken down. */
#include "util.h"

static unsigned char data[256] = "refused by the application, see its log";

static void with_data(const void *arg)
{
	const int *len = arg;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.srv, *len ? data : NULL, *len), "reject srv len=%d", *len);
	if (ev_ready(d.cc, 1000))
		ev(d.cc);
	show_qp(d.cli->qp);
	CALL(rdma_reject(d.srv, NULL, 0), "reject srv");
	ev_none(d.cl);
	duo_end(&d);
}

static void null_data(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.srv, NULL, 8), "reject srv NULL len=8");
	ev(d.cc);
	duo_end(&d);
}

static void reject_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_reject(id, data, 4), "reject %s", idname(id));
	duo_end(&d);
}

static void then(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_reject(d.srv, data, 4), "reject srv");
	ev(d.cc);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_disconnect(d.srv), "disconnect srv");
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	CALL(rdma_reject(d.cli, NULL, 0), "reject cli");
	show_id(d.cli);
	duo_end(&d);
}

static void disconnect_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_disconnect(id), "disconnect %s", idname(id));
	if (ev_ready(d.cc, 2000))
		ev(d.cc);
	if (ev_ready(d.cl, 2000))
		ev(d.cl);
	show_qp(id->qp);
	duo_end(&d);
}

static void normal(const void *arg)
{
	const int *passive = arg;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_connect, &d, RDMA_PS_TCP);
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

static void both(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_connect, &d, RDMA_PS_TCP);
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	CALL(rdma_disconnect(d.srv), "disconnect srv");
	ev(d.cc);
	ev(d.cl);
	duo_end(&d);
}

/* One side goes without a word. */
static void peer_gone(const void *arg)
{
	const int *passive = arg;
	struct rdma_cm_id **id;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_connect, &d, RDMA_PS_TCP);
	id = *passive ? &d.srv : &d.cli;
	rdma_destroy_qp(*id);
	rmid(*id);
	*id = NULL;
	ev(*passive ? d.cc : d.cl);
	duo_end(&d);
}

static void destroyed_request(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	rdma_destroy_qp(d.srv);
	rmid(d.srv);
	d.srv = NULL;
	ev(d.cc);
	duo_end(&d);
}

static void unfetched_request(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	quiet++;
	duo_listen(&d, RDMA_PS_TCP);
	duo_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	ev_ready(d.cl, 5000);
	quiet--;
	rmid(d.lst);
	d.lst = NULL;
	ev(d.cc);
	ev_none(d.cl);
	duo_end(&d);
}

static void listener_first(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	rmid(d.lst);
	d.lst = NULL;
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	ev(d.cl);
	duo_disconnect(&d, d.cli, d.srv);
	duo_end(&d);
}

static void active_gone(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	rdma_destroy_qp(d.cli);
	rmid(d.cli);
	d.cli = NULL;
	if (ev_ready(d.cl, 2000))
		ev(d.cl);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_reject(d.srv, NULL, 0), "reject srv");
	ev_none(d.cl);
	duo_end(&d);
}

static void channel_closed(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_connect, &d, RDMA_PS_TCP);
	rdma_destroy_event_channel(d.cl);
	ev(d.cc);
	show_qp(d.cli->qp);
}

/* Reject after accept, while the answer is on its way. */
static void accepted(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_reject(d.srv, data, 4), "reject srv");
	/* nothing shows that it has arrived */
	sleep(2);
	ev(d.cc);
	duo_end(&d);
}

/* The active side refuses the answer. */
static void active_rejects(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	d.param.qp_num = fake_qpn("srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	CALL(rdma_reject(d.cli, data, 12), "reject cli");
	ev(d.cl);
	CALL(rdma_establish(d.cli), "establish cli");
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	duo_end(&d);
}

static void ghost(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *id = mkid(ch, "id", RDMA_PS_TCP);

	(void)arg;
	quiet++;
	do_resolve(id, NULL, GHOST, PORT);
	ev(ch);
	do_route(id);
	ev(ch);
	mkqp(id, IBV_QPT_RC);
	quiet--;
	show_id(id);
	CALL(rdma_connect(id, &param), "connect");
	ev_none(ch);
	CALL(rdma_disconnect(id), "disconnect");
	ev_none(ch);
	rdma_destroy_qp(id);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

#define DATA(name, len)		{ "reject.data." name, with_data, &(const int){ len } }
#define IN(name, where)		{ "reject.in." name, reject_in, &(const enum reach){ where } }
#define DISC(name, where) \
	{ "disconnect.in." name, disconnect_in, &(const enum reach){ where } }

const struct cmp_case reject_cases[] = {
	DATA("0", 0),
	DATA("1", 1),
	DATA("40", 40),
	DATA("148", 148),
	DATA("149", 149),
	DATA("255", 255),
	{ "reject.null_data", null_data, NULL },
	IN("idle", IDLE),
	IN("bound", BOUND),
	IN("addressed", ADDRESSED),
	IN("routed", ROUTED),
	IN("listening", LISTENING),
	IN("connected", CONNECTED),
	IN("disconnected", DISCONNECTED),
	{ "reject.then", then, NULL },
	{ "reject.accepted", accepted, NULL },
	{ "reject.active", active_rejects, NULL },
	{ "reject.destroyed_request", destroyed_request, NULL },
	{ "reject.unfetched_request", unfetched_request, NULL },
	{ "disconnect.active", normal, &(const int){ 0 } },
	{ "disconnect.passive", normal, &(const int){ 1 } },
	{ "disconnect.both", both, NULL },
	DISC("idle", IDLE),
	DISC("bound", BOUND),
	DISC("addressed", ADDRESSED),
	DISC("routed", ROUTED),
	DISC("listening", LISTENING),
	DISC("requested", REQUESTED),
	{ "disconnect.ghost", ghost, NULL },
	{ "destroy.passive", peer_gone, &(const int){ 1 } },
	{ "destroy.active", peer_gone, &(const int){ 0 } },
	{ "destroy.listener_first", listener_first, NULL },
	{ "destroy.active_early", active_gone, NULL },
	{ "destroy.channel", channel_closed, NULL },
	{ }
};
