/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ECE_H
#define CMX_ECE_H

#include "id.h"

/** define CMX_ECE_VENDOR_MAX - highest vendor ID; REQ and REP have 24 bits for it */
#define CMX_ECE_VENDOR_MAX 0xffffff

static inline bool cmx_ece_is_valid(const struct rdma_ucm_ece *ece)
{
	return ece->vendor_id <= CMX_ECE_VENDOR_MAX;
}

/* The pair as a process reads it */
static inline struct cmx_ece cmx_ece_to_user(const struct rdma_ucm_ece *ece)
{
	return (struct cmx_ece) { .vendor_id = ece->vendor_id, .options = ece->attr_mod };
}

/* Caller must hold id_priv->lock. */
void cmx_ece_store_local(struct cmx_id_private *id_priv, const struct rdma_ucm_ece *ece);
void cmx_ece_mark_offered(struct cmx_id_private *id_priv, struct rdma_ucm_ece *out);
bool cmx_ece_receive(struct cmx_id_private *id_priv, const struct rdma_ucm_ece *ece);

#endif
