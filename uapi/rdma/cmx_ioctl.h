/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The user ABI of rdma_cmx: the ioctl, its objects, methods and attributes.
 */
#ifndef RDMA_CMX_IOCTL_H
#define RDMA_CMX_IOCTL_H

#include <linux/types.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/cmx_rule.h>
#include <rdma/cmx_types.h>

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
 * A call that fails has changed no object, except %CMX_ID_NOTIFY with %CMX_NOTIFY_QP_FATAL. Its
 * output buffers may have been written.
 */

/** define CMX_DEVICE_NAME - name of the char device, in /dev/infiniband */
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
	/** @CMX_OBJ_CHANNEL: an open file: enum cmx_channel_method */
	CMX_OBJ_CHANNEL = 0,
	/** @CMX_OBJ_ID: an id: enum cmx_id_method */
	CMX_OBJ_ID = 1,
	/** @CMX_OBJ_MCAST: the membership of an id in a group: enum cmx_mcast_method */
	CMX_OBJ_MCAST = 2,
	/** @CMX_OBJ_NUM: number of objects */
	CMX_OBJ_NUM,
};

/** enum cmx_channel_method - methods of CMX_OBJ_CHANNEL */
enum cmx_channel_method {
	/**
	 * @CMX_CHANNEL_INFO: optionally out CMX_ATTR_VERSION and
	 * CMX_ATTR_VERSION_MIN: the newest and the oldest version that the
	 * module accepts; CMX_ATTR_MODULE_INFO; CMX_ATTR_OPTIONS (as many as
	 * fit): the options that the module knows, each with the default of
	 * the host as its value. Without them the call checks only whether the
	 * caller can use the file.
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
	/**
	 * @CMX_CHANNEL_KILL: end the id CMX_ATTR_ID of any file. An established
	 * connection gets DISCONNECTED, and every other id DEVICE_REMOVAL.
	 * EPERM without CAP_NET_ADMIN in the network namespace of the caller.
	 * ENOENT also if LIST_IDS does not report the id for that capability.
	 * EOPNOTSUPP: an id of a kernel ULP
	 */
	CMX_CHANNEL_KILL = 3,
	/**
	 * @CMX_CHANNEL_GET_RULES: the rules of the caller's network namespace;
	 * optionally out CMX_ATTR_RULES (array of struct cmx_rule, as many as
	 * fit), out CMX_ATTR_COUNT (u32, number of rules that there are), out
	 * CMX_ATTR_GENERATION (u64, changes with the rules; 0 without rules)
	 */
	CMX_CHANNEL_GET_RULES = 4,
	/**
	 * @CMX_CHANNEL_SET_RULES: replace all rules of the caller's network
	 * namespace; in CMX_ATTR_RULES (array of struct cmx_rule; without it
	 * there are no rules afterwards), CMX_ATTR_GENERATION (u64, as read).
	 * EPERM without CAP_NET_ADMIN in that namespace, or if a
	 * CM_RESPONSE_TIMEOUT needs CAP_NET_ADMIN in the initial user namespace.
	 * EAGAIN: the rules are no longer those of that generation. ENOSYS: no
	 * such option. EOPNOTSUPP: an option that a rule cannot set
	 */
	CMX_CHANNEL_SET_RULES = 5,
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
	 * @CMX_ID_CREATE: in CMX_ATTR_USER_DATA (u64), CMX_ATTR_PS (u32,
	 * enum cmx_ps), CMX_ATTR_QP_TYPE (u32, used in CMX_PS_IB
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
	 * default Q_Key of CMX_PS_IPOIB is not known
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
	 * (u8: CMX_REJ_CONSUMER_DEFINED or CMX_REJ_VENDOR_OPTION_NOT_SUPPORTED)
	 */
	CMX_ID_REJECT = 10,
	/**
	 * @CMX_ID_DISCONNECT: optionally in CMX_ATTR_QP_STATE. DISCONNECTED
	 * follows if the connection is established: at once if the QP is in the
	 * state CMX_QPS_ERR, otherwise when the peer replies, or with ETIMEDOUT if
	 * it does not. On iWARP the provider determines when it follows
	 */
	CMX_ID_DISCONNECT = 11,
	/**
	 * @CMX_ID_NOTIFY: in CMX_ATTR_NOTIFY (u32, enum cmx_notify).
	 * CMX_NOTIFY_COMM_EST: ESTABLISHED follows; EISCONN if the connection is
	 * established or this was reported before. CMX_NOTIFY_QP_FATAL fails with
	 * EINVAL, but the cached path records to the peer are dropped. All
	 * others: EINVAL. On iWARP a call has no effect, and fails with
	 * EINVAL if there is no connection
	 */
	CMX_ID_NOTIFY = 12,
	/**
	 * @CMX_ID_INIT_QP_ATTR: in CMX_ATTR_QP_STATE (u32, enum cmx_qp_state);
	 * out CMX_ATTR_QP_ATTR (struct ib_uverbs_qp_attr). ENOENT also if
	 * the port lacks the P_Key of the id. EADDRNOTAVAIL: the default Q_Key
	 * of CMX_PS_IPOIB is not known
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
	 * CMX_ATTR_OPT_FLAGS (u32, optional: enum cmx_opt_flags)
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
	 * CMX_ATTR_SERVICE_ID (__be64), or CMX_ATTR_SERVICE_NAME (without a
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
	 * default Q_Key of CMX_PS_IPOIB is not known. EOPNOTSUPP also
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
	/** @CMX_ATTR_ID: in u32: handle of the id */
	CMX_ATTR_ID = 0,
	/** @CMX_ATTR_OUT_ID: out u32: handle of the new id or membership */
	CMX_ATTR_OUT_ID = 1,
	/** @CMX_ATTR_MCAST_ID: in u32: handle of the membership */
	CMX_ATTR_MCAST_ID = 2,
	/** @CMX_ATTR_USER_DATA: in u64: user data, returned in events */
	CMX_ATTR_USER_DATA = 3,
	/** @CMX_ATTR_PS: in u32: enum cmx_ps */
	CMX_ATTR_PS = 4,
	/** @CMX_ATTR_QP_TYPE: in u32: enum cmx_qp_type; 0: a listener for all */
	CMX_ATTR_QP_TYPE = 5,
	/** @CMX_ATTR_SRC_ADDR: in: local address, a sockaddr of 16 to 128 bytes */
	CMX_ATTR_SRC_ADDR = 6,
	/** @CMX_ATTR_DST_ADDR: in: address of the peer or group, a sockaddr of 16 to 128 bytes */
	CMX_ATTR_DST_ADDR = 7,
	/** @CMX_ATTR_TIMEOUT: in u32: timeout in ms */
	CMX_ATTR_TIMEOUT = 8,
	/** @CMX_ATTR_BACKLOG: in s32: number of requests */
	CMX_ATTR_BACKLOG = 9,
	/** @CMX_ATTR_CONN_PARAM: in: struct cmx_conn_param */
	CMX_ATTR_CONN_PARAM = 10,
	/** @CMX_ATTR_ECE: in: struct cmx_ece, the local pair */
	CMX_ATTR_ECE = 11,
	/** @CMX_ATTR_PRIVATE_DATA: in: private data of a REJ, 0 to 255 bytes */
	CMX_ATTR_PRIVATE_DATA = 12,
	/** @CMX_ATTR_REASON: in u8: enum cmx_reject_reason */
	CMX_ATTR_REASON = 13,
	/** @CMX_ATTR_NOTIFY: in u32: enum cmx_notify */
	CMX_ATTR_NOTIFY = 14,
	/** @CMX_ATTR_QP_STATE: in u32: enum cmx_qp_state */
	CMX_ATTR_QP_STATE = 15,
	/** @CMX_ATTR_QP_ATTR: out: struct ib_uverbs_qp_attr */
	CMX_ATTR_QP_ATTR = 16,
	/** @CMX_ATTR_OPT_LEVEL: in u32: enum cmx_option_level */
	CMX_ATTR_OPT_LEVEL = 17,
	/** @CMX_ATTR_OPT_NAME: in u32: option within the level */
	CMX_ATTR_OPT_NAME = 18,
	/** @CMX_ATTR_OPT_VALUE: in: value of the option, up to CMX_OPT_MAX_LEN bytes */
	CMX_ATTR_OPT_VALUE = 19,
	/** @CMX_ATTR_OPT_OUT: out: value of the option, up to CMX_OPT_MAX_LEN bytes */
	CMX_ATTR_OPT_OUT = 20,
	/** @CMX_ATTR_OPT_FLAGS: out u32: enum cmx_opt_flags */
	CMX_ATTR_OPT_FLAGS = 21,
	/** @CMX_ATTR_FD: in s32: descriptor of another file */
	CMX_ATTR_FD = 22,
	/** @CMX_ATTR_MCAST: in: struct cmx_mcast_attr */
	CMX_ATTR_MCAST = 23,
	/** @CMX_ATTR_INFO: out: struct cmx_id_info, at least up to and including @src_addr */
	CMX_ATTR_INFO = 24,
	/** @CMX_ATTR_ECE_INFO: out: struct cmx_ece_info */
	CMX_ATTR_ECE_INFO = 25,
	/** @CMX_ATTR_EVENTS: out: array of struct cmx_event_record */
	CMX_ATTR_EVENTS = 26,
	/** @CMX_ATTR_COUNT: out u32: number of events, records or bytes, see the method */
	CMX_ATTR_COUNT = 27,
	/** @CMX_ATTR_VERSION: out u32: newest CMX_ABI_VERSION that the module accepts */
	CMX_ATTR_VERSION = 28,
	/** @CMX_ATTR_EVENT_SIZES: in: struct cmx_event_sizes */
	CMX_ATTR_EVENT_SIZES = 29,
	/** @CMX_ATTR_VERSION_MIN: out u32: oldest CMX_ABI_VERSION that the module accepts */
	CMX_ATTR_VERSION_MIN = 30,
	/** @CMX_ATTR_RECORD_SIZE: in u32: size in bytes of a record in the caller's header */
	CMX_ATTR_RECORD_SIZE = 31,
	/** @CMX_ATTR_CURSOR: in u64: position in the list of ids; 0: its start */
	CMX_ATTR_CURSOR = 32,
	/** @CMX_ATTR_NEXT_CURSOR: out u64: CMX_ATTR_CURSOR of the next call; 0 after the last id */
	CMX_ATTR_NEXT_CURSOR = 33,
	/** @CMX_ATTR_LIST: out: records (struct cmx_id_record), at least CMX_LIST_MIN_LEN bytes */
	CMX_ATTR_LIST = 34,
	/** @CMX_ATTR_EVENT: in u32: enum cmx_event_type */
	CMX_ATTR_EVENT = 35,
	/** @CMX_ATTR_STATUS: in s32: @status of the event */
	CMX_ATTR_STATUS = 36,
	/** @CMX_ATTR_ARG: in u64: @param.arg of the event */
	CMX_ATTR_ARG = 37,
	/** @CMX_ATTR_SERVICE_ID: in __be64: service ID */
	CMX_ATTR_SERVICE_ID = 38,
	/** @CMX_ATTR_SERVICE_NAME: in: name of a service, 1 to 63 bytes */
	CMX_ATTR_SERVICE_NAME = 39,
	/** @CMX_ATTR_SERVICES: out: array of struct cmx_service_rec */
	CMX_ATTR_SERVICES = 40,
	/** @CMX_ATTR_MODULE_INFO: out: struct cmx_module_info, at least up to @max_attrs */
	CMX_ATTR_MODULE_INFO = 41,
	/** @CMX_ATTR_OPTIONS: out: array of struct cmx_id_option */
	CMX_ATTR_OPTIONS = 42,
	/** @CMX_ATTR_RULES: in or out: array of struct cmx_rule */
	CMX_ATTR_RULES = 43,
	/** @CMX_ATTR_GENERATION: in or out u64: names the rules of a network namespace */
	CMX_ATTR_GENERATION = 44,
	/** @CMX_ATTR_NUM: number of attribute ids */
	CMX_ATTR_NUM,
};

#endif
