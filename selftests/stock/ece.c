// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Enhanced connection establishment: options offered, seen and refused. */
#include "util.h"

static void set(struct rdma_cm_id *id, uint32_t vendor, uint32_t options)
{
	struct ibv_ece ece = { .vendor_id = vendor, .options = options };

	CALL(rdma_set_local_ece(id, &ece), "set_local_ece %s vendor=%#x options=%#x", idname(id),
	     vendor, options);
}

static void get(struct rdma_cm_id *id)
{
	struct ibv_ece ece = { .vendor_id = 0xdead, .options = 0xdead, .comp_mask = 0xdead };

	if (!CALL(rdma_get_remote_ece(id, &ece), "get_remote_ece %s", idname(id)))
		say("  vendor=%#x options=%#x comp_mask=%#x", ece.vendor_id, ece.options,
		    ece.comp_mask);
}

static void in_state(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	get(id);
	set(id, 0x15b3, 0x5);
	set(id, 0, 0x5);
	set(id, 0xffffff, 0xffffffff);
	set(id, 0xffffffff, 0);
	get(id);
	duo_end(&d);
}

static void bad_arguments(const void *arg)
{
	struct ibv_ece ece = { .vendor_id = 1, .options = 2, .comp_mask = 1 };
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, ROUTED);
	CALL(rdma_set_local_ece(id, NULL), "set_local_ece NULL");
	CALL(rdma_set_local_ece(NULL, &ece), "set_local_ece no id");
	CALL(rdma_get_remote_ece(id, NULL), "get_remote_ece NULL");
	CALL(rdma_get_remote_ece(NULL, &ece), "get_remote_ece no id");
	CALL(rdma_set_local_ece(id, &ece), "set_local_ece comp_mask=1");
	duo_end(&d);
}

/* A QP of rdma_create_qp(): what the library does by itself, with and without a wish. */
static void internal(const void *arg)
{
	const uint32_t *vendor = arg;
	struct duo d;

	duo_init(&d);
	duo_listen(&d, RDMA_PS_TCP);
	duo_route(&d, RDMA_PS_TCP);
	if (*vendor)
		set(d.cli, *vendor, 0x11);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	get(d.srv);
	mkqp(d.srv, IBV_QPT_RC);
	if (*vendor)
		set(d.srv, *vendor, 0x22);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	ev(d.cl);
	get(d.cli);
	get(d.srv);
	duo_end(&d);
}

struct offer {
	uint32_t vendor, options;
	uint32_t answer_vendor, answer_options;
};

/* External QPs all the way, in the order of the manual page. */
static void external(const void *arg)
{
	const struct offer *o = arg;
	struct ibv_qp *mine, *theirs;
	struct duo d;

	duo_init(&d);
	d.no_qp = 1;
	duo_listen(&d, RDMA_PS_TCP);
	duo_quietly(duo_route, &d, RDMA_PS_TCP);
	mine = ext_qp(d.cli, IBV_QPT_RC, "mine");
	quiet++;
	ext_modify(d.cli, mine, IBV_QPS_INIT);
	quiet--;
	if (o->vendor || o->options)
		set(d.cli, o->vendor, o->options);
	d.param.qp_num = mine->qp_num;
	if (CALL(rdma_connect(d.cli, &d.param), "connect cli"))
		goto out;
	d.srv = ev_request(d.cl, "srv");
	get(d.srv);
	theirs = ext_qp(d.srv, IBV_QPT_RC, "theirs");
	quiet++;
	ext_modify(d.srv, theirs, IBV_QPS_INIT);
	ext_modify(d.srv, theirs, IBV_QPS_RTR);
	ext_modify(d.srv, theirs, IBV_QPS_RTS);
	quiet--;
	if (o->answer_vendor || o->answer_options)
		set(d.srv, o->answer_vendor, o->answer_options);
	d.param.qp_num = theirs->qp_num;
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	get(d.cli);
	quiet++;
	ext_modify(d.cli, mine, IBV_QPS_RTR);
	ext_modify(d.cli, mine, IBV_QPS_RTS);
	quiet--;
	CALL(rdma_establish(d.cli), "establish cli");
	ev(d.cl);
	get(d.cli);
	get(d.srv);
	set(d.cli, 1, 1);
out:
	duo_end(&d);
}

static void refused(const void *arg)
{
	const int *len = arg;
	static const char why[] = "no such option";
	struct duo d;

	duo_init(&d);
	d.no_qp = 1;
	duo_quietly(duo_prepare, &d, RDMA_PS_TCP);
	set(d.cli, 0x15b3, 7);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	get(d.srv);
	CALL(rdma_reject_ece(d.srv, *len ? why : NULL, *len), "reject_ece srv");
	ev(d.cc);
	get(d.cli);
	CALL(rdma_reject_ece(d.srv, NULL, 0), "reject_ece srv again");
	duo_end(&d);
}

static void reject_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_reject_ece(id, NULL, 0), "reject_ece %s", idname(id));
	duo_end(&d);
}

static void establish_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	CALL(rdma_establish(id), "establish %s", idname(id));
	duo_end(&d);
}

static void ud(const void *arg)
{
	const int *reject = arg;
	struct duo d;

	duo_init(&d);
	duo_quietly(duo_prepare, &d, RDMA_PS_UDP);
	set(d.cli, 0x15b3, 0x33);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	get(d.srv);
	if (*reject) {
		CALL(rdma_reject_ece(d.srv, "x", 1), "reject_ece srv");
	} else {
		mkqp(d.srv, IBV_QPT_UD);
		set(d.srv, 0x15b3, 0x44);
		CALL(rdma_accept(d.srv, &d.param), "accept srv");
	}
	ev(d.cc);
	get(d.cli);
	duo_end(&d);
}

/* UD with QPs that the library does not know of, so that the wish is not its to make. */
static void ud_external(const void *arg)
{
	struct ibv_qp *mine, *theirs;
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_quietly(duo_prepare, &d, RDMA_PS_UDP);
	mine = ext_qp(d.cli, IBV_QPT_UD, "mine");
	d.param.qp_num = mine->qp_num;
	set(d.cli, 0x15b3, 0x33);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	get(d.srv);
	theirs = ext_qp(d.srv, IBV_QPT_UD, "theirs");
	d.param.qp_num = theirs->qp_num;
	set(d.srv, 0x15b3, 0x44);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	get(d.cli);
	duo_end(&d);
}

static void listener(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.no_qp = 1;
	duo_listen(&d, RDMA_PS_TCP);
	set(d.lst, 0x15b3, 0x77);
	duo_quietly(duo_route, &d, RDMA_PS_TCP);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	get(d.lst);
	get(d.srv);
	d.param.qp_num = fake_qpn("srv");
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	get(d.cli);
	duo_end(&d);
}

#define IN(name, where)		{ "ece.in." name, in_state, &(const enum reach){ where } }
#define REJECT(name, where)	{ "ece.reject_in." name, reject_in, &(const enum reach){ where } }
#define ESTAB(name, where) \
	{ "ece.establish_in." name, establish_in, &(const enum reach){ where } }
#define EXT(name, ...) \
	{ "ece.external." name, external, &(const struct offer){ __VA_ARGS__ } }

const struct cmp_case ece_cases[] = {
	IN("idle", IDLE),
	IN("bound", BOUND),
	IN("addressed", ADDRESSED),
	IN("routed", ROUTED),
	IN("listening", LISTENING),
	IN("requested", REQUESTED),
	IN("connected", CONNECTED),
	IN("disconnected", DISCONNECTED),
	{ "ece.bad_arguments", bad_arguments, NULL },
	{ "ece.internal", internal, &(const uint32_t){ 0 } },
	{ "ece.internal_set", internal, &(const uint32_t){ 0x15b3 } },
	EXT("none", 0, 0, 0, 0),
	EXT("both", 0x15b3, 0x10, 0x15b3, 0x20),
	EXT("offer_only", 0x15b3, 0x10, 0, 0),
	EXT("answer_only", 0, 0, 0x15b3, 0x20),
	EXT("vendor_0", 0, 0x10, 0, 0x20),
	EXT("options_0", 0x15b3, 0, 0x15b3, 0),
	EXT("wide", 0xfedcba, 0xffffffff, 0x123456, 0x89abcdef),
	EXT("too_wide", 0xffffffff, 1, 0x1000001, 2),
	{ "ece.refused", refused, &(const int){ 0 } },
	{ "ece.refused_with_data", refused, &(const int){ 14 } },
	REJECT("idle", IDLE),
	REJECT("routed", ROUTED),
	REJECT("listening", LISTENING),
	REJECT("requested", REQUESTED),
	REJECT("connected", CONNECTED),
	ESTAB("idle", IDLE),
	ESTAB("bound", BOUND),
	ESTAB("routed", ROUTED),
	ESTAB("listening", LISTENING),
	ESTAB("requested", REQUESTED),
	ESTAB("connected", CONNECTED),
	ESTAB("disconnected", DISCONNECTED),
	{ "ece.ud", ud, &(const int){ 0 } },
	{ "ece.ud_reject", ud, &(const int){ 1 } },
	{ "ece.ud_external", ud_external, NULL },
	{ "ece.listener", listener, NULL },
	{ }
};
