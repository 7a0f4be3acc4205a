/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What librdmacm of rdma_cmx has beyond <rdma/rdma_cma.h>.
 *
 * The symbols have the version CMX_1.0. A program that wants to run with
 * either library looks them up with dlsym().
 */
#ifndef RDMA_CMX_H
#define RDMA_CMX_H

#include <rdma/rdma_cma.h>

/*
 * <rdma/cmx_ioctl.h> takes in the kernel's <rdma/rdma_user_cm.h>, which has
 * enumerators of the same names and values as <rdma/rdma_cma.h>. They get
 * other names for as long as it is read.
 */
#define RDMA_PS_IPOIB UCM_PS_IPOIB
#define RDMA_PS_IB UCM_PS_IB
#define RDMA_PS_TCP UCM_PS_TCP
#define RDMA_PS_UDP UCM_PS_UDP
#define RDMA_OPTION_ID UCM_OPTION_ID
#define RDMA_OPTION_IB UCM_OPTION_IB
#define RDMA_OPTION_ID_TOS UCM_OPTION_ID_TOS
#define RDMA_OPTION_ID_REUSEADDR UCM_OPTION_ID_REUSEADDR
#define RDMA_OPTION_ID_AFONLY UCM_OPTION_ID_AFONLY
#define RDMA_OPTION_ID_ACK_TIMEOUT UCM_OPTION_ID_ACK_TIMEOUT
#define RDMA_OPTION_IB_PATH UCM_OPTION_IB_PATH
#define RDMA_MC_JOIN_FLAG_FULLMEMBER UCM_MC_JOIN_FLAG_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER UCM_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#define RDMA_MC_JOIN_FLAG_RESERVED UCM_MC_JOIN_FLAG_RESERVED

#include <rdma/cmx_ioctl.h>

#undef RDMA_PS_IPOIB
#undef RDMA_PS_IB
#undef RDMA_PS_TCP
#undef RDMA_PS_UDP
#undef RDMA_OPTION_ID
#undef RDMA_OPTION_IB
#undef RDMA_OPTION_ID_TOS
#undef RDMA_OPTION_ID_REUSEADDR
#undef RDMA_OPTION_ID_AFONLY
#undef RDMA_OPTION_ID_ACK_TIMEOUT
#undef RDMA_OPTION_IB_PATH
#undef RDMA_MC_JOIN_FLAG_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
#undef RDMA_MC_JOIN_FLAG_RESERVED

#ifdef __cplusplus
extern "C" {
#endif

/**
 * rdma_cmx_get_option - read an option of an id
 * @id: the id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @optname: name of the option at that level
 * @optval: where the value goes
 * @optlen: size of @optval; on return the bytes written
 * @flags: NULL, or where enum cmx_opt_flags goes: whether the value was set on
 *         the id (or inherited from its listener) or is the default in effect
 *
 * Return: 0, or -1 with errno: ENOPROTOOPT when there is no such option or it
 * can't be read, ENOSPC when @optval is too short, EINVAL when an argument is
 * NULL or the id is in a state in which the option has no value.
 */
int rdma_cmx_get_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			size_t *optlen, uint32_t *flags);

/**
 * rdma_cmx_query_ece - what became of the ECE negotiation of an id
 * @id: the id
 * @info: local and remote pair, enum cmx_ece_flags, policy
 * @size: sizeof(*@info); what the kernel does not know is zeroed
 *
 * Unlike rdma_get_remote_ece() it also works for an id that owns a QP, and at
 * any time.
 *
 * Return: 0, or -1 with errno.
 */
int rdma_cmx_query_ece(struct rdma_cm_id *id, struct cmx_ece_info *info, size_t size);

/**
 * rdma_cmx_join_multicast - join a multicast group with attributes
 * @id: the id, bound to a device
 * @addr: address of the group
 * @attr: attributes of the membership; NULL for those of rdma_join_multicast()
 * @attr_size: sizeof(*@attr)
 * @context: comes back as param.ud.private_data of the event
 *
 * The membership is left with rdma_leave_multicast(). A membership that only
 * sends attaches no QP.
 *
 * Return: 0, or -1 with errno: E2BIG when @attr has a field that the kernel does
 * not know and that is not 0.
 */
int rdma_cmx_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			    const struct cmx_mcast_attr *attr, size_t attr_size, void *context);

/**
 * rdma_cmx_get_events - fetch the events that wait, with one system call
 * @channel: the channel
 * @events: where the events go; each is freed with rdma_ack_cm_event()
 * @n: size of @events, 1 or more
 *
 * Waits for the first event, unless the channel's file is O_NONBLOCK, and
 * takes the others only if they are there. Each of them has the meaning and
 * the side effects it has with rdma_get_cm_event().
 *
 * As everywhere, an id is destroyed when its events are acknowledged: before
 * rdma_destroy_id(), also those that are further back in @events.
 *
 * Return: how many events were fetched, 1 or more; or -1 with errno.
 */
int rdma_cmx_get_events(struct rdma_event_channel *channel,
			struct rdma_cm_event **events, int n);

/**
 * struct rdma_cmx_event_info - what an event says beyond struct rdma_cm_event
 * @event: enum rdma_cm_event_type, as the kernel reported it: CONNECT_RESPONSE
 *         where the library has made ESTABLISHED or CONNECT_ERROR of it
 * @status: status, as the kernel reported it
 * @flags: CMX_EVENT_F_REJOIN: the membership had been lost and is back
 * @num_paths: how many of @path are valid: with ROUTE_RESOLVED,
 *             CONNECT_REQUEST and CONNECT_RESPONSE; otherwise 0
 * @ece: the peer's ECE, vendor_id 0 when it sent none
 * @path: primary and alternate path record of the id, as of the event
 *
 * Fields may be added at the end.
 */
struct rdma_cmx_event_info {
	uint32_t event;
	int32_t status;
	uint32_t flags;
	uint32_t num_paths;
	struct rdma_ucm_ece ece;
	struct ibv_sa_path_rec path[2];
};

/**
 * rdma_cmx_query_event - what an event says beyond struct rdma_cm_event
 * @event: the event, not yet acknowledged
 * @info: where it goes
 * @size: sizeof(*@info); what this library does not know is zeroed
 *
 * Return: 0, or -1 with errno: EINVAL when an argument is NULL, or @size ends
 * before the end of @num_paths.
 */
int rdma_cmx_query_event(const struct rdma_cm_event *event,
			 struct rdma_cmx_event_info *info, size_t size);

#ifdef __cplusplus
}
#endif

#endif
