// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Options: reading them back, refused values, and their effect. */
#include <stdlib.h>
#include <unistd.h>
#include <infiniband/sa.h>
#include "../lib/now.h"
#include "../lib/slow.h"
#include "api.h"

static void test_unknown(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	uint32_t val;
	size_t len = sizeof(val);

	WANT(rdma_cmx_get_option(id, CMX_OPTION, 99, &val, &len, NULL) && errno == ENOPROTOOPT);
	WANT(rdma_cmx_get_option(id, 99, 1, &val, &len, NULL) && errno == ENOPROTOOPT);
	len = 2;
	WANT(rdma_cmx_get_option(id, CMX_OPTION, CMX_OPTION_SL, &val, &len, NULL) && errno == ENOSPC);
	WANT(set_u32(id, CMX_OPTION, 99, 1));
}

static uint8_t option_get_byte(struct rdma_cm_id *id, int name, uint32_t *flags)
{
	uint8_t byte = 0xff;
	size_t len = sizeof(byte);

	WANT(!rdma_cmx_get_option(id, RDMA_OPTION_ID, name, &byte, &len, flags));
	WANT(len == 1);
	return byte;
}

static void test_tos(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	uint8_t tos = 96;
	uint32_t flags;

	WANT(!option_get_byte(id, RDMA_OPTION_ID_TOS, &flags) && !(flags & CMX_OPT_F_SET));
	WANT(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	WANT(option_get_byte(id, RDMA_OPTION_ID_TOS, &flags) == 96 && flags & CMX_OPT_F_SET);
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0));
	WANT(!option_get_byte(id, RDMA_OPTION_ID_TOS, &flags) && !(flags & CMX_OPT_F_SET));
	WANT(set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 256) && errno == EINVAL);
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 64));
	id_resolve(ch, id, "10.77.0.1", 7500);
	WANT(id->route.path_rec->traffic_class == 64);
}

static void test_flags_of_id(void)
{
	static const int names[] = { RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_AFONLY };
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	uint32_t flags;
	int i;

	for (i = 0; i < 2; i++) {
		WANT(option_get_byte(id, names[i], &flags) == 0 && !(flags & CMX_OPT_F_SET));
		WANT(!set_u32(id, RDMA_OPTION_ID, names[i], 5));
		WANT(option_get_byte(id, names[i], &flags) == 1 && flags & CMX_OPT_F_SET);
		WANT(get_u32(id, RDMA_OPTION_ID, names[i], NULL) == 1);
		/* the options are independent */
		WANT(i || !option_get_byte(id, names[1], NULL));
	}
	/* listening clears REUSEADDR */
	WANT(!rdma_bind_addr(id, ip_addr("10.77.0.1", 0)) && !rdma_listen(id, 1));
	WANT(option_get_byte(id, RDMA_OPTION_ID_REUSEADDR, NULL) == 0);
	WANT(option_get_byte(id, RDMA_OPTION_ID_AFONLY, NULL) == 1);
}

static void test_afonly_of_bind(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *v4 = new_id(&ch, RDMA_PS_TCP), *v6;
	uint32_t flags;

	WANT(!rdma_create_id(ch, &v6, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(v4, ip_addr("10.77.0.1", 0)));
	WANT(option_get_byte(v4, RDMA_OPTION_ID_AFONLY, &flags) == 1 && !(flags & CMX_OPT_F_SET));
	WANT(!rdma_bind_addr(v6, ip_addr("::", 0)));
	WANT(option_get_byte(v6, RDMA_OPTION_ID_AFONLY, &flags) == 0 && !(flags & CMX_OPT_F_SET));
}

/* The path record of one id is set on another id and read back. */
static void test_ib_path(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP), *other;
	struct ibv_path_data data[2], back[2];
	size_t len = sizeof(data);
	uint32_t flags;

	WANT(rdma_cmx_get_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, &len, NULL) &&
	     errno == EINVAL);
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_SL, 5));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_FLOW_LABEL, 0x12345));
	id_resolve(ch, id, "10.77.0.1", 7507);
	len = sizeof(data[0]) - 1;
	WANT(rdma_cmx_get_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, &len, NULL) &&
	     errno == ENOSPC);
	len = sizeof(data);
	WANT(!rdma_cmx_get_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, &len, &flags));
	WANT(len == sizeof(data[0]) && !(flags & CMX_OPT_F_SET));
	WANT(data[0].flags == (IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
			       IBV_PATH_FLAG_BIDIRECTIONAL));
	WANT(!memcmp(&data[0].path.dgid, &id->route.path_rec->dgid, 16));
	WANT((be16toh(data[0].path.qosclass_sl) & 15) == 5);
	WANT((be32toh(data[0].path.flowlabel_hoplimit) >> 8 & 0xfffff) == 0x12345);

	WANT(!rdma_create_id(ch, &other, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(other, NULL, ip_addr("10.77.0.1", 7507), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	data[0].path.mtu = 2 << 6 | IBV_MTU_256;
	WANT(!rdma_set_option(other, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, sizeof(data[0])));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
	len = sizeof(back);
	WANT(!rdma_cmx_get_option(other, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, back, &len, &flags));
	WANT(len == sizeof(back[0]) && flags & CMX_OPT_F_SET);
	WANT((back[0].path.mtu & 0x3f) == IBV_MTU_256);
	WANT(back[0].path.flowlabel_hoplimit == data[0].path.flowlabel_hoplimit);
	WANT(other->route.path_rec->sl == 5);
}

static int path_set(struct rdma_cm_id *id, struct ibv_path_data *data)
{
	return rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, sizeof(*data));
}

/* The packet lifetime of a path determines timeouts of the CM, so a user may not raise it. */
static void test_path_lifetime(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP), *other;
	struct ibv_path_data data;
	size_t len = sizeof(data);
	uint8_t ack = 31;

	WANT(!seteuid(65534));
	WANT(!rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack, 1));
	id_resolve(ch, id, "10.77.0.1", 7507);
	WANT(id->route.path_rec->packet_life_time == 21);
	WANT(!rdma_cmx_get_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data, &len, NULL));
	WANT(!rdma_create_id(ch, &other, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(other, NULL, ip_addr("10.77.0.1", 7507), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	data.path.packetlifetime = 2 << 6 | 22;
	WANT(path_set(other, &data) && errno == EPERM);
	WANT(!seteuid(0));
	data.path.packetlifetime = 2 << 6 | 31;
	WANT(path_set(other, &data) && errno == EINVAL);
	data.path.packetlifetime = 2 << 6 | 30;
	WANT(!path_set(other, &data));
}

/* With such a path, the id could use the GID of an interface of another network namespace. */
static void test_path_of_loopback(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	struct ibv_path_data data;
	size_t len = sizeof(data);

	need_rig();
	id_resolve(ch, id, "10.81.0.1", 7507);
	WANT(!rdma_cmx_get_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data, &len, NULL));
	WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addr(id, NULL, ip_addr("127.0.0.1", 7507), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(path_set(id, &data) && errno == ENODEV);
}

/* The TOS of the listener sets the traffic class of its replies. That of the peer has no effect. */
static void test_tos_passive(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct rdma_conn_param par = plain;
	uint8_t mine = 96, peers = 32;
	struct pair p = { .param = plain };
	int mask;

	p.id = new_id(&p.ch, RDMA_PS_TCP);
	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!rdma_set_option(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &peers, 1));
	WANT(!rdma_set_option(p.listener, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &mine, 1));
	pair_prepare(&p, RDMA_PS_TCP);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_init_qp_attr(p.child, &attr, &mask));
	WANT(attr.ah_attr.grh.traffic_class == mine);
	mine = 64;
	WANT(!rdma_set_option(p.child, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &mine, 1));
	WANT(!rdma_init_qp_attr(p.child, &attr, &mask));
	WANT(attr.ah_attr.grh.traffic_class == mine);
}

static unsigned int path_get_sl(struct rdma_cm_id *id)
{
	struct ibv_path_data data;
	size_t len = sizeof(data);

	WANT(!rdma_cmx_get_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data, &len, NULL));
	return be16toh(data.path.qosclass_sl) & 15;
}

/*
 * The SL of a RoCE path is the priority in the VLAN tag, which the VLAN derives from that of the
 * packet as for IP. The suite has mapped the priorities 0, 2 and 6 to 1, 3 and 5.
 */
static void test_vlan_priority(void)
{
	static const struct {
		uint8_t tos;
		unsigned int sl;
	} rows[] = {
		{ 0, 1 }, { 8, 3 }, { 16, 5 }, { 24, 0 },
	};
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	size_t i;

	need_rig();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		id = new_id(&ch, RDMA_PS_TCP);
		WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, rows[i].tos));
		id_resolve(ch, id, "10.82.5.1", 7509);
		WANT(id->route.path_rec->sl == rows[i].sl);
		WANT(path_get_sl(id) == rows[i].sl);
	}
	/* the path follows a TOS that is set later */
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 16));
	WANT(path_get_sl(id) == 5);
	/* the option SL overrides the map */
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 16));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_SL, 7));
	id_resolve(ch, id, "10.82.5.1", 7509);
	WANT(path_get_sl(id) == 7);
	/* without a VLAN, nothing is mapped */
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 16));
	id_resolve(ch, id, "10.77.0.1", 7509);
	WANT(!path_get_sl(id));
}

static void test_path(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_SL, 5));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_FLOW_LABEL, 0x12345));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_HOP_LIMIT, 33));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_PATH_MTU, IBV_MTU_512));
	id_resolve(ch, id, "10.77.0.1", 7501);
	WANT(id->route.num_paths == 1);
	WANT(id->route.path_rec->sl == 5);
	WANT(be32toh(id->route.path_rec->flow_label) == 0x12345);
	WANT(id->route.path_rec->hop_limit == 33);
	WANT(id->route.path_rec->mtu == IBV_MTU_512);
	/* the route has been resolved */
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_SL, 6) && errno == EISCONN);
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_PATH_MTU, IBV_MTU_1024) && errno == EISCONN);
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_SL, NULL) == 5);
}

static void test_gid_type(void)
{
	struct ibv_gid_entry gid;
	struct rdma_cm_id *id;
	int type;

	for (type = IBV_GID_TYPE_ROCE_V1; type <= IBV_GID_TYPE_ROCE_V2; type++) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
		struct pair p = { .param = plain };
		uint32_t flags;
		int mask;

		id = p.id = new_id(&p.ch, RDMA_PS_TCP);
		WANT(get_u32(id, CMX_OPTION, CMX_OPTION_GID_TYPE, &flags) == IBV_GID_TYPE_ROCE_V2);
		WANT(!(flags & CMX_OPT_F_SET));
		if (set_u32(id, CMX_OPTION, CMX_OPTION_GID_TYPE, type)) {
			/* rxe has no RoCE v1 */
			WANT(type == IBV_GID_TYPE_ROCE_V1 && errno == EOPNOTSUPP);
			continue;
		}
		WANT((int)get_u32(id, CMX_OPTION, CMX_OPTION_GID_TYPE, &flags) == type);
		WANT(flags & CMX_OPT_F_SET);
		if (type == IBV_GID_TYPE_ROCE_V1) {
			if (rdma_resolve_addr(id, NULL, ip_addr("10.77.0.1", 7502), 2000))
				continue;
			WANT(event_expect(p.ch, RDMA_CM_EVENT_ADDR_ERROR) == -ENODEV);
			continue;
		}
		pair_prepare(&p, RDMA_PS_TCP);
		pair_request_with(&p, RDMA_PS_TCP, (struct rdma_conn_param[]){ plain });
		WANT(!rdma_init_qp_attr(p.child, &attr, &mask));
		WANT(!ibv_query_gid_ex(p.child->verbs, 1, attr.ah_attr.grh.sgid_index, &gid, 0));
		WANT((int)gid.gid_type == type);
	}
}

static void test_timers(void)
{
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR }, rts = { .qp_state = IBV_QPS_RTS };
	struct rdma_conn_param par = plain;
	struct pair p = { .param = plain };
	uint8_t ack = 9;
	uint32_t flags;
	int mask;

	p.id = new_id(&p.ch, RDMA_PS_TCP);
	p.listener = new_id(&p.lch, RDMA_PS_TCP);
	WANT(!set_u32(p.id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 7));
	WANT(!rdma_set_option(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack, 1));
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 3));
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_SL, 5));
	WANT(!set_u32(p.listener, CMX_OPTION, CMX_OPTION_CM_RETRIES, 3));
	pair_prepare(&p, RDMA_PS_TCP);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	/* the child inherits the options of its listener */
	WANT(get_u32(p.child, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, NULL) == 3);
	/* but not those of the path, which comes with the request */
	WANT(!get_u32(p.child, CMX_OPTION, CMX_OPTION_SL, &flags) && !(flags & CMX_OPT_F_SET));
	WANT(get_u32(p.child, CMX_OPTION, CMX_OPTION_CM_RETRIES, NULL) == 15);
	WANT(!rdma_init_qp_attr(p.child, &rtr, &mask));
	WANT(mask & IBV_QP_MIN_RNR_TIMER && rtr.min_rnr_timer == 3);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	/* too late, even before the RTU */
	WANT(set_u32(p.child, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 4) && errno == EISCONN);
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_CONNECT_RESPONSE));
	WANT(!rdma_init_qp_attr(p.id, &rtr, &mask));
	WANT(rtr.min_rnr_timer == 7);
	WANT(!rdma_init_qp_attr(p.id, &rts, &mask));
	WANT(mask & IBV_QP_TIMEOUT && rts.timeout == 9);
	WANT(!rdma_establish(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_ESTABLISHED));
	WANT(set_u32(p.id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 8) && errno == EISCONN);
	WANT(rdma_set_option(p.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack, 1) &&
	     errno == EISCONN);
}

/* Connects to 10.77.0.99, which has a neighbour entry but no host, until the attempt fails. */
static void id_connect_silent(struct rdma_event_channel *ch, struct rdma_cm_id *id)
{
	struct rdma_conn_param par = plain;

	id_resolve(ch, id, "10.77.0.99", 7503);
	WANT(!rdma_connect(id, &par));
	WANT(event_expect(ch, RDMA_CM_EVENT_UNREACHABLE) == -ETIMEDOUT);
}

/* Returns the number of requests that ib_cm has sent again. */
static int resent_count(void)
{
	FILE *f;
	int n;

	need_rig();
	f = fopen("/sys/class/infiniband/rxe0/ports/1/cm_tx_retries/req", "r");
	WANT(f && fscanf(f, "%d", &n) == 1);
	fclose(f);
	return n;
}

static void test_silent_retries(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int i, before;

	for (i = 0; i < 4; i += 3) {
		id = new_id(&ch, RDMA_PS_TCP);
		WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, i));
		WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 14));
		before = resent_count();
		id_connect_silent(ch, id);
		WANT(resent_count() == before + i);
	}
}

static int default_write(const char *name, const char *val)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/rdma_cmx/parameters/%s", name);
	return file_write(path, "%s", val);
}

static void defaults_reset(void)
{
	default_write("tos", "0");
	default_write("cm_retries", "15");
	default_write("cm_response_timeout", "20");
	default_write("connect_deadline_ms", "0");
}

/* A try takes at least 4.096 us * 2^20. With the default of the host it would take far less. */
static void test_silent_timeout(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	double start;

	atexit(defaults_reset);
	WANT(!default_write("cm_response_timeout", "0"));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 0));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 20));
	start = now();
	id_connect_silent(ch, id);
	WANT(now() - start >= 4.096);
}

/* A message that waits for hours slows down the messages of all other users. */
static void test_long_timeout(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 31));
	WANT(!seteuid(65534));
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 22));
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 23) && errno == EPERM);
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, NULL) == 22);
}

/* A default of the host applies to ids on which the option is not set. */
static void test_host_defaults(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	uint32_t flags;
	int before;

	atexit(defaults_reset);
	WANT(default_write("tos", "256") && default_write("cm_retries", "16") &&
	     default_write("cm_response_timeout", "32") && default_write("tos", "-1"));
	WANT(!default_write("tos", "72") && !default_write("cm_retries", "2") &&
	     !default_write("cm_response_timeout", "13"));
	WANT(get_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &flags) == 72);
	WANT(!(flags & CMX_OPT_F_SET));
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, &flags) == 2);
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, &flags) == 13);
	before = resent_count();
	id_connect_silent(ch, id);
	WANT(resent_count() == before + 2);
	WANT(id->route.path_rec->traffic_class == 72);

	WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 32));
	id_resolve(ch, id, "10.77.0.1", 7508);
	WANT(id->route.path_rec->traffic_class == 32);
}

static void test_default_deadline(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	/* without a deadline it takes more than a minute */
	atexit(defaults_reset);
	WANT(!default_write("connect_deadline_ms", "300"));
	WANT(get_u32(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, NULL) == 300);
	id_connect_silent(ch, id);
}

/* Options that only an active id or only a connection has. */
static void test_misplaced(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct pair p = { .param = plain };

	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(set_u32(p.listener, CMX_OPTION, CMX_OPTION_CM_RETRIES, 1) && errno == EISCONN);
	WANT(set_u32(p.child, CMX_OPTION, CMX_OPTION_CM_RETRIES, 1) && errno == EISCONN);
	WANT(set_u32(p.child, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 1) && errno == EISCONN);
	id = new_id(&ch, RDMA_PS_UDP);
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE) && errno == EINVAL);
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_OFF));
}

static void test_silent_deadline(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 300));
	id_connect_silent(ch, id);
	WANT(!event_next(ch, 300));
}

static void test_silent_destroy(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	id_resolve(ch, id, "10.77.0.99", 7505);
	WANT(!rdma_connect(id, &par));
	alarm(slow_time(5));	/* the in-tree stack retries for a minute */
	WANT(!rdma_destroy_id(id));
	rdma_destroy_event_channel(ch);
}

static void test_deadline_met(void)
{
	struct pair p = { .param = plain };

	p.id = new_id(&p.ch, RDMA_PS_TCP);
	WANT(!set_u32(p.id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS,
		       slow_time(1000)));
	pair_prepare(&p, RDMA_PS_TCP);
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!event_next(p.ch, 1300));
	WANT(!rdma_disconnect(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DISCONNECTED));
}

/* In the in-tree stack, ib_cm accepts the event and leaks a reference to a GID. */
static void test_no_migration(void)
{
	struct pair p = { .param = plain };

	pair_connect(&p, RDMA_PS_TCP);
	WANT(rdma_notify(p.id, IBV_EVENT_PATH_MIG) && errno == EINVAL);
}

static void test_many_events(void)
{
	struct rdma_cm_event *ev[8];
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id[8];
	int i, n;

	id[0] = new_id(&ch, RDMA_PS_TCP);
	for (i = 1; i < 8; i++)
		WANT(!rdma_create_id(ch, &id[i], NULL, RDMA_PS_TCP));
	for (i = 0; i < 8; i++)
		WANT(!rdma_resolve_addr(id[i], NULL, ip_addr("10.77.0.1", 7506), 1000));
	usleep(100000);
	n = rdma_cmx_get_events(ch, ev, 8);
	WANT(n == 8);
	for (i = 0; i < 8; i++) {
		WANT(ev[i]->id == id[i] && ev[i]->event == RDMA_CM_EVENT_ADDR_RESOLVED);
		rdma_ack_cm_event(ev[i]);
	}
}

const struct test option_tests[] = {
	{ "option: unknown ones", test_unknown },
	{ "option: TOS", test_tos },
	{ "option: TOS of the passive side", test_tos_passive },
	{ "option: REUSEADDR, AFONLY", test_flags_of_id },
	{ "option: AFONLY not set, of a bound id", test_afonly_of_bind },
	{ "option: TOS and the priorities of a VLAN", test_vlan_priority },
	{ "option: path", test_path },
	{ "option: a path record, given and read back", test_ib_path },
	{ "option: the packet lifetime of a path", test_path_lifetime },
	{ "option: a path with a GID for a loopback address", test_path_of_loopback },
	{ "option: GID type", test_gid_type },
	{ "option: RNR timer, ACK timeout, inheritance", test_timers },
	{ "option: retries to a silent peer", test_silent_retries },
	{ "option: time for a silent peer's answer", test_silent_timeout },
	{ "option: a long time for an answer needs CAP_NET_ADMIN", test_long_timeout },
	{ "options that are not for that id are refused", test_misplaced },
	{ "option: deadline of a silent peer", test_silent_deadline },
	{ "option: defaults of the host", test_host_defaults },
	{ "option: default deadline", test_default_deadline },
	{ "option: a deadline that is met", test_deadline_met },
	{ "destroy while a silent peer is called", test_silent_destroy },
	{ "no migration without an alternate path", test_no_migration },
	{ "many events in one call", test_many_events },
	{}
};
