// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include "util.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <infiniband/ib.h>

int quiet;
int case_port;

static struct {
	uint32_t qpn;
	const char *name;
} qpns[256];

static unsigned int num_qpns;

static const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	/* an errno of the kernel, which user space should never see */
	if (err == 524)
		return "ENOTSUPP";
	return name ? name : err ? "unnamed errno" : "errno 0";
}

long call_report(long ret, int err, const char *fmt, ...)
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
