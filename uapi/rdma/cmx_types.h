/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The user ABI of rdma_cmx: values and structures.
 *
 * Numbers have the byte order of the host, also P_Keys and Q_Keys. Fields in network byte order
 * have a type that says so: service IDs, GUIDs, and the addresses and ports of a sockaddr.
 */
#ifndef RDMA_CMX_TYPES_H
#define RDMA_CMX_TYPES_H

#include <linux/types.h>
#include <linux/socket.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

/** enum cmx_feature - parts of the module that it lacks on some kernels */
enum cmx_feature {
	/** @CMX_FEATURE_SERVICES: %CMX_ID_RESOLVE_SERVICE */
	CMX_FEATURE_SERVICES = 1 << 0,
};

/**
 * struct cmx_module_info - features and limits of the module
 * @features: enum cmx_feature
 * @max_attrs: attributes in one call
 * @max_queued: CMX_MAX_QUEUED
 * @max_option_len: CMX_OPT_MAX_LEN
 * @num_options: options that the module knows
 */
struct cmx_module_info {
	__aligned_u64 features;
	__u32 max_attrs;
	__u32 max_queued;
	__u32 max_option_len;
	__u32 num_options;
};

/** enum cmx_ps - port space of an id */
enum cmx_ps {
	/** @CMX_PS_IPOIB: datagrams to QPs and groups of IPoIB */
	CMX_PS_IPOIB = 0x0002,
	/** @CMX_PS_TCP: connections */
	CMX_PS_TCP = 0x0106,
	/** @CMX_PS_UDP: datagrams */
	CMX_PS_UDP = 0x0111,
	/** @CMX_PS_IB: service IDs of AF_IB addresses, for connections and datagrams */
	CMX_PS_IB = 0x013f,
};

/** enum cmx_qp_type - type of a QP, as enum ibv_qp_type */
enum cmx_qp_type {
	/** @CMX_QPT_RC: reliable connection */
	CMX_QPT_RC = 2,
	/** @CMX_QPT_UC: unreliable connection */
	CMX_QPT_UC = 3,
	/** @CMX_QPT_UD: datagrams */
	CMX_QPT_UD = 4,
	/** @CMX_QPT_XRC_INI: initiator of an XRC connection */
	CMX_QPT_XRC_INI = 9,
	/** @CMX_QPT_XRC_TGT: target of an XRC connection */
	CMX_QPT_XRC_TGT = 10,
};

/** enum cmx_qp_state - state of a QP, as enum ibv_qp_state */
enum cmx_qp_state {
	/** @CMX_QPS_RESET: just created */
	CMX_QPS_RESET = 0,
	/** @CMX_QPS_INIT: has its port and P_Key */
	CMX_QPS_INIT = 1,
	/** @CMX_QPS_RTR: ready to receive */
	CMX_QPS_RTR = 2,
	/** @CMX_QPS_RTS: ready to send */
	CMX_QPS_RTS = 3,
	/** @CMX_QPS_SQD: send queue drained */
	CMX_QPS_SQD = 4,
	/** @CMX_QPS_SQE: send queue error */
	CMX_QPS_SQE = 5,
	/** @CMX_QPS_ERR: error */
	CMX_QPS_ERR = 6,
};

/** enum cmx_notify - values of %CMX_ATTR_NOTIFY, as enum ibv_event_type */
enum cmx_notify {
	/** @CMX_NOTIFY_QP_FATAL: the QP cannot be used any more */
	CMX_NOTIFY_QP_FATAL = 1,
	/** @CMX_NOTIFY_COMM_EST: the QP has received a message before the RTU */
	CMX_NOTIFY_COMM_EST = 4,
};

/**
 * enum cmx_reject_reason - reason of a REJ, IBTA 12.6.7.2
 *
 * The @status of REJECTED. On iWARP it is -errno, for example -ECONNREFUSED.
 */
enum cmx_reject_reason {
	/** @CMX_REJ_NO_QP: no QP is available */
	CMX_REJ_NO_QP = 1,
	/** @CMX_REJ_NO_EEC: no end-to-end context is available */
	CMX_REJ_NO_EEC = 2,
	/** @CMX_REJ_NO_RESOURCES: other resources are missing */
	CMX_REJ_NO_RESOURCES = 3,
	/** @CMX_REJ_TIMEOUT: the peer waited too long for the next message */
	CMX_REJ_TIMEOUT = 4,
	/** @CMX_REJ_UNSUPPORTED: the request is not supported */
	CMX_REJ_UNSUPPORTED = 5,
	/** @CMX_REJ_INVALID_COMM_ID: the peer does not know the communication ID */
	CMX_REJ_INVALID_COMM_ID = 6,
	/** @CMX_REJ_INVALID_COMM_INSTANCE: the communication ID does not belong to this QP */
	CMX_REJ_INVALID_COMM_INSTANCE = 7,
	/** @CMX_REJ_INVALID_SERVICE_ID: nobody listens on that port */
	CMX_REJ_INVALID_SERVICE_ID = 8,
	/** @CMX_REJ_INVALID_TRANSPORT_TYPE: the service does not offer this type of QP */
	CMX_REJ_INVALID_TRANSPORT_TYPE = 9,
	/** @CMX_REJ_STALE_CONN: the peer has an older connection with that QP */
	CMX_REJ_STALE_CONN = 10,
	/** @CMX_REJ_RDC_NOT_EXIST: the reliable datagram channel does not exist */
	CMX_REJ_RDC_NOT_EXIST = 11,
	/** @CMX_REJ_INVALID_GID: invalid GID of the peer in the primary path */
	CMX_REJ_INVALID_GID = 12,
	/** @CMX_REJ_INVALID_LID: invalid LID of the peer in the primary path */
	CMX_REJ_INVALID_LID = 13,
	/** @CMX_REJ_INVALID_SL: invalid SL in the primary path */
	CMX_REJ_INVALID_SL = 14,
	/** @CMX_REJ_INVALID_TRAFFIC_CLASS: invalid traffic class in the primary path */
	CMX_REJ_INVALID_TRAFFIC_CLASS = 15,
	/** @CMX_REJ_INVALID_HOP_LIMIT: invalid hop limit in the primary path */
	CMX_REJ_INVALID_HOP_LIMIT = 16,
	/** @CMX_REJ_INVALID_PACKET_RATE: invalid packet rate in the primary path */
	CMX_REJ_INVALID_PACKET_RATE = 17,
	/** @CMX_REJ_INVALID_ALT_GID: invalid GID of the peer in the alternate path */
	CMX_REJ_INVALID_ALT_GID = 18,
	/** @CMX_REJ_INVALID_ALT_LID: invalid LID of the peer in the alternate path */
	CMX_REJ_INVALID_ALT_LID = 19,
	/** @CMX_REJ_INVALID_ALT_SL: invalid SL in the alternate path */
	CMX_REJ_INVALID_ALT_SL = 20,
	/** @CMX_REJ_INVALID_ALT_TRAFFIC_CLASS: invalid traffic class in the alternate path */
	CMX_REJ_INVALID_ALT_TRAFFIC_CLASS = 21,
	/** @CMX_REJ_INVALID_ALT_HOP_LIMIT: invalid hop limit in the alternate path */
	CMX_REJ_INVALID_ALT_HOP_LIMIT = 22,
	/** @CMX_REJ_INVALID_ALT_PACKET_RATE: invalid packet rate in the alternate path */
	CMX_REJ_INVALID_ALT_PACKET_RATE = 23,
	/** @CMX_REJ_PORT_CM_REDIRECT: another port receives the CM messages of the service */
	CMX_REJ_PORT_CM_REDIRECT = 24,
	/** @CMX_REJ_PORT_REDIRECT: another port offers the service */
	CMX_REJ_PORT_REDIRECT = 25,
	/** @CMX_REJ_INVALID_MTU: invalid path MTU */
	CMX_REJ_INVALID_MTU = 26,
	/** @CMX_REJ_INSUFFICIENT_RESP_RESOURCES: too few responder resources */
	CMX_REJ_INSUFFICIENT_RESP_RESOURCES = 27,
	/** @CMX_REJ_CONSUMER_DEFINED: the program of the peer rejected */
	CMX_REJ_CONSUMER_DEFINED = 28,
	/** @CMX_REJ_INVALID_RNR_RETRY: invalid RNR retry count */
	CMX_REJ_INVALID_RNR_RETRY = 29,
	/** @CMX_REJ_DUPLICATE_LOCAL_COMM_ID: the communication ID is in use */
	CMX_REJ_DUPLICATE_LOCAL_COMM_ID = 30,
	/** @CMX_REJ_INVALID_CLASS_VERSION: the peer has another version of the CM protocol */
	CMX_REJ_INVALID_CLASS_VERSION = 31,
	/** @CMX_REJ_INVALID_FLOW_LABEL: invalid flow label in the primary path */
	CMX_REJ_INVALID_FLOW_LABEL = 32,
	/** @CMX_REJ_INVALID_ALT_FLOW_LABEL: invalid flow label in the alternate path */
	CMX_REJ_INVALID_ALT_FLOW_LABEL = 33,
	/** @CMX_REJ_VENDOR_OPTION_NOT_SUPPORTED: the peer does not support the offered ECE */
	CMX_REJ_VENDOR_OPTION_NOT_SUPPORTED = 35,
};

/**
 * struct cmx_sockaddr_ib - an AF_IB address, as struct sockaddr_ib
 * @sib_family: AF_IB, 27
 * @sib_pkey: P_Key
 * @sib_flowinfo: 0
 * @sib_addr: GID
 * @sib_sid: service ID: the port space in bits 16 to 31, the port in bits 0 to 15
 * @sib_sid_mask: bits of @sib_sid that are valid
 * @sib_scope_id: 0
 */
struct cmx_sockaddr_ib {
	__kernel_sa_family_t sib_family;
	__be16 sib_pkey;
	__be32 sib_flowinfo;
	__u8 sib_addr[16];
	__be64 sib_sid;
	__be64 sib_sid_mask;
	__aligned_u64 sib_scope_id;
};

/** define CMX_PRIVATE_DATA - size of the field for private data */
#define CMX_PRIVATE_DATA 256

/**
 * struct cmx_conn_param - parameters of a connection
 * @qp_num: number of the QP
 * @qkey: Q_Key, for an AF_IB id with datagrams
 * @private_data: private data
 * @private_data_len: number of valid bytes of @private_data
 * @srq: 1: the QP has an SRQ
 * @responder_resources: RDMA reads and atomics that this end takes at once
 * @initiator_depth: RDMA reads and atomics that this end sends at once
 * @flow_control: 1: end-to-end flow control
 * @retry_count: resends of a packet without ACK, 0..7
 * @rnr_retry_count: resends after an RNR NAK, 0..6; 7: no limit
 * @valid: 1 as input
 */
struct cmx_conn_param {
	__u32 qp_num;
	__u32 qkey;
	__u8 private_data[CMX_PRIVATE_DATA];
	__u8 private_data_len;
	__u8 srq;
	__u8 responder_resources;
	__u8 initiator_depth;
	__u8 flow_control;
	__u8 retry_count;
	__u8 rnr_retry_count;
	__u8 valid;
};

/**
 * struct cmx_ud_param - parameters of a datagram peer or of a group
 * @qp_num: number of the QP to send to
 * @qkey: Q_Key to send with
 * @ah_attr: attributes of the address handle to send with
 * @private_data: private data
 * @private_data_len: number of valid bytes of @private_data
 * @reserved: 0
 */
struct cmx_ud_param {
	__u32 qp_num;
	__u32 qkey;
	struct ib_uverbs_ah_attr ah_attr;
	__u8 private_data[CMX_PRIVATE_DATA];
	__u8 private_data_len;
	__u8 reserved[7];
};

/**
 * struct cmx_ece - an ECE pair
 * @vendor_id: IEEE OUI of the vendor; 0: no ECE
 * @options: bits that this vendor defines
 */
struct cmx_ece {
	__u32 vendor_id;
	__u32 options;
};

/** define CMX_OPT_MAX_LEN - longest option value, which is six path records */
#define CMX_OPT_MAX_LEN (6 * sizeof(struct ib_path_rec_data))

/** enum cmx_opt_flags - CMX_ATTR_OPT_FLAGS */
enum cmx_opt_flags {
	/** @CMX_OPT_F_SET: set on this id (or inherited), not a default */
	CMX_OPT_F_SET = 1 << 0,
	/** @CMX_OPT_F_RULE: from a rule, see struct cmx_rule */
	CMX_OPT_F_RULE = 1 << 1,
	/** @CMX_OPT_F_FORCE: from a rule with CMX_RULE_F_FORCE; setting it has no effect */
	CMX_OPT_F_FORCE = 1 << 2,
};

/** enum cmx_option_level - levels of options */
enum cmx_option_level {
	/** @CMX_OPTION_LEVEL_ID: enum cmx_id_option_name, as RDMA_OPTION_ID */
	CMX_OPTION_LEVEL_ID = 0,
	/** @CMX_OPTION_LEVEL_IB: enum cmx_ib_option_name, as RDMA_OPTION_IB */
	CMX_OPTION_LEVEL_IB = 1,
	/** @CMX_OPTION: enum cmx_option_name, the options that rdma_cmx adds */
	CMX_OPTION = 0x434d,
};

/** enum cmx_id_option_name - names at level CMX_OPTION_LEVEL_ID, as RDMA_OPTION_ID_* */
enum cmx_id_option_name {
	/** @CMX_ID_OPTION_TOS: traffic class, u8 or u32 */
	CMX_ID_OPTION_TOS = 0,
	/** @CMX_ID_OPTION_REUSEADDR: share the port, u32 */
	CMX_ID_OPTION_REUSEADDR = 1,
	/** @CMX_ID_OPTION_AFONLY: no IPv4 on an IPv6 wildcard, u32 */
	CMX_ID_OPTION_AFONLY = 2,
	/** @CMX_ID_OPTION_ACK_TIMEOUT: ACK timeout of the QP, u8 or u32 */
	CMX_ID_OPTION_ACK_TIMEOUT = 3,
};

/** enum cmx_ib_option_name - names at level CMX_OPTION_LEVEL_IB */
enum cmx_ib_option_name {
	/** @CMX_IB_OPTION_PATH: array of struct ib_path_rec_data */
	CMX_IB_OPTION_PATH = 1,
};

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
	/** @CMX_OPTION_GID_TYPE: 0: InfiniBand, 1: RoCE v1, 2: RoCE v2 */
	CMX_OPTION_GID_TYPE = 9,
	/** @CMX_OPTION_PKEY: P_Key (InfiniBand) */
	CMX_OPTION_PKEY = 10,
	/**
	 * @CMX_OPTION_PATH_MTU: path MTU, not above the port's; 1 to 5: 256, 512, 1024, 2048,
	 * 4096 bytes
	 */
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
 * @node_guid: node GUID of the device; 0 on some devices
 * @ibdev_index: index of the device
 * @port_num: port; 0 without a device, and then the other fields of the device are 0 too
 * @num_paths: number of path records in @path
 * @state: enum cmx_id_state
 * @reserved0: 0
 * @pkey: P_Key
 * @tos: effective traffic class
 * @qp_type: enum cmx_qp_type
 * @reserved: 0
 * @sgid: source GID
 * @dgid: destination GID
 * @src_addr: local address, with the port
 * @dst_addr: address of the peer, with the port
 * @path: primary and alternate path record
 * @init_attr: attributes that ibv_modify_qp() needs for INIT; qp_state is 0 if they are not known
 */
struct cmx_id_info {
	__aligned_be64 node_guid;
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
	struct cmx_ece local;
	struct cmx_ece remote;
	__u32 flags;
	__u32 policy;
};

/** enum cmx_mcast_mask - valid fields of struct cmx_mcast_attr */
enum cmx_mcast_mask {
	/** @CMX_MCAST_QKEY: @qkey */
	CMX_MCAST_QKEY = 1 << 0,
	/** @CMX_MCAST_PKEY: @pkey */
	CMX_MCAST_PKEY = 1 << 1,
	/** @CMX_MCAST_MTU: @mtu */
	CMX_MCAST_MTU = 1 << 2,
	/** @CMX_MCAST_RATE: @rate */
	CMX_MCAST_RATE = 1 << 3,
	/** @CMX_MCAST_SL: @sl */
	CMX_MCAST_SL = 1 << 4,
	/** @CMX_MCAST_FLOW_LABEL: @flow_label */
	CMX_MCAST_FLOW_LABEL = 1 << 5,
	/** @CMX_MCAST_TCLASS: @tclass */
	CMX_MCAST_TCLASS = 1 << 6,
	/** @CMX_MCAST_HOP_LIMIT: @hop_limit */
	CMX_MCAST_HOP_LIMIT = 1 << 7,
	/** @CMX_MCAST_SCOPE: @scope */
	CMX_MCAST_SCOPE = 1 << 8,
};

/** enum cmx_mcast_join_state - membership, IBTA 15.2.5.17 JoinState */
enum cmx_mcast_join_state {
	/** @CMX_MCAST_FULL: receives and sends, and creates a missing group */
	CMX_MCAST_FULL = 0,
	/** @CMX_MCAST_SENDONLY_FULL: as CMX_MCAST_FULL, but only sends */
	CMX_MCAST_SENDONLY_FULL = 1,
	/** @CMX_MCAST_NON: as CMX_MCAST_FULL, but neither creates the group nor keeps it */
	CMX_MCAST_NON = 2,
	/** @CMX_MCAST_SENDONLY_NON: as CMX_MCAST_NON, but only sends */
	CMX_MCAST_SENDONLY_NON = 3,
};

/**
 * struct cmx_mcast_attr - attributes of one join
 * @mask: enum cmx_mcast_mask: the fields below that are valid
 * @join_state: enum cmx_mcast_join_state
 * @qkey: Q_Key
 * @flow_label: 0..0xfffff
 * @pkey: P_Key (InfiniBand)
 * @mtu: as CMX_OPTION_PATH_MTU
 * @rate: code of the rate, IBTA 15.2.5.17, as enum ibv_rate
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

/** enum cmx_event_type - event types, as enum rdma_cm_event_type */
enum cmx_event_type {
	/** @CMX_EVENT_ADDR_RESOLVED: the address of the peer is resolved */
	CMX_EVENT_ADDR_RESOLVED = 0,
	/** @CMX_EVENT_ADDR_ERROR: it could not be resolved */
	CMX_EVENT_ADDR_ERROR = 1,
	/** @CMX_EVENT_ROUTE_RESOLVED: the path is known */
	CMX_EVENT_ROUTE_RESOLVED = 2,
	/** @CMX_EVENT_ROUTE_ERROR: no path was found */
	CMX_EVENT_ROUTE_ERROR = 3,
	/** @CMX_EVENT_CONNECT_REQUEST: a peer connects to the listener */
	CMX_EVENT_CONNECT_REQUEST = 4,
	/** @CMX_EVENT_CONNECT_RESPONSE: the peer has accepted; CMX_ID_ESTABLISH has to follow */
	CMX_EVENT_CONNECT_RESPONSE = 5,
	/** @CMX_EVENT_CONNECT_ERROR: the connection failed at this end */
	CMX_EVENT_CONNECT_ERROR = 6,
	/** @CMX_EVENT_UNREACHABLE: the peer does not reply */
	CMX_EVENT_UNREACHABLE = 7,
	/** @CMX_EVENT_REJECTED: the peer has rejected; enum cmx_reject_reason */
	CMX_EVENT_REJECTED = 8,
	/** @CMX_EVENT_ESTABLISHED: the connection is established, or the datagram peer is known */
	CMX_EVENT_ESTABLISHED = 9,
	/** @CMX_EVENT_DISCONNECTED: the connection has ended */
	CMX_EVENT_DISCONNECTED = 10,
	/** @CMX_EVENT_DEVICE_REMOVAL: the device goes; the id has to be destroyed */
	CMX_EVENT_DEVICE_REMOVAL = 11,
	/** @CMX_EVENT_MULTICAST_JOIN: the group is joined */
	CMX_EVENT_MULTICAST_JOIN = 12,
	/** @CMX_EVENT_MULTICAST_ERROR: the join failed, or the membership was lost */
	CMX_EVENT_MULTICAST_ERROR = 13,
	/** @CMX_EVENT_ADDR_CHANGE: the address of the interface has moved to another device */
	CMX_EVENT_ADDR_CHANGE = 14,
	/** @CMX_EVENT_TIMEWAIT_EXIT: the QP may be used again */
	CMX_EVENT_TIMEWAIT_EXIT = 15,
	/** @CMX_EVENT_ADDRINFO_RESOLVED: rdma_resolve_addrinfo() has succeeded */
	CMX_EVENT_ADDRINFO_RESOLVED = 16,
	/** @CMX_EVENT_ADDRINFO_ERROR: CMX_ID_RESOLVE_SERVICE has failed */
	CMX_EVENT_ADDRINFO_ERROR = 17,
	/** @CMX_EVENT_USER: from rdma_write_cm_event() */
	CMX_EVENT_USER = 18,
};

/**
 * struct cmx_service_rec - a port that offers a service, from a ServiceRecord of the SA
 * @service_id: service ID
 * @gid: GID of the port
 * @pkey: P_Key
 * @reserved: 0
 * @lease: seconds for which the SA keeps the record
 */
struct cmx_service_rec {
	__aligned_be64 service_id;
	__u8 gid[16];
	__u16 pkey;
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
	/** @CMX_EVENT_F_REJOIN: the membership was lost, and the group was joined again */
	CMX_EVENT_F_REJOIN = 1 << 4,
};

/**
 * struct cmx_event_resp - one event
 * @user_data: user data (CMX_ATTR_USER_DATA) of the id or of the membership; for CONNECT_REQUEST,
 *       that of the listener. An id that came with a request has no events before CMX_ID_ACCEPT
 *       sets it.
 * @id: handle of the id, of the membership, or of the new id
 * @listen_id: handle of the listener, for CONNECT_REQUEST
 * @event: enum cmx_event_type
 * @status: 0, -errno, the reason of a REJ, the status of a SIDR REP (UNREACHABLE), or
 *       CMX_ATTR_STATUS
 * @flags: enum cmx_event_flags
 * @reserved: 0
 * @ece: the peer's ECE
 * @param: connection or datagram parameters; arg for events of %CMX_ID_WRITE_EVENT
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
	struct cmx_ece ece;
	union {
		struct cmx_conn_param conn;
		struct cmx_ud_param ud;
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
	/**
	 * @CMX_ID_F_WAITING: a REQ, SIDR REQ or DREQ of the id waits for the send
	 * window of its user
	 */
	CMX_ID_F_WAITING = 1 << 4,
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
 * @level: enum cmx_option_level
 * @name: option within @level
 * @value: the value in effect; for CMX_IB_OPTION_PATH the number of path records
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
 * @ps: enum cmx_ps
 * @qp_num: number of the QP; 0: not known yet
 * @qp_type: enum cmx_qp_type
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
	struct cmx_ece ece_local;
	struct cmx_ece ece_remote;
	char device[64];
	struct __kernel_sockaddr_storage src_addr;
	struct __kernel_sockaddr_storage dst_addr;
};

#endif
