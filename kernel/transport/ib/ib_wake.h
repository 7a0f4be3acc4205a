/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_WAKE_H
#define CMX_IB_WAKE_H

#include <linux/bitops.h>
#include "id.h"

/* The id got the place in the window that it waited for. Other bits are enum ib_cm_event_type. */
#define CMX_IB_HAS_ROOM 31

/**
 * cmx_ib_wake() - let the work item of an id do something
 * @id_priv: the id, with a connection over ib_cm. The caller makes sure that it is not freed
 * @reason: CMX_IB_HAS_ROOM, or an enum ib_cm_event_type without private data
 *
 * Context: Any context.
 * Return: false if the work item has still to do the same.
 */
static inline bool cmx_ib_wake(struct cmx_id_private *id_priv, unsigned int reason)
{
	if (test_and_set_bit(reason, &id_priv->ib.reasons))
		return false;
	cmx_id_get(id_priv);
	if (!queue_work(cmx_wq, &id_priv->ib.work))
		cmx_id_put(id_priv);
	return true;
}

#endif
