// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Enhanced connection establishment (ECE): offers, answers and rejects. */
#include "util.h"

static void ece_set(struct rdma_cm_id *id, uint32_t vendor, uint32_t options)
{
	struct ibv_ece ece = { .vendor_id = vendor, .options = options };

	CALL(rdma_set_local_ece(id, &ece), "set_local_ece %s vendor=%#x options=%#x", id_name(id),
	     vendor, options);
}

static void ece_get(struct rdma_cm_id *id)
{
	struct ibv_ece ece = { .vendor_id = 0xdead, .options = 0xdead, .comp_mask = 0xdead };

	if (!CALL(rdma_get_remote_ece(id, &ece), "get_remote_ece %s", id_name(id)))
		tap_note_print("  vendor=%#x options=%#x comp_mask=%#x", ece.vendor_id, ece.options,
			       ece.comp_mask);
}

static void test_in_state(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	ece_get(id);
	ece_set(id, 0x15b3, 0x5);
	ece_set(id, 0, 0x5);
	ece_set(id, 0xffffff, 0xffffffff);
	ece_set(id, 0xffffffff, 0);
	ece_get(id);
	pair_close(&d);
}

static void test_bad_arguments(const void *arg)
{
	struct ibv_ece ece = { .vendor_id = 1, .options = 2, .comp_mask = 1 };
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, ROUTED);
	CALL(rdma_set_local_ece(id, NULL), "set_local_ece NULL");
	CALL(rdma_set_local_ece(NULL, &ece), "set_local_ece no id");
	CALL(rdma_get_remote_ece(id, NULL), "get_remote_ece NULL");
	CALL(rdma_get_remote_ece(NULL, &ece), "get_remote_ece no id");
	CALL(rdma_set_local_ece(id, &ece), "set_local_ece comp_mask=1");
	pair_close(&d);
}

/* A QP of rdma_create_qp(): the ECE of the library, with and without rdma_set_local_ece(). */
static void test_internal(const void *arg)
{
	const uint32_t *vendor = arg;
	struct pair d;

	pair_init(&d);
	pair_listen(&d, RDMA_PS_TCP);
	pair_route(&d, RDMA_PS_TCP);
	if (*vendor)
		ece_set(d.id, *vendor, 0x11);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	ece_get(d.child);
	qp_create(d.child, IBV_QPT_RC);
	if (*vendor)
		ece_set(d.child, *vendor, 0x22);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_trace(d.lch);
	ece_get(d.id);
	ece_get(d.child);
	pair_close(&d);
}

struct offer {
	uint32_t vendor, options;
	uint32_t answer_vendor, answer_options;
};

/* External QPs on both sides, in the order of the manual page. */
static void test_external(const void *arg)
{
	const struct offer *o = arg;
	struct ibv_qp *mine, *theirs;
	struct pair d;

	pair_init(&d);
	d.qp_create = NULL;
	pair_listen(&d, RDMA_PS_TCP);
	pair_run_quietly(pair_route, &d, RDMA_PS_TCP);
	mine = ext_qp_create(d.id, IBV_QPT_RC, "mine");
	quiet++;
	ext_qp_modify(d.id, mine, IBV_QPS_INIT);
	quiet--;
	if (o->vendor || o->options)
		ece_set(d.id, o->vendor, o->options);
	d.param.qp_num = mine->qp_num;
	if (CALL(rdma_connect(d.id, &d.param), "connect cli"))
		goto out;
	d.child = event_expect_request(d.lch, "srv");
	ece_get(d.child);
	theirs = ext_qp_create(d.child, IBV_QPT_RC, "theirs");
	quiet++;
	ext_qp_modify(d.child, theirs, IBV_QPS_INIT);
	ext_qp_modify(d.child, theirs, IBV_QPS_RTR);
	ext_qp_modify(d.child, theirs, IBV_QPS_RTS);
	quiet--;
	if (o->answer_vendor || o->answer_options)
		ece_set(d.child, o->answer_vendor, o->answer_options);
	d.param.qp_num = theirs->qp_num;
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	ece_get(d.id);
	quiet++;
	ext_qp_modify(d.id, mine, IBV_QPS_RTR);
	ext_qp_modify(d.id, mine, IBV_QPS_RTS);
	quiet--;
	CALL(rdma_establish(d.id), "establish cli");
	event_trace(d.lch);
	ece_get(d.id);
	ece_get(d.child);
	ece_set(d.id, 1, 1);
out:
	pair_close(&d);
}

static void test_refused(const void *arg)
{
	const int *len = arg;
	static const char why[] = "no such option";
	struct pair d;

	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	ece_set(d.id, 0x15b3, 7);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	ece_get(d.child);
	CALL(rdma_reject_ece(d.child, *len ? why : NULL, *len), "reject_ece srv");
	event_trace(d.ch);
	ece_get(d.id);
	CALL(rdma_reject_ece(d.child, NULL, 0), "reject_ece srv again");
	pair_close(&d);
}

static void test_reject_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_reject_ece(id, NULL, 0), "reject_ece %s", id_name(id));
	pair_close(&d);
}

static void test_establish_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	CALL(rdma_establish(id), "establish %s", id_name(id));
	pair_close(&d);
}

static void test_ud(const void *arg)
{
	const int *reject = arg;
	struct pair d;

	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_UDP);
	ece_set(d.id, 0x15b3, 0x33);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	ece_get(d.child);
	if (*reject) {
		CALL(rdma_reject_ece(d.child, "x", 1), "reject_ece srv");
	} else {
		qp_create(d.child, IBV_QPT_UD);
		ece_set(d.child, 0x15b3, 0x44);
		CALL(rdma_accept(d.child, &d.param), "accept srv");
	}
	event_trace(d.ch);
	ece_get(d.id);
	pair_close(&d);
}

/* UD with external QPs, for which the library does not set ECE. */
static void test_ud_external(const void *arg)
{
	struct ibv_qp *mine, *theirs;
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_run_quietly(pair_prepare, &d, RDMA_PS_UDP);
	mine = ext_qp_create(d.id, IBV_QPT_UD, "mine");
	d.param.qp_num = mine->qp_num;
	ece_set(d.id, 0x15b3, 0x33);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	ece_get(d.child);
	theirs = ext_qp_create(d.child, IBV_QPT_UD, "theirs");
	d.param.qp_num = theirs->qp_num;
	ece_set(d.child, 0x15b3, 0x44);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	ece_get(d.id);
	pair_close(&d);
}

static void test_listener(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.qp_create = NULL;
	pair_listen(&d, RDMA_PS_TCP);
	ece_set(d.listener, 0x15b3, 0x77);
	pair_run_quietly(pair_route, &d, RDMA_PS_TCP);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	ece_get(d.listener);
	ece_get(d.child);
	d.param.qp_num = qpn_fake("srv");
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	ece_get(d.id);
	pair_close(&d);
}

#define IN(name, where)		{ "ece.in." name, test_in_state, &(const enum reach){ where } }
#define REJECT(name, where) \
	{ "ece.reject_in." name, test_reject_in, &(const enum reach){ where } }
#define ESTAB(name, where) \
	{ "ece.establish_in." name, test_establish_in, &(const enum reach){ where } }
#define EXT(name, ...) \
	{ "ece.external." name, test_external, &(const struct offer){ __VA_ARGS__ } }

const struct cmp_case ece_cases[] = {
	IN("idle", IDLE),
	IN("bound", BOUND),
	IN("addressed", ADDRESSED),
	IN("routed", ROUTED),
	IN("listening", LISTENING),
	IN("requested", REQUESTED),
	IN("connected", CONNECTED),
	IN("disconnected", DISCONNECTED),
	{ "ece.bad_arguments", test_bad_arguments, NULL },
	{ "ece.internal", test_internal, &(const uint32_t){ 0 } },
	{ "ece.internal_set", test_internal, &(const uint32_t){ 0x15b3 } },
	EXT("none", 0, 0, 0, 0),
	EXT("both", 0x15b3, 0x10, 0x15b3, 0x20),
	EXT("offer_only", 0x15b3, 0x10, 0, 0),
	EXT("answer_only", 0, 0, 0x15b3, 0x20),
	EXT("vendor_0", 0, 0x10, 0, 0x20),
	EXT("options_0", 0x15b3, 0, 0x15b3, 0),
	EXT("wide", 0xfedcba, 0xffffffff, 0x123456, 0x89abcdef),
	EXT("too_wide", 0xffffffff, 1, 0x1000001, 2),
	{ "ece.refused", test_refused, &(const int){ 0 } },
	{ "ece.refused_with_data", test_refused, &(const int){ 14 } },
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
	{ "ece.ud", test_ud, &(const int){ 0 } },
	{ "ece.ud_reject", test_ud, &(const int){ 1 } },
	{ "ece.ud_external", test_ud_external, NULL },
	{ "ece.listener", test_listener, NULL },
	{ }
};
