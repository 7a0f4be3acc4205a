/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every difference between kernels, and what ib_core exports without
 * declaring it in a public header.
 */
#ifndef CMX_COMPAT_H
#define CMX_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port);

/* Ask the peer for patience: sent only if it repeats itself. */
static inline void cmx_send_mra(struct ib_cm_id *cm)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	ib_prepare_cm_mra(cm);
#else
	ib_send_cm_mra(cm, IB_CM_MRA_FLAG_DELAY | 24, NULL, 0);
#endif
}

/* How many path records the callback of ib_sa_path_rec_get() has */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define cmx_sa_num unsigned int
#else
#define cmx_sa_num int
#endif

/* For a large local variable of a hot path that is written before it is read. */
#ifndef __uninitialized
#define __uninitialized
#endif

/* Used within TRACE_EVENT() only, whose includer has the macro. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define cmx_assign_str(dst, src) __assign_str(dst)
#else
#define cmx_assign_str(dst, src) __assign_str(dst, src)
#endif

#endif
