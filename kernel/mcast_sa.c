// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast on InfiniBand: a group is what the SA keeps under an MGID.
 *
 * ib_sa counts the members of a port in a group: the SA is asked only for a
 * join state that the port does not have yet, and told only when the last
 * member with one leaves. A membership of ours is one of those members.
 *
 * The callback of ib_sa runs where the MADs of the port arrive, so it takes no id's
 * lock: it stores the outcome, and a work item handles it. The same work joins again
 * what was lost, and gives back what a membership that was left has at ib_sa.
 *
 * Joins and leaves take turns in the queue of the port. Nobody waits for a leave: the work
 * parts from the membership, so that neither id nor network namespace stays, and goes on alone.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_cm_ib.h>
#include "compat.h"
#include "device.h"
#include "event.h"
#include "keys.h"
#include "mcast_sa.h"
#include "transport.h"

/* No outcome is known that was not handled. */
#define NO_STATUS 1

/* How long an SA may take to say that it is there */
#define PROBE_MS 1000

/* A leave that ib_sa still repeats after that time lets the next request go. */
#define LEAVE_MS 3000

/* How often ib_sa is looked at for the end of a leave, at least */
#define LEAVE_POLL_MS 50

/* How often a join is repeated that the SA did not answer and that was left */
#define GHOST_TRIES 3

/* Wait before a lost membership is asked for again: doubled with each failure */
#define REJOIN_MIN_MS 32
#define REJOIN_MAX_MS 4096

static struct ib_sa_client sa_client;
static DEFINE_XARRAY_ALLOC1(probes);	/* members that wait for an answer, by name */

static void member_free(struct kref *ref)
{
	kfree(container_of(ref, struct cmx_sa_member, ref));
}

static void member_put(struct cmx_sa_member *m)
{
	kref_put(&m->ref, member_free);
}

/* Caller must hold a reference, or keep ib_sa's member, which does. */
static void member_queue(struct cmx_sa_member *m, unsigned int delay_ms)
{
	kref_get(&m->ref);
	if (mod_delayed_work(cmx_wq, &m->work, msecs_to_jiffies(delay_ms)))
		member_put(m);
}

static void member_wake(struct cmx_sa_request *req)
{
	member_queue(container_of(req, struct cmx_sa_member, req), 0);
}

static struct cmx_sa_queue *member_sa_queue(const struct cmx_sa_member *m)
{
	return &cmx_device_port(m->dev, m->port)->sa;
}

/* The id's lock is held. */
static bool member_lives(const struct cmx_sa_member *m)
{
	return m->mc->backend == m && !(BIT(m->mc->p->state) & (CMX_IN(REMOVED) | CMX_IN(DEAD)));
}

/* Randomised exponential back-off: an SM that restarts drops all memberships at once. */
static void member_queue_later(struct cmx_sa_member *m)
{
	m->delay_ms = clamp(m->delay_ms * 2, REJOIN_MIN_MS, REJOIN_MAX_MS);
	member_queue(m, m->delay_ms / 2 + get_random_u32() % m->delay_ms / 2);
}

static bool member_rejoins(const struct cmx_sa_member *m)
{
	return cmx_opt_set(m->mc->p, CMX_OPT_MCAST_REJOIN) && m->mc->p->opt.mcast_rejoin;
}

/*
 * Adapters of rdmavt know one MLID for each MGID: the QP can be attached with a new one when all
 * others of the port have been detached, which their owners do as they learn of it.
 */
static void member_report(struct cmx_sa_member *m)
{
	m->report = cmx_mcast_again(m->mc, &m->sa->rec);
	if (m->report)
		member_queue_later(m);
}

static void member_joined(struct cmx_sa_member *m, struct ib_sa_mcmember_rec *rec)
{
	m->lost = false;
	m->delay_ms = 0;
	/* next time it will be this one, which others may know of by now */
	m->rec.mgid = rec->mgid;
	m->mc->mgid = rec->mgid;
	if (m->mc->ev)
		cmx_mcast_done(m->mc, 0, rec, NULL);
	else
		member_report(m);
	cmx_sa_member_list(m);
}

static void member_probed(int status, struct sa_path_rec *recs, cmx_sa_num num, void *context)
{
	struct cmx_sa_member *m = xa_erase(&probes, (unsigned long)context);

	/* ib_sa may call back twice: route_sa.c */
	if (!m)
		return;
	if (!status)
		status = -EINVAL;
	else if (status == -EINVAL)
		status = -EAGAIN;
	WRITE_ONCE(m->status, status);
	member_queue(m, 0);
	member_put(m);
}

/*
 * Where an SM has ended the port answers in its place, and refuses everything; ib_sa does not
 * tell that from an SA that refuses a join. But no SA refuses the path of a port to itself.
 */
static int member_probe(struct cmx_sa_member *m)
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
	ret = ib_sa_path_rec_get(&sa_client, m->dev->device, m->port, &rec,
				 IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
				 IB_SA_PATH_REC_NUMB_PATH, PROBE_MS, GFP_KERNEL, member_probed,
				 (void *)(unsigned long)name, &query);
	if (ret >= 0)
		return 0;
	xa_erase(&probes, name);
	member_put(m);
	return ret;
}

/* There was no answer of an SA, which another time may give one. */
static bool is_transient(int status)
{
	return status == -EAGAIN || status == -ETIMEDOUT || status == -EIO || status == -EINTR ||
	       status == -ENETRESET;
}

/* There is no membership: ask again after a while, or tell the owner. */
static void member_failed(struct cmx_sa_member *m, int status)
{
	if ((m->lost || is_transient(status)) && member_rejoins(m)) {
		if (!m->lost)
			m->delay_ms = 0;
		m->lost = true;
		m->asks = true;
		/* the QP must not keep others of the port from the group's new LID */
		cmx_mcast_detach(m->mc);
		member_queue_later(m);
	} else if (m->mc->ev) {
		cmx_mcast_done(m->mc, status, NULL, NULL);
	} else {
		m->lost = false;
		cmx_sa_member_unlist(m);
		cmx_mcast_lost(m->mc, -ENETRESET);
	}
}

static int sa_handler(int status, struct ib_sa_multicast *sa)
{
	struct cmx_sa_member *m = sa->context;

	WRITE_ONCE(m->status, status);
	member_queue(m, 0);
	return 0;
}

/* Its turn has come: 0, or why the request has ended at once. */
static int member_join(struct cmx_sa_member *m)
{
	struct ib_sa_multicast *sa;

	sa = ib_sa_join_multicast(&sa_client, m->dev->device, m->port, &m->rec, m->mask,
				  GFP_KERNEL, sa_handler, m);
	if (IS_ERR(sa))
		return PTR_ERR(sa);
	m->sa = sa;
	m->asked = true;
	return 0;
}

/*
 * The id's lock is held, so the outcome waits until @m->sa is there. A port that
 * was taken out of a partition may know before the SA does, which would let it in.
 */
static int member_ask(struct cmx_sa_member *m)
{
	int ret = 0;
	u16 index;

	m->probed = false;
	m->asks = true;
	if (m->lost)
		ret = ib_find_cached_pkey(m->dev->device, m->port, be16_to_cpu(m->rec.pkey),
					  &index);
	if (!ret)
		ret = cmx_sa_request_start(member_sa_queue(m), &m->req);
	if (ret == -EINPROGRESS)
		return 0;
	m->asks = false;
	if (!ret)
		ret = member_join(m);
	if (ret)
		cmx_sa_request_end(member_sa_queue(m), &m->req, ret);
	return ret;
}

/* Waits for a callback that runs, which takes no lock. */
static void member_free_sa(struct cmx_sa_member *m)
{
	if (m->sa)
		ib_sa_free_multicast(m->sa);
	m->sa = NULL;
}

/* There is an outcome: the next request takes its turn. */
static void member_request_end(struct cmx_sa_member *m, int status)
{
	bool answered = !status || status == -EINVAL;

	m->asked = false;
	/* the SA may have chosen an MGID, which nobody knows then */
	if (status == -ETIMEDOUT)
		m->ghost = m->rec.mgid.raw[0];
	else if (answered)
		m->ghost = false;
	cmx_sa_request_end(member_sa_queue(m), &m->req, answered ? 0 : status);
}

/* The id's lock is held. Nothing is to be had any more, but it was not left yet. */
static void member_give_up(struct cmx_sa_member *m)
{
	m->asks = false;
	member_free_sa(m);
	member_request_end(m, -ECANCELED);
}

/* The id's lock is held. */
static void member_step(struct cmx_sa_member *m, int status)
{
	if (!member_lives(m)) {
		member_give_up(m);
		return;
	}
	if (status < 0)
		member_free_sa(m);
	if (status == -EINVAL && m->mc->ev && !m->probed) {
		m->probed = true;
		status = member_probe(m);
		if (!status)
			return;
	}
	if (status != NO_STATUS)
		member_request_end(m, status);
	if (!status)
		member_joined(m, &m->sa->rec);
	else if (status == NO_STATUS && m->asks && !m->sa)
		status = member_ask(m);
	else if (status == NO_STATUS && m->report && m->sa)
		member_report(m);
	if (status < 0)
		member_failed(m, status);
}

static void member_end(struct cmx_sa_member *m)
{
	m->ended = true;
	member_free_sa(m);
	member_request_end(m, -ECANCELED);
	cmx_device_put(m->dev);
	member_put(m);
}

/*
 * ib_sa does not report the end of a leave. Until then it keeps the group, and the join state has
 * been cleared there already.
 */
static bool member_is_leaving(struct cmx_sa_member *m)
{
	struct ib_sa_mcmember_rec rec;

	return !ib_sa_get_mcmember_rec(m->dev->device, m->port, &m->rec.mgid, &rec) &&
	       !(rec.join_state & m->rec.join_state);
}

static void member_await_leave(struct cmx_sa_member *m)
{
	unsigned int ms = jiffies_to_msecs(jiffies - m->req.since);

	if (!member_is_leaving(m)) {
		cmx_sa_request_end(member_sa_queue(m), &m->req, 0);
		member_end(m);
	} else if (ms >= LEAVE_MS) {
		cmx_sa_request_end(member_sa_queue(m), &m->req, -ETIMEDOUT);
		member_end(m);
	} else {
		member_queue(m, min_t(unsigned int, ms / 4 + 1, LEAVE_POLL_MS));
	}
}

/*
 * The SA is told that a membership has ended. A join that it did not answer may have made a record:
 * only a join that succeeds lets ib_sa leave.
 */
static void member_leave(struct cmx_sa_member *m)
{
	int ret;

	if (!m->sa && (!m->ghost || m->tries == GHOST_TRIES)) {
		member_end(m);
		return;
	}
	ret = cmx_sa_request_start(member_sa_queue(m), &m->req);
	if (ret == -EINPROGRESS)
		return;
	if (!m->sa)
		m->tries++;
	if (!ret && m->sa) {
		m->rec.mgid = m->sa->rec.mgid;
		member_free_sa(m);
		m->leaving = true;
		ret = -EAGAIN;
	} else if (!ret) {
		ret = member_join(m);
	}
	if (ret == -EAGAIN || ret == -ETIMEDOUT)
		member_queue(m, 1);
	else if (ret)
		member_end(m);
}

/* It was left. The lock of its former id is not held. */
static void member_step_left(struct cmx_sa_member *m, int status)
{
	if (m->ended)
		return;
	if (status < 0)
		member_free_sa(m);
	if (status != NO_STATUS)
		member_request_end(m, status);
	if (cmx_sa_queue_is_stopped(member_sa_queue(m)))
		member_end(m);
	else if (m->leaving)
		member_await_leave(m);
	else if (!m->asked)
		member_leave(m);
}

/* No lock is held. */
static void member_part(struct cmx_sa_member *m)
{
	struct cmx_mcast *mc = m->mc;
	struct cmx_event *ev = mc->ev;

	m->mc = NULL;
	/* left before the outcome was known */
	mc->ev = NULL;
	if (ev)
		cmx_event_free(ev);
	cmx_mcast_put(mc);
}

static void member_work(struct work_struct *work)
{
	struct cmx_sa_member *m = container_of(to_delayed_work(work), struct cmx_sa_member, work);
	int status = xchg(&m->status, NO_STATUS);
	struct cmx_priv *p;
	bool left = true;

	if (m->mc) {
		p = cmx_id_get(m->mc->p);
		mutex_lock(&p->lock);
		left = m->mc->backend != m;
		if (!left)
			member_step(m, status);
		mutex_unlock(&p->lock);
		p->sink->flush(p);
		if (left)
			member_part(m);
		cmx_id_put(p);
	}
	if (left)
		member_step_left(m, status);
	member_put(m);
}

/* Whether the id can have it: it has one only, and so has a QP of ours. */
static bool qkey_fits(struct cmx_priv *p, __be32 qkey)
{
	u32 ids = p->qkey;

	if (!ids && p->id.qp && cmx_default_qkey(p, &ids))
		return false;
	return !ids || ids == be32_to_cpu(qkey);
}

static struct cmx_sa_member *member_new(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return NULL;
	kref_init(&m->ref);
	m->mc = mc;
	m->dev = mc->p->dev;
	cmx_device_get(m->dev);
	m->port = mc->p->id.port_num;
	cmx_sa_request_init(&m->req, mc->p->quota, member_wake);
	m->status = NO_STATUS;
	INIT_DELAYED_WORK(&m->work, member_work);
	return m;
}

static int sa_join(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = member_new(mc);
	int ret;

	if (!m)
		return -ENOMEM;
	ret = cmx_mcast_fill_rec(mc, &m->rec, &m->mask);
	if (ret)
		goto err;
	if (!qkey_fits(mc->p, m->rec.qkey)) {
		cmx_mcast_done(mc, -EINVAL, NULL, NULL);
		goto err;
	}
	ret = member_ask(m);
	if (ret)
		goto err;
	kref_get(&mc->ref);
	mc->backend = m;
	return 0;

err:
	cmx_device_put(m->dev);
	kfree(m);
	return ret;
}

static void sa_leave(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = mc->backend;

	if (!m)
		return;
	mc->backend = NULL;
	cmx_sa_member_unlist(m);
	member_queue(m, 0);
}

static void sa_report(struct cmx_mcast *mc)
{
	struct cmx_sa_member *m = mc->backend;

	/* lost once more, or not joined yet: there will be an event */
	if (!m || !m->sa || m->asked || mc->ev)
		return;
	m->report = true;
	member_queue_later(m);
}

const struct cmx_mcast_ops cmx_mcast_sa_ops = {
	.join = sa_join,
	.leave = sa_leave,
	.report = sa_report,
};

int cmx_mcast_sa_init_module(void)
{
	ib_sa_register_client(&sa_client);
	return 0;
}

void cmx_mcast_sa_exit_module(void)
{
	ib_sa_unregister_client(&sa_client);
}
