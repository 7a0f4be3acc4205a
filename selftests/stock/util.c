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

static const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	/* an errno of the kernel, which user space should never see */
	if (err == 524)
		return "ENOTSUPP";
	return name ? name : err ? "unnamed errno" : "errno 0";
}

long trace_result(long ret, int err, const char *fmt, ...)
{
	va_list ap;

	if (quiet && !ret)
		return ret;
	va_start(ap, fmt);
	fputs("# ", stdout);
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

int port_real(int port)
{
	if (port < PORT || port >= PORT + PORTS)
		return port;
	return port - PORT + case_port;
}

int port_shown(int port)
{
	if (port < case_port || port >= case_port + PORTS)
		return port;
	return port - case_port + PORT;
}

const char *addr_real(const char *addr)
{
	const char *real = address_real(addr);

	if (!real)
		tap_case_skip("needs the address %s", addr);
	return real;
}

/* On a host without IPv6 (ipv6.disable=1) the in-tree stack panics when it looks up such an address. */
static void ipv6_need(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	if (fd < 0)
		tap_case_skip("this host has no IPv6");
	close(fd);
}

/* Returns a static buffer, which is reused soon. "fe80::77%d0" includes the scope. */
struct sockaddr *ip_addr(const char *addr, int port)
{
	static struct sockaddr_storage ring[8];
	static unsigned int turn;
	struct sockaddr_storage *ss = &ring[turn++ % ARRAY_SIZE(ring)];
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	char text[64];
	char *scope;

	memset(ss, 0, sizeof(*ss));
	snprintf(text, sizeof(text), "%s", addr_real(addr));
	scope = strchr(text, '%');
	if (scope)
		*scope++ = '\0';
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port_real(port));
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		ipv6_need();
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port_real(port));
		in6->sin6_scope_id = scope ? if_nametoindex(scope) : 0;
	} else {
		trace_print("not an address: %s", addr);
		exit(3);
	}
	return (struct sockaddr *)ss;
}

/* An AF_IB address with any GID and a service ID of the range of RDMA_PS_IB. */
struct sockaddr *ib_addr(int port)
{
	static struct sockaddr_storage ss;
	struct sockaddr_ib *sib = (struct sockaddr_ib *)&ss;

	memset(&ss, 0, sizeof(ss));
	sib->sib_family = AF_IB;
	sib->sib_pkey = htons(0xffff);
	sib->sib_sid = htobe64(RDMA_IB_PS_IB + port_real(port));
	sib->sib_sid_mask = htobe64(~0ULL);
	return (struct sockaddr *)&ss;
}

void id_label(struct rdma_cm_id *id, const char *name)
{
	if (num_ids == ARRAY_SIZE(ids))
		return;
	ids[num_ids].id = id;
	ids[num_ids++].name = name;
}

static void id_unlabel(struct rdma_cm_id *id)
{
	unsigned int i;

	for (i = 0; i < num_ids; i++)
		if (ids[i].id == id)
			ids[i].id = NULL;
}

const char *id_name(const struct rdma_cm_id *id)
{
	unsigned int i;

	if (!id)
		return "none";
	for (i = num_ids; i--;)
		if (ids[i].id == id)
			return ids[i].name;
	return "unknown";
}

void qpn_label(uint32_t qpn, const char *name)
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

/* Returns a QP number that no QP has, and that no other case uses during its timewait. */
uint32_t qpn_fake(const char *name)
{
	static unsigned int count;
	uint32_t qpn = 0x400000 + ((getpid() * 8 + count++) & 0x3fffff);

	qpn_label(qpn, name);
	return qpn;
}

struct rdma_event_channel *channel_create(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	if (!ch) {
		trace_print("no event channel: %s", err_name(errno));
		exit(3);
	}
	return ch;
}

struct rdma_cm_id *id_create(struct rdma_event_channel *ch, const char *name,
			     enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;

	if (CALL(rdma_create_id(ch, &id, NULL, ps), "create_id %s ps=%#x", name, ps))
		exit(3);
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

int qp_create(struct rdma_cm_id *id, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	int ret = CALL(rdma_create_qp(id, NULL, &attr), "create_qp %s type=%d", id_name(id), type);

	if (!ret)
		qpn_label(id->qp->qp_num, id_name(id));
	return ret;
}

int id_bind(struct rdma_cm_id *id, const char *addr, int port)
{
	return CALL(rdma_bind_addr(id, ip_addr(addr, port)), "bind %s %s:%d", id_name(id), addr,
		    port);
}

struct sockaddr *ib_addr_local(struct rdma_event_channel *ch, int port)
{
	struct sockaddr_ib *sib = (struct sockaddr_ib *)ib_addr(port);
	struct rdma_cm_id *ip_id;

	quiet++;
	ip_id = id_create(ch, "ip", RDMA_PS_TCP);
	id_bind(ip_id, ADDR, 0);
	memcpy(&sib->sib_addr, &ip_id->route.addr.addr.ibaddr.sgid, sizeof(sib->sib_addr));
	id_destroy(ip_id);
	quiet--;
	sib->sib_sid = htobe64(((uint64_t)RDMA_PS_TCP << 16) + port_real(port));
	return (struct sockaddr *)sib;
}

int id_listen(struct rdma_cm_id *id, int backlog)
{
	return CALL(rdma_listen(id, backlog), "listen %s backlog=%d", id_name(id), backlog);
}

int id_resolve_addr(struct rdma_cm_id *id, const char *src, const char *dst, int port)
{
	return CALL(rdma_resolve_addr(id, src ? ip_addr(src, 0) : NULL, ip_addr(dst, port), 2000),
		    "resolve_addr %s src=%s dst=%s:%d", id_name(id), src ? src : "-", dst, port);
}

int id_resolve_route(struct rdma_cm_id *id)
{
	return CALL(rdma_resolve_route(id, 2000), "resolve_route %s", id_name(id));
}
