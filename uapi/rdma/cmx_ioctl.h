/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The user ABI of rdma_cmx.
 */
#ifndef RDMA_CMX_IOCTL_H
#define RDMA_CMX_IOCTL_H

#include <linux/types.h>
#include <linux/socket.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/**
 * DOC: The rdma_cmx char device
 *
 * /dev/infiniband/rdma_cmx has one ioctl, %CMX_IOCTL, with the attribute encoding of the uverbs
 * ioctl. &struct cmx_ioctl_hdr names an object (&enum cmx_object) and a method. @num_attrs
 * attributes (&struct ib_uverbs_attr) follow it. An input attribute of at most eight bytes is
 * stored in the attribute itself, from its lowest address on; every other attribute is a pointer.
 * An attribute id (&enum cmx_attr) has the same meaning in every method.
 *
 * @abi_version is the %CMX_ABI_VERSION that the program was compiled with, or 0 if the program
 * skips the check. A module accepts a range of versions. A program of any version can query the
 * range with %CMX_CHANNEL_INFO and 0 as @abi_version.
 *
 * One open file is one event channel. Handles belong to the file that created them. poll()
 * reports %EPOLLIN while an event is pending. Closing the file destroys all objects in it.
 *
 * These are the errnos. A method that uses one of them for another reason says so.
 *
 * * EINVAL: the header is malformed (@length, @num_attrs, reserved fields); a required attribute
 *   is missing; an attribute is given twice, is too short or has unknown flags; a value is out of
 *   its range; the state of the id does not allow the call.
 * * E2BIG: an attribute is longer than this kernel knows and the surplus is not zero.
 * * ENOSPC: the buffer for an output is shorter than the smallest valid one.
 * * EFAULT: a pointer cannot be read or written.
 * * ENOENT: no such handle in this file.
 * * EPROTO: the module does not accept the %CMX_ABI_VERSION of the program.
 * * EPROTONOSUPPORT: this module has no such object or method, or the method has no such
 *   attribute and the attribute is marked as mandatory (%UVERBS_ATTR_F_MANDATORY). From
 *   %CMX_ID_BIND, or %CMX_ID_RESOLVE_ADDR of an id that is not bound: the service ID of an AF_IB
 *   address belongs to another port space.
 * * ENOTTY: not this ioctl.
 * * ENOMEM: out of memory.
 * * EMFILE: the user has as many ids and memberships as the module parameter max_user_ids allows
 *   without CAP_SYS_RESOURCE.
 * * EPERM: the option value requires CAP_NET_ADMIN. From %CMX_ID_CONNECT and %CMX_ID_ACCEPT: the QP
 *   with that number belongs to another user, and the caller lacks CAP_NET_ADMIN in the initial
 *   user namespace.
 * * EOPNOTSUPP: the transport of the id's device does not support the operation.
 * * ENODEV: no RDMA device has that address, or the device was removed.
 * * EADDRINUSE: another id has that address and port, or too many ids share the port. From
 *   %CMX_ID_LISTEN: the in-tree stack has that address and port.
 * * EADDRNOTAVAIL: the address is not one of this host, the port is in use and one of the two
 *   addresses is a wildcard or loopback address, or no port is free; or the peer of an id on
 *   InfiniBand is behind an IP router.
 * * EAFNOSUPPORT: the address family is not supported, as IPv6 on a host without it.
 * * EACCES: the port is below 1024, and the caller lacks CAP_NET_BIND_SERVICE in the initial user
 *   namespace; net.ipv4.ip_unprivileged_port_start has no effect. From %CMX_ID_LISTEN: the id is
 *   in a network namespace other than the host's, the host can use the device too, the caller lacks
 *   CAP_NET_ADMIN in the initial user namespace, and the module parameter netns_listen is not set.
 *   From every method: another process opened the file. User data (%CMX_ATTR_USER_DATA) may be
 *   addresses in its memory, so a child of fork() and a program that was started by exec() open a
 *   file of their own. Threads and children of vfork() have the same memory, and can use the file.
 * * ENETUNREACH, EHOSTUNREACH: no IP route leads to the address, or the route is an unreachable
 *   one; EHOSTUNREACH also if RoCE v1 was requested and the peer is behind a router.
 * * ENOPROTOOPT: no such option, when reading it.
 * * ENOSYS: no such option, when setting it, as in rdma_ucm.
 * * EAGAIN: no event is pending and the file is O_NONBLOCK; the InfiniBand port has no subnet
 *   manager to query for a path.
 * * ERESTARTSYS (EINTR in the program): a signal arrived during the wait.
 * * EISCONN: the option can no longer take effect.
 * * ENOBUFS: the id has too many events that have not been fetched, see %CMX_MAX_QUEUED.
 *
 * A call that fails has changed no object, except %CMX_ID_NOTIFY with IB_EVENT_QP_FATAL. Its output
 * buffers may have been written.
 */

#define CMX_DEVICE_NAME "rdma_cmx"

/**
 * struct cmx_ioctl_hdr - a command
 * @length: length in bytes of the command, attributes included
 * @object_id: enum cmx_object
 * @method_id: a method of that object
 * @num_attrs: number of @attrs, at most CMX_MAX_ATTRS
 * @reserved1: 0
 * @abi_version: CMX_ABI_VERSION that the program was compiled with; 0: do not check it
 * @reserved2: 0
 * @attrs: the attributes
 */
struct cmx_ioctl_hdr {
	__u16 length;
	__u16 object_id;
	__u16 method_id;
	__u16 num_attrs;
	__aligned_u64 reserved1;
	__u32 abi_version;
	__u32 reserved2;
	struct ib_uverbs_attr attrs[];
};

/** define CMX_IOCTL - the ioctl. Its number is not that of uverbs, so that seccomp can tell them */
#define CMX_IOCTL _IOWR(RDMA_IOCTL_MAGIC, 0xc0, struct cmx_ioctl_hdr)

/** define CMX_ABI_VERSION - bumped on incompatible change */
#define CMX_ABI_VERSION 1

/** define CMX_MAX_ATTRS - maximum number of attributes in one call */
#define CMX_MAX_ATTRS 16

/** enum cmx_object - objects that have methods */
enum cmx_object {
	CMX_OBJ_CHANNEL = 0,
	CMX_OBJ_ID = 1,
	CMX_OBJ_MCAST = 2,
	CMX_OBJ_NUM,
};

/** enum cmx_channel_method - methods of CMX_OBJ_CHANNEL */
enum cmx_channel_method {
	/**
	 * @CMX_CHANNEL_INFO: optionally out CMX_ATTR_VERSION and
	 * CMX_ATTR_VERSION_MIN: the newest and the oldest version that the
	 * module accepts. Without them the call checks only whether the caller
	 * can use the file.
	 */
	CMX_CHANNEL_INFO = 0,
	/**
	 * @CMX_CHANNEL_GET_EVENTS: fetch 1 to N events; in
	 * CMX_ATTR_EVENT_SIZES (struct cmx_event_sizes), out CMX_ATTR_EVENTS
	 * (array of records of these sizes, see struct cmx_event_record; the
	 * length of the buffer determines N), out CMX_ATTR_COUNT (u32). Waits
	 * for the first event unless the file is O_NONBLOCK.
	 */
	CMX_CHANNEL_GET_EVENTS = 1,
	/**
	 * @CMX_CHANNEL_LIST_IDS: describe ids of this and of other files; in
	 * CMX_ATTR_RECORD_SIZE (u32, sizeof(struct cmx_id_record) in the
	 * caller's header, at least up to and including @device; a multiple of
	 * 8, at most CMX_LIST_MAX_RECORD), CMX_ATTR_CURSOR (u64, 0 for the first call),
	 * out CMX_ATTR_LIST (records, see struct cmx_id_record), out
	 * CMX_ATTR_COUNT (u32, number of records), out CMX_ATTR_NEXT_CURSOR
	 * (u64, CMX_ATTR_CURSOR of the next call, or 0 after the last id).
	 *
	 * A call examines a limited number of ids, so that it may return no
	 * record although there are more ids. An id that exists during the whole
	 * listing is reported once. In the initial network namespace, a caller
	 * with CAP_NET_ADMIN gets all ids. Otherwise the caller gets only ids
	 * of its own network namespace: all of them with CAP_NET_ADMIN there,
	 * else those whose file was opened by the same user.
	 */
	CMX_CHANNEL_LIST_IDS = 2,
};

/**
 * enum cmx_id_method - methods of CMX_OBJ_ID
 *
 * All methods but CREATE take CMX_ATTR_ID. BIND and RESOLVE_ADDR also accept the attributes of
 * CREATE in its place. They then create the id, and destroy it again if they fail; the optional
 * output CMX_ATTR_COUNT is written in this case, as by DESTROY. "out info" means that CMX_ATTR_INFO
 * (struct cmx_id_info) is an optional output.
 */
enum cmx_id_method {
	/**
	 * @CMX_ID_CREATE: in CMX_ATTR_USER_DATA (u64), CMX_ATTR_PS (u32, an
	 * rdma_ucm_port_space), CMX_ATTR_QP_TYPE (u32, used in RDMA_PS_IB
	 * only); out CMX_ATTR_OUT_ID.
	 */
	CMX_ID_CREATE = 0,
	/**
	 * @CMX_ID_DESTROY: out CMX_ATTR_COUNT, the number of events fetched
	 * for the id, including those of its memberships. A CONNECT_REQUEST
	 * counts for the listener, not for the new id.
	 */
	CMX_ID_DESTROY = 1,
	/** @CMX_ID_BIND: in CMX_ATTR_SRC_ADDR; out info */
	CMX_ID_BIND = 2,
	/**
	 * @CMX_ID_RESOLVE_ADDR: in CMX_ATTR_DST_ADDR, CMX_ATTR_TIMEOUT (u32,
	 * ms), optionally CMX_ATTR_SRC_ADDR; out info
	 */
	CMX_ID_RESOLVE_ADDR = 3,
	/**
	 * @CMX_ID_RESOLVE_ROUTE: in CMX_ATTR_TIMEOUT (u32, ms, not 0); out info
	 */
	CMX_ID_RESOLVE_ROUTE = 4,
	/** @CMX_ID_QUERY: out info, out CMX_ATTR_ECE_INFO */
	CMX_ID_QUERY = 5,
	/**
	 * @CMX_ID_LISTEN: in CMX_ATTR_BACKLOG (s32: requests; 0, negative or
	 * above the module parameter max_backlog: max_backlog); out info. Can
	 * return an errno of the driver on iWARP
	 */
	CMX_ID_LISTEN = 6,
	/**
	 * @CMX_ID_CONNECT: in CMX_ATTR_CONN_PARAM, optionally CMX_ATTR_ECE;
	 * out info. Can return an errno of the driver on iWARP, for example
	 * ECONNREFUSED or ETIMEDOUT. EADDRNOTAVAIL: the port lacks the GID of
	 * the path. ENOENT also if the port lacks the P_Key of the path
	 */
	CMX_ID_CONNECT = 7,
	/**
	 * @CMX_ID_ACCEPT: in CMX_ATTR_CONN_PARAM, optionally CMX_ATTR_ECE and
	 * CMX_ATTR_USER_DATA (the user data of the id, if the id came with a request).
	 * Can return an errno of the driver on iWARP. EADDRNOTAVAIL: the
	 * default Q_Key of RDMA_PS_IPOIB is not known
	 */
	CMX_ID_ACCEPT = 8,
	/**
	 * @CMX_ID_ESTABLISH: send the RTU, because the active side is ready. For
	 * a datagram request: accept it with the default Q_Key. Optionally
	 * CMX_ATTR_USER_DATA, as CMX_ID_ACCEPT
	 */
	CMX_ID_ESTABLISH = 9,
	/**
	 * @CMX_ID_REJECT: optionally in CMX_ATTR_PRIVATE_DATA, CMX_ATTR_REASON
	 * (u8: IB_CM_REJ_CONSUMER_DEFINED or IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
	 */
	CMX_ID_REJECT = 10,
	/**
	 * @CMX_ID_DISCONNECT: optionally in CMX_ATTR_QP_STATE. DISCONNECTED
	 * follows if the connection is established: at once if the QP is in the
	 * state IB_QPS_ERR, otherwise when the peer replies, or with ETIMEDOUT if
	 * it does not. On iWARP the provider determines when it follows
	 */
	CMX_ID_DISCONNECT = 11,
	/**
	 * @CMX_ID_NOTIFY: in CMX_ATTR_NOTIFY (u32, an ib_event_type).
	 * IB_EVENT_COMM_EST: ESTABLISHED follows; EISCONN if the connection is
	 * established or this was reported before. IB_EVENT_QP_FATAL fails with
	 * EINVAL, but the cached path records to the peer are dropped. All
	 * others: EINVAL. On iWARP a call has no effect, and fails with
	 * EINVAL if there is no connection
	 */
	CMX_ID_NOTIFY = 12,
	/**
	 * @CMX_ID_INIT_QP_ATTR: in CMX_ATTR_QP_STATE (u32, an ib_qp_state);
	 * out CMX_ATTR_QP_ATTR (struct ib_uverbs_qp_attr). ENOENT also if
	 * the port lacks the P_Key of the id. EADDRNOTAVAIL: the default Q_Key
	 * of RDMA_PS_IPOIB is not known
	 */
	CMX_ID_INIT_QP_ATTR = 13,
	/**
	 * @CMX_ID_SET_OPTION: in CMX_ATTR_OPT_LEVEL, CMX_ATTR_OPT_NAME (u32),
	 * CMX_ATTR_OPT_VALUE (0 bytes or more)
	 */
	CMX_ID_SET_OPTION = 14,
	/**
	 * @CMX_ID_GET_OPTION: in CMX_ATTR_OPT_LEVEL, CMX_ATTR_OPT_NAME (u32),
	 * out CMX_ATTR_OPT_OUT, out CMX_ATTR_COUNT (u32, bytes written), out
	 * CMX_ATTR_OPT_FLAGS (u32, optional: CMX_OPT_F_SET)
	 */
	CMX_ID_GET_OPTION = 15,
	/**
	 * @CMX_ID_MIGRATE: move an id to this file; in CMX_ATTR_ID (the handle
	 * in the other file), CMX_ATTR_FD (s32, the other file); out
	 * CMX_ATTR_OUT_ID (the handle in this file) and CMX_ATTR_COUNT, the
	 * number of events fetched so far. Pending events move with the id.
	 * ENOENT also if CMX_ATTR_FD is not open. EINVAL: it is not a file of
	 * this device. EACCES also if another process opened the other file.
	 * Waits for the end of the call that creates the id
	 */
	CMX_ID_MIGRATE = 16,
	/**
	 * @CMX_ID_WRITE_EVENT: report an event of the caller; in CMX_ATTR_EVENT
	 * (u32: CMX_EVENT_USER or CMX_EVENT_ADDRINFO_RESOLVED), CMX_ATTR_STATUS
	 * (s32), CMX_ATTR_ARG (u64). The event has these values. The id of a
	 * request must have been accepted.
	 */
	CMX_ID_WRITE_EVENT = 17,
	/**
	 * @CMX_ID_RESOLVE_SERVICE: ask the SA which ports offer a service; in
	 * CMX_ATTR_SERVICE_ID (u64), or CMX_ATTR_SERVICE_NAME (without a
	 * terminating zero), or both. The id is bound to an AF_IB address. With
	 * CMX_EVENT_ADDRINFO_RESOLVED its destination is the first of these
	 * ports, and its route can be resolved. Fails with EOPNOTSUPP if the
	 * kernel cannot query ServiceRecords
	 */
	CMX_ID_RESOLVE_SERVICE = 18,
	/**
	 * @CMX_ID_QUERY_SERVICES: records of the last CMX_ID_RESOLVE_SERVICE;
	 * in CMX_ATTR_RECORD_SIZE (u32, sizeof(struct cmx_service_rec) in the
	 * caller's header; a multiple of 8), out CMX_ATTR_SERVICES (records, as
	 * many as fit), out CMX_ATTR_COUNT (u32, number of records that there
	 * are). ENOENT also if there are none. EINVAL also if
	 * CMX_ATTR_RECORD_SIZE exceeds the buffer
	 */
	CMX_ID_QUERY_SERVICES = 19,
};

/** enum cmx_mcast_method - methods of CMX_OBJ_MCAST */
enum cmx_mcast_method {
	/**
	 * @CMX_MCAST_JOIN: in CMX_ATTR_ID, CMX_ATTR_DST_ADDR, CMX_ATTR_USER_DATA,
	 * optionally CMX_ATTR_MCAST (struct cmx_mcast_attr); out
	 * CMX_ATTR_OUT_ID, the handle of the membership. EADDRNOTAVAIL: the
	 * default Q_Key of RDMA_PS_IPOIB is not known. EOPNOTSUPP also
	 * for P_Key or scope on RoCE
	 */
	CMX_MCAST_JOIN = 0,
	/**
	 * @CMX_MCAST_LEAVE: in CMX_ATTR_MCAST_ID; out CMX_ATTR_COUNT, the
	 * number of events fetched for the membership
	 */
	CMX_MCAST_LEAVE = 1,
	/**
	 * @CMX_MCAST_REPORT: in CMX_ATTR_MCAST_ID. Called if the QP could not be attached after an
	 * event with CMX_EVENT_F_REJOIN. The same event is reported again after a delay, which
	 * doubles each time. Without such an event since the last call, or while an event
	 * of the membership has not been fetched, it has no effect
	 */
	CMX_MCAST_REPORT = 2,
};

/** enum cmx_attr - attribute ids, one name space for all methods */
enum cmx_attr {
	CMX_ATTR_ID = 0,		/* in u32 */
	CMX_ATTR_OUT_ID = 1,		/* out u32 */
	CMX_ATTR_MCAST_ID = 2,		/* in u32 */
	CMX_ATTR_USER_DATA = 3,		/* in u64: user data, returned in events */
	CMX_ATTR_PS = 4,		/* in u32 */
	CMX_ATTR_QP_TYPE = 5,		/* in u32: enum ib_qp_type; 0: a listener for all */
	CMX_ATTR_SRC_ADDR = 6,		/* in: sockaddr, 16 to 128 bytes */
	CMX_ATTR_DST_ADDR = 7,		/* in: sockaddr, 16 to 128 bytes */
	CMX_ATTR_TIMEOUT = 8,		/* in u32: ms */
	CMX_ATTR_BACKLOG = 9,		/* in s32: requests */
	CMX_ATTR_CONN_PARAM = 10,	/* in: struct rdma_ucm_conn_param */
	CMX_ATTR_ECE = 11,		/* in: struct rdma_ucm_ece */
	CMX_ATTR_PRIVATE_DATA = 12,	/* in: 0 to 255 bytes */
	CMX_ATTR_REASON = 13,		/* in u8 */
	CMX_ATTR_NOTIFY = 14,		/* in u32 */
	CMX_ATTR_QP_STATE = 15,		/* in u32 */
	CMX_ATTR_QP_ATTR = 16,		/* out: struct ib_uverbs_qp_attr */
	CMX_ATTR_OPT_LEVEL = 17,	/* in u32 */
	CMX_ATTR_OPT_NAME = 18,		/* in u32 */
	CMX_ATTR_OPT_VALUE = 19,	/* in: up to CMX_OPT_MAX_LEN bytes */
	CMX_ATTR_OPT_OUT = 20,		/* out: up to CMX_OPT_MAX_LEN bytes */
	CMX_ATTR_OPT_FLAGS = 21,	/* out u32 */
	CMX_ATTR_FD = 22,		/* in s32 */
	CMX_ATTR_MCAST = 23,		/* in: struct cmx_mcast_attr */
	CMX_ATTR_INFO = 24,		/* out: struct cmx_id_info, up to src_addr or longer */
	CMX_ATTR_ECE_INFO = 25,		/* out: struct cmx_ece_info */
	CMX_ATTR_EVENTS = 26,		/* out: array of struct cmx_event_record */
	CMX_ATTR_COUNT = 27,		/* out u32 */
	CMX_ATTR_VERSION = 28,		/* out u32: CMX_ABI_VERSION */
	CMX_ATTR_EVENT_SIZES = 29,	/* in: struct cmx_event_sizes */
	CMX_ATTR_VERSION_MIN = 30,	/* out u32 */
	CMX_ATTR_RECORD_SIZE = 31,	/* in u32 */
	CMX_ATTR_CURSOR = 32,		/* in u64 */
	CMX_ATTR_NEXT_CURSOR = 33,	/* out u64 */
	CMX_ATTR_LIST = 34,		/* out: records, at least CMX_LIST_MIN_LEN bytes */
	CMX_ATTR_EVENT = 35,		/* in u32: enum cmx_event_type */
	CMX_ATTR_STATUS = 36,		/* in s32 */
	CMX_ATTR_ARG = 37,		/* in u64 */
	CMX_ATTR_SERVICE_ID = 38,	/* in u64 */
	CMX_ATTR_SERVICE_NAME = 39,	/* in: 1 to 63 bytes */
	CMX_ATTR_SERVICES = 40,		/* out: array of struct cmx_service_rec */
	CMX_ATTR_NUM,
};

/** define CMX_OPT_MAX_LEN - longest option value: six path records */
#define CMX_OPT_MAX_LEN (6 * sizeof(struct ib_path_rec_data))

/** enum cmx_opt_flags - CMX_ATTR_OPT_FLAGS */
enum cmx_opt_flags {
	/** @CMX_OPT_F_SET: set on this id (or inherited), not a default */
	CMX_OPT_F_SET = 1 << 0,
};

/** define CMX_OPTION - level of the options that rdma_cmx adds */
#define CMX_OPTION 0x434d

/**
 * enum cmx_option_name - names at level CMX_OPTION; all values are u32
 *
 * Documentation/options.rst lists the range and unit of each option, and until when and on which
 * transports it can be set.
 */
enum cmx_option_name {
	/** @CMX_OPTION_MIN_RNR_TIMER: RNR NAK timer of the QP */
	CMX_OPTION_MIN_RNR_TIMER = 1,
	/**
	 * @CMX_OPTION_CM_RETRIES: resends of a REQ or SIDR REQ. The REQ makes the
	 * number also that of the REP, and of the DREQ of either end
	 */
	CMX_OPTION_CM_RETRIES = 2,
	/** @CMX_OPTION_CM_RESPONSE_TIMEOUT: time to wait for a reply, for each try */
	CMX_OPTION_CM_RESPONSE_TIMEOUT = 3,
	/** @CMX_OPTION_CONNECT_DEADLINE_MS: time from CONNECT or ACCEPT to UNREACHABLE */
	CMX_OPTION_CONNECT_DEADLINE_MS = 4,
	/** @CMX_OPTION_RESOLVE_RETRIES: further timeouts of RESOLVE_ROUTE (InfiniBand) */
	CMX_OPTION_RESOLVE_RETRIES = 5,
	/** @CMX_OPTION_SL: service level */
	CMX_OPTION_SL = 6,
	/** @CMX_OPTION_FLOW_LABEL: flow label */
	CMX_OPTION_FLOW_LABEL = 7,
	/** @CMX_OPTION_HOP_LIMIT: hop limit */
	CMX_OPTION_HOP_LIMIT = 8,
	/** @CMX_OPTION_GID_TYPE: enum ib_uverbs_gid_type */
	CMX_OPTION_GID_TYPE = 9,
	/** @CMX_OPTION_PKEY: P_Key (InfiniBand) */
	CMX_OPTION_PKEY = 10,
	/** @CMX_OPTION_PATH_MTU: enum ib_mtu, not above the port's */
	CMX_OPTION_PATH_MTU = 11,
	/** @CMX_OPTION_ECE_POLICY: enum cmx_ece_policy */
	CMX_OPTION_ECE_POLICY = 12,
	/** @CMX_OPTION_MCAST_REJOIN: rejoin groups after a membership error */
	CMX_OPTION_MCAST_REJOIN = 13,
	/** @CMX_OPTION_MCAST_LOOPBACK: receive own messages to a group */
	CMX_OPTION_MCAST_LOOPBACK = 14,
	/** @CMX_OPTION_BIND_DEVICE: index of an interface or VRF, 0: any */
	CMX_OPTION_BIND_DEVICE = 15,
};

/** enum cmx_ece_policy - values of CMX_OPTION_ECE_POLICY */
enum cmx_ece_policy {
	/** @CMX_ECE_AUTO: use ECE if both ends support it */
	CMX_ECE_AUTO = 0,
	/** @CMX_ECE_OFF: neither offer ECE nor reply to an offer */
	CMX_ECE_OFF = 1,
	/** @CMX_ECE_REQUIRE: end the connection if the peer sends no ECE */
	CMX_ECE_REQUIRE = 2,
};

/** enum cmx_id_state - state of an id, see Documentation/states.rst */
enum cmx_id_state {
	/** @CMX_ID_STATE_IDLE: created */
	CMX_ID_STATE_IDLE = 0,
	/** @CMX_ID_STATE_BOUND: has a local address and a port */
	CMX_ID_STATE_BOUND = 1,
	/** @CMX_ID_STATE_ADDR_QUERY: the address of the peer is being resolved */
	CMX_ID_STATE_ADDR_QUERY = 2,
	/** @CMX_ID_STATE_ADDR_RESOLVED: the address of the peer is resolved */
	CMX_ID_STATE_ADDR_RESOLVED = 3,
	/** @CMX_ID_STATE_ROUTE_QUERY: the path is being queried */
	CMX_ID_STATE_ROUTE_QUERY = 4,
	/** @CMX_ID_STATE_ROUTE_RESOLVED: has path records, except on iWARP */
	CMX_ID_STATE_ROUTE_RESOLVED = 5,
	/** @CMX_ID_STATE_LISTEN: listens for requests */
	CMX_ID_STATE_LISTEN = 6,
	/** @CMX_ID_STATE_CONNECT: has sent or received a request; may be established */
	CMX_ID_STATE_CONNECT = 7,
	/** @CMX_ID_STATE_DISCONNECT: the connection has ended */
	CMX_ID_STATE_DISCONNECT = 8,
	/** @CMX_ID_STATE_REMOVED: the device has been removed */
	CMX_ID_STATE_REMOVED = 9,
	/** @CMX_ID_STATE_DEAD: being destroyed */
	CMX_ID_STATE_DEAD = 10,
};

/**
 * struct cmx_id_info - binding and resolved addresses of an id
 * @node_guid: node GUID of the device, network order; 0 on some devices
 * @ibdev_index: index of the device
 * @port_num: port; 0 without a device, and then the other fields of the device are 0 too
 * @num_paths: number of path records in @path
 * @state: enum cmx_id_state
 * @reserved0: 0
 * @pkey: P_Key, host order
 * @tos: effective traffic class
 * @qp_type: enum ib_qp_type
 * @reserved: 0
 * @sgid: source GID
 * @dgid: destination GID
 * @src_addr: local address, with the port
 * @dst_addr: address of the peer, with the port
 * @path: primary and alternate path record
 * @init_attr: attributes that ibv_modify_qp() needs for INIT; qp_state is 0 if they are not known
 */
struct cmx_id_info {
	__aligned_u64 node_guid;
	__u32 ibdev_index;
	__u8 port_num;
	__u8 num_paths;
	__u8 state;
	__u8 reserved0;
	__u16 pkey;
	__u8 tos;
	__u8 qp_type;
	__u32 reserved;
	__u8 sgid[16];
	__u8 dgid[16];
	struct __kernel_sockaddr_storage src_addr;
	struct __kernel_sockaddr_storage dst_addr;
	struct ib_path_rec_data path[2];
	struct ib_uverbs_qp_attr init_attr;
};

/** enum cmx_ece_flags - state of the ECE negotiation */
enum cmx_ece_flags {
	/** @CMX_ECE_F_LOCAL: a local pair was set */
	CMX_ECE_F_LOCAL = 1 << 0,
	/** @CMX_ECE_F_OFFERED: a REQ or REP carried it */
	CMX_ECE_F_OFFERED = 1 << 1,
	/** @CMX_ECE_F_REMOTE: the peer sent a pair */
	CMX_ECE_F_REMOTE = 1 << 2,
	/** @CMX_ECE_F_APPLIED: both ends sent a pair; if the answer has options 0, ECE is unused */
	CMX_ECE_F_APPLIED = 1 << 3,
	/** @CMX_ECE_F_REJECTED: the connection was rejected with reason 35 */
	CMX_ECE_F_REJECTED = 1 << 4,
};

/**
 * struct cmx_ece_info - the ECE negotiation of an id
 * @local: pair that this end offers or replies with
 * @remote: pair that the peer offered or replied with
 * @flags: enum cmx_ece_flags
 * @policy: enum cmx_ece_policy
 */
struct cmx_ece_info {
	struct rdma_ucm_ece local;
	struct rdma_ucm_ece remote;
	__u32 flags;
	__u32 policy;
};

/** enum cmx_mcast_mask - valid fields of struct cmx_mcast_attr */
enum cmx_mcast_mask {
	CMX_MCAST_QKEY = 1 << 0,
	CMX_MCAST_PKEY = 1 << 1,
	CMX_MCAST_MTU = 1 << 2,
	CMX_MCAST_RATE = 1 << 3,
	CMX_MCAST_SL = 1 << 4,
	CMX_MCAST_FLOW_LABEL = 1 << 5,
	CMX_MCAST_TCLASS = 1 << 6,
	CMX_MCAST_HOP_LIMIT = 1 << 7,
	CMX_MCAST_SCOPE = 1 << 8,
};

/** enum cmx_mcast_join_state - membership, IBTA 15.2.5.17 JoinState */
enum cmx_mcast_join_state {
	CMX_MCAST_FULL = 0,
	CMX_MCAST_SENDONLY_FULL = 1,
	CMX_MCAST_NON = 2,
	CMX_MCAST_SENDONLY_NON = 3,
};

/**
 * struct cmx_mcast_attr - attributes of one join
 * @mask: enum cmx_mcast_mask: the fields below that are valid
 * @join_state: enum cmx_mcast_join_state
 * @qkey: Q_Key
 * @flow_label: 0..0xfffff
 * @pkey: P_Key (InfiniBand)
 * @mtu: enum ib_mtu
 * @rate: enum ib_rate
 * @sl: 0..15
 * @tclass: traffic class
 * @hop_limit: hop limit
 * @scope: multicast scope (InfiniBand)
 * @reserved: 0
 */
struct cmx_mcast_attr {
	__u32 mask;
	__u32 join_state;
	__u32 qkey;
	__u32 flow_label;
	__u16 pkey;
	__u8 mtu;
	__u8 rate;
	__u8 sl;
	__u8 tclass;
	__u8 hop_limit;
	__u8 scope;
	__u32 reserved;
};

/**
 * enum cmx_event_type - event types of rdma_resolve_addrinfo() and CMX_ID_WRITE_EVENT
 *
 * Older headers lack these values of enum rdma_cm_event_type.
 */
enum cmx_event_type {
	/** @CMX_EVENT_ADDRINFO_RESOLVED: rdma_resolve_addrinfo() has succeeded */
	CMX_EVENT_ADDRINFO_RESOLVED = 16,
	/** @CMX_EVENT_ADDRINFO_ERROR: CMX_ID_RESOLVE_SERVICE has failed */
	CMX_EVENT_ADDRINFO_ERROR = 17,
	/** @CMX_EVENT_USER: from rdma_write_cm_event() */
	CMX_EVENT_USER = 18,
};

/**
 * struct cmx_service_rec - a port that offers a service, from a ServiceRecord of the SA
 * @service_id: service ID, in network byte order
 * @gid: GID of the port
 * @pkey: P_Key, in network byte order
 * @reserved: 0
 * @lease: seconds for which the SA keeps the record
 */
struct cmx_service_rec {
	__be64 service_id;
	__u8 gid[16];
	__be16 pkey;
	__u16 reserved;
	__u32 lease;
};

/**
 * define CMX_MAX_QUEUED - from this number of unfetched events on, an id refuses
 * %CMX_ID_WRITE_EVENT. From twice this number on, it cannot resolve anything, and
 * %CMX_MCAST_REPORT fails. Independently of that, at most one ADDR_CHANGE and one UNREACHABLE that
 * changes of link layer addresses have caused are queued
 */
#define CMX_MAX_QUEUED 1024

/** enum cmx_event_flags - valid parts of struct cmx_event_record */
enum cmx_event_flags {
	/** @CMX_EVENT_F_UD: @param is ud, not conn */
	CMX_EVENT_F_UD = 1 << 0,
	/** @CMX_EVENT_F_INFO: @info of the record is valid */
	CMX_EVENT_F_INFO = 1 << 1,
	/** @CMX_EVENT_F_QP: @rtr and @rts are valid */
	CMX_EVENT_F_QP = 1 << 2,
	/** @CMX_EVENT_F_MCAST: @user_data and @id name a membership */
	CMX_EVENT_F_MCAST = 1 << 3,
	/** @CMX_EVENT_F_REJOIN: rejoined after a membership error */
	CMX_EVENT_F_REJOIN = 1 << 4,
};

/**
 * struct cmx_event_resp - one event
 * @user_data: user data (CMX_ATTR_USER_DATA) of the id or of the membership; for CONNECT_REQUEST,
 *       that of the listener. An id that came with a request has no events before CMX_ID_ACCEPT
 *       sets it.
 * @id: handle of the id, of the membership, or of the new id
 * @listen_id: handle of the listener, for CONNECT_REQUEST
 * @event: enum rdma_cm_event_type, or enum cmx_event_type
 * @status: 0, -errno, the reason of a REJ, the status of a SIDR REP (UNREACHABLE), or
 *       CMX_ATTR_STATUS
 * @flags: enum cmx_event_flags
 * @reserved: 0
 * @ece: the peer's ECE
 * @param: connection or datagram parameters; for enum cmx_event_type, arg
 * @rtr: attributes that ibv_modify_qp() needs for RTR; not written without CMX_EVENT_F_QP
 * @rts: attributes that ibv_modify_qp() needs for RTS; not written without CMX_EVENT_F_QP
 */
struct cmx_event_resp {
	__aligned_u64 user_data;
	__u32 id;
	__u32 listen_id;
	__u32 event;
	__s32 status;
	__u32 flags;
	__u32 reserved;
	struct rdma_ucm_ece ece;
	union {
		struct rdma_ucm_conn_param conn;
		struct rdma_ucm_ud_param ud;
		__aligned_u64 arg;
	} param;
	struct ib_uverbs_qp_attr rtr;
	struct ib_uverbs_qp_attr rts;
};

/**
 * struct cmx_event_sizes - sizes of the parts of each event record
 * @resp: sizeof(struct cmx_event_resp) in the caller's header, at least up to and
 *	including @param; a multiple of 8
 * @info: sizeof(struct cmx_id_info) in the caller's header, at least up to and
 *	including @src_addr, or 0 if the caller does not want it; a multiple of 8
 *
 * If a part is longer than this kernel knows, the kernel zeroes the surplus.
 */
struct cmx_event_sizes {
	__u32 resp;
	__u32 info;
};

/**
 * struct cmx_event_record - one element of CMX_ATTR_EVENTS, for a caller that passes the sizes of
 *	this header
 * @resp: the event
 * @info: current state of the id; not written without CMX_EVENT_F_INFO
 */
struct cmx_event_record {
	struct cmx_event_resp resp;
	struct cmx_id_info info;
};

/** define CMX_LIST_MIN_LEN - length of the shortest buffer for CMX_CHANNEL_LIST_IDS */
#define CMX_LIST_MIN_LEN 4096

/** define CMX_LIST_MAX_RECORD - highest CMX_ATTR_RECORD_SIZE */
#define CMX_LIST_MAX_RECORD 2048

/** enum cmx_id_flags - flags of struct cmx_id_record */
enum cmx_id_flags {
	/** @CMX_ID_F_KERNEL: the id belongs to a kernel ULP */
	CMX_ID_F_KERNEL = 1 << 0,
	/**
	 * @CMX_ID_F_BUSY: a call keeps the id locked. Only the fields up to @comm
	 * are valid, and @comm of a ULP's id is empty
	 */
	CMX_ID_F_BUSY = 1 << 1,
	/** @CMX_ID_F_ESTABLISHED: the connection is established */
	CMX_ID_F_ESTABLISHED = 1 << 2,
	/** @CMX_ID_F_PASSIVE: the passive side of a connection, or a listener */
	CMX_ID_F_PASSIVE = 1 << 3,
};

/** enum cmx_id_transport - transport of an id */
enum cmx_id_transport {
	/** @CMX_ID_TRANSPORT_NONE: the id has no device */
	CMX_ID_TRANSPORT_NONE = 0,
	/** @CMX_ID_TRANSPORT_IB: InfiniBand */
	CMX_ID_TRANSPORT_IB = 1,
	/** @CMX_ID_TRANSPORT_ROCE_V1: RoCE v1 */
	CMX_ID_TRANSPORT_ROCE_V1 = 2,
	/** @CMX_ID_TRANSPORT_ROCE_V2: RoCE v2 */
	CMX_ID_TRANSPORT_ROCE_V2 = 3,
	/** @CMX_ID_TRANSPORT_IWARP: iWARP */
	CMX_ID_TRANSPORT_IWARP = 4,
};

/**
 * struct cmx_id_option - value of an option of an id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @name: option within @level
 * @value: the value in effect; for RDMA_OPTION_IB_PATH the number of path records
 * @flags: enum cmx_opt_flags
 */
struct cmx_id_option {
	__u32 level;
	__u32 name;
	__u32 value;
	__u32 flags;
};

/**
 * struct cmx_id_record - description of an id in CMX_ATTR_LIST
 * @size: size of this record in bytes, options included; the next record follows
 * @known: number of bytes up to the options that the module knows; the rest of them is zero
 * @num_options: number of struct cmx_id_option, which begin CMX_ATTR_RECORD_SIZE bytes after the
 *	start of the record. Options that the transport lacks are omitted, and so are options whose
 *	value comes from the path until the route is resolved
 * @flags: enum cmx_id_flags
 * @trace_id: value that the tracepoints print for the id; 0 if the caller lacks CAP_NET_ADMIN in
 *	the initial user namespace
 * @handle: handle; 0 for an id of a ULP
 * @pid: process that opened the file of the id, in the PID namespace of the caller; 0 if it has
 *	ended or is not in that namespace
 * @uid: user that opened the file, in the user namespace of the caller
 * @netns: inode number of the network namespace
 * @age: seconds since the id was created
 * @state: enum cmx_id_state
 * @ps: enum rdma_ucm_port_space
 * @qp_num: number of the QP; 0: not known yet
 * @qp_type: enum ib_qp_type
 * @queued: number of events that the process has not fetched
 * @reserved: 0
 * @comm: name of the process @pid, or of the kernel module that owns the id
 * @groups: number of memberships
 * @transport: enum cmx_id_transport
 * @port_num: port; 0 without a device
 * @ece_flags: enum cmx_ece_flags
 * @ece_local: ECE pair of this end
 * @ece_remote: ECE pair of the peer
 * @device: name of the device; empty without a device
 * @src_addr: local address, with the port
 * @dst_addr: address of the peer, with the port
 */
struct cmx_id_record {
	__u32 size;
	__u16 known;
	__u16 num_options;
	__aligned_u64 trace_id;
	__u32 flags;
	__u32 handle;
	__s32 pid;
	__u32 uid;
	__u32 netns;
	__u32 age;
	__u32 state;
	__u32 ps;
	__u32 qp_num;
	__u32 qp_type;
	__u32 queued;
	__u32 reserved;
	char comm[16];
	__u32 groups;
	__u32 transport;
	__u32 port_num;
	__u32 ece_flags;
	struct rdma_ucm_ece ece_local;
	struct rdma_ucm_ece ece_remote;
	char device[64];
	struct __kernel_sockaddr_storage src_addr;
	struct __kernel_sockaddr_storage dst_addr;
};

#endif
