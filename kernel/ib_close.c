// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How ib_cm ids end.
 *
 * Who disconnects is told so at once. ib_cm goes on to send the DREQ until the
 * peer answers; that long the ib_cm id is closing, and outlives its owner. How
 * often and for how long is up to the peer's REQ, and may come to days: so there
 * is an end to it, counted from the end of the owner.
 *
 * Destroying an ib_cm id cancels the REQ, REP, DREQ or SIDR REQ that it sends
 * again and again, as long as the id is in the state which that message has led
 * to. Nothing else cancels one, and its time-out and retries can be a peer's
 * choice. No id therefore leaves such a state but by the answer or by being
 * destroyed: ib_send_cm_rej() and ib_cm_notify(IB_EVENT_COMM_EST) are not called
 * there. What is left to wait for is the handler and the completion of what was
 * posted last, in a work item for each id. After an orderly end there is nothing
 * to wait for, a little later: one work item does it for many.
 *
 * ib_cm holds no reference while it reports that nobody has answered: an id that
 * has left such a state is not destroyed before its handler has run.
 */
#include <linux/hashtable.h>
#include <linux/llist.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>
#include "device.h"
#include "ib.h"
#include "quota.h"
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
	struct cmx_device *dev = p->dead_dev;

	ib_destroy_cm_id(p->cm_dead);
	cmx_id_put(p);
	cmx_device_put(dev);
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

/* Does ib_destroy_cm_id() cancel a message, so that ib_cm reports nothing about it? */
static bool cm_awaits_answer(const struct ib_cm_id *cm)
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
 * The reference of the ib_cm id is used up. The lock is held: a device that goes
 * sees each ib_cm id either here or as closing.
 */
static void bury(struct cmx_priv *p)
{
	lockdep_assert_held(&lock);
	if (READ_ONCE(p->cm_dead->state) != IB_CM_TIMEWAIT) {
		INIT_WORK(&p->reap, reap);
		queue_work(cmx_reap_wq, &p->reap);
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

/* The lock is held. */
static void close_begin(struct cmx_priv *p)
{
	p->closing = 1;
	hash_add(closing, &p->close_node, p->qp_num);
}

/* The lock is held. */
static void close_end(struct cmx_priv *p)
{
	p->closing = 0;
	hash_del(&p->close_node);
	if (p->cm_dead)
		bury(p);
}

/*
 * Waits no longer for the peer. The lock is held. Where the end is being reported already,
 * cmx_close_message() does the rest.
 */
static void close_give_up(struct cmx_priv *p)
{
	if (cm_awaits_answer(p->cm_dead))
		close_end(p);
}

/**
 * cmx_cm_release() - give up the ib_cm id of an id
 * @p: the id; its lock is held. Nothing to do when it has none
 *
 * The peer is told, whatever the state of the connection. When it has not been
 * heard of, the path to it is no longer trusted. No id has a second ib_cm id
 * that it used. A silent peer is not told again when the device goes, or when
 * the owner has little left of his quota.
 */
void cmx_cm_release(struct cmx_priv *p)
{
	struct ib_cm_id *cm = p->cm;

	lockdep_assert_held(&p->lock);
	if (!cm)
		return;
	if (p->ops->release) {
		p->ops->release(p);
		return;
	}
	if (cmx_cm_unheard(cm))
		cmx_route_stale(p);
	cmx_device_get(p->dev);
	p->dead_dev = p->dev;

	spin_lock(&lock);
	p->cm_dead = cm;
	/* cmx_ib_notify() must not find what is being destroyed */
	WRITE_ONCE(p->cm, NULL);
	if (!p->closing && p->unanswered && !cm_awaits_answer(cm))
		close_begin(p);
	else if (!p->closing)
		bury(p);
	else if (p->dev->gone_soon || cmx_quota_is_short(p->quota))
		close_give_up(p);
	else
		plan_round();
	spin_unlock(&lock);
}

/**
 * cmx_close_begin() - the connection has ended, and the owner waits for no answer
 * @p: the id; its lock is held. The DREQ has been sent, or will be after the RTU
 */
void cmx_close_begin(struct cmx_priv *p)
{
	lockdep_assert_held(&p->lock);
	spin_lock(&lock);
	close_begin(p);
	spin_unlock(&lock);
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
		if (p->closing == ROUNDS) {
			close_give_up(p);
		} else {
			p->closing++;
			more = true;
		}
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

/* Is the message about which ib_cm would have reported an error out of the world? */
static bool is_answer(const struct cmx_priv *p, enum ib_cm_event_type type)
{
	switch (type) {
	case IB_CM_MRA_RECEIVED:
	case IB_CM_TIMEWAIT_EXIT:
		return false;
	case IB_CM_RTU_RECEIVED:
		return p->unanswered == IB_CM_REP_SENT;
	default:
		return true;
	}
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
	if (!is_answer(p, type))
		return false;
	p->unanswered = 0;
	if (!READ_ONCE(p->closing))
		return false;
	if (type == IB_CM_DREQ_RECEIVED) {
		/* both ends did it at the same time: each answers the other */
		ret = ib_send_cm_drep(cm, NULL, 0);
		trace_cmx_cm_send(p, "DREP", ret);
	} else if (type == IB_CM_RTU_RECEIVED && p->cm) {
		ret = ib_send_cm_dreq(cm, NULL, 0);
		trace_cmx_cm_send(p, "DREQ", ret);
		if (!ret) {
			p->unanswered = IB_CM_DREQ_SENT;
			return true;
		}
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
 * cmx_close_device() - a device goes: wait for no peer any longer
 * @dev: the device; takes no more ids. What was given up there has a reference to it until
 *	it is destroyed
 */
void cmx_close_device(const struct cmx_device *dev)
{
	struct hlist_node *next;
	struct cmx_priv *p;
	int i;

	spin_lock(&lock);
	hash_for_each_safe(closing, i, next, p, close_node)
		if (p->cm_dead && p->dead_dev == dev)
			close_give_up(p);
	spin_unlock(&lock);
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
