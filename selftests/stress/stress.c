// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes and threads that make random calls:
 *   [-s SEED] [-p PROCESSES] [-t THREADS] [-n CALLS] [-T SECONDS] ADDRESS...
 *
 * Each thread has its own sequence of random numbers, which depends on the seed, the number of the
 * process and the number of the thread. A process runs for a few seconds. It ends in order, or at
 * once while its threads are in calls, or by SIGKILL. Then a new process replaces it.
 *
 * ADDRESS is an IPv4 address, an IPv6 address or ib:GID. After a "-" it is used only as the address
 * of a peer.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_cmx.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "stress.h"

#define MAX_CALLS 64
#define MAX_EVENTS 32
#define MAX_ADDRS 16
#define MAX_PROCESSES 32
#define MAX_THREADS 32
#define MAX_FORKED 4
#define PORT_BASE 7000
#define NUM_PORTS 12
/* maximum duration of a call on an idle machine */
#define STUCK_SECONDS 20
#define NETNS "/run/netns/stress"

struct stress_shared {
	atomic_uint_fast64_t total;
	atomic_uint_fast64_t calls[MAX_CALLS];
	atomic_uint_fast64_t successes[MAX_CALLS];
	atomic_uint_fast64_t events[MAX_EVENTS];
	atomic_uint qpn;
	atomic_uint stuck;
	atomic_bool stop;
};

struct stress_thread {
	struct stress_rand rnd;
	unsigned int index;
	pthread_t thread;
};

static struct stress_shared *shared;
static const struct stress_fuzzer *fuzzer;
static struct sockaddr_storage addrs[MAX_ADDRS];
static unsigned int num_addrs, num_local_addrs;
static uint64_t seed, max_calls = 100000;
static unsigned int num_processes = 4, num_threads = 4, max_seconds = 60;

/* of this process */
static atomic_bool leaving;
static atomic_uint forked;
static atomic_int doing[MAX_THREADS];
static _Thread_local unsigned int thread_index;

uint32_t stress_rand_u32(struct stress_rand *rnd)
{
	/* splitmix64 */
	uint64_t z = rnd->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) >> 16;
}

uint32_t stress_rand_below(struct stress_rand *rnd, uint32_t n)
{
	return ((uint64_t)stress_rand_u32(rnd) * n) >> 32;
}

bool stress_rand_percent(struct stress_rand *rnd, uint32_t percent)
{
	return stress_rand_below(rnd, 100) < percent;
}

static struct stress_rand stress_rand_for(uint64_t process, uint64_t thread)
{
	struct stress_rand rnd = { seed * 1000003 + process * 4099 + thread };

	stress_rand_u32(&rnd);
	return rnd;
}

void stress_call_begin(int call)
{
	doing[thread_index] = call + 1;
}

void stress_call_end(int call, bool success)
{
	doing[thread_index] = 0;
	shared->total++;
	shared->calls[call]++;
	if (success)
		shared->successes[call]++;
}

enum stress_stage stress_event_count(unsigned int event)
{
	static const uint8_t stages[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED] = ADDR, [RDMA_CM_EVENT_ADDR_ERROR] = OVER,
		[RDMA_CM_EVENT_ROUTE_RESOLVED] = ROUTE, [RDMA_CM_EVENT_ROUTE_ERROR] = OVER,
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = RESPONSE, [RDMA_CM_EVENT_CONNECT_ERROR] = OVER,
		[RDMA_CM_EVENT_UNREACHABLE] = OVER, [RDMA_CM_EVENT_REJECTED] = OVER,
		[RDMA_CM_EVENT_ESTABLISHED] = CONNECTED, [RDMA_CM_EVENT_DISCONNECTED] = OVER,
		[RDMA_CM_EVENT_DEVICE_REMOVAL] = OVER,
		[CMX_EVENT_ADDRINFO_RESOLVED] = ADDR, [CMX_EVENT_ADDRINFO_ERROR] = OVER,
	};

	shared->events[event % MAX_EVENTS]++;
	return event < ARRAY_SIZE(stages) ? stages[event] : 0;
}

uint32_t stress_qpn_next(void)
{
	return shared->qpn++ & 0xffffff;
}

void *stress_shared_alloc(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		err(2, "mmap");
	return mem;
}

unsigned int stress_thread_num(void)
{
	return num_threads;
}

static bool stress_addr_parse(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in4 = (void *)addr;
	struct sockaddr_in6 *in6 = (void *)addr;
	struct sockaddr_ib *ib = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &in4->sin_addr) == 1) {
		addr->ss_family = AF_INET;
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		addr->ss_family = AF_INET6;
	} else if (!strncmp(text, "ib:", 3) && inet_pton(AF_INET6, text + 3, &ib->sib_addr) == 1) {
		addr->ss_family = AF_IB;
		ib->sib_pkey = htons(0xffff);
		ib->sib_sid_mask = htobe64(~0ULL);
	} else {
		return false;
	}
	return true;
}

static socklen_t stress_addr_set_port(struct sockaddr_storage *addr, uint16_t port)
{
	switch (addr->ss_family) {
	case AF_INET:
		((struct sockaddr_in *)addr)->sin_port = htons(port);
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
		return sizeof(struct sockaddr_in6);
	default:
		((struct sockaddr_ib *)addr)->sib_sid = htobe64(RDMA_IB_IP_PS_TCP | port);
		return sizeof(struct sockaddr_ib);
	}
}

socklen_t stress_addr_pick(struct stress_rand *rnd, struct sockaddr_storage *addr, bool local)
{
	uint32_t odd = stress_rand_below(rnd, 100);
	uint16_t port = PORT_BASE + stress_rand_below(rnd, NUM_PORTS);

	/* not on the command line: wildcards, and addresses without a route or a host */
	if (odd < 6)
		stress_addr_parse(local ? "0.0.0.0" : "192.0.2.1", addr);
	else if (odd < 9)
		stress_addr_parse(local ? "::" : "2001:db8::1", addr);
	else
		*addr = addrs[stress_rand_below(rnd, local ? num_local_addrs : num_addrs)];
	if (stress_rand_percent(rnd, local ? 30 : 2))
		port = 0;
	else if (stress_rand_percent(rnd, 2))
		port = stress_rand_u32(rnd);
	return stress_addr_set_port(addr, port);
}

static bool stress_over(void)
{
	return shared->stop || shared->total >= max_calls;
}

static void *stress_thread_run(void *arg)
{
	struct stress_thread *thread = arg;

	thread_index = thread->index;
	while (!leaving && !stress_over())
		fuzzer->step(&thread->rnd);
	return NULL;
}

static void stress_signal_ignore(int sig)
{
	(void)sig;
}

/* Waits for a thread that has to end. Its call may be waiting for an event. */
static bool stress_thread_join(pthread_t thread)
{
	struct timespec until;
	int i, tries = slow_time(STUCK_SECONDS) * 10;

	for (i = 0; i < tries; i++) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 100000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		if (!pthread_timedjoin_np(thread, NULL, &until))
			return true;
		pthread_kill(thread, SIGUSR1);
		if (fuzzer->wake)
			fuzzer->wake();
	}
	return false;
}

static void stress_threads_end(const struct stress_thread *threads)
{
	unsigned int i;
	int call;

	leaving = true;
	for (i = 0; i < num_threads; i++) {
		if (stress_thread_join(threads[i].thread))
			continue;
		call = doing[i];
		printf("process %d: a thread is stuck in %s\n", getpid(),
		       call ? fuzzer->names[call - 1] : "no call");
		fflush(stdout);
		shared->stuck++;
	}
}

/* Enters a network namespace that is created and deleted repeatedly, if it exists. */
static void stress_netns_enter(void)
{
	int fd = open(NETNS, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* it may just have been deleted */
	if (setns(fd, CLONE_NEWNET))
		warn("setns");
	close(fd);
}

static void __attribute__((noreturn)) stress_process_run(uint64_t number)
{
	struct stress_rand rnd = stress_rand_for(number, 0);
	struct sigaction sa = { .sa_handler = stress_signal_ignore };
	struct stress_thread threads[MAX_THREADS];
	unsigned int i, life_ms;

	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGCHLD, SIG_IGN);
	if (stress_rand_percent(&rnd, 10))
		stress_netns_enter();
	fuzzer->process_init(&rnd);
	for (i = 0; i < num_threads; i++) {
		threads[i].rnd = stress_rand_for(number, i + 1);
		threads[i].index = i;
		if (pthread_create(&threads[i].thread, NULL, stress_thread_run, &threads[i]))
			errx(2, "pthread_create");
	}
	life_ms = slow_time(500 + stress_rand_below(&rnd, 4000));
	for (i = 0; i < life_ms / 50 && !stress_over(); i++)
		usleep(50000);
	if (stress_rand_percent(&rnd, 70))
		stress_threads_end(threads);
	fflush(stdout);
	_exit(0);
}

void stress_fork(struct stress_rand *rnd, unsigned int steps)
{
	struct stress_rand child = { stress_rand_u32(rnd) };

	if (forked++ >= MAX_FORKED || fork())
		return;
	/* it may wait for an event that never comes, or for a lock of a thread of its parent */
	signal(SIGALRM, SIG_DFL);
	alarm(slow_time(5));
	if (fuzzer->child_init)
		fuzzer->child_init(&child);
	while (steps-- && !stress_over())
		fuzzer->step(&child);
	_exit(0);
}

static pid_t stress_process_start(uint64_t number)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (!pid)
		stress_process_run(number);
	return pid;
}

/* Reaps a child. Returns false if none has ended; errno is ECHILD if there are no more children. */
static bool stress_child_reap(pid_t *pids, unsigned int *crashed)
{
	unsigned int i;
	int status;
	pid_t pid;

	pid = waitpid(-1, &status, WNOHANG);
	if (pid <= 0)
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGALRM) {
		printf("process %d: %s\n", pid, strsignal(WTERMSIG(status)));
		++*crashed;
	}
	for (i = 0; i < num_processes; i++)
		if (pids[i] == pid)
			pids[i] = 0;
	return true;
}

/* Waits until all processes have ended by themselves. */
static bool stress_processes_end(pid_t *pids, unsigned int *crashed)
{
	unsigned int tries;

	for (tries = slow_time(3 * STUCK_SECONDS) * 10; tries; tries--) {
		errno = 0;
		while (stress_child_reap(pids, crashed))
			;
		if (errno == ECHILD)
			return true;
		usleep(100000);
	}
	printf("processes that do not end:\n");
	fflush(stdout);
	if (system("for p in $(pgrep -P $PPID); do grep -H . /proc/$p/task/*/stack; done"))
		printf("no stacks\n");
	return false;
}

/* Replaces processes that have ended until the time or the number of calls is used up. */
static bool stress_processes_run(void)
{
	struct stress_rand rnd = stress_rand_for(~0U, 0);
	time_t end = time(NULL) + max_seconds;
	pid_t pids[MAX_PROCESSES] = {};
	unsigned int i, crashed = 0;
	uint64_t started = 0;
	bool ended;

	/* children of children must be reaped as well */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (!stress_over()) {
		for (i = 0; i < num_processes; i++)
			if (!pids[i])
				pids[i] = stress_process_start(started++);
		usleep(20000);
		shared->stop = time(NULL) >= end;
		i = stress_rand_below(&rnd, num_processes);
		if (stress_rand_percent(&rnd, 1) && pids[i])
			kill(pids[i], SIGKILL);
		while (stress_child_reap(pids, &crashed))
			;
	}
	shared->stop = true;
	ended = stress_processes_end(pids, &crashed);
	printf("processes %llu, crashed %u, threads stuck %u\n", (unsigned long long)started,
	       crashed, shared->stuck);
	return ended && !crashed && !shared->stuck;
}

static void stress_table_print(void)
{
	static const char *const events[] = {
		"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
		"CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
		"DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR",
		"ADDR_CHANGE", "TIMEWAIT_EXIT",
	};
	unsigned long long calls, successes;
	size_t i;

	printf("%-24s %10s %10s %4s\n", "call", "calls", "succeeded", "%");
	for (i = 0; i < fuzzer->num; i++) {
		calls = shared->calls[i];
		successes = shared->successes[i];
		printf("%-24s %10llu %10llu %4llu\n", fuzzer->names[i], calls, successes,
		       calls ? successes * 100 / calls : 0);
	}
	for (i = 0; i < MAX_EVENTS; i++)
		if (shared->events[i])
			printf("%-24s %10llu\n", i < ARRAY_SIZE(events) ? events[i] : "other event",
			       (unsigned long long)shared->events[i]);
}

static void stress_args_parse(int argc, char **argv)
{
	bool remote = false;
	int c;

	seed = time(NULL);
	while ((c = getopt(argc, argv, "s:p:t:n:T:")) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			num_processes = atoi(optarg);
			break;
		case 't':
			num_threads = atoi(optarg);
			break;
		case 'n':
			max_calls = strtoull(optarg, NULL, 0);
			break;
		case 'T':
			max_seconds = atoi(optarg);
			break;
		default:
			goto usage;
		}
	}
	for (; optind < argc; optind++) {
		if (!strcmp(argv[optind], "-")) {
			remote = true;
			continue;
		}
		if (num_addrs == MAX_ADDRS || !stress_addr_parse(argv[optind], &addrs[num_addrs]))
			goto usage;
		num_addrs++;
		num_local_addrs += !remote;
	}
	if (num_local_addrs && num_processes && num_processes <= MAX_PROCESSES && num_threads &&
	    num_threads <= MAX_THREADS)
		return;
usage:
	errx(2, "[-s SEED] [-p PROCESSES] [-t THREADS] [-n CALLS] [-T SECONDS] ADDRESS...");
}

int stress_main(int argc, char **argv, const struct stress_fuzzer *what)
{
	bool passed;

	fuzzer = what;
	if (fuzzer->num > MAX_CALLS)
		errx(2, "too many calls");
	stress_args_parse(argc, argv);
	setlinebuf(stdout);
	printf("seed %llu processes %u threads %u\n", (unsigned long long)seed, num_processes,
	       num_threads);
	shared = stress_shared_alloc(sizeof(*shared));
	shared->qpn = seed << 12;
	if (fuzzer->setup)
		fuzzer->setup();
	passed = stress_processes_run();
	stress_table_print();
	return passed ? 0 : 1;
}
