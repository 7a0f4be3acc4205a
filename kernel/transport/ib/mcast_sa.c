// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast on InfiniBand: a group is a record that the SA stores under an MGID.
 *
 * ib_sa counts the members of a port in a group. It sends a join to the SA only for a join state
 * that the port does not have yet, and a leave only when the last member with a join state leaves.
 * Each of our memberships is one of these members.
 *
 * The callback of ib_sa runs in the context that receives the MADs of the port, so it takes no id's
 * lock: it stores the result, and a work item handles it. The same work item rejoins a group after
 * the membership was lost, and releases the member of ib_sa after the group was left.
 *
 * Joins and leaves take turns in the queue of the port. No caller waits for a leave: the work item
 * drops its reference to the membership, so that neither the id nor the network namespace is kept,
 * and continues alone.
 *
 * What follows when is the table of member_rows.h. This file has the acts of its rows.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include "charge.h"
#include "compat.h"
#include "device.h"
#include "event.h"
#include "ib.h"
#include "ib_port.h"
#include "mcast_sa.h"
#include "quota.h"
#include "sa_query.h"
#include "stats.h"
#include "trace.h"
#include "transport.h"

/* Value of @reply: none is pending */
#define NO_REPLY 1

/* How long an SA may take to answer a probe */
#define PROBE_MS 1000

/* A leave that ib_sa still repeats after this time no longer blocks the next request. */
#define SA_LEAVE_MS 3000

/* A leave whose end cannot be seen no longer blocks the next request after this time. */
#define SA_LEAVE_UNSEEN_MS 300

/* Longest interval at which ib_sa is polled for the end of a leave */
#define SA_LEAVE_POLL_MS 50

/* How often a join that the SA did not answer is repeated after the group was left */
#define STALE_REC_TRIES 3

/* Delay before a lost membership is requested again: doubled with each failure */
#define REJOIN_MIN_MS 32U
#define REJOIN_MAX_MS 4096U

static void sa_member_free(struct kref *ref)
{
	kfree(container_of(ref, struct cmx_sa_member, ref));
}

static void sa_member_put(struct cmx_sa_member *m)
{
	kref_put(&m->ref, sa_member_free);
}

/* Caller must hold a reference. As long as m->sa exists, there is one. */
static void sa_member_queue(struct cmx_sa_member *m, unsigned int delay_ms)
{
	kref_get(&m->ref);
	/* a later time must not replace an earlier one */
	if (delay_ms ? !queue_delayed_work(cmx_wq, &m->work, msecs_to_jiffies(delay_ms)) :
		       mod_delayed_work(cmx_wq, &m->work, 0))
		sa_member_put(m);
}

static void sa_member_wake(struct cmx_sa_request *req)
{
	sa_member_queue(container_of(req, struct cmx_sa_member, req), 0);
}

static struct cmx_sa_queue *sa_member_port_queue(const struct cmx_sa_member *m)
{
	return &cmx_ib_port(m->dev, m->port)->sa;
}

static void sa_member_probe_done(int status, struct sa_path_rec *recs, cmx_sa_num_param
				 void *context)
{
	struct cmx_sa_member *m = cmx_sa_name_take((unsigned long)context);

	if (!m)
		return;
	/* An SA that answers has refused the join. Only a port without an SA refuses the probe. */
	if (!status)
		status = -EINVAL;
	else if (status == -EINVAL)
		status = -EAGAIN;
	WRITE_ONCE(m->reply, status);
	sa_member_queue(m, 0);
	sa_member_put(m);
}

static int sa_member_handler(int status, struct ib_sa_multicast *sa)
{
	struct cmx_sa_member *m = sa->context;

	WRITE_ONCE(m->reply, status);
	sa_member_queue(m, 0);
	return 0;
}

/* The join states that the port has in the group, or -ENOENT if ib_sa does not have the group */
static int sa_member_port_states(struct cmx_sa_member *m)
{
	struct ib_sa_mcmember_rec rec;

	if (ib_sa_get_mcmember_rec(m->dev->device, m->port, &m->rec.mgid, &rec))
		return -ENOENT;
	return rec.join_state;
}

/* Would ib_sa answer a join itself? */
static bool sa_member_is_local(struct cmx_sa_member *m)
{
	int states = sa_member_port_states(m);

	return states >= 0 && (states & m->rec.join_state) == m->rec.join_state;
}

/* ib_sa_free_multicast() waits for a running callback, which takes no lock. */
static void sa_member_free_sa(struct cmx_sa_member *m)
{
	if (m->sa)
		ib_sa_free_multicast(m->sa);
	m->sa = NULL;
}

/* The request has ended, or none was needed: the next one takes its turn. */
static void sa_member_request_end(struct cmx_sa_member *m)
{
	bool answered = !m->status || m->status == -EINVAL;

	if (answered)
		m->stale_rec = false;
	else if (m->status == -ETIMEDOUT && m->sa)
		/* If the SA was to choose the MGID, the MGID is unknown after a timeout. */
		m->stale_rec = m->rec.mgid.raw[0];
	if (m->status)
		sa_member_free_sa(m);
	cmx_sa_request_end(sa_member_port_queue(m), &m->req, answered ? 0 : m->status);
}

/*
 * Send a join, or queue it if it needs a MAD. Before the group was left, the caller must hold the
 * id's lock, so the result is not handled before m->sa is set.
 */
static int sa_member_send_join(struct cmx_sa_member *m, enum cmx_sa_kind kind)
{
	struct cmx_sa_queue *queue = sa_member_port_queue(m);
	struct ib_sa_multicast *sa;
	int ret = 0;

	if (sa_member_is_local(m))
		cmx_sa_request_end(queue, &m->req, -ECANCELED);
	else
		ret = cmx_sa_request_start(queue, &m->req, kind);
	if (ret)
		return ret;
	/* only before the group was left */
	if (kind == CMX_SA_REJOIN)
		cmx_mcast_update_rec(m->mc, &m->rec, m->defaults);
	sa = ib_sa_join_multicast(&cmx_sa_client, m->dev->device, m->port, &m->rec,
				  m->takes_any ? m->mask & ~m->defaults : m->mask, GFP_KERNEL,
				  sa_member_handler, m);
	if (IS_ERR(sa))
		return PTR_ERR(sa);
	m->sa = sa;
	return CMX_MEMBER_ON_SENT;
}

/*
 * The acts of the rows. Each returns what follows at once: an input, or 0 or -errno if its request
 * has ended with this status or none was needed, or -EINPROGRESS. Caller must hold the id's lock
 * until the group was left.
 */

static int sa_member_none(struct cmx_sa_member *m)
{
	return CMX_MEMBER_ON_NOTHING;
}

/* Randomised exponential backoff: an SM restart drops all memberships at once. */
static int sa_member_wait(struct cmx_sa_member *m)
{
	m->delay_ms = clamp(m->delay_ms * 2, REJOIN_MIN_MS, REJOIN_MAX_MS);
	sa_member_queue(m, m->delay_ms / 2 + get_random_u32() % m->delay_ms / 2);
	return CMX_MEMBER_ON_NOTHING;
}

static int sa_member_join(struct cmx_sa_member *m)
{
	return sa_member_send_join(m, CMX_SA_JOIN);
}

/*
 * A port that was removed from a partition may know this before the SA does, which would accept the
 * join. Therefore a rejoin checks the P_Key first.
 */
static int sa_member_rejoin(struct cmx_sa_member *m)
{
	u16 index;
	int ret;

	ret = ib_find_cached_pkey(m->dev->device, m->port, be16_to_cpu(m->rec.pkey), &index);
	return ret ? ret : sa_member_send_join(m, CMX_SA_REJOIN);
}

/*
 * Check whether there is an SA. Where an SM has ended, the port itself replies and refuses every
 * request. ib_sa does not distinguish this from an SA that refuses a join. However, no SA refuses
 * the path of a port to itself.
 */
static int sa_member_probe(struct cmx_sa_member *m)
{
	struct sa_path_rec rec = {
		.dgid = m->rec.port_gid,
		.sgid = m->rec.port_gid,
		.numb_path = 1,
		.rec_type = rdma_cap_opa_ah(m->dev->device, m->port) ? SA_PATH_REC_TYPE_OPA
								     : SA_PATH_REC_TYPE_IB,
	};
	struct ib_sa_query *query;
	u32 name;
	int ret;

	sa_member_free_sa(m);
	ret = cmx_sa_name_alloc(m, &name);
	if (ret)
		return ret;
	kref_get(&m->ref);
	ret = ib_sa_path_rec_get(&cmx_sa_client, m->dev->device, m->port, &rec,
				 IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
				 IB_SA_PATH_REC_NUMB_PATH, PROBE_MS, GFP_KERNEL,
				 sa_member_probe_done, (void *)(unsigned long)name, &query);
	if (ret >= 0)
		return CMX_MEMBER_ON_NOTHING;
	cmx_sa_name_take(name);
	sa_member_put(m);
	return ret;
}

static void sa_member_take_rec(struct cmx_sa_member *m)
{
	m->takes_any = false;
	m->delay_ms = 0;
	/* the next join requests this MGID, which others may know by now */
	m->rec.mgid = m->sa->rec.mgid;
	m->mc->mgid = m->rec.mgid;
}

static int sa_member_report_join(struct cmx_sa_member *m)
{
	sa_member_take_rec(m);
	cmx_mcast_report_join(m->mc, 0, &m->sa->rec, NULL);
	cmx_sa_member_list(m);
	return CMX_MEMBER_ON_NOTHING;
}

static int sa_member_report_error(struct cmx_sa_member *m)
{
	if (m->mc->ev) {
		cmx_mcast_report_join(m->mc, m->status, NULL, NULL);
	} else {
		cmx_sa_member_unlist(m);
		cmx_mcast_report_error(m->mc, -ENETRESET);
	}
	return CMX_MEMBER_ON_NOTHING;
}

static bool sa_member_may_rejoin(const struct cmx_sa_member *m)
{
	return cmx_opt_is_set(m->mc->id_priv, CMX_OPT_MCAST_REJOIN) &&
	       m->mc->id_priv->opt.mcast_rejoin;
}

static int sa_member_retry(struct cmx_sa_member *m)
{
	if (!sa_member_may_rejoin(m))
		return CMX_MEMBER_ON_OFF;
	/*
	 * Under an SM with another configuration, others may have created the group with other
	 * values. If there is no group, the SA refuses such a join.
	 */
	m->takes_any = m->status == -EINVAL && !m->takes_any;
	/* An attached QP would keep other ids of the port from the new MLID. */
	cmx_mcast_detach(m->mc);
	return sa_member_wait(m);
}

static int sa_member_lose(struct cmx_sa_member *m)
{
	m->delay_ms = 0;
	if (sa_member_may_rejoin(m)) {
		trace_cmx_mcast(m->mc, "lost", m->status);
		cmx_stats_count(m->mc->id_priv, CMX_STAT_GROUP_LOST);
	}
	return sa_member_retry(m);
}

static int sa_member_restore(struct cmx_sa_member *m)
{
	sa_member_take_rec(m);
	cmx_stats_count(m->mc->id_priv, CMX_STAT_GROUP_REJOINED);
	return CMX_MEMBER_ON_WAKE;
}

/*
 * Report the rejoined group, or try again later if the QP cannot be attached. rdmavt has one MLID
 * for each MGID: a QP can be attached with a new MLID only after all other QPs of the port have
 * been detached. Their consumers do this when they are notified.
 */
static int sa_member_report_rejoin(struct cmx_sa_member *m)
{
	return cmx_mcast_report_rejoin(m->mc, &m->sa->rec) ? sa_member_wait(m) : 0;
}

/*
 * Tell the SA that a membership has ended. Leaves have a queue of their own: if the SA is silent,
 * all joins that wait are woken at once, and with thousands of leaves that would load the host.
 * After -ECANCELED, sa_member_request_end() leaves the group locally.
 */
static int sa_member_leave(struct cmx_sa_member *m)
{
	int ret;

	if (m->leaves_locally)
		return -ECANCELED;
	ret = cmx_sa_request_start(sa_member_port_queue(m), &m->req, CMX_SA_LEAVE);
	if (ret)
		return ret;
	m->rec.mgid = m->sa->rec.mgid;
	sa_member_free_sa(m);
	sa_member_queue(m, 1);
	return CMX_MEMBER_ON_SENT;
}

/*
 * ib_sa does not report the end of a leave. It clears the join state at once, and keeps the group
 * until the SA has answered. If the port has another join state in the group, ib_sa keeps the group
 * after that, too, and the end cannot be seen. ib_sa does not ask the SA if another member of the
 * port has the same join state.
 *
 * Returns the status of the request, or -EINPROGRESS.
 */
static int sa_member_leave_status(struct cmx_sa_member *m, unsigned int ms)
{
	int states = sa_member_port_states(m);

	if (states < 0)
		return 0;
	if (states & m->rec.join_state)
		return -ECANCELED;
	if (states)
		return ms < SA_LEAVE_UNSEEN_MS ? -EINPROGRESS : -ECANCELED;
	return ms < SA_LEAVE_MS ? -EINPROGRESS : -ETIMEDOUT;
}

static int sa_member_poll(struct cmx_sa_member *m)
{
	unsigned int ms = jiffies_to_msecs(jiffies - m->req.since);
	int status = sa_member_leave_status(m, ms);

	if (status == -EINPROGRESS)
		sa_member_queue(m, min_t(unsigned int, ms / 4 + 1, SA_LEAVE_POLL_MS));
	return status;
}

/*
 * The SA may have created a record for a join that it did not answer: ib_sa sends a leave only
 * after a join that succeeds, so the join is repeated.
 */
static int sa_member_clean_up(struct cmx_sa_member *m)
{
	int ret;

	if (!m->stale_rec || m->cleanup_joins == STALE_REC_TRIES)
		return -ECANCELED;
	ret = sa_member_send_join(m, CMX_SA_JOIN);
	if (ret != -EINPROGRESS)
		m->cleanup_joins++;
	return ret;
}

static int sa_member_end(struct cmx_sa_member *m)
{
	sa_member_free_sa(m);
	cmx_sa_request_end(sa_member_port_queue(m), &m->req, -ECANCELED);
	cmx_device_put(m->dev);
	cmx_quota_uncharge(m->quota);
	sa_member_put(m);
	return CMX_MEMBER_ON_NOTHING;
}

static int (*const acts[])(struct cmx_sa_member *m) = {
#define CMX_MEMBER_STEP(states, inputs, next, act) sa_member_##act,
#include "member_rows.h"
};

/*
 * Make the step for an input or for the status of a request, and those that follow at once. Caller
 * must hold the id's lock until the group was left.
 */
static void sa_member_step(struct cmx_sa_member *m, int ret)
{
	enum cmx_member_state from;
	int row;

	if (m->mc)
		lockdep_assert_held(&m->mc->id_priv->lock);
	while (ret != CMX_MEMBER_ON_NOTHING) {
		from = m->state;
		row = cmx_member_step(&m->state, ret);
		if (row < 0)
			return;
		if (trace_cmx_member_enabled() && m->state != from)
			trace_cmx_member(m->dev->device, m->port, &m->rec.mgid, m,
					 cmx_member_name(from), cmx_member_name(m->state));
		if (ret <= 0)
			m->status = ret;
		/* A join that is probed has not ended: the port itself may have refused it. */
		if (ret <= 0 && acts[row] != sa_member_probe)
			sa_member_request_end(m);
		ret = acts[row](m);
	}
}

/* ib_sa has replied, or else the turn has come, or the time that was waited for. */
static void sa_member_run(struct cmx_sa_member *m)
{
	int ret = xchg(&m->reply, NO_REPLY);

	if (m->state == CMX_MEMBER_ENDED)
		return;
	if (ret == NO_REPLY)
		ret = !m->mc && cmx_sa_queue_is_stopped(sa_member_port_queue(m)) ?
			      CMX_MEMBER_ON_GONE : CMX_MEMBER_ON_WAKE;
	sa_member_step(m, ret);
}

/* Drop the membership, which the consumer has left. Caller must hold no lock. */
static void sa_member_drop_mc(struct cmx_sa_member *m)
{
	struct cmx_mcast *mc = m->mc;
	struct cmx_event *ev = mc->ev;

	m->mc = NULL;
	/* left before the result was known */
	mc->ev = NULL;
	cmx_event_free(ev);
	cmx_mcast_put(mc);
}

static void sa_member_work(struct work_struct *work)
{
	struct cmx_sa_member *m = container_of(to_delayed_work(work), struct cmx_sa_member, work);
	unsigned int noio = memalloc_noio_save();
	struct cmx_id_private *id_priv;
	bool left;

	if (m->mc) {
		id_priv = m->mc->id_priv;
		cmx_id_lock(id_priv);
		left = m->mc->transport_data != m;
		/* An id that has lost its device leaves its groups next, which handles @reply. */
		if (!left && !(BIT(id_priv->state) & (CMX_IN(REMOVED) | CMX_IN(DEAD))))
			sa_member_run(m);
		cmx_id_unlock(id_priv);
		if (left)
			sa_member_drop_mc(m);
	}
	if (!m->mc)
		sa_member_run(m);
	sa_member_put(m);
	memalloc_noio_restore(noio);
}

static struct cmx_sa_member *sa_member_new(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = cmx_charge_alloc(mc->id_priv, sizeof(*m));

	if (!m)
		return NULL;
	kref_init(&m->ref);
	m->mc = mc;
	m->dev = mc->id_priv->dev;
	cmx_device_get(m->dev);
	m->port = mc->id_priv->id.port_num;
	m->quota = mc->id_priv->quota;
	cmx_sa_request_init(&m->req, m->quota, sa_member_wake);
	m->reply = NO_REPLY;
	INIT_DELAYED_WORK(&m->work, sa_member_work);
	return m;
}

static int sa_join(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = sa_member_new(mc);
	int ret;

	if (!m)
		return -ENOMEM;
	ret = cmx_mcast_fill_rec(mc, &m->rec, &m->mask, &m->defaults);
	if (ret)
		goto err;
	/* An id has one Q_Key. As for a refusal of the SA, the event reports it. */
	if (mc->id_priv->qkey && mc->id_priv->qkey != be32_to_cpu(m->rec.qkey)) {
		cmx_mcast_report_join(mc, -EINVAL, NULL, NULL);
		goto err;
	}
	ret = sa_member_join(m);
	if (ret < 0 && ret != -EINPROGRESS)
		goto err;
	sa_member_step(m, ret);
	kref_get(&mc->ref);
	mc->transport_data = m;
	return 0;

err:
	cmx_sa_request_end(sa_member_port_queue(m), &m->req, -ECANCELED);
	cmx_device_put(m->dev);
	kfree(m);
	return ret;
}

static void sa_leave(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = mc->transport_data;

	if (!m)
		return;
	mc->transport_data = NULL;
	/* Otherwise a user could join and leave faster than leaves end. */
	cmx_quota_charge_always(m->quota);
	m->leaves_locally = cmx_sa_member_unlist(m);
	sa_member_step(m, CMX_MEMBER_ON_LEAVE);
	sa_member_queue(m, 0);
}

static void sa_report(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = mc->transport_data;

	/* Otherwise an event will follow anyway, or has not been fetched yet. */
	if (m && mc->posted == READ_ONCE(mc->fetched))
		sa_member_step(m, CMX_MEMBER_ON_AGAIN);
}

const struct cmx_mcast_ops cmx_mcast_sa_ops = {
	.join = sa_join,
	.leave = sa_leave,
	.report = sa_report,
	.show = cmx_mcast_sa_show,
};
