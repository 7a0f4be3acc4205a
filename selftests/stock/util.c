// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include "../lib/address.h"
#include "util.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <infiniband/ib.h>

int quiet;
int case_port;

static struct {
	const struct rdma_cm_id *id;
	const char *name;
} ids[256];

static struct {
	uint32_t qpn;
	const char *name;
} qpns[256];

static unsigned int num_ids, num_qpns;

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("  ", stdout);
	vfprintf(stdout, fmt, ap);
	putchar('\n');
	va_end(ap);
	/* a crash may follow */
	fflush(stdout);
}

static const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	/* the kernel's own; user space should never see it, but does */
	if (err == 524)
		return "ENOTSUPP";
	return name ? name : err ? "unnamed errno" : "errno 0";
}

long say_ret(long ret, int err, const char *fmt, ...)
{
	va_list ap;

	if (quiet && !ret)
		return ret;
	va_start(ap, fmt);
	fputs("  ", stdout);
	vfprintf(stdout, fmt, ap);
	va_end(ap);
	if (!ret)
		puts(" -> 0");
	else if (ret == -1)
		printf(" -> -1 %s\n", err_name(err));
	else
		printf(" -> %ld %s\n", ret, err_name(ret > 0 ? ret : -ret));
	fflush(stdout);
	return ret;
}

int real_port(int port)
{
	if (port < PORT || port >= PORT + PORTS)
		return port;
	return port - PORT + case_port;
}

int shown_port(int port)
{
	if (port < case_port || port >= case_port + PORTS)
		return port;
	return port - case_port + PORT;
}

const char *real_addr(const char *addr)
{
	const char *real = address_real(addr);

	if (!real) {
		say("skip: needs the address %s", addr);
		exit(4);
	}
	return real;
}

/* A short-lived socket address; "fe80::77%d0" carries its scope. */
struct sockaddr *ip(const char *addr, int port)
{
	static struct sockaddr_storage ring[8];
	static unsigned int turn;
	struct sockaddr_storage *ss = &ring[turn++ % ARRAY_SIZE(ring)];
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	char text[64];
	char *scope;

	memset(ss, 0, sizeof(*ss));
	snprintf(text, sizeof(text), "%s", real_addr(addr));
	scope = strchr(text, '%');
	if (scope)
		*scope++ = '\0';
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(real_port(port));
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(real_port(port));
		in6->sin6_scope_id = scope ? if_nametoindex(scope) : 0;
	} else {
		say("not an address: %s", addr);
		exit(3);
	}
	return (struct sockaddr *)ss;
}

/* A native InfiniBand address: any GID, a service ID of the RDMA_PS_IB range. */
struct sockaddr *ib_addr(int port)
{
	static struct sockaddr_storage ss;
	struct sockaddr_ib *sib = (struct sockaddr_ib *)&ss;

	memset(&ss, 0, sizeof(ss));
	sib->sib_family = AF_IB;
	sib->sib_pkey = htons(0xffff);
	sib->sib_sid = htobe64(RDMA_IB_PS_IB + real_port(port));
	sib->sib_sid_mask = htobe64(~0ULL);
	return (struct sockaddr *)&ss;
}

void label_id(struct rdma_cm_id *id, const char *name)
{
	if (num_ids == ARRAY_SIZE(ids))
		return;
	ids[num_ids].id = id;
	ids[num_ids++].name = name;
}

static void unlabel_id(struct rdma_cm_id *id)
{
	unsigned int i;

	for (i = 0; i < num_ids; i++)
		if (ids[i].id == id)
			ids[i].id = NULL;
}

const char *idname(const struct rdma_cm_id *id)
{
	unsigned int i;

	if (!id)
		return "none";
	for (i = num_ids; i--;)
		if (ids[i].id == id)
			return ids[i].name;
	return "unknown";
}

void label_qpn(uint32_t qpn, const char *name)
{
	if (num_qpns == ARRAY_SIZE(qpns))
		return;
	qpns[num_qpns].qpn = qpn;
	qpns[num_qpns++].name = name;
}

const char *qpn_name(uint32_t qpn)
{
	unsigned int i;

	if (qpn <= 1)
		return qpn ? "1" : "0";
	for (i = num_qpns; i--;)
		if (qpns[i].qpn == qpn)
			return qpns[i].name;
	return "unknown";
}

/* A QP number no QP has, and no other case uses while time-wait remembers it. */
uint32_t fake_qpn(const char *name)
{
	static unsigned int count;
	uint32_t qpn = 0x400000 + ((getpid() * 8 + count++) & 0x3fffff);

	label_qpn(qpn, name);
	return qpn;
}

struct rdma_event_channel *mkchan(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	if (!ch) {
		say("no event channel: %s", err_name(errno));
		exit(3);
	}
	return ch;
}

struct rdma_cm_id *mkid(struct rdma_event_channel *ch, const char *name, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;

	if (CALL(rdma_create_id(ch, &id, NULL, ps), "create_id %s ps=%#x", name, ps))
		exit(3);
	label_id(id, name);
	return id;
}

int rmid(struct rdma_cm_id *id)
{
	const char *name = idname(id);

	if (!id)
		return 0;
	unlabel_id(id);
	return CALL(rdma_destroy_id(id), "destroy_id %s", name);
}

int mkqp(struct rdma_cm_id *id, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	int ret = CALL(rdma_create_qp(id, NULL, &attr), "create_qp %s type=%d", idname(id), type);

	if (!ret)
		label_qpn(id->qp->qp_num, idname(id));
	return ret;
}

int do_bind(struct rdma_cm_id *id, const char *addr, int port)
{
	return CALL(rdma_bind_addr(id, ip(addr, port)), "bind %s %s:%d", idname(id), addr, port);
}

int do_listen(struct rdma_cm_id *id, int backlog)
{
	return CALL(rdma_listen(id, backlog), "listen %s backlog=%d", idname(id), backlog);
}

int do_resolve(struct rdma_cm_id *id, const char *src, const char *dst, int port)
{
	return CALL(rdma_resolve_addr(id, src ? ip(src, 0) : NULL, ip(dst, port), 2000),
		    "resolve_addr %s src=%s dst=%s:%d", idname(id), src ? src : "-", dst, port);
}

int do_route(struct rdma_cm_id *id)
{
	return CALL(rdma_resolve_route(id, 2000), "resolve_route %s", idname(id));
}
