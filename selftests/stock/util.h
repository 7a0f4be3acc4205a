/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * compare: one program, two stacks, one trace.
 *
 * Every case prints what the public librdmacm API did: each call with its return value and errno,
 * each event, and the state the caller can see afterwards. Whatever may differ between two runs
 * of the same stack (ephemeral ports, QP numbers, sequence numbers) is printed as a name.
 */
#ifndef COMPARE_UTIL_H
#define COMPARE_UTIL_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

/* The addresses which the suite script has set up. */
#define ADDR	"10.77.0.1"	/* the RDMA device's address */
#define ADDR_2	"10.77.0.2"	/* another one of the same device */
#define ADDR_6	"fd77::1"
#define ADDR_LL	"fe80::77"	/* link-local, on DEV */
#define GHOST	"10.77.0.50"	/* a permanent neighbour that nobody answers for */
#define MOVING	"10.77.0.51"	/* the same, for the case that changes its link layer address */
#define ABSENT	"10.77.0.99"	/* on the subnet, without a neighbour entry */
#define NORDMA	"10.79.0.1"	/* ours, on an interface without RDMA device */
#define FOREIGN	"10.99.0.1"	/* nobody's, and no route leads there */
#define GROUP	"239.77.0.1"
#define GROUP_2	"239.77.0.2"
#define GROUP_6	"ff0e::7701"
#define DEV	"d0"
/*
 * In the trace, a case's ports are PORT to PORT + 9. The ports in use are others for each case, so
 * that one which got stuck does not stand in the way of the next.
 */
#define PORT	7471
#define PORTS	10

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct cmp_case - one named case
 * @name: area.subject, the key of a row of the table of differences
 * @run: what to do; it runs in a child of its own
 * @arg: what a table-driven case passes to @run
 */
struct cmp_case {
	const char *name;
	void (*run)(const void *arg);
	const void *arg;
};

extern const struct cmp_case option_cases[], bind_cases[], resolve_cases[], mcast_cases[];
extern const struct cmp_case ece_cases[], connect_cases[], reject_cases[], ud_cases[];
extern const struct cmp_case event_cases[], owner_cases[], misc_cases[];

/* util.c: the trace. While "quiet" is not 0, steps that succeed are not printed. */
extern int quiet;

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
long say_ret(long ret, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Do a call and trace it as "text -> ret errno". */
#define CALL(expr, ...) ({			\
	long __ret;				\
						\
	errno = 0;				\
	__ret = (expr);				\
	say_ret(__ret, errno, __VA_ARGS__);	\
})

extern int case_port;

int real_port(int port);
int shown_port(int port);
struct sockaddr *ip(const char *addr, int port);
/* see address_real(); a case without that address ends as skipped */
const char *real_addr(const char *addr);
struct sockaddr *ib_addr(int port);

void label_id(struct rdma_cm_id *id, const char *name);
const char *idname(const struct rdma_cm_id *id);
void label_qpn(uint32_t qpn, const char *name);
const char *qpn_name(uint32_t qpn);
uint32_t fake_qpn(const char *name);

/* Traced calls that most cases need; each returns what the call returned. */
struct rdma_event_channel *mkchan(void);
struct rdma_cm_id *mkid(struct rdma_event_channel *ch, const char *name, enum rdma_port_space ps);
int rmid(struct rdma_cm_id *id);
int mkqp(struct rdma_cm_id *id, enum ibv_qp_type type);
int do_bind(struct rdma_cm_id *id, const char *addr, int port);
int do_listen(struct rdma_cm_id *id, int backlog);
int do_resolve(struct rdma_cm_id *id, const char *src, const char *dst, int port);
int do_route(struct rdma_cm_id *id);

/* show.c: state and events as text */
const char *event_name(int event);
void show_id(struct rdma_cm_id *id);
void show_path(struct rdma_cm_id *id);
void show_ports(struct rdma_cm_id *id);
void show_qp(struct ibv_qp *qp);
void show_attr(const struct ibv_qp_attr *attr, int mask);
void show_event(const struct rdma_cm_event *ev);
void show_init_attr(struct rdma_cm_id *id, enum ibv_qp_state state);

/* One event: waited for (5 s), traced and acknowledged; -1 when none came. */
int ev(struct rdma_event_channel *ch);
/* The same for a connection request, whose id is called name. */
struct rdma_cm_id *ev_request(struct rdma_event_channel *ch, const char *name);
/* An event to keep: not traced, not acknowledged. */
struct rdma_cm_event *ev_raw(struct rdma_event_channel *ch, int ms);
/* Nothing must come within 0.3 s. */
void ev_none(struct rdma_event_channel *ch);
int ev_ready(struct rdma_event_channel *ch, int ms);

/* scene.c: the usual casts */
enum reach {
	IDLE, WILDCARD, BOUND, ADDRESSED, ROUTED, LISTENING, REQUESTED, CONNECTED, DISCONNECTED,
	REACHES
};

/**
 * struct duo - a listener, a client and the connection between them
 * @cl: channel of the listener and of the passive side
 * @cc: channel of the active side
 * @lst: the listener
 * @srv: the passive side's id
 * @cli: the active side's id
 * @param: what connect and accept are given
 * @no_qp: leave QP creation to the case
 */
struct duo {
	struct rdma_event_channel *cl, *cc;
	struct rdma_cm_id *lst, *srv, *cli;
	struct rdma_conn_param param;
	int no_qp;
};

extern const char *const reach_names[REACHES];

void duo_init(struct duo *d);
int duo_listen(struct duo *d, enum rdma_port_space ps);
int duo_route(struct duo *d, enum rdma_port_space ps);
int duo_prepare(struct duo *d, enum rdma_port_space ps);	/* to listen and to have a route */
int duo_request(struct duo *d, enum rdma_port_space ps);
int duo_connect(struct duo *d, enum rdma_port_space ps);
int duo_disconnect(struct duo *d, struct rdma_cm_id *first, struct rdma_cm_id *second);
void duo_end(struct duo *d);

/* Take one of these steps without trace but for failures. */
void duo_quietly(int (*step)(struct duo *d, enum rdma_port_space ps), struct duo *d,
		 enum rdma_port_space ps);

/* Bring d to a state, without trace but for failures; returns the id that is in it. */
struct rdma_cm_id *duo_reach(struct duo *d, enum reach where);

/* A QP that librdmacm does not know of, on the device of id. */
struct ibv_qp *ext_qp(struct rdma_cm_id *id, enum ibv_qp_type type, const char *name);
int ext_modify(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state);

#endif
