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
#include <linux/jhash.h>
#include <linux/llist.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/wait.h>
#include "device.h"
#include "ib.h"
#include "ib_close.h"
#include "quota.h"
#include "route_rec.h"
#include "trace.h"
#include "transport.h"

/* After that time the last messages of a connection have been sent. */
#define REAP_MS 10

/* A QP that is used again waits that long for the end of its last connection. */
#define QP_WAIT_MS 2000

/* In so many rounds the time of what is closing runs out. */
#define ROUNDS 4

static unsigned int close_seconds = 60;
module_param(close_seconds, uint, 0644);
MODULE_PARM_DESC(close_seconds, "how long a silent peer is told of the end at most, once the id is gone (60)");

/**
 * struct close_bucket - ids of one hash value whose connections are closing
 * @lock: protects @ids, and &cmx_priv.closing and cm_dead of all ids of that hash value
 * @ids: &cmx_priv.close_node
 */
struct close_bucket {
	spinlock_t lock;	/* see above */
	struct hlist_head ids;
};

static struct close_bucket buckets[1024];
static u32 close_seed;
static atomic_t num_closing;
static DECLARE_WAIT_QUEUE_HEAD(closed);

static void reap_all(struct work_struct *work);
static void next_round(struct work_struct *work);

static LLIST_HEAD(ended);		/* &cmx_priv.ended */
static DECLARE_DELAYED_WORK(reap_work, reap_all);
static DECLARE_DELAYED_WORK(round_work, next_round);

/*
 * A process chooses its QP number, which need not be one of a QP. So the user and a random seed
 * are hashed too: nobody else's connections get into the way of those who look for theirs.
 */
static struct close_bucket *close_bucket(const void *owner, u32 qp_num)
{
	u32 hash = jhash_3words(qp_num, lower_32_bits((uintptr_t)owner),
				upper_32_bits((uintptr_t)owner), close_seed);

	return &buckets[hash % ARRAY_SIZE(buckets)];
}

/* A process's id does not change its QP number while it is closing. Nobody looks for a ULP's. */
static struct close_bucket *close_bucket_of(const struct cmx_priv *p)
{
	return p->user ? close_bucket(p->quota, p->qp_num) : close_bucket(p, 0);
}

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
 * The reference of the ib_cm id is used up. The bucket's lock is held: a device that goes
 * sees each ib_cm id either here or as closing.
 */
static void bury(struct cmx_priv *p)
{
	lockdep_assert_held(&close_bucket_of(p)->lock);
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

/* The bucket's lock is held. */
static void close_begin(struct cmx_priv *p, struct close_bucket *b)
{
	lockdep_assert_held(&b->lock);
	p->closing = 1;
	hlist_add_head(&p->close_node, &b->ids);
	atomic_inc(&num_closing);
}

/* The bucket's lock is held. */
static void close_end(struct cmx_priv *p)
{
	p->closing = 0;
	hlist_del(&p->close_node);
	atomic_dec(&num_closing);
	if (p->cm_dead)
		bury(p);
}

/*
 * Waits no longer for the peer. The bucket's lock is held. Where the end is being reported already,
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
	struct close_bucket *b = close_bucket_of(p);
	struct ib_cm_id *cm = p->cm;

	lockdep_assert_held(&p->lock);
	if (!cm)
		return;
	if (cmx_cm_unheard(cm))
		cmx_route_stale(p);
	cmx_device_get(p->dev);
	p->dead_dev = p->dev;

	spin_lock(&b->lock);
	p->cm_dead = cm;
	/* cmx_ib_notify() must not find what is being destroyed */
	WRITE_ONCE(p->cm, NULL);
	if (!p->closing && p->unanswered && !cm_awaits_answer(cm))
		close_begin(p, b);
	else if (!p->closing)
		bury(p);
	else if (p->dev->gone_soon || cmx_quota_is_short(p->quota))
		close_give_up(p);
	else
		plan_round();
	spin_unlock(&b->lock);
}

/**
 * cmx_close_begin() - the connection has ended, and the owner waits for no answer
 * @p: the id; its lock is held. The DREQ has been sent, or will be after the RTU
 */
void cmx_close_begin(struct cmx_priv *p)
{
	struct close_bucket *b = close_bucket_of(p);

	lockdep_assert_held(&p->lock);
	spin_lock(&b->lock);
	close_begin(p, b);
	spin_unlock(&b->lock);
}

/* True: another round is needed. */
static bool bucket_next_round(struct close_bucket *b)
{
	struct hlist_node *next;
	struct cmx_priv *p;
	bool more = false;

	spin_lock(&b->lock);
	hlist_for_each_entry_safe(p, next, &b->ids, close_node) {
		if (!p->cm_dead)
			continue;
		if (p->closing == ROUNDS) {
			close_give_up(p);
		} else {
			p->closing++;
			more = true;
		}
	}
	spin_unlock(&b->lock);
	return more;
}

static void next_round(struct work_struct *work)
{
	bool more = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		more |= bucket_next_round(&buckets[i]);
	if (more)
		plan_round();
}

/**
 * cmx_close_count() - connections whose peer has not yet confirmed the end
 */
unsigned int cmx_close_count(void)
{
	return atomic_read(&num_closing);
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
	struct close_bucket *b;
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
	b = close_bucket_of(p);
	spin_lock(&b->lock);
	if (p->closing)
		close_end(p);
	spin_unlock(&b->lock);
	if (wq_has_sleeper(&closed))
		wake_up_all(&closed);
	return true;
}

static bool is_closing(const struct cmx_quota *user, const struct ib_device *device, u32 qp_num)
{
	struct close_bucket *b = close_bucket(user, qp_num);
	struct cmx_priv *p;
	bool found = false;

	spin_lock(&b->lock);
	hlist_for_each_entry(p, &b->ids, close_node) {
		struct ib_cm_id *cm = p->cm_dead ?: p->cm;

		if (p->user && p->quota == user && p->qp_num == qp_num && cm->device == device) {
			found = true;
			break;
		}
	}
	spin_unlock(&b->lock);
	return found;
}

/**
 * cmx_close_wait() - wait for the end of the last connection of a QP
 * @user: whose QP it is; nobody else's connections are waited for
 * @device: device of the QP
 * @qp_num: its number
 *
 * As long as the peer has not taken notice of that end, it refuses another
 * connection with the same QP. A peer that is gone is not waited for.
 */
void cmx_close_wait(const struct cmx_quota *user, const struct ib_device *device, u32 qp_num)
{
	if (is_closing(user, device, qp_num))
		wait_event_killable_timeout(closed, !is_closing(user, device, qp_num),
					    msecs_to_jiffies(QP_WAIT_MS));
}

/**
 * cmx_close_device() - a device goes: wait for no peer any longer
 * @dev: the device; takes no more ids. What was given up there has a reference to it until
 *	it is destroyed
 */
void cmx_close_device(const struct cmx_device *dev)
{
	struct close_bucket *b;
	struct hlist_node *next;
	struct cmx_priv *p;

	for (b = buckets; b < buckets + ARRAY_SIZE(buckets); b++) {
		spin_lock(&b->lock);
		hlist_for_each_entry_safe(p, next, &b->ids, close_node)
			if (p->cm_dead && p->dead_dev == dev)
				close_give_up(p);
		spin_unlock(&b->lock);
	}
}

int cmx_close_init_module(void)
{
	size_t i;

	close_seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		spin_lock_init(&buckets[i].lock);
	return 0;
}

void cmx_close_exit_module(void)
{
	cancel_delayed_work_sync(&round_work);
}
