/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef API_H
#define API_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_cmx.h>
#include "../lib/pair.h"
#include "../lib/tap.h"

extern const struct test addr_tests[], option_tests[], option_row_tests[],
			  ece_tests[], ece_qp_tests[],
			  mcast_tests[], qp_tests[], route_tests[], end_tests[], thread_tests[],
			  watch_tests[], cancel_tests[], port_tests[], channel_tests[],
			  fork_tests[], limit_tests[], memory_tests[], iwarp_tests[], delay_tests[],
			  event_info_tests[], addrinfo_tests[], vrf_tests[], gauge_tests[], device_tests[];

/* Skips the case on hardware: it changes interfaces, neighbours or settings of the host. */
void need_rig(void);
struct rdma_cm_id *new_id(struct rdma_event_channel **ch, enum rdma_port_space ps);
struct rdma_cm_id *new_bound_id(struct rdma_event_channel **ch, enum rdma_port_space ps,
				const char *addr);
/* Each case has 64 QP numbers of its own, because ib_cm remembers those of closed connections. */
extern struct rdma_conn_param plain;

/* Creates an RC QP. rdma_disconnect() stops it, so that DISCONNECTED does not wait for the peer. */
void qp_make(struct rdma_cm_id *id);

/* iwarp.c: the device of these cases */
struct ibv_qp *iwarp_qp_new(struct rdma_cm_id *id);
bool iwarp_device_exists(void);

/* ece_qp.c: devices have no node GUID */
extern bool no_guid;

/* ece_qp.c: devices have the largest number of ports that libibverbs can report */
extern bool many_ports;

/* ece_qp.c: number of calls of ibv_query_qp() */
extern unsigned int qp_queries;

/* ece_qp.c: a thread that has just fetched events is cancelled */
extern bool cancel_fetch;

/* ece_qp.c: called before a QP is modified; NULL: nothing is */
extern void (*before_modify)(void);

/* ece_qp.c: called after a successful ioctl() and before the library goes on; NULL: nothing is */
extern void (*after_ioctl)(void);

struct cmx_ece_info ece_query(struct rdma_cm_id *id);
int set_u32(struct rdma_cm_id *id, int level, int name, uint32_t val);
uint32_t get_u32(struct rdma_cm_id *id, int level, int name, uint32_t *flags);
/* Returns 0 or -1. */
__attribute__((format(printf, 2, 3)))
int file_write(const char *path, const char *format, ...);
/* Reads a line of stats in debugfs by itself: no other program has to start. */
int module_sum_get(const char *name);
/* Reads a gauge of all ports. */
int gauge_sum_get(const char *name);
/* Waits until the peers have confirmed the end of all connections. The time limit is in tenths of a second, more on a slow machine. */
void closing_wait(int tenths);
long port_stat_get(struct rdma_cm_id *id, const char *name);

#endif
