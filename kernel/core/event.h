/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_EVENT_H
#define CMX_EVENT_H

#include "id.h"

/** define CMX_EVENT_DATA - size of the buffer for the private data of a message */
#define CMX_EVENT_DATA 256

/**
 * struct cmx_event - an event for the consumer
 * @item: in the queue of the consumer
 * @id_item: in the list of queued events of an id of a process; see &struct cmx_user_id
 * @id_priv: the id of the event, with a reference; for CONNECT_REQUEST the new id
 * @listener: for CONNECT_REQUEST: the id that listens, with a reference; else NULL
 * @mc: for multicast events: the membership, with a reference; else NULL
 * @flags: CMX_EVENT_F_REJOIN
 * @has_data: @data has CMX_EVENT_DATA bytes
 * @is_watch: from watch.c. An id of a process has at most one of each type in the queue
 * @ev: the event as a ULP sees it; the private data of a message is in @data
 * @arg: value from the process, for an event that it has written
 * @data: copy of the private data; only of events that a message can bring
 */
struct cmx_event {
	struct list_head item;
	struct list_head id_item;
	struct cmx_id_private *id_priv;
	struct cmx_id_private *listener;
	struct cmx_mcast *mc;
	u32 flags;
	bool has_data;
	bool is_watch;
	struct rdma_cm_event ev;
	u64 arg;
	u8 data[];
};

/**
 * struct cmx_id_consumer_ops - a kind of consumer: processes or ULPs
 * @alloc: allocates a zeroed object that begins with a &struct cmx_id_private. Returns NULL if
 *	there is not enough memory
 * @free: frees the object after an RCU grace period. Called in any process context when the last
 *	reference has been dropped
 * @adopt: gives @child, the id of a request to @listener, to the consumer of @listener. Called with
 *	the locks of both ids held. Returns 0, after which CONNECT_REQUEST is always passed to
 *	@queue, or -errno to refuse the request. After -EAGAIN (the backlog is full) and -EDQUOT
 *	(the quota is used up), the peer of a REQ repeats it. Other requests are refused
 * @queue: queues @ev, which belongs to the consumer from now on. Called with @ev->id_priv->lock
 *	and, if there is a listener, @ev->listener->lock held. Returns false if nobody waits for
 *	@ev: it still belongs to the caller then. Does not sleep for long
 * @discard: frees a CONNECT_REQUEST for which @queue has returned false, and shuts down its id.
 *	Called without any lock held; NULL: @queue always returns true
 * @deliver: delivers the events that @queue has queued, in this context. Called without any lock
 *	held
 * @deliver_later: delivers them soon, in another context. Called with the same locks held as @queue
 * @memcg: returns the memory cgroup that is charged for what is allocated for the id by another
 *	thread than its own, with a reference; NULL, also as the function: none
 * @is_full: returns true if the id has too many unfetched events for another one of @type, which a
 *	rejoin or watch.c would cause. Called with or without locks; NULL: never
 * @meets: returns true if the consumer of the id meets the conditions on consumers that @rule has.
 *	Called with id_priv->lock and in an RCU read section
 */
struct cmx_id_consumer_ops {
	struct cmx_id_private *(*alloc)(gfp_t gfp);
	void (*free)(struct cmx_id_private *id_priv);
	int (*adopt)(struct cmx_id_private *child, struct cmx_id_private *listener);
	bool (*queue)(struct cmx_event *ev);
	void (*discard)(struct cmx_event *ev);
	void (*deliver)(struct cmx_id_private *id_priv);
	void (*deliver_later)(struct cmx_id_private *id_priv);
	struct mem_cgroup *(*memcg)(struct cmx_id_private *id_priv);
	bool (*is_full)(struct cmx_id_private *id_priv, enum rdma_cm_event_type type);
	bool (*meets)(struct cmx_id_private *id_priv, const struct cmx_rule *rule);
};

struct cmx_event *cmx_event_alloc(struct cmx_id_private *id_priv, enum rdma_cm_event_type type,
				  int status, gfp_t gfp);
struct cmx_event *cmx_event_alloc_nofail(struct cmx_id_private *id_priv,
					 enum rdma_cm_event_type type, int status);
void cmx_event_set_data(struct cmx_event *ev, const void *data, size_t len);
bool cmx_event_try_queue(struct cmx_event *ev);
void cmx_event_post(struct cmx_event *ev);
void cmx_event_queue(struct cmx_event *ev);
void cmx_event_put_gid(struct cmx_event *ev);
void cmx_event_free(struct cmx_event *ev);

#endif
