// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that is allocated for an id of a process, but not by that process: for a message of a
 * peer, a reply of the SA, or a work item; or by it, under a lock that others wait for. The memory
 * cgroup that opened the channel of the id is charged.
 *
 * The thread works for all users of the host, so it must not wait for the reclaim of one cgroup,
 * nor be throttled for it. Therefore the charge does not wait, and may exceed the limit. The next
 * process of the cgroup that allocates memory reclaims the excess. If the charge failed at once
 * instead, many servers would get no requests: the page cache fills a cgroup up to its limit, and
 * nobody reclaims it while the server only waits.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include "charge.h"
#include "event.h"

/*
 * Such an allocation does not sleep, may exceed the limit of the cgroup, and leaves the reserves of
 * the host to allocations in interrupts.
 */
#define CHARGE_GFP (GFP_ATOMIC | __GFP_NOMEMALLOC | __GFP_NOWARN | __GFP_ACCOUNT)

/* How far a cgroup may exceed its limit before requests to its listeners are dropped */
#define CHARGE_EXCESS (SZ_1M / PAGE_SIZE)

/**
 * cmx_memcg_get_current() - get the memory cgroup of the calling process
 *
 * Return: the cgroup with a reference, or NULL if it is the root: nothing is charged to that.
 */
struct mem_cgroup *cmx_memcg_get_current(void)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(current->mm);

	if (!memcg || parent_mem_cgroup(memcg))
		return memcg;
	mem_cgroup_put(memcg);
	return NULL;
}

#ifdef CONFIG_MEMCG
/**
 * cmx_memcg_tryget() - get a reference to a memory cgroup
 * @memcg: the cgroup, or NULL. An RCU grace period ago its last reference was not dropped yet
 *
 * Return: the cgroup with a reference, or NULL.
 */
struct mem_cgroup *cmx_memcg_tryget(struct mem_cgroup *memcg)
{
	return memcg && css_tryget(&memcg->css) ? memcg : NULL;
}

/**
 * cmx_memcg_is_in() - check where a memory cgroup is
 * @memcg: the cgroup, or NULL
 * @id: inode number of the folder of a cgroup
 *
 * Return: true if it is that cgroup or below it.
 */
bool cmx_memcg_is_in(struct mem_cgroup *memcg, u64 id)
{
	for (; memcg; memcg = parent_mem_cgroup(memcg))
		if (cgroup_id(memcg->css.cgroup) == id)
			return true;
	return false;
}

/**
 * cmx_charge_is_excessive() - check whether a cgroup exceeds its limit too far
 * @charge: from cmx_charge_begin()
 *
 * Return: true if the cgroup, or one of its ancestors, exceeds its limit too far.
 */
bool cmx_charge_is_excessive(const struct cmx_charge *charge)
{
	struct mem_cgroup *memcg;

	for (memcg = charge->memcg; memcg; memcg = parent_mem_cgroup(memcg))
		if (page_counter_read(&memcg->memory) >
		    READ_ONCE(memcg->memory.max) + CHARGE_EXCESS)
			return true;
	return false;
}
#else
struct mem_cgroup *cmx_memcg_tryget(struct mem_cgroup *memcg)
{
	return NULL;
}

bool cmx_memcg_is_in(struct mem_cgroup *memcg, u64 id)
{
	return false;
}

bool cmx_charge_is_excessive(const struct cmx_charge *charge)
{
	return false;
}
#endif

/**
 * cmx_charge_begin() - charge the memory that this thread allocates to the cgroup of an id
 * @charge: is initialised for cmx_charge_end()
 * @id_priv: the id; for a request the listener
 *
 * Context: Process context. No lock is needed.
 * Return: flags for the allocations, which start no I/O: a write may be for a disk that this
 *	connection attaches. They have __GFP_ACCOUNT if a cgroup is charged. Then an allocation does
 *	not sleep, and fails if the host is short of memory.
 */
gfp_t cmx_charge_begin(struct cmx_charge *charge, struct cmx_id_private *id_priv)
{
	const struct cmx_id_consumer_ops *consumer = id_priv->consumer;

	charge->memcg = consumer->memcg ? consumer->memcg(id_priv) : NULL;
	charge->old = set_active_memcg(charge->memcg);
	return charge->memcg ? CHARGE_GFP : GFP_NOIO;
}

/**
 * cmx_charge_end() - undo cmx_charge_begin()
 * @charge: from cmx_charge_begin()
 */
void cmx_charge_end(struct cmx_charge *charge)
{
	set_active_memcg(charge->old);
	mem_cgroup_put(charge->memcg);
}

/**
 * cmx_charge_alloc() - allocate memory that is charged to the cgroup of an id
 * @id_priv: the id; for a request the listener
 * @size: number of bytes
 *
 * Context: Process context, see cmx_charge_begin().
 * Return: the memory, which is zero; NULL if there is none.
 */
void *cmx_charge_alloc(struct cmx_id_private *id_priv, size_t size)
{
	struct cmx_charge charge;
	gfp_t gfp = cmx_charge_begin(&charge, id_priv);
	void *new = kzalloc(size, gfp);

	cmx_charge_end(&charge);
	return new;
}

/**
 * cmx_charge_alloc_nofail() - as cmx_charge_alloc(), where no caller could be told of an error
 * @id_priv: the id
 * @size: number of bytes
 *
 * Context: Process context, see cmx_charge_begin().
 * Return: the memory, which is zero. If the charge fails, it is not charged.
 */
void *cmx_charge_alloc_nofail(struct cmx_id_private *id_priv, size_t size)
{
	return cmx_charge_alloc(id_priv, size) ?: kzalloc(size, GFP_NOIO | __GFP_NOFAIL);
}
