/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the fuzzers share: processes and threads that call at random, and what came of it.
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A generator of random numbers; one for each thread. */
struct stress_rand {
	uint64_t state;
};

uint32_t stress_rand_u32(struct stress_rand *rnd);
/* 0 to @n - 1 */
uint32_t stress_rand_below(struct stress_rand *rnd, uint32_t n);
bool stress_rand_percent(struct stress_rand *rnd, uint32_t percent);

/**
 * struct stress_fuzzer - what is called at random
 * @names: the calls
 * @num: how many
 * @setup: called once, before any process is started
 * @process_init: called at the start of each process
 * @child_init: called in what stress_fork() makes, or NULL
 * @step: one step of a thread
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

/* to be called around each call: what it is, and whether it succeeded */
void stress_call_begin(int call);
void stress_call_end(int call, bool success);

/* How far an id or a membership has come */
enum stress_stage {
	FREE, IDLE, BOUND, LISTENING, WAITING, ADDR, ROUTE, REQUEST, RESPONSE, CONNECTED, OVER,
	MEMBER, NUM_STAGES,
};

/* The stage to which that event brings its id; 0: none */
enum stress_stage stress_event_count(unsigned int event);

/* A child with this process's memory and files makes @steps steps; none if there are many. */
void stress_fork(struct stress_rand *rnd, unsigned int steps);

/* A QP number that nobody else has */
uint32_t stress_qpn_next(void);
/* Of the addresses on the command line; a port of a few, or seldom another one */
socklen_t stress_addr_pick(struct stress_rand *rnd, struct sockaddr_storage *addr, bool local);
/* Memory that all processes see */
void *stress_shared_alloc(size_t size);
/* Threads of each process */
unsigned int stress_thread_num(void);

int stress_main(int argc, char **argv, const struct stress_fuzzer *fuzzer);

#endif
