/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MCAST_SA_H
#define CMX_MCAST_SA_H

#include <linux/kref.h>
#include <linux/workqueue.h>
#include <rdma/ib_sa.h>
#include "mcast.h"
#include "member.h"
#include "sa_queue.h"

struct cmx_device;
struct cmx_quota;
struct seq_file;

/**
 * struct cmx_sa_member - a membership at ib_sa
 * @ref: one reference until it has ended, one of @work while it is queued or runs, and one of a
 *	probe until its callback
 * @mc: the membership, with a reference; NULL once the group was left and @work has noticed
 * @dev: the device, with a reference until it has ended
 * @port: port of the device
 * @quota: quota of the user, or NULL. It is charged from the leave until the end
 * @req: its request in the queue of the port
 * @state: state in the table of member_rows.h. sa_member_step() changes it
 * @sa: member of ib_sa, or NULL
 * @rec: the requested record
 * @mask: fields of @rec that count
 * @defaults: fields of @rec with the values of the broadcast group
 * @delay_ms: the last delay of the backoff
 * @reply: result that ib_sa reported, or NO_REPLY; needs no lock
 * @status: status of the last request that has ended
 * @cleanup_joins: joins since the group was left
 * @leaves_locally: another of our members keeps the join state, so that a leave needs no MAD
 * @stale_rec: the SA may have a record of a join that it did not answer
 * @takes_any: the last rejoin was refused, and the next one accepts a group with any @defaults
 * @node: in the table of members, from joining to leaving
 * @work: handles @reply, joins again, and leaves
 *
 * As long as @mc is set, the id's lock protects all members except @ref and @reply. After that
 * only @work uses them. The group was left when transport_data of @mc is NULL.
 */
struct cmx_sa_member {
	struct kref ref;
	struct cmx_mcast *mc;
	struct cmx_device *dev;
	u32 port;
	struct cmx_quota *quota;
	struct cmx_sa_request req;
	u8 state;
	struct ib_sa_multicast *sa;
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask mask;
	ib_sa_comp_mask defaults;
	unsigned int delay_ms;
	int reply;
	int status;
	u8 cleanup_joins;
	bool leaves_locally;
	bool stale_rec;
	bool takes_any;
	struct hlist_node node;
	struct delayed_work work;
};

/* mcast_rec.c; id_priv->lock is held */
int cmx_mcast_fill_rec(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
		       ib_sa_comp_mask *mask, ib_sa_comp_mask *defaults);
void cmx_mcast_update_rec(const struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
			  ib_sa_comp_mask defaults);

/* mcast_keys.c; id_priv->lock is held */
int cmx_group_rec_get(const struct cmx_id_private *id_priv, union ib_gid *mgid,
		      struct ib_sa_mcmember_rec *rec);
void cmx_broadcast_mgid_get(const struct cmx_id_private *id_priv, u16 pkey, union ib_gid *mgid);

/* mcast_table.c */
void cmx_sa_member_list(struct cmx_sa_member *m);
bool cmx_sa_member_unlist(struct cmx_sa_member *m);
void cmx_mcast_sa_show(struct seq_file *s);

#endif
