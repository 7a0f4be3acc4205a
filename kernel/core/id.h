/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ID_H
#define CMX_ID_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/cmx.h>
#include "state.h"

struct cmx_event;

/* enum cmx_opt_bit - bit numbers of &struct cmx_opts.set, one for each row of option_rows.h */
enum cmx_opt_bit {
#define CMX_OPTION_VALUE(level, name, label, ...) CMX_OPT_##label,
#define CMX_OPTION_RECORDS(level, name, label, ...) CMX_OPT_##label,
#include "option_rows.h"
	CMX_OPT_NUM,
};

/*
 * struct cmx_opts - the options of an id
 * @set: BIT(enum cmx_opt_bit) of each option that was set. The fields of other options are not
 *	valid, except for afonly, which has the value that the bind used, and bind_device, which
 *	is 0. bind_device is changed in CMX_IDLE only
 * @ruled: those of @set whose value comes from a rule
 * @forced: those of @ruled whose value the consumer cannot change
 *
 * The fields that follow are the values, each as small as its maximum allows: there can be
 * thousands of ids. cmx_opts_value() and cmx_opts_store() find the field of a bit.
 */
struct cmx_opts {
	u32 set;
	u32 ruled;
	u32 forced;
#define CMX_OPTION_VALUE(level, name, label, field, least, most, ...)		\
	typeof(__builtin_choose_expr((most) <= U8_MAX, (u8)0, (u32)0)) field;
#define CMX_OPTION_RECORDS(...)
#include "option_rows.h"
};

/**
 * struct cmx_ib_conn - connection over ib_cm; only for transport/ib
 * @cm: the ib_cm id, or NULL. It stays until it is destroyed, also when it was released
 * @close_node: in the hash table of closing ids while @state is a closing one, and in
 *	CMX_IB_DESTROYED until @cm has been destroyed; changed under close_lock of ib_close.c, read
 *	under RCU
 * @close_device: device of @cm; valid while @close_node is in the table
 * @end: what a released ib_cm id needs until it is destroyed; NULL before and after
 * @window: send window in which the id has a place, or waits for one; or NULL
 * @window_item: in the list of the ids that wait for a place in @window, or empty; protected by
 *	&cmx_ib_port.windows_lock; not valid without @window
 * @work: does what @reasons say, see ib_wake.h; while it is queued or runs, it holds a reference
 * @reasons: bits, changed atomically
 * @req: the REQ or SIDR REQ that waits for a place, or NULL
 * @state: enum cmx_ib_state, which also says whether the id is closing; changed by cmx_ib_step()
 *	only
 *
 * The lock of the id protects the members for which no other lock is named, except @reasons. In
 * CMX_IB_DESTROYED only the work item of @end changes @cm, without that lock.
 */
struct cmx_ib_conn {
	struct ib_cm_id *cm;
	struct hlist_node close_node;
	const struct ib_device *close_device;
	struct cmx_ib_end *end;
	struct cmx_ib_window *window;
	struct list_head window_item;
	struct work_struct work;
	unsigned long reasons;
	struct cmx_ib_req *req;
	u8 state;
};

/**
 * struct cmx_iw_conn - connection over iw_cm; only for transport/iwarp
 * @cm: the iw_cm id, or NULL
 * @dev: its device, with a reference until it is destroyed
 * @released: the released iw_cm id
 * @work: disconnects, and destroys @released; while it is queued or runs, it holds a reference to
 *	the id
 * @calls: number of calls of the provider for @cm that are running, without the lock of the id
 * @result_pending: iw_cm has still to report the result of iw_cm_connect() or iw_cm_accept().
 *	iw_destroy_cm_id() would wait for it, so it is called afterwards
 * @disconnect_pending: disconnect as soon as the connection is established
 *
 * The lock of the id protects all members.
 */
struct cmx_iw_conn {
	struct iw_cm_id *cm;
	struct cmx_device *dev;
	struct iw_cm_id *released;
	struct work_struct work;
	unsigned int calls;
	u8 result_pending:1;
	u8 disconnect_pending:1;
};

/**
 * struct cmx_watch_link - what an id waits for or watches, see watch.c
 * @watch: the neighbour or bond, or NULL; changed under the lock of the id
 * @item: in a list of @watch, under a lock of watch.c
 */
struct cmx_watch_link {
	struct cmx_watch *watch;
	struct list_head item;
};

/**
 * struct cmx_id_private - an id with its internal members
 * @id: the part that the consumer sees
 * @ref: number of references. Dropping the last one frees the id
 * @state: changed by cmx_state_move() only, under @lock
 * @lock: protects @id, @state and all members below for which no other lock is named. Members that
 *	are written with WRITE_ONCE() are also read without it, where an old value is only shown,
 *	or decides nothing that is not checked again under @lock
 * @established: the connection is established (in CMX_CONNECT)
 * @passive: the id is the passive side of a connection, or a listener
 * @srq: the QP has an SRQ
 * @response_pending: we have not yet responded to a request or reply of the peer
 * @released: the ib_cm or iw_cm id was released
 * @user: the consumer is a process, so the id has no QP from cmx_create_qp(), and no handler is
 *	called for an event. Never changes, and shares no byte with flags that do, because it is
 *	read without @lock
 * @ece_flags: enum cmx_ece_flags
 * @gid_type: GID type of the address that the id is bound to
 * @node_type: the id uses only devices of this type; RDMA_NODE_UNSPECIFIED: of any type
 * @waits: the id waits until its neighbour is known; set together with @peer
 * @consumer: operations of the consumer; set at creation
 * @quota: quota to which the id is charged, or NULL; set when the id gets its consumer
 * @dev: device that the id is attached to (&id.device is the same one), or NULL
 * @dev_item: in &cmx_device.ids of @dev, under &cmx_device.lock
 * @rcu: frees the memory after the last reference was dropped, see cmx_ib_handler()
 * @conn_ops: connection operations of the transport; set together with @dev
 * @dev_port: port of @dev; set together with @dev
 * @counted: the gauge in which the id is counted, or NULL; only for cmx_gauge_recount()
 * @bond: the bond that the id uses, if it uses one
 * @peer: the neighbour that the id waits for, or that is its peer
 * @port: the reserved port, if @space is not NULL
 * @space: port space in which @port is reserved
 * @bind_node: in the list of port owners in port_space.c, under the lock of the bucket
 * @ib: the connection, on a transport that uses ib_cm
 * @iw: the connection, on iWARP
 * @sa_query: query of a path or of services in progress at the SA, or NULL
 * @services: result of the last query of services, or NULL
 * @listener: the listener, or NULL
 * @timer: timer of a query, a connect, an accept or a disconnect; NULL: the id had none of these
 *	with a time limit
 * @groups: list of &cmx_mcast.node
 * @num_groups: number of @groups
 * @opt: options
 * @ece_local: the ECE pair that we offer, or with which we answer
 * @ece_remote: the ECE pair that the peer sent
 * @seq_num: starting PSN; 0 until cmx_psn_get() has chosen it
 * @qkey: Q_Key for datagrams and multicast; 0 if not yet known
 * @qp_num: number of the consumer's QP
 * @created: time of creation in seconds since boot
 * @stage_start: time at which the address or path query or the connect began, see stats.h; 0: none
 */
struct cmx_id_private {
	struct cmx_id id;
	struct kref ref;
	enum cmx_state state;
	struct mutex lock;	/* protects id, state and the members below */
	u8 established:1;
	u8 passive:1;
	u8 srq:1;
	u8 response_pending:1;
	u8 released:1;
	u8 user;
	u8 ece_flags;
	u8 gid_type;
	u8 node_type;
	bool waits;
	u16 port;
	const struct cmx_id_consumer_ops *consumer;
	struct cmx_quota *quota;
	struct cmx_device *dev;
	union {
		struct list_head dev_item;
		struct rcu_head rcu;
	};
	const struct cmx_conn_ops *conn_ops;
	const struct cmx_dev_port *dev_port;
	atomic_t *counted;
	struct cmx_watch_link bond;
	struct cmx_watch_link peer;
	struct cmx_port_space *space;
	struct hlist_node bind_node;
	union {
		struct cmx_ib_conn ib;
		struct cmx_iw_conn iw;
	};
	struct cmx_sa_query *sa_query;
	struct cmx_service_result *services;
	struct cmx_listener *listener;
	struct cmx_timer *timer;
	struct hlist_head groups;
	struct cmx_opts opt;
	struct rdma_ucm_ece ece_local;
	struct rdma_ucm_ece ece_remote;
	u32 num_groups;
	u32 seq_num;
	u32 qkey;
	u32 qp_num;
	u32 created;
	u32 stage_start;
};

static inline struct cmx_id_private *to_id_priv(const struct cmx_id *id)
{
	return container_of(id, struct cmx_id_private, id);
}

static inline struct net *cmx_net(const struct cmx_id_private *id_priv)
{
	return id_priv->id.route.addr.dev_addr.net;
}

static inline struct sockaddr *cmx_src(const struct cmx_id_private *id_priv)
{
	return (struct sockaddr *)&id_priv->id.route.addr.src_addr;
}

static inline struct sockaddr *cmx_dst(const struct cmx_id_private *id_priv)
{
	return (struct sockaddr *)&id_priv->id.route.addr.dst_addr;
}

static inline bool cmx_opt_is_set(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	return id_priv->opt.set & BIT(bit);
}

extern struct workqueue_struct *cmx_wq;

int cmx_id_init_module(void);
void cmx_id_exit_module(void);

struct cmx_id_private *cmx_id_new(struct net *net, const struct cmx_id_consumer_ops *consumer,
				  enum rdma_ucm_port_space ps, enum ib_qp_type qp_type, gfp_t gfp);
void cmx_id_put(struct cmx_id_private *id_priv);
bool cmx_id_tryget(struct cmx_id_private *id_priv);

static inline struct cmx_id_private *cmx_id_get(struct cmx_id_private *id_priv)
{
	kref_get(&id_priv->ref);
	return id_priv;
}

void cmx_id_lock(struct cmx_id_private *id_priv);
void cmx_id_unlock(struct cmx_id_private *id_priv);

#endif
