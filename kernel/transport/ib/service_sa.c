// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries of ServiceRecords, by which the SA tells the ports that offer a service.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>
#include "charge.h"
#include "event.h"
#include "port_space.h"
#include "rule.h"
#include "sa_query.h"
#include "service.h"
#include "service_sa.h"
#include "sockaddr.h"
#include "timer.h"

#ifdef CMX_HAVE_SA_SERVICE_REC

/* ib_sa sends a query up to 11 times, every tenth of its timeout. */
#define QUERY_MS 2000

/**
 * struct service_query - a query of ServiceRecords in progress
 * @sa: the query
 * @num: number of records in @recs
 * @recs: the reply
 */
struct service_query {
	struct cmx_sa_query sa;
	u32 num;
	struct cmx_service_rec recs[CMX_MAX_SERVICE_RECS];
};

static_assert(!offsetof(struct service_query, sa));

static struct service_query *to_service_query(struct cmx_sa_query *q)
{
	return container_of(q, struct service_query, sa);
}

/* The first record is the peer. Caller must hold id_priv->lock. */
static void service_peer_set(struct cmx_id_private *id_priv, const struct cmx_service_rec *rec)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	struct sockaddr_ib dst = {
		.sib_family = AF_IB,
		.sib_pkey = cpu_to_be16(rec->pkey),
		.sib_sid = rec->service_id,
		.sib_sid_mask = cpu_to_be64(U64_MAX),
	};
	union ib_gid dgid;

	lockdep_assert_held(&id_priv->lock);
	memcpy(&dst.sib_addr, rec->gid, sizeof(dst.sib_addr));
	memcpy(&dgid, rec->gid, sizeof(dgid));
	cmx_port_set_addr(id_priv, NULL, (struct sockaddr *)&dst);
	rdma_addr_set_dgid(addr, &dgid);
	ib_addr_set_pkey(addr, rec->pkey);
}

/* Caller must hold id_priv->lock. */
static int service_result_set(struct cmx_id_private *id_priv, const struct service_query *op)
{
	struct cmx_service_result *result;

	lockdep_assert_held(&id_priv->lock);
	if (!op->num)
		return -ENODATA;
	result = cmx_charge_alloc(id_priv, struct_size(result, recs, op->num));
	if (!result)
		return -ENOMEM;
	result->num = op->num;
	memcpy(result->recs, op->recs, array_size(op->num, sizeof(*op->recs)));
	service_peer_set(id_priv, result->recs);
	kfree(id_priv->services);
	WRITE_ONCE(id_priv->services, result);
	return 0;
}

static void service_query_step(struct cmx_id_private *id_priv)
{
	struct service_query *op = to_service_query(id_priv->sa_query);
	int status = cmx_sa_query_status(&op->sa);
	struct cmx_event *ev;

	lockdep_assert_held(&id_priv->lock);
	if (status == -EINPROGRESS)
		return;
	status = status ?: service_result_set(id_priv, op);
	ev = cmx_sa_query_end(id_priv);
	if (status)
		ev->ev.event = (enum rdma_cm_event_type)CMX_EVENT_ADDRINFO_ERROR;
	else
		cmx_rule_apply(id_priv, id_priv);
	ev->ev.status = status;
	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), status ? CMX_BOUND : CMX_ADDR_RESOLVED);
	cmx_event_post(ev);
}

static void service_query_fill(struct cmx_sa_query *q, const void *from, unsigned int num)
{
	struct service_query *op = to_service_query(q);
	const struct sa_service_rec *recs = from;
	u32 i;

	op->num = min_t(u32, num, CMX_MAX_SERVICE_RECS);
	for (i = 0; i < op->num; i++) {
		op->recs[i].service_id = recs[i].id;
		memcpy(op->recs[i].gid, recs[i].gid, sizeof(recs[i].gid));
		op->recs[i].pkey = be16_to_cpu(recs[i].pkey);
		op->recs[i].lease = be32_to_cpu(recs[i].lease);
	}
}

static void service_reply(int status, struct sa_service_rec *recs, unsigned int num, void *context)
{
	cmx_sa_query_reply(context, status, service_query_fill, recs, num);
}

static int service_query_send(struct service_query *op, const struct cmx_service *service)
{
	const struct cmx_id *id = &op->sa.id_priv->id;
	struct sa_service_rec rec = {};
	ib_sa_comp_mask mask = 0;
	int ret;

	if (service->has_id) {
		rec.id = service->id;
		mask |= IB_SA_SERVICE_REC_SERVICE_ID;
	}
	if (service->name[0]) {
		memcpy(rec.name, service->name, sizeof(rec.name));
		mask |= IB_SA_SERVICE_REC_SERVICE_NAME;
	}
	ret = cmx_sa_query_begin(&op->sa);
	if (ret)
		return ret;
	ret = ib_sa_service_rec_get(&cmx_sa_client, id->device, id->port_num, &rec, mask, QUERY_MS,
				    GFP_KERNEL, service_reply, cmx_sa_query_context(&op->sa),
				    &op->sa.query);
	return cmx_sa_query_set_sent(&op->sa, ret);
}

int cmx_sa_find_service(struct cmx_id_private *id_priv, const struct cmx_service *service,
			struct cmx_event **ev)
{
	struct service_query *op;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	op = cmx_charge_alloc(id_priv, sizeof(*op));
	if (!op)
		return -ENOMEM;
	op->sa.id_priv = id_priv;
	id_priv->sa_query = &op->sa;
	cmx_timer_start(id_priv, service_query_step, *ev, 0);
	ret = service_query_send(op, service);
	if (ret) {
		cmx_sa_query_end(id_priv);
		return ret;
	}
	*ev = NULL;
	return 0;
}
#endif
