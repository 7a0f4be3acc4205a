/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All differences between kernels, and declarations of functions that ib_core exports but declares
 * in no public header. Distributions backport, so the headers decide and not the version number.
 * Kbuild looks for what is not a macro, and for headers, and defines CMX_HAVE_... if it is there.
 */
#ifndef CMX_COMPAT_H
#define CMX_COMPAT_H

#include <linux/mm.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>
#ifdef CMX_HAVE_IPV6_STUBS
#include <net/ipv6_stubs.h>
#endif

unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port);

/* Prepare an MRA, which makes the peer wait longer. It is sent only if the peer retransmits. */
static inline void cmx_send_mra(struct ib_cm_id *cm)
{
#ifdef IB_CM_MRA_FLAG_DELAY
	ib_send_cm_mra(cm, IB_CM_MRA_FLAG_DELAY | 24, NULL, 0);
#else
	ib_prepare_cm_mra(cm);
#endif
}

/* Type of the number of path records that the callback of ib_sa_path_rec_get() receives */
#ifdef CMX_HAVE_SA_UNSIGNED_NUM
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

#ifndef dst_rt6_info
#define dst_rt6_info(dst) container_of(dst, struct rt6_info, dst)
#endif

#if IS_ENABLED(CONFIG_IPV6)
static inline struct dst_entry *cmx_ip6_dst_lookup(struct net *net, struct flowi6 *fl6)
{
	/* This header exists as long as modules cannot call the function directly. */
#ifdef CMX_HAVE_IPV6_STUBS
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl6, NULL);
#else
	return ip6_dst_lookup_flow(net, NULL, fl6, NULL);
#endif
}
#endif

/* For use in TRACE_EVENT() only, where __assign_str() is defined. */
#ifdef CMX_HAVE_ASSIGN_STR_DST
#define cmx_assign_str(dst, src) __assign_str(dst)
#else
#define cmx_assign_str(dst, src) __assign_str(dst, src)
#endif

#endif
