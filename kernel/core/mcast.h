/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MCAST_H
#define CMX_MCAST_H

#include <linux/kref.h>
#include <rdma/ib_sa.h>
#include "id.h"

struct cmx_event;
struct net_device;

/**
 * struct cmx_mcast - membership of one id in one group
 * @ref: freed with the last one: the id's table, the user's handle, events
 * @id_priv: the id; holds a reference
 * @addr: the group as the owner named it
 * @context: the owner's (ULP)
 * @uid: the owner's (process)
 * @handle: the owner's handle (process); 0 for a ULP
 * @fetched: events fetched for it; the event queue's
 * @attr: attributes of the join
 * @mgid: MGID, once known
 * @mlid: multicast LID, host order (InfiniBand)
 * @left: leave was called; no further event
 * @ev: made for the outcome of the join, until posted
 * @backend: what &cmx_mcast_ops.join keeps
 * @node: in &cmx_id_private.mcast, by address
 * @attached: there by MGID, while the id's QP (ULP) receives the group for this membership
 * @item: the owner's; the handle table's for a process
 *
 * The id's lock protects all but @ref.
 */
struct cmx_mcast {
	struct kref ref;
	struct cmx_id_private *id_priv;
	struct sockaddr_storage addr;
	void *context;
	u64 uid;
	u32 handle;
	u32 fetched;
	struct cmx_mcast_attr attr;
	union ib_gid mgid;
	u16 mlid;
	bool left;
	struct cmx_event *ev;
	void *backend;
	struct hlist_node node;
	struct hlist_node attached;
	struct list_head item;
};

/* mcast.c */
int cmx_mcast_table_add(struct cmx_id_private *id_priv, struct cmx_mcast *mc);
void cmx_mcast_table_del(struct cmx_id_private *id_priv, struct cmx_mcast *mc);
struct cmx_mcast *cmx_mcast_find(struct cmx_id_private *id_priv, const struct sockaddr *addr);
u32 cmx_mcast_count(const struct cmx_id_private *id_priv);		/* id_priv->lock is held */
bool cmx_mcast_receives(const struct cmx_mcast *mc);
int cmx_mcast_attach(struct cmx_mcast *mc);
void cmx_mcast_detach(struct cmx_mcast *mc);
void cmx_mcast_detach_all(struct cmx_id_private *id_priv);
void cmx_mcast_leave_locked(struct cmx_mcast *mc);
void cmx_mcast_leave_all(struct cmx_id_private *id_priv);
void cmx_mcast_put(struct cmx_mcast *mc);

/* mcast_event.c, for transports; id_priv->lock is held */
void cmx_mcast_done(struct cmx_mcast *mc, int status, struct ib_sa_mcmember_rec *rec,
		    struct net_device *ndev);
void cmx_mcast_error(struct cmx_mcast *mc, int status);
bool cmx_mcast_rejoined(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec);

#endif
