// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_connect(), rdma_listen() and rdma_accept(). */
#include "util.h"

static unsigned char data[256] = "hello from the private data of a connection";

struct lens {
	int req, rep;
};

/* Private data of both directions. */
static void private_data(const void *arg)
{
	const struct lens *l = arg;
	struct duo d;

	memset(data + 50, 0x5a, sizeof(data) - 50);
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	d.param.private_data = data;
	d.param.private_data_len = l->req;
	if (CALL(rdma_connect(d.cli, &d.param), "connect len=%d", l->req)) {
		show_qp(d.cli->qp);
		d.param.private_data_len = 0;
		if (CALL(rdma_connect(d.cli, &d.param), "connect again len=0"))
			goto out;
	}
	d.srv = ev_request(d.cl, "srv");
	mkqp(d.srv, IBV_QPT_RC);
	d.param.private_data_len = l->rep;
	if (CALL(rdma_accept(d.srv, &d.param), "accept len=%d", l->rep)) {
		show_qp(d.srv->qp);
		if (ev_ready(d.cc, 1000))
			ev(d.cc);
		goto out;
	}
	ev(d.cc);
	ev(d.cl);
out:
	duo_end(&d);
}

static void null_data(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	d.param.private_data_len = 8;
	CALL(rdma_connect(d.cli, &d.param), "connect NULL data len=8");
	if (ev_ready(d.cl, 1000))
		d.srv = ev_request(d.cl, "srv");
	duo_end(&d);
}

/* Everything that a plain connection shows. */
static void full(const void *arg)
{
	const char *const *addr = arg;
	struct duo d;

	duo_init(&d);
	d.lst = mkid(d.cl, "lst", RDMA_PS_TCP);
	do_bind(d.lst, addr[0], PORT);
	do_listen(d.lst, 8);
	d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
	do_resolve(d.cli, NULL, addr[1], PORT);
	ev(d.cc);
	if (do_route(d.cli))
		goto out;
	ev(d.cc);
	mkqp(d.cli, IBV_QPT_RC);
	show_qp(d.cli->qp);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	if (!ev_ready(d.cl, 5000)) {
		ev(d.cc);
		goto out;
	}
	d.srv = ev_request(d.cl, "srv");
	show_id(d.lst);
	show_id(d.srv);
	mkqp(d.srv, IBV_QPT_RC);
	show_qp(d.srv->qp);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	show_qp(d.srv->qp);
	ev(d.cc);
	ev(d.cl);
	show_id(d.cli);
	show_id(d.srv);
	show_ports(d.cli);
	show_ports(d.srv);
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
	duo_disconnect(&d, d.cli, d.srv);
out:
	duo_end(&d);
}

struct params {
	struct rdma_conn_param req, rep;
};

static void params(const void *arg)
{
	const struct params *p = arg;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	d.param = p->req;
	if (CALL(rdma_connect(d.cli, &d.param), "connect cli"))
		goto out;
	d.srv = ev_request(d.cl, "srv");
	mkqp(d.srv, IBV_QPT_RC);
	d.param = p->rep;
	if (CALL(rdma_accept(d.srv, &d.param), "accept srv"))
		goto out;
	ev(d.cc);
	ev(d.cl);
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
out:
	duo_end(&d);
}

static void no_params(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, NULL), "connect cli NULL");
	d.srv = ev_request(d.cl, "srv");
	mkqp(d.srv, IBV_QPT_RC);
	CALL(rdma_accept(d.srv, NULL), "accept srv NULL");
	ev(d.cc);
	ev(d.cl);
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
	duo_end(&d);
}

static void no_listener(const void *arg)
{
	const int *qp = arg;
	struct duo d;

	duo_init(&d);
	d.no_qp = !*qp;
	duo_quietly(duo_route, &d, RDMA_PS_TCP);
	if (!*qp)
		d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	ev(d.cc);
	show_id(d.cli);
	show_qp(d.cli->qp);
	CALL(rdma_connect(d.cli, &d.param), "connect cli again");
	duo_end(&d);
}

static void listener_gone(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	rmid(d.lst);
	d.lst = NULL;
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	ev(d.cc);
	duo_end(&d);
}

static void connect_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_conn_param param = { .qp_num = 0x654321 };
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_connect(id, &param), "connect %s", idname(id));
	duo_end(&d);
}

static void accept_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_accept(id, &d.param), "accept %s", idname(id));
	duo_end(&d);
}

static void listen_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	do_listen(id, 1);
	show_id(id);
	duo_end(&d);
}

static void destroy_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	if (id->qp)
		rdma_destroy_qp(id);
	rmid(id);
	/* long enough for TIMEWAIT_EXIT: 2.1 s after a disconnect on 6.1, where a path lives longer */
	if (ev_ready(d.cl, 6000))
		ev(d.cl);
	if (ev_ready(d.cc, 500))
		ev(d.cc);
}

static void create_qp_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	mkqp(id, IBV_QPT_UD);
	mkqp(id, IBV_QPT_UC);
	mkqp(id, IBV_QPT_RC);
	show_qp(id->qp);
	duo_end(&d);
}

/* What the program has changed in the QP since its creation is changed back. */
static void accept_modified_qp(const void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, REQUESTED);
	CALL(ibv_modify_qp(id->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						  IBV_QP_ACCESS_FLAGS), "modify_qp, no access");
	show_qp(id->qp);
	CALL(rdma_accept(id, &d.param), "accept");
	show_qp(id->qp);
	duo_end(&d);
}

static void attr_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	show_init_attr(id, IBV_QPS_RESET);
	show_init_attr(id, IBV_QPS_INIT);
	show_init_attr(id, IBV_QPS_RTR);
	show_init_attr(id, IBV_QPS_RTS);
	show_init_attr(id, IBV_QPS_ERR);
	show_init_attr(id, 99);
	duo_end(&d);
}

static void twice(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli again");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv again");
	ev(d.cc);
	ev(d.cl);
	CALL(rdma_accept(d.srv, &d.param), "accept srv after all");
	CALL(rdma_connect(d.cli, &d.param), "connect cli after all");
	duo_end(&d);
}

static void accept_no_qp(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	d.param.qp_num = fake_qpn("srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv, external QP");
	ev(d.cc);
	ev(d.cl);
	show_qp(d.cli->qp);
	duo_end(&d);
}

/* Both QPs are the application's. */
static void external(const void *arg)
{
	struct ibv_qp *mine, *theirs;
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_listen(&d, RDMA_PS_TCP);
	duo_route(&d, RDMA_PS_TCP);
	mine = ext_qp(d.cli, IBV_QPT_RC, "mine");
	ext_modify(d.cli, mine, IBV_QPS_INIT);
	show_init_attr(d.cli, IBV_QPS_RTR);
	d.param.qp_num = mine->qp_num;
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	theirs = ext_qp(d.srv, IBV_QPT_RC, "theirs");
	ext_modify(d.srv, theirs, IBV_QPS_INIT);
	ext_modify(d.srv, theirs, IBV_QPS_RTR);
	ext_modify(d.srv, theirs, IBV_QPS_RTS);
	d.param.qp_num = theirs->qp_num;
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	ev_none(d.cl);
	ext_modify(d.cli, mine, IBV_QPS_RTR);
	ext_modify(d.cli, mine, IBV_QPS_RTS);
	CALL(rdma_establish(d.cli), "establish cli");
	CALL(rdma_establish(d.cli), "establish cli again");
	ev(d.cl);
	ev_none(d.cc);
	show_qp(mine);
	show_qp(theirs);
	duo_disconnect(&d, d.srv, d.cli);
	show_qp(mine);
	duo_end(&d);
}

/* Does who disconnects hear of it before the other end has answered? */
static void tell_end(struct duo *d)
{
	CALL(rdma_disconnect(d->cli), "disconnect cli");
	ev(d->cl);
	say("told: %d", ev_ready(d->cc, 300));
	CALL(rdma_disconnect(d->srv), "disconnect srv");
	ev(d->cc);
}

static void unanswered(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	if (!duo_connect(&d, RDMA_PS_TCP))
		tell_end(&d);
	duo_end(&d);
}

static void unanswered_external(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	d.param.qp_num = fake_qpn("cli");
	if (!duo_request(&d, RDMA_PS_TCP)) {
		d.param.qp_num = fake_qpn("srv");
		CALL(rdma_accept(d.srv, &d.param), "accept srv");
		ev(d.cc);
		CALL(rdma_establish(d.cli), "establish cli");
		ev(d.cl);
		tell_end(&d);
	}
	duo_end(&d);
}

/* There is nothing yet to confirm. */
static void establish_early(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	CALL(rdma_establish(d.cli), "establish cli");
	if (ev_ready(d.cc, 2000))
		ev(d.cc);
	if (ev_ready(d.cl, 2000))
		ev(d.cl);
	duo_end(&d);
}

/* The answer is never confirmed; a notification forces the passive side. */
static void notified(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	quiet++;
	duo_listen(&d, RDMA_PS_TCP);
	duo_route(&d, RDMA_PS_TCP);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	d.param.qp_num = fake_qpn("srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	quiet--;
	ev(d.cc);
	CALL(rdma_notify(d.srv, IBV_EVENT_COMM_EST), "notify srv");
	ev(d.cl);
	CALL(rdma_notify(d.srv, IBV_EVENT_COMM_EST), "notify srv again");
	duo_end(&d);
}

/* What does not fit in is dropped without a word: the peer asks again, later. */
static void backlog(const void *arg)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *cli[3];
	struct duo d;
	int i;

	(void)arg;
	duo_init(&d);
	quiet++;
	d.lst = mkid(d.cl, "lst", RDMA_PS_TCP);
	do_bind(d.lst, ADDR, PORT);
	do_listen(d.lst, 1);
	for (i = 0; i < 3; i++) {
		cli[i] = mkid(d.cc, "cli", RDMA_PS_TCP);
		do_resolve(cli[i], NULL, ADDR, PORT);
		ev(d.cc);
		do_route(cli[i]);
		ev(d.cc);
		param.qp_num = fake_qpn("cli");
		CALL(rdma_connect(cli[i], &param), "connect cli");
		usleep(300000);
	}
	quiet--;
	ev_none(d.cc);
	d.srv = ev_request(d.cl, "srv");
	ev_none(d.cl);
	quiet++;
	for (i = 0; i < 3; i++)
		rmid(cli[i]);
	quiet--;
	duo_end(&d);
}

static void backlogs(const void *arg)
{
	static const int tried[] = { -1, 0, 1, 1 << 20 };
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		id = mkid(ch, "id", RDMA_PS_TCP);
		do_bind(id, ADDR, PORT);
		do_listen(id, tried[i]);
		rmid(id);
	}
	rdma_destroy_event_channel(ch);
}

/* The port is listened on, but with another address. */
static void other_address(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	d.lst = mkid(d.cl, "lst", RDMA_PS_TCP);
	do_bind(d.lst, ADDR_2, PORT);
	do_listen(d.lst, 1);
	duo_quietly(duo_route, &d, RDMA_PS_TCP);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	ev(d.cc);
	ev_none(d.cl);
	duo_end(&d);
}

/* Two listeners, a specific and a wildcard one of another family or port space. */
static void choose(const void *arg)
{
	struct rdma_cm_id *other;
	struct duo d;
	int one = 1;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	d.lst = mkid(d.cl, "any6", RDMA_PS_TCP);
	CALL(rdma_set_option(d.lst, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, sizeof(one)),
	     "afonly");
	do_bind(d.lst, "::", PORT);
	do_listen(d.lst, 1);
	other = mkid(d.cl, "any4", RDMA_PS_TCP);
	do_bind(other, "0.0.0.0", PORT);
	do_listen(other, 1);
	duo_route(&d, RDMA_PS_TCP);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	if (ev_ready(d.cl, 5000))
		d.srv = ev_request(d.cl, "srv");
	else
		ev(d.cc);
	rmid(other);
	duo_end(&d);
}

static const char *const pair_v4[] = { ADDR, ADDR };
static const char *const pair_any[] = { "0.0.0.0", ADDR };
static const char *const pair_any_second[] = { "0.0.0.0", ADDR_2 };
static const char *const pair_any6_v4[] = { "::", ADDR };
static const char *const pair_v6[] = { ADDR_6, ADDR_6 };
static const char *const pair_any6[] = { "::", ADDR_6 };
static const char *const pair_loop[] = { "127.0.0.1", "127.0.0.1" };
static const char *const pair_any_loop[] = { "0.0.0.0", "127.0.0.1" };
static const char *const pair_ll[] = { ADDR_LL "%" DEV, ADDR_LL "%" DEV };

#define DATA(name, ...)	{ "connect.data." name, private_data, &(const struct lens){ __VA_ARGS__ } }
#define FULL(name, pair) { "connect.full." name, full, pair }
#define PARAM(name, ...) { "connect.param." name, params, &(const struct params){ __VA_ARGS__ } }
#define IN(what, fn, name, where) { what "." name, fn, &(const enum reach){ where } }
#define EVERYWHERE(what, fn)						\
	IN(what, fn, "idle", IDLE), IN(what, fn, "wildcard", WILDCARD),	\
	IN(what, fn, "bound", BOUND), IN(what, fn, "addressed", ADDRESSED),	\
	IN(what, fn, "routed", ROUTED), IN(what, fn, "listening", LISTENING),	\
	IN(what, fn, "requested", REQUESTED), IN(what, fn, "connected", CONNECTED), \
	IN(what, fn, "disconnected", DISCONNECTED)

const struct cmp_case connect_cases[] = {
	FULL("v4", pair_v4),
	{ "connect.accept_modified_qp", accept_modified_qp, NULL },
	FULL("any", pair_any),
	FULL("any_second", pair_any_second),
	FULL("any6_v4", pair_any6_v4),
	FULL("v6", pair_v6),
	FULL("any6", pair_any6),
	FULL("loopback", pair_loop),
	FULL("any_loopback", pair_any_loop),
	FULL("linklocal", pair_ll),
	DATA("0", 0, 0),
	DATA("1", 1, 1),
	DATA("55", 55, 56),
	DATA("56", 56, 196),
	DATA("57", 57, 197),
	DATA("255", 255, 255),
	{ "connect.null_data", null_data, NULL },
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
	{ "connect.no_params", no_params, NULL },
	{ "connect.no_listener", no_listener, &(const int){ 1 } },
	{ "connect.no_listener_no_qp", no_listener, &(const int){ 0 } },
	{ "connect.listener_gone", listener_gone, NULL },
	{ "connect.twice", twice, NULL },
	{ "connect.accept_no_qp", accept_no_qp, NULL },
	{ "connect.external", external, NULL },
	{ "connect.unanswered", unanswered, NULL },
	{ "connect.unanswered_external", unanswered_external, NULL },
	{ "connect.establish_early", establish_early, NULL },
	{ "connect.notified", notified, NULL },
	{ "connect.backlog", backlog, NULL },
	{ "connect.backlogs", backlogs, NULL },
	{ "connect.other_address", other_address, NULL },
	{ "connect.choose", choose, NULL },
	EVERYWHERE("connect.in", connect_in),
	EVERYWHERE("accept.in", accept_in),
	EVERYWHERE("listen.in", listen_in),
	EVERYWHERE("destroy.in", destroy_in),
	EVERYWHERE("create_qp.in", create_qp_in),
	EVERYWHERE("init_qp_attr.in", attr_in),
	{ }
};
