// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ECE that the library negotiates for the QP of an id.
 *
 * No provider on the test machines supports ECE, so this program replaces functions of libibverbs.
 * A fake QP supports some options. It accepts those of the options that it is given which it
 * supports, when the QP next changes its state, and returns them when it is queried. mlx5 works in
 * this order.
 *
 * The test cannot show whether a real provider handles the calls in the same way, whether more than
 * one pair for a QP works, or whether the options have an effect: the QP is a plain QP of rxe.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rdma/cmx_ioctl.h>
#include "api.h"

#define VENDOR 0x15b3
#define OTHER 0x1234

/**
 * struct fake - the ECE state of a QP
 * @vendor: vendor ID of its provider; 0: the provider does not support ECE
 * @able: options that the QP supports
 * @query_err: error of ibv_query_ece(); 0: none
 * @set_err: error of ibv_set_ece(); 0: none
 * @qp_num: number of the QP
 * @given: options that are applied with the next change of the state
 * @waiting: @given is valid
 * @used: options in use
 * @queries: calls of ibv_query_ece()
 * @sets: calls of ibv_set_ece()
 */
struct fake {
	uint32_t vendor, able;
	int query_err, set_err;
	uint32_t qp_num, given, used;
	bool waiting;
	int queries, sets;
};

static struct fake fakes[2];
static struct fake *const active = &fakes[0], *const passive = &fakes[1];
static struct fake *making;	/* belongs to the QP that is being created */
static uint32_t answer_as;	/* vendor ID that replaces the one of a REP; 0: none */

static struct fake *fake_of(const struct ibv_qp *qp)
{
	int i;

	for (i = 0; i < 2; i++)
		if (fakes[i].qp_num == qp->qp_num)
			return &fakes[i];
	if (making)
		making->qp_num = qp->qp_num;
	return making;
}

/* Returns the error of a call: @err, or EOPNOTSUPP if the provider does not support ECE. */
static int fake_error(const struct fake *f, int err)
{
	return err || (f && f->vendor) ? err : EOPNOTSUPP;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct fake *f = fake_of(qp);
	int ret = fake_error(f, f ? f->query_err : 0);

	if (f)
		f->queries++;
	if (ret)
		return ret;
	ece->vendor_id = f->vendor;
	ece->options = f->waiting ? 0 : f->used;
	ece->comp_mask = 0;
	return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	struct fake *f = fake_of(qp);
	int ret = fake_error(f, f ? f->set_err : 0);

	if (f)
		f->sets++;
	if (!ret && (ece->vendor_id != f->vendor || ece->comp_mask ||
		     (qp->state != IBV_QPS_RESET && qp->state != IBV_QPS_INIT)))
		ret = EINVAL;
	if (ret)
		return ret;
	f->given = ece->options;
	f->waiting = true;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	static int (*real)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	struct fake *f = fake_of(qp);
	int ret;

	if (!real)
		real = dlsym(RTLD_NEXT, "ibv_modify_qp");
	if (before_modify)
		before_modify();
	ret = real(qp, attr, mask);
	if (!ret && f && f->waiting && mask & IBV_QP_STATE) {
		f->used = f->given & f->able;
		f->waiting = false;
	}
	return ret;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	static int (*real)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			   struct ibv_qp_init_attr *init);

	if (!real)
		real = dlsym(RTLD_NEXT, "ibv_query_qp");
	qp_queries++;
	return real(qp, attr, mask, init);
}

bool cancel_fetch, no_guid, many_ports;
void (*before_modify)(void);
void (*after_ioctl)(void);
unsigned int qp_queries;

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	static __be64 (*real)(struct ibv_device *device);

	if (!real)
		real = dlsym(RTLD_NEXT, "ibv_get_device_guid");
	return no_guid ? 0 : real(device);
}

int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attr)
{
	static int (*real)(struct ibv_context *verbs, struct ibv_device_attr *attr);
	int ret;

	if (!real)
		real = dlsym(RTLD_NEXT, "ibv_query_device");
	ret = real(verbs, attr);
	if (many_ports)
		attr->phys_port_cnt = UINT8_MAX;
	return ret;
}

static void attr_clear_guid(const struct ib_uverbs_attr *attr)
{
	struct cmx_event_record *record = (void *)(uintptr_t)attr->data;
	struct cmx_id_info *info = (void *)(uintptr_t)attr->data;
	size_t i;

	if (attr->attr_id == CMX_ATTR_INFO)
		info->node_guid = 0;
	for (i = 0; attr->attr_id == CMX_ATTR_EVENTS && i < attr->len / sizeof(*record); i++)
		record[i].info.node_guid = 0;
}

/*
 * Replaces the vendor ID of an answer, because our library never answers with another one than it
 * was offered. Cancels a thread that has fetched events. Hides the node GUID of devices. Lets a
 * case do something before the library goes on.
 */
int ioctl(int fd, unsigned long request, ...)
{
	struct cmx_ioctl_hdr *hdr;
	struct cmx_ece *ece;
	va_list ap;
	void *arg;
	int i, ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	hdr = arg;
	if (answer_as && request == CMX_IOCTL && hdr->object_id == CMX_OBJ_ID &&
	    hdr->method_id == CMX_ID_ACCEPT) {
		for (i = 0; i < hdr->num_attrs; i++) {
			if (hdr->attrs[i].attr_id != CMX_ATTR_ECE)
				continue;
			ece = (void *)&hdr->attrs[i].data;
			ece->vendor_id = answer_as;
		}
	}
	ret = syscall(SYS_ioctl, fd, request, arg);
	for (i = 0; no_guid && request == CMX_IOCTL && i < hdr->num_attrs; i++)
		attr_clear_guid(&hdr->attrs[i]);
	if (cancel_fetch && !ret && request == CMX_IOCTL &&
	    hdr->object_id == CMX_OBJ_CHANNEL && hdr->method_id == CMX_CHANNEL_GET_EVENTS)
		pthread_cancel(pthread_self());
	if (after_ioctl && !ret)
		after_ioctl();
	return ret;
}

static int fake_qp_create(struct rdma_cm_id *id, struct fake *f)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int ret;

	f->used = f->able;
	making = f;
	ret = rdma_create_qp(id, NULL, &attr);
	making = NULL;
	return ret;
}

/* Sends the request, with the policies of the active id and of the listener. */
static void pair_make_request(struct pair *p, uint32_t policy, uint32_t listener_policy)
{
	struct rdma_conn_param par = plain;

	p->id = new_id(&p->ch, RDMA_PS_TCP);
	WANT(!set_u32(p->id, CMX_OPTION, CMX_OPTION_ECE_POLICY, policy));
	p->listener = new_id(&p->lch, RDMA_PS_TCP);
	WANT(!set_u32(p->listener, CMX_OPTION, CMX_OPTION_ECE_POLICY, listener_policy));
	pair_prepare(p, RDMA_PS_TCP);
	WANT(!fake_qp_create(p->id, active));
	pair_request_with(p, RDMA_PS_TCP, &par);
}

static void pair_accept_fake(struct pair *p)
{
	struct rdma_conn_param par = plain;

	WANT(!fake_qp_create(p->child, passive));
	WANT(!rdma_accept(p->child, &par));
}

static void pair_expect_established(struct pair *p)
{
	WANT(!event_expect(p->ch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(!event_expect(p->lch, RDMA_CM_EVENT_ESTABLISHED));
}

static bool ece_is(struct cmx_ece ece, uint32_t vendor, uint32_t options)
{
	return ece.vendor_id == vendor && ece.options == options;
}

/* A part of the offered options is accepted, and both ends use that part. */
static void pair_negotiate(uint32_t policy, uint32_t listener_policy)
{
	struct pair p = { .param = plain };

	*active = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	*passive = (struct fake){ .vendor = VENDOR, .able = 0x35 };
	pair_make_request(&p, policy, listener_policy);
	WANT(ece_query(p.id).flags == (CMX_ECE_F_LOCAL | CMX_ECE_F_OFFERED));
	WANT(ece_is(ece_query(p.id).local, VENDOR, 0x17));
	WANT(!active->sets);
	WANT(ece_is(ece_query(p.child).remote, VENDOR, 0x17));
	pair_accept_fake(&p);
	WANT(passive->sets == 1 && passive->used == 0x15);
	pair_expect_established(&p);
	WANT(active->sets == 1 && active->used == 0x15);
	WANT(ece_is(ece_query(p.child).local, VENDOR, 0x15));
	WANT(ece_is(ece_query(p.id).remote, VENDOR, 0x15));
	WANT(ece_query(p.id).flags & CMX_ECE_F_APPLIED);
	WANT(ece_query(p.child).flags & CMX_ECE_F_APPLIED);
}

static void test_negotiated(void)
{
	pair_negotiate(CMX_ECE_AUTO, CMX_ECE_AUTO);
}

static void test_both_require(void)
{
	pair_negotiate(CMX_ECE_REQUIRE, CMX_ECE_REQUIRE);
}

/* The options of the peer have no meaning for a provider of another vendor. */
static void test_other_vendor(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };

	*active = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	*passive = (struct fake){ .vendor = OTHER, .able = 0x35 };
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_AUTO);
	WANT(!fake_qp_create(p.child, passive));
	WANT(passive->sets == 1 && !passive->used);
	/* The QP has the options already. */
	WANT(set_u32(p.child, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_OFF) && errno == EISCONN);
	WANT(!rdma_accept(p.child, &par));
	pair_expect_established(&p);
	WANT(ece_is(ece_query(p.id).remote, VENDOR, 0));
	WANT(active->sets == 1 && !active->used);
}

static void test_passive_without(void)
{
	struct pair p = { .param = plain };

	*active = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	*passive = (struct fake){};
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_AUTO);
	pair_accept_fake(&p);
	pair_expect_established(&p);
	WANT(ece_is(ece_query(p.id).remote, VENDOR, 0));
	WANT(active->sets == 1 && !active->used);
}

static void test_active_without(void)
{
	struct pair p = { .param = plain };

	*active = (struct fake){};
	*passive = (struct fake){ .vendor = VENDOR, .able = 0x35 };
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_AUTO);
	WANT(!ece_query(p.id).flags && !ece_query(p.child).flags);
	pair_accept_fake(&p);
	pair_expect_established(&p);
	WANT(!passive->sets);
	WANT(!ece_query(p.id).flags && !ece_query(p.child).flags);
}

static void test_active_off(void)
{
	struct pair p = { .param = plain };

	*active = *passive = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	pair_make_request(&p, CMX_ECE_OFF, CMX_ECE_AUTO);
	WANT(ece_is(ece_query(p.child).remote, 0, 0));
	pair_accept_fake(&p);
	pair_expect_established(&p);
	WANT(!active->queries && !active->sets && !passive->sets);
}

static void test_passive_off(void)
{
	struct pair p = { .param = plain };

	*active = *passive = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_OFF);
	pair_accept_fake(&p);
	pair_expect_established(&p);
	WANT(!passive->queries && !passive->sets);
	WANT(ece_is(ece_query(p.id).remote, 0, 0));
	WANT(active->sets == 1 && !active->used);
}

/* The answer has another vendor ID, so no options are used; with REQUIRE the connect fails. */
static void test_foreign_answer(void)
{
	struct pair p = { .param = plain };

	*active = *passive = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	answer_as = OTHER;
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_AUTO);
	pair_accept_fake(&p);
	pair_expect_established(&p);
	WANT(ece_is(ece_query(p.id).remote, OTHER, 0x17));
	WANT(active->sets == 1 && !active->used);
}

static void test_foreign_answer_require(void)
{
	struct pair p = { .param = plain };

	*active = *passive = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	answer_as = OTHER;
	pair_make_request(&p, CMX_ECE_REQUIRE, CMX_ECE_AUTO);
	pair_accept_fake(&p);
	WANT(event_expect(p.ch, RDMA_CM_EVENT_CONNECT_ERROR) == -EINVAL);
	WANT(p.id->qp->state == IBV_QPS_ERR && !active->sets);
}

static void test_required_in_vain(void)
{
	struct pair p = { .param = plain };

	*active = (struct fake){};
	*passive = (struct fake){ .vendor = VENDOR, .able = 0x35 };
	pair_make_request(&p, CMX_ECE_REQUIRE, CMX_ECE_AUTO);
	pair_accept_fake(&p);
	WANT(event_expect(p.ch, RDMA_CM_EVENT_CONNECT_ERROR) == -EOPNOTSUPP);
	WANT(ece_query(p.id).flags & CMX_ECE_F_REJECTED);
	WANT(event_expect(p.lch, RDMA_CM_EVENT_REJECTED) == 35);
}

/* The passive side cannot set the options of the peer, and rejects the request. */
static void test_refused(void)
{
	struct pair p = { .param = plain };

	*active = *passive = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_AUTO);
	passive->set_err = EIO;
	WANT(fake_qp_create(p.child, passive) && errno == EIO && !p.child->qp);
	WANT(!rdma_reject_ece(p.child, NULL, 0));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED) == 35);
	WANT(ece_query(p.id).flags & CMX_ECE_F_REJECTED);
	WANT(p.id->qp->state == IBV_QPS_ERR && !active->sets);
}

static void test_active_fails(void)
{
	struct pair p = { .param = plain };

	*active = *passive = (struct fake){ .vendor = VENDOR, .able = 0x17 };
	pair_make_request(&p, CMX_ECE_AUTO, CMX_ECE_AUTO);
	pair_accept_fake(&p);
	active->set_err = EIO;
	WANT(event_expect(p.ch, RDMA_CM_EVENT_CONNECT_ERROR) == -EIO);
	WANT(p.id->qp->state == IBV_QPS_ERR);
}

static void test_query_fails(void)
{
	struct pair p = { .param = plain };

	*active = (struct fake){ .vendor = VENDOR, .query_err = EIO };
	pair_prepare(&p, RDMA_PS_TCP);
	WANT(fake_qp_create(p.id, active) && errno == EIO && !p.id->qp);
	active->query_err = 0;
	WANT(!fake_qp_create(p.id, active));
}

const struct test ece_qp_tests[] = {
	{ "ECE of a QP: negotiated", test_negotiated },
	{ "ECE of a QP: negotiated where both require it", test_both_require },
	{ "ECE of a QP: two vendors", test_other_vendor },
	{ "ECE of a QP: the passive end has none", test_passive_without },
	{ "ECE of a QP: the active end has none", test_active_without },
	{ "ECE of a QP: the active end's policy is off", test_active_off },
	{ "ECE of a QP: the passive end's policy is off", test_passive_off },
	{ "ECE of a QP: the answer is of another vendor", test_foreign_answer },
	{ "ECE of a QP: an answer of another vendor, required", test_foreign_answer_require },
	{ "ECE of a QP: no answer, required", test_required_in_vain },
	{ "ECE of a QP: the passive end refuses", test_refused },
	{ "ECE of a QP: the active end's QP refuses", test_active_fails },
	{ "ECE of a QP: a failed query fails the creation", test_query_fails },
	{}
};
