// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tests of each row of kernel/core/option_rows.h. A new row is tested without a case of its own. */
#include <net/if.h>
#include <stdlib.h>
#include "api.h"
#include "../../tools/option_table.h"

#define WANT_ROW(row, cond) row_want(row, cond, #cond, __LINE__)

static void row_want(const struct cmx_option_row *row, bool cond, const char *text, int line)
{
	if (!cond)
		tap_note_print("option %s", row->label);
	tap_check(cond, true, text, __FILE__, line, " ");
}

#define for_each_value_row(row)								\
	for (row = cmx_option_rows; row < cmx_option_rows + CMX_OPTION_ROWS; row++)	\
		if (!row->records)

static bool row_refuses(struct rdma_cm_id *id, const struct cmx_option_row *row, uint32_t val,
			int err)
{
	return set_u32(id, row->level, row->name, val) && errno == err;
}

/* Not every number is the index of an interface. */
static uint32_t row_max(const struct cmx_option_row *row)
{
	return row->name == CMX_OPTION_BIND_DEVICE ? if_nametoindex("lo") : row->max;
}

static void row_try_bounds(struct rdma_cm_id *id, const struct cmx_option_row *row)
{
	bool resets = row->zero_resets && !row->min;
	uint32_t flags, val;

	val = get_u32(id, row->level, row->name, &flags);
	WANT_ROW(row, !(flags & CMX_OPT_F_SET));
	WANT_ROW(row, row->source || val == row->def);
	WANT_ROW(row, !set_u32(id, row->level, row->name, row->min));
	val = get_u32(id, row->level, row->name, &flags);
	WANT_ROW(row, val == (resets ? row->def : row->min));
	WANT_ROW(row, !(flags & CMX_OPT_F_SET) == resets);
	WANT_ROW(row, !row->min || row_refuses(id, row, row->min - 1, EINVAL));
	WANT_ROW(row, !set_u32(id, row->level, row->name, row_max(row)));
	if (row->is_bool)
		WANT_ROW(row, !set_u32(id, row->level, row->name, row->max + 1));
	else
		WANT_ROW(row, row_refuses(id, row, row->max + 1, EINVAL));
	val = get_u32(id, row->level, row->name, &flags);
	WANT_ROW(row, val == row_max(row) && flags & CMX_OPT_F_SET);
}

static void test_rows_bounds(void)
{
	const struct cmx_option_row *row;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	for_each_value_row(row)
		row_try_bounds(id, row);
}

/* Only options of level RDMA_OPTION_ID accept values of one byte. */
static void test_rows_lengths(void)
{
	const struct cmx_option_row *row;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	uint8_t buf[8];
	size_t len;

	for_each_value_row(row) {
		bool byte = row->level == RDMA_OPTION_ID;

		memset(buf, 0, sizeof(buf));
		buf[0] = row->min;
		for (len = 0; len <= sizeof(buf); len++) {
			bool fits = len == 4 || (len == 1 && byte);
			int ret = rdma_set_option(id, row->level, row->name, buf, len);

			WANT_ROW(row, fits ? !ret : ret && errno == EINVAL);
		}
		len = 3;
		if (byte)
			WANT_ROW(row, !rdma_cmx_get_option(id, row->level, row->name, buf, &len, NULL) &&
				 len == 1);
		else
			WANT_ROW(row, rdma_cmx_get_option(id, row->level, row->name, buf, &len, NULL) &&
				 errno == ENOSPC);
		len = sizeof(buf);
		WANT_ROW(row, !rdma_cmx_get_option(id, row->level, row->name, buf, &len, NULL) &&
			 len == 4);
	}
}

static enum cmx_transport id_transport(struct rdma_cm_id *id)
{
	struct ibv_port_attr attr;

	if (id->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return CMX_TRANSPORT_IWARP;
	WANT(!ibv_query_port(id->verbs, id->port_num, &attr));
	return attr.link_layer == IBV_LINK_LAYER_ETHERNET ? CMX_TRANSPORT_ROCE : CMX_TRANSPORT_IB;
}

/* Suites with another device than rxe set its address in API_ADDRESS. */
static void test_rows_transports(void)
{
	const char *addr = getenv("API_ADDRESS") ?: "10.77.0.1";
	const struct cmx_option_row *row;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_bound_id(&ch, RDMA_PS_TCP, addr);
	enum cmx_transport transport;

	WANT(id->verbs);
	transport = id_transport(id);
	for_each_value_row(row)
		WANT_ROW(row, row_refuses(id, row, row->min, EOPNOTSUPP) ==
			 !(row->transports & transport));
}

/* The id has taken all steps before @next. Options that end with one of these are refused. */
static void rows_try_before(struct rdma_cm_id *id, enum cmx_opt_until next)
{
	const struct cmx_option_row *row;

	for_each_value_row(row)
		WANT_ROW(row, row_refuses(id, row, row->min, row->late ?: EISCONN) ==
			 (row->until < next));
}

static void test_rows_until(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct pair p = { .param = plain };

	/* ids of their own, because options that are set here would prevent a connection */
	rows_try_before(new_id(&ch, RDMA_PS_TCP), CMX_OPT_UNTIL_BIND);
	rows_try_before(new_bound_id(&ch, RDMA_PS_TCP, "0.0.0.0"), CMX_OPT_UNTIL_ADDR_QUERY);
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!rdma_resolve_addr(id, NULL, ip_addr("10.77.0.1", 7509), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	rows_try_before(id, CMX_OPT_UNTIL_ROUTE_QUERY);
	id = new_id(&ch, RDMA_PS_TCP);
	id_resolve(ch, id, "10.77.0.1", 7509);
	rows_try_before(id, CMX_OPT_UNTIL_REQ_SENT);

	pair_prepare(&p, RDMA_PS_TCP);
	rows_try_before(p.listener, CMX_OPT_UNTIL_REP_SENT);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	rows_try_before(p.id, CMX_OPT_UNTIL_ESTABLISHED);
	rows_try_before(p.child, CMX_OPT_UNTIL_REP_SENT);
	pair_connect(&p, RDMA_PS_TCP);
	rows_try_before(p.id, CMX_OPT_UNTIL_DESTROYED);
	rows_try_before(p.child, CMX_OPT_UNTIL_DESTROYED);
	WANT(!rdma_disconnect(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	rows_try_before(p.child, CMX_OPT_UNTIL_DESTROYED);
}

const struct test option_row_tests[] = {
	{ "option: each at its bounds, and read back", test_rows_bounds },
	{ "option: each with values of any length", test_rows_lengths },
	{ "option: each on the transports that have it", test_rows_transports },
	{ "option: each until its last step", test_rows_until },
	{}
};
