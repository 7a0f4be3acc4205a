/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ID_TABLE_H
#define CMX_ID_TABLE_H

#include <linux/xarray.h>
#include "id.h"

/**
 * enum cmx_id_table_tag - tags of the pointers in the table, see xa_tag_pointer()
 * @CMX_TAG_ID: a &struct cmx_id_private
 * @CMX_TAG_MCAST: a &struct cmx_mcast
 */
enum cmx_id_table_tag {
	CMX_TAG_ID,
	CMX_TAG_MCAST,
};

extern struct xarray cmx_id_table;

int cmx_id_table_alloc(void *entry, u32 *index, gfp_t gfp);
struct cmx_id_private *cmx_id_table_get(unsigned long index);
struct cmx_id_private *cmx_id_walk_next(u64 *pos);
void cmx_id_table_exit_module(void);
bool cmx_id_walk_trylock(struct cmx_id_private *id_priv, unsigned int *lock_wait_ms);

#endif
