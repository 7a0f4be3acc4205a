/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SA_QUEUE_H
#define CMX_SA_QUEUE_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct cmx_sa_queue - joins and leaves of an InfiniBand port
 * @lock: protects the queue and its requests
 * @turns: the oldest waiting request of each user; the first one is next. Patient requests have a
 *	list of their own, and the lists take turns
 * @patient_next: whose turn it is
 * @sent: requests in progress
 * @under_way: number of requests in progress
 * @answered: jiffies of the last reply from the SA
 * @stopped: the device is being removed
 */
struct cmx_sa_queue {
	spinlock_t lock;	/* protects the queue and its requests */
	struct list_head turns[2];	/* by &cmx_sa_request.patient */
	bool patient_next;
	struct list_head sent;
	unsigned int under_way;
	unsigned long answered;
	bool stopped;
};

enum cmx_sa_request_state {
	CMX_SA_IDLE,
	CMX_SA_WAITING,		/* in the queue */
	CMX_SA_EXPIRED,		/* was in the queue, and the SA answered no request */
	CMX_SA_SENT,		/* may be sent, or has been sent */
};

/**
 * struct cmx_sa_request - a join or a leave
 * @user: user whose turn it takes; only compared, never dereferenced
 * @wake: called under the queue's lock when the request no longer waits
 * @patient: still waits when the SA is silent
 * @state: under the queue's lock
 * @since: jiffies when it was allowed to be sent
 * @item: in &cmx_sa_queue.turns or, behind the user's oldest request, in its @later; or in
 *	&cmx_sa_queue.sent
 * @later: other waiting requests of the same user, if this is the oldest
 */
struct cmx_sa_request {
	const void *user;
	void (*wake)(struct cmx_sa_request *req);
	bool patient;
	enum cmx_sa_request_state state;
	unsigned long since;
	struct list_head item;
	struct list_head later;
};

void cmx_sa_queue_init(struct cmx_sa_queue *queue);
void cmx_sa_queue_stop(struct cmx_sa_queue *queue);

static inline bool cmx_sa_queue_is_stopped(const struct cmx_sa_queue *queue)
{
	return READ_ONCE(queue->stopped);
}

void cmx_sa_request_init(struct cmx_sa_request *req, const void *user,
			 void (*wake)(struct cmx_sa_request *req));
int cmx_sa_request_start(struct cmx_sa_queue *queue, struct cmx_sa_request *req, bool patient);
void cmx_sa_request_end(struct cmx_sa_queue *queue, struct cmx_sa_request *req, int status);

#endif
