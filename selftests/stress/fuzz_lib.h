/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Declarations shared by the files of fuzz_lib
 */
#ifndef FUZZ_LIB_H
#define FUZZ_LIB_H

#include <pthread.h>
#include <stdatomic.h>
/* the sources of the library are part of this program */
#define RDMA_CMX_LIBRARY
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>
#include "stress.h"

enum call {
	/* calls that fetch events */
	GET_EVENT, GET_EVENTS, GET_CANCELLED,
	/* calls that create an id */
	CREATE, CREATE_SYNC, CREATE_EP,
	/* calls that must be the only one on the id */
	GET_REQUEST, DESTROY, DESTROY_EP, MIGRATE, CREATE_QP, DESTROY_QP, CREATE_SRQ, DESTROY_SRQ,
	/* calls that several threads may make on an id, unless the id is synchronous */
	BIND, RESOLVE_ADDR, RESOLVE_ROUTE, LISTEN, CONNECT, ACCEPT, ESTABLISH, REJECT, REJECT_ECE,
	DISCONNECT, NOTIFY, INIT_QP_ATTR, SET_OPTION, GET_OPTION, QUERY_ECE, SET_ECE, GET_ECE,
	PORTS, JOIN, JOIN_EX, JOIN_CMX, LEAVE, RESOLVE_AI, QUERY_AI, WRITE_EVENT,
	/* calls without an id */
	ADDRINFO, DEVICES, CHANNEL, CHANNEL_WAITED, NUM_CALLS,
};

/**
 * struct slot - an id
 * @lock: held by each call on the id; for writing by a call that must be the only one
 * @id: the id, or NULL
 * @stage: its stage according to events and calls
 * @sync: the id is synchronous
 */
struct slot {
	pthread_rwlock_t lock;
	struct rdma_cm_id *id;
	atomic_uchar stage;
	atomic_bool sync;
};

struct rdma_event_channel *fuzz_channel_pick(struct stress_rand *rnd);

/* Each function makes one call. Returns 0 or the error. */
int fuzz_id_create(struct stress_rand *rnd, struct slot *slot, enum call call);
int fuzz_id_change(struct stress_rand *rnd, struct slot *slot, enum call call);
int fuzz_id_use(struct stress_rand *rnd, struct slot *slot, enum call call);
int fuzz_host_use(struct stress_rand *rnd, enum call call);

#endif
