// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Destruction of ib_cm ids
 *
 * A consumer whose QP is stopped gets its event at once when it disconnects. ib_cm continues to
 * send the DREQ until the peer replies. During that time the ib_cm id is called closing. It also
 * becomes closing if the consumer's id is destroyed before the reply, and may exist longer than
 * that id. The REQ of the connection, which the active side sends, determines how often and how
 * long the DREQ is repeated, which may amount to days. Therefore the time is limited
 * (close_seconds), counted from the destruction of the consumer's id.
 *
 * ib_destroy_cm_id() cancels the REQ, REP, DREQ or SIDR REQ that ib_cm retransmits, provided that
 * the ib_cm id is still in the state to which that message has led. Nothing else cancels such a
 * message, and its timeout and retries can be chosen by a peer. Therefore an ib_cm id leaves such a
 * state only through the reply or through its destruction: ib_send_cm_rej() and
 * ib_cm_notify(IB_EVENT_COMM_EST) are not called there. The destruction then waits only for the
 * handler and for the completion of the last send, in a work item for each ib_cm id. 10 ms after an
 * orderly end it waits for nothing, so one work item destroys many ib_cm ids.
 *
 * ib_cm holds no reference while it reports a timeout. Therefore an ib_cm id that has left such a
 * state is not destroyed before its handler has run.
 */
#include <linux/jhash.h>
#include <linux/llist.h>
#include <linux/random.h>
#include <linux/wait.h>
#include "compat.h"
#include "deadline.h"
#include "device.h"
#include "ib_close.h"
#include "ib_window.h"
#include "param.h"
#include "quota.h"
#include "route_rec.h"
#include "sockaddr.h"
#include "trace.h"

/* After this time the last messages of a connection have been sent. */
#define BATCH_DESTROY_MS 10

/* A QP that connects again waits this long for the end of its last connection. */
#define QP_WAIT_MS 2000

/* Limit of a search for a QP: an honest program has few closing ids with one number. */
#define MAX_SEARCHED 64

/* The time limit of a closing ib_cm id is counted in this number of rounds. */
#define ROUNDS 4

CMX_PARAM(close_seconds, 0, 86400, 60,
	  "seconds for which a DREQ is repeated after its id was destroyed (0: not at all), and for which DISCONNECTED waits for the reply (0: no limit)");

/**
 * struct close_bucket - ids of one hash value whose connections are closing
 * @lock: protects @ids, and &cmx_ib_conn.closing and &cmx_ib_conn.released of all
 *	ids with this hash value
 * @ids: list of &cmx_ib_conn.close_node
 * @closed: waiters for the end of one of them. A user can have thousands, so that users should not
 *	wake those of each other
 */
struct close_bucket {
	spinlock_t lock;	/* protects ids, and closing and released of its ids */
	struct hlist_head ids;
	wait_queue_head_t closed;
};

static struct close_bucket buckets[1024];
static u32 close_seed;
static atomic_t num_closing;

static void cm_id_destroy_batch_work(struct work_struct *work);
static void close_round_work(struct work_struct *work);

static LLIST_HEAD(ended);		/* &cmx_id_private.ended */
static DECLARE_DELAYED_WORK(batch_destroy_work, cm_id_destroy_batch_work);
static DECLARE_DELAYED_WORK(round_work, close_round_work);

/*
 * A process chooses its QP number freely: there need not be a QP with that number. Therefore the
 * user and a random seed are hashed as well, so that connections of other users do not get in the
 * way of a lookup.
 */
static struct close_bucket *close_bucket_find(const void *user, u32 qp_num)
{
	u32 hash = jhash_3words(qp_num, lower_32_bits((uintptr_t)user),
				upper_32_bits((uintptr_t)user), close_seed);

	return &buckets[hash % ARRAY_SIZE(buckets)];
}

/*
 * The id of a process does not change its QP number while it is closing, except for a moment in an
 * accept that fails. Ids of ULPs are not looked up by QP number. Caller must hold id_priv->lock.
 */
static struct close_bucket *close_bucket_of_id(const struct cmx_id_private *id_priv)
{
	return id_priv->user ? close_bucket_find(id_priv->quota, id_priv->qp_num) :
			       close_bucket_find(id_priv, 0);
}

static void cm_id_destroy(struct cmx_id_private *id_priv)
{
	struct cmx_device *dev = id_priv->released_dev;

	/* A DREQ that waits must not be sent any more. */
	if (smp_load_acquire(&id_priv->ib.window)) {
		mutex_lock(&id_priv->lock);
		cmx_ib_window_release(id_priv);
		mutex_unlock(&id_priv->lock);
	}
	ib_destroy_cm_id(id_priv->ib.released);
	cmx_id_put(id_priv);
	cmx_device_put(dev);
}

static void cm_id_destroy_batch_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv, *next;

	llist_for_each_entry_safe(id_priv, next, llist_del_all(&ended), ended) {
		cm_id_destroy(id_priv);
		cond_resched();
	}
}

/* Would ib_destroy_cm_id() cancel a message, so that ib_cm reports no error for it? */
static bool cm_id_awaits_reply(const struct ib_cm_id *cm)
{
	switch (READ_ONCE(cm->state)) {
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
	case IB_CM_REP_SENT:
	case IB_CM_MRA_REP_RCVD:
	case IB_CM_DREQ_SENT:
	case IB_CM_SIDR_REQ_SENT:
		return true;
	default:
		return false;
	}
}

/*
 * Hundreds of ids that poll for their cancelled messages would keep the worker of ib_mad that they
 * wait for from running.
 */
static void cm_id_destroy_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv = container_of(work, struct cmx_id_private, destroy_work);
	struct cmx_device *dev = id_priv->released_dev;

	if (!CMX_CANCEL_POLLS || !cm_id_awaits_reply(id_priv->ib.released)) {
		cm_id_destroy(id_priv);
		return;
	}
	cmx_device_get(dev);
	down(&dev->cancel_sem);
	cm_id_destroy(id_priv);
	up(&dev->cancel_sem);
	cmx_device_put(dev);
}

/*
 * Queue the destruction of id_priv->ib.released, which drops the reference that the ib_cm id holds.
 * Caller must hold the bucket's lock: the removal of a device then finds each ib_cm id either
 * queued here or closing.
 */
static void cm_id_defer_destroy(struct cmx_id_private *id_priv, struct close_bucket *b)
{
	lockdep_assert_held(&b->lock);
	if (READ_ONCE(id_priv->ib.released->state) != IB_CM_TIMEWAIT) {
		INIT_WORK(&id_priv->destroy_work, cm_id_destroy_work);
		queue_work(cmx_destroy_wq, &id_priv->destroy_work);
	} else if (llist_add(&id_priv->ended, &ended)) {
		queue_delayed_work(cmx_destroy_wq, &batch_destroy_work,
				   msecs_to_jiffies(BATCH_DESTROY_MS));
	}
}

/* Has the peer sent nothing yet? @cm has sent a REQ or SIDR REQ. */
static bool cm_id_is_unanswered(const struct ib_cm_id *cm)
{
	enum ib_cm_state state = READ_ONCE(cm->state);

	return state == IB_CM_REQ_SENT || state == IB_CM_SIDR_REQ_SENT;
}

static void close_round_schedule(void)
{
	unsigned long delay = (unsigned long)cmx_param_get(&close_seconds) * HZ / ROUNDS;

	/* close_seconds may have become shorter meanwhile */
	if (!queue_delayed_work(cmx_destroy_wq, &round_work, delay) &&
	    time_before(jiffies + delay, READ_ONCE(round_work.timer.expires)))
		mod_delayed_work(cmx_destroy_wq, &round_work, delay);
}

/* Caller must hold the bucket's lock. */
static void close_begin(struct cmx_id_private *id_priv, struct close_bucket *b)
{
	lockdep_assert_held(&b->lock);
	id_priv->ib.closing = 1;
	hlist_add_head(&id_priv->ib.close_node, &b->ids);
	atomic_inc(&num_closing);
}

/* Caller must hold the bucket's lock. */
static void close_end(struct cmx_id_private *id_priv, struct close_bucket *b)
{
	lockdep_assert_held(&b->lock);
	id_priv->ib.closing = 0;
	hlist_del(&id_priv->ib.close_node);
	atomic_dec(&num_closing);
	if (id_priv->ib.released)
		cm_id_defer_destroy(id_priv, b);
	if (wq_has_sleeper(&b->closed))
		wake_up_all(&b->closed);
}

/*
 * Stop waiting for the peer. Caller must hold the bucket's lock. If ib_cm is already reporting the
 * end, cmx_close_event_handle() does the rest.
 */
static void close_give_up(struct cmx_id_private *id_priv, struct close_bucket *b)
{
	/* window_msg_send_work() clears @waiting after the state of the ib_cm id has changed. */
	if (smp_load_acquire(&id_priv->ib.waiting) || cm_id_awaits_reply(id_priv->ib.released))
		close_end(id_priv, b);
}

/* Does the consumer still wait for the end? Only a DREQ waits while there is an ib_cm id. */
static bool close_dreq_is_unanswered(const struct cmx_id_private *id_priv)
{
	return !READ_ONCE(id_priv->ib.closing) &&
	       (id_priv->ib.unanswered == IB_CM_DREQ_SENT || id_priv->ib.waiting);
}

/* Would ib_destroy_cm_id() send a DREQ, and not repeat it? Caller must hold id_priv->lock. */
static bool close_dreq_is_due(const struct cmx_id_private *id_priv)
{
	return !READ_ONCE(id_priv->ib.closing) &&
	       READ_ONCE(id_priv->ib.cm->state) == IB_CM_ESTABLISHED &&
	       id_priv->id.qp_type != IB_QPT_XRC_TGT && !id_priv->dev->removing;
}

/**
 * cmx_ib_cm_id_release() - release the ib_cm id of an id, or cancel the request that waits
 * @id_priv: the id; nothing is done if it has neither
 *
 * The peer is notified in any state of the connection. If the peer has sent nothing yet, the path
 * to it is no longer trusted. An id uses one ib_cm id at most. A silent peer is not notified again
 * if the device is being removed, or half of the consumer's quota or send window is in use.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_cm_id_release(struct cmx_id_private *id_priv)
{
	struct close_bucket *b = close_bucket_of_id(id_priv);
	struct ib_cm_id *cm = id_priv->ib.cm;
	bool half_used;

	lockdep_assert_held(&id_priv->lock);
	/* If an ib_cm id was released before, cm_id_destroy() ends its message. */
	if (!cm) {
		if (!id_priv->ib.released)
			cmx_ib_window_release(id_priv);
		return;
	}
	if (cm_id_is_unanswered(cm))
		cmx_route_invalidate(id_priv);
	half_used = cmx_quota_is_half_used(id_priv->quota) || cmx_ib_window_is_half_used(id_priv);
	if (close_dreq_is_unanswered(id_priv) ||
	    (!half_used && close_dreq_is_due(id_priv) && !cmx_ib_dreq_send(id_priv)))
		cmx_close_begin(id_priv);
	cmx_device_get(id_priv->dev);
	id_priv->released_dev = id_priv->dev;

	spin_lock(&b->lock);
	id_priv->ib.released = cm;
	/* cmx_ib_notify() must not find an ib_cm id that is being destroyed */
	WRITE_ONCE(id_priv->ib.cm, NULL);
	if (!id_priv->ib.closing && id_priv->ib.unanswered && !cm_id_awaits_reply(cm))
		close_begin(id_priv, b);
	else if (!id_priv->ib.closing)
		cm_id_defer_destroy(id_priv, b);
	else if (id_priv->dev->removing || half_used)
		close_give_up(id_priv, b);
	else
		close_round_schedule();
	spin_unlock(&b->lock);
}

/**
 * cmx_close_begin() - wait for the peer's reply after the connection has ended for the consumer
 * @id_priv: the id. Its DREQ has been sent, or will be sent after the RTU
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_close_begin(struct cmx_id_private *id_priv)
{
	struct close_bucket *b = close_bucket_of_id(id_priv);

	lockdep_assert_held(&id_priv->lock);
	spin_lock(&b->lock);
	close_begin(id_priv, b);
	spin_unlock(&b->lock);
}

/**
 * cmx_close_start_deadline() - limit how long the consumer waits for the reply to its DREQ
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_close_start_deadline(struct cmx_id_private *id_priv)
{
	cmx_deadline_start_end(id_priv, 1000 * cmx_param_get(&close_seconds));
}

/* Return true if another round is needed. */
static bool close_bucket_run_round(struct close_bucket *b)
{
	struct hlist_node *next;
	struct cmx_id_private *id_priv;
	bool more = false;

	spin_lock(&b->lock);
	hlist_for_each_entry_safe(id_priv, next, &b->ids, ib.close_node) {
		if (!id_priv->ib.released)
			continue;
		if (id_priv->ib.closing == ROUNDS) {
			close_give_up(id_priv, b);
		} else {
			id_priv->ib.closing++;
			more = true;
		}
	}
	spin_unlock(&b->lock);
	return more;
}

static void close_round_work(struct work_struct *work)
{
	bool more = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		more |= close_bucket_run_round(&buckets[i]);
	if (more)
		close_round_schedule();
}

/**
 * cmx_close_count() - count the connections whose peer has not yet confirmed the end
 *
 * Return: the number of connections.
 */
unsigned int cmx_close_count(void)
{
	return atomic_read(&num_closing);
}

/**
 * cmx_close_invalidate_route() - stop trusting the path to a peer that has not confirmed the end
 * @id_priv: the id. It may have been destroyed. Its device is kept until the connection is closed
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_close_invalidate_route(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	if (id_priv->dev)
		cmx_route_invalidate(id_priv);
	else if (READ_ONCE(id_priv->ib.closing))
		cmx_route_invalidate_on(id_priv, id_priv->released_dev);
}

/**
 * cmx_close_stop() - stop waiting for the peer's reply
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if it was closing.
 */
bool cmx_close_stop(struct cmx_id_private *id_priv)
{
	struct close_bucket *b = close_bucket_of_id(id_priv);
	bool closing;

	lockdep_assert_held(&id_priv->lock);
	spin_lock(&b->lock);
	closing = id_priv->ib.closing;
	if (closing)
		close_end(id_priv, b);
	spin_unlock(&b->lock);
	return closing;
}

/* ib_cm refuses it if the peer has sent no DREQ. */
static void close_drep_send(struct cmx_id_private *id_priv, struct ib_cm_id *cm)
{
	int ret = ib_send_cm_drep(cm, NULL, 0);

	trace_cmx_cm_send(id_priv, "DREP", ret);
}

static int close_dreq_send(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct ib_cm_id *cm = id_priv->ib.cm ?: id_priv->ib.released;
	int ret = ib_send_cm_dreq(cm, NULL, 0);

	trace_cmx_cm_send(id_priv, "DREQ", ret);
	if (!ret)
		id_priv->ib.unanswered = IB_CM_DREQ_SENT;
	else if (ret == -EINVAL)
		close_drep_send(id_priv, cm);
	return ret;
}

/**
 * cmx_ib_dreq_send() - send a DREQ, or a DREP if the peer has sent its DREQ
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, also if the DREQ is sent later; -EINVAL if the state of the connection allows no DREQ;
 * -ENOMEM if there was no memory to let it wait; or the error of ib_cm, which has then ended the
 * connection.
 */
int cmx_ib_dreq_send(struct cmx_id_private *id_priv)
{
	struct ib_cm_id *cm = id_priv->ib.cm;

	/* ib_cm reports a wrong state when the DREQ is sent. The peer may need a DREP before. */
	if (!id_priv->ib.waiting && READ_ONCE(cm->state) != IB_CM_ESTABLISHED) {
		close_drep_send(id_priv, cm);
		return -EINVAL;
	}
	return cmx_ib_window_send(id_priv, close_dreq_send, NULL);
}

/* Does the event end the message for which ib_cm would otherwise report an error? */
static bool close_event_ends_message(const struct cmx_id_private *id_priv,
				     enum ib_cm_event_type type)
{
	switch (type) {
	case IB_CM_MRA_RECEIVED:
	case IB_CM_LAP_RECEIVED:
	case IB_CM_APR_RECEIVED:
	case IB_CM_TIMEWAIT_EXIT:
		return false;
	case IB_CM_RTU_RECEIVED:
		return id_priv->ib.unanswered == IB_CM_REP_SENT;
	default:
		return true;
	}
}

/**
 * cmx_close_event_handle() - handle an event of a connection that may be closing
 * @id_priv: the id
 * @cm: its ib_cm id
 * @type: type of the event
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if there is nothing else to do for the event.
 */
bool cmx_close_event_handle(struct cmx_id_private *id_priv, struct ib_cm_id *cm,
			    enum ib_cm_event_type type)
{
	bool closing = READ_ONCE(id_priv->ib.closing);

	lockdep_assert_held(&id_priv->lock);
	if (!close_event_ends_message(id_priv, type))
		return false;
	/* If both ends have disconnected at the same time, each replies to the other. */
	if (type == IB_CM_DREQ_RECEIVED && (closing || close_dreq_is_unanswered(id_priv)))
		close_drep_send(id_priv, cm);
	id_priv->ib.unanswered = 0;
	/* The REP that an RTU ends is not charged to the window. */
	if (type != IB_CM_RTU_RECEIVED)
		cmx_ib_window_release(id_priv);
	if (!closing)
		return false;
	if (type == IB_CM_RTU_RECEIVED && id_priv->ib.cm && !cmx_ib_dreq_send(id_priv))
		return true;
	cmx_close_stop(id_priv);
	return true;
}

/* Is a connection of the QP closing, of the same user and device and to the same peer? */
static bool close_qp_is_closing(struct close_bucket *b, const struct cmx_id_private *next,
				u32 qp_num)
{
	struct cmx_id_private *id_priv;
	unsigned int searched = 0;
	bool found = false;

	spin_lock(&b->lock);
	hlist_for_each_entry(id_priv, &b->ids, ib.close_node) {
		struct ib_cm_id *cm = id_priv->ib.released ?: id_priv->ib.cm;

		if (id_priv->user && id_priv->quota == next->quota && id_priv->qp_num == qp_num &&
		    cm->device == READ_ONCE(next->id.device) &&
		    cmx_addr_same_host(cmx_dst(id_priv), cmx_dst(next))) {
			found = true;
			break;
		}
		if (++searched == MAX_SEARCHED)
			break;
	}
	spin_unlock(&b->lock);
	return found;
}

/**
 * cmx_close_wait() - wait for the end of the last connection of a QP to the same peer
 * @id_priv: the id that is to be connected. Connections of other users do not count
 * @qp_num: number of the QP
 *
 * The peer refuses another connection with the same QP as long as it does not know about the end of
 * the last one. The wait is limited to QP_WAIT_MS, since the peer may be gone.
 */
void cmx_close_wait(const struct cmx_id_private *id_priv, u32 qp_num)
{
	struct close_bucket *b = close_bucket_find(id_priv->quota, qp_num);

	if (close_qp_is_closing(b, id_priv, qp_num))
		wait_event_killable_timeout(b->closed, !close_qp_is_closing(b, id_priv, qp_num),
					    msecs_to_jiffies(QP_WAIT_MS));
}

/**
 * cmx_close_device() - stop waiting for peers when a device is being removed
 * @dev: the device; accepts no more ids. A released ib_cm id holds a reference to its device until
 *	it is destroyed
 */
void cmx_close_device(const struct cmx_device *dev)
{
	struct close_bucket *b;
	struct hlist_node *next;
	struct cmx_id_private *id_priv;

	for (b = buckets; b < buckets + ARRAY_SIZE(buckets); b++) {
		spin_lock(&b->lock);
		hlist_for_each_entry_safe(id_priv, next, &b->ids, ib.close_node)
			if (id_priv->ib.released && id_priv->released_dev == dev)
				close_give_up(id_priv, b);
		spin_unlock(&b->lock);
	}
}

int cmx_close_init_module(void)
{
	size_t i;

	close_seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(buckets); i++) {
		spin_lock_init(&buckets[i].lock);
		init_waitqueue_head(&buckets[i].closed);
	}
	return 0;
}

void cmx_close_exit_module(void)
{
	cancel_delayed_work_sync(&round_work);
}
