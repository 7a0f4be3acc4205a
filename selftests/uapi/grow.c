// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Structs that are longer or shorter than the module's. The Makefile compiles all tests three
 * times: with the header of the tree, and with headers that have one field more (UAPI_MORE) or one
 * fewer (UAPI_FEWER) at the end of each struct that can grow.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
#include "uapi.h"

enum { ADDR_RESOLVED = 0, CONNECT_REQUEST = 4 };

#define FILL 0xa5
#define GUARD 64
#define MIN_RESP OFFSETOFEND(struct cmx_event_resp, param)
#define MIN_INFO OFFSETOFEND(struct cmx_id_info, src_addr)

/* the last field, which the module does not know */
#ifdef UAPI_MORE
#define MORE(object) ((object)->more[0] | (object)->more[1])
#else
#define MORE(object) 0
#endif

static bool info_is_filled(const void *mem, size_t len, uint8_t byte)
{
	const uint8_t *p = mem;

	while (len && *p == byte)
		p++, len--;
	return !len;
}

static void id_create_resolved(int fd, uint64_t uid)
{
	uint32_t id;

	CHECK(!id_create(fd, CMX_PS_TCP, uid, &id));
	CHECK(!id_resolve(fd, id, 7) && fd_is_readable(fd, 10000));
}

static void test_records(void)
{
	struct {
		struct cmx_event_record records[2];
		uint8_t guard[GUARD];
	} to;
	const struct cmx_event_record *r;
	int fd = dev_open(), i;
	uint32_t count = 0;

	id_create_resolved(fd, 1);
	id_create_resolved(fd, 2);
	memset(&to, FILL, sizeof(to));
	CHECK(!get_events(fd, to.records, 2, &count) && count == 2, "%u", count);
	for (i = 0; i < 2; i++) {
		r = &to.records[i];
		CHECK(r->resp.user_data == 1U + i && r->resp.event == ADDR_RESOLVED);
		CHECK(r->resp.flags & CMX_EVENT_F_INFO && r->info.port_num == 1);
		CHECK(!MORE(&r->resp) && !MORE(&r->info));
	}
	CHECK(info_is_filled(to.guard, GUARD, FILL));
	close(fd);
}

/* The parts of a record can have any size from the minimum on, and the info may be absent. */
static void test_sizes(void)
{
	static const struct cmx_event_sizes cases[] = {
		{ MIN_RESP, 0 }, { MIN_RESP, MIN_INFO }, { MIN_RESP + 8, MIN_INFO + 8 },
		{ MIN_RESP, sizeof(struct cmx_id_info) },
		{ sizeof(struct cmx_event_resp), MIN_INFO }, { 4096, 0 }, { 4096, 4096 },
	};
	const size_t known_resp = 632, known_info = 600;
	int fd = dev_open();
	size_t i, k, stride;
	uint32_t count;
	uint8_t *mem;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		stride = cases[i].resp + cases[i].info;
		mem = malloc(2 * stride + GUARD);
		memset(mem, FILL, 2 * stride + GUARD);
		id_create_resolved(fd, 10);
		id_create_resolved(fd, 11);
		CHECK(!events_get_sized(fd, &cases[i], mem, 2 * stride, &count) && count == 2,
		      "case %zu", i);
		for (k = 0; k < 2; k++) {
			const struct cmx_event_resp *resp = (void *)(mem + k * stride);
			const struct cmx_id_info *info = (void *)((uint8_t *)resp + cases[i].resp);

			CHECK(resp->user_data == 10 + k, "case %zu", i);
			CHECK(!(resp->flags & CMX_EVENT_F_INFO) == !cases[i].info, "case %zu", i);
			if (cases[i].info)
				CHECK(info->port_num == 1, "case %zu", i);
			if (cases[i].resp > known_resp)
				CHECK(info_is_filled((uint8_t *)resp + known_resp,
						     cases[i].resp - known_resp, 0), "case %zu", i);
			if (cases[i].info > known_info)
				CHECK(info_is_filled((uint8_t *)info + known_info,
						     cases[i].info - known_info, 0), "case %zu", i);
		}
		CHECK(info_is_filled(mem + 2 * stride, GUARD, FILL), "case %zu", i);
		free(mem);
	}
	close(fd);
}

static void test_wrong_sizes(void)
{
	static const struct {
		struct cmx_event_sizes sizes;
		int want;
	} cases[] = {
		{ { 0, 0 }, EINVAL }, { { MIN_RESP - 8, MIN_INFO }, EINVAL },
		{ { MIN_RESP + 4, MIN_INFO }, EINVAL }, { { MIN_RESP, MIN_INFO - 8 }, EINVAL },
		{ { MIN_RESP, MIN_INFO + 4 }, EINVAL }, { { MIN_RESP, 8 }, EINVAL },
		{ { 8192, 0 }, ENOSPC }, { { 4096, 4096 + 8 }, ENOSPC },
		{ { MIN_RESP, -8U }, ENOSPC }, { { -8U, 0 }, ENOSPC },
		{ { 1U << 31, 1U << 31 }, ENOSPC },
	};
	static uint8_t mem[8192 - 8];
	int fd = dev_open(), ret;
	uint32_t count;
	size_t i;

	id_create_resolved(fd, 1);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ret = events_get_sized(fd, &cases[i].sizes, mem, sizeof(mem), &count);
		CHECK(ret == cases[i].want, "case %zu: %d", i, ret);
	}
	CHECK(next_event(fd, ADDR_RESOLVED));
	close(fd);
}

/* QP attributes are cut off at the end of the record. */
static void test_qp(void)
{
	struct cmx_event_resp *resp;
	struct scene s;

	if (!scene_open(&s, ROUTE) || !CHECK(!id_connect(s.fd, s.id)))
		return;
	resp = next_event(s.fd, CONNECT_REQUEST);
	CHECK(resp && resp->flags & CMX_EVENT_F_QP && resp->rtr.qp_state == 2);
	CHECK(resp && !MORE(resp));
	scene_close(&s);
}

static void test_query(void)
{
	struct {
		struct cmx_id_info info;
		uint8_t guard[GUARD];
	} info;
	struct {
		struct cmx_ece_info ece;
		uint8_t guard[GUARD];
	} ece;
	struct scene s;
	struct cmd c;

	if (!scene_open(&s, ADDR))
		return;
	memset(&info, FILL, sizeof(info));
	memset(&ece, FILL, sizeof(ece));
	id_cmd(&c, CMX_ID_QUERY, s.id);
	cmd_out(&c, CMX_ATTR_INFO, &info, sizeof(info.info));
	cmd_out(&c, CMX_ATTR_ECE_INFO, &ece, sizeof(ece.ece));
	CHECK(!cmd_issue(&c, s.fd));
	CHECK(info.info.port_num == 1 && !MORE(&info.info));
	CHECK(!ece.ece.flags && !MORE(&ece.ece));
	CHECK(info_is_filled(info.guard, GUARD, FILL) && info_is_filled(ece.guard, GUARD, FILL));
	scene_close(&s);
}

/* A field that the module does not know must be zero. */
static void test_input(void)
{
	struct sockaddr_in group = local;
	struct cmx_mcast_attr attr;
	struct scene s;
	struct cmd c;
	uint32_t mc;

	if (!scene_open(&s, UD))
		return;
	group.sin_port = 0;
	group.sin_addr.s_addr = htonl(0xe0010203);
	memset(&attr, 0, sizeof(attr));
	cmd_init(&c, CMX_OBJ_MCAST, CMX_MCAST_JOIN);
	cmd_u32(&c, CMX_ATTR_ID, s.id);
	cmd_in(&c, CMX_ATTR_DST_ADDR, &group, sizeof(group));
	cmd_u64(&c, CMX_ATTR_USER_DATA, 300);
	cmd_in(&c, CMX_ATTR_MCAST, &attr, sizeof(attr));
	cmd_out(&c, CMX_ATTR_OUT_ID, &mc, sizeof(mc));
#ifdef UAPI_MORE
	attr.more[1] = 1;
	CHECK(cmd_issue(&c, s.fd) == E2BIG);
	attr.more[1] = 0;
#endif
	CHECK(!cmd_issue(&c, s.fd));
	scene_close(&s);
}

/* The options follow the size that the caller has given. The rest of that size is zeroed. */
static void test_listed(void)
{
	const size_t known = 432, min = OFFSETOFEND(struct cmx_id_record, device);
	const size_t sizes[] = { sizeof(struct cmx_id_record), min, min + 8, CMX_LIST_MAX_RECORD };
	static uint8_t mem[CMX_LIST_MIN_LEN + GUARD];
	const struct cmx_id_record *r = (void *)mem;
	const struct cmx_id_option *o;
	struct scene s;
	uint64_t cursor;
	uint32_t count;
	size_t i;

	if (!scene_open(&s, IDLE))
		return;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(mem, FILL, sizeof(mem));
		cursor = 0;
		CHECK(!ids_list(s.fd, sizes[i], &cursor, mem, CMX_LIST_MIN_LEN, &count) &&
		      count == 1, "case %zu", i);
		CHECK(r->handle == s.id && r->num_options, "case %zu", i);
		CHECK(r->size == sizes[i] + r->num_options * sizeof(*o), "case %zu", i);
		o = (void *)(mem + sizes[i]);
		CHECK(o->level == CMX_OPTION_LEVEL_ID && !o->name && !o->flags, "case %zu", i);
		if (sizes[i] > known)
			CHECK(info_is_filled(mem + known, sizes[i] - known, 0), "case %zu", i);
		CHECK(info_is_filled(mem + CMX_LIST_MIN_LEN, GUARD, FILL), "case %zu", i);
	}
	CHECK(!MORE(r));
	scene_close(&s);
}

const struct test grow_tests[] = {
	{ "grow: event records", test_records },
	{ "grow: records of any size", test_sizes },
	{ "grow: sizes that are refused", test_wrong_sizes },
	{ "grow: QP attributes in events", test_qp },
	{ "grow: query", test_query },
	{ "grow: input", test_input },
	{ "grow: records of ids", test_listed },
	{ },
};
