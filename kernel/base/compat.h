/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All differences between kernels, and declarations of functions that ib_core exports but declares
 * in no public header. Distributions backport, so the headers decide and not the version number.
 * Kbuild looks for declarations that are no macros, and for headers, and defines CMX_HAVE_....
 */
#ifndef CMX_COMPAT_H
#define CMX_COMPAT_H

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#ifdef CMX_HAVE_IPV6_STUBS
#include <net/ipv6_stubs.h>
#endif

unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port);

/* Prepare an MRA, which makes the peer wait longer. It is sent only if the peer retransmits. */
static inline void cmx_mra_send(struct ib_cm_id *cm)
{
#ifdef IB_CM_MRA_FLAG_DELAY
	ib_send_cm_mra(cm, IB_CM_MRA_FLAG_DELAY | 24, NULL, 0);
#else
	ib_prepare_cm_mra(cm);
#endif
}

/*
 * Default of the parameter max_user_requests. Since Linux 6.17 ib_mad limits the MADs that wait
 * for a reply. No header shows it, but the kernels before have the macro.
 */
#ifdef IB_CM_MRA_FLAG_DELAY
#define CMX_MAX_USER_REQUESTS 0
#else
#define CMX_MAX_USER_REQUESTS 32
#endif

/*
 * cmx_sa_num_param declares the number of path records, a parameter of the callback of
 * ib_sa_path_rec_get(), and cmx_sa_num is its value. An old ib_sa passes one record and no number.
 */
#if defined(CMX_HAVE_SA_UNSIGNED_NUM)
#define cmx_sa_num_param unsigned int num,
#define cmx_sa_num num
#elif defined(CMX_HAVE_SA_NUM)
#define cmx_sa_num_param int num,
#define cmx_sa_num num
#else
#define cmx_sa_num_param
#define cmx_sa_num 1
#endif

/* An old route has no path records of a single direction. */
#ifdef CMX_HAVE_PATH_DIRECTIONS
/* Return: the member of @route for a record with these flags, or NULL if they are not valid. */
static inline struct sa_path_rec **cmx_route_rec_find(struct rdma_route *route,
						      const struct sa_path_rec *rec)
{
	if (!rec->flags || rec->flags & IB_PATH_GMP)
		return &route->path_rec;
	if (rec->flags & IB_PATH_INBOUND)
		return &route->path_rec_inbound;
	return rec->flags & IB_PATH_OUTBOUND ? &route->path_rec_outbound : NULL;
}

static inline void cmx_route_directions_free(struct rdma_route *route)
{
	kfree(route->path_rec_inbound);
	kfree(route->path_rec_outbound);
	route->path_rec_inbound = NULL;
	route->path_rec_outbound = NULL;
}

static inline void cmx_req_directions_set(struct ib_cm_req_param *req,
					  const struct rdma_route *route)
{
	req->primary_path_inbound = route->path_rec_inbound;
	req->primary_path_outbound = route->path_rec_outbound;
}
#else
#define num_pri_alt_paths num_paths

static inline struct sa_path_rec **cmx_route_rec_find(struct rdma_route *route,
						      const struct sa_path_rec *rec)
{
	return &route->path_rec;
}

static inline void cmx_route_directions_free(struct rdma_route *route) {}

static inline void cmx_req_directions_set(struct ib_cm_req_param *req,
					  const struct rdma_route *route) {}
#endif

#ifndef container_of_const
#define container_of_const container_of
#endif

#ifndef memset_after
#define memset_after(obj, value, member) \
	memset((u8 *)(obj) + offsetofend(typeof(*(obj)), member), value, \
	       sizeof(*(obj)) - offsetofend(typeof(*(obj)), member))
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
