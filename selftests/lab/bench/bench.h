/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef BENCH_H
#define BENCH_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include "../../lib/die.h"
#include "../../lib/now.h"

#define BENCH_PORT 7471

/* arguments of the command line */
extern struct bench_conf {
	const char *addr;	/* address of the local RDMA device */
	const char *server;	/* address at which servers listen */
	const char *netns;	/* file of the network namespace of servers; NULL: this one */
	const char *silent;	/* address with a neighbour entry but no host */
	const char *dump;	/* command that lists all ids */
	int deadline;		/* ms, CMX_OPTION_CONNECT_DEADLINE_MS; 0: don't set */
	int hcas, groups, members;	/* HCAs of the fabric; groups of each; HCAs in each group */
	bool give_up;		/* only a sender joins a group again that was lost */
} conf;

/* Prints a line of the result: the name and the value. */
void result_print(const char *name, double value);

struct sockaddr *addr_of(struct sockaddr_in *sin, const char *ip, int port);
/* Sets the address of group @n, counted from @base. */
struct sockaddr *addr_of_group(struct sockaddr_in *sin, const char *base, int n);
struct rdma_event_channel *channel_create(void);
struct rdma_cm_id *id_on(struct rdma_event_channel *ch, void *context);
/* Creates an id for datagrams and binds it. */
struct rdma_cm_id *id_create_datagram(struct rdma_event_channel *ch, const char *ip);
/* Fetches the next event, which must be of type @type and have status 0. */
struct rdma_cm_event *event_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type);
struct rdma_cm_id *id_routed(struct rdma_event_channel *ch, const char *ip, void *context);
/* Waits until the kernel and other processes have finished what an earlier call has left to them. */
void rest_wait(void);
/* Returns the bytes of slab, vmalloc and per-CPU memory in use. User memory is not included. */
long memory_in_use(void);
/* Returns MemAvailable, in bytes. */
long memory_available(void);
/* conn.c: starts and ends a process that accepts connections. */
pid_t conn_serve(int port);
void conn_stop(pid_t pid);
/* Returns a QP number that has not been used for a long time. */
uint32_t conn_number(void);
/* Sets the first QP number of this process; @qp: connections have QPs. */
void conn_set(uint32_t number, bool qp);
/* Creates an id, which connects when its route is resolved. */
struct rdma_cm_id *conn_start(struct rdma_event_channel *ch, int port, void *context);
/*
 * Fetches an event of a connection and makes the next call. Returns 1 if the connection has been
 * established, or, with @end, destroyed; -1 if it has failed; else 0.
 */
int conn_step(struct rdma_event_channel *ch, bool end, struct rdma_cm_id **idp);
/* Sets up @n connections, one after the other. Returns the microseconds that each of them took. */
double conn_setup(int n);

void bench_create(void);
void bench_bind(void);
void bench_option(void);
void bench_get_option(void);
void bench_listen(void);
void bench_close(void);
void bench_migrate(void);
void bench_resolve(void);
void bench_event(void);
void bench_dump(void);
void bench_memory(void);
void bench_many(void);
void bench_mcast(void);
void bench_connect(void);
void bench_hundred(void);
void bench_reject(void);
void bench_abandon(void);
void bench_nobody(void);
void bench_storm(void);
void bench_silent(void);
void bench_stall(void);
void bench_sa(void);
void bench_scale(void);

#endif
