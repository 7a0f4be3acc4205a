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
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/sa.h>
#include <rdma/rdma_cmx.h>
#include "../lib/address.h"
#include "../lib/slow.h"

#define MAX_NTH 500

static int nth_fd = -1;
static int event_wait_ms;	/* how long to wait for an event */
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

/* Fetches the next event of @ch. Returns -1 if none comes in time. */
static int event_next(struct rdma_event_channel *ch, struct rdma_cm_event **ev)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	if (poll(&p, 1, event_wait_ms) != 1) {
		errno = ETIMEDOUT;
		return -1;
	}
	return rdma_get_cm_event(ch, ev);
}

static int event_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;
	int ret;

	if (event_next(ch, &ev))
		return -1;
	ret = ev->event == type ? 0 : -1;
	if (ret)
		errno = ev->status < 0 ? -ev->status : EPROTO;
	rdma_ack_cm_event(ev);
	return ret;
}

struct scene {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct rdma_event_channel *listen_ch;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *child;
};

static int scene_create_id(struct scene *s, enum rdma_port_space ps)
{
	s->ch = rdma_create_event_channel();
	return s->ch ? rdma_create_id(s->ch, &s->id, NULL, ps) : -1;
}

static int scene_resolve(struct scene *s, const char *dst, int port)
{
	struct sockaddr_storage ss = address_parse(dst, port);

	if (rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&ss, 1000) ||
	    event_expect(s->ch, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	    rdma_resolve_route(s->id, 1000))
		return -1;
	return event_expect(s->ch, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int scene_listen(struct scene *s, const char *addr, int port, enum rdma_port_space ps)
{
	struct sockaddr_storage ss = address_parse(addr, port);

	s->listen_ch = rdma_create_event_channel();
	if (!s->listen_ch || rdma_create_id(s->listen_ch, &s->listener, NULL, ps) ||
	    rdma_bind_addr(s->listener, (struct sockaddr *)&ss))
		return -1;
	return rdma_listen(s->listener, 4);
}

static void scene_clean(struct scene *s)
{
	if (s->child)
		rdma_destroy_id(s->child);
	if (s->listener)
		rdma_destroy_id(s->listener);
	if (s->id)
		rdma_destroy_id(s->id);
	if (s->listen_ch)
		rdma_destroy_event_channel(s->listen_ch);
	if (s->ch)
		rdma_destroy_event_channel(s->ch);
}

static int try_bind(struct scene *s)
{
	struct sockaddr_storage ss = address_parse("10.77.0.1", 7301);

	return scene_create_id(s, RDMA_PS_TCP) || rdma_bind_addr(s->id, (struct sockaddr *)&ss) ||
	       rdma_listen(s->id, 1) ? -1 : 0;
}

static int try_listen_any(struct scene *s)
{
	return scene_listen(s, "::", 7302, RDMA_PS_TCP);
}

static int try_resolve(struct scene *s)
{
	return scene_create_id(s, RDMA_PS_TCP) || scene_resolve(s, "10.77.0.1", 7303) ? -1 : 0;
}

static int try_resolve6(struct scene *s)
{
	return scene_create_id(s, RDMA_PS_TCP) || scene_resolve(s, "fd77::1", 7303) ? -1 : 0;
}

static int try_options(struct scene *s)
{
	struct ibv_ece ece = { .vendor_id = 1, .options = 2 };
	uint8_t tos = 32;
	int one = 1;

	if (scene_create_id(s, RDMA_PS_TCP) ||
	    rdma_set_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) ||
	    rdma_set_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one)))
		return -1;
	return rdma_set_local_ece(s->id, &ece);
}

static int try_join(struct scene *s, const char *group)
{
	const char *ip = strchr(group, ':') ? "fd77::1" : "10.77.0.1";
	struct sockaddr_storage src = address_parse(ip, 0), ss = address_parse(group, 0);

	if (scene_create_id(s, RDMA_PS_UDP) || rdma_bind_addr(s->id, (struct sockaddr *)&src) ||
	    rdma_join_multicast(s->id, (struct sockaddr *)&ss, s) ||
	    event_expect(s->ch, RDMA_CM_EVENT_MULTICAST_JOIN))
		return -1;
	return rdma_leave_multicast(s->id, (struct sockaddr *)&ss);
}

static int try_join4(struct scene *s)
{
	return try_join(s, "239.7.7.7");
}

static int try_join6(struct scene *s)
{
	return try_join(s, "ff15::77");
}

static int try_send_only(struct scene *s)
{
	struct sockaddr_storage src = address_parse("10.77.0.1", 0);
	struct sockaddr_storage ss = address_parse("239.7.7.8", 0);
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = (struct sockaddr *)&ss,
	};

	if (scene_create_id(s, RDMA_PS_UDP) || rdma_bind_addr(s->id, (struct sockaddr *)&src) ||
	    rdma_join_multicast_ex(s->id, &attr, s) ||
	    event_expect(s->ch, RDMA_CM_EVENT_MULTICAST_JOIN))
		return -1;
	return rdma_leave_multicast(s->id, (struct sockaddr *)&ss);
}

/* Takes the request of @s->id. A late request of the last run may arrive before, on that port. */
static int scene_take_request(struct scene *s)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *child;

	while (!event_next(s->listen_ch, &ev)) {
		child = ev->event == RDMA_CM_EVENT_CONNECT_REQUEST ? ev->id : NULL;
		rdma_ack_cm_event(ev);
		if (!child)
			break;
		if (rdma_get_dst_port(child) == rdma_get_src_port(s->id)) {
			s->child = child;
			return 0;
		}
		rdma_destroy_id(child);
	}
	return -1;
}

/* ib_cm remembers the QP numbers of closed connections, of both sides */
static unsigned int qp_num = 0x1000;

static int scene_connect(struct scene *s, int port, enum rdma_port_space ps,
			 enum rdma_cm_event_type answer)
{
	struct rdma_conn_param par = { .qp_num = qp_num++, .responder_resources = 1,
				       .initiator_depth = 1, .retry_count = 1 };

	if (scene_listen(s, "10.77.0.1", port, ps) || scene_create_id(s, ps) ||
	    scene_resolve(s, "10.77.0.1", port) || rdma_connect(s->id, &par) ||
	    scene_take_request(s))
		return -1;
	par.qp_num = qp_num++;
	if (rdma_accept(s->child, &par))
		return -1;
	return event_expect(s->ch, answer);
}

static int try_reject(struct scene *s)
{
	struct rdma_conn_param par = { .qp_num = qp_num++, .retry_count = 1 };

	if (scene_listen(s, "10.77.0.1", 7306, RDMA_PS_TCP) || scene_create_id(s, RDMA_PS_TCP) ||
	    scene_resolve(s, "10.77.0.1", 7306) || rdma_connect(s->id, &par) ||
	    scene_take_request(s) || rdma_reject(s->child, "no", 3))
		return -1;
	return event_expect(s->ch, RDMA_CM_EVENT_REJECTED);
}

static int try_migrate(struct scene *s)
{
	if (scene_create_id(s, RDMA_PS_TCP) || scene_resolve(s, "10.77.0.1", 7307))
		return -1;
	s->listen_ch = rdma_create_event_channel();
	if (!s->listen_ch)
		return -1;
	return rdma_migrate_id(s->id, s->listen_ch);
}

static int try_get_option(struct scene *s)
{
	uint32_t val;
	size_t len = sizeof(val);

	if (scene_create_id(s, RDMA_PS_TCP))
		return -1;
	return rdma_cmx_get_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &val, &len, NULL);
}

static int try_path(struct scene *s)
{
	struct sockaddr_storage ss = address_parse("10.77.0.1", 7308);
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

	if (scene_create_id(s, RDMA_PS_TCP) ||
	    rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&ss, 1000) ||
	    event_expect(s->ch, RDMA_CM_EVENT_ADDR_RESOLVED))
		return -1;
	data.path.sgid = s->id->route.addr.addr.ibaddr.sgid;
	data.path.dgid = s->id->route.addr.addr.ibaddr.dgid;
	if (rdma_set_option(s->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data, sizeof(data)))
		return -1;
	return event_expect(s->ch, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int try_connect(struct scene *s)
{
	if (scene_connect(s, 7304, RDMA_PS_TCP, RDMA_CM_EVENT_CONNECT_RESPONSE) ||
	    rdma_establish(s->id) || event_expect(s->listen_ch, RDMA_CM_EVENT_ESTABLISHED) ||
	    rdma_disconnect(s->id) || event_expect(s->listen_ch, RDMA_CM_EVENT_DISCONNECTED) ||
	    rdma_disconnect(s->child) || event_expect(s->ch, RDMA_CM_EVENT_DISCONNECTED))
		return -1;
	return 0;
}

static int try_sidr(struct scene *s)
{
	return scene_connect(s, 7305, RDMA_PS_UDP, RDMA_CM_EVENT_ESTABLISHED);
}

static const struct {
	const char *name;
	int (*run)(struct scene *s);
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
	struct scene s = {};
	int ret, err;

	/* a failure may prevent the event; without a failure it must come */
	event_wait_ms = slow_time(n ? 300 : 10000);
	failure_arm(n);
	ret = tries[i].run(&s);
	err = errno;
	scene_clean(&s);
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
