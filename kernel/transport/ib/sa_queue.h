/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SA_QUEUE_H
#define CMX_SA_QUEUE_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * enum cmx_sa_kind - kind of a request
 * @CMX_SA_JOIN: first try of a join, or a join that removes a stale record. It fails while it is
 *	queued if the SA is silent
 * @CMX_SA_LEAVE: leave, for which no consumer waits
 * @CMX_SA_REJOIN: join with MCAST_REJOIN of a lost membership, or after a try without an answer.
 *	Many ports may send such joins at the same time
 * @CMX_SA_KINDS: number of kinds
 */
enum cmx_sa_kind {
	CMX_SA_JOIN,
	CMX_SA_LEAVE,
	CMX_SA_REJOIN,
	CMX_SA_KINDS,
};

/**
 * struct cmx_sa_queue - joins and leaves of an InfiniBand port
 * @lock: protects the queue and its requests
 * @turns: the oldest waiting request of each user; the first one is next. Each kind has a list of
 *	its own, and the lists take turns
 * @next: kind of the request that is granted next
 * @sent: requests in progress
 * @under_way: number of requests in progress
 * @window: maximum of @under_way, besides the limit of the administrator
 * @timely: replies in time since @window changed
 * @late: number of late replies with a @window of 1, less the timely ones since
 * @slowed: jiffies of the last late reply that counted
 * @paused: nothing is joined again until @resume has run
 * @resume: ends the pause
 * @answered: jiffies of the last reply from the SA
 * @stopped: the device is being removed
 */
struct cmx_sa_queue {
	spinlock_t lock;	/* protects the queue and its requests */
	struct list_head turns[CMX_SA_KINDS];
	enum cmx_sa_kind next;
	struct list_head sent;
	unsigned int under_way;
	unsigned int window;
	unsigned int timely;
	unsigned int late;
	unsigned long slowed;
	bool paused;
	struct delayed_work resume;
	unsigned long answered;
	bool stopped;
};

enum cmx_sa_request_state {
	CMX_SA_IDLE,
	CMX_SA_WAITING,		/* in the queue */
	CMX_SA_EXPIRED,		/* was in the queue while the SA was silent */
	CMX_SA_SENT,		/* may be sent, or has been sent */
};

/**
 * struct cmx_sa_request - a join or a leave
 * @user: user whose turn it takes; only compared, never dereferenced
 * @wake: called under the queue's lock when the request no longer waits
 * @kind: its kind, unless it is idle
 * @state: under the queue's lock
 * @since: jiffies when it was queued or, after that, allowed to be sent
 * @item: in &cmx_sa_queue.sent; or in &cmx_sa_queue.turns for the oldest waiting request of the
 *	user; or in @later of that one
 * @later: other waiting requests of the same user, if this is the oldest
 */
struct cmx_sa_request {
	const void *user;
	void (*wake)(struct cmx_sa_request *req);
	enum cmx_sa_kind kind;
	enum cmx_sa_request_state state;
	unsigned long since;
	struct list_head item;
	struct list_head later;
};

void cmx_sa_queue_init(struct cmx_sa_queue *queue);
void cmx_sa_queue_stop(struct cmx_sa_queue *queue);
void cmx_sa_queue_restart(struct cmx_sa_queue *queue);

static inline bool cmx_sa_queue_is_stopped(const struct cmx_sa_queue *queue)
{
	return READ_ONCE(queue->stopped);
}

void cmx_sa_request_init(struct cmx_sa_request *req, const void *user,
			 void (*wake)(struct cmx_sa_request *req));
int cmx_sa_request_start(struct cmx_sa_queue *queue, struct cmx_sa_request *req,
			 enum cmx_sa_kind kind);
void cmx_sa_request_end(struct cmx_sa_queue *queue, struct cmx_sa_request *req, int status);

#endif
