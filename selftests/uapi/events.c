// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The event queue: how events are fetched, counted, dropped and moved.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include "../lib/now.h"
#include "../lib/slow.h"
#include "uapi.h"

#define MAX_BACKLOG "/sys/module/rdma_cmx/parameters/max_backlog"

enum {
	ADDR_RESOLVED = 0, ADDR_ERROR = 1, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4,
	CONNECT_RESPONSE = 5, UNREACHABLE = 7, REJECTED = 8, ESTABLISHED = 9, MULTICAST_JOIN = 12,
};

/* Resolves the addresses of @n new ids with the user data @n to 1. The events are not fetched. */
static void ids_resolve(int fd, uint32_t *ids, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		CHECK(!id_create(fd, CMX_PS_TCP, n - i, &ids[i]));
		CHECK(!id_resolve(fd, ids[i], 7));
		CHECK(fd_is_readable(fd, 10000));
	}
	/* wait for work items that complete the calls */
	usleep(300000);
}

static void test_empty(void)
{
	struct cmx_event_record record;
	int fd = dev_open();
	uint32_t count = 7;

	CHECK(!fd_is_readable(fd, 0));
	CHECK(get_events(fd, &record, 1, &count) == EAGAIN);
	close(fd);
}

static void alarm_handle(int sig)
{
	(void)sig;
}

static void test_interrupted(void)
{
	const struct sigaction action = { .sa_handler = alarm_handle };
	/* until one of them finds it waiting */
	const struct itimerval soon = {
		.it_value.tv_usec = 200000, .it_interval.tv_usec = 200000,
	}, never = {};
	struct cmx_event_record record;
	int fd = dev_open();
	uint32_t count;

	fcntl(fd, F_SETFL, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	CHECK(get_events(fd, &record, 1, &count) == EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	close(fd);
}

static void test_batch(void)
{
	struct cmx_event_record records[8];
	int fd = dev_open(), i;
	uint32_t ids[5], count;

	ids_resolve(fd, ids, 5);
	CHECK(!get_events(fd, records, 3, &count) && count == 3, "%u", count);
	for (i = 0; i < 3; i++)
		CHECK(records[i].resp.id == ids[i] && records[i].resp.user_data == 5U - i);
	CHECK(fd_is_readable(fd, 0));
	CHECK(!get_events(fd, records, 8, &count) && count == 2, "%u", count);
	CHECK(records[0].resp.id == ids[3] && records[1].resp.id == ids[4]);
	CHECK(get_events(fd, records, 8, &count) == EAGAIN);
	close(fd);
}

/* Returns a buffer of @before bytes that end at an unmapped page, which a mapped one follows. */
static void *buffer_with_hole(size_t before)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	munmap(mem + page, page);
	return mem + page - before;
}

/* A join that cannot write its handle does not start, so no event follows. */
static void test_join_fails(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef4d4d09) };
	struct scene s;
	struct cmd c;

	if (!scene_open(&s, UD))
		return;
	cmd_init(&c, CMX_OBJ_MCAST, CMX_MCAST_JOIN);
	cmd_u32(&c, CMX_ATTR_ID, s.id);
	cmd_in(&c, CMX_ATTR_DST_ADDR, &addr, sizeof(addr));
	cmd_u64(&c, CMX_ATTR_USER_DATA, 8);
	cmd_out(&c, CMX_ATTR_OUT_ID, buffer_with_hole(100), 100 + 4096 + 100);
	CHECK(cmd_issue(&c, s.fd) == EFAULT);
	usleep(100000);
	CHECK(!fd_is_readable(s.fd, 0));
	scene_close(&s);
}

/* An event that cannot be copied stays in the queue. */
static void test_copy_fails(void)
{
	struct cmx_event_resp *resp;
	struct scene s;
	uint32_t count;

	if (!scene_open(&s, ROUTE) || !CHECK(!id_connect(s.fd, s.id)) ||
	    !CHECK(fd_is_readable(s.fd, 10000)))
		return;
	CHECK(events_get_into(s.fd, buffer_with_hole(100), 100 + 4096 + 100, &count) == EFAULT);
	CHECK(events_get_into(s.fd, buffer_with_hole(sizeof(struct cmx_event_record) - 1), 2 * 4096,
			      &count) == EFAULT);
	CHECK(fd_is_readable(s.fd, 0));
	resp = next_event(s.fd, CONNECT_REQUEST);
	CHECK(resp && !id_accept(s.fd, resp->id, 200));
	scene_close(&s);
}

static void test_copy_half(void)
{
	struct cmx_event_record *record = buffer_with_hole(sizeof(*record) + 10), one;
	int fd = dev_open();
	uint32_t ids[2], count;

	ids_resolve(fd, ids, 2);
	CHECK(!events_get_into(fd, record, 2 * 4096, &count) && count == 1, "%u", count);
	CHECK(record->resp.id == ids[0]);
	CHECK(!get_events(fd, &one, 1, &count) && one.resp.id == ids[1]);
	close(fd);
}

static void test_dropped(void)
{
	uint32_t ids[3], fetched;
	int fd = dev_open();
	struct cmx_event_record records[3];

	ids_resolve(fd, ids, 3);
	CHECK(!id_destroy(fd, ids[1], &fetched) && !fetched);
	CHECK(!get_events(fd, records, 3, &fetched) && fetched == 2, "%u", fetched);
	CHECK(records[0].resp.id == ids[0] && records[1].resp.id == ids[2]);
	CHECK(!id_destroy(fd, ids[2], &fetched) && fetched == 1, "%u", fetched);
	CHECK(!id_destroy(fd, ids[0], &fetched) && fetched == 1, "%u", fetched);
	close(fd);
}

static void test_request(void)
{
	const struct cmx_id_info *info;
	struct cmx_event_resp *resp;
	uint32_t fetched, child;
	struct scene s;

	if (!scene_open(&s, ROUTE) || !CHECK(!id_connect(s.fd, s.id)))
		return;
	resp = next_event(s.fd, CONNECT_REQUEST);
	if (!resp)
		return;
	child = resp->id;
	CHECK(resp->listen_id == s.listener && resp->user_data == 100);
	CHECK(child != s.id && child != s.listener);
	CHECK((resp->flags & (CMX_EVENT_F_INFO | CMX_EVENT_F_QP)) ==
	      (CMX_EVENT_F_INFO | CMX_EVENT_F_QP), "%x", resp->flags);
	CHECK(resp->rtr.qp_state == 2);
#ifndef UAPI_FEWER
	CHECK(resp->rts.qp_state == 3);
#endif
	CHECK(resp->rtr.dest_qp_num == last_qpn);
	CHECK(resp->param.conn.qp_num == last_qpn);
	info = &((struct cmx_event_record *)resp)->info;
	CHECK(info->port_num == 1 && info->node_guid);
	CHECK(((struct sockaddr_in *)&info->src_addr)->sin_port == s.port);

	/* the event counts for the listener, whose end does not affect a fetched request */
	CHECK(!id_destroy(s.fd, s.listener, &fetched) && fetched == 1, "%u", fetched);
	CHECK(!id_accept(s.fd, child, 200));
	resp = next_event(s.fd, CONNECT_RESPONSE);
	CHECK(resp && resp->id == s.id && resp->user_data == 1 && resp->flags & CMX_EVENT_F_QP);
	CHECK(!id_destroy(s.fd, child, &fetched) && !fetched, "%u", fetched);
	scene_close(&s);
}

static void test_listener_ends(void)
{
	struct scene s;

	if (!scene_open(&s, ROUTE) || !CHECK(!id_connect(s.fd, s.id)) ||
	    !CHECK(fd_is_readable(s.fd, 10000)))
		return;
	/* a request that has not been fetched is rejected */
	CHECK(!id_destroy(s.fd, s.listener, NULL));
	next_event(s.fd, REJECTED);
	CHECK(!fd_is_readable(s.fd, 100));
	scene_close(&s);
}

/* Checks that listening with @backlog leads to a backlog of 1. */
static void backlog_check(int backlog)
{
	int wait = slow_time(500);
	uint32_t second, fetched;
	struct scene s;

	if (!scene_open(&s, BOUND) || !CHECK(!id_listen(s.fd, s.id, backlog, &s.port)))
		return;
	s.listener = s.id;
	CHECK(id_listen(s.fd, s.listener, 100, NULL) == EINVAL);
	CHECK(!id_create(s.fd, CMX_PS_TCP, 1, &s.id));
	CHECK(!id_resolve(s.fd, s.id, s.port) && next_event(s.fd, ADDR_RESOLVED));
	CHECK(!id_route(s.fd, s.id) && next_event(s.fd, ROUTE_RESOLVED));
	CHECK(!id_create(s.other, CMX_PS_TCP, 2, &second));
	CHECK(!id_resolve(s.other, second, s.port) && next_event(s.other, ADDR_RESOLVED));
	CHECK(!id_route(s.other, second) && next_event(s.other, ROUTE_RESOLVED));
	CHECK(!id_connect(s.fd, s.id) && fd_is_readable(s.fd, 10000));
	CHECK(!id_connect(s.other, second));
	/* ib_cm sends the second REQ again after 4.6 s */
	usleep(1000 * (wait < 3000 ? wait : 3000));
	CHECK(next_event(s.fd, CONNECT_REQUEST));
	CHECK(!fd_is_readable(s.fd, 100));
	/* the second request was dropped and not rejected, so the peer repeats it */
	CHECK(next_event(s.fd, CONNECT_REQUEST));
	CHECK(!id_destroy(s.fd, s.listener, &fetched) && fetched == 2, "%u", fetched);
	scene_close(&s);
}

static void test_backlog(void)
{
	backlog_check(1);
}

static void max_backlog_set(int value)
{
	FILE *f = fopen(MAX_BACKLOG, "w");

	CHECK(f && fprintf(f, "%d\n", value) > 0 && !fclose(f));
}

static void test_max_backlog(void)
{
	max_backlog_set(1);
	backlog_check(0);
	backlog_check(100);
	max_backlog_set(1024);
}

/* The id of a request has no events until it is accepted. */
static void test_muted(void)
{
	struct cmx_event_resp *resp;
	struct scene s;

	if (!scene_open(&s, ROUTE) || !CHECK(!id_connect(s.fd, s.id)))
		return;
	resp = next_event(s.fd, CONNECT_REQUEST);
	CHECK(!id_destroy(s.fd, s.id, NULL));
	CHECK(!fd_is_readable(s.fd, 500));
	CHECK(resp && !id_destroy(s.fd, resp->id, NULL));
	scene_close(&s);
}

static void test_mcast(void)
{
	struct cmx_event_resp *resp;
	uint32_t mc, fetched;
	struct scene s;

	if (!scene_open(&s, UD) || !CHECK(!id_join(s.fd, s.id, 0xe0010203, 300, &mc)))
		return;
	resp = next_event(s.fd, MULTICAST_JOIN);
	CHECK(resp && resp->id == mc && resp->user_data == 300);
	CHECK((resp->flags & (CMX_EVENT_F_UD | CMX_EVENT_F_MCAST)) ==
	      (CMX_EVENT_F_UD | CMX_EVENT_F_MCAST), "%x", resp->flags);
	CHECK(resp->param.ud.qp_num == 0xffffff && resp->param.ud.ah_attr.is_global);
	CHECK(!mc_leave(s.fd, mc, &fetched) && fetched == 1, "%u", fetched);

	/* an event that has not been fetched is dropped with the membership */
	CHECK(!id_join(s.fd, s.id, 0xe0010204, 301, &mc) && fd_is_readable(s.fd, 10000));
	CHECK(!mc_leave(s.fd, mc, &fetched) && !fetched, "%u", fetched);
	CHECK(!fd_is_readable(s.fd, 100));
	CHECK(!id_destroy(s.fd, s.id, &fetched) && fetched == 1, "%u", fetched);
	scene_close(&s);
}

static void test_migrate(void)
{
	uint32_t id, fetched;
	struct scene s;

	if (!scene_open(&s, EVENT))
		return;
	CHECK(!id_migrate(s.other, s.id, s.fd, &id, &fetched) && !fetched);
	CHECK(!fd_is_readable(s.fd, 0));
	CHECK(id_destroy(s.fd, s.id, NULL) == ENOENT);
	CHECK(next_event(s.other, ADDR_RESOLVED));
	CHECK(!id_migrate(s.fd, id, s.other, &id, &fetched) && fetched == 1, "%u", fetched);
	CHECK(!id_migrate(s.fd, id, s.fd, &id, &fetched) && fetched == 1, "%u", fetched);
	CHECK(!id_destroy(s.fd, id, &fetched) && fetched == 1);
	scene_close(&s);
}

static void test_migrate_more(void)
{
	struct cmx_event_resp *resp;
	uint32_t id, fetched;
	int null = open("/dev/null", O_RDWR);
	struct scene s;

	/* memberships move with the id */
	if (!scene_open(&s, JOINED))
		return;
	CHECK(id_migrate(s.other, s.id, -1, &id, &fetched) == ENOENT);
	CHECK(id_migrate(s.other, s.id, null, &id, &fetched) == EINVAL);
	CHECK(id_migrate(s.other, s.mc, s.fd, &id, &fetched) == ENOENT);
	CHECK(!id_migrate(s.other, s.id, s.fd, &id, &fetched));
	CHECK(mc_leave(s.fd, s.mc, NULL) == ENOENT);
	CHECK(!mc_leave(s.other, s.mc, &fetched) && fetched == 1);
	scene_close(&s);

	/* requests that wait move with the listener */
	if (!scene_open(&s, ROUTE) || !CHECK(!id_connect(s.fd, s.id)) ||
	    !CHECK(fd_is_readable(s.fd, 10000)))
		return;
	CHECK(!id_migrate(s.other, s.listener, s.fd, &id, &fetched) && !fetched);
	CHECK(!fd_is_readable(s.fd, 0));
	resp = next_event(s.other, CONNECT_REQUEST);
	CHECK(resp && resp->listen_id == id && !id_accept(s.other, resp->id, 200));
	CHECK(next_event(s.fd, CONNECT_RESPONSE));
	scene_close(&s);
	close(null);
}

static void written_expect(int fd, uint32_t id, uint64_t uid, int status, uint64_t arg)
{
	struct cmx_event_resp *resp = next_event(fd, CMX_EVENT_USER);

	CHECK(resp && resp->id == id && resp->user_data == uid && resp->status == status);
	if (!resp)
		return;
	CHECK(resp->param.arg == arg && !resp->flags, "arg %#llx, flags %#x",
	      (unsigned long long)resp->param.arg, resp->flags);
}

static void test_written(void)
{
	const uint64_t arg = 0xfedcba9876543210;
	static const uint32_t types[] = { ADDR_RESOLVED, ESTABLISHED, MULTICAST_JOIN, 17, 19, ~0u };
	uint32_t id, ud, fetched, other;
	int fd = dev_open(), fd2 = dev_open();
	size_t i;

	CHECK(!id_create(fd, CMX_PS_TCP, 5, &id));
	CHECK(!id_create(fd, CMX_PS_UDP, 6, &ud));
	for (i = 0; i < ARRAY_SIZE(types); i++)
		CHECK(event_write(fd, id, types[i], 0, 0) == EINVAL, "%u", types[i]);
	CHECK(event_write(fd2, id, CMX_EVENT_USER, 0, 0) == ENOENT);
	CHECK(!fd_is_readable(fd, 0));

	CHECK(!event_write(fd, id, CMX_EVENT_USER, -7, arg));
	CHECK(!event_write(fd, ud, CMX_EVENT_USER, 8, ~arg));
	CHECK(!event_write(fd, id, CMX_EVENT_ADDRINFO_RESOLVED, 0, 0));
	written_expect(fd, id, 5, -7, arg);
	written_expect(fd, ud, 6, 8, ~arg);
	CHECK(next_event(fd, CMX_EVENT_ADDRINFO_RESOLVED));

	/* an event moves with its id, and is dropped with it */
	CHECK(!event_write(fd, id, CMX_EVENT_USER, 0, 1));
	CHECK(!id_migrate(fd2, id, fd, &other, &fetched) && fetched == 2, "%u", fetched);
	written_expect(fd2, other, 5, 0, 1);
	CHECK(!event_write(fd2, other, CMX_EVENT_USER, 0, 2));
	CHECK(!id_destroy(fd2, other, &fetched) && fetched == 3, "%u", fetched);
	CHECK(!fd_is_readable(fd2, 0));
	close(fd);
	close(fd2);
}

static void test_written_limit(void)
{
	uint32_t id, second;
	int fd = dev_open(), i;

	CHECK(!id_create(fd, CMX_PS_TCP, 5, &id));
	CHECK(!id_create(fd, CMX_PS_TCP, 6, &second));
	for (i = 0; i < CMX_MAX_QUEUED; i++)
		CHECK(!event_write(fd, id, CMX_EVENT_USER, 0, i), "%d", i);
	CHECK(event_write(fd, id, CMX_EVENT_USER, 0, i) == ENOBUFS);
	CHECK(!event_write(fd, second, CMX_EVENT_USER, 0, 0));
	written_expect(fd, id, 5, 0, 0);
	CHECK(!event_write(fd, id, CMX_EVENT_USER, 0, i));
	CHECK(event_write(fd, id, CMX_EVENT_USER, 0, i) == ENOBUFS);
	/* the limit applies only to written events */
	CHECK(!id_resolve(fd, id, 7));
	close(fd);
}

static int id_resolve_addr(int fd, uint32_t id, const char *addr)
{
	struct sockaddr_in dst = { .sin_family = AF_INET, .sin_port = 7 };

	inet_pton(AF_INET, addr, &dst.sin_addr);
	return id_resolve_to(fd, id, &dst);
}

/* Fetches up to @n events. Returns how many are of the type before another one comes. */
static int events_count(int fd, uint32_t type, int n)
{
	struct cmx_event_record record;
	uint32_t count;
	int i;

	for (i = 0; i < n; i++)
		if (get_events(fd, &record, 1, &count) || record.resp.event != type)
			break;
	return i;
}

static void shell_run(const char *command)
{
	CHECK(!system(command), "%s", command);
}

#define UNRELATED "10.99.0.2"

/* Creates an interface without RDMA. The route to UNRELATED leads through it. */
static void plain_interface_add(void)
{
	if (getenv("CMX_DEV") || system("ip -V >/dev/null 2>&1"))
		tap_case_skip("needs ip(8), and the interface of the suite");
	shell_run("ip link add plain type dummy");
	shell_run("ip addr add 10.99.0.1/24 dev plain");
	shell_run("ip link set plain up");
}

/*
 * The queue of an id has twice CMX_MAX_QUEUED events: written ones, errors of resolving an address
 * without an RDMA device, and those of a route. A peer whose MAC address changes adds one event, no
 * matter how often it changes.
 */
static void test_full(void)
{
	int fd = dev_open(), fd2 = dev_open(), i;
	uint32_t id, witness;
	char command[128];

	plain_interface_add();
	shell_run("ip link set d0 arp on");
	shell_run("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:97 dev d0 nud permanent");
	CHECK(!id_create(fd, CMX_PS_TCP, 5, &id));
	for (i = 0; i < CMX_MAX_QUEUED; i++)
		CHECK(!event_write(fd, id, CMX_EVENT_USER, 0, i), "%d", i);
	for (i = 0; i < CMX_MAX_QUEUED - 2; i++)
		if (!CHECK(!id_resolve_addr(fd, id, UNRELATED), "%d", i))
			break;
	CHECK(!id_resolve_addr(fd, id, "10.77.0.97"));
	CHECK(!id_route(fd, id));
	CHECK(!id_create(fd2, CMX_PS_TCP, 6, &witness));
	CHECK(!id_resolve_addr(fd2, witness, "10.77.0.97") && next_event(fd2, ADDR_RESOLVED));
	CHECK(!id_route(fd2, witness) && next_event(fd2, ROUTE_RESOLVED));
	for (i = 0; i < 3; i++) {
		snprintf(command, sizeof(command),
			 "ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:9%d dev d0 nud permanent", i);
		shell_run(command);
		CHECK(next_event(fd2, UNREACHABLE));
	}
	usleep(100000);

	CHECK(events_count(fd, CMX_EVENT_USER, CMX_MAX_QUEUED) == CMX_MAX_QUEUED);
	CHECK(events_count(fd, ADDR_ERROR, CMX_MAX_QUEUED - 2) == CMX_MAX_QUEUED - 2);
	CHECK(next_event(fd, ADDR_RESOLVED) && next_event(fd, ROUTE_RESOLVED));
	CHECK(next_event(fd, UNREACHABLE) && !fd_is_readable(fd, 0));
	/* after the event was fetched, the next change adds one again */
	shell_run("ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:96 dev d0 nud permanent");
	CHECK(next_event(fd, UNREACHABLE) && !fd_is_readable(fd, 0));
	close(fd);
	close(fd2);
	shell_run("ip neigh del 10.77.0.97 dev d0; ip link set d0 arp off; ip link del plain");
}

/* The number of events that failed calls of a process can queue is limited. */
static void test_resolving_limit(void)
{
	int fd = dev_open(), i, ret = 0;
	uint32_t id;

	plain_interface_add();
	CHECK(!id_create(fd, CMX_PS_TCP, 5, &id));
	for (i = 0; i < 3 * CMX_MAX_QUEUED && !ret; i++)
		ret = id_resolve_addr(fd, id, UNRELATED);
	CHECK(ret == ENOBUFS && i == 2 * CMX_MAX_QUEUED + 1, "%d after %d", ret, i);
	CHECK(next_event(fd, ADDR_ERROR) && !id_resolve_addr(fd, id, UNRELATED));
	CHECK(id_resolve_addr(fd, id, UNRELATED) == ENOBUFS);
	close(fd);
	shell_run("ip link del plain");
}

/* The number of joins that a process can have reported again is limited as well. */
static void test_report_limit(void)
{
	struct scene s;
	struct cmd c;
	uint32_t mc;
	int i;

	if (!scene_open(&s, JOINED))
		return;
	cmd_init(&c, CMX_OBJ_MCAST, CMX_MCAST_REPORT);
	cmd_u32(&c, CMX_ATTR_MCAST_ID, s.mc);
	for (i = 0; i < 2 * CMX_MAX_QUEUED; i++)
		if (!CHECK(!id_join(s.fd, s.id, 0xe0020000 + i, 6, &mc), "%d", i))
			break;
	/* a work item reports the joins */
	for (i = 0; i < slow_time(10000) && !cmd_issue(&c, s.fd); i++)
		usleep(1000);
	CHECK(cmd_issue(&c, s.fd) == ENOBUFS);
	CHECK(next_event(s.fd, MULTICAST_JOIN) && !cmd_issue(&c, s.fd));
	scene_close(&s);
}

/* Moves an id between two channels. Returns the time in microseconds. */
static unsigned int id_move_time(const int *fds, uint32_t id)
{
	double begin = now();
	uint32_t fetched;
	int i;

	for (i = 0; i < 200; i++)
		CHECK(!id_migrate(fds[!(i % 2)], id, fds[i % 2], &id, &fetched));
	return (now() - begin) * 1e6;
}

/* Returns the shortest time of several, because the host may delay the machine. */
static unsigned int id_move_time_least(const int *fds, uint32_t id)
{
	unsigned int least = UINT_MAX, t;
	int i;

	for (i = 0; i < 5; i++) {
		t = id_move_time(fds, id);
		least = t < least ? t : least;
	}
	return least;
}

/* An id is moved under a lock that all users share, so its time must not depend on the queue. */
static void test_move_in_crowd(void)
{
	unsigned int alone, crowd;
	int fds[2] = { dev_open(), dev_open() }, i, k;
	uint32_t id, other;

	CHECK(!id_create(fds[0], CMX_PS_TCP, 5, &id));
	CHECK(!event_write(fds[0], id, CMX_EVENT_USER, 0, 1));
	alone = id_move_time_least(fds, id);
	for (i = 0; i < 16; i++) {
		CHECK(!id_create(fds[0], CMX_PS_TCP, 6, &other));
		for (k = 0; k < CMX_MAX_QUEUED; k++)
			CHECK(!event_write(fds[0], other, CMX_EVENT_USER, 0, k));
	}
	crowd = id_move_time_least(fds, id);
	if (!alone)
		tap_case_skip("calls take no time here");
	CHECK(crowd < 5 * alone, "%u us, alone %u us", crowd, alone);
	close(fds[0]);
	close(fds[1]);
}

/* The id of a request has no user data before it is accepted. */
static void test_written_too_early(void)
{
	struct scene s;

	if (!scene_open(&s, REQUEST))
		return;
	CHECK(event_write(s.fd, s.id, CMX_EVENT_USER, 0, 1) == EINVAL);
	CHECK(!id_accept(s.fd, s.id, 200));
	CHECK(!event_write(s.fd, s.id, CMX_EVENT_USER, 0, 1));
	scene_close(&s);
}

/* The id of a datagram request that is accepted without parameters receives events as well. */
static void test_established_request(void)
{
	struct sockaddr_in addr = local;
	struct cmx_event_resp *resp;
	uint32_t listener, id, child;
	int fd = dev_open();
	uint16_t port;

	addr.sin_port = 0;
	CHECK(!id_create(fd, CMX_PS_UDP, 1, &listener) && !id_bind(fd, listener, &addr));
	CHECK(!id_listen(fd, listener, 0, &port));
	CHECK(!id_create(fd, CMX_PS_UDP, 2, &id) && !id_resolve(fd, id, port));
	CHECK(next_event(fd, ADDR_RESOLVED));
	CHECK(!id_route(fd, id) && next_event(fd, ROUTE_RESOLVED) && !id_connect(fd, id));
	resp = next_event(fd, CONNECT_REQUEST);
	if (!resp)
		return;
	child = resp->id;
	CHECK(!id_establish(fd, child, 200) && next_event(fd, ESTABLISHED));
	CHECK(!event_write(fd, child, CMX_EVENT_USER, 0, 1));
	written_expect(fd, child, 200, 0, 1);
	close(fd);
}

const struct test event_tests[] = {
	{ "no event waits", test_empty },
	{ "waiting is interrupted", test_interrupted },
	{ "many events in one call", test_batch },
	{ "an event that can't be copied stays", test_copy_fails },
	{ "a join that cannot tell its handle", test_join_fails },
	{ "of two events one can't be copied", test_copy_half },
	{ "events go with their id", test_dropped },
	{ "a request has its attributes", test_request },
	{ "a request ends with its listener", test_listener_ends },
	{ "backlog: requests beyond it are refused", test_backlog },
	{ "backlog: limit of the host", test_max_backlog },
	{ "no events before accept", test_muted },
	{ "events of memberships", test_mcast },
	{ "an id moves", test_migrate },
	{ "an id moves with its memberships and requests", test_migrate_more },
	{ "written events", test_written },
	{ "written events: limit", test_written_limit },
	{ "written events: not before accept", test_written_too_early },
	{ "a datagram request is established", test_established_request },
	{ "resolving: limit of events", test_resolving_limit },
	{ "reports of joins: limit of events", test_report_limit },
	{ "no more events of a peer than fit", test_full },
	{ "an id moves from a long queue", test_move_in_crowd },
	{ },
};
