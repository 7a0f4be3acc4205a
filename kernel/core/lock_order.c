// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Teaches lockdep what comes before the lock of an id. Handlers of ib_cm and iw_cm and work items
 * for many ids take this lock. So a thread that holds it must not wait for rtnl, which any user can
 * keep busy, for memory of a process, or for a provider. lockdep would report such a wait only
 * after it has seen the opposite order, which no code of the module has. After this file has shown
 * it that order, the first wrong call is reported.
 */
#include <linux/mutex.h>
#include <linux/rtnetlink.h>
#include <linux/sched/mm.h>
#include "lock_order.h"

#ifdef CONFIG_LOCKDEP
/* Stands for a wait for a provider, a peer or memory of a process. It is no lock. */
struct lockdep_map cmx_wait_map = { .name = "cmx_wait" };
#endif

/**
 * cmx_id_lock_init() - initialize the lock of an id
 * @lock: the lock
 *
 * lockdep gives the locks that are initialized in one place one class.
 */
void cmx_id_lock_init(struct mutex *lock)
{
	mutex_init(lock);
}

/* Memory reclaim comes after the lock: ids allocate under it. */
static void lock_order_show_id(struct mutex *id_lock)
{
	mutex_lock(id_lock);
	fs_reclaim_acquire(GFP_KERNEL);
	fs_reclaim_release(GFP_KERNEL);
	mutex_unlock(id_lock);
}

static void lock_order_show(struct mutex *id_lock)
{
	rtnl_lock();
	lock_order_show_id(id_lock);
	rtnl_unlock();
	lock_map_acquire(&cmx_wait_map);
	lock_order_show_id(id_lock);
	lock_map_release(&cmx_wait_map);
}

/**
 * cmx_lock_order_init_module() - show lockdep the lock order at the head of id.c
 *
 * Does nothing in a kernel without CONFIG_PROVE_LOCKING.
 *
 * Return: 0.
 */
int cmx_lock_order_init_module(void)
{
	struct mutex id_lock;	/* only to name the class of the locks of ids */

	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		return 0;
	cmx_id_lock_init(&id_lock);
	lock_order_show(&id_lock);
	mutex_destroy(&id_lock);
	return 0;
}
