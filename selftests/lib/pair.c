// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "address.h"
#include "pair.h"
#include "slow.h"
#include "tap.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define RESOLVE_MS	2000
#define BACKLOG		8
#define EXIT_CREATE	3

int event_wait_ms = 15000;

static struct {
	const struct rdma_cm_id *id;
	const char *name;
} labels[256];

static unsigned int num_labels;

__attribute__((weak)) long call_report(long ret, int err, const char *fmt, ...)
{
	va_list args;

	if (!ret)
		return 0;
	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %s\n", strerror(err));
	exit(1);
}

__attribute__((weak)) void event_report(const struct rdma_cm_event *ev, bool expected)
{
	(void)ev;
	(void)expected;
}

__attribute__((weak)) int port_real(int port)
{
	return port;
}

void id_label(const struct rdma_cm_id *id, const char *name)
{
	if (num_labels == ARRAY_SIZE(labels))
		return;
	labels[num_labels].id = id;
	labels[num_labels++].name = name;
}

static void id_unlabel(const struct rdma_cm_id *id)
{
	unsigned int i;

	for (i = 0; i < num_labels; i++)
		if (labels[i].id == id)
			labels[i].id = NULL;
}

const char *id_name(const struct rdma_cm_id *id)
{
	unsigned int i;

	if (!id)
		return "none";
	for (i = num_labels; i--;)
		if (labels[i].id == id)
			return labels[i].name;
	return "unknown";
}

const char *ip_addr_real(const char *addr)
{
	const char *real = address_real(addr);

	if (!real)
		tap_case_skip("needs the address %s", addr);
	return real;
}

/* On a host without IPv6 (ipv6.disable=1) the in-tree stack panics when it looks up such an address. */
static void ipv6_need(void)
{
	static int fd;

	if (!fd)
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		tap_case_skip("this host has no IPv6");
}

struct sockaddr *ip_addr(const char *addr, int port)
{
	static struct sockaddr_storage ring[8];
	static unsigned int turn;
	struct sockaddr_storage *ss = &ring[turn++ % ARRAY_SIZE(ring)];

	*ss = address_parse(ip_addr_real(addr), port_real(port));
	if (ss->ss_family == AF_INET6)
		ipv6_need();
	return (struct sockaddr *)ss;
}

struct rdma_event_channel *channel_create(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	if (!ch) {
		call_report(-1, errno, "create_event_channel");
		exit(EXIT_CREATE);
	}
	return ch;
}

struct rdma_cm_id *id_create(struct rdma_event_channel *ch, const char *name, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;

	if (CALL(rdma_create_id(ch, &id, NULL, ps), "create_id %s ps=%#x", name, ps))
		exit(EXIT_CREATE);
	id_label(id, name);
	return id;
}

int id_destroy(struct rdma_cm_id *id)
{
	const char *name = id_name(id);

	if (!id)
		return 0;
	id_unlabel(id);
	return CALL(rdma_destroy_id(id), "destroy_id %s", name);
}

int id_bind(struct rdma_cm_id *id, const char *addr, int port)
{
	return CALL(rdma_bind_addr(id, ip_addr(addr, port)), "bind %s %s:%d", id_name(id), addr, port);
}

int id_listen(struct rdma_cm_id *id, int backlog)
{
	return CALL(rdma_listen(id, backlog), "listen %s backlog=%d", id_name(id), backlog);
}

int id_resolve_addr(struct rdma_cm_id *id, const char *src, const char *dst, int port)
{
	return CALL(rdma_resolve_addr(id, src ? ip_addr(src, 0) : NULL, ip_addr(dst, port), RESOLVE_MS),
		    "resolve_addr %s src=%s dst=%s:%d", id_name(id), src ? src : "-", dst, port);
}

int id_resolve_route(struct rdma_cm_id *id)
{
	return CALL(rdma_resolve_route(id, RESOLVE_MS), "resolve_route %s", id_name(id));
}

struct rdma_cm_event *event_next(struct rdma_event_channel *ch, int ms)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };
	struct rdma_cm_event *ev = NULL;

	if (poll(&p, 1, ms < 0 ? ms : slow_time(ms)) != 1)
		errno = EAGAIN;
	else if (rdma_get_cm_event(ch, &ev))
		call_report(-1, errno, "get_cm_event");
	return ev;
}

/* Returns the next event, or NULL unless it is of type @type. The id of a request is called @name. */
static struct rdma_cm_event *event_fetch(struct rdma_event_channel *ch, enum rdma_cm_event_type type,
					 const char *name)
{
	struct rdma_cm_event *ev = event_next(ch, event_wait_ms);

	if (!ev) {
		if (errno == EAGAIN)
			call_report(-1, ETIMEDOUT, "%s", rdma_event_str(type));
		return NULL;
	}
	if (name && ev->event == type)
		id_label(ev->id, name);
	event_report(ev, ev->event == type);
	if (ev->event == type)
		return ev;
	call_report(-1, ev->status < 0 ? -ev->status : EPROTO, "%s %d, not %s", rdma_event_str(ev->event),
		    ev->status, rdma_event_str(type));
	rdma_ack_cm_event(ev);
	return NULL;
}

int event_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev = event_fetch(ch, type, NULL);
	int status;

	if (!ev)
		return -1;
	status = ev->status;
	rdma_ack_cm_event(ev);
	return status;
}

struct rdma_cm_id *event_expect_request(struct rdma_event_channel *ch, const char *name)
{
	struct rdma_cm_event *ev = event_fetch(ch, RDMA_CM_EVENT_CONNECT_REQUEST, name);
	struct rdma_cm_id *id;

	if (!ev)
		return NULL;
	id = ev->id;
	rdma_ack_cm_event(ev);
	return id;
}

/* Takes an event of a step, which must have the status 0. */
static int event_take(struct rdma_event_channel *ch, enum rdma_cm_event_type type)
{
	int status = event_expect(ch, type);

	if (status > 0 || status < -1)
		call_report(-1, -status, "%s %d", rdma_event_str(type), status);
	return status ? -1 : 0;
}

int id_resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id, const char *dst, int port)
{
	if (id_resolve_addr(id, NULL, dst, port) || event_take(ch, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	    id_resolve_route(id))
		return -1;
	return event_take(ch, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static const char *pair_addr(const struct pair *p)
{
	return p->addr ? p->addr : "10.77.0.1";
}

static int pair_qp_create(struct pair *p, struct rdma_cm_id *id)
{
	return p->qp_create ? p->qp_create(id, id->qp_type) : 0;
}

int pair_listen(struct pair *p, enum rdma_port_space ps)
{
	if (!p->lch)
		p->lch = channel_create();
	if (!p->listener)
		p->listener = id_create(p->lch, "lst", ps);
	return id_bind(p->listener, pair_addr(p), p->port) || id_listen(p->listener, BACKLOG) ? -1 : 0;
}

int pair_route(struct pair *p, enum rdma_port_space ps)
{
	int port = p->port;

	if (!p->ch)
		p->ch = channel_create();
	if (!p->id)
		p->id = id_create(p->ch, "cli", ps);
	if (!port && p->listener)
		port = ntohs(rdma_get_src_port(p->listener));
	return id_resolve(p->ch, p->id, pair_addr(p), port) || pair_qp_create(p, p->id) ? -1 : 0;
}

int pair_prepare(struct pair *p, enum rdma_port_space ps)
{
	int ret = pair_listen(p, ps);

	return pair_route(p, ps) || ret ? -1 : 0;
}

int pair_request_with(struct pair *p, enum rdma_port_space ps, struct rdma_conn_param *param)
{
	if (!p->id && (pair_listen(p, ps) || pair_route(p, ps)))
		return -1;
	if (CALL(rdma_connect(p->id, param), "connect cli"))
		return -1;
	p->child = event_expect_request(p->lch, "srv");
	return !p->child || pair_qp_create(p, p->child) ? -1 : 0;
}

int pair_request(struct pair *p, enum rdma_port_space ps)
{
	return pair_request_with(p, ps, &p->param);
}

/* A client with a QP of librdmacm is established at once, and so is one for datagrams. */
static bool pair_must_establish(const struct pair *p)
{
	return !p->id->qp && p->id->qp_type != IBV_QPT_UD;
}

int pair_accept(struct pair *p)
{
	struct rdma_conn_param param = p->param;

	param.qp_num++;
	if (CALL(rdma_accept(p->child, &param), "accept srv"))
		return -1;
	return event_take(p->ch, pair_must_establish(p) ? RDMA_CM_EVENT_CONNECT_RESPONSE :
							  RDMA_CM_EVENT_ESTABLISHED);
}

int pair_connect(struct pair *p, enum rdma_port_space ps)
{
	if ((!p->child && pair_request(p, ps)) || pair_accept(p) ||
	    (pair_must_establish(p) && CALL(rdma_establish(p->id), "establish cli")))
		return -1;
	return p->id->qp_type == IBV_QPT_UD ? 0 : event_take(p->lch, RDMA_CM_EVENT_ESTABLISHED);
}

int pair_disconnect(struct pair *p, struct rdma_cm_id *first, struct rdma_cm_id *second)
{
	CALL(rdma_disconnect(first), "disconnect %s", id_name(first));
	if (event_take(second == p->child ? p->lch : p->ch, RDMA_CM_EVENT_DISCONNECTED))
		return -1;
	CALL(rdma_disconnect(second), "disconnect %s", id_name(second));
	return event_take(first == p->child ? p->lch : p->ch, RDMA_CM_EVENT_DISCONNECTED);
}

static void id_drop(struct rdma_cm_id **id)
{
	if (*id && (*id)->qp)
		rdma_destroy_qp(*id);
	id_destroy(*id);
	*id = NULL;
}

void pair_close(struct pair *p)
{
	id_drop(&p->id);
	id_drop(&p->child);
	id_drop(&p->listener);
	if (p->ch)
		rdma_destroy_event_channel(p->ch);
	if (p->lch)
		rdma_destroy_event_channel(p->lch);
}
