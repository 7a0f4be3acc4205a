// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * While a thread holds rtnl, which any user can keep busy in a network namespace of his own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "../lib/task.h"
#include "uapi.h"

#define LISTENERS 8
#define GROUP 0xef070723	/* 239.7.7.35 */
#define MULTICAST_JOIN 12

/**
 * struct holder - a thread that holds rtnl
 * @thread: the thread
 * @uffd: the userfaultfd that delays its page fault
 * @mem: two pages, of which only the first is present
 * @page: page size
 */
struct holder {
	pthread_t thread;
	int uffd;
	uint8_t *mem;
	size_t page;
};

/* The command is in the first page. Under rtnl, the kernel writes the value to the second one. */
static void *holder_run(void *arg)
{
	struct holder *h = arg;
	struct ethtool_value *value = (void *)(h->mem + h->page - sizeof(value->cmd));
	struct ifreq req = { .ifr_name = "lo", .ifr_data = (void *)value };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	value->cmd = ETHTOOL_GFLAGS;
	ioctl(fd, SIOCETHTOOL, &req);
	close(fd);
	return NULL;
}

/* Returns when the thread holds rtnl. Skips the case in a kernel without userfaultfd. */
static bool holder_begin(struct holder *h)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg msg;

	h->page = sysconf(_SC_PAGESIZE);
	h->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (h->uffd < 0)
		tap_case_skip("this kernel has no userfaultfd");
	h->mem = mmap(NULL, 2 * h->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	reg.range.start = (uintptr_t)h->mem + h->page;
	reg.range.len = h->page;
	if (!CHECK(!ioctl(h->uffd, UFFDIO_API, &api)) ||
	    !CHECK(!ioctl(h->uffd, UFFDIO_REGISTER, &reg)))
		return false;
	pthread_create(&h->thread, NULL, holder_run, h);
	return CHECK(read(h->uffd, &msg, sizeof(msg)) == sizeof(msg));
}

static void holder_end(struct holder *h)
{
	close(h->uffd);
	pthread_join(h->thread, NULL);
	munmap(h->mem, 2 * h->page);
}

/**
 * struct caller - a thread with one call
 * @thread: the thread
 * @tid: its ID, once it runs
 * @fd: the channel
 * @id: the id of the call, or the membership that it leaves
 * @mc: the membership, if the call is a join
 * @err: 0 or errno of the call, once it has ended; before that -1
 */
struct caller {
	pthread_t thread;
	pid_t tid;
	int fd;
	uint32_t id;
	uint32_t mc;
	int err;
};

static void caller_finish(struct caller *c, int err)
{
	__atomic_store_n(&c->err, err, __ATOMIC_RELEASE);
}

static bool caller_has_ended(struct caller *c)
{
	return __atomic_load_n(&c->err, __ATOMIC_ACQUIRE) != -1;
}

static int option_get(int fd, uint32_t id, uint32_t level, uint32_t name)
{
	uint32_t val, count;
	struct cmd c;

	id_cmd(&c, CMX_ID_GET_OPTION, id);
	cmd_u32(&c, CMX_ATTR_OPT_LEVEL, level);
	cmd_u32(&c, CMX_ATTR_OPT_NAME, name);
	cmd_out(&c, CMX_ATTR_OPT_OUT, &val, sizeof(val));
	cmd_out(&c, CMX_ATTR_COUNT, &count, sizeof(count));
	return cmd_issue(&c, fd);
}

static void *caller_get_mtu(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	caller_finish(c, option_get(c->fd, c->id, CMX_OPTION, CMX_OPTION_PATH_MTU));
	return NULL;
}

static void *caller_get_tos(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	caller_finish(c, option_get(c->fd, c->id, CMX_OPTION_LEVEL_ID, CMX_ID_OPTION_TOS));
	return NULL;
}

static void *caller_join(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	caller_finish(c, id_join(c->fd, c->id, GROUP, 35, &c->mc));
	return NULL;
}

static void *caller_leave(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	caller_finish(c, mc_leave(c->fd, c->id, NULL));
	return NULL;
}

static void *caller_destroy(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	caller_finish(c, id_destroy(c->fd, c->id, NULL));
	return NULL;
}

/* Returns when the thread sleeps in the call, or has ended. */
static void caller_start(struct caller *c, void *(*run)(void *), int fd, uint32_t id)
{
	*c = (struct caller) { .fd = fd, .id = id, .err = -1 };
	pthread_create(&c->thread, NULL, run, c);
	while (!caller_has_ended(c) &&
	       task_syscall(__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE)) != SYS_ioctl)
		usleep(1000);
}

/* Returns whether the call ends while rtnl is held. */
static bool caller_ends(struct caller *c)
{
	int i;

	for (i = 0; i < slow_time(10000) && !caller_has_ended(c); i++)
		usleep(1000);
	return caller_has_ended(c);
}

static int caller_join_thread(struct caller *c)
{
	pthread_join(c->thread, NULL);
	return c->err;
}

/* Returns whether a request reaches a new listener. */
static bool request_arrives(void)
{
	struct scene s;
	bool ret = scene_open(&s, REQUEST);

	scene_close(&s);
	return ret;
}

/*
 * Requests arrive at listeners of a user whose threads ask for the MTU of the port, more than there
 * are workers of ib_cm. Another user's request is delivered.
 */
static void test_mtu(void)
{
	struct caller callers[LISTENERS];
	struct scene s[LISTENERS];
	struct holder h;
	int i;

	for (i = 0; i < LISTENERS; i++)
		if (!scene_open(&s[i], ROUTE))
			return;
	if (!holder_begin(&h))
		return;
	for (i = 0; i < LISTENERS; i++) {
		caller_start(&callers[i], caller_get_mtu, s[i].fd, s[i].listener);
		CHECK(!id_connect(s[i].fd, s[i].id));
	}
	CHECK(request_arrives());
	for (i = 0; i < LISTENERS; i++)
		CHECK(caller_has_ended(&callers[i]));
	holder_end(&h);
	for (i = 0; i < LISTENERS; i++) {
		CHECK(!caller_join_thread(&callers[i]));
		scene_close(&s[i]);
	}
}

static bool group_is_joined(void)
{
	FILE *f = fopen("/proc/net/igmp", "r");
	char line[128], want[16];
	bool found = false;

	snprintf(want, sizeof(want), "%08X", htonl(GROUP));
	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, want);
	if (f)
		fclose(f);
	return found;
}

static bool group_is_left(void)
{
	int i;

	for (i = 0; i < slow_time(10000) && group_is_joined(); i++)
		usleep(1000);
	return !group_is_joined();
}

/* A join waits for rtnl. Meanwhile the id can be used and destroyed. The group is not joined. */
static void test_join(void)
{
	struct caller join, get, end;
	struct holder h;
	struct scene s;

	if (!scene_open(&s, UD))
		return;
	if (!holder_begin(&h))
		return;
	caller_start(&join, caller_join, s.fd, s.id);
	CHECK(!caller_has_ended(&join));
	caller_start(&get, caller_get_tos, s.fd, s.id);
	CHECK(caller_ends(&get));
	caller_start(&end, caller_destroy, s.fd, s.id);
	CHECK(caller_ends(&end));
	holder_end(&h);
	CHECK(!caller_join_thread(&get));
	CHECK(!caller_join_thread(&end));
	CHECK(caller_join_thread(&join) == ENOENT, "%d", join.err);
	CHECK(!group_is_joined());
	CHECK(!fd_is_readable(s.fd, 0));
	scene_close(&s);
}

/* Joins of several ids wait for rtnl. Each gets its event, and the interface is a member once. */
static void test_joins(void)
{
	struct caller joins[LISTENERS];
	struct scene s[LISTENERS];
	struct holder h;
	int i;

	for (i = 0; i < LISTENERS; i++)
		if (!scene_open(&s[i], UD))
			return;
	if (!holder_begin(&h))
		return;
	for (i = 0; i < LISTENERS; i++)
		caller_start(&joins[i], caller_join, s[i].fd, s[i].id);
	holder_end(&h);
	for (i = 0; i < LISTENERS; i++) {
		CHECK(!caller_join_thread(&joins[i]), "%d", joins[i].err);
		CHECK(next_event(s[i].fd, MULTICAST_JOIN));
		CHECK(group_is_joined());
		CHECK(!mc_leave(s[i].fd, joins[i].mc, NULL));
		scene_close(&s[i]);
	}
	CHECK(group_is_left());
}

/* A leave does not wait for rtnl. The interface leaves the group when rtnl is free. */
static void test_leave(void)
{
	struct caller leave;
	struct holder h;
	struct scene s;
	uint32_t mc;

	if (!scene_open(&s, UD))
		return;
	if (!CHECK(!id_join(s.fd, s.id, GROUP, 35, &mc)) ||
	    !CHECK(next_event(s.fd, MULTICAST_JOIN)) || !holder_begin(&h))
		return;
	caller_start(&leave, caller_leave, s.fd, mc);
	CHECK(caller_ends(&leave));
	CHECK(group_is_joined());
	holder_end(&h);
	CHECK(!caller_join_thread(&leave));
	CHECK(group_is_left());
	scene_close(&s);
}

const struct test rtnl_tests[] = {
	{ "rtnl is busy: a request beside queries of the MTU", test_mtu },
	{ "rtnl is busy: an id whose join waits", test_join },
	{ "rtnl is busy: joins of one group", test_joins },
	{ "rtnl is busy: a leave", test_leave },
	{ },
};
