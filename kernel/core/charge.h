/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CHARGE_H
#define CMX_CHARGE_H

#include <linux/types.h>

struct cmx_id_private;

/**
 * struct cmx_charge - memory that is allocated for an id outside its process
 * @memcg: the memory cgroup that is charged, with a reference; NULL: none
 * @old: the one that the thread charged before
 */
struct cmx_charge {
	struct mem_cgroup *memcg;
	struct mem_cgroup *old;
};

struct mem_cgroup *cmx_memcg_get_current(void);
struct mem_cgroup *cmx_memcg_tryget(struct mem_cgroup *memcg);
bool cmx_memcg_is_in(struct mem_cgroup *memcg, u64 id);

gfp_t cmx_charge_begin(struct cmx_charge *charge, struct cmx_id_private *id_priv);
bool cmx_charge_is_excessive(const struct cmx_charge *charge);
void cmx_charge_end(struct cmx_charge *charge);
void *cmx_charge_alloc(struct cmx_id_private *id_priv, size_t size);
void *cmx_charge_alloc_nofail(struct cmx_id_private *id_priv, size_t size);

#endif
