/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_EVENT_H
#define CMX_EVENT_H

#include "id.h"

/** define CMX_EVENT_DATA - most private data that any message carries */
#define CMX_EVENT_DATA 256

/**
 * struct cmx_event - one event on its way to the owner
 * @item: on the owner's queue
 * @id_priv: the id it is about, with a reference; the new id for CONNECT_REQUEST
 * @listener: for CONNECT_REQUEST, with a reference
 * @mc: for multicast events, with a reference
 * @flags: CMX_EVENT_F_REJOIN
 * @ev: what a ULP sees; private data points to @data
 * @data: copy of the private data
 */
struct cmx_event {
	struct list_head item;
	struct cmx_id_private *id_priv;
	struct cmx_id_private *listener;
	struct cmx_mcast *mc;
	u32 flags;
	struct rdma_cm_event ev;
	u8 data[CMX_EVENT_DATA];
};

/**
 * struct cmx_id_consumer_ops - an owner of ids: takes their events
 * @alloc: new zeroed object that begins with a &struct cmx_id_private, or NULL
 * @free: frees it, after an RCU grace period; the last reference is gone; may run in any
 *	process context
 * @adopt: a request came for @listener: make @child its owner's. The locks of
 *	both are held, and @post with CONNECT_REQUEST follows for sure. -errno
 *	(-EAGAIN when the backlog is full, or the owner's quota used up: the peer
 *	may try again) refuses it
 * @post: queue @ev, which is the sink's from here on. @ev->id_priv->lock is held,
 *	and so is that of @ev->listener. Cannot fail and does not sleep for long
 * @flush: deliver what @post queued, in this context, without any lock held
 * @flush_later: deliver it soon, from elsewhere. The locks are those of @post
 */
struct cmx_id_consumer_ops {
	struct cmx_id_private *(*alloc)(gfp_t gfp);
	void (*free)(struct cmx_id_private *id_priv);
	int (*adopt)(struct cmx_id_private *child, struct cmx_id_private *listener);
	void (*post)(struct cmx_event *ev);
	void (*flush)(struct cmx_id_private *id_priv);
	void (*flush_later)(struct cmx_id_private *id_priv);
};

struct cmx_event *cmx_event_alloc(struct cmx_id_private *id_priv, enum rdma_cm_event_type type,
				  int status, gfp_t gfp);
struct cmx_event *cmx_event_alloc_nofail(struct cmx_id_private *id_priv,
					 enum rdma_cm_event_type type, int status);
void cmx_event_data(struct cmx_event *ev, const void *data, size_t len);
void cmx_event_ud_data(struct cmx_event *ev, const void *data, size_t len);
void cmx_event_post(struct cmx_event *ev);
void cmx_event_queue(struct cmx_event *ev);
void cmx_event_finish(struct cmx_id_private *id_priv, struct cmx_event *ev, bool queued);
void cmx_event_free(struct cmx_event *ev);

#endif
