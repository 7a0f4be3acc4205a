/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef BENCH_H
#define BENCH_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include "../lib/die.h"
#include "../lib/now.h"

#define BENCH_PORT 7471

/* what the command line says */
extern struct bench_conf {
	const char *addr;	/* of the local RDMA device */
	const char *server;	/* of the device that servers listen at */
	const char *netns;	/* file of the network namespace of servers; NULL: ours */
	const char *silent;	/* an address that has a neighbour but no host */
	const char *dump;	/* the command that lists all ids */
	int deadline;		/* ms, CMX_OPTION_CONNECT_DEADLINE_MS; 0: don't set */
	int hcas, groups, members;	/* HCAs of the fabric; groups of each; HCAs in each group */
} conf;

/* one line of the result: what was measured, and the value */
void result(const char *name, double value);

struct sockaddr *addr_of(struct sockaddr_in *sin, const char *ip, int port);
/* the @n-th group from @base on */
struct sockaddr *addr_of_group(struct sockaddr_in *sin, const char *base, int n);
struct rdma_event_channel *channel(void);
struct rdma_cm_id *id_on(struct rdma_event_channel *ch, void *context);
/* for datagrams, and bound */
struct rdma_cm_id *id_datagram(struct rdma_event_channel *ch, const char *ip);
/* take the next event; it has to be this one, of status 0 */
struct rdma_cm_event *expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type);
struct rdma_cm_id *id_routed(struct rdma_event_channel *ch, const char *ip, void *context);
/* conn.c: a process that accepts connections, and its end */
pid_t conn_serve(int port);
void conn_stop(pid_t pid);
/* a QP number that has not been used for long; the numbers of this process, or a QP for each connection */
uint32_t conn_number(void);
void conn_set(uint32_t number, bool qp);
/* a new id on its way: it connects as soon as its route is there */
struct rdma_cm_id *conn_start(struct rdma_event_channel *ch, int port, void *context);
/*
 * Takes an event of a connection and does what comes next. 1: this was the event that the owner waits
 * for: it has been established, or, with @end, destroyed; -1: the connection has failed.
 */
int conn_step(struct rdma_event_channel *ch, bool end, struct rdma_cm_id **idp);
/* connections to it, one after the other: us from create to established, of each */
double conn_setup(int n);

void bench_create(void);
void bench_bind(void);
void bench_option(void);
void bench_get_option(void);
void bench_listen(void);
void bench_migrate(void);
void bench_resolve(void);
void bench_event(void);
void bench_dump(void);
void bench_memory(void);
void bench_mcast(void);
void bench_connect(void);
void bench_storm(void);
void bench_silent(void);
void bench_sa(void);
void bench_scale(void);

#endif
