// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ports: an id cannot take the port of another id. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "api.h"

#define ME "10.77.0.1"
#define NOBODY "10.77.0.96"
#define PORT_RANGE "/proc/sys/net/ipv4/ip_local_port_range"

/* An id cannot take the port of another one by clearing AFONLY after the bind. */
static void test_withdraw_afonly(void)
{
	struct rdma_event_channel *ch, *other;
	struct rdma_cm_id *victim = new_id(&ch, RDMA_PS_TCP);
	struct rdma_cm_id *id = new_id(&other, RDMA_PS_TCP);
	uint32_t flags;

	WANT(!rdma_bind_addr(victim, ip_addr("0.0.0.0", 0)) && !rdma_listen(victim, 1));
	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1));
	WANT(!rdma_bind_addr(id, ip_addr("::", ntohs(rdma_get_src_port(victim)))));
	WANT(set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 0) && errno == EADDRNOTAVAIL);
	WANT(get_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &flags) == 1);
	WANT(!rdma_listen(id, 1));
}

static void port_restore_range(void)
{
	WANT(!system("echo 32768 60999 >" PORT_RANGE));
}

/* An id shares the only port because its peer differs. It can neither change that nor listen. */
static void test_share_then_change(void)
{
	struct rdma_event_channel *ch, *other;
	struct rdma_cm_id *owner = new_id(&ch, RDMA_PS_TCP);
	struct rdma_cm_id *id = new_id(&other, RDMA_PS_TCP);

	need_rig();
	atexit(port_restore_range);
	WANT(!system("echo 45007 45007 >" PORT_RANGE));
	WANT(!rdma_resolve_addr(owner, NULL, ip_addr(ME, 7), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(NOBODY, 8), 100));
	WANT(event_expect(other, RDMA_CM_EVENT_ADDR_ERROR));
	WANT(rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000) && errno == EADDRNOTAVAIL);
	WANT(rdma_listen(id, 1) && errno == EADDRNOTAVAIL);
	WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 9), 2000));
	WANT(!event_expect(other, RDMA_CM_EVENT_ADDR_RESOLVED));
}

static void port_listen_in_namespace(const char *allowed, int port)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	int status;
	pid_t pid;

	need_rig();
	WANT(!system(allowed));
	pid = fork();
	if (!pid) {
		WANT(!unshare(CLONE_NEWNET) && !setuid(65534));
		id = new_id(&ch, RDMA_PS_TCP);
		WANT(!rdma_bind_addr(id, ip_addr("0.0.0.0", port)));
		_exit(rdma_listen(id, 1) ? errno : 0);
	}
	WANT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	errno = WEXITSTATUS(status);
}

#define NETNS_LISTEN "/sys/module/rdma_cmx/parameters/netns_listen"

static void port_forbid_namespaces(void)
{
	WANT(!system("echo N >" NETNS_LISTEN));
}

/* A user that creates a network namespace gets no access to the service IDs of the host. */
static void test_namespaces(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	atexit(port_forbid_namespaces);
	port_listen_in_namespace("echo N >" NETNS_LISTEN, 7540);
	WANT(errno == EACCES);
	port_listen_in_namespace("echo Y >" NETNS_LISTEN, 7540);
	WANT(!errno);
	port_forbid_namespaces();
	/* CAP_NET_ADMIN on the host allows it */
	WANT(!unshare(CLONE_NEWNET));
	id = new_id(&ch, RDMA_PS_TCP);
	WANT(!rdma_bind_addr(id, ip_addr("0.0.0.0", 7540)) && !rdma_listen(id, 1));
}

/* The number of owners is limited, because each request searches the owners of its port. */
static void test_owner_limit(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	int i, port;

	WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1));
	WANT(!rdma_bind_addr(id, ip_addr("0.0.0.0", 0)));
	port = ntohs(rdma_get_src_port(id));
	for (i = 1; i <= 1024; i++) {
		WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		WANT(!set_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1));
		WANT(!rdma_bind_addr(id, ip_addr("0.0.0.0", port)) == (i < 1024));
	}
	WANT(errno == EADDRINUSE);
}

const struct test port_tests[] = {
	{ "port: AFONLY withdrawn from a bound id", test_withdraw_afonly },
	{ "port: shared, and then another peer, or a listener", test_share_then_change },
	{ "port: a listener in a user's namespace", test_namespaces },
	{ "port: many ids share a port", test_owner_limit },
	{}
};
