/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MCAST_H
#define CMX_MCAST_H

#include <linux/kref.h>
#include <rdma/ib_sa.h>
#include "id.h"
#include "sockaddr.h"

struct net_device;

/**
 * struct cmx_mcast - membership of one id in one group
 * @ref: references of the id's list, of the handle, of events and of the InfiniBand transport
 * @id_priv: the id, with a reference
 * @addr: the group, as the consumer gave it
 * @context: context of the consumer (ULP)
 * @user_data: user data of the consumer (process)
 * @handle: handle of the process; 0 for a ULP
 * @posted: number of events that were posted for it and not dropped
 * @fetched: number of them that the process has fetched; protected by the mutex of the channel
 * @attr: attributes of the join
 * @mgid: MGID, once known
 * @start: time of the join, see stats.h
 * @mlid: multicast LID in host byte order (InfiniBand)
 * @left: the group has been left, and no further event is posted
 * @attached: the QP of the id (ULP) is attached for this membership
 * @ev: event for the result of the join; NULL once posted
 * @transport_data: private data of the transport
 * @node: on the list &cmx_id_private.groups
 * @item: on the list of the process, see handle.c; unused for a ULP
 *
 * If @posted equals @fetched, no event is on its way to the program, and a rejoin may be reported
 * again. A leave returns @fetched: the library waits for as many acks.
 *
 * The lock of the id protects all members for which no other lock is named, except @ref.
 */
struct cmx_mcast {
	struct kref ref;
	struct cmx_id_private *id_priv;
	union cmx_addr addr;
	void *context;
	u64 user_data;
	u32 handle;
	u32 posted;
	u32 fetched;
	struct cmx_mcast_attr attr;
	union ib_gid mgid;
	u32 start;
	u16 mlid;
	bool left;
	bool attached;
	struct cmx_event *ev;
	void *transport_data;
	struct hlist_node node;
	struct list_head item;
};

/*
 * mcast.c. Caller must hold the lock of the id, except for cmx_mcast_receives() and
 * cmx_mcast_put().
 */
void cmx_mcast_add(struct cmx_id_private *id_priv, struct cmx_mcast *mc);
void cmx_mcast_del(struct cmx_id_private *id_priv, struct cmx_mcast *mc);
struct cmx_mcast *cmx_mcast_find(struct cmx_id_private *id_priv, const struct sockaddr *addr);
bool cmx_mcast_receives(const struct cmx_mcast *mc);
int cmx_mcast_attach(struct cmx_mcast *mc);
void cmx_mcast_detach(struct cmx_mcast *mc);
void cmx_mcast_detach_all(struct cmx_id_private *id_priv);
void cmx_mcast_leave_locked(struct cmx_mcast *mc);
void cmx_mcast_leave_all(struct cmx_id_private *id_priv);
void cmx_mcast_put(struct cmx_mcast *mc);

/* mcast_attr.c */
ib_sa_comp_mask cmx_mcast_rec_merge(struct ib_sa_mcmember_rec *rec,
				    const struct cmx_mcast_attr *attr, const struct cmx_opts *opt);

/* mcast_event.c, for the transports. Caller must hold the lock of the id. */
void cmx_mcast_report_join(struct cmx_mcast *mc, int status, struct ib_sa_mcmember_rec *rec,
			   struct net_device *ndev);
void cmx_mcast_report_error(struct cmx_mcast *mc, int status);
bool cmx_mcast_report_rejoin(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec);

#endif
