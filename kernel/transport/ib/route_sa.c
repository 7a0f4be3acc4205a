// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Path queries on InfiniBand: the subnet administrator (SA) knows the path. No query is needed for
 * a record that is in the path cache of the port.
 *
 * ib_sa sends a query up to 11 times, every tenth of its timeout. With RESOLVE_RETRIES we continue
 * for as many further timeouts, even while there is no SA, because a new SA needs a moment to take
 * over.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>
#include "charge.h"
#include "compat.h"
#include "device.h"
#include "event.h"
#include "ib.h"
#include "ib_port.h"
#include "keys.h"
#include "option_value.h"
#include "path_cache.h"
#include "route_rec.h"
#include "sa_query.h"
#include "service_sa.h"
#include "sockaddr.h"
#include "timer.h"
#include "transport.h"
#include "cma_hdr.h"

/*
 * Longest timeout of one query, of which ib_sa takes a tenth for each try. A longer timeout of the
 * consumer becomes several queries: since Linux 6.17 ib_mad limits the unanswered queries of all
 * users of a port, and a lost one should not occupy a place for days until it is sent again.
 */
#define MAX_QUERY_MS 20000UL

/* ibacm supplies at most three records, for GMPs, inbound and outbound; the SA supplies one. */
#define MAX_PATH_RECS 3

/**
 * struct path_query - a path query in progress
 * @sa: the query. Its status is -EAGAIN if it is to be sent (again)
 * @timeout_ms: how long to wait for a reply
 * @deadline: jiffies after which no query is sent
 * @needs_sa: the query fails if no SA is known when it is sent first
 * @drops: number of drops of the cache when it had no record
 * @key: what is asked
 * @num: number of records in @recs
 * @recs: the reply
 */
struct path_query {
	struct cmx_sa_query sa;
	unsigned long timeout_ms;
	unsigned long deadline;
	bool needs_sa;
	u64 drops;
	struct cmx_path_key key;
	unsigned int num;
	struct sa_path_rec recs[MAX_PATH_RECS];
};

static_assert(!offsetof(struct path_query, sa));

static struct path_query *to_path_query(struct cmx_sa_query *q)
{
	return container_of(q, struct path_query, sa);
}

/* Set the field from which the SA derives the quality of service, by address family. */
static void sa_query_set_qos(struct cmx_id_private *id_priv, struct sa_path_rec *rec,
			     ib_sa_comp_mask *mask)
{
	const struct sockaddr *src = cmx_src(id_priv);
	__be32 flowinfo;

	if (src->sa_family == AF_INET) {
		rec->qos_class = cpu_to_be16(cmx_opt_get(id_priv, CMX_OPT_TOS));
		*mask |= IB_SA_PATH_REC_QOS_CLASS;
		return;
	}
	flowinfo = src->sa_family == AF_IB ? ((const struct sockaddr_ib *)src)->sib_flowinfo
					   : ((const struct sockaddr_in6 *)src)->sin6_flowinfo;
	rec->traffic_class = cmx_opt_get(id_priv, CMX_OPT_TOS) ?: be32_to_cpu(flowinfo) >> 20;
	*mask |= IB_SA_PATH_REC_TRAFFIC_CLASS;
}

static void sa_query_init(struct cmx_id_private *id_priv, struct sa_path_rec *rec,
			  ib_sa_comp_mask *mask)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;

	*mask = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_PKEY |
		IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_REVERSIBLE | IB_SA_PATH_REC_SERVICE_ID;
	rec->rec_type = rdma_cap_opa_ah(id_priv->id.device, id_priv->id.port_num) ?
				SA_PATH_REC_TYPE_OPA :
				SA_PATH_REC_TYPE_IB;
	rdma_addr_get_sgid(addr, &rec->sgid);
	rdma_addr_get_dgid(addr, &rec->dgid);
	rec->pkey = cpu_to_be16(cmx_pkey_get(id_priv));
	rec->numb_path = 1;
	rec->reversible = 1;
	rec->service_id = cmx_service_id(id_priv->id.ps, cmx_dst(id_priv));
	sa_query_set_qos(id_priv, rec, mask);
	*mask |= cmx_path_rec_merge(rec, &id_priv->opt, CMX_PATH_OPTS_OF_QUERY);
}

static int sa_rec_replace(struct cmx_id_private *id_priv, struct sa_path_rec **to,
			  const struct sa_path_rec *rec)
{
	kfree(*to);
	*to = cmx_charge_alloc(id_priv, sizeof(*rec));
	if (!*to)
		return -ENOMEM;
	**to = *rec;
	return 0;
}

/* Some SAs return a record for each direction, and one for both. */
static int sa_route_set(struct cmx_id_private *id_priv, const struct sa_path_rec *recs,
			unsigned int num)
{
	struct rdma_route *route = &id_priv->id.route;
	struct sa_path_rec **to;
	unsigned int i;
	int ret = 0;

	cmx_route_free(id_priv);
	for (i = 0; i < num && !ret; i++) {
		to = cmx_route_rec_find(route, &recs[i]);
		ret = to ? sa_rec_replace(id_priv, to, &recs[i]) : -EINVAL;
	}
	if (!ret && !route->path_rec)
		ret = -EINVAL;
	if (ret) {
		cmx_route_free(id_priv);
		return ret;
	}
	route->num_pri_alt_paths = 1;
	route->path_rec->packet_life_time = min_t(u8, CMX_LIFETIME_MAX,
						  route->path_rec->packet_life_time);
	cmx_path_rec_merge(route->path_rec, &id_priv->opt, CMX_PATH_OPTS_OF_REPLY);
	return 0;
}

static struct cmx_path_cache *sa_path_cache(struct cmx_id_private *id_priv)
{
	return cmx_ib_port(id_priv->dev, id_priv->id.port_num)->paths;
}

/* Caller must hold id_priv->lock. */
static void path_query_finish(struct path_query *op, int status)
{
	struct cmx_id_private *id_priv = op->sa.id_priv;
	struct cmx_event *ev;

	lockdep_assert_held(&id_priv->lock);
	if (!status)
		status = op->num ? sa_route_set(id_priv, op->recs, op->num) : -EINVAL;
	if (!status && op->num == 1)
		cmx_path_cache_add(sa_path_cache(id_priv), &op->key, op->recs, op->drops);
	ev = cmx_sa_query_end(id_priv);
	cmx_state_move(id_priv, CMX_IN(ROUTE_QUERY),
		       status ? CMX_ADDR_RESOLVED : CMX_ROUTE_RESOLVED);
	ev->ev.event = status ? RDMA_CM_EVENT_ROUTE_ERROR : RDMA_CM_EVENT_ROUTE_RESOLVED;
	ev->ev.status = status;
	cmx_event_post(ev);
}

static void path_query_fill(struct cmx_sa_query *q, const void *recs, unsigned int num)
{
	struct path_query *op = to_path_query(q);

	op->num = min_t(unsigned int, num, MAX_PATH_RECS);
	memcpy(op->recs, recs, op->num * sizeof(*op->recs));
}

static void path_query_reply(int status, struct sa_path_rec *recs, cmx_sa_num_param void *context)
{
	cmx_sa_query_reply(context, status, path_query_fill, recs, cmx_sa_num);
}

static int path_query_send(struct path_query *op)
{
	const struct cmx_id *id = &op->sa.id_priv->id;
	int ret = cmx_sa_query_begin(&op->sa);

	if (ret)
		return ret;
	ret = ib_sa_path_rec_get(&cmx_sa_client, id->device, id->port_num, &op->key.rec,
				 op->key.mask, op->timeout_ms, GFP_KERNEL, path_query_reply,
				 cmx_sa_query_context(&op->sa), &op->sa.query);
	ret = cmx_sa_query_set_sent(&op->sa, ret);
	if (!ret)
		op->needs_sa = false;
	return ret;
}

/*
 * Repeat the query if there is time left and something may have changed. Return 0 if it is
 * repeated, else the error to report. Caller must hold id_priv->lock.
 */
static int path_query_retry(struct path_query *op, int status)
{
	unsigned long now = jiffies, wait;

	lockdep_assert_held(&op->sa.id_priv->lock);
	if ((status != -ETIMEDOUT && status != -EAGAIN) || time_after_eq(now, op->deadline))
		return status;
	if (status == -EAGAIN && op->needs_sa)
		return status;
	op->timeout_ms = min_t(unsigned long, op->timeout_ms, jiffies_to_msecs(op->deadline - now));
	if (status == -ETIMEDOUT)
		status = path_query_send(op);
	if (status != -EAGAIN)
		return status;
	/* No SA is known, and no event tells when this changes. */
	wait = max(1UL, msecs_to_jiffies(op->timeout_ms / 10));
	op->sa.status = -EAGAIN;
	cmx_timer_set(op->sa.id_priv, wait);
	return 0;
}

static int path_query_start(struct path_query *op)
{
	int ret = path_query_send(op);

	return ret ? path_query_retry(op, ret) : 0;
}

/* Handle the reply, or send the query again. */
static void path_query_step(struct cmx_id_private *id_priv)
{
	struct path_query *op = to_path_query(id_priv->sa_query);
	const int reply = cmx_sa_query_status(&op->sa);
	int status = reply;

	lockdep_assert_held(&id_priv->lock);
	if (reply == -EINPROGRESS)
		return;
	if (reply)
		status = reply == -EAGAIN ? path_query_start(op) : path_query_retry(op, reply);
	if (!reply || status)
		path_query_finish(op, status);
}

static struct path_query *path_query_new(struct cmx_id_private *id_priv, unsigned long timeout_ms)
{
	unsigned long tries = cmx_opt_get(id_priv, CMX_OPT_RESOLVE_RETRIES);
	struct path_query *op;

	op = cmx_charge_alloc(id_priv, sizeof(*op));
	if (!op)
		return NULL;
	op->sa.id_priv = id_priv;
	timeout_ms = min_t(unsigned long, timeout_ms, INT_MAX);
	op->timeout_ms = min(timeout_ms, MAX_QUERY_MS);
	op->needs_sa = !tries;
	op->deadline = jiffies;
	if (tries || timeout_ms > MAX_QUERY_MS)
		op->deadline += msecs_to_jiffies(min_t(u64, (tries + 1ULL) * timeout_ms, INT_MAX));
	return op;
}

static int sa_resolve(struct cmx_id_private *id_priv, unsigned long timeout_ms,
		      struct cmx_event **ev)
{
	struct sa_path_rec rec;
	struct path_query *op;
	int ret;

	op = path_query_new(id_priv, timeout_ms);
	if (!op)
		return -ENOMEM;
	sa_query_init(id_priv, &op->key.rec, &op->key.mask);
	if (cmx_path_cache_get(sa_path_cache(id_priv), &op->key, &rec, &op->drops)) {
		kfree(op);
		return sa_route_set(id_priv, &rec, 1);
	}

	id_priv->sa_query = &op->sa;
	cmx_timer_start(id_priv, path_query_step, *ev, 0);
	ret = path_query_start(op);
	if (ret) {
		cmx_sa_query_end(id_priv);
		return ret;
	}
	*ev = NULL;
	return -EINPROGRESS;
}

/* A consumer has records in the format of InfiniBand, and a port of OPA needs its own format. */
static int sa_complete(struct cmx_id_private *id_priv, struct sa_path_rec *rec)
{
	struct sa_path_rec ib = *rec;

	if (rdma_cap_opa_ah(id_priv->id.device, id_priv->id.port_num))
		sa_convert_path_ib_to_opa(rec, &ib);
	return 0;
}

static u32 sa_mtu(const struct cmx_id_private *id_priv)
{
	const struct cmx_ib_port *port = id_priv->dev_port->priv;

	return READ_ONCE(port->mtu);
}

static void sa_invalidate(struct cmx_id_private *id_priv)
{
	cmx_route_invalidate_on(id_priv, id_priv->dev);
}

static void sa_cache_show(const struct cmx_dev_port *dp, struct seq_file *s)
{
	const struct cmx_ib_port *port = dp->priv;

	cmx_path_cache_show(port->paths, s);
}

const struct cmx_route_ops cmx_route_sa_ops = {
	.resolve = sa_resolve,
	.cancel = cmx_sa_query_cancel,
	.invalidate = sa_invalidate,
	.cache_show = sa_cache_show,
	.find_service = cmx_sa_find_service,
	.complete = sa_complete,
	.mtu = sa_mtu,
};
