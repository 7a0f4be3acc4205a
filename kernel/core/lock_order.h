/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_LOCK_ORDER_H
#define CMX_LOCK_ORDER_H

#include <linux/lockdep.h>

struct mutex;

extern struct lockdep_map cmx_wait_map;

/**
 * cmx_id_lock_assert_none() - assert that the caller holds the lock of no id
 *
 * A function calls this before it may wait for a provider, for a peer or for memory of a process.
 * lockdep knows that this wait comes before the lock of an id, see cmx_lock_order_init_module(),
 * and reports the opposite order.
 *
 * The memory map of a process is not used for this: siw reads memory of a process under a lock of
 * the QP that ib_modify_qp() takes as well, and the QP of a ULP is modified with the lock of its id
 * held.
 */
static inline void cmx_id_lock_assert_none(void)
{
	lock_map_acquire(&cmx_wait_map);
	lock_map_release(&cmx_wait_map);
}

void cmx_id_lock_init(struct mutex *lock);
int cmx_lock_order_init_module(void);

#endif
