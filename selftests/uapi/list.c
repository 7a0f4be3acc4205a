// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CMX_CHANNEL_LIST_IDS lists each id once, and only to callers that may see it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/now.h"
#include "../lib/slow.h"
#include "uapi.h"

#define NOBODY 65534
#define MANY 3000
#define MIN_RECORD OFFSETOFEND(struct cmx_id_record, device)
#define STATE_IDLE 0
#define STATE_CONNECT 7

/**
 * struct listing - one listing, from the first to the last id
 * @fd: any open file of the device
 * @record_size: size of a record; 0: that of the header
 * @len: length of the buffer; 0: the longest one
 * @calls: number of calls so far
 * @total: number of records so far
 * @longest_ms: time of the longest call so far
 * @fn: called for each record
 * @arg: for @fn
 */
struct listing {
	int fd;
	uint32_t record_size;
	size_t len;
	unsigned int calls, total, longest_ms;
	void (*fn)(const struct cmx_id_record *record, void *arg);
	void *arg;
};

static int list_call(struct listing *l, uint64_t *cursor, void *to, uint32_t *count)
{
	uint64_t begin = now_ms(), ms;
	int ret = ids_list(l->fd, l->record_size, cursor, to, l->len, count);

	l->calls++;
	ms = now_ms() - begin;
	if (ms > l->longest_ms)
		l->longest_ms = ms;
	return ret;
}

static bool ids_list_all(struct listing *l)
{
	static uint8_t buffer[65528] __attribute__((aligned(8)));
	const struct cmx_id_record *record;
	uint64_t cursor = 0;
	uint32_t n;
	uint8_t *at;

	l->record_size = l->record_size ?: sizeof(*record);
	l->len = l->len ?: sizeof(buffer);
	do {
		at = buffer;
		if (!CHECK(!list_call(l, &cursor, buffer, &n)))
			return false;
		l->total += n;
		for (; n; n--, at += record->size) {
			record = (const void *)at;
			if (!CHECK(record->size == l->record_size + record->num_options *
				   sizeof(struct cmx_id_option), "%u", record->size) ||
			    !CHECK(at + record->size <= buffer + l->len))
				return false;
			l->fn(record, l->arg);
		}
	} while (cursor);
	return true;
}

static const struct cmx_id_option *option_find(const struct cmx_id_record *r, uint32_t level,
					       uint32_t name)
{
	const struct cmx_id_option *o = (const void *)((const uint8_t *)r + sizeof(*r));
	unsigned int i;

	for (i = 0; i < r->num_options; i++)
		if (o[i].level == level && o[i].name == name)
			return &o[i];
	return NULL;
}

/** struct seen - how often an id is listed, and its record */
struct seen {
	uint32_t handle;
	unsigned int times;
	uint8_t mem[2048] __attribute__((aligned(8)));
};

static void seen_add(const struct cmx_id_record *record, void *arg)
{
	struct seen *seen = arg;

	if (record->handle != seen->handle)
		return;
	seen->times++;
	if (CHECK(record->size <= sizeof(seen->mem)))
		memcpy(seen->mem, record, record->size);
}

static const struct cmx_id_record *seen_find(struct seen *seen, int fd, uint32_t handle)
{
	struct listing l = { .fd = fd, .fn = seen_add, .arg = seen };

	seen->handle = handle;
	seen->times = 0;
	return ids_list_all(&l) && CHECK(seen->times == 1, "%u", seen->times) ?
	       (const void *)seen->mem : NULL;
}

struct tally {
	uint32_t handles[MANY];
	uint8_t times[MANY];
};

static int handle_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void tally_add(const struct cmx_id_record *record, void *arg)
{
	struct tally *tally = arg;
	uint32_t *at = bsearch(&record->handle, tally->handles, MANY, sizeof(*at), handle_cmp);

	if (at)
		tally->times[at - tally->handles]++;
}

/* With the shortest buffer and with the longest. A call returns as many records as fit. */
static void test_many(void)
{
	static struct tally tally;
	const size_t lens[] = { CMX_LIST_MIN_LEN, 65528 };
	struct listing l;
	int fd = dev_open();
	size_t i, k;

	for (i = 0; i < MANY; i++)
		CHECK(!id_create(fd, CMX_PS_TCP, 1, &tally.handles[i]));
	qsort(tally.handles, MANY, sizeof(uint32_t), handle_cmp);
	for (k = 0; k < ARRAY_SIZE(lens); k++) {
		memset(tally.times, 0, sizeof(tally.times));
		l = (struct listing) { .fd = fd, .len = lens[k], .fn = tally_add, .arg = &tally };
		if (!ids_list_all(&l))
			break;
		for (i = 0; i < MANY && tally.times[i] == 1; i++)
			;
		CHECK(i == MANY, "id %zu: %u times", i, tally.times[i]);
		CHECK(l.calls >= l.total * sizeof(struct cmx_id_record) / l.len, "%u", l.calls);
	}
	close(fd);
}

#define CALL_MS 50

static void record_ignore(const struct cmx_id_record *record, void *arg)
{
	(void)record;
	(void)arg;
}

/* No call takes long, not even one of a user that may see none of the ids. */
static void test_hundred_thousand(void)
{
	unsigned int n = slow_time(1) > 1 ? 10000 : 100000, i;
	struct listing l = { .fd = dev_open(), .fn = record_ignore };
	uint32_t id;

	for (i = 0; i < n; i++)
		if (!CHECK(!id_create(l.fd, CMX_PS_TCP, 1, &id), "%u", i))
			return;
	CHECK(ids_list_all(&l) && l.total >= n, "%u", l.total);
	CHECK(l.longest_ms < (unsigned int)slow_time(CALL_MS), "%u ms", l.longest_ms);
	l.total = l.calls = l.longest_ms = 0;
	CHECK(!seteuid(NOBODY));
	CHECK(ids_list_all(&l) && !l.total, "%u", l.total);
	CHECK(l.calls >= n / 4096, "%u", l.calls);
	CHECK(l.longest_ms < (unsigned int)slow_time(CALL_MS), "%u ms", l.longest_ms);
	close(l.fd);
}

static void test_fields(void)
{
	const struct cmx_id_option *o;
	const struct cmx_id_record *r;
	const uint8_t tos = 8;
	static struct seen seen;
	char name[16] = "";
	struct scene s;
	struct cmd c;

	if (!scene_open(&s, CONNECTED))
		return;
	id_cmd(&c, CMX_ID_SET_OPTION, s.listener);
	cmd_u32(&c, CMX_ATTR_OPT_LEVEL, CMX_OPTION_LEVEL_ID);
	cmd_u32(&c, CMX_ATTR_OPT_NAME, CMX_ID_OPTION_TOS);
	cmd_in(&c, CMX_ATTR_OPT_VALUE, &tos, 1);
	prctl(PR_GET_NAME, name);
	CHECK(!cmd_issue(&c, s.fd));
	r = seen_find(&seen, s.other, s.id);
	if (r) {
		CHECK(r->state == STATE_CONNECT, "%u", r->state);
		CHECK(r->flags == CMX_ID_F_ESTABLISHED, "%#x", r->flags);
		CHECK(r->pid == getpid() && !r->uid && !strncmp(r->comm, name, sizeof(name)));
		CHECK(r->trace_id && r->netns && r->age < 600, "%u", r->age);
		CHECK(r->ps == CMX_PS_TCP && r->qp_type == CMX_QPT_RC && r->qp_num);
		CHECK(r->port_num == 1 && *r->device);
		CHECK(getenv("CMX_DEV") || r->transport == CMX_ID_TRANSPORT_ROCE_V2);
#ifndef UAPI_FEWER
		CHECK(((struct sockaddr_in *)&r->dst_addr)->sin_port == s.port);
#endif
		CHECK(((struct sockaddr_in *)&r->src_addr)->sin_addr.s_addr ==
		      local.sin_addr.s_addr);
		o = option_find(r, CMX_OPTION_LEVEL_ID, CMX_ID_OPTION_TOS);
		CHECK(o && !o->flags && !o->value);
		o = option_find(r, CMX_OPTION, CMX_OPTION_PATH_MTU);
		CHECK(o && !o->flags && o->value);
		o = option_find(r, CMX_OPTION, CMX_OPTION_CM_RETRIES);
		CHECK(o && !o->flags && o->value == 15);
		/* only InfiniBand has the option P_Key */
		CHECK(getenv("CMX_DEV") || !option_find(r, CMX_OPTION, CMX_OPTION_PKEY));
	}
	r = seen_find(&seen, s.other, s.listener);
	if (r) {
		CHECK(r->flags == CMX_ID_F_PASSIVE, "%#x", r->flags);
		o = option_find(r, CMX_OPTION_LEVEL_ID, CMX_ID_OPTION_TOS);
		CHECK(o && o->flags == CMX_OPT_F_SET && o->value == 8);
		o = option_find(r, CMX_OPTION_LEVEL_ID, CMX_ID_OPTION_AFONLY);
		CHECK(o && !o->flags && o->value == 1);
		/* a listener has no path, and the listing does not query the MTU of the port */
		CHECK(!option_find(r, CMX_OPTION, CMX_OPTION_PATH_MTU));
	}
	scene_close(&s);
}

static void test_idle(void)
{
	const struct cmx_id_record *r;
	static struct seen seen;
	struct scene s;

	if (!scene_open(&s, IDLE))
		return;
	r = seen_find(&seen, s.fd, s.id);
	if (r)
		CHECK(r->state == STATE_IDLE && !r->transport && !*r->device && !r->port_num &&
		      !r->src_addr.ss_family && !r->qp_num);
	scene_close(&s);
}

static void test_wrong_calls(void)
{
	static const uint32_t sizes[] = {
		0, 8, MIN_RECORD - 8, MIN_RECORD + 4, CMX_LIST_MAX_RECORD + 8, 1U << 31, -8U, -1U,
	};
	static const uint64_t cursors[] = {
		1ULL << 22, 1ULL << 32, (1ULL << 33) - 1, 1ULL << 33, 1ULL << 63, -1ULL,
	};
	static uint8_t buffer[CMX_LIST_MIN_LEN];
	struct listing l = { .fd = dev_open(), .len = sizeof(buffer) };
	uint64_t cursor;
	uint32_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		l.record_size = sizes[i];
		cursor = 0;
		CHECK(list_call(&l, &cursor, buffer, &n) == EINVAL, "size %u", sizes[i]);
	}
	l.record_size = sizeof(struct cmx_id_record);
	/* a cursor behind all ids returns no record */
	for (i = 0; i < ARRAY_SIZE(cursors); i++) {
		cursor = cursors[i];
		n = -1;
		CHECK(!list_call(&l, &cursor, buffer, &n) && !cursor && !n, "cursor %zu", i);
	}
	close(l.fd);
}

/* Runs @fn in a child process. Returns whether @fn returns 0. */
static bool child_run(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(fn(arg));
	return CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
		     "status %#x", status);
}

static void seen_count(const struct cmx_id_record *record, void *arg)
{
	unsigned int *users = arg;

	users[record->uid == NOBODY]++;
	users[2] += !!record->trace_id;
}

/* Creates an id. Returns 0 if the caller then sees this number of ids of root and of nobody. */
static int ids_are_seen(unsigned int root, unsigned int nobody, bool traces)
{
	unsigned int users[3] = {};
	struct listing l = { .fd = dev_open(), .fn = seen_count, .arg = users };
	uint32_t id;

	if (l.fd < 0 || id_create(l.fd, CMX_PS_TCP, 1, &id) || !ids_list_all(&l))
		return 2;
	if (users[0] == root && users[1] == nobody && !users[2] == !traces)
		return 0;
	printf("# sees %u, %u, %u\n", users[0], users[1], users[2]);
	fflush(stdout);
	return 1;
}

static int nobody_sees(void *arg)
{
	(void)arg;
	return setuid(NOBODY) ? 3 : ids_are_seen(0, 1, false);
}

static int root_sees(void *arg)
{
	(void)arg;
	return ids_are_seen(2, 0, true);
}

/* The tests below count all ids of the machine. */
static void hardware_skip(void)
{
	if (getenv("CMX_DEV"))
		tap_case_skip("others may have ids");
}

static void test_users(void)
{
	int fd = dev_open();
	uint32_t id;

	hardware_skip();
	CHECK(!id_create(fd, CMX_PS_TCP, 1, &id));
	child_run(root_sees, NULL);
	child_run(nobody_sees, NULL);
	close(fd);
}

static int nobody_opens_for_root(void *arg)
{
	uint32_t id;
	int fd;

	(void)arg;
	if (seteuid(NOBODY))
		return 3;
	fd = dev_open();
	if (fd < 0 || id_create(fd, CMX_PS_TCP, 1, &id) || seteuid(0))
		return 4;
	return ids_are_seen(1, 1, true);
}

static void test_admin(void)
{
	hardware_skip();
	child_run(nobody_opens_for_root, NULL);
}

/* A new network namespace, in the user namespace of the host */
static int sees_in_net(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWNET))
		return 3;
	if (ids_are_seen(1, 0, true))
		return 4;
	/* the id of the other process still exists */
	if (!child_run(nobody_sees, NULL))
		return 5;
	return ids_are_seen(2, 0, true);
}

static int sees_in_user_namespace(void *arg)
{
	(void)arg;
	if (setuid(NOBODY) || unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 3;
	/* without a mapping, every user is the overflow user */
	return ids_are_seen(0, 1, false);
}

static void test_namespaces(void)
{
	int fd = dev_open();
	uint32_t id;

	hardware_skip();
	CHECK(!id_create(fd, CMX_PS_TCP, 1, &id));
	child_run(sees_in_net, NULL);
	child_run(sees_in_user_namespace, NULL);
	child_run(root_sees, NULL);
	close(fd);
}

/* Opens a channel that outlives the process, because the parent has the same files. */
static int child_opens(void *arg)
{
	static struct seen seen;
	const struct cmx_id_record *r;
	const int *fd = arg;
	uint32_t id;

	if (dup2(dev_open(), *fd) != *fd || id_create(*fd, CMX_PS_TCP, 1, &id))
		return 2;
	r = seen_find(&seen, *fd, id);
	return !r || r->pid != getpid();
}

static void processes_count(const struct cmx_id_record *record, void *arg)
{
	*(unsigned int *)arg += !!record->pid;
}

/* Starts a process with the ID @pid if the kernel supports it. Returns the ID of the process. */
static pid_t fork_with_pid(pid_t pid)
{
	FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");

	if (f) {
		fprintf(f, "%d", pid - 1);
		fclose(f);
	}
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

/* The listing shows the process that opened a channel, and never another one with the same ID. */
static void test_process(void)
{
	unsigned int processes = 0;
	struct listing l = { .fd = dev_open(), .fn = processes_count, .arg = &processes };
	int fd = open("/dev/null", O_RDWR), status;
	pid_t pid, other;

	hardware_skip();
	pid = child_start(child_opens, &fd, CLONE_FILES);
	waitpid(pid, &status, 0);
	CHECK(!status, "%#x", status);
	other = fork_with_pid(pid);
	if (other != pid)
		tap_note_print("process ID %d was not had again", pid);
	CHECK(ids_list_all(&l) && l.total == 1 && !processes, "%u, %u", l.total, processes);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	close(fd);
	close(l.fd);
}

const struct test list_tests[] = {
	{ "list: each of many ids once", test_many },
	{ "list: 100,000 ids", test_hundred_thousand },
	{ "list: a connection and its listener", test_fields },
	{ "list: an idle id", test_idle },
	{ "list: sizes and cursors out of range", test_wrong_calls },
	{ "list: a user sees his own ids", test_users },
	{ "list: an administrator sees the ids of all users", test_admin },
	{ "list: a namespace sees its own ids", test_namespaces },
	{ "list: the process of a channel", test_process },
	{ },
};
