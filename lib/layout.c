// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The structs of the user ABI have the same layout in 32-bit and 64-bit programs, and no number of
 * the ABI changes. "make check" compiles this file for both, and looks for constants that it lacks;
 * it is never linked.
 */
#include <stddef.h>
#include <rdma/cmx_ioctl.h>

#define SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), "size of " #type)
#define OFFSET(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), "place of " #type "." #member)
#define NUMBER(name, number) _Static_assert((name) == (number), "number of " #name)

SIZE(cmx_module_info, 24);
OFFSET(cmx_module_info, max_attrs, 8);
OFFSET(cmx_module_info, max_queued, 12);
OFFSET(cmx_module_info, max_option_len, 16);
OFFSET(cmx_module_info, num_options, 20);

SIZE(cmx_sockaddr_ib, 48);
OFFSET(cmx_sockaddr_ib, sib_pkey, 2);
OFFSET(cmx_sockaddr_ib, sib_flowinfo, 4);
OFFSET(cmx_sockaddr_ib, sib_addr, 8);
OFFSET(cmx_sockaddr_ib, sib_sid, 24);
OFFSET(cmx_sockaddr_ib, sib_sid_mask, 32);
OFFSET(cmx_sockaddr_ib, sib_scope_id, 40);

SIZE(cmx_conn_param, 272);
OFFSET(cmx_conn_param, qkey, 4);
OFFSET(cmx_conn_param, private_data, 8);
OFFSET(cmx_conn_param, private_data_len, 264);
OFFSET(cmx_conn_param, srq, 265);
OFFSET(cmx_conn_param, responder_resources, 266);
OFFSET(cmx_conn_param, initiator_depth, 267);
OFFSET(cmx_conn_param, flow_control, 268);
OFFSET(cmx_conn_param, retry_count, 269);
OFFSET(cmx_conn_param, rnr_retry_count, 270);
OFFSET(cmx_conn_param, valid, 271);

SIZE(cmx_ud_param, 304);
OFFSET(cmx_ud_param, qkey, 4);
OFFSET(cmx_ud_param, ah_attr, 8);
OFFSET(cmx_ud_param, private_data, 40);
OFFSET(cmx_ud_param, private_data_len, 296);

SIZE(cmx_ece, 8);
OFFSET(cmx_ece, options, 4);

SIZE(cmx_id_info, 600);
OFFSET(cmx_id_info, ibdev_index, 8);
OFFSET(cmx_id_info, port_num, 12);
OFFSET(cmx_id_info, num_paths, 13);
OFFSET(cmx_id_info, state, 14);
OFFSET(cmx_id_info, pkey, 16);
OFFSET(cmx_id_info, tos, 18);
OFFSET(cmx_id_info, qp_type, 19);
OFFSET(cmx_id_info, sgid, 24);
OFFSET(cmx_id_info, dgid, 40);
OFFSET(cmx_id_info, src_addr, 56);
OFFSET(cmx_id_info, dst_addr, 184);
OFFSET(cmx_id_info, path, 312);
OFFSET(cmx_id_info, init_attr, 456);

SIZE(cmx_ece_info, 24);
OFFSET(cmx_ece_info, remote, 8);
OFFSET(cmx_ece_info, flags, 16);
OFFSET(cmx_ece_info, policy, 20);

SIZE(cmx_mcast_attr, 28);
OFFSET(cmx_mcast_attr, join_state, 4);
OFFSET(cmx_mcast_attr, qkey, 8);
OFFSET(cmx_mcast_attr, flow_label, 12);
OFFSET(cmx_mcast_attr, pkey, 16);
OFFSET(cmx_mcast_attr, mtu, 18);
OFFSET(cmx_mcast_attr, rate, 19);
OFFSET(cmx_mcast_attr, sl, 20);
OFFSET(cmx_mcast_attr, tclass, 21);
OFFSET(cmx_mcast_attr, hop_limit, 22);
OFFSET(cmx_mcast_attr, scope, 23);

SIZE(cmx_service_rec, 32);
OFFSET(cmx_service_rec, gid, 8);
OFFSET(cmx_service_rec, pkey, 24);
OFFSET(cmx_service_rec, lease, 28);

SIZE(cmx_event_resp, 632);
OFFSET(cmx_event_resp, id, 8);
OFFSET(cmx_event_resp, listen_id, 12);
OFFSET(cmx_event_resp, event, 16);
OFFSET(cmx_event_resp, status, 20);
OFFSET(cmx_event_resp, flags, 24);
OFFSET(cmx_event_resp, ece, 32);
OFFSET(cmx_event_resp, param, 40);
OFFSET(cmx_event_resp, rtr, 344);
OFFSET(cmx_event_resp, rts, 488);

SIZE(cmx_event_sizes, 8);
OFFSET(cmx_event_sizes, info, 4);

SIZE(cmx_event_record, 1232);
OFFSET(cmx_event_record, info, 632);

SIZE(cmx_id_option, 16);
OFFSET(cmx_id_option, name, 4);
OFFSET(cmx_id_option, value, 8);
OFFSET(cmx_id_option, flags, 12);

SIZE(cmx_rule, 328);
OFFSET(cmx_rule, flags, 4);
OFFSET(cmx_rule, src, 8);
OFFSET(cmx_rule, dst, 24);
OFFSET(cmx_rule, src_len, 40);
OFFSET(cmx_rule, dst_len, 41);
OFFSET(cmx_rule, ps, 42);
OFFSET(cmx_rule, port_min, 44);
OFFSET(cmx_rule, port_max, 46);
OFFSET(cmx_rule, port_num, 48);
OFFSET(cmx_rule, uid, 52);
OFFSET(cmx_rule, cgroup, 56);
OFFSET(cmx_rule, device, 64);
OFFSET(cmx_rule, ulp, 128);
OFFSET(cmx_rule, num_options, 192);
OFFSET(cmx_rule, options, 200);

SIZE(cmx_id_record, 432);
OFFSET(cmx_id_record, known, 4);
OFFSET(cmx_id_record, num_options, 6);
OFFSET(cmx_id_record, trace_id, 8);
OFFSET(cmx_id_record, flags, 16);
OFFSET(cmx_id_record, handle, 20);
OFFSET(cmx_id_record, pid, 24);
OFFSET(cmx_id_record, uid, 28);
OFFSET(cmx_id_record, netns, 32);
OFFSET(cmx_id_record, age, 36);
OFFSET(cmx_id_record, state, 40);
OFFSET(cmx_id_record, ps, 44);
OFFSET(cmx_id_record, qp_num, 48);
OFFSET(cmx_id_record, qp_type, 52);
OFFSET(cmx_id_record, queued, 56);
OFFSET(cmx_id_record, comm, 64);
OFFSET(cmx_id_record, groups, 80);
OFFSET(cmx_id_record, transport, 84);
OFFSET(cmx_id_record, port_num, 88);
OFFSET(cmx_id_record, ece_flags, 92);
OFFSET(cmx_id_record, ece_local, 96);
OFFSET(cmx_id_record, ece_remote, 104);
OFFSET(cmx_id_record, device, 112);
OFFSET(cmx_id_record, src_addr, 176);
OFFSET(cmx_id_record, dst_addr, 304);

SIZE(cmx_ioctl_hdr, 24);
OFFSET(cmx_ioctl_hdr, object_id, 2);
OFFSET(cmx_ioctl_hdr, method_id, 4);
OFFSET(cmx_ioctl_hdr, num_attrs, 6);
OFFSET(cmx_ioctl_hdr, abi_version, 16);
OFFSET(cmx_ioctl_hdr, attrs, 24);

SIZE(ib_uverbs_attr, 16);
OFFSET(ib_uverbs_attr, data, 8);
SIZE(ib_uverbs_qp_attr, 144);
SIZE(ib_path_rec_data, 72);

NUMBER(_IOC_NR(CMX_IOCTL), 0xc0);

/* enum cmx_object */
NUMBER(CMX_OBJ_CHANNEL, 0);
NUMBER(CMX_OBJ_ID, 1);
NUMBER(CMX_OBJ_MCAST, 2);

/* enum cmx_channel_method */
NUMBER(CMX_CHANNEL_INFO, 0);
NUMBER(CMX_CHANNEL_GET_EVENTS, 1);
NUMBER(CMX_CHANNEL_LIST_IDS, 2);
NUMBER(CMX_CHANNEL_KILL, 3);
NUMBER(CMX_CHANNEL_GET_RULES, 4);
NUMBER(CMX_CHANNEL_SET_RULES, 5);

/* enum cmx_id_method */
NUMBER(CMX_ID_CREATE, 0);
NUMBER(CMX_ID_DESTROY, 1);
NUMBER(CMX_ID_BIND, 2);
NUMBER(CMX_ID_RESOLVE_ADDR, 3);
NUMBER(CMX_ID_RESOLVE_ROUTE, 4);
NUMBER(CMX_ID_QUERY, 5);
NUMBER(CMX_ID_LISTEN, 6);
NUMBER(CMX_ID_CONNECT, 7);
NUMBER(CMX_ID_ACCEPT, 8);
NUMBER(CMX_ID_ESTABLISH, 9);
NUMBER(CMX_ID_REJECT, 10);
NUMBER(CMX_ID_DISCONNECT, 11);
NUMBER(CMX_ID_NOTIFY, 12);
NUMBER(CMX_ID_INIT_QP_ATTR, 13);
NUMBER(CMX_ID_SET_OPTION, 14);
NUMBER(CMX_ID_GET_OPTION, 15);
NUMBER(CMX_ID_MIGRATE, 16);
NUMBER(CMX_ID_WRITE_EVENT, 17);
NUMBER(CMX_ID_RESOLVE_SERVICE, 18);
NUMBER(CMX_ID_QUERY_SERVICES, 19);

/* enum cmx_mcast_method */
NUMBER(CMX_MCAST_JOIN, 0);
NUMBER(CMX_MCAST_LEAVE, 1);
NUMBER(CMX_MCAST_REPORT, 2);

/* enum cmx_attr */
NUMBER(CMX_ATTR_ID, 0);
NUMBER(CMX_ATTR_OUT_ID, 1);
NUMBER(CMX_ATTR_MCAST_ID, 2);
NUMBER(CMX_ATTR_USER_DATA, 3);
NUMBER(CMX_ATTR_PS, 4);
NUMBER(CMX_ATTR_QP_TYPE, 5);
NUMBER(CMX_ATTR_SRC_ADDR, 6);
NUMBER(CMX_ATTR_DST_ADDR, 7);
NUMBER(CMX_ATTR_TIMEOUT, 8);
NUMBER(CMX_ATTR_BACKLOG, 9);
NUMBER(CMX_ATTR_CONN_PARAM, 10);
NUMBER(CMX_ATTR_ECE, 11);
NUMBER(CMX_ATTR_PRIVATE_DATA, 12);
NUMBER(CMX_ATTR_REASON, 13);
NUMBER(CMX_ATTR_NOTIFY, 14);
NUMBER(CMX_ATTR_QP_STATE, 15);
NUMBER(CMX_ATTR_QP_ATTR, 16);
NUMBER(CMX_ATTR_OPT_LEVEL, 17);
NUMBER(CMX_ATTR_OPT_NAME, 18);
NUMBER(CMX_ATTR_OPT_VALUE, 19);
NUMBER(CMX_ATTR_OPT_OUT, 20);
NUMBER(CMX_ATTR_OPT_FLAGS, 21);
NUMBER(CMX_ATTR_FD, 22);
NUMBER(CMX_ATTR_MCAST, 23);
NUMBER(CMX_ATTR_INFO, 24);
NUMBER(CMX_ATTR_ECE_INFO, 25);
NUMBER(CMX_ATTR_EVENTS, 26);
NUMBER(CMX_ATTR_COUNT, 27);
NUMBER(CMX_ATTR_VERSION, 28);
NUMBER(CMX_ATTR_EVENT_SIZES, 29);
NUMBER(CMX_ATTR_VERSION_MIN, 30);
NUMBER(CMX_ATTR_RECORD_SIZE, 31);
NUMBER(CMX_ATTR_CURSOR, 32);
NUMBER(CMX_ATTR_NEXT_CURSOR, 33);
NUMBER(CMX_ATTR_LIST, 34);
NUMBER(CMX_ATTR_EVENT, 35);
NUMBER(CMX_ATTR_STATUS, 36);
NUMBER(CMX_ATTR_ARG, 37);
NUMBER(CMX_ATTR_SERVICE_ID, 38);
NUMBER(CMX_ATTR_SERVICE_NAME, 39);
NUMBER(CMX_ATTR_SERVICES, 40);
NUMBER(CMX_ATTR_MODULE_INFO, 41);
NUMBER(CMX_ATTR_OPTIONS, 42);
NUMBER(CMX_ATTR_RULES, 43);
NUMBER(CMX_ATTR_GENERATION, 44);

/* enum cmx_opt_flags */
NUMBER(CMX_OPT_F_SET, 1);
NUMBER(CMX_OPT_F_RULE, 2);
NUMBER(CMX_OPT_F_FORCE, 4);

/* rules */
NUMBER(CMX_MAX_RULES, 128);
NUMBER(CMX_RULE_OPTIONS, 8);
NUMBER(CMX_RULE_SRC, 1);
NUMBER(CMX_RULE_DST, 2);
NUMBER(CMX_RULE_PORT, 4);
NUMBER(CMX_RULE_DEVICE, 8);
NUMBER(CMX_RULE_PORT_NUM, 16);
NUMBER(CMX_RULE_PS, 32);
NUMBER(CMX_RULE_UID, 64);
NUMBER(CMX_RULE_CGROUP, 128);
NUMBER(CMX_RULE_ULP, 256);
NUMBER(CMX_RULE_F_FORCE, 1);

/* enum cmx_option_name */
NUMBER(CMX_OPTION_MIN_RNR_TIMER, 1);
NUMBER(CMX_OPTION_CM_RETRIES, 2);
NUMBER(CMX_OPTION_CM_RESPONSE_TIMEOUT, 3);
NUMBER(CMX_OPTION_CONNECT_DEADLINE_MS, 4);
NUMBER(CMX_OPTION_RESOLVE_RETRIES, 5);
NUMBER(CMX_OPTION_SL, 6);
NUMBER(CMX_OPTION_FLOW_LABEL, 7);
NUMBER(CMX_OPTION_HOP_LIMIT, 8);
NUMBER(CMX_OPTION_GID_TYPE, 9);
NUMBER(CMX_OPTION_PKEY, 10);
NUMBER(CMX_OPTION_PATH_MTU, 11);
NUMBER(CMX_OPTION_ECE_POLICY, 12);
NUMBER(CMX_OPTION_MCAST_REJOIN, 13);
NUMBER(CMX_OPTION_MCAST_LOOPBACK, 14);
NUMBER(CMX_OPTION_BIND_DEVICE, 15);

/* enum cmx_ece_policy */
NUMBER(CMX_ECE_AUTO, 0);
NUMBER(CMX_ECE_OFF, 1);
NUMBER(CMX_ECE_REQUIRE, 2);

/* enum cmx_id_state */
NUMBER(CMX_ID_STATE_IDLE, 0);
NUMBER(CMX_ID_STATE_BOUND, 1);
NUMBER(CMX_ID_STATE_ADDR_QUERY, 2);
NUMBER(CMX_ID_STATE_ADDR_RESOLVED, 3);
NUMBER(CMX_ID_STATE_ROUTE_QUERY, 4);
NUMBER(CMX_ID_STATE_ROUTE_RESOLVED, 5);
NUMBER(CMX_ID_STATE_LISTEN, 6);
NUMBER(CMX_ID_STATE_CONNECT, 7);
NUMBER(CMX_ID_STATE_DISCONNECT, 8);
NUMBER(CMX_ID_STATE_REMOVED, 9);
NUMBER(CMX_ID_STATE_DEAD, 10);

/* enum cmx_ece_flags */
NUMBER(CMX_ECE_F_LOCAL, 1);
NUMBER(CMX_ECE_F_OFFERED, 2);
NUMBER(CMX_ECE_F_REMOTE, 4);
NUMBER(CMX_ECE_F_APPLIED, 8);
NUMBER(CMX_ECE_F_REJECTED, 16);

/* enum cmx_mcast_mask */
NUMBER(CMX_MCAST_QKEY, 1);
NUMBER(CMX_MCAST_PKEY, 2);
NUMBER(CMX_MCAST_MTU, 4);
NUMBER(CMX_MCAST_RATE, 8);
NUMBER(CMX_MCAST_SL, 16);
NUMBER(CMX_MCAST_FLOW_LABEL, 32);
NUMBER(CMX_MCAST_TCLASS, 64);
NUMBER(CMX_MCAST_HOP_LIMIT, 128);
NUMBER(CMX_MCAST_SCOPE, 256);

/* enum cmx_mcast_join_state */
NUMBER(CMX_MCAST_FULL, 0);
NUMBER(CMX_MCAST_SENDONLY_FULL, 1);
NUMBER(CMX_MCAST_NON, 2);
NUMBER(CMX_MCAST_SENDONLY_NON, 3);

/* enum cmx_event_type */
NUMBER(CMX_EVENT_ADDR_RESOLVED, 0);
NUMBER(CMX_EVENT_ADDR_ERROR, 1);
NUMBER(CMX_EVENT_ROUTE_RESOLVED, 2);
NUMBER(CMX_EVENT_ROUTE_ERROR, 3);
NUMBER(CMX_EVENT_CONNECT_REQUEST, 4);
NUMBER(CMX_EVENT_CONNECT_RESPONSE, 5);
NUMBER(CMX_EVENT_CONNECT_ERROR, 6);
NUMBER(CMX_EVENT_UNREACHABLE, 7);
NUMBER(CMX_EVENT_REJECTED, 8);
NUMBER(CMX_EVENT_ESTABLISHED, 9);
NUMBER(CMX_EVENT_DISCONNECTED, 10);
NUMBER(CMX_EVENT_DEVICE_REMOVAL, 11);
NUMBER(CMX_EVENT_MULTICAST_JOIN, 12);
NUMBER(CMX_EVENT_MULTICAST_ERROR, 13);
NUMBER(CMX_EVENT_ADDR_CHANGE, 14);
NUMBER(CMX_EVENT_TIMEWAIT_EXIT, 15);
NUMBER(CMX_EVENT_ADDRINFO_RESOLVED, 16);
NUMBER(CMX_EVENT_ADDRINFO_ERROR, 17);
NUMBER(CMX_EVENT_USER, 18);

/* enum cmx_event_flags */
NUMBER(CMX_EVENT_F_UD, 1);
NUMBER(CMX_EVENT_F_INFO, 2);
NUMBER(CMX_EVENT_F_QP, 4);
NUMBER(CMX_EVENT_F_MCAST, 8);
NUMBER(CMX_EVENT_F_REJOIN, 16);

/* enum cmx_id_flags */
NUMBER(CMX_ID_F_KERNEL, 1);
NUMBER(CMX_ID_F_BUSY, 2);
NUMBER(CMX_ID_F_ESTABLISHED, 4);
NUMBER(CMX_ID_F_PASSIVE, 8);
NUMBER(CMX_ID_F_WAITING, 16);

/* enum cmx_id_transport */
NUMBER(CMX_ID_TRANSPORT_NONE, 0);
NUMBER(CMX_ID_TRANSPORT_IB, 1);
NUMBER(CMX_ID_TRANSPORT_ROCE_V1, 2);
NUMBER(CMX_ID_TRANSPORT_ROCE_V2, 3);
NUMBER(CMX_ID_TRANSPORT_IWARP, 4);

/* enum cmx_feature */
NUMBER(CMX_FEATURE_SERVICES, 1 << 0);

/* enum cmx_ps */
NUMBER(CMX_PS_IPOIB, 0x0002);
NUMBER(CMX_PS_TCP, 0x0106);
NUMBER(CMX_PS_UDP, 0x0111);
NUMBER(CMX_PS_IB, 0x013f);

/* enum cmx_qp_type */
NUMBER(CMX_QPT_RC, 2);
NUMBER(CMX_QPT_UC, 3);
NUMBER(CMX_QPT_UD, 4);
NUMBER(CMX_QPT_XRC_INI, 9);
NUMBER(CMX_QPT_XRC_TGT, 10);

/* enum cmx_qp_state */
NUMBER(CMX_QPS_RESET, 0);
NUMBER(CMX_QPS_INIT, 1);
NUMBER(CMX_QPS_RTR, 2);
NUMBER(CMX_QPS_RTS, 3);
NUMBER(CMX_QPS_SQD, 4);
NUMBER(CMX_QPS_SQE, 5);
NUMBER(CMX_QPS_ERR, 6);

/* enum cmx_notify */
NUMBER(CMX_NOTIFY_QP_FATAL, 1);
NUMBER(CMX_NOTIFY_COMM_EST, 4);

/* enum cmx_reject_reason */
NUMBER(CMX_REJ_NO_QP, 1);
NUMBER(CMX_REJ_NO_EEC, 2);
NUMBER(CMX_REJ_NO_RESOURCES, 3);
NUMBER(CMX_REJ_TIMEOUT, 4);
NUMBER(CMX_REJ_UNSUPPORTED, 5);
NUMBER(CMX_REJ_INVALID_COMM_ID, 6);
NUMBER(CMX_REJ_INVALID_COMM_INSTANCE, 7);
NUMBER(CMX_REJ_INVALID_SERVICE_ID, 8);
NUMBER(CMX_REJ_INVALID_TRANSPORT_TYPE, 9);
NUMBER(CMX_REJ_STALE_CONN, 10);
NUMBER(CMX_REJ_RDC_NOT_EXIST, 11);
NUMBER(CMX_REJ_INVALID_GID, 12);
NUMBER(CMX_REJ_INVALID_LID, 13);
NUMBER(CMX_REJ_INVALID_SL, 14);
NUMBER(CMX_REJ_INVALID_TRAFFIC_CLASS, 15);
NUMBER(CMX_REJ_INVALID_HOP_LIMIT, 16);
NUMBER(CMX_REJ_INVALID_PACKET_RATE, 17);
NUMBER(CMX_REJ_INVALID_ALT_GID, 18);
NUMBER(CMX_REJ_INVALID_ALT_LID, 19);
NUMBER(CMX_REJ_INVALID_ALT_SL, 20);
NUMBER(CMX_REJ_INVALID_ALT_TRAFFIC_CLASS, 21);
NUMBER(CMX_REJ_INVALID_ALT_HOP_LIMIT, 22);
NUMBER(CMX_REJ_INVALID_ALT_PACKET_RATE, 23);
NUMBER(CMX_REJ_PORT_CM_REDIRECT, 24);
NUMBER(CMX_REJ_PORT_REDIRECT, 25);
NUMBER(CMX_REJ_INVALID_MTU, 26);
NUMBER(CMX_REJ_INSUFFICIENT_RESP_RESOURCES, 27);
NUMBER(CMX_REJ_CONSUMER_DEFINED, 28);
NUMBER(CMX_REJ_INVALID_RNR_RETRY, 29);
NUMBER(CMX_REJ_DUPLICATE_LOCAL_COMM_ID, 30);
NUMBER(CMX_REJ_INVALID_CLASS_VERSION, 31);
NUMBER(CMX_REJ_INVALID_FLOW_LABEL, 32);
NUMBER(CMX_REJ_INVALID_ALT_FLOW_LABEL, 33);
NUMBER(CMX_REJ_VENDOR_OPTION_NOT_SUPPORTED, 35);

/* enum cmx_option_level */
NUMBER(CMX_OPTION_LEVEL_ID, 0);
NUMBER(CMX_OPTION_LEVEL_IB, 1);
NUMBER(CMX_OPTION, 0x434d);

/* enum cmx_id_option_name */
NUMBER(CMX_ID_OPTION_TOS, 0);
NUMBER(CMX_ID_OPTION_REUSEADDR, 1);
NUMBER(CMX_ID_OPTION_AFONLY, 2);
NUMBER(CMX_ID_OPTION_ACK_TIMEOUT, 3);

/* enum cmx_ib_option_name */
NUMBER(CMX_IB_OPTION_PATH, 1);
