// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls that wait in a page fault on memory of the process (userfaultfd).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "../lib/task.h"
#include "uapi.h"

#define PAGES 4

/**
 * struct stuck - a call that waits in a page fault
 * @fd: the channel
 * @uffd: the userfaultfd that delays the page fault
 * @mem: pages, of which only the first and the last are present
 * @page: page size
 * @id: id that stuck_reject() uses, or that stuck_bind() has created
 * @thread: thread that makes the call
 * @count: CMX_ATTR_COUNT of the call
 * @err: 0 or errno of the call
 */
struct stuck {
	int fd, uffd;
	uint8_t *mem;
	size_t page;
	uint32_t id;
	pthread_t thread;
	uint32_t count;
	int err;
};

#define BIND_UID 77
#define CALLS_OF_ID 4

static void *stuck_fetch(void *arg)
{
	struct stuck *s = arg;
	struct cmx_event_record *to = (void *)(s->mem + s->page - 64);

	get_events(s->fd, to, (PAGES - 1) * s->page / sizeof(*to), &s->count);
	return NULL;
}

static void *stuck_list(void *arg)
{
	struct stuck *s = arg;
	uint64_t cursor = 0;

	s->err = ids_list(s->fd, sizeof(struct cmx_id_record), &cursor, s->mem + s->page - 64,
			  (PAGES - 1) * s->page, &s->count);
	return NULL;
}

/* A call that creates an id, and waits for the memory of its address first. */
static void *stuck_bind(void *arg)
{
	struct stuck *s = arg;
	struct cmd c;

	cmd_init(&c, CMX_OBJ_ID, CMX_ID_BIND);
	cmd_in(&c, CMX_ATTR_SRC_ADDR, s->mem + s->page, sizeof(local));
	cmd_out(&c, CMX_ATTR_INFO, s->mem + 3 * s->page, sizeof(struct cmx_id_info));
	cmd_u64(&c, CMX_ATTR_USER_DATA, BIND_UID);
	cmd_u32(&c, CMX_ATTR_PS, CMX_PS_TCP);
	cmd_u32(&c, CMX_ATTR_QP_TYPE, CMX_QPT_RC);
	cmd_out(&c, CMX_ATTR_OUT_ID, &s->id, sizeof(s->id));
	cmd_out(&c, CMX_ATTR_COUNT, &s->count, sizeof(s->count));
	s->err = cmd_issue(&c, s->fd);
	return NULL;
}

/* Returns false if the kernel has no userfaultfd, or does not allow it. */
static bool stuck_begin(struct stuck *s, int fd, void *(*call)(void *))
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg msg;

	s->fd = fd;
	s->count = 0;
	s->page = sysconf(_SC_PAGESIZE);
	s->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (s->uffd < 0)
		return false;
	s->mem = mmap(NULL, PAGES * s->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	reg.range.start = (uintptr_t)s->mem + s->page;
	reg.range.len = (PAGES - 2) * s->page;
	if (!CHECK(!ioctl(s->uffd, UFFDIO_API, &api)) ||
	    !CHECK(!ioctl(s->uffd, UFFDIO_REGISTER, &reg)))
		return false;
	pthread_create(&s->thread, NULL, call, s);
	return CHECK(read(s->uffd, &msg, sizeof(msg)) == sizeof(msg));
}

/* Provides the input. The call then waits for its output, which was writable before. */
static bool stuck_continue(struct stuck *s)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)s->mem + 3 * s->page, .len = s->page },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_copy copy = {
		.dst = (uintptr_t)s->mem + s->page, .src = (uintptr_t)s->mem, .len = s->page,
	};
	struct uffd_msg msg;

	memcpy(s->mem, &local, sizeof(local));
	return CHECK(!ioctl(s->uffd, UFFDIO_REGISTER, &reg)) &&
	       CHECK(!madvise(s->mem + 3 * s->page, s->page, MADV_DONTNEED)) &&
	       CHECK(!ioctl(s->uffd, UFFDIO_COPY, &copy)) &&
	       CHECK(read(s->uffd, &msg, sizeof(msg)) == sizeof(msg));
}

/* Provides the memory, and waits until the call has ended. */
static void stuck_end(struct stuck *s)
{
	close(s->uffd);
	pthread_join(s->thread, NULL);
	munmap(s->mem, PAGES * s->page);
}

/**
 * struct child_call - a call that a child makes
 * @call: the call
 * @fd: the channel
 * @handle: the id or membership
 */
struct child_call {
	int (*call)(int fd, uint32_t handle);
	int fd;
	uint32_t handle;
};

static int child_calls(void *arg)
{
	const struct child_call *c = arg;

	return c->call(c->fd, c->handle);
}

/* Returns whether a process that is blocked in @call can be killed. */
static bool can_be_killed(int (*call)(int fd, uint32_t handle), int fd, uint32_t handle)
{
	struct child_call c = { call, fd, handle };
	pid_t pid = child_start(child_calls, &c, CLONE_VM);
	int i;

	while (!strchr("DSZ", task_state(pid)))
		usleep(1000);
	kill(pid, SIGKILL);
	for (i = 0; i < 10000 && !waitpid(pid, NULL, WNOHANG); i++)
		usleep(1000);
	return i < 10000;
}

static int child_destroys(int fd, uint32_t id)
{
	return id_destroy(fd, id, NULL);
}

static int child_leaves(int fd, uint32_t mc)
{
	return mc_leave(fd, mc, NULL);
}

/* A thread is blocked while it fetches the only event. */
static void test_stuck_fetch(void)
{
	struct stuck stuck;
	struct scene s;
	uint32_t id;

	if (!scene_open(&s, JOINED))
		return;
	CHECK(!id_create(s.fd, CMX_PS_TCP, 1, &id));
	CHECK(!id_resolve(s.fd, id, 7));
	if (stuck_begin(&stuck, s.fd, stuck_fetch)) {
		CHECK(can_be_killed(child_leaves, s.fd, s.mc));
		CHECK(can_be_killed(child_destroys, s.fd, s.id));
		CHECK(can_be_killed(child_destroys, s.fd, id));
		stuck_end(&stuck);
		CHECK(stuck.count == 1, "%u", stuck.count);
	}
	scene_close(&s);
}

/*
 * A command that creates an id fails after another thread has fetched an event of that id. The
 * process must learn that the event was fetched.
 */
static void test_failed_creation(void)
{
	struct cmx_event_record record[2];
	struct stuck stuck;
	uint32_t n = 0;
	int fd;

	if (getenv("CMX_DEV"))
		tap_case_skip("removes the device");
	if (access("/bin/sh", X_OK))
		tap_case_skip("needs a shell");
	fd = dev_open();
	if (stuck_begin(&stuck, fd, stuck_bind) && stuck_continue(&stuck)) {
		CHECK(!system("rdma link del rxe0"));
		CHECK(fd_is_readable(fd, slow_time(2000)));
		CHECK(!get_events(fd, record, ARRAY_SIZE(record), &n));
		CHECK(n == 1 && record[0].resp.user_data == BIND_UID, "%u", n);
		munmap(stuck.mem + 3 * stuck.page, stuck.page);
		stuck_end(&stuck);
		CHECK(stuck.err == EFAULT && stuck.count == 1, "%d, %u", stuck.err, stuck.count);
		CHECK(!system("rdma link add rxe0 type rxe netdev d0; "
			      "until grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state; "
			      "do sleep 0.1; done"));
	}
	close(fd);
}

/* A blocked listing blocks neither ids nor the channel. */
static void test_stuck_listing(void)
{
	struct stuck stuck;
	struct scene s;

	if (!scene_open(&s, JOINED))
		return;
	if (stuck_begin(&stuck, s.fd, stuck_list)) {
		CHECK(!mc_leave(s.fd, s.mc, NULL));
		CHECK(!id_destroy(s.fd, s.id, NULL));
		stuck_end(&stuck);
		CHECK(!stuck.err && stuck.count, "%d, %u", stuck.err, stuck.count);
	}
	scene_close(&s);
}

static void *stuck_reject(void *arg)
{
	struct stuck *s = arg;
	struct cmd c;

	id_cmd(&c, CMX_ID_REJECT, s->id);
	cmd_in(&c, CMX_ATTR_PRIVATE_DATA, s->mem + s->page, 64);
	s->err = cmd_issue(&c, s->fd);
	return NULL;
}

static int child_disconnects(int fd, uint32_t id)
{
	/* the page faults end when the last userfaultfd is closed */
	closefrom(fd + 1);
	return id_disconnect(fd, id) != EINVAL;
}

/* Returns whether another call on the id ends within 0.1 s. The process @pid makes the call @c. */
static bool call_ends(struct child_call *c, pid_t *pid)
{
	int i;

	*pid = child_start(child_calls, c, CLONE_VM);
	for (i = 0; i < 100; i++) {
		if (waitpid(*pid, NULL, WNOHANG))
			return true;
		usleep(1000);
	}
	return false;
}

/* Many threads that use one id would delay the callbacks of ib_cm for it, and thus for all ids. */
static void test_calls_of_id(void)
{
	struct stuck stuck[CALLS_OF_ID] = {};
	int fd = dev_open(), status = -1;
	struct child_call call = { child_disconnects, fd, 0 };
	uint32_t id, other;
	size_t i, n = 0;
	pid_t pid = -1;

	CHECK(!id_create(fd, CMX_PS_TCP, 1, &id) && !id_create(fd, CMX_PS_TCP, 2, &other));
	for (; n < ARRAY_SIZE(stuck); n++) {
		CHECK(id_disconnect(fd, id) == EINVAL, "%zu", n);
		stuck[n].id = id;
		if (!stuck_begin(&stuck[n], fd, stuck_reject))
			break;
	}
	if (n == ARRAY_SIZE(stuck)) {
		call.handle = id;
		CHECK(!call_ends(&call, &pid));
		CHECK(id_disconnect(fd, other) == EINVAL);
	}
	for (i = 0; i < n; i++) {
		stuck_end(&stuck[i]);
		CHECK(stuck[i].err == EINVAL, "%d", stuck[i].err);
	}
	if (n == ARRAY_SIZE(stuck))
		CHECK(waitpid(pid, &status, 0) == pid && !status, "%#x", status);
	else
		tap_case_skip("this kernel has no userfaultfd");
	close(fd);
}

/**
 * struct mover - a thread that moves an id
 * @thread: the thread
 * @tid: its ID, once it runs
 * @from: channel of the id
 * @to: the new channel
 * @id: the id
 * @err: 0 or errno of the call, once it has ended; before that -1
 */
struct mover {
	pthread_t thread;
	pid_t tid;
	int from, to;
	uint32_t id;
	int err;
};

static void *mover_run(void *arg)
{
	struct mover *m = arg;
	uint32_t id, fetched;
	int err;

	__atomic_store_n(&m->tid, gettid(), __ATOMIC_RELEASE);
	err = id_migrate(m->to, m->id, m->from, &id, &fetched);
	__atomic_store_n(&m->err, err, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns when the thread sleeps in the call, or has ended. */
static void mover_start(struct mover *m)
{
	m->err = -1;
	pthread_create(&m->thread, NULL, mover_run, m);
	while (__atomic_load_n(&m->err, __ATOMIC_ACQUIRE) == -1 &&
	       task_syscall(__atomic_load_n(&m->tid, __ATOMIC_ACQUIRE)) != SYS_ioctl)
		usleep(1000);
}

static void *mover_id_destroy(void *arg)
{
	struct mover *m = arg;

	id_destroy(m->from, m->id, NULL);
	return NULL;
}

/* An id is destroyed while a move of it waits. The move fails. */
static void test_failed_move(void)
{
	struct mover m = { .from = dev_open(), .to = dev_open() };
	struct stuck stuck;
	pthread_t thread;

	CHECK(!id_create(m.from, CMX_PS_TCP, 1, &m.id));
	CHECK(!event_write(m.from, m.id, CMX_EVENT_USER, 0, 1));
	if (!stuck_begin(&stuck, m.from, stuck_fetch))
		tap_case_skip("this kernel has no userfaultfd");
	mover_start(&m);
	pthread_create(&thread, NULL, mover_id_destroy, &m);
	while (id_disconnect(m.from, m.id) != ENOENT)
		usleep(1000);
	stuck_end(&stuck);
	pthread_join(thread, NULL);
	pthread_join(m.thread, NULL);
	CHECK(m.err == ENOENT, "%d", m.err);
	close(m.from);
	close(m.to);
}

/* A command creates an id, and another thread moves the id before the command ends. */
static void move_beside_creation(bool fails)
{
	struct mover m = { .from = dev_open(), .to = dev_open() };
	struct stuck stuck;

	if (!stuck_begin(&stuck, m.from, stuck_bind))
		tap_case_skip("this kernel has no userfaultfd");
	m.id = stuck.id;
	mover_start(&m);
	/* without its input, the command reads an address of no family */
	if (!fails)
		stuck_continue(&stuck);
	stuck_end(&stuck);
	pthread_join(m.thread, NULL);
	CHECK(stuck.err == (fails ? EAFNOSUPPORT : 0), "%d", stuck.err);
	CHECK(m.err == (fails ? ENOENT : 0), "%d", m.err);
	CHECK(id_destroy(m.to, m.id, NULL) == m.err);
	close(m.from);
	close(m.to);
}

static void test_move_of_new(void)
{
	move_beside_creation(false);
	move_beside_creation(true);
}

const struct test stuck_tests[] = {
	{ "killed while another's fetch does not end", test_stuck_fetch },
	{ "a listing that waits for memory", test_stuck_listing },
	{ "an event of an id whose creation fails", test_failed_creation },
	{ "calls that use one id at the same time", test_calls_of_id },
	{ "a move of an id that is destroyed meanwhile", test_failed_move },
	{ "a move of an id that a command is creating", test_move_of_new },
	{ },
};
