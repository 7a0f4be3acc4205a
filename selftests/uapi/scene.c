// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Brings an id to the state that a method needs. Both ends of a connection use one channel.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "uapi.h"

#define DEVICE "/dev/infiniband/" CMX_DEVICE_NAME
#define TIMEOUT_MS 2000

const char *const stage_names[NUM_STAGES] = {
	[NOTHING] = "no id", [IDLE] = "an idle id", [BOUND] = "a bound id",
	[UD] = "a bound datagram id", [ADDR] = "an id with an address",
	[ROUTE] = "an id with a route", [EVENT] = "an event", [REQUEST] = "a request",
	[ACCEPTED] = "an accepted request", [RESPONSE] = "a response",
	[CONNECTED] = "a connection", [JOINED] = "a membership",
	[ELSEWHERE] = "an id elsewhere",
};

/* 10.77.0.1, or on hardware CMX_ADDR */
struct sockaddr_in local = { .sin_family = AF_INET };

uint32_t last_qpn;

/* Each call returns another QP number, because the CM treats a reused one as a stale connection. */
const struct cmx_conn_param *conn_param(void)
{
	static struct cmx_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.rnr_retry_count = 7, .valid = 1,
	};

	if (!last_qpn)
		last_qpn = getpid() << 10;
	last_qpn = (last_qpn + 1) & 0xffffff;
	param.qp_num = last_qpn;
	return &param;
}

int dev_open(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

void id_cmd(struct cmd *c, uint16_t method, uint32_t id)
{
	cmd_init(c, CMX_OBJ_ID, method);
	cmd_u32(c, CMX_ATTR_ID, id);
}

int id_create(int fd, uint32_t ps, uint64_t uid, uint32_t *id)
{
	struct cmd c;

	cmd_init(&c, CMX_OBJ_ID, CMX_ID_CREATE);
	cmd_u64(&c, CMX_ATTR_USER_DATA, uid);
	cmd_u32(&c, CMX_ATTR_PS, ps);
	cmd_u32(&c, CMX_ATTR_QP_TYPE, ps == CMX_PS_TCP ? CMX_QPT_RC : CMX_QPT_UD);
	cmd_out(&c, CMX_ATTR_OUT_ID, id, sizeof(*id));
	return cmd_issue(&c, fd);
}

int id_destroy(int fd, uint32_t id, uint32_t *fetched)
{
	uint32_t unused;
	struct cmd c;

	id_cmd(&c, CMX_ID_DESTROY, id);
	cmd_out(&c, CMX_ATTR_COUNT, fetched ? fetched : &unused, sizeof(unused));
	return cmd_issue(&c, fd);
}

int id_bind(int fd, uint32_t id, struct sockaddr_in *addr)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_BIND, id);
	cmd_in(&c, CMX_ATTR_SRC_ADDR, addr, sizeof(*addr));
	return cmd_issue(&c, fd);
}

int id_listen(int fd, uint32_t id, int backlog, uint16_t *port)
{
	struct cmx_id_info info;
	struct cmd c;
	int ret;

	id_cmd(&c, CMX_ID_LISTEN, id);
	cmd_u32(&c, CMX_ATTR_BACKLOG, backlog);
	cmd_out(&c, CMX_ATTR_INFO, &info, sizeof(info));
	ret = cmd_issue(&c, fd);
	if (!ret && port)
		*port = ((struct sockaddr_in *)&info.src_addr)->sin_port;
	return ret;
}

int id_resolve_to(int fd, uint32_t id, const struct sockaddr_in *dst)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_RESOLVE_ADDR, id);
	cmd_in(&c, CMX_ATTR_DST_ADDR, dst, sizeof(*dst));
	cmd_u32(&c, CMX_ATTR_TIMEOUT, TIMEOUT_MS);
	return cmd_issue(&c, fd);
}

int id_resolve(int fd, uint32_t id, uint16_t port)
{
	struct sockaddr_in dst = local;

	dst.sin_port = port;
	return id_resolve_to(fd, id, &dst);
}

int id_route(int fd, uint32_t id)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_RESOLVE_ROUTE, id);
	cmd_u32(&c, CMX_ATTR_TIMEOUT, TIMEOUT_MS);
	return cmd_issue(&c, fd);
}

int id_connect(int fd, uint32_t id)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_CONNECT, id);
	cmd_in(&c, CMX_ATTR_CONN_PARAM, conn_param(), sizeof(struct cmx_conn_param));
	return cmd_issue(&c, fd);
}

int id_accept_qp(int fd, uint32_t id, uint64_t uid, const struct cmx_conn_param *param)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_ACCEPT, id);
	cmd_in(&c, CMX_ATTR_CONN_PARAM, param, sizeof(*param));
	cmd_u64(&c, CMX_ATTR_USER_DATA, uid);
	return cmd_issue(&c, fd);
}

int id_accept(int fd, uint32_t id, uint64_t uid)
{
	return id_accept_qp(fd, id, uid, conn_param());
}

int id_establish(int fd, uint32_t id, uint64_t uid)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_ESTABLISH, id);
	cmd_u64(&c, CMX_ATTR_USER_DATA, uid);
	return cmd_issue(&c, fd);
}

int id_disconnect(int fd, uint32_t id)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_DISCONNECT, id);
	cmd_u32(&c, CMX_ATTR_QP_STATE, 6);	/* ERR */
	return cmd_issue(&c, fd);
}

int id_join(int fd, uint32_t id, uint32_t group, uint64_t uid, uint32_t *mc)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(group) };
	struct cmd c;

	cmd_init(&c, CMX_OBJ_MCAST, CMX_MCAST_JOIN);
	cmd_u32(&c, CMX_ATTR_ID, id);
	cmd_in(&c, CMX_ATTR_DST_ADDR, &addr, sizeof(addr));
	cmd_u64(&c, CMX_ATTR_USER_DATA, uid);
	cmd_out(&c, CMX_ATTR_OUT_ID, mc, sizeof(*mc));
	return cmd_issue(&c, fd);
}

int mc_leave(int fd, uint32_t mc, uint32_t *fetched)
{
	uint32_t unused;
	struct cmd c;

	cmd_init(&c, CMX_OBJ_MCAST, CMX_MCAST_LEAVE);
	cmd_u32(&c, CMX_ATTR_MCAST_ID, mc);
	cmd_out(&c, CMX_ATTR_COUNT, fetched ? fetched : &unused, sizeof(unused));
	return cmd_issue(&c, fd);
}

int id_migrate(int fd, uint32_t id, int from, uint32_t *new_id, uint32_t *fetched)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_MIGRATE, id);
	cmd_u32(&c, CMX_ATTR_FD, from);
	cmd_out(&c, CMX_ATTR_OUT_ID, new_id, sizeof(*new_id));
	cmd_out(&c, CMX_ATTR_COUNT, fetched, sizeof(*fetched));
	return cmd_issue(&c, fd);
}

const struct cmx_event_sizes event_sizes = {
	.resp = sizeof(struct cmx_event_resp), .info = sizeof(struct cmx_id_info),
};

int event_write(int fd, uint32_t id, uint32_t type, int status, uint64_t arg)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_WRITE_EVENT, id);
	cmd_u32(&c, CMX_ATTR_EVENT, type);
	cmd_u32(&c, CMX_ATTR_STATUS, status);
	cmd_u64(&c, CMX_ATTR_ARG, arg);
	return cmd_issue(&c, fd);
}

pid_t child_start(int (*fn)(void *arg), void *arg, int flags)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	return clone(fn, stack + sizeof(stack), flags | SIGCHLD, arg);
}

int ids_list(int fd, uint32_t size, uint64_t *cursor, void *to, size_t len, uint32_t *count)
{
	struct cmd c;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_LIST_IDS);
	cmd_u32(&c, CMX_ATTR_RECORD_SIZE, size);
	cmd_u64(&c, CMX_ATTR_CURSOR, *cursor);
	cmd_out(&c, CMX_ATTR_LIST, to, len);
	cmd_out(&c, CMX_ATTR_COUNT, count, sizeof(*count));
	cmd_out(&c, CMX_ATTR_NEXT_CURSOR, cursor, sizeof(*cursor));
	return cmd_issue(&c, fd);
}

int events_get_sized(int fd, const struct cmx_event_sizes *sizes, void *to, size_t len,
		     uint32_t *count)
{
	struct cmd c;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_EVENTS);
	cmd_in(&c, CMX_ATTR_EVENT_SIZES, sizes, sizeof(*sizes));
	cmd_out(&c, CMX_ATTR_EVENTS, to, len);
	cmd_out(&c, CMX_ATTR_COUNT, count, sizeof(*count));
	return cmd_issue(&c, fd);
}

int events_get_into(int fd, void *to, size_t len, uint32_t *count)
{
	return events_get_sized(fd, &event_sizes, to, len, count);
}

int get_events(int fd, struct cmx_event_record *records, int n, uint32_t *count)
{
	return events_get_into(fd, records, n * sizeof(*records), count);
}

bool fd_is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

struct cmx_event_resp *next_event(int fd, int type)
{
	static struct cmx_event_record record;
	struct cmx_event_resp *resp = &record.resp;
	uint32_t count;

	memset(&record, 0, sizeof(record));
	if (!CHECK(fd_is_readable(fd, slow_time(10000)), "event %d", type) ||
	    !CHECK(!get_events(fd, &record, 1, &count)) ||
	    !CHECK((int)resp->event == type, "event %u, status %d, not %d", resp->event,
		   resp->status, type))
		return NULL;
	return resp;
}

static bool listener_open(struct scene *s)
{
	struct sockaddr_in addr = local;

	addr.sin_port = 0;
	return CHECK(!id_create(s->fd, CMX_PS_TCP, 100, &s->listener)) &&
	       CHECK(!id_bind(s->fd, s->listener, &addr)) &&
	       CHECK(!id_listen(s->fd, s->listener, 0, &s->port));
}

static bool scene_bind(struct scene *s, uint32_t ps)
{
	struct sockaddr_in addr = local;

	return CHECK(!id_create(s->fd, ps, 1, &s->id)) && CHECK(!id_bind(s->fd, s->id, &addr));
}

static bool scene_resolve_addr(struct scene *s)
{
	return listener_open(s) && CHECK(!id_create(s->fd, CMX_PS_TCP, 1, &s->id)) &&
	       CHECK(!id_resolve(s->fd, s->id, s->port)) && next_event(s->fd, 0);
}

static bool scene_route(struct scene *s)
{
	return scene_resolve_addr(s) && CHECK(!id_route(s->fd, s->id)) && next_event(s->fd, 2);
}

static uint32_t scene_request(struct scene *s)
{
	struct cmx_event_resp *resp;

	if (!scene_route(s) || !CHECK(!id_connect(s->fd, s->id)))
		return 0;
	resp = next_event(s->fd, 4);
	return resp ? resp->id : 0;
}

/* Accepts the request, without the answer of the other end. */
static uint32_t scene_accept(struct scene *s)
{
	uint32_t child = scene_request(s);

	return child && CHECK(!id_accept(s->fd, child, 200)) && next_event(s->fd, 5) ? child : 0;
}

bool scene_open(struct scene *s, enum stage stage)
{
	memset(s, 0, sizeof(*s));
	s->fd = dev_open();
	s->other = dev_open();
	if (!CHECK(s->fd >= 0 && s->other >= 0))
		return false;
	switch (stage) {
	case NOTHING:
		return true;
	case IDLE:
		return CHECK(!id_create(s->fd, CMX_PS_TCP, 1, &s->id));
	case BOUND:
		return scene_bind(s, CMX_PS_TCP);
	case UD:
		return scene_bind(s, CMX_PS_UDP);
	case ADDR:
		return scene_resolve_addr(s);
	case ROUTE:
		return scene_route(s);
	case EVENT:
		return CHECK(!id_create(s->fd, CMX_PS_TCP, 1, &s->id)) &&
		       CHECK(!id_resolve(s->fd, s->id, 7)) && CHECK(fd_is_readable(s->fd, 10000));
	case REQUEST:
		s->id = scene_request(s);
		return s->id;
	case ACCEPTED:
		s->id = scene_accept(s);
		return s->id;
	case RESPONSE:
		return scene_accept(s);
	case CONNECTED:
		return scene_accept(s) && CHECK(!id_establish(s->fd, s->id, 1)) &&
		       next_event(s->fd, 9);
	case JOINED:
		return scene_bind(s, CMX_PS_UDP) &&
		       CHECK(!id_join(s->fd, s->id, 0xe0010203, 300, &s->mc)) &&
		       next_event(s->fd, 12);
	case ELSEWHERE:
		return CHECK(!id_create(s->other, CMX_PS_TCP, 1, &s->id));
	default:
		return false;
	}
}

void scene_close(struct scene *s)
{
	close(s->fd);
	close(s->other);
}
