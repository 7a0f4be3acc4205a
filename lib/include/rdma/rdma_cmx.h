/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Extensions of the librdmacm of rdma_cmx to <rdma/rdma_cma.h>.
 *
 * The functions are inline. Each looks up the function of its name in the librdmacm that the process has
 * loaded, and fails with ENOSYS if that library has none. A program is therefore linked with the system's
 * librdmacm, and runs with either library. C libraries before glibc 2.34 need -ldl.
 */
#ifndef RDMA_CMX_H
#define RDMA_CMX_H

#include <rdma/rdma_cma.h>
#include <rdma/cmx_types.h>

/* The sources of the library define the functions themselves. */
#ifdef RDMA_CMX_LIBRARY
#define RDMA_CMX_FUNCTION
#else
#include <dlfcn.h>
#include <errno.h>
#define RDMA_CMX_FUNCTION static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * <rdma/rdma_cma.h> has these declarations since rdma-core 60, and the events under the names
 * RDMA_CM_EVENT_ADDRINFO_RESOLVED and RDMA_CM_EVENT_USER. <rdma/cmx_types.h> has them as
 * CMX_EVENT_ADDRINFO_RESOLVED and CMX_EVENT_USER.
 */
#ifndef RAI_SA
#define RDMA_CMX_ADDS_ADDRINFO
#define RAI_SA 0x00000010
#define RAI_DNS 0x00000020
RDMA_CMX_FUNCTION
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
RDMA_CMX_FUNCTION
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);
RDMA_CMX_FUNCTION
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);
#endif

/**
 * rdma_cmx_get_option() - read an option of an id
 * @id: the id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @optname: name of the option at that level
 * @optval: receives the value
 * @optlen: size of @optval; on return the number of bytes written
 * @flags: NULL, or receives enum cmx_opt_flags: whether the value was set on the id (or inherited
 *         from its listener) or is the effective default
 *
 * Return: 0, or -1 with errno: ENOPROTOOPT if there is no such option, ENOSPC if @optval is too
 * short, EINVAL if @id, @optval or @optlen is NULL, or for RDMA_OPTION_IB_PATH on an id without a
 * route; or an errno of creating the id in the kernel (EACCES, EMFILE, ENOMEM).
 */
RDMA_CMX_FUNCTION
int rdma_cmx_get_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			size_t *optlen, uint32_t *flags);

/**
 * rdma_cmx_query_ece() - query the state of the ECE negotiation of an id
 * @id: the id
 * @info: local and remote pair, enum cmx_ece_flags, policy
 * @size: sizeof(*@info); fields that the kernel does not know are zeroed
 *
 * Unlike rdma_get_remote_ece(), this function also works for an id that has a QP, and at any time.
 *
 * Return: 0, or -1 with errno: EINVAL if an argument is NULL or @size ends before @policy, or an
 * errno of creating the id in the kernel (EACCES, EMFILE, ENOMEM).
 */
RDMA_CMX_FUNCTION
int rdma_cmx_query_ece(struct rdma_cm_id *id, struct cmx_ece_info *info, size_t size);

/**
 * rdma_cmx_join_multicast() - join a multicast group with attributes
 * @id: the id, bound to a device or with a resolved address, and without a route
 * @addr: address of the group
 * @attr: attributes of the membership; NULL for the attributes of rdma_join_multicast()
 * @attr_size: sizeof(*@attr)
 * @context: returned as param.ud.private_data of the event
 *
 * The program leaves the group with rdma_leave_multicast(). A send-only membership attaches no QP.
 *
 * Return: 0, or -1 with errno:
 *
 * * E2BIG: @attr has a field that the kernel does not know and that is not 0.
 * * EINVAL: @addr is not a multicast group, an attribute is out of range, @attr_size ends before
 *   @reserved, or the id is not of type UD, not bound to a device, or has begun to resolve a route.
 * * EAFNOSUPPORT: AF_IB on RoCE, or IPv6 on a host without it.
 * * EOPNOTSUPP: @pkey or @scope on RoCE.
 * * EADDRNOTAVAIL: in RDMA_PS_IPOIB, IPoIB has not joined the broadcast group and no Q_Key is given.
 * * EMFILE: too many ids and memberships of the user.
 * * EACCES: another process opened the channel.
 * * ENODEV: the device or the network interface is gone.
 * * ENOMEM: out of memory.
 */
RDMA_CMX_FUNCTION
int rdma_cmx_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			    const struct cmx_mcast_attr *attr, size_t attr_size, void *context);

/**
 * rdma_cmx_get_events() - fetch the pending events with one system call
 * @channel: the channel
 * @events: receives the events; each is freed with rdma_ack_cm_event()
 * @n: size of @events, 1 or more
 *
 * Waits for the first event, unless the file of the channel is O_NONBLOCK. Other events are
 * fetched only if they are pending. Each event has the same meaning and side effects as with
 * rdma_get_cm_event().
 *
 * rdma_destroy_id() waits until all events of the id are acknowledged. Events of the id that are
 * further back in @events must be acknowledged before the call, too.
 *
 * Return: the number of fetched events, 1 to 32; or -1 with errno:
 *
 * * EAGAIN: no event is pending, and the file of the channel is O_NONBLOCK.
 * * EINTR: a signal arrived during the wait.
 * * EINVAL: @events is NULL, or @n is less than 1.
 * * ENOMEM: out of memory.
 * * EBADF: the channel has been destroyed.
 * * EACCES: another process opened the channel.
 */
RDMA_CMX_FUNCTION
int rdma_cmx_get_events(struct rdma_event_channel *channel,
			struct rdma_cm_event **events, int n);

/**
 * struct rdma_cmx_event_info - fields of an event that struct rdma_cm_event lacks
 * @event: enum rdma_cm_event_type, as the kernel reported it: CONNECT_RESPONSE if the library has
 *         changed it to ESTABLISHED or CONNECT_ERROR
 * @status: status, as the kernel reported it
 * @flags: CMX_EVENT_F_REJOIN: rejoined after a membership error
 * @num_paths: number of valid elements of @path, with ROUTE_RESOLVED, CONNECT_REQUEST and
 *             CONNECT_RESPONSE; otherwise 0
 * @ece: ECE of the peer; vendor_id is 0 if it sent none
 * @path: primary and alternate path record of the id at the time of the event
 * @arg: for CMX_EVENT_USER, the value that the program passed to rdma_write_cm_event()
 *
 * Fields may be added at the end.
 */
struct rdma_cmx_event_info {
	uint32_t event;
	int32_t status;
	uint32_t flags;
	uint32_t num_paths;
	struct cmx_ece ece;
	struct ibv_sa_path_rec path[2];
	uint64_t arg;
};

/**
 * rdma_cmx_query_event() - query the fields of an event that struct rdma_cm_event lacks
 * @event: the event, not yet acknowledged
 * @info: receives the fields
 * @size: sizeof(*@info); fields that this library does not know are zeroed
 *
 * Return: 0, or -1 with errno: EINVAL if an argument is NULL, or if @size does not cover
 * @num_paths.
 */
RDMA_CMX_FUNCTION
int rdma_cmx_query_event(const struct rdma_cm_event *event,
			 struct rdma_cmx_event_info *info, size_t size);

/**
 * rdma_cmx_get_version() - return the version of the library
 *
 * The module of the same build has this version in /sys/module/rdma_cmx/version.
 *
 * Return: a constant string; or NULL with ENOSYS if the process uses another librdmacm, also after a
 * fallback of this library, so that the other functions fail with ENOSYS.
 */
RDMA_CMX_FUNCTION
const char *rdma_cmx_get_version(void);

#ifndef RDMA_CMX_LIBRARY
static inline void *rdma_cmx_find_function(const char *name)
{
	/* RTLD_DEFAULT, which needs _GNU_SOURCE */
	void *function = dlsym(NULL, name);

	if (!function)
		errno = ENOSYS;
	return function;
}

/* A function that was found is kept, because dlsym() takes longer than most of the calls. */
#define RDMA_CMX_CALL(name, error, args) \
__extension__ ({ \
	static void *found_; \
	__typeof__(&name) function_ = (__typeof__(&name))__atomic_load_n(&found_, __ATOMIC_RELAXED); \
\
	if (!function_) { \
		function_ = (__typeof__(&name))rdma_cmx_find_function(#name); \
		__atomic_store_n(&found_, (void *)function_, __ATOMIC_RELAXED); \
	} \
	function_ ? function_ args : error; \
})

static inline int rdma_cmx_get_option(struct rdma_cm_id *id, int level, int optname,
				      void *optval, size_t *optlen, uint32_t *flags)
{
	return RDMA_CMX_CALL(rdma_cmx_get_option, -1, (id, level, optname, optval, optlen, flags));
}

static inline int rdma_cmx_query_ece(struct rdma_cm_id *id, struct cmx_ece_info *info,
				     size_t size)
{
	return RDMA_CMX_CALL(rdma_cmx_query_ece, -1, (id, info, size));
}

static inline int rdma_cmx_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
					  const struct cmx_mcast_attr *attr, size_t attr_size,
					  void *context)
{
	return RDMA_CMX_CALL(rdma_cmx_join_multicast, -1, (id, addr, attr, attr_size, context));
}

static inline int rdma_cmx_get_events(struct rdma_event_channel *channel,
				      struct rdma_cm_event **events, int n)
{
	return RDMA_CMX_CALL(rdma_cmx_get_events, -1, (channel, events, n));
}

static inline int rdma_cmx_query_event(const struct rdma_cm_event *event,
				       struct rdma_cmx_event_info *info, size_t size)
{
	return RDMA_CMX_CALL(rdma_cmx_query_event, -1, (event, info, size));
}

static inline const char *rdma_cmx_get_version(void)
{
	return RDMA_CMX_CALL(rdma_cmx_get_version, NULL, ());
}

#ifdef RDMA_CMX_ADDS_ADDRINFO
static inline int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
					const char *service, const struct rdma_addrinfo *hints)
{
	return RDMA_CMX_CALL(rdma_resolve_addrinfo, -1, (id, node, service, hints));
}

static inline int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	return RDMA_CMX_CALL(rdma_query_addrinfo, -1, (id, info));
}

static inline int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event,
				      int status, uint64_t arg)
{
	return RDMA_CMX_CALL(rdma_write_cm_event, -1, (id, event, status, arg));
}
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
