// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fails each allocation of the main paths in turn (/proc/thread-self/fail-nth), and checks that
 * resources are released: after each failure, the same scenario must succeed with the same ports
 * and groups.
 *
 * This reaches only the allocations of system calls. faults.sh reaches those of work queues and
 * callbacks by chance, with the stack filter of failslab.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/sa.h>
#include <rdma/rdma_cmx.h>
#include "../lib/pair.h"

#define MAX_NTH 500

static int nth_fd = -1;
static int num_errors;	/* scenarios that ended with an error */

/*
 * Makes the n-th allocation or user copy from here on fail; 0: none. Returns what was left of the
 * last count: more than 0 if no failure occurred. The count includes the calls of this function, so
 * one of them may fail, and is repeated.
 */
static int failure_arm(int n)
{
	char buf[16], old[16] = "";
	int len = snprintf(buf, sizeof(buf), "%d", n);
	int i;

	if (pread(nth_fd, old, sizeof(old) - 1, 0) < 0)
		old[0] = 0;
	for (i = 0; i < 3; i++)
		if (pwrite(nth_fd, buf, len, 0) == len)
			return atoi(old);
	perror("fail-nth");
	exit(2);
}

/* A failure is expected: the scenario ends, and its objects are destroyed. */
long call_report(long ret, int err, const char *fmt, ...)
{
	(void)fmt;
	errno = err;
	return ret;
}

static int id_make(struct rdma_event_channel **ch, struct rdma_cm_id **id, enum rdma_port_space ps)
{
	*ch = rdma_create_event_channel();
	return *ch ? rdma_create_id(*ch, id, NULL, ps) : -1;
}

static int try_listen(struct pair *p, enum rdma_port_space ps)
{
	return id_make(&p->lch, &p->listener, ps) ?: pair_listen(p, ps);
}

static int try_route(struct pair *p, enum rdma_port_space ps)
{
	return id_make(&p->ch, &p->id, ps) ?: pair_route(p, ps);
}

static int try_bind(struct pair *p)
{
	p->port = 7301;
	return try_listen(p, RDMA_PS_TCP);
}

static int try_listen_any(struct pair *p)
{
	p->addr = "::";
	p->port = 7302;
	return try_listen(p, RDMA_PS_TCP);
}

static int try_resolve(struct pair *p)
{
	p->port = 7303;
	return try_route(p, RDMA_PS_TCP);
}

static int try_resolve6(struct pair *p)
{
	p->addr = "fd77::1";
	p->port = 7303;
	return try_route(p, RDMA_PS_TCP);
}

static int try_options(struct pair *p)
{
	struct ibv_ece ece = { .vendor_id = 1, .options = 2 };
	uint8_t tos = 32;
	int one = 1;

	if (id_make(&p->ch, &p->id, RDMA_PS_TCP) ||
	    rdma_set_option(p->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) ||
	    rdma_set_option(p->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one)))
		return -1;
	return rdma_set_local_ece(p->id, &ece);
}

static int try_join(struct pair *p, const char *group)
{
	const char *ip = strchr(group, ':') ? "fd77::1" : "10.77.0.1";

	if (id_make(&p->ch, &p->id, RDMA_PS_UDP) || id_bind(p->id, ip, 0) ||
	    rdma_join_multicast(p->id, ip_addr(group, 0), p) ||
	    event_expect(p->ch, RDMA_CM_EVENT_MULTICAST_JOIN))
		return -1;
	return rdma_leave_multicast(p->id, ip_addr(group, 0));
}

static int try_join4(struct pair *p)
{
	return try_join(p, "239.7.7.7");
}

static int try_join6(struct pair *p)
{
	return try_join(p, "ff15::77");
}

static int try_send_only(struct pair *p)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = ip_addr("239.7.7.8", 0),
	};

	if (id_make(&p->ch, &p->id, RDMA_PS_UDP) || id_bind(p->id, "10.77.0.1", 0) ||
	    rdma_join_multicast_ex(p->id, &attr, p) ||
	    event_expect(p->ch, RDMA_CM_EVENT_MULTICAST_JOIN))
		return -1;
	return rdma_leave_multicast(p->id, ip_addr("239.7.7.8", 0));
}

/* Prepares the ids. ib_cm remembers the QP numbers of closed connections, of both sides. */
static int try_prepare(struct pair *p, int port, enum rdma_port_space ps)
{
	static unsigned int qp_num = 0x1000;

	p->port = port;
	p->param = (struct rdma_conn_param){ .qp_num = qp_num, .responder_resources = 1, .initiator_depth = 1,
					     .retry_count = 1 };
	qp_num += 2;
	return try_listen(p, ps) ?: try_route(p, ps);
}

/* Sends and takes the request. A late request of the last run may arrive before, on that port. */
static int try_request(struct pair *p)
{
	struct rdma_cm_id *child;

	if (rdma_connect(p->id, &p->param))
		return -1;
	while ((child = event_expect_request(p->lch, "srv"))) {
		if (rdma_get_dst_port(child) == rdma_get_src_port(p->id)) {
			p->child = child;
			return 0;
		}
		id_destroy(child);
	}
	return -1;
}

static int try_reject(struct pair *p)
{
	if (try_prepare(p, 7306, RDMA_PS_TCP) || try_request(p) || rdma_reject(p->child, "no", 3))
		return -1;
	return event_expect(p->ch, RDMA_CM_EVENT_REJECTED) == 28 ? 0 : -1;
}

static int try_migrate(struct pair *p)
{
	p->port = 7307;
	if (try_route(p, RDMA_PS_TCP))
		return -1;
	p->lch = rdma_create_event_channel();
	if (!p->lch)
		return -1;
	return rdma_migrate_id(p->id, p->lch);
}

static int try_get_option(struct pair *p)
{
	uint32_t val;
	size_t len = sizeof(val);

	if (id_make(&p->ch, &p->id, RDMA_PS_TCP))
		return -1;
	return rdma_cmx_get_option(p->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &val, &len, NULL);
}

static int try_path(struct pair *p)
{
	struct ibv_path_data data = {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
		.path = {
			.reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1,
			.pkey = htobe16(0xffff),
			.mtu = 2 << 6 | IBV_MTU_1024,
			.rate = 2 << 6 | 3,
			.packetlifetime = 2 << 6 | 12,
		},
	};

	if (id_make(&p->ch, &p->id, RDMA_PS_TCP) || id_resolve_addr(p->id, NULL, "10.77.0.1", 7308) ||
	    event_expect(p->ch, RDMA_CM_EVENT_ADDR_RESOLVED))
		return -1;
	data.path.sgid = p->id->route.addr.addr.ibaddr.sgid;
	data.path.dgid = p->id->route.addr.addr.ibaddr.dgid;
	if (rdma_set_option(p->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data, sizeof(data)))
		return -1;
	return event_expect(p->ch, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int try_connect(struct pair *p)
{
	if (try_prepare(p, 7304, RDMA_PS_TCP) || try_request(p) || pair_connect(p, RDMA_PS_TCP))
		return -1;
	return pair_disconnect(p, p->id, p->child);
}

static int try_sidr(struct pair *p)
{
	return try_prepare(p, 7305, RDMA_PS_UDP) || try_request(p) || pair_connect(p, RDMA_PS_UDP) ? -1 : 0;
}

static const struct {
	const char *name;
	int (*run)(struct pair *p);
} tries[] = {
	{ "bind and listen", try_bind },
	{ "listen on any", try_listen_any },
	{ "resolve IPv4", try_resolve },
	{ "resolve IPv6", try_resolve6 },
	{ "options and ECE", try_options },
	{ "join and leave IPv4", try_join4 },
	{ "join and leave IPv6", try_join6 },
	{ "join and leave, sending only", try_send_only },
	{ "connect", try_connect },
	{ "reject", try_reject },
	{ "migrate", try_migrate },
	{ "read an option", try_get_option },
	{ "give a path", try_path },
	{ "datagram connect", try_sidr },
};

static int try_run(int i, int n)
{
	struct pair p = {};
	int ret, err;

	/* a failure may prevent the event; without a failure it must come */
	event_wait_ms = n ? 300 : 10000;
	failure_arm(n);
	ret = tries[i].run(&p);
	err = errno;
	pair_close(&p);
	errno = err;
	return ret;
}

static int try_sweep(int i)
{
	int n, failed = 0;

	if (try_run(i, 0)) {
		printf("not ok failnth %s: does not work: %m\n", tries[i].name);
		return -1;
	}
	for (n = 1; n < MAX_NTH; n++) {
		int ret = try_run(i, n), err = errno;
		int left = failure_arm(0);

		failed += ret != 0;
		num_errors += ret != 0;
		if (left && n == 1) {
			printf("not ok failnth %s: no allocation failed\n", tries[i].name);
			return -1;
		}
		if (left) {
			printf("ok failnth %s: %d allocations, %d errors\n", tries[i].name, n - 1,
			       failed);
			return 0;
		}
		if (try_run(i, 0)) {
			printf("not ok failnth %s: after failure %d (%s) the next run fails: %m\n",
			       tries[i].name, n, ret ? strerror(err) : "none seen");
			return -1;
		}
	}
	printf("not ok failnth %s: no end after %d\n", tries[i].name, n);
	return -1;
}

/* Runs all scenarios and prints a TAP plan first, or runs the one that the argument names. */
int main(int argc, char **argv)
{
	unsigned int i;
	int bad = 0;

	setbuf(stdout, NULL);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0) {
		perror("fail-nth");
		return 2;
	}
	if (argc < 2)
		printf("1..%zu\n", sizeof(tries) / sizeof(*tries));
	for (i = 0; i < sizeof(tries) / sizeof(*tries); i++)
		if (argc < 2 || !strcmp(argv[1], tries[i].name))
			bad |= try_sweep(i);
	/* at least one of all the failures must have an effect */
	if (argc < 2 && !num_errors) {
		printf("not ok failnth: no failure had any effect\n");
		bad = -1;
	}
	return !!bad;
}
