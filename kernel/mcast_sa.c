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
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kref.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_cm_ib.h>
#include "compat.h"
#include "event.h"
#include "mcast.h"
#include "transport.h"
#include "verbs.h"

/* No outcome is known that was not handled. */
#define NO_STATUS 1

/* How long an SA may take to say that it is there */
#define PROBE_MS 1000

/* Wait before a lost membership is asked for again: doubled with each failure */
#define REJOIN_MIN_MS 32
#define REJOIN_MAX_MS 4096

/**
 * struct sa_member - what a membership has at ib_sa
 * @ref: one of &cmx_mcast.backend, one of @work while it is queued or runs
 * @mc: the membership, with a reference
 * @sa: ib_sa's, or NULL
 * @rec: what was asked for
 * @mask: which fields of @rec count
 * @delay_ms: the last wait
 * @status: outcome that ib_sa reported, or NO_STATUS; no lock
 * @lost: not a member, and @work will ask again
 * @report: a member, and @work will report that again: the QP could not be attached
 * @probed: refused, and it was asked whether there is an SA that did so
 * @node: in the table of members, from joining to leaving
 * @work: handles @status, asks again, and gives back @sa when it was left
 *
 * The id's lock protects all but @ref and @status. It was left when @mc has no
 * backend any more.
 */
struct sa_member {
	struct kref ref;
	struct cmx_mcast *mc;
	struct ib_sa_multicast *sa;
	struct ib_sa_mcmember_rec rec;
	ib_sa_comp_mask mask;
	unsigned int delay_ms;
	int status;
	bool lost;
	bool report;
	bool probed;
	struct hlist_node node;
	struct delayed_work work;
};

static struct ib_sa_client sa_client;
static DEFINE_HASHTABLE(members, 10);	/* by MGID */
static DEFINE_SPINLOCK(members_lock);	/* protects members */
static DEFINE_XARRAY_ALLOC1(probes);	/* members that wait for an answer, by name */

static void member_list(struct sa_member *m)
{
	spin_lock(&members_lock);
	if (hlist_unhashed(&m->node))
		hash_add(members, &m->node, jhash(&m->mc->mgid, sizeof(m->mc->mgid), 0));
	spin_unlock(&members_lock);
}

static void member_unlist(struct sa_member *m)
{
	spin_lock(&members_lock);
	hash_del(&m->node);
	spin_unlock(&members_lock);
}

static bool same_group(const struct sa_member *a, const struct sa_member *b)
{
	const struct cmx_id *x = &a->mc->p->id, *y = &b->mc->p->id;

	return x->device == y->device && x->port_num == y->port_num &&
	       !memcmp(&a->mc->mgid, &b->mc->mgid, sizeof(a->mc->mgid));
}

/* One line for the members of a port in a group, with the first of them */
static void show_group(struct seq_file *s, struct hlist_head *bucket, struct sa_member *m)
{
	const struct cmx_id *id = &m->mc->p->id;
	unsigned int users = 0, lost = 0;
	struct sa_member *other;

	hlist_for_each_entry(other, bucket, node) {
		if (!same_group(other, m))
			continue;
		if (!users && other != m)
			return;
		users++;
		lost += READ_ONCE(other->lost);
	}
	seq_printf(s, "%s/%u %pI6c %u mlid=%#x", dev_name(&id->device->dev), id->port_num,
		   &m->mc->mgid, users, m->mc->mlid);
	if (lost)
		seq_printf(s, " lost=%u", lost);
	seq_putc(s, '\n');
}

/**
 * cmx_mcast_sa_show() - the groups that InfiniBand ports are members of for us
 * @s: one line each is added
 */
void cmx_mcast_sa_show(struct seq_file *s)
{
	struct sa_member *m;
	unsigned int i;

	spin_lock(&members_lock);
	for (i = 0; i < HASH_SIZE(members); i++)
		hlist_for_each_entry(m, &members[i], node)
			show_group(s, &members[i], m);
	spin_unlock(&members_lock);
}

static void member_free(struct kref *ref)
{
	struct sa_member *m = container_of(ref, struct sa_member, ref);
	struct cmx_event *ev = m->mc->ev;

	/* left before the outcome was known */
	m->mc->ev = NULL;
	if (ev)
		cmx_event_free(ev);
	cmx_mcast_put(m->mc);
	kfree(m);
}

static void member_put(struct sa_member *m)
{
	kref_put(&m->ref, member_free);
}

/* Caller must hold a reference, or keep ib_sa's member, which does. */
static void member_queue(struct sa_member *m, unsigned int delay_ms)
{
	kref_get(&m->ref);
	if (mod_delayed_work(cmx_wq, &m->work, msecs_to_jiffies(delay_ms)))
		member_put(m);
}

/* The id's lock is held. */
static bool member_lives(const struct sa_member *m)
{
	return m->mc->backend == m && !(BIT(m->mc->p->state) & (CMX_IN(REMOVED) | CMX_IN(DEAD)));
}

/* Randomised exponential back-off: an SM that restarts drops all memberships at once. */
static void member_queue_later(struct sa_member *m)
{
	m->delay_ms = clamp(m->delay_ms * 2, REJOIN_MIN_MS, REJOIN_MAX_MS);
	member_queue(m, m->delay_ms / 2 + get_random_u32() % m->delay_ms / 2);
}

static bool member_rejoins(const struct sa_member *m)
{
	return cmx_opt_set(m->mc->p, CMX_OPT_MCAST_REJOIN) && m->mc->p->opt.mcast_rejoin;
}

/*
 * Adapters of rdmavt know one MLID for each MGID: the QP can be attached with a new one when all
 * others of the port have been detached, which their owners do as they learn of it.
 */
static void member_report(struct sa_member *m)
{
	m->report = cmx_mcast_again(m->mc, &m->sa->rec);
	if (m->report)
		member_queue_later(m);
}

static void member_joined(struct sa_member *m, struct ib_sa_mcmember_rec *rec)
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
	member_list(m);
}

static void member_probed(int status, struct sa_path_rec *recs, cmx_sa_num num, void *context)
{
	struct sa_member *m = xa_erase(&probes, (unsigned long)context);

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
static int member_probe(struct sa_member *m)
{
	struct cmx_priv *p = m->mc->p;
	struct sa_path_rec rec = {
		.dgid = m->rec.port_gid,
		.sgid = m->rec.port_gid,
		.numb_path = 1,
		.rec_type = rdma_cap_opa_ah(p->id.device, p->id.port_num) ? SA_PATH_REC_TYPE_OPA
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
	ret = ib_sa_path_rec_get(&sa_client, p->id.device, p->id.port_num, &rec,
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
static void member_failed(struct sa_member *m, int status)
{
	if (status == -EINVAL && m->mc->ev && !m->probed) {
		m->probed = true;
		status = member_probe(m);
		if (!status)
			return;
	}
	if ((m->lost || is_transient(status)) && member_rejoins(m)) {
		if (!m->lost)
			m->delay_ms = 0;
		m->lost = true;
		cmx_mcast_suspend(m->mc);
		member_queue_later(m);
	} else if (m->mc->ev) {
		cmx_mcast_done(m->mc, status, NULL, NULL);
	} else {
		m->lost = false;
		member_unlist(m);
		cmx_mcast_lost(m->mc, -ENETRESET);
	}
}

static int sa_handler(int status, struct ib_sa_multicast *sa)
{
	struct sa_member *m = sa->context;

	WRITE_ONCE(m->status, status);
	member_queue(m, 0);
	return 0;
}

/*
 * The id's lock is held, so the outcome waits until @m->sa is there. A port that
 * was taken out of a partition may know before the SA does, which would let it in.
 */
static int member_ask(struct sa_member *m)
{
	struct cmx_priv *p = m->mc->p;
	struct ib_sa_multicast *sa;
	u16 index;
	int ret;

	m->probed = false;
	if (m->lost) {
		ret = ib_find_cached_pkey(p->id.device, p->id.port_num, be16_to_cpu(m->rec.pkey),
					  &index);
		if (ret)
			return ret;
	}
	sa = ib_sa_join_multicast(&sa_client, p->id.device, p->id.port_num, &m->rec, m->mask,
				  GFP_KERNEL, sa_handler, m);
	if (IS_ERR(sa))
		return PTR_ERR(sa);
	m->sa = sa;
	return 0;
}

/* The id's lock is held. Waits for a callback that runs, which takes no lock. */
static void member_free_sa(struct sa_member *m)
{
	if (m->sa)
		ib_sa_free_multicast(m->sa);
	m->sa = NULL;
}

static void member_work(struct work_struct *work)
{
	struct sa_member *m = container_of(to_delayed_work(work), struct sa_member, work);
	struct cmx_priv *p = m->mc->p;
	int status;

	mutex_lock(&p->lock);
	status = xchg(&m->status, NO_STATUS);
	if (status < 0 || !member_lives(m))
		member_free_sa(m);
	if (member_lives(m)) {
		if (!status)
			member_joined(m, &m->sa->rec);
		else if (status == NO_STATUS && m->lost && !m->sa)
			status = member_ask(m);
		else if (status == NO_STATUS && m->report && m->sa)
			member_report(m);
		if (status < 0)
			member_failed(m, status);
	}
	mutex_unlock(&p->lock);
	p->sink->flush(p);
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

static struct sa_member *member_new(struct cmx_mcast *mc)
{
	struct sa_member *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return NULL;
	kref_init(&m->ref);
	m->mc = mc;
	m->status = NO_STATUS;
	INIT_DELAYED_WORK(&m->work, member_work);
	return m;
}

static int sa_join(struct cmx_mcast *mc)
{
	struct sa_member *m = member_new(mc);
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
	kfree(m);
	return ret;
}

static void sa_leave(struct cmx_mcast *mc)
{
	struct sa_member *m = mc->backend;

	if (!m)
		return;
	mc->backend = NULL;
	member_unlist(m);
	member_queue(m, 0);
	member_put(m);
}

static void sa_report(struct cmx_mcast *mc)
{
	struct sa_member *m = mc->backend;

	/* lost once more, or not joined yet: there will be an event */
	if (!m || !m->sa || mc->ev)
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
