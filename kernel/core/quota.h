/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_QUOTA_H
#define CMX_QUOTA_H

#include <linux/types.h>

/*
 * Quota of one user. Memberships and ids are charged, including ids whose connection is still
 * closing, and memberships that were left but have not ended at the SA. NULL is the quota of a user
 * without a limit, in all functions.
 */
struct cmx_quota;

struct cmx_quota *cmx_quota_open(void);
void cmx_quota_put(struct cmx_quota *quota);

int cmx_quota_charge(struct cmx_quota *quota);
void cmx_quota_charge_always(struct cmx_quota *quota);
void cmx_quota_uncharge(struct cmx_quota *quota);
bool cmx_quota_is_half_used(const struct cmx_quota *quota);

#endif
