/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of fuzz_lib share.
 */
#ifndef FUZZ_LIB_H
#define FUZZ_LIB_H

#include <pthread.h>
#include <stdatomic.h>
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>
#include "stress.h"

enum call {
	/* events */
	GET_EVENT, GET_EVENTS, GET_CANCELLED,
	/* what makes an id */
	CREATE, CREATE_SYNC, CREATE_EP,
	/* what needs an id for itself */
	GET_REQUEST, DESTROY, DESTROY_EP, MIGRATE, CREATE_QP, DESTROY_QP, CREATE_SRQ, DESTROY_SRQ,
	/* what threads may do to one id at the same time, unless the id is synchronous */
	BIND, RESOLVE_ADDR, RESOLVE_ROUTE, LISTEN, CONNECT, ACCEPT, ESTABLISH, REJECT, REJECT_ECE,
	DISCONNECT, NOTIFY, INIT_QP_ATTR, SET_OPTION, GET_OPTION, QUERY_ECE, SET_ECE, GET_ECE,
	PORTS, JOIN, JOIN_EX, JOIN_CMX, LEAVE, RESOLVE_AI, QUERY_AI, WRITE_EVENT,
	/* what needs no id */
	ADDRINFO, DEVICES, CHANNEL, CHANNEL_WAITED, NUM_CALLS,
};

/**
 * struct slot - an id
 * @lock: held by each call that uses the id; for writing by what needs it for itself
 * @id: the id, or NULL
 * @stage: how far it has come as far as events and calls told
 * @sync: it has no channel of ours
 */
struct slot {
	pthread_rwlock_t lock;
	struct rdma_cm_id *id;
	atomic_uchar stage;
	atomic_bool sync;
};

struct rdma_event_channel *fuzz_channel_pick(struct stress_rand *rnd);

/* Each makes one call: 0, or what it failed with. */
int fuzz_id_create(struct stress_rand *rnd, struct slot *slot, enum call call);
int fuzz_id_change(struct stress_rand *rnd, struct slot *slot, enum call call);
int fuzz_id_use(struct stress_rand *rnd, struct slot *slot, enum call call);
int fuzz_host_use(struct stress_rand *rnd, enum call call);

#endif
