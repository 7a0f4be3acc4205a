// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_set_option(): which values are accepted in which state, and their effect. */
#include "util.h"
#include <infiniband/sa.h>

struct opt_arg {
	int level;
	int name;
	enum reach where;
};

static unsigned char value[4096] = { 1 };

static void option_set(struct rdma_cm_id *id, int level, int name, void *val, size_t len)
{
	CALL(rdma_set_option(id, level, name, val, len), "set_option %s level=%d name=%d len=%zu",
	     id_name(id), level, name, len);
}

static void option_set_byte(struct rdma_cm_id *id, int name, uint8_t val)
{
	CALL(rdma_set_option(id, RDMA_OPTION_ID, name, &val, sizeof(val)),
	     "set_option %s name=%d byte=%d", id_name(id), name, val);
}

static void option_set_int(struct rdma_cm_id *id, int name, int val)
{
	CALL(rdma_set_option(id, RDMA_OPTION_ID, name, &val, sizeof(val)),
	     "set_option %s name=%d int=%d", id_name(id), name, val);
}

static void test_lengths(const void *arg)
{
	static const size_t tried[] = { 0, 1, 2, 3, 8 };
	const struct opt_arg *o = arg;
	struct rdma_cm_id *id;
	struct pair d;
	size_t i;

	id = pair_reach(&d, o->where);
	for (i = 0; i < ARRAY_SIZE(tried); i++)
		option_set(id, o->level, o->name, value, tried[i]);
	show_path(id);
	pair_close(&d);
}

/* An int, which the manual page requires and the in-tree kernel accepts for two options. */
static void test_integer(const void *arg)
{
	const struct opt_arg *o = arg;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, o->where);
	option_set(id, o->level, o->name, value, sizeof(int));
	pair_close(&d);
}

static void test_unknown(const void *arg)
{
	static const int tried[][2] = { { 0, 4 }, { 0, -1 }, { 0, 99 }, { 1, 0 }, { 1, 2 },
					{ 2, 0 }, { 99, 1 }, { -1, 0 } };
	const struct opt_arg *o = arg;
	struct rdma_cm_id *id;
	struct pair d;
	size_t i;

	id = pair_reach(&d, o->where);
	for (i = 0; i < ARRAY_SIZE(tried); i++)
		option_set(id, tried[i][0], tried[i][1], value, sizeof(int));
	pair_close(&d);
}

static void test_bad_buffer(const void *arg)
{
	struct rdma_cm_id *id;
	struct pair d;
	int name;

	(void)arg;
	id = pair_reach(&d, IDLE);
	for (name = 0; name < 4; name++) {
		option_set(id, RDMA_OPTION_ID, name, NULL, 1);
		option_set(id, RDMA_OPTION_ID, name, NULL, 4);
		option_set(id, RDMA_OPTION_ID, name, value, sizeof(value));
		option_set(id, RDMA_OPTION_ID, name, value, (size_t)1 << 30);
	}
	pair_close(&d);
}

static void test_bad_pointer(const void *arg)
{
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, IDLE);
	option_set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, (void *)8, 1);
	pair_close(&d);
}

/* Sets TOS in the state @arg, and then resolves and connects. */
static void test_tos_effect(const void *arg)
{
	static const uint8_t tried[] = { 0, 1, 3, 32, 104, 184, 255 };
	const enum reach *where = arg;
	struct pair d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		pair_init(&d);
		quiet++;
		pair_listen(&d, RDMA_PS_TCP);
		d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
		if (*where == IDLE)
			option_set_byte(d.id, RDMA_OPTION_ID_TOS, tried[i]);
		id_resolve_addr(d.id, NULL, ADDR, PORT);
		event_trace(d.ch);
		if (*where == ADDRESSED)
			option_set_byte(d.id, RDMA_OPTION_ID_TOS, tried[i]);
		id_resolve_route(d.id);
		event_trace(d.ch);
		quiet--;
		tap_note_print("tos %d", tried[i]);
		if (*where == ROUTED)
			option_set_byte(d.id, RDMA_OPTION_ID_TOS, tried[i]);
		show_path(d.id);
		quiet++;
		qp_create(d.id, IBV_QPT_RC);
		CALL(rdma_connect(d.id, &d.param), "connect");
		d.child = event_expect_request(d.lch, "srv");
		qp_create(d.child, IBV_QPT_RC);
		CALL(rdma_accept(d.child, &d.param), "accept");
		event_trace(d.ch);
		quiet--;
		show_qp(d.id->qp);
		show_qp(d.child->qp);
		pair_close(&d);
	}
}

static void test_tos_child(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_listen(&d, RDMA_PS_TCP);
	option_set_byte(d.listener, RDMA_OPTION_ID_TOS, 64);
	pair_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	show_path(d.child);
	qp_create(d.child, IBV_QPT_RC);
	option_set_byte(d.child, RDMA_OPTION_ID_TOS, 32);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	pair_close(&d);
}

static void test_tos_reset(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
	option_set_byte(d.id, RDMA_OPTION_ID_TOS, 32);
	option_set_byte(d.id, RDMA_OPTION_ID_TOS, 0);
	id_resolve_addr(d.id, NULL, ADDR, PORT);
	event_trace(d.ch);
	id_resolve_route(d.id);
	event_trace(d.ch);
	show_path(d.id);
	pair_close(&d);
}

/* No TOS is set. The suite tool runs this case with a default TOS of the port. */
static void test_tos_unset(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_listen(&d, RDMA_PS_TCP);
	pair_route(&d, RDMA_PS_TCP);
	show_path(d.id);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	show_path(d.child);
	qp_create(d.child, IBV_QPT_RC);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	pair_close(&d);
}

static void test_ack_effect(const void *arg)
{
	static const uint8_t tried[] = { 0, 1, 14, 20, 31, 32, 255 };
	const enum reach *where = arg;
	struct pair d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		pair_init(&d);
		tap_note_print("ack_timeout %d", tried[i]);
		quiet++;
		pair_listen(&d, RDMA_PS_TCP);
		d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
		if (*where == IDLE)
			option_set_byte(d.id, RDMA_OPTION_ID_ACK_TIMEOUT, tried[i]);
		id_resolve_addr(d.id, NULL, ADDR, PORT);
		event_trace(d.ch);
		id_resolve_route(d.id);
		event_trace(d.ch);
		if (*where == ROUTED)
			option_set_byte(d.id, RDMA_OPTION_ID_ACK_TIMEOUT, tried[i]);
		qp_create(d.id, IBV_QPT_RC);
		CALL(rdma_connect(d.id, &d.param), "connect");
		d.child = event_expect_request(d.lch, "srv");
		if (d.child) {
			if (*where == REQUESTED)
				option_set_byte(d.child, RDMA_OPTION_ID_ACK_TIMEOUT, tried[i]);
			qp_create(d.child, IBV_QPT_RC);
			if (!CALL(rdma_accept(d.child, &d.param), "accept"))
				event_trace(d.ch);
			show_qp(d.child->qp);
		} else {
			event_trace(d.ch);
		}
		quiet--;
		show_path(d.id);
		show_qp(d.id->qp);
		pair_close(&d);
	}
}

static void test_ack_child(const void *arg)
{
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_listen(&d, RDMA_PS_TCP);
	option_set_byte(d.listener, RDMA_OPTION_ID_ACK_TIMEOUT, 10);
	quiet++;
	pair_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	qp_create(d.child, IBV_QPT_RC);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	quiet--;
	show_qp(d.id->qp);
	show_qp(d.child->qp);
	pair_close(&d);
}

static void test_ack_port_space(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB };
	struct pair d;
	size_t i;

	(void)arg;
	pair_init(&d);
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		d.id = id_create(d.ch, "cli", tried[i]);
		option_set_byte(d.id, RDMA_OPTION_ID_ACK_TIMEOUT, 10);
		option_set_byte(d.id, RDMA_OPTION_ID_TOS, 10);
		option_set_int(d.id, RDMA_OPTION_ID_REUSEADDR, 1);
		option_set_int(d.id, RDMA_OPTION_ID_AFONLY, 1);
		id_destroy(d.id);
	}
	d.id = NULL;
	pair_close(&d);
}

/* Does the id of a request keep the port of its listener in use, and can it share the port? */
static void test_reuse_child(const void *arg)
{
	struct rdma_cm_id *other;
	struct pair d;

	(void)arg;
	pair_init(&d);
	quiet++;
	d.listener = id_create(d.lch, "lst", RDMA_PS_TCP);
	option_set_int(d.listener, RDMA_OPTION_ID_REUSEADDR, 1);
	id_bind(d.listener, ADDR, PORT);
	quiet--;
	id_listen(d.listener, 4);
	pair_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	d.child = event_expect_request(d.lch, "srv");
	option_set_int(d.child, RDMA_OPTION_ID_REUSEADDR, 1);
	option_set_int(d.child, RDMA_OPTION_ID_AFONLY, 1);
	id_destroy(d.listener);
	d.listener = NULL;
	other = id_create(d.lch, "other", RDMA_PS_TCP);
	id_bind(other, ADDR, PORT);
	option_set_int(other, RDMA_OPTION_ID_REUSEADDR, 1);
	id_bind(other, ADDR, PORT);
	id_listen(other, 1);
	id_destroy(other);
	pair_close(&d);
}

static void test_bound_toggle(const void *arg)
{
	static const char *const addr[] = { ADDR, ADDR_6 };
	struct pair d;
	size_t i;

	(void)arg;
	pair_init(&d);
	for (i = 0; i < ARRAY_SIZE(addr); i++) {
		d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
		option_set_int(d.id, RDMA_OPTION_ID_REUSEADDR, 1);
		option_set_int(d.id, RDMA_OPTION_ID_REUSEADDR, 0);
		option_set_int(d.id, RDMA_OPTION_ID_AFONLY, 1);
		option_set_int(d.id, RDMA_OPTION_ID_AFONLY, 0);
		id_bind(d.id, addr[i], PORT);
		option_set_int(d.id, RDMA_OPTION_ID_REUSEADDR, 1);
		option_set_int(d.id, RDMA_OPTION_ID_REUSEADDR, 0);
		option_set_int(d.id, RDMA_OPTION_ID_REUSEADDR, -7);
		option_set_int(d.id, RDMA_OPTION_ID_AFONLY, 1);
		id_destroy(d.id);
	}
	d.id = NULL;
	pair_close(&d);
}

static void path_fill(struct ibv_path_data *data, uint32_t flags)
{
	memset(data, 0, sizeof(*data));
	data->flags = flags;
	data->path.reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1;
	data->path.pkey = htobe16(0xffff);
	data->path.flowlabel_hoplimit = htobe32(9);
	data->path.tclass = 0x28;
	data->path.mtu = 2 << 6 | IBV_MTU_1024;
	data->path.rate = 2 << 6 | 3;
	data->path.packetlifetime = 2 << 6 | 12;
	memcpy(data->path.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x4d\0\1", 16);
	memcpy(data->path.sgid.raw, data->path.dgid.raw, 16);
}

#define GOOD	(IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL)

static void test_path_good(const void *arg)
{
	const enum reach *where = arg;
	struct ibv_path_data path[2];
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	path_fill(&path[0], 0);
	path_fill(&path[1], GOOD);
	option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, sizeof(path[0]));
	option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, sizeof(path) - 1);
	option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, sizeof(path));
	if (*where == ADDRESSED) {
		event_trace(d.ch);
		show_path(id);
		option_set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path[1], sizeof(path[1]));
	}
	event_expect_none(d.ch);
	pair_close(&d);
}

/* The id is bound to a device without a network interface, and thus has no GID. */
static void test_path_loopback(const void *arg)
{
	struct ibv_path_data path;
	struct pair d;

	(void)arg;
	pair_init(&d);
	d.id = id_create(d.ch, "cli", RDMA_PS_TCP);
	id_resolve_addr(d.id, NULL, "127.0.0.1", PORT);
	event_trace(d.ch);
	path_fill(&path, GOOD);
	option_set(d.id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof(path));
	event_expect_none(d.ch);
	pair_close(&d);
}

#define AT(area, fn, lvl, nm, state, where) \
	{ "option." area "." state, fn, &(const struct opt_arg){ lvl, nm, where } }
#define EVERYWHERE(area, fn, lvl, nm)					\
	AT(area, fn, lvl, nm, "idle", IDLE),				\
	AT(area, fn, lvl, nm, "wildcard", WILDCARD),			\
	AT(area, fn, lvl, nm, "bound", BOUND),				\
	AT(area, fn, lvl, nm, "addressed", ADDRESSED),			\
	AT(area, fn, lvl, nm, "routed", ROUTED),			\
	AT(area, fn, lvl, nm, "listening", LISTENING),			\
	AT(area, fn, lvl, nm, "requested", REQUESTED),			\
	AT(area, fn, lvl, nm, "connected", CONNECTED),			\
	AT(area, fn, lvl, nm, "disconnected", DISCONNECTED)
#define FROM(name, fn, where)	{ "option." name, fn, &(const enum reach){ where } }

const struct cmp_case option_cases[] = {
	EVERYWHERE("tos", test_lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS),
	EVERYWHERE("tos_int", test_integer, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS),
	EVERYWHERE("reuseaddr", test_lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR),
	EVERYWHERE("reuseaddr_int", test_integer, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR),
	EVERYWHERE("afonly", test_lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY),
	EVERYWHERE("afonly_int", test_integer, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY),
	EVERYWHERE("ack_timeout", test_lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT),
	EVERYWHERE("ack_timeout_int", test_integer, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT),
	EVERYWHERE("path", test_lengths, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH),
	EVERYWHERE("unknown", test_unknown, 0, 0),
	{ "option.path_loopback", test_path_loopback, NULL },
	{ "option.bad_buffer", test_bad_buffer, NULL },
	{ "option.bad_pointer", test_bad_pointer, NULL },
	FROM("tos_effect.idle", test_tos_effect, IDLE),
	FROM("tos_effect.addressed", test_tos_effect, ADDRESSED),
	FROM("tos_effect.routed", test_tos_effect, ROUTED),
	{ "option.tos_child", test_tos_child, NULL },
	{ "option.tos_reset", test_tos_reset, NULL },
	{ "option.tos_unset", test_tos_unset, NULL },
	FROM("ack_effect.idle", test_ack_effect, IDLE),
	FROM("ack_effect.routed", test_ack_effect, ROUTED),
	FROM("ack_effect.requested", test_ack_effect, REQUESTED),
	{ "option.ack_child", test_ack_child, NULL },
	{ "option.port_spaces", test_ack_port_space, NULL },
	{ "option.reuse_child", test_reuse_child, NULL },
	{ "option.bound_toggle", test_bound_toggle, NULL },
	FROM("path_good.idle", test_path_good, IDLE),
	FROM("path_good.bound", test_path_good, BOUND),
	FROM("path_good.addressed", test_path_good, ADDRESSED),
	FROM("path_good.routed", test_path_good, ROUTED),
	FROM("path_good.connected", test_path_good, CONNECTED),
	{ }
};
