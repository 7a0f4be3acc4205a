/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * compare: the same program runs on both stacks, and the traces are compared.
 *
 * Each case prints the behaviour of the public librdmacm API: each call with its return value and
 * errno, each event, and the state that the caller sees afterwards. A value that may differ between
 * two runs of the same stack (ephemeral port, QP number, sequence number) is printed as a name.
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
#include "../lib/pair.h"
#include "../lib/tap.h"

/* Addresses that the script of the suite has set up */
#define ADDR	"10.77.0.1"	/* address of the RDMA device */
#define ADDR_2	"10.77.0.2"	/* another address of the same device */
#define ADDR_6	"fd77::1"
#define ADDR_LL	"fe80::77"	/* link-local, on DEV */
#define VRF	"vrf92"
#define VRF_4	"10.92.0.1"	/* on a VLAN of the RDMA device that belongs to a VRF */
#define VRF_6	"fd92::1"
#define GHOST	"10.77.0.50"	/* a permanent neighbour without a host */
#define MOVING	"10.77.0.51"	/* the same, for the case that changes its link layer address */
#define ABSENT	"10.77.0.99"	/* on the subnet, without a neighbour entry */
#define GOING	"10.88.9.1"	/* on rxe9, which the case adds and removes */
#define LEFT	"10.88.8.1"	/* on rxe8, as above */
#define NORDMA	"10.79.0.1"	/* of this host, on an interface without an RDMA device */
#define FOREIGN	"10.99.0.1"	/* of no host, and without a route */
#define GROUP	"239.77.0.1"
#define GROUP_2	"239.77.0.2"
#define GROUP_6	"ff0e::7701"
#define DEV	"d0"
/*
 * In the trace, the ports of a case are PORT to PORT + 9. Each case uses other real ports, so that
 * a case that is stuck does not affect the next one.
 */
#define PORT	7471
#define PORTS	10

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct cmp_case - one named case
 * @name: area.subject, the key of a row of the table of differences
 * @run: the function of the case; it runs in a child process
 * @arg: argument of @run
 */
struct cmp_case {
	const char *name;
	void (*run)(const void *arg);
	const void *arg;
};

extern const struct cmp_case option_cases[], bind_cases[], resolve_cases[], mcast_cases[];
extern const struct cmp_case ece_cases[], connect_cases[], reject_cases[], ud_cases[];
extern const struct cmp_case event_cases[], owner_cases[], misc_cases[];

/*
 * util.c: the trace, which is what a case prints before its result. CALL() prints "text -> ret errno", and each
 * event is printed. While quiet is not 0, steps that succeed are not.
 */
extern int quiet;

extern int case_port;

int port_shown(int port);
struct sockaddr *ib_addr(int port);

void qpn_label(uint32_t qpn, const char *name);
const char *qpn_name(uint32_t qpn);
uint32_t qpn_fake(const char *name);

int qp_create(struct rdma_cm_id *id, enum ibv_qp_type type);
/* The AF_IB address of ADDR: the GID of its port, and the service ID of @port in RDMA_PS_TCP. */
struct sockaddr *ib_addr_local(struct rdma_event_channel *ch, int port);

/* show.c: state and events as text */
const char *event_name(int event);
void show_id(struct rdma_cm_id *id);
void show_path(struct rdma_cm_id *id);
void show_ports(struct rdma_cm_id *id);
void show_qp(struct ibv_qp *qp);
void show_attr(const struct ibv_qp_attr *attr, int mask);
void show_event(const struct rdma_cm_event *ev);
void show_init_attr(struct rdma_cm_id *id, enum ibv_qp_state state);

/* Waits up to 5 s for an event, traces and acknowledges it. Returns -1 if none comes. */
int event_trace(struct rdma_event_channel *ch);
/* Fetches an event without tracing or acknowledging it. */
struct rdma_cm_event *event_fetch(struct rdma_event_channel *ch, int ms);
/* Checks that no event comes within 0.3 s. */
void event_expect_none(struct rdma_event_channel *ch);
int channel_poll(struct rdma_event_channel *ch, int ms);

/* scene.c: states that most cases begin in */
enum reach {
	IDLE, WILDCARD, BOUND, ADDRESSED, ROUTED, LISTENING, REQUESTED, CONNECTED, DISCONNECTED,
	REACHES
};

extern const char *const reach_names[REACHES];

/* Both sides have channels, QPs and the address ADDR, and the listener has PORT. */
void pair_init(struct pair *d);

/* Takes one of these steps. Only failures are traced. */
void pair_run_quietly(int (*step)(struct pair *d, enum rdma_port_space ps), struct pair *d,
		      enum rdma_port_space ps);

/* Brings @d to a state and returns the id that is in it. Only failures are traced. */
struct rdma_cm_id *pair_reach(struct pair *d, enum reach where);

/* Creates a QP on the device of @id without librdmacm. */
struct ibv_qp *ext_qp_create(struct rdma_cm_id *id, enum ibv_qp_type type, const char *name);
int ext_qp_modify(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state);

#endif
