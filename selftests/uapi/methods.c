// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every method: its attributes, the state that it needs, and a call that succeeds in that state.
 */
#include <arpa/inet.h>
#include "uapi.h"

#define I4(attr) { CMX_ATTR_##attr, IN, true, 4, 4 }
#define ADDR_IN(attr, must) { CMX_ATTR_##attr, IN, must, 16, 128 }
#define O(attr, must, len) { CMX_ATTR_##attr, OUT, must, len, 1 }
#define INFO O(INFO, false, OFFSETOFEND(struct cmx_id_info, src_addr))
/* attributes that create an id, for a method whose argument is a new id */
#define NEW_ID(must)								\
	{ CMX_ATTR_USER_DATA, IN, must, 8, 8 }, { CMX_ATTR_PS, IN, must, 4, 4 },	\
	{ CMX_ATTR_QP_TYPE, IN, must, 4, 4 }, O(OUT_ID, must, 4)
#define FETCHED O(COUNT, false, 4)
#define OLD_ID { CMX_ATTR_ID, IN, false, 4, 4 }
#define PARAM {									\
	CMX_ATTR_CONN_PARAM, IN, true, sizeof(struct cmx_conn_param),	\
	sizeof(struct cmx_conn_param)					\
}

#define ECE { CMX_ATTR_ECE, IN, false, 8, 8 }

/* outputs of the calls; long enough for each of them */
static uint64_t out[16][512];
static struct sockaddr_in group = { .sin_family = AF_INET };
static const struct cmx_ece ece;
static struct cmx_mcast_attr mcast_attr;

static void build_channel_info(struct cmd *c, struct scene *s)
{
	(void)s;
	cmd_out(c, CMX_ATTR_VERSION, out[0], 4);
	cmd_out(c, CMX_ATTR_VERSION_MIN, out[1], 4);
	cmd_out(c, CMX_ATTR_MODULE_INFO, out[2], sizeof(struct cmx_module_info));
	cmd_out(c, CMX_ATTR_OPTIONS, out[3], sizeof(struct cmx_id_option));
}

static void build_get_events(struct cmd *c, struct scene *s)
{
	(void)s;
	cmd_in(c, CMX_ATTR_EVENT_SIZES, &event_sizes, sizeof(event_sizes));
	cmd_out(c, CMX_ATTR_EVENTS, out[0], sizeof(struct cmx_event_record));
	cmd_out(c, CMX_ATTR_COUNT, out[1], 4);
}

static void build_list_ids(struct cmd *c, struct scene *s)
{
	(void)s;
	cmd_u32(c, CMX_ATTR_RECORD_SIZE, sizeof(struct cmx_id_record));
	cmd_u64(c, CMX_ATTR_CURSOR, 0);
	cmd_out(c, CMX_ATTR_LIST, out[0], CMX_LIST_MIN_LEN);
	cmd_out(c, CMX_ATTR_COUNT, out[1], 4);
	cmd_out(c, CMX_ATTR_NEXT_CURSOR, out[2], 8);
}

static void build_get_rules(struct cmd *c, struct scene *s)
{
	(void)s;
	cmd_out(c, CMX_ATTR_RULES, out[0], sizeof(struct cmx_rule));
	cmd_out(c, CMX_ATTR_COUNT, out[1], 4);
	cmd_out(c, CMX_ATTR_GENERATION, out[2], 8);
}

/* A rule for a port space that does not exist */
static void build_set_rules(struct cmd *c, struct scene *s)
{
	static const struct cmx_rule rule = {
		.match = CMX_RULE_PS, .ps = 1, .num_options = 1,
		.options[0] = { .level = CMX_OPTION, .name = CMX_OPTION_SL, .value = 1 },
	};
	static uint64_t generation;

	rules_get(s->fd, NULL, 0, &generation);
	cmd_in(c, CMX_ATTR_RULES, &rule, sizeof(rule));
	cmd_u64(c, CMX_ATTR_GENERATION, generation);
}

static void build_create(struct cmd *c, struct scene *s)
{
	(void)s;
	cmd_u64(c, CMX_ATTR_USER_DATA, 1);
	cmd_u32(c, CMX_ATTR_PS, CMX_PS_TCP);
	cmd_u32(c, CMX_ATTR_QP_TYPE, CMX_QPT_RC);
	cmd_out(c, CMX_ATTR_OUT_ID, out[3], 4);
}

static void build_id(struct cmd *c, struct scene *s)
{
	cmd_u32(c, CMX_ATTR_ID, s->id);
}

static void build_info(struct cmd *c)
{
	cmd_out(c, CMX_ATTR_INFO, out[0], sizeof(struct cmx_id_info));
}

static void build_destroy(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_out(c, CMX_ATTR_COUNT, out[0], 4);
}

static void build_bind(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_in(c, CMX_ATTR_SRC_ADDR, &local, sizeof(local));
	build_info(c);
}

static void build_bind_new(struct cmd *c, struct scene *s)
{
	build_create(c, s);
	cmd_in(c, CMX_ATTR_SRC_ADDR, &local, sizeof(local));
	build_info(c);
}

static void build_addresses(struct cmd *c)
{
	static struct sockaddr_in dst;

	dst = local;
	dst.sin_port = htons(7);
	cmd_in(c, CMX_ATTR_SRC_ADDR, &local, sizeof(local));
	cmd_in(c, CMX_ATTR_DST_ADDR, &dst, sizeof(dst));
	cmd_u32(c, CMX_ATTR_TIMEOUT, 2000);
	build_info(c);
}

static void build_resolve_addr(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	build_addresses(c);
}

static void build_resolve_new(struct cmd *c, struct scene *s)
{
	build_create(c, s);
	build_addresses(c);
}

static void build_resolve_route(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_TIMEOUT, 2000);
	build_info(c);
}

static void build_query(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	build_info(c);
	cmd_out(c, CMX_ATTR_ECE_INFO, out[1], sizeof(struct cmx_ece_info));
}

static void build_listen(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_BACKLOG, 4);
	build_info(c);
}

static void build_connect(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_in(c, CMX_ATTR_CONN_PARAM, conn_param(), sizeof(struct cmx_conn_param));
	cmd_in(c, CMX_ATTR_ECE, &ece, sizeof(ece));
	build_info(c);
}

static void build_establish(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u64(c, CMX_ATTR_USER_DATA, 200);
}

static void build_accept(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_in(c, CMX_ATTR_CONN_PARAM, conn_param(), sizeof(struct cmx_conn_param));
	cmd_in(c, CMX_ATTR_ECE, &ece, sizeof(ece));
	cmd_u64(c, CMX_ATTR_USER_DATA, 200);
}

static void build_reject(struct cmd *c, struct scene *s)
{
	static const char data[148];
	static const uint8_t reason = 28;

	build_id(c, s);
	cmd_in(c, CMX_ATTR_PRIVATE_DATA, data, sizeof(data));
	cmd_in(c, CMX_ATTR_REASON, &reason, 1);
}

static void build_disconnect(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_QP_STATE, 6);	/* ERR */
}

static void build_notify(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_NOTIFY, 4);		/* COMM_EST */
}

static void build_init_qp_attr(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_QP_STATE, 1);	/* INIT */
	cmd_out(c, CMX_ATTR_QP_ATTR, out[0], sizeof(struct ib_uverbs_qp_attr));
}

static void build_set_option(struct cmd *c, struct scene *s)
{
	static const uint8_t tos = 8;

	build_id(c, s);
	cmd_u32(c, CMX_ATTR_OPT_LEVEL, CMX_OPTION_LEVEL_ID);
	cmd_u32(c, CMX_ATTR_OPT_NAME, CMX_ID_OPTION_TOS);
	cmd_in(c, CMX_ATTR_OPT_VALUE, &tos, 1);
}

static void build_get_option(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_OPT_LEVEL, CMX_OPTION_LEVEL_ID);
	cmd_u32(c, CMX_ATTR_OPT_NAME, CMX_ID_OPTION_TOS);
	cmd_out(c, CMX_ATTR_OPT_OUT, out[0], 4);
	cmd_out(c, CMX_ATTR_COUNT, out[1], 4);
	cmd_out(c, CMX_ATTR_OPT_FLAGS, out[2], 4);
}

static void build_migrate(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_FD, s->other);
	cmd_out(c, CMX_ATTR_OUT_ID, out[0], 4);
	cmd_out(c, CMX_ATTR_COUNT, out[1], 4);
}

static void build_join(struct cmd *c, struct scene *s)
{
	group.sin_addr.s_addr = htonl(0xe0010203);
	build_id(c, s);
	cmd_in(c, CMX_ATTR_DST_ADDR, &group, sizeof(group));
	cmd_u64(c, CMX_ATTR_USER_DATA, 300);
	cmd_in(c, CMX_ATTR_MCAST, &mcast_attr, sizeof(mcast_attr));
	cmd_out(c, CMX_ATTR_OUT_ID, out[0], 4);
}

static void build_write_event(struct cmd *c, struct scene *s)
{
	build_id(c, s);
	cmd_u32(c, CMX_ATTR_EVENT, CMX_EVENT_USER);
	cmd_u32(c, CMX_ATTR_STATUS, 0);
	cmd_u64(c, CMX_ATTR_ARG, 1);
}

static void build_report(struct cmd *c, struct scene *s)
{
	cmd_u32(c, CMX_ATTR_MCAST_ID, s->mc);
}

static void build_leave(struct cmd *c, struct scene *s)
{
	build_report(c, s);
	cmd_out(c, CMX_ATTR_COUNT, out[0], 4);
}

const struct method methods[] = {
	{ "channel info", CMX_OBJ_CHANNEL, CMX_CHANNEL_INFO, NOTHING,
	  { O(VERSION, false, 4), O(VERSION_MIN, false, 4),
	    O(MODULE_INFO, false, OFFSETOFEND(struct cmx_module_info, max_attrs)),
	    { CMX_ATTR_OPTIONS, OUT, false, sizeof(struct cmx_id_option), 0 } }, build_channel_info },
	{ "get events", CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_EVENTS, EVENT,
	  { { CMX_ATTR_EVENT_SIZES, IN, true, 8, 8 },
	    { CMX_ATTR_EVENTS, OUT, true, OFFSETOFEND(struct cmx_event_resp, param), 0 },
	    O(COUNT, true, 4) }, build_get_events },
	{ "list ids", CMX_OBJ_CHANNEL, CMX_CHANNEL_LIST_IDS, IDLE,
	  { I4(RECORD_SIZE), { CMX_ATTR_CURSOR, IN, true, 8, 8 },
	    { CMX_ATTR_LIST, OUT, true, CMX_LIST_MIN_LEN, 0 }, O(COUNT, true, 4),
	    O(NEXT_CURSOR, true, 8) }, build_list_ids },
	{ "kill", CMX_OBJ_CHANNEL, CMX_CHANNEL_KILL, IDLE, { I4(ID) }, build_id },
	{ "get rules", CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_RULES, NOTHING,
	  { { CMX_ATTR_RULES, OUT, false, sizeof(struct cmx_rule), 0 }, O(COUNT, false, 4),
	    O(GENERATION, false, 8) }, build_get_rules },
	{ "set rules", CMX_OBJ_CHANNEL, CMX_CHANNEL_SET_RULES, NOTHING,
	  { { CMX_ATTR_RULES, IN, false, sizeof(struct cmx_rule),
	      CMX_MAX_RULES * sizeof(struct cmx_rule) },
	    { CMX_ATTR_GENERATION, IN, true, 8, 8 } }, build_set_rules },
	{ "create", CMX_OBJ_ID, CMX_ID_CREATE, NOTHING,
	  { NEW_ID(true) }, build_create },
	{ "destroy", CMX_OBJ_ID, CMX_ID_DESTROY, IDLE,
	  { I4(ID), O(COUNT, true, 4) }, build_destroy },
	{ "bind", CMX_OBJ_ID, CMX_ID_BIND, IDLE,
	  { I4(ID), NEW_ID(false), FETCHED, ADDR_IN(SRC_ADDR, true), INFO }, build_bind },
	{ "bind a new id", CMX_OBJ_ID, CMX_ID_BIND, NOTHING,
	  { OLD_ID, NEW_ID(true), FETCHED, ADDR_IN(SRC_ADDR, true), INFO }, build_bind_new },
	{ "resolve addr", CMX_OBJ_ID, CMX_ID_RESOLVE_ADDR, IDLE,
	  { I4(ID), NEW_ID(false), FETCHED, ADDR_IN(SRC_ADDR, false),
	    ADDR_IN(DST_ADDR, true), I4(TIMEOUT), INFO }, build_resolve_addr },
	{ "resolve addr of a new id", CMX_OBJ_ID, CMX_ID_RESOLVE_ADDR, NOTHING,
	  { OLD_ID, NEW_ID(true), FETCHED, ADDR_IN(SRC_ADDR, false),
	    ADDR_IN(DST_ADDR, true), I4(TIMEOUT), INFO }, build_resolve_new },
	{ "resolve route", CMX_OBJ_ID, CMX_ID_RESOLVE_ROUTE, ADDR,
	  { I4(ID), I4(TIMEOUT), INFO }, build_resolve_route },
	{ "query", CMX_OBJ_ID, CMX_ID_QUERY, CONNECTED,
	  { I4(ID), INFO, O(ECE_INFO, false, OFFSETOFEND(struct cmx_ece_info, flags)) },
	  build_query },
	{ "listen", CMX_OBJ_ID, CMX_ID_LISTEN, BOUND, { I4(ID), I4(BACKLOG), INFO }, build_listen },
	{ "connect", CMX_OBJ_ID, CMX_ID_CONNECT, ROUTE,
	  { I4(ID), PARAM, ECE, INFO }, build_connect },
	{ "accept", CMX_OBJ_ID, CMX_ID_ACCEPT, REQUEST,
	  { I4(ID), PARAM, ECE, { CMX_ATTR_USER_DATA, IN, false, 8, 8 } }, build_accept },
	{ "establish", CMX_OBJ_ID, CMX_ID_ESTABLISH, RESPONSE,
	  { I4(ID), { CMX_ATTR_USER_DATA, IN, false, 8, 8 } }, build_establish },
	{ "reject", CMX_OBJ_ID, CMX_ID_REJECT, REQUEST,
	  { I4(ID), { CMX_ATTR_PRIVATE_DATA, IN, false, 0, 255 },
	    { CMX_ATTR_REASON, IN, false, 1, 1 } }, build_reject },
	{ "disconnect", CMX_OBJ_ID, CMX_ID_DISCONNECT, CONNECTED,
	  { I4(ID), { CMX_ATTR_QP_STATE, IN, false, 4, 4 } }, build_disconnect },
	{ "notify", CMX_OBJ_ID, CMX_ID_NOTIFY, ACCEPTED, { I4(ID), I4(NOTIFY) }, build_notify },
	{ "init qp attr", CMX_OBJ_ID, CMX_ID_INIT_QP_ATTR, ADDR,
	  { I4(ID), I4(QP_STATE), O(QP_ATTR, true, sizeof(struct ib_uverbs_qp_attr)) },
	  build_init_qp_attr },
	{ "set option", CMX_OBJ_ID, CMX_ID_SET_OPTION, IDLE,
	  { I4(ID), I4(OPT_LEVEL), I4(OPT_NAME),
	    { CMX_ATTR_OPT_VALUE, IN, true, 0, CMX_OPT_MAX_LEN } }, build_set_option },
	{ "get option", CMX_OBJ_ID, CMX_ID_GET_OPTION, IDLE,
	  { I4(ID), I4(OPT_LEVEL), I4(OPT_NAME), { CMX_ATTR_OPT_OUT, OUT, true, 1, 0 },
	    O(COUNT, true, 4), O(OPT_FLAGS, false, 4) }, build_get_option },
	{ "migrate", CMX_OBJ_ID, CMX_ID_MIGRATE, ELSEWHERE,
	  { I4(ID), I4(FD), O(OUT_ID, true, 4), O(COUNT, true, 4) }, build_migrate },
	{ "write event", CMX_OBJ_ID, CMX_ID_WRITE_EVENT, IDLE,
	  { I4(ID), I4(EVENT), I4(STATUS), { CMX_ATTR_ARG, IN, true, 8, 8 } }, build_write_event },
	{ "join", CMX_OBJ_MCAST, CMX_MCAST_JOIN, UD,
	  { I4(ID), ADDR_IN(DST_ADDR, true), { CMX_ATTR_USER_DATA, IN, true, 8, 8 },
	    { CMX_ATTR_MCAST, IN, false, OFFSETOFEND(struct cmx_mcast_attr, scope),
	      sizeof(mcast_attr) },
	    O(OUT_ID, true, 4) }, build_join },
	{ "leave", CMX_OBJ_MCAST, CMX_MCAST_LEAVE, JOINED, { I4(MCAST_ID), O(COUNT, true, 4) },
	  build_leave },
	{ "report", CMX_OBJ_MCAST, CMX_MCAST_REPORT, JOINED, { I4(MCAST_ID) }, build_report },
};

const size_t num_methods = ARRAY_SIZE(methods);

void method_build(const struct method *m, struct cmd *c, struct scene *s)
{
	cmd_init(c, m->object, m->method);
	m->build(c, s);
}
