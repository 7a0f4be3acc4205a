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
 * handler and for the completion of the last send, in a work item of the device's queue.
 *
 * ib_cm holds no reference while it reports a timeout. Therefore an ib_cm id that has left such a
 * state is not destroyed before its handler has run.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/wait.h>
#include "deadline.h"
#include "device.h"
#include "ib_close.h"
#include "ib_port.h"
#include "ib_window.h"
#include "param.h"
#include "quota.h"
#include "sockaddr.h"
#include "trace.h"
#include "transport.h"

/* A QP that connects again waits this long for the end of its last connection. */
#define QP_WAIT_MS 2000

/* Limit of a search for a QP: an honest program has few closing ids with one number. */
#define MAX_SEARCHED 64

CMX_PARAM(close_seconds, 0, 86400, 60,
	  "seconds for which a DREQ is repeated after its id was destroyed (0: not at all), and for which DISCONNECTED waits for the reply (0: no limit)");

/*
 * Protects closing_ids, &cmx_ib_port.closing, and of all ids &cmx_ib_conn.closing, @released and
 * @close_item.
 */
static DEFINE_SPINLOCK(close_lock);
static DEFINE_HASHTABLE(closing_ids, 10);	/* by close_hash(); read under RCU */
static unsigned int num_closing;

/*
 * Waiters for the end of a closing id, by close_hash(). A user can have thousands, so that users
 * should not wake those of each other.
 */
static wait_queue_head_t close_waits[256];
static u32 close_seed;

/*
 * A process chooses its QP number freely: there need not be a QP with that number. Therefore the
 * user and a random seed are hashed as well, so that connections of other users do not get in the
 * way of a lookup.
 */
static u32 close_hash(const void *user, u32 qp_num)
{
	return jhash_3words(qp_num, lower_32_bits((uintptr_t)user),
			    upper_32_bits((uintptr_t)user), close_seed);
}

static wait_queue_head_t *close_wait_queue(u32 hash)
{
	return &close_waits[hash % ARRAY_SIZE(close_waits)];
}

static void cm_id_destroy_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv = container_of(work, struct cmx_id_private, destroy_work);
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
 * Queue the destruction of id_priv->ib.released, which drops the reference that the ib_cm id holds.
 * Caller must hold close_lock: the removal of a device then finds each ib_cm id either queued here
 * or closing.
 */
static void cm_id_defer_destroy(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&close_lock);
	INIT_WORK(&id_priv->destroy_work, cm_id_destroy_work);
	queue_work(id_priv->released_dev->destroy_wq, &id_priv->destroy_work);
}

/* Has the peer sent nothing yet? @cm has sent a REQ or SIDR REQ. */
static bool cm_id_is_unanswered(const struct ib_cm_id *cm)
{
	enum ib_cm_state state = READ_ONCE(cm->state);

	return state == IB_CM_REQ_SENT || state == IB_CM_SIDR_REQ_SENT;
}

/*
 * The id of a process does not change its QP number while it is closing, except for a moment in an
 * accept that fails. Ids of ULPs are not looked up by QP number. Caller must hold close_lock and
 * id_priv->lock.
 */
static void close_begin(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&close_lock);
	WRITE_ONCE(id_priv->ib.closing, 1);
	hash_add_rcu(closing_ids, &id_priv->ib.close_node,
		     close_hash(id_priv->quota, id_priv->qp_num));
	WRITE_ONCE(num_closing, num_closing + 1);
}

/* Caller must hold close_lock. */
static void close_end(struct cmx_id_private *id_priv)
{
	wait_queue_head_t *waits = close_wait_queue(close_hash(id_priv->quota, id_priv->qp_num));

	lockdep_assert_held(&close_lock);
	WRITE_ONCE(id_priv->ib.closing, 0);
	hash_del_rcu(&id_priv->ib.close_node);
	WRITE_ONCE(num_closing, num_closing - 1);
	if (id_priv->ib.released) {
		list_del(&id_priv->close_item);
		cm_id_defer_destroy(id_priv);
	}
	if (wq_has_sleeper(waits))
		wake_up_all(waits);
}

/*
 * Stop waiting for the peer. Caller must hold close_lock. If ib_cm is already reporting the end,
 * cmx_close_event_handle() does the rest.
 */
static void close_give_up(struct cmx_id_private *id_priv)
{
	list_del_init(&id_priv->close_item);
	/* window_msg_send_work() clears @waiting after the state of the ib_cm id has changed. */
	if (smp_load_acquire(&id_priv->ib.waiting) || cm_id_awaits_reply(id_priv->ib.released))
		close_end(id_priv);
}

/* Caller must hold close_lock. close_seconds may have become shorter meanwhile. */
static void close_schedule(struct cmx_ib_port *port, unsigned long delay)
{
	struct workqueue_struct *wq = port->dev->destroy_wq;

	if (!queue_delayed_work(wq, &port->close_work, delay) &&
	    time_before(jiffies + delay, READ_ONCE(port->close_work.timer.expires)))
		mod_delayed_work(wq, &port->close_work, delay);
}

static unsigned long close_limit(void)
{
	return (unsigned long)cmx_param_get(&close_seconds) * HZ;
}

/* Start the time limit of a released ib_cm id that is closing. Caller must hold close_lock. */
static void close_limit_start(struct cmx_id_private *id_priv)
{
	struct cmx_ib_port *port = cmx_ib_port(id_priv->released_dev, id_priv->id.port_num);

	id_priv->close_since = jiffies;
	list_add_tail(&id_priv->close_item, &port->closing);
	close_schedule(port, close_limit());
}

/* Stop waiting for the peer of the oldest id if @limit is over. Return false if it is not. */
static bool close_give_up_oldest(struct cmx_ib_port *port, unsigned long limit)
{
	struct cmx_id_private *id_priv;
	unsigned long waited = 0;

	spin_lock(&close_lock);
	id_priv = list_first_entry_or_null(&port->closing, struct cmx_id_private, close_item);
	if (id_priv)
		waited = jiffies - id_priv->close_since;
	if (id_priv && waited < limit) {
		close_schedule(port, limit - waited);
		id_priv = NULL;
	}
	if (id_priv)
		close_give_up(id_priv);
	spin_unlock(&close_lock);
	return id_priv;
}

/* There may be many ids: the lock is released between them. */
static void close_give_up_all(struct cmx_ib_port *port, unsigned long limit)
{
	while (close_give_up_oldest(port, limit))
		cond_resched();
}

static void close_limit_work(struct work_struct *work)
{
	close_give_up_all(container_of(to_delayed_work(work), struct cmx_ib_port, close_work),
			  close_limit());
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
	lockdep_assert_held(&id_priv->lock);
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
	struct ib_cm_id *cm = id_priv->ib.cm;
	bool half_used;

	lockdep_assert_held(&id_priv->lock);
	/* If an ib_cm id was released before, cm_id_destroy_work() ends its message. */
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

	spin_lock(&close_lock);
	WRITE_ONCE(id_priv->ib.released, cm);
	INIT_LIST_HEAD(&id_priv->close_item);
	/* cmx_ib_notify() must not find an ib_cm id that is being destroyed */
	WRITE_ONCE(id_priv->ib.cm, NULL);
	if (!id_priv->ib.closing && id_priv->ib.unanswered && !cm_id_awaits_reply(cm))
		close_begin(id_priv);
	else if (!id_priv->ib.closing)
		cm_id_defer_destroy(id_priv);
	else if (id_priv->dev->removing || half_used)
		close_give_up(id_priv);
	else
		close_limit_start(id_priv);
	spin_unlock(&close_lock);
}

/**
 * cmx_close_begin() - wait for the peer's reply after the connection has ended for the consumer
 * @id_priv: the id. Its DREQ has been sent, or will be sent after the RTU
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_close_begin(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	spin_lock(&close_lock);
	close_begin(id_priv);
	spin_unlock(&close_lock);
}

/**
 * cmx_close_start_deadline() - limit how long the consumer waits for the reply to its DREQ
 * @id_priv: the id
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_close_start_deadline(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_deadline_start_end(id_priv, 1000 * cmx_param_get(&close_seconds));
}

/**
 * cmx_close_count() - count the connections whose peer has not yet confirmed the end
 *
 * Return: the number of connections.
 */
unsigned int cmx_close_count(void)
{
	return READ_ONCE(num_closing);
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
	bool closing;

	lockdep_assert_held(&id_priv->lock);
	spin_lock(&close_lock);
	closing = id_priv->ib.closing;
	if (closing)
		close_end(id_priv);
	spin_unlock(&close_lock);
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

	lockdep_assert_held(&id_priv->lock);
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
static bool close_qp_is_closing(const struct cmx_id_private *next, u32 qp_num, u32 hash)
{
	struct cmx_id_private *id_priv;
	unsigned int searched = 0;
	bool found = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(closing_ids, id_priv, ib.close_node, hash) {
		const struct ib_cm_id *cm = READ_ONCE(id_priv->ib.released) ?:
					    READ_ONCE(id_priv->ib.cm);

		if (id_priv->user && id_priv->quota == next->quota &&
		    READ_ONCE(id_priv->qp_num) == qp_num && cm &&
		    cm->device == READ_ONCE(next->id.device) &&
		    cmx_addr_same_host(cmx_dst(id_priv), cmx_dst(next))) {
			found = true;
			break;
		}
		if (++searched == MAX_SEARCHED)
			break;
	}
	rcu_read_unlock();
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
	u32 hash = close_hash(id_priv->quota, qp_num);

	if (close_qp_is_closing(id_priv, qp_num, hash))
		wait_event_killable_timeout(*close_wait_queue(hash),
					    !close_qp_is_closing(id_priv, qp_num, hash),
					    msecs_to_jiffies(QP_WAIT_MS));
}

/**
 * cmx_close_init_port() - prepare a new port for closing ids
 * @port: the port, which has no ids yet
 */
void cmx_close_init_port(struct cmx_ib_port *port)
{
	INIT_LIST_HEAD(&port->closing);
	INIT_DELAYED_WORK(&port->close_work, close_limit_work);
}

/**
 * cmx_close_stop_port() - stop waiting for peers when a device is being removed
 * @port: a port of the device, which accepts no more ids. A released ib_cm id holds a reference to
 *	the device until it is destroyed
 */
void cmx_close_stop_port(struct cmx_ib_port *port)
{
	close_give_up_all(port, 0);
}

int cmx_close_init_module(void)
{
	size_t i;

	close_seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(close_waits); i++)
		init_waitqueue_head(&close_waits[i]);
	return 0;
}
