/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Declarations that the files of librdmacm share.
 *
 * Lock order: acked_lock (event.c), the lock of an id, then devices_lock (device.c). No lock is
 * held while a thread waits for an event, or while code of the application runs.
 */
#ifndef CMXL_LIB_H
#define CMXL_LIB_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Only the functions that the public headers declare are exported. */
#pragma GCC visibility push(default)
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#define RDMA_CMX_LIBRARY
#include <rdma/rdma_cmx.h>
#pragma GCC visibility pop
#include <infiniband/ib.h>

#include "cmd.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/**
 * struct cmxl_device - an RDMA device, shared by all ids that are bound to it
 * @next: next device; the list is sorted by @index
 * @dev: the device as libibverbs lists it
 * @verbs: open context, or NULL; never freed, because programs may use it longer than the library
 * @pd: default protection domain; allocated for the first id
 * @xrcd: default XRC domain; opened at the first use
 * @guid: node GUID, network order
 * @index: index of the device in the kernel, -1 if not known
 * @refs: number of ids bound to the device, and of rdma_get_devices() lists that contain it
 * @max_initiator_depth: maximum number of outstanding RDMA reads and atomics as initiator
 * @max_responder_resources: maximum number of outstanding RDMA reads and atomics as responder
 * @dead: the kernel no longer lists the device, and waits until it is let go
 */
struct cmxl_device {
	struct cmxl_device *next;
	struct ibv_device *dev;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	uint64_t guid;
	int index;
	unsigned int refs;
	uint8_t max_initiator_depth;
	uint8_t max_responder_resources;
	bool dead;
};

struct cmxl_id;
struct cmxl_mcast;

/**
 * struct cmxl_event - an event that was returned to the application
 * @event: the public part
 * @private_data: private data that @event points to
 * @info: for rdma_cmx_query_event()
 * @id: the id that counts the acknowledgement; for a request, the listener
 * @mcast: the membership that counts it too, or NULL
 */
struct cmxl_event {
	struct rdma_cm_event event;
	uint8_t private_data[CMX_PRIVATE_DATA];
	struct rdma_cmx_event_info info;
	struct cmxl_id *id;
	struct cmxl_mcast *mcast;
};

/* libibverbs exports these functions, but no installed header declares them. */
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);

/**
 * struct cmxl_conn_attrs - path records and QP attributes that the kernel reported for an id
 * @paths: path records that the route of the id points to
 * @init: attributes for INIT, from the last struct cmx_id_info; qp_state is 0 if not known
 * @rtr: attributes for RTR, from a connection event; qp_state is 0 if not known
 * @rts: attributes for RTS, from a connection event; qp_state is 0 if not known
 * @qp_has_qkey: the QP is a datagram QP that has been modified to INIT
 * @qp_qkey: its Q_Key
 */
struct cmxl_conn_attrs {
	struct ibv_sa_path_rec paths[2];
	struct ib_uverbs_qp_attr init;
	struct ib_uverbs_qp_attr rtr;
	struct ib_uverbs_qp_attr rts;
	bool qp_has_qkey;
	uint32_t qp_qkey;
};

/**
 * struct cmxl_id - an rdma_cm_id
 * @id: the public part
 * @dev: the device that the id is bound to, with a reference, or NULL
 * @handle: handle in the file of its channel; 0 until the kernel creates the id
 * @connect_len: bytes in @connect
 * @qp_init_attr: from rdma_create_ep(), for the QPs of incoming requests
 * @connect: private data from rdma_create_ep(), sent before that of rdma_connect()
 * @request_channel: for the id of the next request, or NULL; only of a synchronous listener
 * @sync: the id has a channel of its own, and its calls wait for their event
 * @connect_error: the QP could not be modified for a CONNECT_RESPONSE. The REJECTED and
 *                 DISCONNECTED events that result are not reported to the application
 * @initiator_depth: sent in the REQ or REP
 * @responder_resources: sent in the REQ or REP
 * @ece_policy: enum cmx_ece_policy
 * @mcast_block: its QPs do not receive their own multicast messages
 * @qp_is_stopped: rdma_disconnect() has moved the QP to an error state
 * @resolving_ai: rdma_resolve_addrinfo() was called, and its result was not taken yet; under @lock
 * @ack_awaited: a thread waits until events of the id are acknowledged; under @lock
 * @events_completed: number of acknowledged events of the id; under @lock
 * @events_before: number of events that were fetched before a command that was to create the id
 *	failed, and the kernel destroyed it again
 * @qp_held: number of events and disconnects that began to modify the QP; under @lock
 * @qp_released: number of those that finished to modify the QP; under @lock
 * @owner: the process that has created the QP or SRQ of the id; 0 if none was created
 * @lock: also protects the fields below, and @id.route while events fill it in
 * @mcast: hash tables of memberships; NULL before the first one
 * @known: attributes for connecting; NULL before the route is resolved
 * @resolved_ai: result for rdma_query_addrinfo(), or NULL
 * @local_ece: ECE of this end
 * @remote_ece: ECE of the peer; vendor 0 if it sent none
 *
 * The fields are ordered to avoid holes, because programs have thousands of ids.
 */
struct cmxl_id {
	struct rdma_cm_id id;
	struct cmxl_device *dev;
	uint32_t handle;
	uint32_t connect_len;
	struct ibv_qp_init_attr *qp_init_attr;
	void *connect;
	struct rdma_event_channel *request_channel;
	bool sync;
	bool connect_error;
	uint8_t initiator_depth;
	uint8_t responder_resources;
	uint8_t ece_policy;
	bool mcast_block;
	bool qp_is_stopped;
	bool ack_awaited;
	bool resolving_ai;
	uint32_t events_completed;
	uint32_t events_before;
	uint32_t qp_held;
	uint32_t qp_released;
	pid_t owner;
	pthread_mutex_t lock;
	struct cmxl_mcast **mcast;
	struct cmxl_conn_attrs *known;
	struct rdma_addrinfo *resolved_ai;
	struct cmx_ece local_ece;
	struct cmx_ece remote_ece;
};

/**
 * struct cmxl_mcast - a membership in a multicast group
 * @next: next in the same bucket
 * @id: the id that joined
 * @context: for use by the application
 * @handle: handle in the file of the channel
 * @addr: address of the group
 * @send_only: no QP is attached
 * @events_completed: number of acknowledged events of the membership; the lock of @id protects
 *	this field and the fields below
 * @left: rdma_leave_multicast() has begun
 * @joined: the first event of the join has been fetched
 * @attached: the QP of the id is attached to @mgid and @mlid for this membership
 * @next_attached: next attached membership in the same bucket by @mgid
 * @mgid: GID of the group
 * @mlid: LID of the group
 */
struct cmxl_mcast {
	struct cmxl_mcast *next;
	struct cmxl_id *id;
	void *context;
	uint32_t handle;
	struct sockaddr_storage addr;
	bool send_only;
	uint32_t events_completed;
	bool left;
	bool joined;
	bool attached;
	struct cmxl_mcast *next_attached;
	union ibv_gid mgid;
	uint16_t mlid;
};

static inline struct cmxl_id *to_cmxl_id(struct rdma_cm_id *id)
{
	return container_of(id, struct cmxl_id, id);
}

/* NULL if the id is not bound to a device yet; its verbs and pd are not set then either. */
static inline struct cmxl_device *cmxl_id_device(struct rdma_cm_id *id)
{
	return __atomic_load_n(&to_cmxl_id(id)->dev, __ATOMIC_ACQUIRE);
}

static inline bool cmxl_id_is_ud(const struct cmxl_id *id)
{
	return id->id.qp_type == IBV_QPT_UD;
}

static inline int cmxl_err(int err)
{
	errno = err;
	return -1;
}

/* Some functions of libibverbs return an errno, others -1 with errno set. */
static inline int cmxl_verbs_err(int ret)
{
	return ret > 0 ? cmxl_err(ret) : ret;
}

/* addr.c */
socklen_t cmxl_addr_len(const struct sockaddr *addr);
__be16 cmxl_addr_port(const struct sockaddr *addr);

/* addrinfo.c */
bool cmxl_ai_is_known(struct cmxl_id *id);
int cmxl_ai_fetch(struct cmxl_id *id);
void cmxl_ai_end(struct cmxl_id *id);

/* channel.c */
int cmxl_channel_check(struct rdma_event_channel *channel);

/* device.c */
int cmxl_devices_init(void);
int cmxl_device_get(struct cmxl_id *id, uint64_t guid, int index);
void cmxl_device_put(struct cmxl_device *dev);
void cmxl_device_removed(struct cmxl_device *dev);
struct ibv_xrcd *cmxl_device_xrcd(struct cmxl_device *dev);

/* ece.c */
int cmxl_ece_qp_created(struct cmxl_id *id, struct ibv_qp *qp);
int cmxl_ece_qp_settled(struct cmxl_id *id, struct ibv_qp *qp);
int cmxl_ece_apply_reply(struct cmxl_id *id, struct ibv_qp *qp);
void cmxl_ece_add_req(const struct cmxl_id *id, struct cmxl_cmd *cmd);
void cmxl_ece_add_rep(const struct cmxl_id *id, struct cmxl_cmd *cmd);

/* event.c */
int cmxl_id_wait_event(struct cmxl_id *id);
int cmxl_event_error(const struct rdma_cm_event *event);
int cmxl_event_write(struct cmxl_id *id, uint32_t event, int status, uint64_t arg);
void cmxl_event_ack_kept(struct cmxl_id *id);
void cmxl_event_wake_acked(void);
void cmxl_event_wait_acked(struct cmxl_id *id, const uint32_t *completed, uint32_t events);

/* id.c */
int cmxl_id_create(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps, enum ibv_qp_type qp_type);
struct cmxl_id *cmxl_id_from_request(struct rdma_event_channel *channel,
				     const struct cmxl_id *listener, uint32_t handle);
void cmxl_id_destroy_handle(int fd, uint32_t handle);
int cmxl_id_make_sync(struct cmxl_id *id, struct rdma_event_channel *channel);
struct cmxl_conn_attrs *cmxl_id_known(struct cmxl_id *id);
int cmxl_id_apply_info(struct cmxl_id *id, const struct cmx_id_info *info);
void cmxl_id_cmd(struct cmxl_cmd *cmd, const struct cmxl_id *id, uint16_t method);
int cmxl_id_issue(struct cmxl_cmd *cmd, struct cmxl_id *id);
int cmxl_id_issue_new(struct cmxl_cmd *cmd, struct cmxl_id *id);
int cmxl_id_run(struct cmxl_cmd *cmd, struct cmxl_id *id);
int cmxl_id_create_in_kernel(struct cmxl_id *id);
void cmxl_path_from_kernel(struct ibv_sa_path_rec *dst, const struct ib_path_rec_data *src);

/* message.c */
__attribute__((format(printf, 1, 2)))
void cmxl_message(const char *format, ...);

/* mcast.c */
int cmxl_mcast_joined(struct cmxl_mcast *mcast, const struct rdma_ud_param *ud);
bool cmxl_mcast_report_again(const struct cmxl_mcast *mcast);
void cmxl_mcast_free_all(struct cmxl_id *id);
void cmxl_mcast_detach_all(struct cmxl_id *id);

/* service.c */
int cmxl_service_resolve(struct cmxl_id *id, const char *service);
struct rdma_addrinfo *cmxl_service_fetch(struct cmxl_id *id);
int cmxl_service_getaddrinfo(const char *service, struct rdma_addrinfo **res);

/* system.c */
enum { CMXL_STACK_UNDECIDED, CMXL_STACK_OWN, CMXL_STACK_SYSTEM };
extern int cmxl_stack;
bool cmxl_system_is_used_slow(void);
void *cmxl_system_function(const char *name);

/* Whether the process has fallen back on the librdmacm of the system. */
static inline bool cmxl_system_is_used(void)
{
	return __atomic_load_n(&cmxl_stack, __ATOMIC_ACQUIRE) != CMXL_STACK_OWN &&
	       cmxl_system_is_used_slow();
}

/*
 * Calls the function of the system's librdmacm. Every exported function uses it first if
 * cmxl_system_is_used() is true. If that library lacks the function, the result is @error and errno
 * is ENOSYS.
 */
#define CMXL_SYSTEM_CALL(name, error, args) \
({ \
	__typeof__(&name) function_ = cmxl_system_function(#name); \
\
	function_ ? function_ args : error; \
})

/* qp.c */
bool cmxl_qp_is_foreign(const struct cmxl_id *id);
bool cmxl_qp_hold(struct cmxl_id *id);
void cmxl_qp_release(struct cmxl_id *id);
int cmxl_qp_to_rts(struct cmxl_id *id, uint8_t responder_resources, uint8_t initiator_depth);
int cmxl_qp_to_state(struct cmxl_id *id, enum ibv_qp_state state);
void cmxl_qp_forget_attrs(struct cmxl_id *id);
int cmxl_qp_set_qkey(struct cmxl_id *id, uint32_t qkey);

#endif
