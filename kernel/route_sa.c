// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * InfiniBand: the subnet administrator (SA) knows the path. A record that the
 * cache of the port has needs no question.
 *
 * ib_sa repeats a question ten times within its time. With RESOLVE_RETRIES we
 * go on asking until as many times that time are over, also while there is no
 * SA: one that takes over needs a moment.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>
#include "compat.h"
#include "device.h"
#include "event.h"
#include "path_cache.h"
#include "sockaddr.h"
#include "transport.h"
#include "verbs.h"
#include "wire.h"

static struct ib_sa_client sa_client;

/**
 * struct cmx_sa_op - a question under way
 * @p: the id, with a reference
 * @ev: the event that it will end with, or NULL when posted
 * @query: the query of ib_sa, whose callback frees this; NULL: @again does
 * @query_id: names it
 * @timeout_ms: how long to wait for an answer
 * @deadline: jiffies: no question after this
 * @epoch: of the cache when it had no answer
 * @mask: the fields of @rec that are asked for
 * @rec: the question
 * @again: asks again
 *
 * It is p's operation while p->sa_op points to it, else only memory.
 */
struct cmx_sa_op {
	struct cmx_priv *p;
	struct cmx_event *ev;
	struct ib_sa_query *query;
	int query_id;
	unsigned long timeout_ms;
	unsigned long deadline;
	u32 epoch;
	ib_sa_comp_mask mask;
	struct sa_path_rec rec;
	struct delayed_work again;
};

static void op_free(struct cmx_sa_op *op)
{
	if (op->ev)
		cmx_event_free(op->ev);
	cmx_id_put(op->p);
	kfree(op);
}

/* What the SA derives its quality of service from, each family in its own way */
static void ask_qos(struct cmx_priv *p, struct sa_path_rec *rec, ib_sa_comp_mask *mask)
{
	const struct sockaddr *src = cmx_src(p);
	__be32 flowinfo;

	if (src->sa_family == AF_INET) {
		rec->qos_class = cpu_to_be16(cmx_opt_tos(p));
		*mask |= IB_SA_PATH_REC_QOS_CLASS;
		return;
	}
	flowinfo = src->sa_family == AF_IB ? ((const struct sockaddr_ib *)src)->sib_flowinfo
					   : ((const struct sockaddr_in6 *)src)->sin6_flowinfo;
	rec->traffic_class = cmx_opt_tos(p) ?: be32_to_cpu(flowinfo) >> 20;
	*mask |= IB_SA_PATH_REC_TRAFFIC_CLASS;
}

static void make_question(struct cmx_priv *p, struct sa_path_rec *rec, ib_sa_comp_mask *mask)
{
	struct rdma_dev_addr *addr = &p->id.route.addr.dev_addr;

	*mask = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_PKEY |
		IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_REVERSIBLE | IB_SA_PATH_REC_SERVICE_ID;
	rec->rec_type = rdma_cap_opa_ah(p->id.device, p->id.port_num) ? SA_PATH_REC_TYPE_OPA
								       : SA_PATH_REC_TYPE_IB;
	rdma_addr_get_sgid(addr, &rec->sgid);
	rdma_addr_get_dgid(addr, &rec->dgid);
	rec->pkey = cpu_to_be16(cmx_pkey(p));
	rec->numb_path = 1;
	rec->reversible = 1;
	rec->service_id = cmx_service_id(p->id.ps, cmx_dst(p));
	ask_qos(p, rec, mask);
	if (cmx_opt_set(p, CMX_OPT_SL)) {
		rec->sl = p->opt.sl;
		*mask |= IB_SA_PATH_REC_SL;
	}
	if (cmx_opt_set(p, CMX_OPT_PATH_MTU)) {
		rec->mtu_selector = IB_SA_EQ;
		rec->mtu = p->opt.path_mtu;
		*mask |= IB_SA_PATH_REC_MTU_SELECTOR | IB_SA_PATH_REC_MTU;
	}
}

static int keep(struct sa_path_rec **to, const struct sa_path_rec *rec)
{
	kfree(*to);
	*to = kmemdup(rec, sizeof(*rec), GFP_KERNEL);
	return *to ? 0 : -ENOMEM;
}

/* Some SAs give one record for each direction, and one for both. */
static int install(struct cmx_priv *p, const struct sa_path_rec *recs, unsigned int num)
{
	struct rdma_route *route = &p->id.route;
	unsigned int i;
	int ret = 0;

	cmx_route_free(p);
	for (i = 0; i < num && !ret; i++) {
		if (!recs[i].flags || recs[i].flags & IB_PATH_GMP)
			ret = keep(&route->path_rec, &recs[i]);
		else if (recs[i].flags & IB_PATH_INBOUND)
			ret = keep(&route->path_rec_inbound, &recs[i]);
		else if (recs[i].flags & IB_PATH_OUTBOUND)
			ret = keep(&route->path_rec_outbound, &recs[i]);
		else
			ret = -EINVAL;
	}
	if (!ret && !route->path_rec)
		ret = -EINVAL;
	if (ret) {
		cmx_route_free(p);
		return ret;
	}
	route->num_pri_alt_paths = 1;
	if (cmx_opt_set(p, CMX_OPT_FLOW_LABEL))
		route->path_rec->flow_label = cpu_to_be32(p->opt.flow_label);
	if (cmx_opt_set(p, CMX_OPT_HOP_LIMIT))
		route->path_rec->hop_limit = p->opt.hop_limit;
	return 0;
}

static struct cmx_path_cache *cache_of(struct cmx_priv *p)
{
	return cmx_device_port(p->dev, p->id.port_num)->paths;
}

/* Ends the operation with its event. */
static void finish(struct cmx_sa_op *op, int status, const struct sa_path_rec *recs,
		   unsigned int num)
{
	struct cmx_priv *p = op->p;
	struct cmx_path_key key;

	if (!status)
		status = install(p, recs, num);
	if (!status && num == 1) {
		cmx_path_key(&key, &op->rec, op->mask);
		cmx_path_cache_add(cache_of(p), &key, recs, op->epoch);
	}
	p->sa_op = NULL;
	cmx_state_move(p, CMX_IN(ROUTE_QUERY),
		       status ? CMX_ADDR_RESOLVED : CMX_ROUTE_RESOLVED);
	op->ev->ev.event = status ? RDMA_CM_EVENT_ROUTE_ERROR : RDMA_CM_EVENT_ROUTE_RESOLVED;
	op->ev->ev.status = status;
	cmx_event_post(op->ev);
	op->ev = NULL;
}

static void answered(int status, struct sa_path_rec *recs, cmx_sa_num num, void *context);

static int ask(struct cmx_sa_op *op)
{
	struct cmx_priv *p = op->p;
	int ret;

	op->query = NULL;
	ret = ib_sa_path_rec_get(&sa_client, p->id.device, p->id.port_num, &op->rec, op->mask,
				 op->timeout_ms, GFP_KERNEL, answered, op, &op->query);
	if (ret < 0) {
		op->query = NULL;
		return ret;
	}
	op->query_id = ret;
	return 0;
}

/* Ask once more, if there is time, and something may have changed: 0. */
static int ask_again(struct cmx_sa_op *op, int status)
{
	unsigned long now = jiffies, wait;

	if ((status != -ETIMEDOUT && status != -EAGAIN) || time_after_eq(now, op->deadline))
		return status;
	op->timeout_ms = min_t(unsigned long, op->timeout_ms, jiffies_to_msecs(op->deadline - now));
	if (status == -ETIMEDOUT)
		status = ask(op);
	if (status != -EAGAIN)
		return status;
	/* No SA is known: that changes without notice. */
	wait = max(1UL, msecs_to_jiffies(op->timeout_ms / 10));
	queue_delayed_work(cmx_wq, &op->again, wait);
	return 0;
}

static void again(struct work_struct *work)
{
	struct cmx_sa_op *op = container_of(to_delayed_work(work), struct cmx_sa_op, again);
	struct cmx_priv *p = op->p;
	bool done = true;
	int ret;

	mutex_lock(&p->lock);
	if (p->sa_op == op && p->state == CMX_ROUTE_QUERY) {
		ret = ask(op);
		if (ret)
			ret = ask_again(op, ret);
		if (ret)
			finish(op, ret, NULL, 0);
		else
			done = false;
	}
	if (done && p->sa_op == op)
		p->sa_op = NULL;
	mutex_unlock(&p->lock);
	if (done)
		op_free(op);
}

/*
 * From ib_sa, exactly once for each query. A ULP's handler may wait for other
 * answers of the SA, so it does not run from here: posting an event has it run.
 */
static void answered(int status, struct sa_path_rec *recs, cmx_sa_num num, void *context)
{
	struct cmx_sa_op *op = context;
	struct cmx_priv *p = op->p;
	bool done = true;

	mutex_lock(&p->lock);
	if (p->sa_op == op && p->state == CMX_ROUTE_QUERY) {
		if (status)
			status = ask_again(op, status);
		else
			finish(op, num ? 0 : -EINVAL, recs, num);
		if (status)
			finish(op, status, NULL, 0);
		done = p->sa_op != op;
	} else if (p->sa_op == op) {
		p->sa_op = NULL;
	}
	mutex_unlock(&p->lock);
	if (done)
		op_free(op);
}

static struct cmx_sa_op *op_new(struct cmx_priv *p, unsigned long timeout_ms)
{
	unsigned long tries = cmx_opt_set(p, CMX_OPT_RESOLVE_RETRIES) ? p->opt.resolve_retries : 0;
	struct cmx_sa_op *op;

	op = kzalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
	if (!op)
		return NULL;
	INIT_DELAYED_WORK(&op->again, again);
	op->p = cmx_id_get(p);
	op->timeout_ms = min_t(unsigned long, timeout_ms, INT_MAX);
	op->deadline = jiffies;
	if (tries)
		op->deadline += msecs_to_jiffies(min((tries + 1) * op->timeout_ms, (ulong)INT_MAX));
	return op;
}

static int sa_resolve(struct cmx_priv *p, unsigned long timeout_ms, struct cmx_event **ev)
{
	struct sa_path_rec rec;
	struct cmx_path_key key;
	struct cmx_sa_op *op;
	int ret;

	op = op_new(p, timeout_ms);
	if (!op)
		return -ENOMEM;
	make_question(p, &op->rec, &op->mask);
	cmx_path_key(&key, &op->rec, op->mask);
	if (cmx_path_cache_get(cache_of(p), &key, &rec, &op->epoch)) {
		op_free(op);
		return install(p, &rec, 1);
	}

	ret = ask(op);
	if (ret)
		ret = ask_again(op, ret);
	if (ret) {
		op_free(op);
		return ret;
	}
	p->sa_op = op;
	op->ev = *ev;
	*ev = NULL;
	return -EINPROGRESS;
}

static void sa_cancel(struct cmx_priv *p)
{
	struct cmx_sa_op *op = p->sa_op;

	if (!op)
		return;
	p->sa_op = NULL;
	if (op->query)
		ib_sa_cancel_query(op->query_id, op->query);
	else if (cancel_delayed_work(&op->again))
		op_free(op);
}

static void sa_stale(struct cmx_priv *p)
{
	union ib_gid dgid;

	rdma_addr_get_dgid(&p->id.route.addr.dev_addr, &dgid);
	cmx_path_cache_forget(cache_of(p), &dgid);
}

const struct cmx_route_ops cmx_route_sa_ops = {
	.resolve = sa_resolve,
	.cancel = sa_cancel,
	.stale = sa_stale,
};

int cmx_sa_init_module(void)
{
	ib_sa_register_client(&sa_client);
	return 0;
}

/* Waits for the callbacks that are still to come. */
void cmx_sa_exit_module(void)
{
	ib_sa_unregister_client(&sa_client);
}
