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
#include "sa_client.h"
#include "service.h"
#include "service_sa.h"
#include "sockaddr.h"

#ifdef CMX_HAVE_SA_SERVICE_REC

/* ib_sa sends a query up to 11 times, every tenth of its timeout. */
#define QUERY_MS 2000

/* A reply may have thousands of records; programs take the first ones. */
#define MAX_SERVICE_RECS 256

/**
 * struct cmx_service_query - a query of ServiceRecords in progress
 * @id_priv: the id, with a reference
 * @ev: event that reports the result
 * @work: handles the reply
 * @status: 0 or -errno, from the reply
 * @result: the reply, or NULL
 *
 * The id uses it only while id_priv->service_query points to it. @work frees it.
 */
struct cmx_service_query {
	struct cmx_id_private *id_priv;
	struct cmx_event *ev;
	struct work_struct work;
	int status;
	struct cmx_service_result *result;
};

/* The first record is the peer. Caller must hold id_priv->lock. */
static void service_peer_set(struct cmx_id_private *id_priv, const struct cmx_service_rec *rec)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	struct sockaddr_ib dst = {
		.sib_family = AF_IB,
		.sib_pkey = rec->pkey,
		.sib_sid = rec->service_id,
		.sib_sid_mask = cpu_to_be64(U64_MAX),
	};
	union ib_gid dgid;

	lockdep_assert_held(&id_priv->lock);
	memcpy(&dst.sib_addr, rec->gid, sizeof(dst.sib_addr));
	memcpy(&dgid, rec->gid, sizeof(dgid));
	cmx_port_set_addr(id_priv, NULL, (struct sockaddr *)&dst);
	rdma_addr_set_dgid(addr, &dgid);
	ib_addr_set_pkey(addr, be16_to_cpu(rec->pkey));
}

/* Report the result. Caller must hold the lock of the id. */
static void service_query_finish(struct cmx_service_query *query)
{
	struct cmx_id_private *id_priv = query->id_priv;
	struct cmx_event *ev = query->ev;

	lockdep_assert_held(&id_priv->lock);
	id_priv->service_query = NULL;
	ev->ev.status = query->status;
	if (query->status) {
		ev->ev.event = (enum rdma_cm_event_type)CMX_EVENT_ADDRINFO_ERROR;
	} else {
		service_peer_set(id_priv, query->result->recs);
		kfree(id_priv->services);
		WRITE_ONCE(id_priv->services, query->result);
		query->result = NULL;
	}
	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), query->status ? CMX_BOUND : CMX_ADDR_RESOLVED);
	cmx_event_post(ev);
	query->ev = NULL;
}

static void service_reply_work(struct work_struct *work)
{
	struct cmx_service_query *query = container_of(work, struct cmx_service_query, work);
	struct cmx_id_private *id_priv = query->id_priv;

	mutex_lock(&id_priv->lock);
	if (id_priv->service_query == query)
		service_query_finish(query);
	mutex_unlock(&id_priv->lock);
	if (query->ev)
		cmx_event_free(query->ev);
	kfree(query->result);
	kfree(query);
	cmx_id_put(id_priv);
}

static int service_recs_copy(struct cmx_service_query *query, const struct sa_service_rec *recs,
			     u32 num)
{
	struct cmx_service_result *result;
	u32 i;

	result = cmx_charge_alloc(query->id_priv, struct_size(result, recs, num));
	if (!result)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		result->recs[i].service_id = recs[i].id;
		memcpy(result->recs[i].gid, recs[i].gid, sizeof(recs[i].gid));
		result->recs[i].pkey = recs[i].pkey;
		result->recs[i].lease = be32_to_cpu(recs[i].lease);
	}
	result->num = num;
	query->result = result;
	return 0;
}

/* The MADs of the port wait for this callback, so it does not take the id's lock. */
static void service_reply(int status, struct sa_service_rec *recs, unsigned int num, void *context)
{
	struct cmx_service_query *query = cmx_sa_name_take(context);

	if (!query)
		return;
	if (!status && !num)
		status = -ENODATA;
	if (!status)
		status = service_recs_copy(query, recs, min_t(u32, num, MAX_SERVICE_RECS));
	query->status = status;
	queue_work(cmx_wq, &query->work);
}

int cmx_sa_find_service(struct cmx_id_private *id_priv, const struct cmx_service *service,
			struct cmx_event **ev)
{
	struct sa_service_rec rec = {};
	struct cmx_service_query *query;
	ib_sa_comp_mask mask = 0;
	struct ib_sa_query *sa_query;
	u32 name;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	query = kzalloc(sizeof(*query), GFP_KERNEL_ACCOUNT);
	if (!query)
		return -ENOMEM;
	ret = cmx_sa_name_alloc(query, &name);
	if (ret) {
		kfree(query);
		return ret;
	}
	INIT_WORK(&query->work, service_reply_work);
	query->id_priv = cmx_id_get(id_priv);
	query->ev = *ev;
	if (service->has_id) {
		rec.id = cpu_to_be64(service->id);
		mask |= IB_SA_SERVICE_REC_SERVICE_ID;
	}
	if (service->name[0]) {
		memcpy(rec.name, service->name, sizeof(rec.name));
		mask |= IB_SA_SERVICE_REC_SERVICE_NAME;
	}
	ret = ib_sa_service_rec_get(&cmx_sa_client, id_priv->id.device, id_priv->id.port_num,
				    &rec, mask, QUERY_MS, GFP_KERNEL, service_reply,
				    (void *)(unsigned long)name, &sa_query);
	if (ret < 0) {
		xa_erase(&cmx_sa_names, name);
		kfree(query);
		cmx_id_put(id_priv);
		return ret;
	}
	id_priv->service_query = query;
	*ev = NULL;
	return 0;
}
#endif
