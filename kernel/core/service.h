/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SERVICE_H
#define CMX_SERVICE_H

#include <linux/slab.h>
#include <linux/workqueue.h>
#include "id.h"

/** define CMX_SERVICE_NAME - size of the name in a ServiceRecord */
#define CMX_SERVICE_NAME 64

/**
 * struct cmx_service - service to look for: its ID, its name, or both
 * @has_id: @id is valid
 * @id: service ID
 * @name: name, zero-terminated; empty: any
 */
struct cmx_service {
	bool has_id;
	u64 id;
	u8 name[CMX_SERVICE_NAME];
};

/**
 * struct cmx_service_query - query of ServiceRecords, and its result
 * @id_priv: the id, with a reference while @ev is not NULL
 * @ev: event that reports the result, or NULL when it has been posted
 * @work: handles the reply
 * @status: 0 or -errno, from the reply
 * @num: number of records in @recs
 * @recs: the records
 *
 * It belongs to the id if id_priv->service points to it, else to @work.
 */
struct cmx_service_query {
	struct cmx_id_private *id_priv;
	struct cmx_event *ev;
	struct work_struct work;
	int status;
	u32 num;
	struct cmx_service_rec *recs;
};

/* Free a query that has ended, or NULL. */
static inline void cmx_service_query_free(struct cmx_service_query *query)
{
	if (query)
		kfree(query->recs);
	kfree(query);
}

/*
 * Do not report the result of a query that has not ended. The query of ib_sa is not cancelled: it
 * ends by itself within some seconds. Caller must hold the id's lock.
 */
static inline void cmx_service_cancel(struct cmx_id_private *id_priv)
{
	if (id_priv->service && id_priv->service->ev)
		WRITE_ONCE(id_priv->service, NULL);
}

int cmx_resolve_service(struct cmx_id_private *id_priv, const struct cmx_service *service);

#endif
