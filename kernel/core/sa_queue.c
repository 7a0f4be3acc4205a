// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limit on the joins and leaves that a port has in progress at the SA
 *
 * An SA handles requests one after the other, and ib_sa repeats a request that is not answered
 * within 300 ms. If many requests are sent at once, the SA spends its time on repetitions, and most
 * requests time out. Therefore only a few are in progress, and the others wait here. Users take
 * turns: a user who joins thousands of groups delays the next join of another user by a few
 * requests, not by thousands.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "param.h"
#include "sa_queue.h"

CMX_PARAM(sa_requests, 1, 1024, 8,
	  "maximum number of joins and leaves that an InfiniBand port has in progress");

/**
 * cmx_sa_queue_init() - initialise an empty queue
 * @queue: the queue
 */
void cmx_sa_queue_init(struct cmx_sa_queue *queue)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->turns[false]);
	INIT_LIST_HEAD(&queue->turns[true]);
	INIT_LIST_HEAD(&queue->sent);
	queue->answered = jiffies;
}

/**
 * cmx_sa_request_init() - initialise a request that is not queued
 * @req: the request
 * @user: requests of the same user wait for each other
 * @wake: called under a spinlock when the request need not wait any more
 */
void cmx_sa_request_init(struct cmx_sa_request *req, const void *user,
			 void (*wake)(struct cmx_sa_request *req))
{
	req->user = user;
	req->wake = wake;
	req->state = CMX_SA_IDLE;
	INIT_LIST_HEAD(&req->item);
	INIT_LIST_HEAD(&req->later);
}

static void sa_request_grant(struct cmx_sa_queue *queue, struct cmx_sa_request *req)
{
	req->state = CMX_SA_SENT;
	req->since = jiffies;
	list_add_tail(&req->item, &queue->sent);
	queue->under_way++;
}

static void sa_request_enqueue(struct cmx_sa_queue *queue, struct cmx_sa_request *req, bool patient)
{
	struct list_head *turns = &queue->turns[patient];
	struct cmx_sa_request *oldest;

	req->state = CMX_SA_WAITING;
	req->patient = patient;
	list_for_each_entry(oldest, turns, item) {
		if (oldest->user == req->user) {
			list_add_tail(&req->item, &oldest->later);
			return;
		}
	}
	list_add_tail(&req->item, turns);
}

/*
 * The user's next request, if any, takes over the list of the others and waits for the user's next
 * turn. Caller must hold the queue's lock.
 */
static void sa_request_dequeue(struct cmx_sa_queue *queue, struct cmx_sa_request *req)
{
	struct cmx_sa_request *next;

	list_del_init(&req->item);
	next = list_first_entry_or_null(&req->later, struct cmx_sa_request, item);
	if (!next)
		return;
	list_move_tail(&next->item, &queue->turns[req->patient]);
	list_splice_init(&req->later, &next->later);
}

static struct cmx_sa_request *sa_queue_first(struct cmx_sa_queue *queue, bool patient)
{
	return list_first_entry_or_null(&queue->turns[patient], struct cmx_sa_request, item);
}

static struct cmx_sa_request *sa_queue_next(struct cmx_sa_queue *queue)
{
	bool patient = queue->patient_next;

	queue->patient_next = !patient;
	return sa_queue_first(queue, patient) ?: sa_queue_first(queue, !patient);
}

static bool sa_queue_is_full(const struct cmx_sa_queue *queue)
{
	return queue->under_way >= cmx_param_get(&sa_requests);
}

static void sa_queue_grant(struct cmx_sa_queue *queue)
{
	struct cmx_sa_request *req;

	while (!sa_queue_is_full(queue) && (req = sa_queue_next(queue))) {
		sa_request_dequeue(queue, req);
		sa_request_grant(queue, req);
		req->wake(req);
	}
}

/* End the wait of all requests of a kind. There may be many: the lock is released between them. */
static void sa_queue_expire(struct cmx_sa_queue *queue, bool patient)
{
	struct cmx_sa_request *req;

	do {
		spin_lock(&queue->lock);
		req = sa_queue_first(queue, patient);
		if (req) {
			sa_request_dequeue(queue, req);
			req->state = CMX_SA_EXPIRED;
			req->wake(req);
		}
		spin_unlock(&queue->lock);
		cond_resched();
	} while (req);
}

/**
 * cmx_sa_queue_stop() - stop waiting for the SA, because the device is being removed
 * @queue: the queue; all its requests are woken, and no request can be started any more
 */
void cmx_sa_queue_stop(struct cmx_sa_queue *queue)
{
	struct cmx_sa_request *req;

	spin_lock(&queue->lock);
	WRITE_ONCE(queue->stopped, true);
	list_for_each_entry(req, &queue->sent, item)
		req->wake(req);
	spin_unlock(&queue->lock);
	sa_queue_expire(queue, false);
	sa_queue_expire(queue, true);
}

/**
 * cmx_sa_request_start() - start a request, or queue it until it may be sent
 * @queue: queue of the port
 * @req: the request. Another call for the same request is harmless
 * @patient: wait even if the SA is silent
 *
 * Return: 0: send it, and call cmx_sa_request_end() when it has ended; -EINPROGRESS: it waits, and
 * @req->wake is called when it is time to call again; -ETIMEDOUT: it no longer waits, because
 * another request timed out and the SA had answered none meanwhile; -ENODEV: the queue is stopped.
 */
int cmx_sa_request_start(struct cmx_sa_queue *queue, struct cmx_sa_request *req, bool patient)
{
	int ret = 0;

	spin_lock(&queue->lock);
	if (queue->stopped) {
		ret = -ENODEV;
	} else if (req->state == CMX_SA_EXPIRED) {
		req->state = CMX_SA_IDLE;
		ret = -ETIMEDOUT;
	} else if (req->state == CMX_SA_IDLE && !sa_queue_is_full(queue)) {
		sa_request_grant(queue, req);
	} else if (req->state != CMX_SA_SENT) {
		if (req->state == CMX_SA_IDLE)
			sa_request_enqueue(queue, req, patient);
		ret = -EINPROGRESS;
	}
	spin_unlock(&queue->lock);
	return ret;
}

/**
 * cmx_sa_request_end() - end a request, or cancel it before it is sent
 * @queue: queue of the port
 * @req: the request. Nothing is done if it was not sent and does not wait
 * @status: 0: the SA has answered; -ETIMEDOUT: it has not; any other value: neither is known
 */
void cmx_sa_request_end(struct cmx_sa_queue *queue, struct cmx_sa_request *req, int status)
{
	bool silent = false;

	spin_lock(&queue->lock);
	if (req->state == CMX_SA_WAITING)
		sa_request_dequeue(queue, req);
	if (req->state == CMX_SA_SENT) {
		list_del_init(&req->item);
		queue->under_way--;
		if (!status)
			queue->answered = jiffies;
		silent = status == -ETIMEDOUT && !time_after(queue->answered, req->since);
		if (!silent)
			sa_queue_grant(queue);
	}
	req->state = CMX_SA_IDLE;
	spin_unlock(&queue->lock);
	if (silent)
		sa_queue_expire(queue, false);
}
