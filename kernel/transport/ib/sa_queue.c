// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limit on the joins and leaves that a port has in progress at the SA
 *
 * An SA handles requests one after the other, and ib_sa repeats a request that is not answered
 * within 300 ms. If many requests are sent at once, the SA spends its time on repetitions, and
 * most requests time out. Therefore only a few are in progress, and the others wait here. Users
 * take turns: a user who joins thousands of groups delays the next join of another user by a few
 * requests, not by thousands.
 *
 * When an SM takes over, all ports of the fabric join their groups again, and no port knows how
 * many others there are. Each of them learns it from the replies. It begins with one request at a
 * time, sends more as long as replies are timely, and half as many after a late one. If even one at
 * a time is too much for the SA, it pauses between its rejoins.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include "param.h"
#include "sa_queue.h"

CMX_PARAM(max_sa_requests, 1, 1024, 8,
	  "maximum number of joins and leaves that an InfiniBand port has in progress");

/* ib_sa repeats a request that is not answered within this time: such a reply is late. */
#define REPEAT_MS 300U

/*
 * If the SA has answered nothing for this time, joins for which a consumer waits end without being
 * sent. Two requests, of 3.3 s each, were sent one after the other meanwhile.
 */
#define SILENT_MS 6000U

/*
 * The pause is on average as long as the last reply took, and doubles with each further late reply.
 * After the SA was silent, waiting rejoins are also sent only after a pause.
 * With the longest pause, a port sends one join to a silent SA in 20 seconds, which ib_sa sends 11
 * times.
 */
#define MAX_PAUSE_MS 16384U
#define MAX_LATE 8

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

static void sa_request_enqueue(struct cmx_sa_queue *queue, struct cmx_sa_request *req)
{
	struct list_head *turns = &queue->turns[req->kind];
	struct cmx_sa_request *oldest;

	req->state = CMX_SA_WAITING;
	req->since = jiffies;
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
	list_move_tail(&next->item, &queue->turns[req->kind]);
	list_splice_init(&req->later, &next->later);
}

static struct cmx_sa_request *sa_queue_first(struct cmx_sa_queue *queue, enum cmx_sa_kind kind)
{
	return list_first_entry_or_null(&queue->turns[kind], struct cmx_sa_request, item);
}

static bool sa_queue_blocks(const struct cmx_sa_queue *queue, enum cmx_sa_kind kind)
{
	return (kind == CMX_SA_REJOIN && queue->paused) ||
	       queue->under_way >= min(queue->window, cmx_param_get(&max_sa_requests));
}

static struct cmx_sa_request *sa_queue_next(struct cmx_sa_queue *queue)
{
	struct cmx_sa_request *req = NULL;
	unsigned int i;

	for (i = 0; i < CMX_SA_KINDS && !req; i++) {
		if (!sa_queue_blocks(queue, queue->next))
			req = sa_queue_first(queue, queue->next);
		queue->next = (queue->next + 1) % CMX_SA_KINDS;
	}
	return req;
}

static void sa_queue_grant(struct cmx_sa_queue *queue)
{
	struct cmx_sa_request *req;

	while ((req = sa_queue_next(queue))) {
		sa_request_dequeue(queue, req);
		sa_request_grant(queue, req);
		req->wake(req);
	}
}

static void sa_queue_resume(struct work_struct *work)
{
	struct cmx_sa_queue *queue = container_of(to_delayed_work(work), struct cmx_sa_queue,
						  resume);

	spin_lock(&queue->lock);
	queue->paused = false;
	sa_queue_grant(queue);
	if (!queue->under_way)
		queue->late = 0;
	spin_unlock(&queue->lock);
}

static void sa_queue_pause(struct cmx_sa_queue *queue, unsigned int ms)
{
	if (queue->paused || queue->stopped)
		return;
	queue->paused = true;
	ms = min(ms / 2 << queue->late, MAX_PAUSE_MS);
	schedule_delayed_work(&queue->resume,
			      msecs_to_jiffies(ms / 2 + get_random_u32() % (ms + 1)));
}

/*
 * Adapt to the speed of the SA when a request has been answered or has timed out. Requests that
 * were sent before the last late reply are ignored, because it has already reduced the window.
 */
static void sa_queue_adapt(struct cmx_sa_queue *queue, const struct cmx_sa_request *req)
{
	unsigned int ms = jiffies_to_msecs(jiffies - req->since);

	if (ms > REPEAT_MS) {
		if (!time_after(req->since, queue->slowed))
			return;
		queue->slowed = jiffies;
		queue->timely = 0;
		if (queue->window > 1)
			queue->window /= 2;
		else if (queue->late < MAX_LATE)
			queue->late++;
	} else if (queue->late) {
		queue->late--;
	} else if (++queue->timely >= queue->window) {
		queue->timely = 0;
		queue->window = min(queue->window + 1, cmx_param_get(&max_sa_requests));
	}
	if (queue->late)
		sa_queue_pause(queue, ms);
}

/**
 * cmx_sa_queue_init() - initialise an empty queue
 * @queue: the queue
 */
void cmx_sa_queue_init(struct cmx_sa_queue *queue)
{
	unsigned int kind;

	spin_lock_init(&queue->lock);
	for (kind = 0; kind < CMX_SA_KINDS; kind++)
		INIT_LIST_HEAD(&queue->turns[kind]);
	INIT_LIST_HEAD(&queue->sent);
	INIT_DELAYED_WORK(&queue->resume, sa_queue_resume);
	queue->answered = jiffies;
	queue->slowed = jiffies;
	queue->window = 1;
}

/* Has a request waited for @ms without any reply of the SA? */
static bool sa_request_has_waited(const struct cmx_sa_queue *queue,
				  const struct cmx_sa_request *req, unsigned int ms)
{
	unsigned long since = time_after(queue->answered, req->since) ? queue->answered :
									req->since;

	return jiffies - since >= msecs_to_jiffies(ms);
}

/* The first request of each user in the list is the oldest one of that user. */
static struct cmx_sa_request *sa_queue_find_expired(struct cmx_sa_queue *queue,
						    enum cmx_sa_kind kind, unsigned int ms)
{
	struct cmx_sa_request *req;

	list_for_each_entry(req, &queue->turns[kind], item)
		if (sa_request_has_waited(queue, req, ms))
			return req;
	return NULL;
}

/*
 * End the wait of all requests of a kind that have waited for @ms without any reply of the SA.
 * There may be many: the lock is released between them.
 */
static void sa_queue_expire(struct cmx_sa_queue *queue, enum cmx_sa_kind kind, unsigned int ms)
{
	struct cmx_sa_request *req;

	do {
		spin_lock(&queue->lock);
		req = sa_queue_find_expired(queue, kind, ms);
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
	unsigned int kind;

	spin_lock(&queue->lock);
	WRITE_ONCE(queue->stopped, true);
	list_for_each_entry(req, &queue->sent, item)
		req->wake(req);
	spin_unlock(&queue->lock);
	cancel_delayed_work_sync(&queue->resume);
	for (kind = 0; kind < CMX_SA_KINDS; kind++)
		sa_queue_expire(queue, kind, 0);
}

/**
 * cmx_sa_queue_restart() - end a pause, because there may be another SA
 * @queue: the queue
 */
void cmx_sa_queue_restart(struct cmx_sa_queue *queue)
{
	spin_lock(&queue->lock);
	queue->late = 0;
	if (!queue->stopped && queue->paused && cancel_delayed_work(&queue->resume))
		schedule_delayed_work(&queue->resume, 0);
	spin_unlock(&queue->lock);
}

/**
 * cmx_sa_request_start() - start a request, or queue it until it may be sent
 * @queue: queue of the port
 * @req: the request. Another call for the same request is harmless
 * @kind: purpose of the request
 *
 * Return: 0: send it, and call cmx_sa_request_end() when it has ended; -EINPROGRESS: it waits, and
 * @req->wake is called when it is time to call again; -ETIMEDOUT: it no longer waits, because the
 * SA has answered no request for SILENT_MS; -ENODEV: the queue is stopped.
 */
int cmx_sa_request_start(struct cmx_sa_queue *queue, struct cmx_sa_request *req,
			 enum cmx_sa_kind kind)
{
	int ret = 0;

	spin_lock(&queue->lock);
	if (queue->stopped) {
		ret = -ENODEV;
	} else if (req->state == CMX_SA_EXPIRED) {
		req->state = CMX_SA_IDLE;
		ret = -ETIMEDOUT;
	} else if (req->state == CMX_SA_IDLE) {
		req->kind = kind;
		if (sa_queue_blocks(queue, kind)) {
			sa_request_enqueue(queue, req);
			ret = -EINPROGRESS;
		} else {
			sa_request_grant(queue, req);
		}
	} else if (req->state == CMX_SA_WAITING) {
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
		if (!status || status == -ETIMEDOUT)
			sa_queue_adapt(queue, req);
		/* ib_sa does not report the end of a leave */
		silent = status == -ETIMEDOUT && req->kind != CMX_SA_LEAVE &&
			 !time_after(queue->answered, req->since);
		if (silent)
			sa_queue_pause(queue, jiffies_to_msecs(jiffies - req->since));
		else
			sa_queue_grant(queue);
		if (!queue->under_way)
			queue->window = 1;
	}
	req->state = CMX_SA_IDLE;
	spin_unlock(&queue->lock);
	if (!silent)
		return;
	sa_queue_expire(queue, CMX_SA_JOIN, SILENT_MS);
	spin_lock(&queue->lock);
	sa_queue_grant(queue);
	spin_unlock(&queue->lock);
}
