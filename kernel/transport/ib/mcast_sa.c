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
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include "compat.h"
#include "device.h"
#include "event.h"
#include "keys.h"
#include "mcast_sa.h"
#include "quota.h"
#include "route_sa.h"
#include "stats.h"
#include "trace.h"
#include "transport.h"

/* Value of @status: no result is pending */
#define NO_STATUS 1

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

static DEFINE_XARRAY_ALLOC1(probes);	/* members that wait for the reply to a probe, by name */

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
	return &cmx_device_port(m->dev, m->port)->sa;
}

/* Caller must hold the id's lock. */
static bool sa_member_is_active(const struct cmx_sa_member *m)
{
	return m->mc->transport_data == m &&
	       !(BIT(m->mc->id_priv->state) & (CMX_IN(REMOVED) | CMX_IN(DEAD)));
}

/* Randomised exponential backoff: an SM restart drops all memberships at once. */
static void sa_member_queue_later(struct cmx_sa_member *m)
{
	m->delay_ms = clamp(m->delay_ms * 2, REJOIN_MIN_MS, REJOIN_MAX_MS);
	sa_member_queue(m, m->delay_ms / 2 + get_random_u32() % m->delay_ms / 2);
}

static bool sa_member_may_rejoin(const struct cmx_sa_member *m)
{
	return cmx_opt_is_set(m->mc->id_priv, CMX_OPT_MCAST_REJOIN) &&
	       m->mc->id_priv->opt.mcast_rejoin;
}

/*
 * Report the rejoined group, or try again later if the QP cannot be attached. rdmavt has one MLID
 * for each MGID: a QP can be attached with a new MLID only after all other QPs of the port have
 * been detached. Their consumers do this when they are notified. Caller must hold the id's lock.
 */
static void sa_member_report(struct cmx_sa_member *m)
{
	m->report = cmx_mcast_report_rejoin(m->mc, &m->sa->rec);
	if (m->report)
		sa_member_queue_later(m);
	else
		m->reported = true;
}

static void sa_member_joined(struct cmx_sa_member *m, struct ib_sa_mcmember_rec *rec)
{
	m->lost = false;
	m->takes_any = false;
	m->delay_ms = 0;
	/* the next join requests this MGID, which others may know by now */
	m->rec.mgid = rec->mgid;
	m->mc->mgid = rec->mgid;
	if (m->mc->ev) {
		cmx_mcast_report_join(m->mc, 0, rec, NULL);
	} else {
		cmx_stats_count(m->mc->id_priv, CMX_STAT_GROUP_REJOINED);
		sa_member_report(m);
	}
	cmx_sa_member_list(m);
}

static void sa_member_probe_done(int status, struct sa_path_rec *recs, cmx_sa_num_param
				 void *context)
{
	struct cmx_sa_member *m = xa_erase(&probes, (unsigned long)context);

	/* ib_sa may call back twice, see path_query_reply() */
	if (!m)
		return;
	if (!status)
		status = -EINVAL;
	else if (status == -EINVAL)
		status = -EAGAIN;
	WRITE_ONCE(m->status, status);
	sa_member_queue(m, 0);
	sa_member_put(m);
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
	static u32 next;
	u32 name;
	int ret;

	ret = xa_alloc_cyclic(&probes, &name, m, xa_limit_32b, &next, GFP_KERNEL);
	if (ret < 0)
		return ret;
	kref_get(&m->ref);
	ret = ib_sa_path_rec_get(&cmx_sa_client, m->dev->device, m->port, &rec,
				 IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
				 IB_SA_PATH_REC_NUMB_PATH, PROBE_MS, GFP_KERNEL,
				 sa_member_probe_done, (void *)(unsigned long)name, &query);
	if (ret >= 0)
		return 0;
	xa_erase(&probes, name);
	sa_member_put(m);
	return ret;
}

/* Did no SA answer, so that another attempt may succeed? */
static bool sa_status_is_transient(int status)
{
	return status == -EAGAIN || status == -ETIMEDOUT || status == -EIO || status == -EINTR ||
	       status == -ENETRESET;
}

/*
 * There is no membership: join again after a while, or notify the consumer. Caller must hold the
 * id's lock.
 */
static void sa_member_failed(struct cmx_sa_member *m, int status)
{
	/* The SA refused the join. sa_member_probe() has found that there is an SA. */
	bool refused = status == -EINVAL && m->mc->ev;

	if (((m->lost && !refused) || sa_status_is_transient(status)) && sa_member_may_rejoin(m)) {
		if (!m->lost) {
			m->delay_ms = 0;
			/* A join that was not reported yet is not a loss. */
			if (!m->mc->ev) {
				trace_cmx_mcast(m->mc, "lost", status);
				cmx_stats_count(m->mc->id_priv, CMX_STAT_GROUP_LOST);
			}
		}
		m->lost = true;
		/*
		 * Under an SM with another configuration, others may have created the group with
		 * other values. If there is no group, the SA refuses such a join.
		 */
		m->takes_any = status == -EINVAL && !m->takes_any;
		m->join_pending = true;
		/* An attached QP would keep other ids of the port from the new MLID. */
		cmx_mcast_detach(m->mc);
		sa_member_queue_later(m);
	} else if (m->mc->ev) {
		m->lost = false;
		cmx_mcast_report_join(m->mc, status, NULL, NULL);
	} else {
		m->lost = false;
		cmx_sa_member_unlist(m);
		cmx_mcast_report_error(m->mc, -ENETRESET);
	}
}

static int sa_member_handler(int status, struct ib_sa_multicast *sa)
{
	struct cmx_sa_member *m = sa->context;

	WRITE_ONCE(m->status, status);
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

/* Send a join, with m->port_is_member set. Return 0, or the error if the request ended at once. */
static int sa_member_send_join(struct cmx_sa_member *m)
{
	struct ib_sa_multicast *sa;

	sa = ib_sa_join_multicast(&cmx_sa_client, m->dev->device, m->port, &m->rec,
				  m->takes_any ? m->mask & ~m->defaults : m->mask, GFP_KERNEL,
				  sa_member_handler, m);
	if (IS_ERR(sa))
		return PTR_ERR(sa);
	m->sa = sa;
	m->reply_pending = true;
	return 0;
}

/*
 * Start a join, or queue it if it needs a MAD. Caller must hold the id's lock, so the result is not
 * handled before m->sa is set. A port that was removed from a partition may know this before the SA
 * does, which would accept the join. Therefore a rejoin checks the P_Key first.
 */
static int sa_member_join(struct cmx_sa_member *m)
{
	int ret = 0;
	u16 index;

	m->probed = false;
	m->join_pending = true;
	if (m->lost)
		ret = ib_find_cached_pkey(m->dev->device, m->port, be16_to_cpu(m->rec.pkey),
					  &index);
	m->port_is_member = sa_member_is_local(m);
	if (!ret && !m->port_is_member)
		ret = cmx_sa_request_start(sa_member_port_queue(m), &m->req,
					   m->lost ? CMX_SA_REJOIN : CMX_SA_JOIN);
	if (ret == -EINPROGRESS)
		return 0;
	m->join_pending = false;
	if (!ret && m->lost)
		cmx_mcast_update_rec(m->mc, &m->rec, m->defaults);
	if (!ret)
		ret = sa_member_send_join(m);
	if (ret)
		cmx_sa_request_end(sa_member_port_queue(m), &m->req, ret);
	return ret;
}

/* ib_sa_free_multicast() waits for a running callback, which takes no lock. */
static void sa_member_free_sa(struct cmx_sa_member *m)
{
	if (m->sa)
		ib_sa_free_multicast(m->sa);
	m->sa = NULL;
}

/* The request has ended: the next one takes its turn. */
static void sa_member_request_end(struct cmx_sa_member *m, int status)
{
	bool answered = !status || status == -EINVAL;

	m->reply_pending = false;
	/* If the SA was to choose the MGID, the MGID is unknown after a timeout. */
	if (status == -ETIMEDOUT)
		m->stale_rec = m->rec.mgid.raw[0];
	else if (answered)
		m->stale_rec = false;
	if (m->port_is_member)
		status = -ECANCELED;
	else if (answered)
		status = 0;
	cmx_sa_request_end(sa_member_port_queue(m), &m->req, status);
}

/*
 * The id has lost its device or is being destroyed, but the group was not left yet. Caller must
 * hold the id's lock.
 */
static void sa_member_give_up(struct cmx_sa_member *m)
{
	m->join_pending = false;
	sa_member_free_sa(m);
	sa_member_request_end(m, -ECANCELED);
}

/* Caller must hold the id's lock. */
static void sa_member_step(struct cmx_sa_member *m, int status)
{
	if (!sa_member_is_active(m)) {
		sa_member_give_up(m);
		return;
	}
	if (status < 0)
		sa_member_free_sa(m);
	if (status == -EINVAL && m->mc->ev && !m->probed) {
		m->probed = true;
		m->port_is_member = false;
		status = sa_member_probe(m);
		if (!status)
			return;
	}
	if (status != NO_STATUS)
		sa_member_request_end(m, status);
	if (!status)
		sa_member_joined(m, &m->sa->rec);
	else if (status == NO_STATUS && m->join_pending && !m->sa)
		status = sa_member_join(m);
	else if (status == NO_STATUS && m->report && m->sa)
		sa_member_report(m);
	if (status < 0)
		sa_member_failed(m, status);
}

static void sa_member_end(struct cmx_sa_member *m)
{
	m->ended = true;
	sa_member_free_sa(m);
	sa_member_request_end(m, -ECANCELED);
	cmx_device_put(m->dev);
	cmx_quota_uncharge(m->quota);
	sa_member_put(m);
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

static void sa_member_poll_leave(struct cmx_sa_member *m)
{
	unsigned int ms = jiffies_to_msecs(jiffies - m->req.since);
	int status = sa_member_leave_status(m, ms);

	if (status == -EINPROGRESS) {
		sa_member_queue(m, min_t(unsigned int, ms / 4 + 1, SA_LEAVE_POLL_MS));
		return;
	}
	cmx_sa_request_end(sa_member_port_queue(m), &m->req, status);
	sa_member_end(m);
}

/*
 * Tell the SA that a membership has ended. The SA may have created a record for a join that it did
 * not answer: ib_sa sends a leave only after a join that succeeds, so the join is repeated.
 */
static void sa_member_leave(struct cmx_sa_member *m)
{
	int ret;

	if (m->sa ? m->port_stays : !m->stale_rec || m->cleanup_joins == STALE_REC_TRIES) {
		sa_member_end(m);
		return;
	}
	/* If the SA stays silent, the waiting joins are woken. Thousands of leaves must not be. */
	ret = cmx_sa_request_start(sa_member_port_queue(m), &m->req,
				   m->sa ? CMX_SA_LEAVE : CMX_SA_JOIN);
	if (ret == -EINPROGRESS)
		return;
	if (!m->sa)
		m->cleanup_joins++;
	if (!ret && m->sa) {
		m->rec.mgid = m->sa->rec.mgid;
		sa_member_free_sa(m);
		m->leaving = true;
		ret = -EAGAIN;
	} else if (!ret) {
		m->port_is_member = sa_member_is_local(m);
		ret = sa_member_send_join(m);
	}
	if (ret == -EAGAIN || ret == -ETIMEDOUT)
		sa_member_queue(m, 1);
	else if (ret)
		sa_member_end(m);
}

/* The next step after the group was left. The lock of the former id is not held. */
static void sa_member_step_left(struct cmx_sa_member *m, int status)
{
	if (m->ended)
		return;
	if (status < 0)
		sa_member_free_sa(m);
	if (status != NO_STATUS)
		sa_member_request_end(m, status);
	if (cmx_sa_queue_is_stopped(sa_member_port_queue(m)))
		sa_member_end(m);
	else if (m->leaving)
		sa_member_poll_leave(m);
	else if (!m->reply_pending)
		sa_member_leave(m);
}

/* Release the membership. Caller must hold no lock. */
static void sa_member_detach(struct cmx_sa_member *m)
{
	struct cmx_mcast *mc = m->mc;
	struct cmx_event *ev = mc->ev;

	m->mc = NULL;
	/* left before the result was known */
	mc->ev = NULL;
	if (ev)
		cmx_event_free(ev);
	cmx_mcast_put(mc);
}

static void sa_member_work(struct work_struct *work)
{
	struct cmx_sa_member *m = container_of(to_delayed_work(work), struct cmx_sa_member, work);
	int status = xchg(&m->status, NO_STATUS);
	struct cmx_id_private *id_priv;
	bool left = true;

	if (m->mc) {
		id_priv = m->mc->id_priv;
		cmx_id_lock(id_priv);
		left = m->mc->transport_data != m;
		if (!left)
			sa_member_step(m, status);
		cmx_id_unlock(id_priv);
		if (left)
			sa_member_detach(m);
	}
	if (left)
		sa_member_step_left(m, status);
	sa_member_put(m);
}

static struct cmx_sa_member *sa_member_new(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return NULL;
	kref_init(&m->ref);
	m->mc = mc;
	m->dev = mc->id_priv->dev;
	cmx_device_get(m->dev);
	m->port = mc->id_priv->id.port_num;
	m->quota = mc->id_priv->quota;
	cmx_sa_request_init(&m->req, m->quota, sa_member_wake);
	m->status = NO_STATUS;
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
	if (!cmx_group_qkey_fits(mc->id_priv, be32_to_cpu(m->rec.qkey))) {
		cmx_mcast_report_join(mc, -EINVAL, NULL, NULL);
		goto err;
	}
	ret = sa_member_join(m);
	if (ret)
		goto err;
	kref_get(&mc->ref);
	mc->transport_data = m;
	return 0;

err:
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
	m->port_stays = cmx_sa_member_unlist(m);
	sa_member_queue(m, 0);
}

static void sa_report(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = mc->transport_data;

	/* An event will follow anyway, or one has not been fetched yet. */
	if (!m || !m->sa || m->reply_pending || mc->ev || mc->posted != READ_ONCE(mc->fetched))
		return;
	/* Each report of a rejoin can be repeated once. */
	if (!m->reported)
		return;
	m->reported = false;
	m->report = true;
	sa_member_queue_later(m);
}

const struct cmx_mcast_ops cmx_mcast_sa_ops = {
	.join = sa_join,
	.leave = sa_leave,
	.report = sa_report,
};
