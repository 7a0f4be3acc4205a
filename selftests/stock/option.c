// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_set_option(): what is accepted where, and what it does. */
#include "util.h"
#include <infiniband/sa.h>

struct opt_arg {
	int level;
	int name;
	enum reach where;
};

static unsigned char value[4096] = { 1 };

static void set(struct rdma_cm_id *id, int level, int name, void *val, size_t len)
{
	CALL(rdma_set_option(id, level, name, val, len), "set_option %s level=%d name=%d len=%zu",
	     idname(id), level, name, len);
}

static void set_byte(struct rdma_cm_id *id, int name, uint8_t val)
{
	CALL(rdma_set_option(id, RDMA_OPTION_ID, name, &val, sizeof(val)),
	     "set_option %s name=%d byte=%d", idname(id), name, val);
}

static void set_int(struct rdma_cm_id *id, int name, int val)
{
	CALL(rdma_set_option(id, RDMA_OPTION_ID, name, &val, sizeof(val)),
	     "set_option %s name=%d int=%d", idname(id), name, val);
}

static void lengths(const void *arg)
{
	static const size_t tried[] = { 0, 1, 2, 3, 8 };
	const struct opt_arg *o = arg;
	struct rdma_cm_id *id;
	struct duo d;
	size_t i;

	id = duo_reach(&d, o->where);
	for (i = 0; i < ARRAY_SIZE(tried); i++)
		set(id, o->level, o->name, value, tried[i]);
	show_path(id);
	duo_end(&d);
}

/* An integer, which the manual page asks for and the in-tree kernel takes for two options. */
static void integer(const void *arg)
{
	const struct opt_arg *o = arg;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, o->where);
	set(id, o->level, o->name, value, sizeof(int));
	duo_end(&d);
}

static void unknown(const void *arg)
{
	static const int tried[][2] = { { 0, 4 }, { 0, -1 }, { 0, 99 }, { 1, 0 }, { 1, 2 },
					{ 2, 0 }, { 99, 1 }, { -1, 0 } };
	const struct opt_arg *o = arg;
	struct rdma_cm_id *id;
	struct duo d;
	size_t i;

	id = duo_reach(&d, o->where);
	for (i = 0; i < ARRAY_SIZE(tried); i++)
		set(id, tried[i][0], tried[i][1], value, sizeof(int));
	duo_end(&d);
}

static void bad_buffer(const void *arg)
{
	struct rdma_cm_id *id;
	struct duo d;
	int name;

	(void)arg;
	id = duo_reach(&d, IDLE);
	for (name = 0; name < 4; name++) {
		set(id, RDMA_OPTION_ID, name, NULL, 1);
		set(id, RDMA_OPTION_ID, name, NULL, 4);
		set(id, RDMA_OPTION_ID, name, value, sizeof(value));
		set(id, RDMA_OPTION_ID, name, value, (size_t)1 << 30);
	}
	duo_end(&d);
}

static void bad_pointer(const void *arg)
{
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, IDLE);
	set(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, (void *)8, 1);
	duo_end(&d);
}

/* TOS set at @arg's state, then a whole resolution and connection. */
static void tos_effect(const void *arg)
{
	static const uint8_t tried[] = { 0, 1, 3, 32, 104, 184, 255 };
	const enum reach *where = arg;
	struct duo d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		duo_init(&d);
		quiet++;
		duo_listen(&d, RDMA_PS_TCP);
		d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
		if (*where == IDLE)
			set_byte(d.cli, RDMA_OPTION_ID_TOS, tried[i]);
		do_resolve(d.cli, NULL, ADDR, PORT);
		ev(d.cc);
		if (*where == ADDRESSED)
			set_byte(d.cli, RDMA_OPTION_ID_TOS, tried[i]);
		do_route(d.cli);
		ev(d.cc);
		quiet--;
		say("tos %d", tried[i]);
		if (*where == ROUTED)
			set_byte(d.cli, RDMA_OPTION_ID_TOS, tried[i]);
		show_path(d.cli);
		quiet++;
		mkqp(d.cli, IBV_QPT_RC);
		CALL(rdma_connect(d.cli, &d.param), "connect");
		d.srv = ev_request(d.cl, "srv");
		mkqp(d.srv, IBV_QPT_RC);
		CALL(rdma_accept(d.srv, &d.param), "accept");
		ev(d.cc);
		quiet--;
		show_qp(d.cli->qp);
		show_qp(d.srv->qp);
		duo_end(&d);
	}
}

static void tos_child(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_listen(&d, RDMA_PS_TCP);
	set_byte(d.lst, RDMA_OPTION_ID_TOS, 64);
	duo_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	show_path(d.srv);
	mkqp(d.srv, IBV_QPT_RC);
	set_byte(d.srv, RDMA_OPTION_ID_TOS, 32);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
	duo_end(&d);
}

static void tos_reset(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
	set_byte(d.cli, RDMA_OPTION_ID_TOS, 32);
	set_byte(d.cli, RDMA_OPTION_ID_TOS, 0);
	do_resolve(d.cli, NULL, ADDR, PORT);
	ev(d.cc);
	do_route(d.cli);
	ev(d.cc);
	show_path(d.cli);
	duo_end(&d);
}

/* No TOS is set. The suite tool runs this case with a default TOS of the port. */
static void tos_unset(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_listen(&d, RDMA_PS_TCP);
	duo_route(&d, RDMA_PS_TCP);
	show_path(d.cli);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	show_path(d.srv);
	mkqp(d.srv, IBV_QPT_RC);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
	duo_end(&d);
}

static void ack_effect(const void *arg)
{
	static const uint8_t tried[] = { 0, 1, 14, 20, 31, 32, 255 };
	const enum reach *where = arg;
	struct duo d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		duo_init(&d);
		say("ack_timeout %d", tried[i]);
		quiet++;
		duo_listen(&d, RDMA_PS_TCP);
		d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
		if (*where == IDLE)
			set_byte(d.cli, RDMA_OPTION_ID_ACK_TIMEOUT, tried[i]);
		do_resolve(d.cli, NULL, ADDR, PORT);
		ev(d.cc);
		do_route(d.cli);
		ev(d.cc);
		if (*where == ROUTED)
			set_byte(d.cli, RDMA_OPTION_ID_ACK_TIMEOUT, tried[i]);
		mkqp(d.cli, IBV_QPT_RC);
		CALL(rdma_connect(d.cli, &d.param), "connect");
		d.srv = ev_request(d.cl, "srv");
		if (d.srv) {
			if (*where == REQUESTED)
				set_byte(d.srv, RDMA_OPTION_ID_ACK_TIMEOUT, tried[i]);
			mkqp(d.srv, IBV_QPT_RC);
			if (!CALL(rdma_accept(d.srv, &d.param), "accept"))
				ev(d.cc);
			show_qp(d.srv->qp);
		} else {
			ev(d.cc);
		}
		quiet--;
		show_path(d.cli);
		show_qp(d.cli->qp);
		duo_end(&d);
	}
}

static void ack_child(const void *arg)
{
	struct duo d;

	(void)arg;
	duo_init(&d);
	duo_listen(&d, RDMA_PS_TCP);
	set_byte(d.lst, RDMA_OPTION_ID_ACK_TIMEOUT, 10);
	quiet++;
	duo_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	mkqp(d.srv, IBV_QPT_RC);
	CALL(rdma_accept(d.srv, &d.param), "accept srv");
	ev(d.cc);
	quiet--;
	show_qp(d.cli->qp);
	show_qp(d.srv->qp);
	duo_end(&d);
}

static void ack_port_space(const void *arg)
{
	static const enum rdma_port_space tried[] = { RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB };
	struct duo d;
	size_t i;

	(void)arg;
	duo_init(&d);
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		d.cli = mkid(d.cc, "cli", tried[i]);
		set_byte(d.cli, RDMA_OPTION_ID_ACK_TIMEOUT, 10);
		set_byte(d.cli, RDMA_OPTION_ID_TOS, 10);
		set_int(d.cli, RDMA_OPTION_ID_REUSEADDR, 1);
		set_int(d.cli, RDMA_OPTION_ID_AFONLY, 1);
		rmid(d.cli);
	}
	d.cli = NULL;
	duo_end(&d);
}

/* Does a child keep the port of its listener busy, and share it? */
static void reuse_child(const void *arg)
{
	struct rdma_cm_id *other;
	struct duo d;

	(void)arg;
	duo_init(&d);
	quiet++;
	d.lst = mkid(d.cl, "lst", RDMA_PS_TCP);
	set_int(d.lst, RDMA_OPTION_ID_REUSEADDR, 1);
	do_bind(d.lst, ADDR, PORT);
	quiet--;
	do_listen(d.lst, 4);
	duo_route(&d, RDMA_PS_TCP);
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	d.srv = ev_request(d.cl, "srv");
	set_int(d.srv, RDMA_OPTION_ID_REUSEADDR, 1);
	set_int(d.srv, RDMA_OPTION_ID_AFONLY, 1);
	rmid(d.lst);
	d.lst = NULL;
	other = mkid(d.cl, "other", RDMA_PS_TCP);
	do_bind(other, ADDR, PORT);
	set_int(other, RDMA_OPTION_ID_REUSEADDR, 1);
	do_bind(other, ADDR, PORT);
	do_listen(other, 1);
	rmid(other);
	duo_end(&d);
}

static void bound_toggle(const void *arg)
{
	static const char *const addr[] = { ADDR, ADDR_6 };
	struct duo d;
	size_t i;

	(void)arg;
	duo_init(&d);
	for (i = 0; i < ARRAY_SIZE(addr); i++) {
		d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
		set_int(d.cli, RDMA_OPTION_ID_REUSEADDR, 1);
		set_int(d.cli, RDMA_OPTION_ID_REUSEADDR, 0);
		set_int(d.cli, RDMA_OPTION_ID_AFONLY, 1);
		set_int(d.cli, RDMA_OPTION_ID_AFONLY, 0);
		do_bind(d.cli, addr[i], PORT);
		set_int(d.cli, RDMA_OPTION_ID_REUSEADDR, 1);
		set_int(d.cli, RDMA_OPTION_ID_REUSEADDR, 0);
		set_int(d.cli, RDMA_OPTION_ID_REUSEADDR, -7);
		set_int(d.cli, RDMA_OPTION_ID_AFONLY, 1);
		rmid(d.cli);
	}
	d.cli = NULL;
	duo_end(&d);
}

static void fill_path(struct ibv_path_data *data, uint32_t flags)
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

static void path_good(const void *arg)
{
	const enum reach *where = arg;
	struct ibv_path_data path[2];
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	fill_path(&path[0], 0);
	fill_path(&path[1], GOOD);
	set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, sizeof(path[0]));
	set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, sizeof(path) - 1);
	set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, sizeof(path));
	if (*where == ADDRESSED) {
		ev(d.cc);
		show_path(id);
		set(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path[1], sizeof(path[1]));
	}
	ev_none(d.cc);
	duo_end(&d);
}

/* The id is on a device, but has no interface, and so no GID. */
static void path_loopback(const void *arg)
{
	struct ibv_path_data path;
	struct duo d;

	(void)arg;
	duo_init(&d);
	d.cli = mkid(d.cc, "cli", RDMA_PS_TCP);
	do_resolve(d.cli, NULL, "127.0.0.1", PORT);
	ev(d.cc);
	fill_path(&path, GOOD);
	set(d.cli, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof(path));
	ev_none(d.cc);
	duo_end(&d);
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
	EVERYWHERE("tos", lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS),
	EVERYWHERE("tos_int", integer, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS),
	EVERYWHERE("reuseaddr", lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR),
	EVERYWHERE("reuseaddr_int", integer, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR),
	EVERYWHERE("afonly", lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY),
	EVERYWHERE("afonly_int", integer, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY),
	EVERYWHERE("ack_timeout", lengths, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT),
	EVERYWHERE("ack_timeout_int", integer, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT),
	EVERYWHERE("path", lengths, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH),
	EVERYWHERE("unknown", unknown, 0, 0),
	{ "option.path_loopback", path_loopback, NULL },
	{ "option.bad_buffer", bad_buffer, NULL },
	{ "option.bad_pointer", bad_pointer, NULL },
	FROM("tos_effect.idle", tos_effect, IDLE),
	FROM("tos_effect.addressed", tos_effect, ADDRESSED),
	FROM("tos_effect.routed", tos_effect, ROUTED),
	{ "option.tos_child", tos_child, NULL },
	{ "option.tos_reset", tos_reset, NULL },
	{ "option.tos_unset", tos_unset, NULL },
	FROM("ack_effect.idle", ack_effect, IDLE),
	FROM("ack_effect.routed", ack_effect, ROUTED),
	FROM("ack_effect.requested", ack_effect, REQUESTED),
	{ "option.ack_child", ack_child, NULL },
	{ "option.port_spaces", ack_port_space, NULL },
	{ "option.reuse_child", reuse_child, NULL },
	{ "option.bound_toggle", bound_toggle, NULL },
	FROM("path_good.idle", path_good, IDLE),
	FROM("path_good.bound", path_good, BOUND),
	FROM("path_good.addressed", path_good, ADDRESSED),
	FROM("path_good.routed", path_good, ROUTED),
	FROM("path_good.connected", path_good, CONNECTED),
	{ }
};
