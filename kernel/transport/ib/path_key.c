// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Key that identifies a path query to the SA
 */
#include <linux/build_bug.h>
#include <linux/jhash.h>
#include <linux/string.h>
#include "path_key.h"

/* no holes, because keys are compared as bytes */
static_assert(sizeof(struct cmx_path_key) == 2 * sizeof(union ib_gid) + 24);

/**
 * cmx_path_key_init() - make the key of a path query
 * @key: receives the key
 * @rec: the query
 * @mask: fields of @rec that count; the others are ignored
 */
void cmx_path_key_init(struct cmx_path_key *key, const struct sa_path_rec *rec,
		       ib_sa_comp_mask mask)
{
	memset(key, 0, sizeof(*key));
	key->dgid = rec->dgid;
	key->sgid = rec->sgid;
	key->pkey = rec->pkey;
	key->mask = mask;
	if (mask & IB_SA_PATH_REC_SERVICE_ID)
		key->service_id = rec->service_id;
	if (mask & IB_SA_PATH_REC_QOS_CLASS)
		key->qos_class = rec->qos_class;
	if (mask & IB_SA_PATH_REC_TRAFFIC_CLASS)
		key->traffic_class = rec->traffic_class;
	if (mask & IB_SA_PATH_REC_SL)
		key->sl = rec->sl;
	if (mask & IB_SA_PATH_REC_MTU)
		key->mtu = rec->mtu;
}

/**
 * cmx_path_key_equal() - check whether two queries have the same reply
 * @a: key of one query
 * @b: key of the other query
 *
 * Return: true if they have.
 */
bool cmx_path_key_equal(const struct cmx_path_key *a, const struct cmx_path_key *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/**
 * cmx_path_key_hash() - hash a key
 * @key: the key
 *
 * Return: the hash value.
 */
u32 cmx_path_key_hash(const struct cmx_path_key *key)
{
	return jhash(key, sizeof(*key), 0);
}
