// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How ib_cm ids end.
 *
 * Who disconnects is told so at once. ib_cm goes on to send the DREQ until the
 * peer answers; that long the ib_cm id is closing, and outlives its owner. How
 * often and for how long is up to the peer's REQ, and may come to days: so there
 * is an end to it, counted from the end of the owner.
 *
 * Destroying an ib_cm id waits for its handler and for the messages that it has
 * sent, which can take a minute, or as long as the peer has asked for: each is
 * destroyed by a work item of its own. Those with a message that nobody can take
 * back have a work queue where nothing else waits. After an orderly end there is
 * nothing to wait for, a little later: one work item does it for many.
 */
#include <linux/hashtable.h>
#include <linux/llist.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>
#include "ib.h"
#include "trace.h"
#include "transport.h"
#include "verbs.h"

/* After that time the last messages of a connection have been sent. */
#define REAP_MS 10

/* A QP that is used again waits that long for the end of its last connection. */
#define QP_WAIT_MS 2000

/* In so many rounds the time of what is closing runs out. */
#define ROUNDS 4

static unsigned int close_seconds = 60;
module_param(close_seconds, uint, 0644);
MODULE_PARM_DESC(close_seconds, "how long a silent peer is told of the end at most, once the id is gone (60)");

static DEFINE_HASHTABLE(closing, 8);	/* &cmx_priv.close_node, by QP number */
static DEFINE_SPINLOCK(lock);		/* protects closing, &cmx_priv.closing and cm_dead */
static DECLARE_WAIT_QUEUE_HEAD(closed);

static void reap_all(struct work_struct *work);
static void next_round(struct work_struct *work);

struct workqueue_struct *cmx_reap_wq;
struct workqueue_struct *cmx_linger_wq;

static LLIST_HEAD(ended);		/* &cmx_priv.ended */
static DECLARE_DELAYED_WORK(reap_work, reap_all);
static DECLARE_DELAYED_WORK(round_work, next_round);

static void destroy(struct cmx_priv *p)
{
	ib_destroy_cm_id(p->cm_dead);
	cmx_id_put(p);
}

static void reap_all(struct work_struct *work)
{
	struct cmx_priv *p, *next;

	llist_for_each_entry_safe(p, next, llist_del_all(&ended), ended) {
		destroy(p);
		cond_resched();
	}
}

static void reap(struct work_struct *work)
{
	destroy(container_of(work, struct cmx_priv, reap));
}

/* Has ib_cm a message that it repeats, and that destroying the id does not take back? */
static bool lingers(const struct cmx_priv *p, enum ib_cm_state state)
{
	if (p->refused)
		return true;
	switch (state) {
	case IB_CM_ESTABLISHED:
	case IB_CM_DREQ_SENT:
	case IB_CM_DREQ_RCVD:
	case IB_CM_TIMEWAIT:
		/* so cm_establish() says, and the REP is still being sent */
		return !p->established;
	default:
		return false;
	}
}

/*
 * The reference of the ib_cm id is used up. The lock is held: a device that goes
 * sees each ib_cm id either here or as closing.
 */
static void bury(struct cmx_priv *p)
{
	enum ib_cm_state state = READ_ONCE(p->cm_dead->state);
	bool linger = lingers(p, state);

	lockdep_assert_held(&lock);
	if (linger || state != IB_CM_TIMEWAIT) {
		INIT_WORK(&p->reap, reap);
		queue_work(linger ? cmx_linger_wq : cmx_reap_wq, &p->reap);
	} else if (llist_add(&p->ended, &ended)) {
		queue_delayed_work(cmx_reap_wq, &reap_work, msecs_to_jiffies(REAP_MS));
	}
}

/**
 * cmx_cm_unheard() - whether nothing is known of the peer
 * @cm: what has sent a REQ
 */
bool cmx_cm_unheard(const struct ib_cm_id *cm)
{
	enum ib_cm_state state = READ_ONCE(cm->state);

	return state == IB_CM_REQ_SENT || state == IB_CM_SIDR_REQ_SENT;
}

static void plan_round(void)
{
	queue_delayed_work(cmx_reap_wq, &round_work,
			   (unsigned long)READ_ONCE(close_seconds) * HZ / ROUNDS);
}

/**
 * cmx_cm_release() - give up the ib_cm id of an id
 * @p: the id; its lock is held. Nothing to do when it has none
 *
 * The peer is told, whatever the state of the connection. When it has not been
 * heard of, the path to it is no longer trusted. No id has a second ib_cm id
 * that it used.
 */
void cmx_cm_release(struct cmx_priv *p)
{
	lockdep_assert_held(&p->lock);
	if (!p->cm)
		return;
	if (p->ops->release) {
		p->ops->release(p);
		return;
	}
	if (cmx_cm_unheard(p->cm))
		cmx_route_stale(p);
	spin_lock(&lock);
	p->cm_dead = p->cm;
	if (p->closing)
		plan_round();
	else
		bury(p);
	spin_unlock(&lock);
	WRITE_ONCE(p->cm, NULL);
}

/**
 * cmx_close_begin() - a DREQ was sent, and the owner waits for no answer
 * @p: the id; its lock is held
 */
void cmx_close_begin(struct cmx_priv *p)
{
	lockdep_assert_held(&p->lock);
	spin_lock(&lock);
	p->closing = 1;
	hash_add(closing, &p->close_node, p->qp_num);
	spin_unlock(&lock);
}

/* The lock is held. */
static void close_end(struct cmx_priv *p)
{
	p->closing = 0;
	hash_del(&p->close_node);
	if (p->cm_dead)
		bury(p);
}

static void next_round(struct work_struct *work)
{
	struct hlist_node *next;
	struct cmx_priv *p;
	bool more = false;
	int i;

	spin_lock(&lock);
	hash_for_each_safe(closing, i, next, p, close_node) {
		if (!p->cm_dead)
			continue;
		if (p->closing++ == ROUNDS)
			close_end(p);
		else
			more = true;
	}
	if (more)
		plan_round();
	spin_unlock(&lock);
}

/**
 * cmx_close_count() - connections whose peer has not yet confirmed the end
 */
unsigned int cmx_close_count(void)
{
	struct cmx_priv *p;
	unsigned int n = 0;
	int i;

	spin_lock(&lock);
	hash_for_each(closing, i, p, close_node)
		n++;
	spin_unlock(&lock);
	return n;
}

/**
 * cmx_close_message() - a message on a connection that may be closing
 * @p: the id; its lock is held
 * @cm: its ib_cm id
 * @type: of the message
 *
 * Return: whether this is all that there is to do about it.
 */
bool cmx_close_message(struct cmx_priv *p, struct ib_cm_id *cm, enum ib_cm_event_type type)
{
	int ret;

	lockdep_assert_held(&p->lock);
	if (!READ_ONCE(p->closing))
		return false;
	switch (type) {
	case IB_CM_DREQ_RECEIVED:
		/* both ends did it at the same time: each answers the other */
		ret = ib_send_cm_drep(cm, NULL, 0);
		trace_cmx_cm_send(p, "DREP", ret);
		break;
	case IB_CM_DREP_RECEIVED:
	case IB_CM_DREQ_ERROR:
	case IB_CM_REJ_RECEIVED:
		break;
	default:
		return false;
	}
	spin_lock(&lock);
	if (p->closing)
		close_end(p);
	spin_unlock(&lock);
	if (wq_has_sleeper(&closed))
		wake_up_all(&closed);
	return true;
}

static bool is_closing(const struct ib_device *device, u32 qp_num)
{
	struct cmx_priv *p;
	bool found = false;

	spin_lock(&lock);
	hash_for_each_possible(closing, p, close_node, qp_num) {
		struct ib_cm_id *cm = p->cm_dead ?: p->cm;

		if (p->qp_num == qp_num && cm->device == device) {
			found = true;
			break;
		}
	}
	spin_unlock(&lock);
	return found;
}

/**
 * cmx_close_wait() - wait for the end of the last connection of a QP
 * @device: device of the QP
 * @qp_num: its number
 *
 * As long as the peer has not taken notice of that end, it refuses another
 * connection with the same QP. A peer that is gone is not waited for.
 */
void cmx_close_wait(const struct ib_device *device, u32 qp_num)
{
	if (is_closing(device, qp_num))
		wait_event_killable_timeout(closed, !is_closing(device, qp_num),
					    msecs_to_jiffies(QP_WAIT_MS));
}

/**
 * cmx_close_device() - destroy all ib_cm ids of a device that were given up
 * @device: the device; no id is attached to it any more
 *
 * Waits for all that the work queues have to do.
 */
void cmx_close_device(const struct ib_device *device)
{
	struct hlist_node *next;
	struct cmx_priv *p;
	int i;

	spin_lock(&lock);
	hash_for_each_safe(closing, i, next, p, close_node)
		if (p->cm_dead && p->cm_dead->device == device)
			close_end(p);
	spin_unlock(&lock);
	flush_delayed_work(&reap_work);
	flush_workqueue(cmx_reap_wq);
	flush_workqueue(cmx_linger_wq);
	flush_workqueue(cmx_wq);
}

int cmx_close_init_module(void)
{
	cmx_reap_wq = alloc_workqueue("rdma_cmx_reap", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      WQ_UNBOUND_MAX_ACTIVE);
	if (!cmx_reap_wq)
		return -ENOMEM;
	cmx_linger_wq = alloc_workqueue("rdma_cmx_linger", WQ_UNBOUND | WQ_MEM_RECLAIM,
					WQ_UNBOUND_MAX_ACTIVE);
	if (!cmx_linger_wq) {
		destroy_workqueue(cmx_reap_wq);
		return -ENOMEM;
	}
	return 0;
}

void cmx_close_exit_module(void)
{
	cancel_delayed_work_sync(&round_work);
	destroy_workqueue(cmx_linger_wq);
	destroy_workqueue(cmx_reap_wq);
}
