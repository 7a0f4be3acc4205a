/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RDMA connection management for kernel ULPs: the functions of rdma_cmx.ko.
 *
 * Events, connection parameters, routes and port spaces have the types of <rdma/rdma_cm.h>. None
 * of its functions is used.
 */
#ifndef RDMA_CMX_KERNEL_H
#define RDMA_CMX_KERNEL_H

#include <rdma/rdma_cm.h>
#include <rdma/cmx_ioctl.h>

struct cmx_id;
struct cmx_mcast;

/**
 * typedef cmx_event_handler - receives the events of an id
 * @id: the id; for CONNECT_REQUEST the new id, which has the context of the listener
 * @event: valid during the call only
 *
 * The events of an id are handled in order, one at a time, and so are the requests to a listener.
 * The handler may call any function on @id except cmx_destroy_id() and cmx_lock_handler(). In the
 * handler of a request this applies to the listener, too.
 *
 * Context: process, may sleep. No lock of an id is held.
 *
 * Return: 0, or any other value to destroy @id. Before that the handler must destroy the QP. After
 * it the ULP must not access @id, for which the handler is not called again.
 */
typedef int (*cmx_event_handler)(struct cmx_id *id, struct rdma_cm_event *event);

/**
 * struct cmx_id - a communication identifier
 * @device: the RDMA device; NULL until the id is bound to a device
 * @context: for use by the consumer
 * @qp: set by cmx_create_qp()
 * @event_handler: called for each event
 * @route: addresses and path records
 * @ps: port space
 * @qp_type: type of the QP
 * @port_num: port of @device
 */
struct cmx_id {
	struct ib_device *device;
	void *context;
	struct ib_qp *qp;
	cmx_event_handler event_handler;
	struct rdma_route route;
	enum rdma_ucm_port_space ps;
	enum ib_qp_type qp_type;
	u32 port_num;
};

struct cmx_id *__cmx_create_id(struct net *net, cmx_event_handler handler, void *context,
			       enum rdma_ucm_port_space ps, enum ib_qp_type qp_type,
			       const char *owner);

/**
 * cmx_create_id() - create a communication identifier
 * @net: network namespace whose devices, addresses and ports the id uses
 * @handler: receives its events
 * @context: becomes @context of the id
 * @ps: port space
 * @qp_type: type of the QP that the id will have
 *
 * ``cmx show`` prints the name of the calling module.
 *
 * Context: process, may sleep.
 *
 * Return: the id, or an ERR_PTR: -ENOMEM, -EINVAL without a handler.
 */
#define cmx_create_id(net, handler, context, ps, qp_type) \
	__cmx_create_id(net, handler, context, ps, qp_type, KBUILD_MODNAME)

void cmx_destroy_id(struct cmx_id *id);
void cmx_lock_handler(struct cmx_id *id);
void cmx_unlock_handler(struct cmx_id *id);
int cmx_restrict_node_type(struct cmx_id *id, u8 node_type);

int cmx_bind_addr(struct cmx_id *id, const struct sockaddr *addr);
int cmx_resolve_addr(struct cmx_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		     unsigned long timeout_ms);
int cmx_resolve_route(struct cmx_id *id, unsigned long timeout_ms);
int cmx_set_ib_path(struct cmx_id *id, const struct sa_path_rec *rec);
void cmx_read_gids(struct cmx_id *id, union ib_gid *sgid, union ib_gid *dgid);
__be64 cmx_get_service_id(struct cmx_id *id, const struct sockaddr *addr);

int cmx_create_qp(struct cmx_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr);
void cmx_destroy_qp(struct cmx_id *id);
int cmx_init_qp_attr(struct cmx_id *id, struct ib_qp_attr *attr, int *mask);

int cmx_listen(struct cmx_id *id, int backlog);
int cmx_connect(struct cmx_id *id, const struct rdma_conn_param *param);
int cmx_connect_ece(struct cmx_id *id, const struct rdma_conn_param *param,
		    const struct rdma_ucm_ece *ece);
int cmx_accept(struct cmx_id *id, const struct rdma_conn_param *param);
int cmx_accept_ece(struct cmx_id *id, const struct rdma_conn_param *param,
		   const struct rdma_ucm_ece *ece);
int cmx_establish(struct cmx_id *id);
int cmx_reject(struct cmx_id *id, const void *private_data, u8 len, u8 reason);
int cmx_disconnect(struct cmx_id *id);
int cmx_notify(struct cmx_id *id, enum ib_event_type event);

int cmx_set_option(struct cmx_id *id, int level, int name, const void *val, size_t len);
int cmx_get_option(struct cmx_id *id, int level, int name, void *val, size_t *len, u32 *flags);

int cmx_set_local_ece(struct cmx_id *id, const struct rdma_ucm_ece *ece);
int cmx_get_remote_ece(struct cmx_id *id, struct rdma_ucm_ece *ece);
void cmx_query_ece(struct cmx_id *id, struct cmx_ece_info *info);

int cmx_join_multicast(struct cmx_id *id, const struct sockaddr *addr,
		       const struct cmx_mcast_attr *attr, void *context);
int cmx_leave_multicast(struct cmx_id *id, const struct sockaddr *addr);

/**
 * struct cmx_event_info - fields of an event that struct rdma_cm_event lacks
 * @flags: CMX_EVENT_F_REJOIN: the membership was lost, and the group was joined again
 * @num_paths: number of path records in @path
 * @path: path records of the route of the id; NULL if there are none
 *
 * Fields may be added at the end.
 */
struct cmx_event_info {
	u32 flags;
	u32 num_paths;
	const struct sa_path_rec *path;
};

void cmx_query_event(const struct rdma_cm_event *event, struct cmx_event_info *info, size_t size);
const char *cmx_event_msg(enum rdma_cm_event_type event);
const char *cmx_reject_msg(struct cmx_id *id, int reason);
bool cmx_is_consumer_reject(struct cmx_id *id, int reason);
const void *cmx_consumer_reject_data(struct cmx_id *id, const struct rdma_cm_event *event, u8 *len);

/**
 * cmx_set_option_u32() - set an option that has a u32 value
 * @id: the id
 * @level: RDMA_OPTION_ID or CMX_OPTION
 * @name: option within @level
 * @val: the value
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_set_option().
 */
static inline int cmx_set_option_u32(struct cmx_id *id, int level, int name, u32 val)
{
	return cmx_set_option(id, level, name, &val, sizeof(val));
}

/**
 * cmx_set_service_type() - set RDMA_OPTION_ID_TOS
 * @id: the id
 * @tos: 0..255; 0 restores the default
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_set_option().
 */
static inline int cmx_set_service_type(struct cmx_id *id, int tos)
{
	return cmx_set_option_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, tos);
}

/**
 * cmx_set_reuseaddr() - set RDMA_OPTION_ID_REUSEADDR
 * @id: the id
 * @reuse: whether other ids may share the port
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_set_option().
 */
static inline int cmx_set_reuseaddr(struct cmx_id *id, int reuse)
{
	return cmx_set_option_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, reuse);
}

/**
 * cmx_set_afonly() - set RDMA_OPTION_ID_AFONLY
 * @id: the id
 * @afonly: whether a wildcard address covers only its own address family
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_set_option().
 */
static inline int cmx_set_afonly(struct cmx_id *id, int afonly)
{
	return cmx_set_option_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, afonly);
}

/**
 * cmx_set_ack_timeout() - set RDMA_OPTION_ID_ACK_TIMEOUT
 * @id: the id, of a reliable connection
 * @timeout: 0..31, 4.096 us * 2^n
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_set_option().
 */
static inline int cmx_set_ack_timeout(struct cmx_id *id, u8 timeout)
{
	return cmx_set_option_u32(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, timeout);
}

/**
 * cmx_set_min_rnr_timer() - set CMX_OPTION_MIN_RNR_TIMER
 * @id: the id, of a reliable connection
 * @timer: 0..31, encoded as in IBTA 9.7.5.2.8
 *
 * Context: process, may sleep.
 *
 * Return: as cmx_set_option().
 */
static inline int cmx_set_min_rnr_timer(struct cmx_id *id, u8 timer)
{
	return cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, timer);
}

#endif
