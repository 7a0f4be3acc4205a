// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The steps of a connection over ib_cm (ib_state_rows.h), and its end up to the destruction of the
 * ib_cm id
 *
 * A consumer whose QP is stopped gets its event at once when it disconnects. ib_cm continues to
 * send the DREQ until the peer replies. During that time the id is called closing. It also is
 * closing from its release until the ib_cm id is destroyed, which may send a REJ. The ib_cm id and
 * the memory of the id may exist longer than the consumer knows the id. The REQ of the connection,
 * which the active side sends, determines how often and how long the DREQ is repeated, which may
 * amount to days. Therefore the time is limited (close_seconds), counted from the release.
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
 *
 * What follows when is the table of ib_state_rows.h. This file has the acts of its rows.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "charge.h"
#include "deadline.h"
#include "device.h"
#include "ib_close.h"
#include "ib_port.h"
#include "ib_state.h"
#include "ib_window.h"
#include "param.h"
#include "quota.h"
#include "sockaddr.h"
#include "stats.h"
#include "trace.h"
#include "transport.h"

/* A QP that connects again waits this long for the end of its last connection. */
#define QP_WAIT_MS 2000

/* Limit of a search for a QP: an honest program has few closing ids with one number. */
#define MAX_SEARCHED 64

CMX_PARAM(close_seconds, 0, 86400, 60,
	  "seconds for which a DREQ is repeated after its id was destroyed (0: not at all), and for which DISCONNECTED waits for the reply (0: no limit); for ids that are destroyed or disconnected from then on");

/**
 * struct cmx_ib_end - the end of a released ib_cm id
 * @work: ends the wait for the peer, and destroys the ib_cm id
 * @id_priv: the id; the ib_cm id holds a reference
 * @dev: its device, with a reference. The id itself may be attached to none any more
 * @item: in &cmx_ib_port.released from the start of close_seconds until @work is to destroy the
 *	ib_cm id, or empty
 */
struct cmx_ib_end {
	struct delayed_work work;
	struct cmx_id_private *id_priv;
	struct cmx_device *dev;
	struct list_head item;
};

/* Protects closing_ids, and &cmx_ib_port.released with its &cmx_ib_end.item */
static DEFINE_SPINLOCK(close_lock);
static DEFINE_HASHTABLE(closing_ids, 10);	/* by close_hash(); read under RCU */

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

/* Has the connection ended, and ib_cm still remembers it? Its destruction sends nothing then. */
static bool cm_id_is_in_timewait(const struct ib_cm_id *cm)
{
	return READ_ONCE(cm->state) == IB_CM_TIMEWAIT;
}

/* Has @cm sent a REQ or SIDR REQ to which nothing has come? */
static bool cm_id_is_unanswered(const struct ib_cm_id *cm)
{
	enum ib_cm_state state = READ_ONCE(cm->state);

	return state == IB_CM_REQ_SENT || state == IB_CM_SIDR_REQ_SENT;
}

/**
 * cmx_close_get_device() - get the device of a connection
 * @id_priv: the id. A released one may be attached to no device any more
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the device, without a reference; NULL if the id is attached to none and has no ib_cm id.
 */
struct cmx_device *cmx_close_get_device(const struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	return id_priv->ib.end ? id_priv->ib.end->dev : id_priv->dev;
}

static atomic_t *close_gauge(const struct cmx_id_private *id_priv)
{
	struct cmx_device *dev = cmx_close_get_device(id_priv);

	return &cmx_device_port(dev, id_priv->id.port_num)->stats->gauge[CMX_GAUGE_CLOSING];
}

/*
 * The id of a process does not change its QP number while it is closing, except for a moment in an
 * accept that fails. Ids of ULPs are not looked up by QP number. Caller must hold id_priv->lock.
 */
static void closing_add(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	id_priv->ib.close_device = id_priv->ib.cm->device;
	spin_lock(&close_lock);
	hash_add_rcu(closing_ids, &id_priv->ib.close_node,
		     close_hash(id_priv->quota, id_priv->qp_num));
	spin_unlock(&close_lock);
	atomic_inc(close_gauge(id_priv));
}

/* Caller must hold id_priv->lock. */
static void closing_remove(struct cmx_id_private *id_priv)
{
	wait_queue_head_t *waits = close_wait_queue(close_hash(id_priv->quota, id_priv->qp_num));

	lockdep_assert_held(&id_priv->lock);
	spin_lock(&close_lock);
	hash_del_rcu(&id_priv->ib.close_node);
	spin_unlock(&close_lock);
	atomic_dec(close_gauge(id_priv));
	if (wq_has_sleeper(waits))
		wake_up_all(waits);
}

static void cm_id_destroy(struct cmx_ib_end *end)
{
	struct cmx_id_private *id_priv = end->id_priv;
	struct ib_cm_id *cm = id_priv->ib.cm;

	/* cmx_ib_notify() and closing_blocks(), under RCU, must not find it when it is freed. */
	WRITE_ONCE(id_priv->ib.cm, NULL);
	ib_destroy_cm_id(cm);
	cmx_id_lock(id_priv);
	closing_remove(id_priv);
	id_priv->ib.end = NULL;
	cmx_id_unlock(id_priv);
	cmx_id_put(id_priv);
	cmx_device_put(end->dev);
	kfree(end);
}

/*
 * The limit of a released id has ended, or its ib_cm id is to be destroyed. A message that ib_cm
 * still repeats keeps its place in the window until it is about to be cancelled here. Otherwise
 * another message would get the place while this work item is queued behind thousands of others.
 */
static void ib_end_work(struct work_struct *work)
{
	struct cmx_ib_end *end = container_of(to_delayed_work(work), struct cmx_ib_end, work);
	struct cmx_id_private *id_priv = end->id_priv;
	bool destroy;

	cmx_id_lock(id_priv);
	cmx_ib_step(id_priv, CMX_IB_ON_LIMIT);
	destroy = id_priv->ib.state == CMX_IB_DESTROYED;
	if (destroy) {
		/* the act destroy has queued a further run, also if this run has called it */
		cancel_delayed_work(&end->work);
		cmx_ib_window_leave(id_priv);
	}
	cmx_id_unlock(id_priv);
	if (destroy)
		cm_id_destroy(end);
}

/* A release cannot fail: there is no caller to which an error could be returned. */
static struct cmx_ib_end *ib_end_new(struct cmx_id_private *id_priv)
{
	struct cmx_ib_end *end = cmx_charge_alloc_nofail(id_priv, sizeof(*end));

	INIT_DELAYED_WORK(&end->work, ib_end_work);
	end->id_priv = id_priv;
	end->dev = id_priv->dev;
	cmx_device_get(end->dev);
	INIT_LIST_HEAD(&end->item);
	return end;
}

/*
 * The acts of the rows. Each returns what follows at once, as for cmx_ib_step(). Caller must hold
 * id_priv->lock.
 */

static int ib_close_none(struct cmx_id_private *id_priv)
{
	return CMX_IB_ON_NOTHING;
}

static int ib_close_send_req(struct cmx_id_private *id_priv)
{
	return cmx_ib_req_resume(id_priv);
}

static int ib_close_drop_req(struct cmx_id_private *id_priv)
{
	cmx_ib_req_drop(id_priv);
	return CMX_IB_ON_NOTHING;
}

static int ib_close_send_dreq(struct cmx_id_private *id_priv)
{
	return cmx_ib_dreq_resume(id_priv);
}

/* If both ends have disconnected at the same time, each replies to the other. */
static int ib_close_end(struct cmx_id_private *id_priv)
{
	if (READ_ONCE(id_priv->ib.cm->state) == IB_CM_DREQ_RCVD)
		cmx_ib_drep_send(id_priv);
	cmx_ib_window_leave(id_priv);
	return CMX_IB_ON_NOTHING;
}

static int ib_close_start_limit(struct cmx_id_private *id_priv)
{
	struct cmx_ib_end *end = id_priv->ib.end;

	spin_lock(&close_lock);
	list_add(&end->item, &cmx_ib_port(end->dev, id_priv->id.port_num)->released);
	spin_unlock(&close_lock);
	queue_delayed_work(end->dev->destroy_wq, &end->work,
			   (unsigned long)cmx_param_get(&close_seconds) * HZ);
	return CMX_IB_ON_NOTHING;
}

/*
 * An ib_cm id that awaits a reply can be destroyed at once: ib_cm cancels the message and reports
 * nothing. So can an established one: ib_cm reports its RTU with a reference. In other states a
 * report is due first.
 */
static int ib_close_give_up(struct cmx_id_private *id_priv)
{
	const struct ib_cm_id *cm = id_priv->ib.cm;

	return cm_id_awaits_reply(cm) || READ_ONCE(cm->state) == IB_CM_ESTABLISHED ?
		       CMX_IB_ON_ENDED : CMX_IB_ON_NOTHING;
}

/*
 * The work item drops the reference that the ib_cm id holds. If the connection has ended, it may
 * run with the next tick: one wake-up of a worker then serves all connections that end until then.
 */
static int ib_close_destroy(struct cmx_id_private *id_priv)
{
	struct cmx_ib_end *end = id_priv->ib.end;

	if (!cm_id_awaits_reply(id_priv->ib.cm))
		ib_close_end(id_priv);
	spin_lock(&close_lock);
	list_del_init(&end->item);
	spin_unlock(&close_lock);
	mod_delayed_work(end->dev->destroy_wq, &end->work,
			 cm_id_is_in_timewait(id_priv->ib.cm) ? 1 : 0);
	return CMX_IB_ON_NOTHING;
}

static int (*const acts[])(struct cmx_id_private *id_priv) = {
#define CMX_IB_STEP(states, inputs, next, act) ib_close_##act,
#include "ib_state_rows.h"
};

/**
 * cmx_ib_step() - make a step of the connection, and what follows from it
 * @id_priv: the id
 * @ret: as for cmx_ib_state_step()
 *
 * Context: Caller must hold id_priv->lock, and a reference other than that of the ib_cm id.
 */
void cmx_ib_step(struct cmx_id_private *id_priv, int ret)
{
	struct cmx_ib_conn *conn = &id_priv->ib;
	bool was_closing = cmx_ib_state_is_closing(conn->state), closing;
	enum cmx_ib_state from;
	int row;

	lockdep_assert_held(&id_priv->lock);
	while (ret != CMX_IB_ON_NOTHING) {
		from = conn->state;
		row = cmx_ib_state_step(&conn->state, ret);
		if (row < 0)
			break;
		if (trace_cmx_ib_state_enabled() && conn->state != from)
			trace_cmx_ib_state(id_priv, cmx_ib_state_name(from),
					   cmx_ib_state_name(conn->state));
		ret = acts[row](id_priv);
	}
	closing = cmx_ib_state_is_closing(conn->state);
	if (closing && !was_closing)
		closing_add(id_priv);
	else if (was_closing && !closing)
		closing_remove(id_priv);
}

/**
 * cmx_ib_req_start() - send a REQ or SIDR REQ, now or when the window has room
 * @id_priv: the id, which has no ib_cm id
 * @send: sends the message. If the message waits, it is called later with the lock of the id held,
 *	and an error is then reported to the consumer as CONNECT_ERROR
 * @param: argument of @send, which is copied if the message waits
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the return value of @send; 0 if the message waits; -ENOMEM.
 */
int cmx_ib_req_start(struct cmx_id_private *id_priv, cmx_ib_send_fn send,
		     const struct rdma_conn_param *param)
{
	int ret = cmx_ib_req_try(id_priv, send, param);

	lockdep_assert_held(&id_priv->lock);
	cmx_ib_step(id_priv, ret);
	return ret == -EINPROGRESS ? 0 : ret;
}

/**
 * cmx_ib_dreq_start() - send a DREQ, or a DREP if the peer has sent its DREQ
 * @id_priv: the id, whose state is not yet a released one
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, also if the DREQ is sent later, or if a message waits already; -EINVAL if the state
 * of the connection allows no DREQ; -ENOMEM if the user has no window yet and there was no memory
 * for one; or the error of ib_cm, which has then ended the connection.
 */
int cmx_ib_dreq_start(struct cmx_id_private *id_priv)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (cmx_ib_state_is_waiting(id_priv->ib.state))
		return 0;
	/* ib_cm sends no DREQ in another state. The peer may have sent its own: it needs a DREP. */
	if (READ_ONCE(id_priv->ib.cm->state) != IB_CM_ESTABLISHED) {
		cmx_ib_drep_send(id_priv);
		return -EINVAL;
	}
	/* ib_cm has the RTU, and its handler may not have run yet. */
	cmx_ib_step(id_priv, CMX_IB_ON_RTU);
	if (id_priv->ib.state != CMX_IB_QUIET)
		return 0;
	ret = cmx_ib_dreq_try(id_priv);
	cmx_ib_step(id_priv, ret);
	return ret == -EINPROGRESS ? 0 : ret;
}

/* Would ib_destroy_cm_id() send a DREQ, and not repeat it? Caller must hold id_priv->lock. */
static bool close_dreq_is_due(const struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	return READ_ONCE(id_priv->ib.cm->state) == IB_CM_ESTABLISHED &&
	       id_priv->id.qp_type != IB_QPT_XRC_TGT;
}

/**
 * cmx_ib_cm_id_release() - release the ib_cm id of an id, or cancel the request that waits
 * @id_priv: the id; nothing is done if it has neither
 *
 * If the peer knows of the connection, it is notified. If the peer has sent nothing yet, the path
 * to it is no longer trusted. A silent peer is not notified again if the device is being removed,
 * or half of the consumer's quota or send window is in use. An id uses one ib_cm id at most, so it
 * stays released.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_cm_id_release(struct cmx_id_private *id_priv)
{
	struct ib_cm_id *cm = id_priv->ib.cm;
	bool drop;

	lockdep_assert_held(&id_priv->lock);
	if (id_priv->released)
		return;
	if (!cm) {
		cmx_ib_step(id_priv, CMX_IB_ON_RELEASE);
		return;
	}
	if (cm_id_is_unanswered(cm))
		cmx_route_invalidate(id_priv);
	id_priv->released = 1;
	id_priv->ib.end = ib_end_new(id_priv);
	drop = READ_ONCE(id_priv->dev->removing) || cmx_quota_is_half_used(id_priv->quota) ||
	       cmx_ib_window_is_half_used(id_priv);
	if (!drop && close_dreq_is_due(id_priv))
		cmx_ib_dreq_start(id_priv);
	cmx_ib_step(id_priv, drop ? CMX_IB_ON_DROP : CMX_IB_ON_RELEASE);
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
 * cmx_close_invalidate_route() - stop trusting the path to a peer that has not confirmed the end
 * @id_priv: the id, which may have been destroyed; nothing is done if its ib_cm id has been, too
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_close_invalidate_route(struct cmx_id_private *id_priv)
{
	struct cmx_device *dev = cmx_close_get_device(id_priv);

	if (dev)
		cmx_route_invalidate_on(id_priv, dev);
}

/* Maps an event of ib_cm to an input. An event that ends no message of ours is none. */
static int close_event_input(enum ib_cm_event_type type)
{
	switch (type) {
	case IB_CM_LAP_RECEIVED:
	case IB_CM_APR_RECEIVED:
	case IB_CM_TIMEWAIT_EXIT:
	case IB_CM_USER_ESTABLISHED:
		return CMX_IB_ON_NOTHING;
	case IB_CM_RTU_RECEIVED:
		return CMX_IB_ON_RTU;
	default:
		return CMX_IB_ON_ENDED;
	}
}

/**
 * cmx_close_event_handle() - handle an event of a connection that may be closing
 * @id_priv: the id
 * @type: type of the event
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if there is nothing else to do for the event.
 */
bool cmx_close_event_handle(struct cmx_id_private *id_priv, enum ib_cm_event_type type)
{
	enum cmx_ib_state state = id_priv->ib.state;
	int input = close_event_input(type);

	lockdep_assert_held(&id_priv->lock);
	cmx_ib_step(id_priv, input);
	return cmx_ib_state_is_released(state) ||
	       (input != CMX_IB_ON_NOTHING && cmx_ib_state_is_closing(state));
}

/*
 * May the last message of a connection get in the way of @next? Only on the same device, and while
 * the connection waits for its peer, only if @next has the same peer. Caller must hold the RCU read
 * lock.
 */
static bool closing_blocks(const struct cmx_id_private *id_priv, const struct cmx_id_private *next)
{
	const struct ib_cm_id *cm = READ_ONCE(id_priv->ib.cm);

	if (id_priv->ib.close_device != READ_ONCE(next->id.device))
		return false;
	if (READ_ONCE(id_priv->ib.state) == CMX_IB_DESTROYED)
		return !cm || !cm_id_is_in_timewait(cm);
	return cmx_addr_same_host(cmx_dst(id_priv), cmx_dst(next));
}

/* Is a connection of the QP closing, of the same user? */
static bool close_qp_is_closing(const struct cmx_id_private *next, u32 qp_num, u32 hash)
{
	struct cmx_id_private *id_priv;
	unsigned int searched = 0;
	bool found = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(closing_ids, id_priv, ib.close_node, hash) {
		if (!id_priv->user || id_priv->quota != next->quota ||
		    READ_ONCE(id_priv->qp_num) != qp_num)
			continue;
		found = closing_blocks(id_priv, next);
		if (found || ++searched == MAX_SEARCHED)
			break;
	}
	rcu_read_unlock();
	return found;
}

/**
 * cmx_close_wait() - wait for the end of the last connection of a QP
 * @id_priv: the id that is to be connected. Connections of other users do not count
 * @qp_num: number of the QP
 *
 * The peer refuses another connection with the same QP as long as it does not know about the end of
 * the last one. The wait is limited to QP_WAIT_MS, since the peer may be gone.
 */
void cmx_close_wait(const struct cmx_id_private *id_priv, u32 qp_num)
{
	u32 hash = close_hash(id_priv->quota, qp_num);

	wait_event_killable_timeout(*close_wait_queue(hash),
				    !close_qp_is_closing(id_priv, qp_num, hash),
				    msecs_to_jiffies(QP_WAIT_MS));
}

/**
 * cmx_close_stop_port() - stop waiting for peers when a device is being removed
 * @port: a port of the device, which accepts no more ids. A released ib_cm id holds a reference to
 *	the device until it is destroyed
 */
void cmx_close_stop_port(struct cmx_ib_port *port)
{
	struct cmx_ib_end *end;

	do {
		spin_lock(&close_lock);
		end = list_first_entry_or_null(&port->released, struct cmx_ib_end, item);
		if (end) {
			list_del_init(&end->item);
			mod_delayed_work(end->dev->destroy_wq, &end->work, 0);
		}
		spin_unlock(&close_lock);
		cond_resched();
	} while (end);
}

int cmx_close_init_module(void)
{
	size_t i;

	close_seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(close_waits); i++)
		init_waitqueue_head(&close_waits[i]);
	return 0;
}
