// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The header of the user ABI can be included before and after the headers of librdmacm (CMA) and of
 * rdma_ucm (UCM), in C and C++, and has their numbers. "make check" compiles this file in each of
 * these ways; it is never linked.
 */
#ifdef CMX_FIRST
#include <rdma/cmx_ioctl.h>
#endif
#ifdef CMA
#include <rdma/rdma_cma.h>
#endif
#ifdef UCM
#include <rdma/rdma_user_cm.h>
#endif
#include <stddef.h>
#include <rdma/cmx_ioctl.h>

#ifdef __cplusplus
#define SAME(a, b) static_assert((int)(a) == (int)(b), #a)
#else
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)
#endif

SAME(CMX_PS_IPOIB, RDMA_PS_IPOIB);
SAME(CMX_PS_TCP, RDMA_PS_TCP);
SAME(CMX_PS_UDP, RDMA_PS_UDP);
SAME(CMX_PS_IB, RDMA_PS_IB);
SAME(CMX_OPTION_LEVEL_ID, RDMA_OPTION_ID);
SAME(CMX_OPTION_LEVEL_IB, RDMA_OPTION_IB);
SAME(CMX_ID_OPTION_TOS, RDMA_OPTION_ID_TOS);
SAME(CMX_ID_OPTION_REUSEADDR, RDMA_OPTION_ID_REUSEADDR);
SAME(CMX_ID_OPTION_AFONLY, RDMA_OPTION_ID_AFONLY);
SAME(CMX_ID_OPTION_ACK_TIMEOUT, RDMA_OPTION_ID_ACK_TIMEOUT);
SAME(CMX_IB_OPTION_PATH, RDMA_OPTION_IB_PATH);

#ifdef UCM
SAME(sizeof(struct cmx_conn_param), sizeof(struct rdma_ucm_conn_param));
SAME(sizeof(struct cmx_ud_param), sizeof(struct rdma_ucm_ud_param));
SAME(offsetof(struct cmx_ud_param, ah_attr), offsetof(struct rdma_ucm_ud_param, ah_attr));
#endif

#ifdef CMA
#include <infiniband/ib.h>

SAME(CMX_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ADDR_RESOLVED);
SAME(CMX_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ADDR_ERROR);
SAME(CMX_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED);
SAME(CMX_EVENT_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_ERROR);
SAME(CMX_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_REQUEST);
SAME(CMX_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_CONNECT_RESPONSE);
SAME(CMX_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_CONNECT_ERROR);
SAME(CMX_EVENT_UNREACHABLE, RDMA_CM_EVENT_UNREACHABLE);
SAME(CMX_EVENT_REJECTED, RDMA_CM_EVENT_REJECTED);
SAME(CMX_EVENT_ESTABLISHED, RDMA_CM_EVENT_ESTABLISHED);
SAME(CMX_EVENT_DISCONNECTED, RDMA_CM_EVENT_DISCONNECTED);
SAME(CMX_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_DEVICE_REMOVAL);
SAME(CMX_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_JOIN);
SAME(CMX_EVENT_MULTICAST_ERROR, RDMA_CM_EVENT_MULTICAST_ERROR);
SAME(CMX_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_ADDR_CHANGE);
SAME(CMX_EVENT_TIMEWAIT_EXIT, RDMA_CM_EVENT_TIMEWAIT_EXIT);

SAME(CMX_QPT_RC, IBV_QPT_RC);
SAME(CMX_QPT_UC, IBV_QPT_UC);
SAME(CMX_QPT_UD, IBV_QPT_UD);
SAME(CMX_QPT_XRC_INI, IBV_QPT_XRC_SEND);
SAME(CMX_QPT_XRC_TGT, IBV_QPT_XRC_RECV);
SAME(CMX_QPS_RESET, IBV_QPS_RESET);
SAME(CMX_QPS_INIT, IBV_QPS_INIT);
SAME(CMX_QPS_RTR, IBV_QPS_RTR);
SAME(CMX_QPS_RTS, IBV_QPS_RTS);
SAME(CMX_QPS_SQD, IBV_QPS_SQD);
SAME(CMX_QPS_SQE, IBV_QPS_SQE);
SAME(CMX_QPS_ERR, IBV_QPS_ERR);
SAME(CMX_NOTIFY_QP_FATAL, IBV_EVENT_QP_FATAL);
SAME(CMX_NOTIFY_COMM_EST, IBV_EVENT_COMM_EST);

SAME(sizeof(struct cmx_sockaddr_ib), sizeof(struct sockaddr_ib));
SAME(offsetof(struct cmx_sockaddr_ib, sib_sid), offsetof(struct sockaddr_ib, sib_sid));
SAME(offsetof(struct cmx_sockaddr_ib, sib_scope_id), offsetof(struct sockaddr_ib, sib_scope_id));
#endif
