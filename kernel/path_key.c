// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What tells one question to the SA from another.
 */
#include <linux/build_bug.h>
#include <linux/jhash.h>
#include <linux/string.h>
#include "path_key.h"

/* no holes: it is compared as bytes */
static_assert(sizeof(struct cmx_path_key) == 2 * sizeof(union ib_gid) + 24);

/**
 * cmx_path_key() - make the key of a question
 * @key: the result
 * @rec: the question
 * @mask: which of its fields count; the others are not looked at
 */
void cmx_path_key(struct cmx_path_key *key, const struct sa_path_rec *rec, ib_sa_comp_mask mask)
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
 * cmx_path_key_equal() - whether two questions have the same answer
 * @a: key of one
 * @b: key of the other
 */
bool cmx_path_key_equal(const struct cmx_path_key *a, const struct cmx_path_key *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/**
 * cmx_path_key_hash() - hash of a key
 * @key: the key
 */
u32 cmx_path_key_hash(const struct cmx_path_key *key)
{
	return jhash(key, sizeof(*key), 0);
}
