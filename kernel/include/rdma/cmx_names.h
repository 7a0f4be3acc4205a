/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The names of the kernel API of rdma_cm, for ULPs that are to be built for either stack. It is
 * included instead of <rdma/rdma_cm.h>; see Documentation/ulp-api.rst.
 */
#ifndef RDMA_CMX_NAMES_H
#define RDMA_CMX_NAMES_H

#include <rdma/ib_sa.h>
/* declares functions whose names are macros from here on */
#include <rdma/rdma_cm_ib.h>
#include <rdma/cmx.h>

/* The in-tree function has a bit mask of which it accepts these two values. */
static inline int cmx_names_join_multicast(struct cmx_id *id, struct sockaddr *addr, u8 join_state,
					   void *context)
{
	struct cmx_mcast_attr attr = {};

	switch (join_state) {
	case BIT(FULLMEMBER_JOIN):
		attr.join_state = CMX_MCAST_FULL;
		break;
	case BIT(SENDONLY_FULLMEMBER_JOIN):
		attr.join_state = CMX_MCAST_SENDONLY_FULL;
		break;
	default:
		return -EINVAL;
	}
	return cmx_join_multicast(id, addr, &attr, context);
}

#undef rdma_create_id

#define rdma_cm_event_handler		cmx_event_handler
#define rdma_cm_id			cmx_id
#define rdma_accept			cmx_accept
#define rdma_accept_ece			cmx_accept_ece
#define rdma_bind_addr			cmx_bind_addr
#define rdma_connect			cmx_connect
#define rdma_connect_ece		cmx_connect_ece
#define rdma_connect_locked		cmx_connect
#define rdma_consumer_reject_data	cmx_consumer_reject_data
#define rdma_create_id			cmx_create_id
#define rdma_create_qp			cmx_create_qp
#define rdma_destroy_id			cmx_destroy_id
#define rdma_destroy_qp			cmx_destroy_qp
#define rdma_disconnect			cmx_disconnect
#define rdma_event_msg			cmx_event_msg
#define rdma_get_service_id		cmx_get_service_id
#define rdma_init_qp_attr		cmx_init_qp_attr
#define rdma_is_consumer_reject		cmx_is_consumer_reject
#define rdma_join_multicast		cmx_names_join_multicast
#define rdma_leave_multicast		cmx_leave_multicast
#define rdma_listen			cmx_listen
#define rdma_lock_handler		cmx_lock_handler
#define rdma_notify			cmx_notify
#define rdma_read_gids			cmx_read_gids
#define rdma_reject			cmx_reject
#define rdma_reject_msg			cmx_reject_msg
#define rdma_resolve_addr		cmx_resolve_addr
#define rdma_resolve_route		cmx_resolve_route
#define rdma_restrict_node_type		cmx_restrict_node_type
#define rdma_set_ack_timeout		cmx_set_ack_timeout
#define rdma_set_afonly			cmx_set_afonly
#define rdma_set_ib_path		cmx_set_ib_path
#define rdma_set_min_rnr_timer		cmx_set_min_rnr_timer
#define rdma_set_reuseaddr		cmx_set_reuseaddr
#define rdma_set_service_type		cmx_set_service_type
#define rdma_unlock_handler		cmx_unlock_handler

#endif
