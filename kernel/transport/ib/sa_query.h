/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SA_QUERY_H
#define CMX_SA_QUERY_H

#include "id.h"

struct ib_sa_query;

/**
 * struct cmx_sa_query - query of an id in progress, the first member of one of paths or services
 * @id_priv: the id, whose timer has the event and handles the reply
 * @query: query of ib_sa
 * @query_id: number of @query at ib_sa
 * @name: its name for ib_sa
 * @status: -EINPROGRESS until there is a reply, then that of the reply. See cmx_sa_query_status()
 *
 * The callback of ib_sa writes the reply under the lock of the names. The lock of the id protects
 * everything else. kfree() frees the whole query.
 */
struct cmx_sa_query {
	struct cmx_id_private *id_priv;
	struct ib_sa_query *query;
	int query_id;
	u32 name;
	int status;
};

static inline void *cmx_sa_query_context(const struct cmx_sa_query *q)
{
	return (void *)(unsigned long)q->name;
}

/* Caller must hold the lock of the id. */
int cmx_sa_query_status(const struct cmx_sa_query *q);
int cmx_sa_query_begin(struct cmx_sa_query *q);
int cmx_sa_query_set_sent(struct cmx_sa_query *q, int ret);
struct cmx_event *cmx_sa_query_end(struct cmx_id_private *id_priv);
void cmx_sa_query_cancel(struct cmx_id_private *id_priv);

void cmx_sa_query_reply(const void *context, int status,
			void (*fill)(struct cmx_sa_query *q, const void *recs, unsigned int num),
			const void *recs, unsigned int num);

extern struct ib_sa_client cmx_sa_client;

int cmx_sa_name_alloc(void *waiter, u32 *name);
void *cmx_sa_name_take(unsigned long name);

int cmx_sa_init_module(void);
void cmx_sa_exit_module(void);

#endif
