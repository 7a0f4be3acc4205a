// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Races between threads, channels after fork(), and processes that are killed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../lib/now.h"
#include "../lib/slow.h"
#include "../lib/task.h"
#include "uapi.h"

#define THREADS 4
#define SECONDS 2

/* The objects that all threads use */
static struct {
	int fd[2];
	uint32_t id[16];	/* accessed without a lock, as by a faulty program */
	uint32_t mc[16];
	time_t end;
} shared;

static void threads_run(void *(*const fn[])(void *), int n)
{
	pthread_t threads[16];
	int i;

	shared.fd[0] = dev_open();
	shared.fd[1] = dev_open();
	shared.end = time(NULL) + SECONDS;
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, fn[i], (void *)(intptr_t)i);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	close(shared.fd[0]);
	close(shared.fd[1]);
}

static void *destroy_run(void *wins)
{
	if (!id_destroy(shared.fd[0], shared.id[0], NULL))
		__atomic_add_fetch((int *)wins, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void test_one_winner(void)
{
	pthread_t threads[THREADS];
	int round, i, wins;

	shared.fd[0] = dev_open();
	for (round = 0; round < 300; round++) {
		wins = 0;
		CHECK(!id_create(shared.fd[0], CMX_PS_TCP, 1, &shared.id[0]));
		for (i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, destroy_run, &wins);
		for (i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		if (!CHECK(wins == 1, "%d", wins))
			break;
	}
	close(shared.fd[0]);
}

static uint32_t *table_pick(uint32_t *table, unsigned int *seed)
{
	return &table[rand_r(seed) % 16];
}

static int fd_pick(unsigned int *seed)
{
	return shared.fd[rand_r(seed) % 2];
}

static void *create_and_destroy_run(void *arg)
{
	unsigned int seed = (intptr_t)arg;
	uint32_t *id;

	while (time(NULL) < shared.end) {
		id = table_pick(shared.id, &seed);
		id_destroy(fd_pick(&seed), *id, NULL);
		id_create(fd_pick(&seed), rand_r(&seed) % 2 ? CMX_PS_TCP : CMX_PS_UDP, 1, id);
	}
	return NULL;
}

static void *use_run(void *arg)
{
	unsigned int seed = (intptr_t)arg;
	struct sockaddr_in addr = local;
	uint32_t id;
	int fd;

	while (time(NULL) < shared.end) {
		fd = fd_pick(&seed);
		id = *table_pick(shared.id, &seed);
		switch (rand_r(&seed) % 6) {
		case 0:
			id_bind(fd, id, &addr);
			break;
		case 1:
			id_resolve(fd, id, 7);
			break;
		case 2:
			id_route(fd, id);
			break;
		case 3:
			id_listen(fd, id, 1, NULL);
			break;
		case 4:
			id_join(fd, id, 0xe0030000 + rand_r(&seed) % 8, 1,
				table_pick(shared.mc, &seed));
			break;
		case 5:
			mc_leave(fd, *table_pick(shared.mc, &seed), NULL);
			break;
		}
	}
	return NULL;
}

static void *move_run(void *arg)
{
	unsigned int seed = (intptr_t)arg;
	uint32_t id, fetched;

	while (time(NULL) < shared.end)
		id_migrate(fd_pick(&seed), *table_pick(shared.id, &seed), fd_pick(&seed), &id,
			   &fetched);
	return NULL;
}

static void *fetch_run(void *arg)
{
	struct cmx_event_record records[4];
	unsigned int seed = (intptr_t)arg;
	uint32_t count;

	while (time(NULL) < shared.end)
		get_events(fd_pick(&seed), records, 4, &count);
	return NULL;
}

static void test_all_at_once(void)
{
	static void *(*const fn[])(void *) = {
		create_and_destroy_run, create_and_destroy_run, use_run, use_run, move_run,
		fetch_run,
	};

	threads_run(fn, ARRAY_SIZE(fn));
}

static void test_move_and_destroy(void)
{
	static void *(*const fn[])(void *) = {
		create_and_destroy_run, move_run, move_run, fetch_run,
	};

	threads_run(fn, ARRAY_SIZE(fn));
}

static void usr1_handle(int sig)
{
	(void)sig;
}

static pid_t waiter;	/* the thread that runs event_wait() */

static void *event_wait(void *fd)
{
	struct cmx_event_record record;
	uint32_t count;

	__atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
	return (void *)(intptr_t)get_events((intptr_t)fd, &record, 1, &count);
}

/* Waits until the thread that stores its ID in @tid sleeps in an ioctl of the device. */
static void thread_wait_asleep(const pid_t *tid)
{
	while (task_syscall(__atomic_load_n(tid, __ATOMIC_ACQUIRE)) != SYS_ioctl)
		usleep(1000);
}

/* A waiting thread keeps the channel open, although its file descriptor is closed. */
static void test_close_under_wait(void)
{
	const struct sigaction action = { .sa_handler = usr1_handle };
	int fd = dev_open();
	pthread_t thread;
	void *ret;

	sigaction(SIGUSR1, &action, NULL);
	fcntl(fd, F_SETFL, 0);
	pthread_create(&thread, NULL, event_wait, (void *)(intptr_t)fd);
	thread_wait_asleep(&waiter);
	close(fd);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, &ret);
	CHECK((intptr_t)ret == EINTR, "%d", (int)(intptr_t)ret);
}

/* An event wakes the waiting threads, and one of them gets it. */
static void test_wake(void)
{
	int fd = dev_open();
	pthread_t thread;
	uint32_t id;
	void *ret;

	fcntl(fd, F_SETFL, 0);
	pthread_create(&thread, NULL, event_wait, (void *)(intptr_t)fd);
	thread_wait_asleep(&waiter);
	CHECK(!id_create(fd, CMX_PS_TCP, 1, &id));
	CHECK(!id_resolve(fd, id, 7));
	pthread_join(thread, &ret);
	CHECK(!ret);
	close(fd);
}

static void child_run(void (*fn)(int fd), int fd)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fn(fd);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	CHECK(!status, "%x", status);
}

static void child_closes(int fd)
{
	close(fd);
}

/* an id of the parent */
static uint32_t inherited;

/* No method works, and the child cannot move an id to a channel of its own. */
static void child_is_refused(int fd)
{
	uint32_t id, count, own = dev_open();
	struct scene s = { .fd = fd, .other = own, .id = inherited };
	struct cmd c;
	size_t i;

	for (i = 0; i < num_methods; i++) {
		method_build(&methods[i], &c, &s);
		if (cmd_issue(&c, fd) != EACCES)
			_exit(1);
	}
	if (id_migrate(own, inherited, fd, &id, &count) != EACCES)
		_exit(2);
}

/* A file that is open for reading only has no ids, so that a drain need not refuse it. */
static void test_read_only(void)
{
	int fd = open("/dev/infiniband/" CMX_DEVICE_NAME, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct scene s = { .fd = fd };
	struct cmd c;
	size_t i;

	CHECK(fd >= 0);
	for (i = 0; i < num_methods; i++) {
		if (methods[i].object == CMX_OBJ_CHANNEL)
			continue;
		method_build(&methods[i], &c, &s);
		CHECK(cmd_issue(&c, fd) == EBADF, "%s", methods[i].name);
	}
	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_INFO);
	CHECK(!cmd_issue(&c, fd));
	close(fd);
}

/* A channel is for the process that opened it, and the child closes only its copy. */
static void test_fork(void)
{
	int fd = dev_open();

	CHECK(!id_create(fd, CMX_PS_TCP, 1, &inherited));
	child_run(child_closes, fd);
	CHECK(!id_resolve(fd, inherited, 7));
	child_run(child_is_refused, fd);
	CHECK(next_event(fd, 0));
	CHECK(!id_destroy(fd, inherited, NULL));
	child_run(child_is_refused, fd);
	close(fd);
}

static int child_works(void *arg)
{
	const int *fd = arg;
	uint32_t id;

	return id_create(*fd, CMX_PS_TCP, 1, &id) || id_destroy(*fd, id, NULL);
}

/* User data is valid for every process that has the same memory. */
static void test_same_memory(void)
{
	int fd = dev_open(), status = -1;
	pid_t pid = child_start(child_works, &fd, CLONE_VM);

	CHECK(waitpid(pid, &status, 0) == pid && !status, "%#x", status);
	pid = child_start(child_works, &fd, 0);
	CHECK(waitpid(pid, &status, 0) == pid && status, "%#x", status);
	close(fd);
}

/**
 * struct late - an accept that waits while other calls use its id
 * @used: a connection whose peer does not confirm its end. Its QP cannot be connected again until
 *	the peer does, for two seconds at most
 * @s: the scene of the request
 * @child: id of the request
 * @param: parameters with the QP of @used
 * @thread: accepts @child with @param
 * @tid: ID of @thread, once it runs
 * @ret: result of the accept
 */
struct late {
	struct scene used, s;
	uint32_t child;
	struct cmx_conn_param param;
	pthread_t thread;
	pid_t tid;
	int ret;
};

static void *late_accept(void *arg)
{
	struct late *l = arg;

	__atomic_store_n(&l->tid, gettid(), __ATOMIC_RELEASE);
	l->ret = id_accept_qp(l->s.fd, l->child, 500, &l->param);
	return NULL;
}

/* Returns the state of a process or thread. */
char task_state(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state;
}

static bool late_open(struct late *l)
{
	struct cmx_event_resp *resp;

	memset(l, 0, sizeof(*l));
	if (!scene_open(&l->used, CONNECTED))
		return false;
	l->param = *conn_param();
	/* the connect used a QP number, and the accept the next one */
	l->param.qp_num -= 2;
	if (!CHECK(!id_disconnect(l->used.fd, l->used.id)) || !scene_open(&l->s, ROUTE) ||
	    !CHECK(!id_connect(l->s.fd, l->s.id)))
		return false;
	resp = next_event(l->s.fd, 4);
	if (!resp)
		return false;
	l->child = resp->id;
	pthread_create(&l->thread, NULL, late_accept, l);
	thread_wait_asleep(&l->tid);
	return true;
}

static void late_close(struct late *l)
{
	scene_close(&l->s);
	scene_close(&l->used);
}

/* The id belongs to the call that accepted it first. The late accept fails. */
static void test_late_accept(void)
{
	struct cmx_event_resp *resp;
	struct late l;

	if (!late_open(&l))
		return;
	CHECK(!id_accept(l.s.fd, l.child, 200));
	next_event(l.s.fd, 5);
	pthread_join(l.thread, NULL);
	CHECK(l.ret == EINVAL, "%d", l.ret);
	CHECK(!id_establish(l.s.fd, l.s.id, 1));
	resp = next_event(l.s.fd, 9);
	CHECK(resp && resp->user_data == 200);
	late_close(&l);
}

/* Returns how often a thread went to sleep. */
static unsigned int thread_sleeps(pid_t tid)
{
	char path[64], line[128];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %u", &n);
	if (f)
		fclose(f);
	return n;
}

/* The end of another connection must not wake a waiting accept. There may be thousands of them. */
static void test_late_accept_sleeps(void)
{
	unsigned int before, after;
	struct scene s;
	struct late l;
	int i;

	if (!late_open(&l))
		return;
	before = thread_sleeps(l.tid);
	for (i = 0; i < 10; i++) {
		if (scene_open(&s, CONNECTED))
			CHECK(!id_disconnect(s.fd, s.id));
		scene_close(&s);
	}
	after = thread_sleeps(l.tid);
	CHECK(before && after < before + 5, "%u, then %u", before, after);
	pthread_join(l.thread, NULL);
	late_close(&l);
}

/* The id of a failed accept has no events, because the program does not know the id yet. */
static void test_accept_of_rejected(void)
{
	struct late l;

	if (!late_open(&l))
		return;
	CHECK(!id_destroy(l.s.fd, l.s.id, NULL));
	pthread_join(l.thread, NULL);
	CHECK(l.ret == EINVAL, "%d", l.ret);
	CHECK(!fd_is_readable(l.s.fd, 0));
	late_close(&l);
}

/* Leaves many ids in many states. */
static void mess_make(void)
{
	struct scene s[NUM_STAGES];
	uint32_t id, mc;
	int i;

	for (i = 0; i < ELSEWHERE; i++)
		scene_open(&s[i], i);
	for (i = 0; i < 300; i++) {
		id_create(s[0].fd, i % 2 ? CMX_PS_TCP : CMX_PS_UDP, 1, &id);
		id_resolve(s[0].fd, id, 7);
		id_join(s[UD].fd, s[UD].id, 0xe0040000 + i, 1, &mc);
	}
}

static void test_killed(void)
{
	int status, ready[2];
	double start;
	pid_t pid;
	char c;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		mess_make();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	CHECK(read(ready[0], &c, 1) == 1);
	start = now();
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(now() - start < slow_time(5), "%.1f s", now() - start);
}

/* Closes channels again and again while requests arrive. */
static void test_close_early(void)
{
	static const enum stage stages[] = { ROUTE, EVENT, REQUEST, RESPONSE, JOINED };
	struct scene s;
	int round;

	for (round = 0; round < 25; round++) {
		if (scene_open(&s, stages[round % ARRAY_SIZE(stages)]) &&
		    stages[round % ARRAY_SIZE(stages)] == ROUTE)
			CHECK(!id_connect(s.fd, s.id));
		scene_close(&s);
	}
}

const struct test race_tests[] = {
	{ "only one of many threads destroys an id", test_one_winner },
	{ "many threads make all calls at once", test_all_at_once },
	{ "an id is moved and destroyed at once", test_move_and_destroy },
	{ "a channel is closed while a thread waits", test_close_under_wait },
	{ "an event wakes a waiting thread", test_wake },
	{ "a file that is open for reading has no ids", test_read_only },
	{ "a channel is for the process that opened it", test_fork },
	{ "a process with the same memory uses the channel", test_same_memory },
	{ "a killed process leaves no ids", test_killed },
	{ "a channel is closed while ids connect", test_close_early },
	{ "an accept that comes too late", test_late_accept },
	{ "an accept of a cancelled request", test_accept_of_rejected },
	{ "an accept that waits is left alone", test_late_accept_sleeps },
	{ },
};
