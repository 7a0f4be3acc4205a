// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handles that do not belong to the caller, and calls on ids in the wrong state.
 */
#include <fcntl.h>
#include <unistd.h>
#include "uapi.h"

static int handle_attr(const struct cmd *c)
{
	int i;

	for (i = 0; i < c->hdr.num_attrs; i++)
		if (c->attrs[i].attr_id == CMX_ATTR_ID || c->attrs[i].attr_id == CMX_ATTR_MCAST_ID)
			return i;
	return -1;
}

static void method_expect_noent(const struct method *m, struct scene *s, uint32_t handle,
				const char *what)
{
	struct cmd c;
	int i, ret;

	method_build(m, &c, s);
	i = handle_attr(&c);
	if (i < 0)
		return;
	c.attrs[i].data = handle;
	ret = cmd_issue(&c, s->fd);
	CHECK(ret == ENOENT, "%s of %s: %d", m->name, what, ret);
}

static void method_check_handles(const struct method *m)
{
	uint32_t stale, foreign, group;
	struct scene s, ud;
	struct cmd c;

	if (!scene_open(&s, m->stage))
		return;
	if (!scene_open(&ud, JOINED))
		return;
	/* the ids of ud belong to another channel; MIGRATE looks up the id in s.other */
	foreign = ud.id;
	group = ud.mc;
	CHECK(!id_create(m->stage == ELSEWHERE ? s.other : s.fd, CMX_PS_TCP, 1, &stale));
	CHECK(!id_destroy(m->stage == ELSEWHERE ? s.other : s.fd, stale, NULL));

	method_expect_noent(m, &s, 0, "no handle");
	method_expect_noent(m, &s, ~0U, "no handle");
	method_expect_noent(m, &s, stale, "a stale handle");
	method_expect_noent(m, &s, stale + (1 << 22), "a handle to come");
	if (m->object != CMX_OBJ_CHANNEL)
		method_expect_noent(m, &s, foreign, "a foreign id");
	method_expect_noent(m, &s, group, "a foreign membership");
	if (m->stage == JOINED)
		method_expect_noent(m, &s, s.id, "an id as a membership");

	method_build(m, &c, &s);
	CHECK(!cmd_issue(&c, s.fd), "%s after bad handles", m->name);
	scene_close(&s);
	scene_close(&ud);
}

static void test_handles(void)
{
	size_t i;

	for (i = 0; i < num_methods; i++)
		method_check_handles(&methods[i]);
}

/* A membership is not an id. */
static void test_wrong_type(void)
{
	struct scene s;
	size_t i;

	if (!scene_open(&s, JOINED))
		return;
	for (i = 0; i < num_methods; i++) {
		const struct method *m = &methods[i];

		if (m->object == CMX_OBJ_ID && m->method != CMX_ID_MIGRATE)
			method_expect_noent(m, &s, s.mc, "a membership");
	}
	CHECK(!mc_leave(s.fd, s.mc, NULL));
	CHECK(mc_leave(s.fd, s.mc, NULL) == ENOENT);
	CHECK(!id_destroy(s.fd, s.id, NULL));
	CHECK(id_destroy(s.fd, s.id, NULL) == ENOENT);
	scene_close(&s);
}

/* The handles of memberships become invalid with the id. */
static void test_groups_end(void)
{
	struct scene s;
	uint32_t mc[8];
	size_t i;

	if (!scene_open(&s, JOINED))
		return;
	for (i = 0; i < ARRAY_SIZE(mc); i++)
		CHECK(!id_join(s.fd, s.id, 0xe0020000 + i, i, &mc[i]));
	CHECK(!mc_leave(s.fd, mc[3], NULL));
	CHECK(!id_destroy(s.fd, s.id, NULL));
	for (i = 0; i < ARRAY_SIZE(mc); i++)
		CHECK(mc_leave(s.fd, mc[i], NULL) == ENOENT);
	CHECK(!fd_is_readable(s.fd, 0));
	scene_close(&s);
}

static void test_not_reused(void)
{
	uint32_t id, last = 0;
	int fd = dev_open(), i;

	for (i = 0; i < 3000; i++) {
		CHECK(!id_create(fd, CMX_PS_TCP, 1, &id));
		CHECK(id > last, "%u after %u", id, last);
		CHECK(!id_destroy(fd, id, NULL));
		CHECK(id_destroy(fd, id, NULL) == ENOENT);
		last = id;
	}
	close(fd);
}

/* Returns whether the header lists the errno. */
static bool errno_is_documented(int err)
{
	static const int errs[] = {
		EINVAL, E2BIG, ENOSPC, EFAULT, ENOENT, EOPNOTSUPP, ENODEV, EADDRINUSE,
		EADDRNOTAVAIL, EACCES, EAFNOSUPPORT, ENOPROTOOPT, EAGAIN, EISCONN,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errs); i++)
		if (err == errs[i])
			return true;
	return false;
}

/* Every method on ids in every state. A call that fails returns a documented errno. */
static void test_states(void)
{
	const struct method *m;
	enum stage stage;
	struct scene s;
	struct cmd c;
	int ret;

	for (stage = IDLE; stage < ELSEWHERE; stage++) {
		for (m = methods; m < methods + num_methods; m++) {
			if (m->stage == stage || m->stage == ELSEWHERE || m->stage == EVENT)
				continue;
			if (!scene_open(&s, stage))
				return;
			method_build(m, &c, &s);
			ret = cmd_issue(&c, s.fd);
			CHECK(!ret || errno_is_documented(ret), "%s on %s: %d", m->name,
			      stage_names[stage], ret);
			scene_close(&s);
		}
	}
}

/* Methods that need a device, a route or a peer fail on an id without it. */
static void test_too_early(void)
{
	static const struct {
		enum stage stage;
		uint16_t method;
	} cases[] = {
		{ IDLE, CMX_ID_RESOLVE_ROUTE }, { IDLE, CMX_ID_CONNECT },
		{ IDLE, CMX_ID_ACCEPT }, { IDLE, CMX_ID_ESTABLISH }, { IDLE, CMX_ID_REJECT },
		{ IDLE, CMX_ID_DISCONNECT }, { IDLE, CMX_ID_NOTIFY },
		{ IDLE, CMX_ID_INIT_QP_ATTR }, { BOUND, CMX_ID_BIND },
		{ BOUND, CMX_ID_RESOLVE_ROUTE }, { BOUND, CMX_ID_CONNECT },
		{ ADDR, CMX_ID_CONNECT }, { ADDR, CMX_ID_RESOLVE_ADDR }, { ADDR, CMX_ID_LISTEN },
		{ ROUTE, CMX_ID_ACCEPT }, { ROUTE, CMX_ID_RESOLVE_ROUTE },
		{ ROUTE, CMX_ID_DISCONNECT }, { REQUEST, CMX_ID_LISTEN },
		{ REQUEST, CMX_ID_CONNECT }, { CONNECTED, CMX_ID_CONNECT },
		{ CONNECTED, CMX_ID_RESOLVE_ADDR }, { CONNECTED, CMX_ID_BIND },
	};
	const struct method *m;
	struct scene s;
	struct cmd c;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (m = methods; m->object != CMX_OBJ_ID || m->method != cases[i].method; m++)
			;
		if (!scene_open(&s, cases[i].stage))
			return;
		method_build(m, &c, &s);
		ret = cmd_issue(&c, s.fd);
		CHECK(ret == EINVAL, "%s on %s: %d", m->name, stage_names[cases[i].stage], ret);
		scene_close(&s);
	}
}

static int id_create_as(int fd, uint32_t ps, uint32_t qp_type)
{
	struct cmd c;
	uint32_t id;

	cmd_init(&c, CMX_OBJ_ID, CMX_ID_CREATE);
	cmd_u64(&c, CMX_ATTR_USER_DATA, 1);
	cmd_u32(&c, CMX_ATTR_PS, ps);
	cmd_u32(&c, CMX_ATTR_QP_TYPE, qp_type);
	cmd_out(&c, CMX_ATTR_OUT_ID, &id, sizeof(id));
	return cmd_issue(&c, fd);
}

static int id_bind_to(struct scene *s, const void *addr, size_t len)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_BIND, s->id);
	cmd_in(&c, CMX_ATTR_SRC_ADDR, addr, len);
	return cmd_issue(&c, s->fd);
}

static int id_call_u32(struct scene *s, uint16_t method, uint16_t attr, uint32_t value)
{
	struct ib_uverbs_qp_attr qp_attr;
	struct cmd c;

	id_cmd(&c, method, s->id);
	cmd_u32(&c, attr, value);
	if (method == CMX_ID_INIT_QP_ATTR)
		cmd_out(&c, CMX_ATTR_QP_ATTR, &qp_attr, sizeof(qp_attr));
	return cmd_issue(&c, s->fd);
}

static void test_values(void)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_storage odd = { .ss_family = AF_UNIX };
	struct cmx_conn_param invalid = *conn_param();
	struct scene s;
	struct cmd c;
	uint8_t reason;

	if (!scene_open(&s, IDLE))
		return;
	CHECK(id_create_as(s.fd, 0, CMX_QPT_RC) == EINVAL);
	CHECK(id_create_as(s.fd, 0x10106, CMX_QPT_RC) == EINVAL);
	CHECK(id_create_as(s.fd, CMX_PS_IB, 0) == 0);
	CHECK(id_create_as(s.fd, CMX_PS_IB, 1) == EINVAL);
	CHECK(id_create_as(s.fd, CMX_PS_IB, ~0U) == EINVAL);
	CHECK(id_bind_to(&s, &odd, sizeof(odd)) == EAFNOSUPPORT);
	CHECK(id_bind_to(&s, &in6, 27) == EINVAL);
	CHECK(id_bind_to(&s, &local, sizeof(local)) == 0);
	scene_close(&s);

	if (!scene_open(&s, ADDR))
		return;
	CHECK(id_call_u32(&s, CMX_ID_DISCONNECT, CMX_ATTR_QP_STATE, 7) == EINVAL);
	CHECK(id_call_u32(&s, CMX_ID_INIT_QP_ATTR, CMX_ATTR_QP_STATE, 7) == EINVAL);
	CHECK(id_call_u32(&s, CMX_ID_INIT_QP_ATTR, CMX_ATTR_QP_STATE, ~0U) == EINVAL);
	CHECK(id_call_u32(&s, CMX_ID_NOTIFY, CMX_ATTR_NOTIFY, 1000) == EINVAL);
	scene_close(&s);

	if (!scene_open(&s, REQUEST))
		return;
	invalid.valid = 0;
	CHECK(id_accept_qp(s.fd, s.id, 200, &invalid) == EINVAL);
	for (reason = 0; reason < 200; reason++) {
		if (reason == 28 || reason == 35)
			continue;
		id_cmd(&c, CMX_ID_REJECT, s.id);
		cmd_in(&c, CMX_ATTR_REASON, &reason, 1);
		CHECK(cmd_issue(&c, s.fd) == EINVAL, "reason %u", reason);
	}
	CHECK(!id_accept(s.fd, s.id, 200));
	scene_close(&s);
}

const struct test handle_tests[] = {
	{ "foreign and stale handles are refused", test_handles },
	{ "a membership is no id", test_wrong_type },
	{ "memberships end with their id", test_groups_end },
	{ "handles are counted up", test_not_reused },
	{ "every method in every state", test_states },
	{ "calls in the wrong order are refused", test_too_early },
	{ "values out of range are refused", test_values },
	{ },
};
