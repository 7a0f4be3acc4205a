/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef API_H
#define API_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_cmx.h>
#include "../lib/tap.h"

/** struct pair - two ids on the way to each other */
struct pair {
	struct rdma_event_channel *ch;		/* active side */
	struct rdma_event_channel *lch;		/* passive side */
	struct rdma_cm_id *id;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *child;
};

extern const struct test addr_tests[], option_tests[], option_row_tests[],
			  ece_tests[], ece_qp_tests[],
			  mcast_tests[], qp_tests[], route_tests[], end_tests[], thread_tests[],
			  watch_tests[], cancel_tests[], port_tests[], channel_tests[],
			  fork_tests[], limit_tests[], iwarp_tests[],
			  event_info_tests[], addrinfo_tests[];

/* Says what is wrong and ends the case. */
#define WANT(cond) want(cond, #cond, __FILE__, __LINE__)
void want(bool cond, const char *text, const char *file, int line);

/* On hardware: skip a case that changes interfaces, neighbours or settings of the host. */
void need_rig(void);
/* see address_real(); a case without that address is skipped */
struct sockaddr *addr_of(const char *fixed, int port);
struct rdma_cm_event *next_event(struct rdma_event_channel *ch, int ms);
/* status of the next event, which must be of that type */
int expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type);

struct rdma_cm_id *new_id(struct rdma_event_channel **ch, enum rdma_port_space ps);
struct rdma_cm_id *new_bound(struct rdma_event_channel **ch, enum rdma_port_space ps, const char *addr);
void resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id, const char *dst, int port);

/* Listener and resolved active id; then the request; then the connection. Missing steps come first. */
void pair_resolve(struct pair *p, enum rdma_port_space ps);
void pair_request(struct pair *p, struct rdma_conn_param *par);
void pair_connect(struct pair *p);
extern struct rdma_conn_param plain;

/* An RC QP of the id. rdma_disconnect() stops it, so that the end need not wait for the peer. */
void qp_make(struct rdma_cm_id *id);

/* the devices have no node GUID */
extern bool no_guid;

/* who has just fetched events is cancelled */
extern bool cancel_fetch;

struct cmx_ece_info ece_query(struct rdma_cm_id *id);
int set_u32(struct rdma_cm_id *id, int level, int name, uint32_t val);
uint32_t get_u32(struct rdma_cm_id *id, int level, int name, uint32_t *flags);
/* Returns 0 or -1. */
__attribute__((format(printf, 2, 3)))
int file_write(const char *path, const char *format, ...);
/* in the folder of an id's port, see cmx(8) */
FILE *port_file_open(struct rdma_cm_id *id, const char *name, const char *mode);
/* connections whose peer has not yet confirmed the end */
int closing_count(void);
long port_stat_get(struct rdma_cm_id *id, const char *name);

#endif
