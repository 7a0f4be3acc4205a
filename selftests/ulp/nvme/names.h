/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Porting a ULP from rdma_cm to rdma_cmx is renaming: this is all that nvme-rdma and nvmet-rdma need,
 * put in front of their unchanged sources by the compiler. <rdma/cmx.h> has read <rdma/rdma_cm.h>
 * before the names change.
 */
#ifndef CMX_NAMES_H
#define CMX_NAMES_H

#include <rdma/cmx.h>

/* the sources have their own, and printk.h must not be first */
#undef pr_fmt
#undef rdma_create_id

#define rdma_cm_id			cmx_id
#define rdma_create_id			cmx_create_id
#define rdma_destroy_id			cmx_destroy_id
#define rdma_bind_addr			cmx_bind_addr
#define rdma_resolve_addr		cmx_resolve_addr
#define rdma_resolve_route		cmx_resolve_route
#define rdma_create_qp			cmx_create_qp
#define rdma_destroy_qp			cmx_destroy_qp
#define rdma_listen			cmx_listen
#define rdma_connect			cmx_connect
#define rdma_connect_locked		cmx_connect
#define rdma_accept			cmx_accept
#define rdma_reject			cmx_reject
#define rdma_disconnect			cmx_disconnect
#define rdma_notify			cmx_notify
#define rdma_set_afonly			cmx_set_afonly
#define rdma_set_service_type		cmx_set_service_type
#define rdma_event_msg			cmx_event_msg
#define rdma_reject_msg			cmx_reject_msg
#define rdma_consumer_reject_data	cmx_consumer_reject_data

#endif
