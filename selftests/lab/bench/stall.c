// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a request takes while another user, who has no privileges, keeps rtnl busy: he makes and
 * deletes network interfaces in a network namespace of his own. Many ids of his wait for rtnl, and
 * requests arrive for these ids. To tell the wait for rtnl from that for a processor, the same is
 * measured while one process computes instead, and the ids do not wait.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RDMA_CMX_OPTIONAL
#include <rdma/rdma_cmx.h>

#include "bench.h"

#define NOBODY 65534
#define REQUESTS 40
#define ATTACKERS 16
#define ATTACK_PORT 7480
#define INTERFACES \
	"while :; do { for i in $(seq 1000); do echo link add x$i group 9 type dummy; done; " \
	"echo link del group 9; } | ip -batch -; done"

/* Starts a process of another user, which ends with this one. Returns 0 in that process. */
static pid_t attacker_fork(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (setpgid(0, 0) || setgid(NOBODY) || setuid(NOBODY) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL))
		die("another user");
	return 0;
}

static void processor_keep_busy(void)
{
	for (volatile unsigned int i = 0; ; i++)
		;
}

static void file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void rtnl_keep_busy(void)
{
	/* another user's files in /proc belong to root otherwise */
	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		die("unshare");
	file_write("/proc/self/uid_map", "0 65534 1");
	execlp("bash", "bash", "-c", INTERFACES, NULL);
	die("bash");
}

/* In-tree there is no such option, and no call that waits for rtnl with the lock of a listener. */
static void listener_ask(int port)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id = id_on(ch, NULL);
	struct sockaddr_in sin;
	uint32_t mtu;
	size_t len;

	if (rdma_bind_addr(id, addr_of(&sin, conf.addr, port)) || rdma_listen(id, 16))
		die("listen");
	for (;;) {
		len = sizeof(mtu);
		if (rdma_cmx_get_option(id, CMX_OPTION, CMX_OPTION_PATH_MTU, &mtu, &len, NULL))
			pause();
		/* to keep no processor busy */
		usleep(1000);
	}
}

static void requests_send(int port)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	struct sockaddr_in sin;

	for (;;) {
		id = id_on(ch, NULL);
		if (rdma_resolve_addr(id, NULL, addr_of(&sin, conf.addr, port), 2000))
			die("rdma_resolve_addr");
		rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
		if (rdma_resolve_route(id, 2000))
			die("rdma_resolve_route");
		rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
		param.qp_num = conn_number();
		rdma_connect(id, &param);
		/* not more: a port of rxe has room for 32,767 address handles of connections */
		usleep(200000);
		rdma_destroy_id(id);
	}
}

static void groups_join(int n)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id = id_create_datagram(ch, conf.addr);
	struct sockaddr_in sin;

	for (;;) {
		struct sockaddr *addr = addr_of_group(&sin, "239.8.0.0", n);

		if (rdma_join_multicast(id, addr, NULL))
			die("rdma_join_multicast");
		rdma_ack_cm_event(event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
		rdma_leave_multicast(id, addr);
	}
}

/* Returns the time from the connect to CONNECT_REQUEST. */
static double request_time(struct rdma_event_channel *server, struct rdma_event_channel *client)
{
	struct rdma_conn_param param = { .retry_count = 7, .qp_num = conn_number() };
	struct rdma_cm_id *id = id_routed(client, conf.addr, NULL), *request;
	struct rdma_cm_event *ev;
	double t = now();

	if (rdma_connect(id, &param))
		die("rdma_connect");
	ev = event_expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	t = now() - t;
	request = ev->id;
	rdma_ack_cm_event(ev);
	rdma_destroy_id(id);
	rdma_destroy_id(request);
	return t;
}

static void requests_measure(const char *mean, const char *max, struct rdma_event_channel *server)
{
	struct rdma_event_channel *client = channel_create();
	double t, sum = 0, longest = 0;

	for (int i = 0; i < REQUESTS; i++) {
		t = request_time(server, client);
		sum += t;
		if (t > longest)
			longest = t;
	}
	result_print(mean, sum / REQUESTS * 1e3);
	result_print(max, longest * 1e3);
}

static void stall_measure(const char *mean, const char *max, struct rdma_event_channel *server,
			  void (*keep_busy)(void))
{
	pid_t pid[1 + 3 * ATTACKERS];
	int n = 0;

	pid[n] = attacker_fork();
	if (!pid[n++])
		keep_busy();
	for (int i = 0; i < ATTACKERS; i++) {
		pid[n] = attacker_fork();
		if (!pid[n++])
			listener_ask(ATTACK_PORT + i);
		pid[n] = attacker_fork();
		if (!pid[n++])
			requests_send(ATTACK_PORT + i);
		pid[n] = attacker_fork();
		if (!pid[n++])
			groups_join(i);
	}
	sleep(2);
	requests_measure(mean, max, server);
	while (n--) {
		kill(-pid[n], SIGKILL);
		waitpid(pid[n], NULL, 0);
	}
	/* interfaces of the namespace are still being deleted */
	sleep(10);
}

void bench_stall(void)
{
	struct rdma_event_channel *server = channel_create();
	struct rdma_cm_id *listener = id_on(server, NULL);
	struct sockaddr_in sin;

	if (rdma_bind_addr(listener, addr_of(&sin, conf.addr, BENCH_PORT)) ||
	    rdma_listen(listener, 16))
		die("listen");
	requests_measure("stall_idle_ms", "stall_idle_max_ms", server);
	stall_measure("stall_free_ms", "stall_free_max_ms", server, processor_keep_busy);
	stall_measure("stall_ms", "stall_max_ms", server, rtnl_keep_busy);
}
