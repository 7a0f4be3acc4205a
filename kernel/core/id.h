/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ID_H
#define CMX_ID_H

#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/cmx.h>
#include "state.h"

struct cmx_device;
struct cmx_event;
struct cmx_listen;
struct cmx_addr_op;
struct cmx_comm_est;
struct cmx_sa_op;
struct cmx_deadline;
struct cmx_neigh;
struct cmx_quota;
struct cmx_mcast_table;
struct cmx_id_consumer_ops;
struct cmx_port_space;
struct cmx_transport_ops;
struct cmx_dev_port;
struct ib_cm_id;
struct iw_cm_id;

/* enum cmx_opt_bit - bits of &struct cmx_opts.set: one for each row of option_rows.h */
enum cmx_opt_bit {
#define CMX_OPTION_VALUE(level, name, label, ...) CMX_OPT_##label,
#define CMX_OPTION_RECORDS(level, name, label, ...) CMX_OPT_##label,
#include "option_rows.h"
	CMX_OPT_NUM,
};

/*
 * struct cmx_opts - the options of an id
 * @set: BIT(enum cmx_opt_bit) of each option that the owner set; its field counts then
 */
struct cmx_opts {
	u32 set;
#define CMX_OPTION_VALUE(level, name, label, type, field, ...) type field;
#define CMX_OPTION_RECORDS(...)
#include "option_rows.h"
};

/**
 * struct cmx_id_private - an id, as the engine sees it
 * @id: what the owner sees
 * @ref: freed with the last reference
 * @state: changed by cmx_state_move() only, under @lock
 * @lock: protects @state, all that follows, and @id, but where another lock is named
 * @established: the three-way handshake is over (within CMX_CONNECT)
 * @passive: born from a CONNECT_REQUEST, or a listener
 * @srq: the QP has an SRQ (external QPs)
 * @response_pending: a request or reply of the peer waits for our answer
 * @in_connect_call: iWARP: the provider has been called, without the lock
 * @disconnect_pending: iWARP: to be disconnected as soon as it is established
 * @user: its owner is a process: no QP of its own, events don't re-enter
 * @ece_flags: enum cmx_ece_flags
 * @gid_type: of the address it is bound to
 * @node_type: only devices of that type; RDMA_NODE_UNSPECIFIED: any
 * @consumer: takes the events; fixed at creation
 * @quota: it is charged there; fixed when it gets its owner
 * @dev: device it is attached to (&id.device is the same), or NULL
 * @dev_item: on @dev's list, under its lock
 * @ops: transport; set together with @dev
 * @dev_port: port of @dev; set together with it
 * @peer: neighbour that the peer is, or NULL; neigh_watch.c reads it without the lock
 * @unanswered: the message that ib_cm sends until it is answered, as the state of @cm that it
 *	leads to (%IB_CM_REQ_SENT ...); 0 when there is none, or its end has been handled
 * @closing: not 0: @cm or @cm_dead waits for the answer to its last message; ib_close.c has
 *	the lock
 * @port: port held, if @space is not NULL
 * @space: port space that @port is held in
 * @bind_node: among the owners of ports, under the bucket's lock
 * @conn: the connection of whatever transport: @cm or @iw; NULL: there is none
 * @cm: the ib_cm id; for the transports over ib_cm only
 * @iw: the iw_cm id; for iWARP only
 * @addr_op: address query under way, or NULL
 * @sa_op: question to the SA under way, or NULL
 * @listen: what a listener holds, or NULL
 * @deadline: connect deadline under way, or NULL
 * @mcast: groups joined, or NULL
 * @opt: options
 * @ece_local: what we offer or answer
 * @ece_remote: what the peer sent
 * @seq_num: starting PSN, chosen by cmx_psn(); 0 before
 * @qkey: Q_Key of datagram and multicast use; 0 when not yet known
 * @qp_num: of the owner's QP
 * @created: in seconds since boot
 * @conn_dead: a connection that was given up: @cm_dead or @iw_dead, or NULL
 * @cm_dead: the ib_cm id that was given up; the lock is that of @closing
 * @iw_dead: the iw_cm id that was given up; iw_conn.c
 * @dead_dev: device of @cm_dead or @iw_dead, with a reference
 * @comm_est: reports that the QP got a message before the RTU came, or NULL
 * @close_node: while @closing; as well
 * @reap: destroys @cm_dead or @iw_dead
 * @ended: or that waits to be destroyed with others
 * @rcu: or frees the memory, see cmx_ib_handler()
 */
struct cmx_id_private {
	struct cmx_id id;
	struct kref ref;
	enum cmx_state state;
	struct mutex lock;	/* protects what follows, state and id */
	u8 established:1;
	u8 passive:1;
	u8 srq:1;
	u8 response_pending:1;
	u8 in_connect_call:1;
	u8 disconnect_pending:1;
	u8 user:1;
	u8 ece_flags;
	u8 gid_type;
	u8 node_type;
	u8 unanswered;
	u8 closing;
	u16 port;
	const struct cmx_id_consumer_ops *consumer;
	struct cmx_quota *quota;
	struct cmx_device *dev;
	struct list_head dev_item;
	const struct cmx_transport_ops *ops;
	const struct cmx_dev_port *dev_port;
	struct cmx_neigh *peer;
	struct cmx_port_space *space;
	struct hlist_node bind_node;
	union {
		void *conn;
		struct ib_cm_id *cm;
		struct iw_cm_id *iw;
	};
	struct cmx_addr_op *addr_op;
	struct cmx_sa_op *sa_op;
	struct cmx_listen *listen;
	struct cmx_deadline *deadline;
	struct cmx_mcast_table *mcast;
	struct cmx_opts opt;
	struct rdma_ucm_ece ece_local;
	struct rdma_ucm_ece ece_remote;
	u32 seq_num;
	u32 qkey;
	u32 qp_num;
	u32 created;
	union {
		void *conn_dead;
		struct ib_cm_id *cm_dead;
		struct iw_cm_id *iw_dead;
	};
	struct cmx_device *dead_dev;
	struct cmx_comm_est *comm_est;
	struct hlist_node close_node;
	union {
		struct work_struct reap;
		struct llist_node ended;
		struct rcu_head rcu;
	};
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

static inline bool cmx_opt_set(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	return id_priv->opt.set & BIT(bit);
}

extern struct workqueue_struct *cmx_wq;
extern struct workqueue_struct *cmx_reap_wq;
extern struct workqueue_struct *cmx_linger_wq;

int cmx_id_init_module(void);
void cmx_id_exit_module(void);

struct cmx_id_private *cmx_id_new(struct net *net, const struct cmx_id_consumer_ops *consumer,
				  enum rdma_ucm_port_space ps, enum ib_qp_type qp_type, gfp_t gfp);
struct cmx_id_private *cmx_id_new_conn(struct cmx_id_private *listener, enum ib_qp_type qp_type);
void cmx_id_put(struct cmx_id_private *id_priv);
bool cmx_id_tryget(struct cmx_id_private *id_priv);

static inline struct cmx_id_private *cmx_id_get(struct cmx_id_private *id_priv)
{
	kref_get(&id_priv->ref);
	return id_priv;
}

#endif
