/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A listener, an active id, and the id of its request, for programs over librdmacm. Link pair.c and tap.c.
 *
 * Each call and each event is passed to call_report() or event_report(). By default, a call that fails and an
 * event that is missing or another one than expected end the case or the program, with status 1 and a
 * line that says why. A program that defines these functions itself may go on: then the functions here
 * return -1 with errno, or NULL. A channel or id that cannot be created ends it in any case.
 */
#ifndef PAIR_H
#define PAIR_H

#include <errno.h>
#include <stdbool.h>
#include <rdma/rdma_cma.h>

long call_report(long ret, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Called before the event is acknowledged. @expected: its type is that which was expected */
void event_report(const struct rdma_cm_event *ev, bool expected);

/* Makes a call, and passes its result and a text to call_report(). */
#define CALL(expr, ...) ({			\
	long __ret;				\
						\
	errno = 0;				\
	__ret = (expr);				\
	call_report(__ret, errno, __VA_ARGS__);	\
})

/* How long event_expect() waits on an idle machine, 15000 ms; -1: endlessly */
extern int event_wait_ms;

/* Ids have names in texts. */
void id_label(const struct rdma_cm_id *id, const char *name);
const char *id_name(const struct rdma_cm_id *id);

/*
 * Returns an address in a static buffer, which is reused soon. "fe80::1%d0" includes the scope. See
 * address_real(): the case is skipped if the host has no such address, or no IPv6.
 */
struct sockaddr *ip_addr(const char *addr, int port);
/* The same as text */
const char *ip_addr_real(const char *addr);
/* The port in place of that of a test: the program may define it. */
int port_real(int port);

struct rdma_event_channel *channel_create(void);
struct rdma_cm_id *id_create(struct rdma_event_channel *ch, const char *name, enum rdma_port_space ps);
int id_destroy(struct rdma_cm_id *id);
int id_bind(struct rdma_cm_id *id, const char *addr, int port);
int id_listen(struct rdma_cm_id *id, int backlog);
int id_resolve_addr(struct rdma_cm_id *id, const char *src, const char *dst, int port);
int id_resolve_route(struct rdma_cm_id *id);
/* Resolves address and route, and takes both events. */
int id_resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id, const char *dst, int port);

/* Returns the next event. NULL with EAGAIN if none comes within @ms, which is nothing to report. */
struct rdma_cm_event *event_next(struct rdma_event_channel *ch, int ms);
/* Takes the next event, which must be of type @type. Returns its status. */
int event_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type);
/* Takes a CONNECT_REQUEST. Returns its id, which is called @name. */
struct rdma_cm_id *event_expect_request(struct rdma_event_channel *ch, const char *name);

/**
 * struct pair - the two ends of a connection, and the listener
 * @ch: channel of the active side
 * @lch: channel of the passive side
 * @id: the active id
 * @listener: the listener
 * @child: id of the request
 * @addr: address of the listener; NULL: 10.77.0.1
 * @port: its port; 0: any
 * @param: parameters of connect and accept
 * @qp_create: creates the QP of an end; NULL: it has none. Then the QP number of the child is that of @param + 1
 */
struct pair {
	struct rdma_event_channel *ch;
	struct rdma_event_channel *lch;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *child;
	const char *addr;
	int port;
	struct rdma_conn_param param;
	int (*qp_create)(struct rdma_cm_id *id, enum ibv_qp_type type);
};

/* Steps. They create the channels and ids that are missing. Each returns 0 or -1. */
int pair_listen(struct pair *p, enum rdma_port_space ps);
int pair_route(struct pair *p, enum rdma_port_space ps);
/* Both of them */
int pair_prepare(struct pair *p, enum rdma_port_space ps);
/* Each of these takes the steps before it, unless there is an active id, or a request. */
int pair_request(struct pair *p, enum rdma_port_space ps);
int pair_request_with(struct pair *p, enum rdma_port_space ps, struct rdma_conn_param *param);
/* Accepts the request. A client without a QP then has CONNECT_RESPONSE. */
int pair_accept(struct pair *p);
int pair_connect(struct pair *p, enum rdma_port_space ps);
/* @second confirms the end. Only then does @first get DISCONNECTED. */
int pair_disconnect(struct pair *p, struct rdma_cm_id *first, struct rdma_cm_id *second);
/* Destroys all objects, in the order that the manual page requires. */
void pair_close(struct pair *p);

#endif
