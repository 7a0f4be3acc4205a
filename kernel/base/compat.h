/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All differences between kernel versions, and declarations of functions that ib_core exports but
 * declares in no public header.
 */
#ifndef CMX_COMPAT_H
#define CMX_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port);

/* Prepare an MRA, which makes the peer wait longer. It is sent only if the peer retransmits. */
static inline void cmx_send_mra(struct ib_cm_id *cm)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	ib_prepare_cm_mra(cm);
#else
	ib_send_cm_mra(cm, IB_CM_MRA_FLAG_DELAY | 24, NULL, 0);
#endif
}

/* Type of the number of path records that the callback of ib_sa_path_rec_get() receives */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define cmx_sa_num unsigned int
#else
#define cmx_sa_num int
#endif

/*
 * Saves the automatic initialisation of a large local variable in a hot path, if the variable is
 * always written before it is read.
 */
#ifndef __uninitialized
#define __uninitialized
#endif

/* For use in TRACE_EVENT() only, where __assign_str() is defined. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define cmx_assign_str(dst, src) __assign_str(dst)
#else
#define cmx_assign_str(dst, src) __assign_str(dst, src)
#endif

#endif
