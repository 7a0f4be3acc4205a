// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls all methods of the char device at random. For the arguments see stress.c.
 *
 * A slot has the handle of an id or membership that should exist, and its stage according to
 * events. Most calls are valid for the stage of a slot and have valid attributes. Other calls use
 * any method, a stale handle, a handle of another file, or a command that is slightly wrong.
 * Threads are not synchronised, so a slot may be out of date.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "fuzz.h"

#define DEVICE "/dev/infiniband/" CMX_DEVICE_NAME
#define NOBODY 65534
#define NUM_FILES 6
#define NUM_SLOTS 192
#define NUM_EVENTS 4
#define SERVICE_NAME_LEN 64
#define FUZZ_MAX_PATHS (CMX_OPT_MAX_LEN / sizeof(struct ib_path_rec_data))

enum call {
	INFO, GET_EVENTS, LIST_IDS, KILL, GET_RULES, CREATE, DESTROY, BIND, RESOLVE_ADDR, RESOLVE_ROUTE,
	QUERY, LISTEN, CONNECT, ACCEPT, ESTABLISH, REJECT, DISCONNECT, NOTIFY, INIT_QP_ATTR,
	SET_OPTION, GET_OPTION, MIGRATE, WRITE_EVENT, RESOLVE_SERVICE, QUERY_SERVICES, JOIN, LEAVE,
	REPORT, WRONG, NUM_CALLS,
};

/* the last one counts the commands that were mutated */
static const char *const call_names[NUM_CALLS] = {
	"CHANNEL_INFO", "CHANNEL_GET_EVENTS", "CHANNEL_LIST_IDS", "CHANNEL_KILL", "CHANNEL_GET_RULES",
	"ID_CREATE", "ID_DESTROY", "ID_BIND", "ID_RESOLVE_ADDR", "ID_RESOLVE_ROUTE", "ID_QUERY", "ID_LISTEN",
	"ID_CONNECT", "ID_ACCEPT", "ID_ESTABLISH", "ID_REJECT", "ID_DISCONNECT", "ID_NOTIFY",
	"ID_INIT_QP_ATTR", "ID_SET_OPTION", "ID_GET_OPTION", "ID_MIGRATE", "ID_WRITE_EVENT",
	"ID_RESOLVE_SERVICE", "ID_QUERY_SERVICES",
	"MCAST_JOIN", "MCAST_LEAVE", "MCAST_REPORT", "(made wrong)",
};

/* Calls that are valid in a stage; one of the four is chosen */
static const uint8_t fitting[NUM_STAGES][4] = {
	[FREE] = { CREATE, CREATE, BIND, RESOLVE_ADDR },
	[IDLE] = { BIND, RESOLVE_ADDR, SET_OPTION, RESOLVE_ADDR },
	[BOUND] = { LISTEN, LISTEN, RESOLVE_ADDR, JOIN },
	[LISTENING] = { GET_EVENTS, GET_EVENTS, QUERY, GET_EVENTS },
	[WAITING] = { GET_EVENTS, GET_EVENTS, GET_EVENTS, QUERY },
	[ADDR] = { RESOLVE_ROUTE, RESOLVE_ROUTE, RESOLVE_ROUTE, JOIN },
	[ROUTE] = { CONNECT, CONNECT, CONNECT, SET_OPTION },
	[REQUEST] = { ACCEPT, ACCEPT, ACCEPT, REJECT },
	[RESPONSE] = { ESTABLISH, ESTABLISH, INIT_QP_ATTR, ESTABLISH },
	[CONNECTED] = { DISCONNECT, NOTIFY, INIT_QP_ATTR, DESTROY },
	[OVER] = { DESTROY, DESTROY, DISCONNECT, DESTROY },
	[MEMBER] = { LEAVE, LEAVE, REPORT, LEAVE },
};

struct slot {
	atomic_uint handle;
	atomic_uchar file;
	atomic_uchar stage;
	atomic_bool datagram;
};

/* of this process */
static struct slot slots[NUM_SLOTS];
static atomic_int fds[NUM_FILES];
static _Thread_local unsigned char in_buf[FUZZ_BUF_SIZE], out_buf[FUZZ_BUF_SIZE];
static _Thread_local size_t in_used, out_used;
/* the path records of an id, as they were read last */
static _Thread_local struct ib_path_rec_data paths[FUZZ_MAX_PATHS];

static struct slot *slot_at(uint64_t n)
{
	return &slots[n % NUM_SLOTS];
}

static uint64_t slot_index(const struct slot *slot)
{
	return slot - slots;
}

static void slot_fill(struct slot *slot, uint32_t handle, unsigned int file, int stage)
{
	slot->handle = handle;
	slot->file = file;
	slot->stage = stage;
}

/* Picks a slot for a new id. The old content of the slot is lost. */
static struct slot *slot_for_new(struct stress_rand *rnd)
{
	struct slot *slot;
	int tries = 8;

	do {
		slot = slot_at(stress_rand_below(rnd, NUM_SLOTS));
	} while (slot->stage != FREE && --tries);
	return slot;
}

static unsigned int file_pick(struct stress_rand *rnd)
{
	return stress_rand_below(rnd, NUM_FILES);
}

/* Allocates a zeroed input of @len bytes, which is valid until the next command. */
static void *in_alloc(size_t len)
{
	void *in = in_buf + in_used;

	in_used += (len + 7) & ~7;
	memset(in, 0, len);
	return in;
}

static void out_add(struct cmxl_cmd *cmd, uint16_t attr, size_t len)
{
	cmxl_cmd_out(cmd, attr, out_buf + out_used, len);
	out_used += (len + 7) & ~7;
}

static void id_add(struct stress_rand *rnd, struct cmxl_cmd *cmd, const struct slot *slot)
{
	uint32_t handle = slot->handle;

	if (stress_rand_percent(rnd, 3))
		handle = slot_at(stress_rand_u32(rnd))->handle;
	else if (stress_rand_percent(rnd, 1))
		handle = stress_rand_u32(rnd) >> stress_rand_below(rnd, 32);
	cmxl_cmd_u32(cmd, CMX_ATTR_ID, handle);
}

static void new_id_add(struct stress_rand *rnd, struct cmxl_cmd *cmd, const struct slot *slot)
{
	static const uint32_t spaces[] = {
		RDMA_PS_TCP, RDMA_PS_TCP, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_UDP, RDMA_PS_IPOIB,
		RDMA_PS_IB,
	};
	static const uint32_t types[] = {
		IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD, IB_UVERBS_QPT_XRC_INI,
		IB_UVERBS_QPT_XRC_TGT,
	};
	uint32_t type = types[stress_rand_below(rnd, ARRAY_SIZE(types))];

	if (stress_rand_percent(rnd, 3))
		type = fuzz_number_pick(rnd);
	cmxl_cmd_u64(cmd, CMX_ATTR_USER_DATA, slot_index(slot));
	cmxl_cmd_u32(cmd, CMX_ATTR_PS, spaces[stress_rand_below(rnd, ARRAY_SIZE(spaces))]);
	cmxl_cmd_u32(cmd, CMX_ATTR_QP_TYPE, type);
	out_add(cmd, CMX_ATTR_OUT_ID, 4);
}

static void addr_add(struct stress_rand *rnd, struct cmxl_cmd *cmd, uint16_t attr, bool local)
{
	static const uint16_t families[] = { AF_UNSPEC, AF_INET, AF_INET6, AF_IB, AF_UNIX };
	struct sockaddr_storage *addr = in_alloc(sizeof(*addr));
	socklen_t len = stress_addr_pick(rnd, addr, local);

	if (stress_rand_percent(rnd, 20))
		len = sizeof(*addr);
	else if (stress_rand_percent(rnd, 2))
		len = stress_rand_below(rnd, sizeof(*addr) + 1);
	if (stress_rand_percent(rnd, 2))
		addr->ss_family = families[stress_rand_below(rnd, ARRAY_SIZE(families))];
	cmxl_cmd_in(cmd, attr, addr, len);
	if (stress_rand_percent(rnd, 2))
		fuzz_bytes_mutate(rnd, addr, sizeof(*addr));
}

static socklen_t group_fill_in4(struct stress_rand *rnd, void *addr)
{
	static const uint32_t odd[] = {
		INADDR_ANY, INADDR_BROADCAST, INADDR_LOOPBACK, 0xe0000001, 0xe00000fb, 0x0a4d0001,
		0x0a4dffff, 0xe8000001, 0xefffffff,
	};
	struct sockaddr_in *in4 = addr;
	uint32_t group = 0xe0010200 + stress_rand_below(rnd, 6);

	if (stress_rand_percent(rnd, 5))
		group = odd[stress_rand_below(rnd, ARRAY_SIZE(odd))];
	in4->sin_family = AF_INET;
	in4->sin_addr.s_addr = htonl(group);
	return sizeof(*in4);
}

static socklen_t group_fill_in6(struct stress_rand *rnd, void *addr)
{
	static const char *const odd[] = {
		"::", "::1", "ff02::1", "ff02::fb", "ff01::1", "fd77::1", "::ffff:224.1.2.3",
		"ff12:401b:ffff::1", "ff12:601b:ffff::1", "ff00::",
	};
	struct sockaddr_in6 *in6 = addr;

	in6->sin6_family = AF_INET6;
	if (stress_rand_percent(rnd, 20)) {
		inet_pton(AF_INET6, odd[stress_rand_below(rnd, ARRAY_SIZE(odd))], &in6->sin6_addr);
		in6->sin6_scope_id = stress_rand_below(rnd, 6);
	} else {
		inet_pton(AF_INET6, "ff0e::4711:0", &in6->sin6_addr);
		in6->sin6_addr.s6_addr[15] = stress_rand_below(rnd, 6);
	}
	return sizeof(*in6);
}

static socklen_t group_fill_ib(struct stress_rand *rnd, void *addr)
{
	struct sockaddr_ib *ib = addr;

	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(stress_rand_percent(rnd, 50) ? 0xffff : stress_rand_u32(rnd));
	ib->sib_addr.sib_addr8[0] = stress_rand_percent(rnd, 80) ? 0xff : stress_rand_u32(rnd);
	ib->sib_addr.sib_addr8[1] = 0x1e;
	ib->sib_addr.sib_addr8[15] = stress_rand_below(rnd, 6);
	return sizeof(*ib);
}

static void group_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	struct sockaddr_storage *addr = in_alloc(sizeof(*addr));
	uint32_t kind = stress_rand_below(rnd, 100);
	socklen_t len = kind < 65 ? group_fill_in4(rnd, addr) :
			kind < 90 ? group_fill_in6(rnd, addr) : group_fill_ib(rnd, addr);

	cmxl_cmd_in(cmd, CMX_ATTR_DST_ADDR, addr, len);
}

static void param_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	struct cmx_conn_param *param = in_alloc(sizeof(*param));

	param->qp_num = stress_qpn_next();
	param->private_data_len = stress_rand_percent(rnd, 30) ? stress_rand_below(rnd, 57) : 0;
	if (stress_rand_percent(rnd, 2))
		param->private_data_len = stress_rand_u32(rnd);
	param->responder_resources = 1;
	param->initiator_depth = 1;
	param->retry_count = 7;
	param->rnr_retry_count = 7;
	param->valid = 1;
	if (stress_rand_percent(rnd, 15))
		((uint8_t *)param)[stress_rand_below(rnd, sizeof(*param))] = stress_rand_u32(rnd);
	cmxl_cmd_in(cmd, CMX_ATTR_CONN_PARAM, param, sizeof(*param));
	if (stress_rand_percent(rnd, 10))
		cmxl_cmd_u64(cmd, CMX_ATTR_ECE, stress_rand_u32(rnd));
}

static void info_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	if (stress_rand_percent(rnd, 50))
		out_add(cmd, CMX_ATTR_INFO, sizeof(struct cmx_id_info));
}

/* Records as some id had them, with changed flags and words; now and then a count or size is wrong. */
static void path_option_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	size_t num = 1 + stress_rand_below(rnd, FUZZ_MAX_PATHS + 1), i;
	struct ib_path_rec_data *recs = in_alloc(num * sizeof(*recs));
	size_t len = num * sizeof(*recs);

	for (i = 0; i < num; i++) {
		recs[i] = paths[stress_rand_below(rnd, FUZZ_MAX_PATHS)];
		if (stress_rand_percent(rnd, 50))
			recs[i].flags = stress_rand_below(rnd, 64);
		while (stress_rand_percent(rnd, 50))
			recs[i].path_rec[stress_rand_below(rnd, ARRAY_SIZE(recs[i].path_rec))] =
				stress_rand_u32(rnd);
	}
	if (stress_rand_percent(rnd, 30))
		recs[0].flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	if (stress_rand_percent(rnd, 5))
		len = stress_rand_below(rnd, len + 1);
	cmxl_cmd_in(cmd, CMX_ATTR_OPT_VALUE, recs, len);
}

/* Most values are valid for the option on some transport. */
static void option_add(struct stress_rand *rnd, struct cmxl_cmd *cmd, bool set)
{
	static const uint8_t bounds[] = {
		0, 31, 15, 23, 200, 15, 15, 255, 255, 2, 255, 5, 2, 1, 1, 8,
	};
	bool own = stress_rand_percent(rnd, 60);
	uint32_t name = stress_rand_below(rnd, own ? ARRAY_SIZE(bounds) + 1 : 4);
	uint32_t value = stress_rand_below(rnd, own && name < sizeof(bounds) ? bounds[name] + 1 : 2);
	uint32_t level = own ? CMX_OPTION : RDMA_OPTION_ID;

	if (stress_rand_percent(rnd, 10)) {
		level = RDMA_OPTION_IB;
		name = RDMA_OPTION_IB_PATH;
	}
	cmxl_cmd_u32(cmd, CMX_ATTR_OPT_LEVEL, level);
	cmxl_cmd_u32(cmd, CMX_ATTR_OPT_NAME, name);
	if (stress_rand_percent(rnd, 3))
		value = fuzz_number_pick(rnd);
	if (set && level == RDMA_OPTION_IB) {
		path_option_add(rnd, cmd);
	} else if (set) {
		cmxl_cmd_u32(cmd, CMX_ATTR_OPT_VALUE, value);
	} else {
		out_add(cmd, CMX_ATTR_OPT_OUT, stress_rand_percent(rnd, 80) ? 4 : CMX_OPT_MAX_LEN);
		out_add(cmd, CMX_ATTR_COUNT, 4);
		out_add(cmd, CMX_ATTR_OPT_FLAGS, 4);
	}
}

static void mcast_attr_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	struct cmx_mcast_attr *attr = in_alloc(sizeof(*attr));

	attr->join_state = stress_rand_below(rnd, 20) ? stress_rand_below(rnd, 2)
						      : stress_rand_below(rnd, 5);
	if (stress_rand_percent(rnd, 10)) {
		attr->mask = 1 << stress_rand_below(rnd, 9);
		attr->qkey = stress_rand_u32(rnd);
		attr->pkey = 0xffff;
		attr->mtu = attr->rate = 1 + stress_rand_below(rnd, 5);
		attr->hop_limit = 1;
	}
	cmxl_cmd_in(cmd, CMX_ATTR_MCAST, attr, sizeof(*attr));
}

/* Each output may be missing. Two of them may have almost any length. */
static void channel_info_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	if (stress_rand_percent(rnd, 80))
		out_add(cmd, CMX_ATTR_VERSION, 4);
	if (stress_rand_percent(rnd, 50))
		out_add(cmd, CMX_ATTR_VERSION_MIN, 4);
	if (stress_rand_percent(rnd, 50))
		out_add(cmd, CMX_ATTR_MODULE_INFO,
			stress_rand_below(rnd, 2 * sizeof(struct cmx_module_info)));
	if (stress_rand_percent(rnd, 50))
		out_add(cmd, CMX_ATTR_OPTIONS,
			stress_rand_below(rnd, 40 * sizeof(struct cmx_id_option)));
}

static void channel_cmd_build(struct stress_rand *rnd, struct cmxl_cmd *cmd, enum call call,
			      const struct slot *slot)
{
	static const struct cmx_event_sizes sizes = {
		.resp = sizeof(struct cmx_event_resp), .info = sizeof(struct cmx_id_info),
	};

	cmxl_cmd_init(cmd, CMX_OBJ_CHANNEL, call - INFO);
	if (call == INFO) {
		channel_info_add(rnd, cmd);
	} else if (call == GET_EVENTS) {
		cmxl_cmd_in(cmd, CMX_ATTR_EVENT_SIZES, &sizes, sizeof(sizes));
		out_add(cmd, CMX_ATTR_EVENTS, NUM_EVENTS * sizeof(struct cmx_event_record));
		out_add(cmd, CMX_ATTR_COUNT, 4);
	} else if (call == LIST_IDS) {
		cmxl_cmd_u32(cmd, CMX_ATTR_RECORD_SIZE, sizeof(struct cmx_id_record) - 8 +
			     8 * stress_rand_below(rnd, 20));
		cmxl_cmd_u64(cmd, CMX_ATTR_CURSOR, stress_rand_percent(rnd, 50) ? 0 :
			     stress_rand_u32(rnd));
		out_add(cmd, CMX_ATTR_LIST, CMX_LIST_MIN_LEN * (1 + stress_rand_below(rnd, 8)));
		out_add(cmd, CMX_ATTR_COUNT, 4);
		out_add(cmd, CMX_ATTR_NEXT_CURSOR, 8);
	} else if (call == KILL) {
		id_add(rnd, cmd, slot);
	} else if (call == GET_RULES) {
		out_add(cmd, CMX_ATTR_RULES, sizeof(struct cmx_rule) * (1 + stress_rand_below(rnd, 4)));
		out_add(cmd, CMX_ATTR_COUNT, 4);
		out_add(cmd, CMX_ATTR_GENERATION, 8);
	}
}

/* The name and the ID may be missing. */
static void service_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	if (stress_rand_percent(rnd, 50))
		cmxl_cmd_u64(cmd, CMX_ATTR_SERVICE_ID, stress_rand_u32(rnd));
	if (stress_rand_percent(rnd, 80))
		cmxl_cmd_in(cmd, CMX_ATTR_SERVICE_NAME, memset(in_alloc(SERVICE_NAME_LEN), 's', 8),
			    stress_rand_percent(rnd, 80) ? 8 : stress_rand_below(rnd, SERVICE_NAME_LEN));
}

static void services_query_add(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	uint32_t size = sizeof(struct cmx_service_rec);

	if (stress_rand_percent(rnd, 20))
		size = 8 * stress_rand_below(rnd, 80);
	cmxl_cmd_u32(cmd, CMX_ATTR_RECORD_SIZE, size);
	out_add(cmd, CMX_ATTR_SERVICES, sizeof(struct cmx_service_rec) * (1 + stress_rand_below(rnd, 4)));
	out_add(cmd, CMX_ATTR_COUNT, 4);
}

static void mcast_cmd_build(struct stress_rand *rnd, struct cmxl_cmd *cmd, enum call call,
			    const struct slot *slot, const struct slot *new)
{
	cmxl_cmd_init(cmd, CMX_OBJ_MCAST, call - JOIN);
	if (call != JOIN) {
		cmxl_cmd_u32(cmd, CMX_ATTR_MCAST_ID, slot->handle);
		if (call == LEAVE)
			out_add(cmd, CMX_ATTR_COUNT, 4);
		return;
	}
	id_add(rnd, cmd, slot);
	group_add(rnd, cmd);
	cmxl_cmd_u64(cmd, CMX_ATTR_USER_DATA, slot_index(new));
	if (stress_rand_percent(rnd, 50))
		mcast_attr_add(rnd, cmd);
	out_add(cmd, CMX_ATTR_OUT_ID, 4);
}

static void id_cmd_build(struct stress_rand *rnd, struct cmxl_cmd *cmd, enum call call,
			 const struct slot *slot, const struct slot *new)
{
	cmxl_cmd_init(cmd, CMX_OBJ_ID, call - CREATE);
	if (call == CREATE || (slot->stage == FREE && (call == BIND || call == RESOLVE_ADDR)))
		new_id_add(rnd, cmd, new);
	else
		id_add(rnd, cmd, slot);
	switch (call) {
	case DESTROY:
		out_add(cmd, CMX_ATTR_COUNT, 4);
		break;
	case BIND:
		addr_add(rnd, cmd, CMX_ATTR_SRC_ADDR, true);
		break;
	case RESOLVE_ADDR:
		addr_add(rnd, cmd, CMX_ATTR_DST_ADDR, false);
		if (stress_rand_percent(rnd, 15))
			addr_add(rnd, cmd, CMX_ATTR_SRC_ADDR, true);
		/* fall through */
	case RESOLVE_ROUTE:
		cmxl_cmd_u32(cmd, CMX_ATTR_TIMEOUT, stress_rand_percent(rnd, 80) ? 2000 :
			     stress_rand_percent(rnd, 80) ? stress_rand_below(rnd, 20) :
			     fuzz_number_pick(rnd));
		break;
	case LISTEN:
		cmxl_cmd_u32(cmd, CMX_ATTR_BACKLOG, stress_rand_percent(rnd, 90) ?
			     stress_rand_below(rnd, 20) : fuzz_number_pick(rnd));
		break;
	case CONNECT:
		param_add(rnd, cmd);
		break;
	case ACCEPT:
		param_add(rnd, cmd);
		/* fall through */
	case ESTABLISH:
		if (stress_rand_percent(rnd, 90))
			cmxl_cmd_u64(cmd, CMX_ATTR_USER_DATA, slot_index(slot));
		break;
	case REJECT:
		if (stress_rand_percent(rnd, 50))
			cmxl_cmd_in(cmd, CMX_ATTR_PRIVATE_DATA, in_alloc(256),
				    stress_rand_below(rnd, 150));
		break;
	case NOTIFY:
		cmxl_cmd_u32(cmd, CMX_ATTR_NOTIFY, stress_rand_percent(rnd, 70) ? 4 :
			     stress_rand_percent(rnd, 90) ? stress_rand_below(rnd, 24) :
			     fuzz_number_pick(rnd));
		break;
	case INIT_QP_ATTR:
		cmxl_cmd_u32(cmd, CMX_ATTR_QP_STATE, stress_rand_percent(rnd, 80) ?
			     1 + stress_rand_below(rnd, 3) : stress_rand_percent(rnd, 80) ?
			     stress_rand_below(rnd, 9) : fuzz_number_pick(rnd));
		out_add(cmd, CMX_ATTR_QP_ATTR, sizeof(struct ib_uverbs_qp_attr));
		break;
	case SET_OPTION:
	case GET_OPTION:
		option_add(rnd, cmd, call == SET_OPTION);
		break;
	case MIGRATE:
		cmxl_cmd_u32(cmd, CMX_ATTR_FD, fds[slot->file]);
		out_add(cmd, CMX_ATTR_OUT_ID, 4);
		out_add(cmd, CMX_ATTR_COUNT, 4);
		break;
	case WRITE_EVENT:
		cmxl_cmd_u32(cmd, CMX_ATTR_EVENT, stress_rand_percent(rnd, 80) ? CMX_EVENT_USER :
			     stress_rand_below(rnd, 20));
		cmxl_cmd_u32(cmd, CMX_ATTR_STATUS, stress_rand_u32(rnd));
		cmxl_cmd_u64(cmd, CMX_ATTR_ARG, stress_rand_u32(rnd));
		break;
	case RESOLVE_SERVICE:
		service_add(rnd, cmd);
		break;
	case QUERY_SERVICES:
		services_query_add(rnd, cmd);
		break;
	case QUERY:
		out_add(cmd, CMX_ATTR_ECE_INFO, sizeof(struct cmx_ece_info));
		break;
	default:
		break;
	}
	if (call == BIND || (call >= RESOLVE_ADDR && call <= CONNECT))
		info_add(rnd, cmd);
}

static const void *out_find(const struct cmxl_cmd *cmd, uint16_t id)
{
	unsigned int i;

	for (i = 0; i < cmd->hdr.num_attrs; i++)
		if (cmd->hdr.attrs[i].attr_id == id)
			return (void *)(uintptr_t)cmd->hdr.attrs[i].data;
	return NULL;
}

/* Keeps path records that were read. */
static void path_keep(const struct cmxl_cmd *cmd)
{
	const struct ib_path_rec_data *recs = out_find(cmd, CMX_ATTR_OPT_OUT);
	const uint32_t *len = out_find(cmd, CMX_ATTR_COUNT);

	if (recs && len && *len >= sizeof(*recs) && *len <= sizeof(paths))
		memcpy(paths, recs, *len / sizeof(*recs) * sizeof(*recs));
}

static void event_handle(struct stress_rand *rnd, const struct cmx_event_resp *resp,
			 unsigned int file)
{
	enum stress_stage stage = stress_event_count(resp->event);
	struct slot *slot = slot_at(resp->user_data);

	if (resp->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		slot_fill(slot_for_new(rnd), resp->id, file, REQUEST);
	else if (stage && slot->handle == resp->id)
		slot->stage = stage;
}

/* Updates the slots after a successful call. */
static void result_handle(struct stress_rand *rnd, const struct cmxl_cmd *cmd, enum call call,
			  struct slot *slot, struct slot *new, unsigned int file)
{
	static const uint8_t stages[NUM_CALLS] = {
		[BIND] = BOUND, [RESOLVE_ADDR] = WAITING, [RESOLVE_ROUTE] = WAITING,
		[LISTEN] = LISTENING, [CONNECT] = WAITING, [ACCEPT] = WAITING,
		[ESTABLISH] = CONNECTED, [REJECT] = OVER, [DISCONNECT] = OVER,
		[RESOLVE_SERVICE] = WAITING,
	};
	const uint32_t *handle = out_find(cmd, CMX_ATTR_OUT_ID);
	const uint32_t *count = out_find(cmd, CMX_ATTR_COUNT);
	const struct cmx_event_record *record = out_find(cmd, CMX_ATTR_EVENTS);
	uint32_t i;

	if (call == GET_OPTION) {
		path_keep(cmd);
	} else if (call == GET_EVENTS) {
		for (i = 0; count && record && i < *count && i < NUM_EVENTS; i++)
			event_handle(rnd, &record[i].resp, file);
	} else if (call == JOIN) {
		slot_fill(new, *handle, file, MEMBER);
	} else if (call == MIGRATE) {
		slot_fill(slot, *handle, file, slot->stage);
	} else if (call == DESTROY || call == LEAVE) {
		slot->stage = FREE;
	} else {
		if (handle)
			slot_fill(slot, *handle, file, IDLE);
		if (stages[call])
			slot->stage = stages[call];
	}
}

/* Allows a fetch to wait only on a file that gets events for as long as this process exists. */
static bool wait_allow(struct stress_rand *rnd, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, stress_rand_below(rnd, 3)) == 1)
		return true;
	return stress_rand_percent(rnd, 5);
}

static void command_issue(struct stress_rand *rnd, struct cmxl_cmd *cmd, enum call call,
			  struct slot *slot, struct slot *new, unsigned int file)
{
	bool wrong = stress_rand_percent(rnd, 8);
	int fd = fds[file], ret;

	cmd->hdr.length = sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->hdr.attrs[0]);
	if (wrong) {
		fuzz_cmd_mutate(rnd, cmd);
		call = WRONG;
	}
	if (call == GET_EVENTS && !wait_allow(rnd, fd))
		return;
	stress_call_begin(call);
	ret = ioctl(fd, CMX_IOCTL, cmd);
	stress_call_end(call, !ret);
	if (!ret && !wrong)
		result_handle(rnd, cmd, call, slot, new, file);
	/* no other process has a handle that this one has lost */
	if (ret && errno == ENOENT && slot->stage != FREE && stress_rand_percent(rnd, 50))
		slot->stage = FREE;
}

static void fuzz_call(struct stress_rand *rnd)
{
	struct slot *slot = slot_at(stress_rand_u32(rnd)), *new;
	enum call call = fitting[slot->stage][stress_rand_below(rnd, 4)];
	unsigned int file = slot->stage == FREE ? file_pick(rnd) : slot->file;
	struct cmxl_cmd cmd;

	if (stress_rand_percent(rnd, 15))
		call = stress_rand_below(rnd, WRONG);
	/* an id moves to another file; any other call rarely uses the wrong file */
	if (call == MIGRATE || stress_rand_percent(rnd, 1))
		file = file_pick(rnd);
	new = slot->stage == FREE ? slot : slot_for_new(rnd);
	in_used = 0;
	out_used = 0;
	if (call < CREATE)
		channel_cmd_build(rnd, &cmd, call, slot);
	else if (call >= JOIN)
		mcast_cmd_build(rnd, &cmd, call, slot, new);
	else
		id_cmd_build(rnd, &cmd, call, slot, new);
	command_issue(rnd, &cmd, call, call == CREATE ? new : slot, new, file);
}

static int file_open(struct stress_rand *rnd)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC | (stress_rand_percent(rnd, 80) ? O_NONBLOCK : 0));
}

/* Replaces a file by a new one, which destroys all its ids. */
static void file_replace(struct stress_rand *rnd)
{
	close(atomic_exchange(&fds[file_pick(rnd)], file_open(rnd)));
}

static void fuzz_step(struct stress_rand *rnd)
{
	uint32_t odd = stress_rand_below(rnd, 2000);

	if (odd < 3)
		file_replace(rnd);
	else if (odd < 5)
		stress_fork(rnd, 20 + stress_rand_below(rnd, 100));
	else
		fuzz_call(rnd);
}

static void fuzz_process_init(struct stress_rand *rnd)
{
	unsigned int i;

	/* the module also has callers without capabilities */
	if (stress_rand_percent(rnd, 20) && setuid(NOBODY))
		err(2, "setuid");
	for (i = 0; i < NUM_FILES; i++) {
		fds[i] = file_open(rnd);
		if (fds[i] < 0)
			err(2, DEVICE);
	}
}

int main(int argc, char **argv)
{
	static const struct stress_fuzzer fuzzer = {
		.names = call_names, .num = NUM_CALLS, .process_init = fuzz_process_init,
		.step = fuzz_step,
	};

	return stress_main(argc, argv, &fuzzer);
}
