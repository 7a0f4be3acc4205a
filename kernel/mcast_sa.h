/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MCAST_SA_H
#define CMX_MCAST_SA_H

#include <linux/kref.h>
#include <linux/workqueue.h>
#include <rdma/ib_sa.h>
#include "mcast.h"
#include "sa_queue.h"

struct cmx_device;
struct seq_file;

/**
 * struct cmx_sa_member - what a membership has at ib_sa
 * @ref: one until it has ended, one of @work while it is queued or runs
 * @mc: the membership, with a reference; NULL once it was left and @work knows
 * @dev: the device, with a reference until it has ended
 * @port: of the device
 * @req: its place in the queue of the port
 * @sa: ib_sa's, or NULL
 * @rec: what was asked for
 * @mask: which fields of @rec count
 * @delay_ms: the last wait
 * @status: outcome that ib_sa reported, or NO_STATUS; no lock
 * @tries: joins since it was left
 * @asks: @work is to join
 * @asked: the SA was asked to join, or whether it is there, and no outcome was handled
 * @ghost: the SA may have a record of a join that it did not answer
 * @leaving: it was left, and the SA is being told
 * @ended: nothing is left to do
 * @lost: not a member, and @work will ask again
 * @report: a member, and @work will report that again: the QP could not be attached
 * @probed: refused, and it was asked whether there is an SA that did so
 * @node: in the table of members, from joining to leaving
 * @work: handles @status, asks again, and leaves
 *
 * The id's lock protects all but @ref and @status as long as there is @mc. Then only @work uses it.
 * It was left when @mc has no backend any more.
 */
struct cmx_sa_member {
	struct kref ref;
	struct cmx_mcast *mc;
	struct cmx_device *dev;
	u32 port;
	struct cmx_sa_request req;
	struct ib_sa_multicast *sa;
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask mask;
	unsigned int delay_ms;
	int status;
	u8 tries;
	bool asks;
	bool asked;
	bool ghost;
	bool leaving;
	bool ended;
	bool lost;
	bool report;
	bool probed;
	struct hlist_node node;
	struct delayed_work work;
};

/* mcast_rec.c; p->lock is held */
int cmx_mcast_fill_rec(struct cmx_mcast *mc, struct ib_sa_mcmember_rec *rec,
		       ib_sa_comp_mask *mask);

/* mcast_table.c */
void cmx_sa_member_list(struct cmx_sa_member *m);
void cmx_sa_member_unlist(struct cmx_sa_member *m);
void cmx_mcast_sa_show(struct seq_file *s);

/* mcast_sa.c */
int cmx_mcast_sa_init_module(void);
void cmx_mcast_sa_exit_module(void);

#endif
