/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the fuzzers: processes and threads that make random calls, and counters of the results
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A generator of random numbers. Each thread has its own. */
struct stress_rand {
	uint64_t state;
};

uint32_t stress_rand_u32(struct stress_rand *rnd);
/* 0 to @n - 1 */
uint32_t stress_rand_below(struct stress_rand *rnd, uint32_t n);
bool stress_rand_percent(struct stress_rand *rnd, uint32_t percent);

/**
 * struct stress_fuzzer - the calls of a fuzzer
 * @names: names of the calls
 * @num: number of calls
 * @setup: called once, before any process is started, or NULL
 * @process_init: called at the start of each process
 * @child_init: called at the start of a child of stress_fork(), or NULL
 * @step: makes one step of a thread
 * @wake: makes blocked threads of this process return, or NULL
 */
struct stress_fuzzer {
	const char *const *names;
	size_t num;
	void (*setup)(void);
	void (*process_init)(struct stress_rand *rnd);
	void (*child_init)(struct stress_rand *rnd);
	void (*step)(struct stress_rand *rnd);
	void (*wake)(void);
};

/* called before and after each call */
void stress_call_begin(int call);
void stress_call_end(int call, bool success);

/* Stage of an id or a membership */
enum stress_stage {
	FREE, IDLE, BOUND, LISTENING, WAITING, ADDR, ROUTE, REQUEST, RESPONSE, CONNECTED, OVER,
	MEMBER, NUM_STAGES,
};

/* Counts an event. Returns the stage of its id after the event; 0: unchanged. */
enum stress_stage stress_event_count(unsigned int event);

/* Forks a child that makes @steps steps. Does nothing if there are many children. */
void stress_fork(struct stress_rand *rnd, unsigned int steps);

/* Returns a QP number that is not in use. */
uint32_t stress_qpn_next(void);
/* Picks an address of the command line, and mostly one of a few ports. */
socklen_t stress_addr_pick(struct stress_rand *rnd, struct sockaddr_storage *addr, bool local);
/* Allocates memory that all processes share. */
void *stress_shared_alloc(size_t size);
/* Returns the number of threads of a process. */
unsigned int stress_thread_num(void);

int stress_main(int argc, char **argv, const struct stress_fuzzer *fuzzer);

#endif
