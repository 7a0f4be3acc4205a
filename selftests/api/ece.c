// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ECE: the offer, the answer and the pair in use can be queried, and the policy decides. */
#include "api.h"

static struct ibv_ece offer = { .vendor_id = 0x15b3, .options = 0x30000001 };
static struct ibv_ece answer = { .vendor_id = 0x15b3, .options = 0x30000000 };

static void test_negotiated(void)
{
	struct rdma_conn_param par = plain;
	struct cmx_ece_info info;
	struct ibv_ece got;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!ece_query(p.id).flags);
	WANT(!rdma_set_local_ece(p.id, &offer));
	pair_request_with(&p, RDMA_PS_TCP, &par);
	info = ece_query(p.id);
	WANT(info.flags == (CMX_ECE_F_LOCAL | CMX_ECE_F_OFFERED));
	WANT(info.local.vendor_id == offer.vendor_id && info.local.options == offer.options);
	WANT(!rdma_get_remote_ece(p.child, &got));
	WANT(!memcmp(&got, &offer, sizeof(got.vendor_id) + sizeof(got.options)));
	WANT(ece_query(p.child).flags == CMX_ECE_F_REMOTE);
	WANT(!rdma_set_local_ece(p.child, &answer));
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_get_remote_ece(p.id, &got));
	WANT(got.vendor_id == answer.vendor_id && got.options == answer.options);
	info = ece_query(p.id);
	WANT(info.flags == (CMX_ECE_F_LOCAL | CMX_ECE_F_OFFERED | CMX_ECE_F_REMOTE |
			    CMX_ECE_F_APPLIED));
	WANT(ece_query(p.child).flags & CMX_ECE_F_APPLIED);
}

static void test_policy_off(void)
{
	struct rdma_conn_param par = plain;
	struct ibv_ece got;
	struct pair p = { .param = plain };

	p.id = new_id(&p.ch, RDMA_PS_TCP);
	WANT(!set_u32(p.id, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_OFF));
	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!rdma_set_local_ece(p.id, &offer));
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_get_remote_ece(p.child, &got));
	WANT(!got.vendor_id && !got.options);
	WANT(!(ece_query(p.id).flags & CMX_ECE_F_OFFERED));
}

/*
 * The listener requires ECE and the request has none. The request is rejected with reason 35, and
 * the listener gets no event.
 */
static void test_passive_requires(void)
{
	struct rdma_conn_param par = plain;
	long refused, rejected;
	struct pair p = { .param = plain };

	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE));
	pair_prepare(&p, RDMA_PS_TCP);
	refused = port_stat_get(p.id, "refused_ece");
	rejected = port_stat_get(p.id, "rejected_ece");
	WANT(!rdma_connect(p.id, &par));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED) == 35);
	WANT(ece_query(p.id).flags & CMX_ECE_F_REJECTED);
	WANT(!event_next(p.lch, 200));
	WANT(port_stat_get(p.id, "refused_ece") == refused + 1);
	WANT(port_stat_get(p.id, "rejected_ece") == rejected + 1);
}

/* The active side requires ECE and the reply has none. It rejects the reply with reason 35. */
static void test_active_requires(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_event *ev;
	struct pair p = { .param = plain };

	p.id = new_id(&p.ch, RDMA_PS_TCP);
	WANT(!set_u32(p.id, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE));
	/* with the default policy, the listener would answer with the vendor ID and no options */
	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_OFF));
	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!rdma_set_local_ece(p.id, &offer));
	pair_request_with(&p, RDMA_PS_TCP, &par);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	ev = event_next(p.ch, 10000);
	WANT(ev && (ev->event == RDMA_CM_EVENT_CONNECT_ERROR ||
		    ev->event == RDMA_CM_EVENT_REJECTED) && ev->status);
	rdma_ack_cm_event(ev);
	WANT(event_expect(p.lch, RDMA_CM_EVENT_REJECTED) == 35);
}

/* ECE is required only after a request without ECE has arrived. */
static void test_require_late(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(set_u32(p.child, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE) &&
	     errno == EOPNOTSUPP);
	pair_connect(&p, RDMA_PS_TCP);
}

/* ECE is required of a listener that listens already. It applies to the next request. */
static void test_listener_requires_later(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE));
	WANT(!rdma_connect(p.id, &par));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED) == 35);
}

static void test_rejected(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!rdma_set_local_ece(p.id, &offer));
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_reject_ece(p.child, NULL, 0));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED) == 35);
	WANT(ece_query(p.id).flags & CMX_ECE_F_REJECTED);
}

const struct test ece_tests[] = {
	{ "ECE: offered, answered, applied", test_negotiated },
	{ "ECE: policy off", test_policy_off },
	{ "ECE: the listener requires it", test_passive_requires },
	{ "ECE: the caller requires it", test_active_requires },
	{ "ECE: required of a request without it", test_require_late },
	{ "ECE: required by a listener that listens already", test_listener_requires_later },
	{ "ECE: rejected", test_rejected },
	{}
};
