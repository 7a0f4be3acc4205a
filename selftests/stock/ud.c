// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagram service lookup (SIDR). */
#include "util.h"

static unsigned char data[256] = "datagram service, please";

struct lens {
	int req, rep;
};

static void full(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_listen(&d, RDMA_PS_UDP);
	duo_route(&d, RDMA_PS_UDP);
	show_id(d.cli);
	show_qp(d.cli->qp);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	show_id(d.srv);
	mkqp(d.srv, IBV_QPT_UD);
	show_qp(d.srv->qp);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	ev_none(d.cl);
	show_id(d.cli);
	show_qp(d.cli->qp);
	CALL(rdma_disconnect(d.cli), "disconnect cli");
	CALL(rdma_disconnect(d.srv), "disconnect srv");
	ev_none(d.cc);
	ev_none(d.cl);
	duo_end(&d);
}

static void private_data(const void *arg)
{
	const struct lens *l = arg;
	struct duo d;

	memset(data + 40, 0xa5, sizeof(data) - 40);
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_UDP);
	d.param.private_data = data;
	d.param.private_data_len = l->req;
	if (CALL(rdma_connect(d.cli, &d.param), "connect len=%d", l->req))
		goto out;
	d.srv = ev_request(d.cl, "srv");
	mkqp(d.srv, IBV_QPT_UD);
	d.param.private_data_len = l->rep;
	if (!CALL(rdma_accept(d.srv, &d.param), "accept len=%d", l->rep) || ev_ready(d.cc, 1000))
		ev(d.cc);
out:
	duo_end(&d);
}

static void refused(const void *arg)
{
	const int *len = arg;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_UDP);
	CALL(rdma_reject(d.srv, data, *len), "reject srv len=%d", *len);
	if (ev_ready(d.cc, 1000))
		ev(d.cc);
	CALL(rdma_reject(d.srv, data, 0), "reject srv again");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_connect(d.cli, &d.param), "connect cli again");
	duo_end(&d);
}

static void no_listener(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_route, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	ev(d.cc);
	duo_end(&d);
}

/* A listener of TCP is none for UDP. */
static void wrong_space(const void *arg)
{
	const enum rdma_port_space *ps = arg;
	struct duo d;

	duo_init(&d);
	quiet++;
	duo_listen(&d, ps[0]);
	duo_route(&d, ps[1]);
	quiet--;
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	ev(d.cc);
	ev_none(d.cl);
	duo_end(&d);
}

static void external(const void *arg)
{
	struct ibv_qp *mine, *theirs;
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_quietly(duo_prepare, &d, RDMA_PS_UDP);
	mine = ext_qp(d.cli, IBV_QPT_UD, "mine");
	ext_modify(d.cli, mine, IBV_QPS_INIT);
	show_init_attr(d.cli, IBV_QPS_RTR);
	show_init_attr(d.cli, IBV_QPS_RTS);
	d.param.qp_num = mine->qp_num;
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	CALL(rdma_establish(d.cli), "establish cli");
	d.srv = ev_request(d.cl, "srv");
	theirs = ext_qp(d.srv, IBV_QPT_UD, "theirs");
	ext_modify(d.srv, theirs, IBV_QPS_INIT);
	d.param.qp_num = theirs->qp_num;
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	duo_end(&d);
}

static void accept_bare(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.cli, NULL), "connect cli NULL");
	d.srv = ev_request(d.cl, "srv");
	d.param.qp_num = fake_qpn("srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv, no QP");
	ev(d.cc);
	duo_end(&d);
}

static void twice(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli again");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv again");
	ev(d.cc);
	CALL(rdma_connect(d.cli, &d.param), "connect cli after all");
	ev_none(d.cc);
	duo_end(&d);
}

static void destroyed(const void *arg)
{
	const int *which = arg;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_request, &d, RDMA_PS_UDP);
	if (*which) {
		rdma_destroy_qp(d.srv);
		rmid(d.srv);
		d.srv = NULL;
		ev(d.cc);
	} else {
		rdma_destroy_qp(d.cli);
		rmid(d.cli);
		d.cli = NULL;
		CALL(rdma_accept(d.srv, &d.param), "accept srv");
		ev_none(d.cl);
	}
	duo_end(&d);
}

static void ghost(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_conn_param param = { };
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_UDP);
	quiet++;
	do_resolve(id, NULL, GHOST, PORT);
	ev(ch);
	do_route(id);
	ev(ch);
	mkqp(id, IBV_QPT_UD);
	quiet--;
	CALL(rdma_connect(id, &param), "connect");
	ev_none(ch);
	CALL(rdma_disconnect(id), "disconnect");
	rdma_destroy_qp(id);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void wildcard(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.lst = mkid(d.cl, "lst", RDMA_PS_UDP);
	do_bind(d.lst, "0.0.0.0", PORT);
	do_listen(d.lst, 2);
	duo_quietly(duo_route, &d, RDMA_PS_UDP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	show_id(d.srv);
	mkqp(d.srv, IBV_QPT_UD);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	duo_end(&d);
}

/* A server that answers all lookups with one QP, that of its listener. */
static void listener_qp(const void *arg)
{
	enum rdma_port_space ps = *(const int *)arg;
	struct duo d;
	int i;

	duo_init(&d);
	if (duo_listen(&d, ps) || mkqp(d.lst, IBV_QPT_UD))
		return;
	show_qp(d.lst->qp);
	show_init_attr(d.lst, IBV_QPS_INIT);
	show_init_attr(d.lst, IBV_QPS_RTR);
	show_init_attr(d.lst, IBV_QPS_RTS);
	for (i = 0; i < 2; i++) {
		duo_route(&d, ps);
		d.param.qp_num = 0;
		CALL(rdma_connect(d.cli, &d.param), "connect cli");
		d.srv = ev_request(d.cl, "srv");
		d.param.qp_num = d.lst->qp->qp_num;
		CALL(rdma_accept(d.srv, &d.param), "accept srv");
		ev(d.cc);
		rmid(d.srv);
		d.srv = NULL;
		rdma_destroy_qp(d.cli);
		rmid(d.cli);
		d.cli = NULL;
	}
	duo_end(&d);
}

/* Nothing of a listener of connections is a QP's. */
static void listener_attr(const void *arg)
{
	struct duo d;

	duo_init(&d);
	duo_listen(&d, *(const int *)arg);
	mkqp(d.lst, IBV_QPT_RC);
	show_init_attr(d.lst, IBV_QPS_INIT);
	duo_end(&d);
}

static void qp_types(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_UDP);
	do_bind(id, ADDR, 0);
	mkqp(id, IBV_QPT_RC);
	mkqp(id, IBV_QPT_UC);
	mkqp(id, IBV_QPT_UD);
	show_init_attr(id, IBV_QPS_INIT);
	show_init_attr(id, IBV_QPS_RTR);
	show_init_attr(id, IBV_QPS_RTS);
	show_qp(id->qp);
	if (id->qp)
		rdma_destroy_qp(id);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

#define DATA(name, ...) { "ud.data." name, private_data, &(const struct lens){ __VA_ARGS__ } }

const struct cmp_case ud_cases[] = {
	{ "ud.full", full, NULL },
	DATA("0", 0, 0),
	DATA("1", 1, 1),
	DATA("136", 136, 136),
	DATA("137", 137, 137),
	DATA("180", 180, 0),
	DATA("181", 181, 0),
	DATA("255", 255, 255),
	{ "ud.reject.0", refused, &(const int){ 0 } },
	{ "ud.reject.30", refused, &(const int){ 30 } },
	{ "ud.reject.255", refused, &(const int){ 255 } },
	{ "ud.no_listener", no_listener, NULL },
	{ "ud.listener_tcp", wrong_space,
	  (const enum rdma_port_space[]){ RDMA_PS_TCP, RDMA_PS_UDP } },
	{ "ud.listener_ipoib", wrong_space,
	  (const enum rdma_port_space[]){ RDMA_PS_IPOIB, RDMA_PS_UDP } },
	{ "ud.listener_udp", wrong_space,
	  (const enum rdma_port_space[]){ RDMA_PS_UDP, RDMA_PS_TCP } },
	{ "ud.external", external, NULL },
	{ "ud.accept_bare", accept_bare, NULL },
	{ "ud.twice", twice, NULL },
	{ "ud.destroy_passive", destroyed, &(const int){ 1 } },
	{ "ud.destroy_active", destroyed, &(const int){ 0 } },
	{ "ud.ghost", ghost, NULL },
	{ "ud.wildcard", wildcard, NULL },
	{ "ud.listener_qp.udp", listener_qp, &(const int){ RDMA_PS_UDP } },
	{ "ud.listener_qp.ipoib", listener_qp, &(const int){ RDMA_PS_IPOIB } },
	{ "ud.listener_qp.tcp", listener_attr, &(const int){ RDMA_PS_TCP } },
	{ "ud.qp_types", qp_types, NULL },
	{ }
};
