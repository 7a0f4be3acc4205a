/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PATH_CACHE_H
#define CMX_PATH_CACHE_H

#include <rdma/ib_sa.h>

struct cmx_path_cache;
struct seq_file;

/**
 * struct cmx_path_key - a query to the SA, which is the key of its reply in the cache
 * @rec: the query
 * @mask: fields of @rec that count
 *
 * Keys are compared and hashed as bytes. Therefore the whole struct is zeroed before the fields of
 * a query are set.
 */
struct cmx_path_key {
	struct sa_path_rec rec;
	ib_sa_comp_mask mask;
};

struct cmx_path_cache *cmx_path_cache_new(void);
void cmx_path_cache_free(struct cmx_path_cache *cache);

bool cmx_path_cache_get(struct cmx_path_cache *cache, const struct cmx_path_key *key,
			struct sa_path_rec *rec, u64 *drops);
void cmx_path_cache_add(struct cmx_path_cache *cache, const struct cmx_path_key *key,
			const struct sa_path_rec *rec, u64 drops);
void cmx_path_cache_drop_all(struct cmx_path_cache *cache);
void cmx_path_cache_drop_dgid(struct cmx_path_cache *cache, const union ib_gid *dgid);
void cmx_path_cache_show(struct cmx_path_cache *cache, struct seq_file *s);

#endif
