/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The options of an id, one row each. The kernel, cmx(8), the tables of the documentation and the
 * tests include this file, each with its own definition of the two macros:
 *
 * CMX_OPTION_VALUE(level, name, label, field, min, max, default, ...): an integer, stored in @field
 *	of struct cmx_opts. @default is in effect while the option is not set and @source names no
 *	other value
 * CMX_OPTION_RECORDS(level, name, label, ...): an array of struct ib_path_rec_data
 *
 * Designated initializers follow:
 *
 * @until: the step after which the option can no longer be set
 * @late: errno of a set after that step; 0: EISCONN
 * @transports: where the option exists. An id bound to another transport refuses it with EOPNOTSUPP
 * @is_bool: any value but 0 means 1
 * @zero_resets: 0 restores the default
 * @no_rule: a rule cannot set it, because it decides which address or path an id gets
 *
 * CMX_OPT_TEXT(), for the documentation and cmx(8):
 *
 * @host: name of the module parameter that holds the default
 * @source: origin of the value in effect while the option is not set, if it is not @default
 * @unit: unit of the value
 * @text: description of the option
 *
 * CMX_OPT_KERNEL(): the functions of struct cmx_option that the row needs.
 */
CMX_OPTION_VALUE(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, TOS, tos, 0, 255, 0,
		 .until = CMX_OPT_UNTIL_ESTABLISHED, .transports = CMX_TRANSPORT_ANY,
		 .zero_resets = 1,
		 CMX_OPT_TEXT(.host = "tos", .text = "traffic class; 0: restores the default")
		 CMX_OPT_KERNEL(.apply = cmx_opt_apply_tos))
CMX_OPTION_VALUE(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, REUSEADDR, reuseaddr, 0, 1, 0,
		 .until = CMX_OPT_UNTIL_DESTROYED, .transports = CMX_TRANSPORT_ANY, .is_bool = 1,
		 .no_rule = 1,
		 CMX_OPT_TEXT(.text = "share the local port with other ids that set it")
		 CMX_OPT_KERNEL(.check = opt_check_reuseaddr))
CMX_OPTION_VALUE(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, AFONLY, afonly, 0, 1, 0,
		 .until = CMX_OPT_UNTIL_ADDR_QUERY, .late = EINVAL,
		 .transports = CMX_TRANSPORT_ANY, .is_bool = 1, .no_rule = 1,
		 CMX_OPT_TEXT(.source = "bind", .text = "an IPv6 wildcard does not accept IPv4")
		 CMX_OPT_KERNEL(.apply = cmx_port_recheck, .in_effect = opt_afonly))
CMX_OPTION_VALUE(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, ACK_TIMEOUT, ack_timeout, 0, 31, 0,
		 .until = CMX_OPT_UNTIL_ESTABLISHED,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.source = "path", .unit = "4.096 us * 2^n",
			      .text = "ACK timeout of the QP; 0: none")
		 CMX_OPT_KERNEL(.check = opt_check_ack_timeout,
				.in_effect = opt_path_ack_timeout, .of_path = true))
CMX_OPTION_RECORDS(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, IB_PATH,
		   .until = CMX_OPT_UNTIL_ROUTE_QUERY, .late = EINVAL,
		   .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE, .no_rule = 1,
		   CMX_OPT_TEXT(.source = "path",
				.text = "resolve the route with the caller's path record")
		   CMX_OPT_KERNEL(.set = cmx_opt_set_path, .get = cmx_opt_get_path))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, MIN_RNR_TIMER, min_rnr_timer, 0, 31, 0,
		 .until = CMX_OPT_UNTIL_ESTABLISHED,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.unit = "code of IBTA 9.7.5.2.8",
			      .text = "RNR NAK timer of the QP; 0: 655 ms")
		 CMX_OPT_KERNEL(.check = opt_check_min_rnr_timer))
/* The passive side does not use this option: a REP is resent as the REQ specifies. */
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_CM_RETRIES, CM_RETRIES, cm_retries, 0, 15, 15,
		 .until = CMX_OPT_UNTIL_REQ_SENT,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.host = "cm_retries", .unit = "resends",
			      .text = "how often a CM message is resent"))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, CM_RESPONSE_TIMEOUT,
		 cm_response_timeout, 0, 31, 20,
		 .until = CMX_OPT_UNTIL_REQ_SENT,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.host = "cm_response_timeout", .unit = "4.096 us * 2^n",
			      .text = "time to wait for a response, each try; 20: 4.3 s")
		 CMX_OPT_KERNEL(.check = opt_check_cm_response_timeout))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, CONNECT_DEADLINE_MS,
		 connect_deadline_ms, 0, 2147483647, 0,
		 .until = CMX_OPT_UNTIL_REP_SENT, .transports = CMX_TRANSPORT_ANY,
		 CMX_OPT_TEXT(.host = "connect_deadline_ms", .unit = "ms",
			      .text = "time from connect or accept to UNREACHABLE; 0: none"))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_RESOLVE_RETRIES, RESOLVE_RETRIES, resolve_retries, 0, 15, 0,
		 .until = CMX_OPT_UNTIL_ROUTE_QUERY, .transports = CMX_TRANSPORT_IB,
		 CMX_OPT_TEXT(.unit = "timeouts of rdma_resolve_route()",
			      .text = "additional time for queries to the SA; 0: none"))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_SL, SL, sl, 0, 15, 0,
		 .until = CMX_OPT_UNTIL_ROUTE_QUERY,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.source = "path", .text = "service level")
		 CMX_OPT_KERNEL(.in_effect = opt_path_sl, .of_path = true))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_FLOW_LABEL, FLOW_LABEL, flow_label, 0, 1048575, 0,
		 .until = CMX_OPT_UNTIL_ROUTE_QUERY,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.source = "path", .text = "flow label")
		 CMX_OPT_KERNEL(.in_effect = opt_path_flow_label, .of_path = true))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_HOP_LIMIT, HOP_LIMIT, hop_limit, 1, 255, 0,
		 .until = CMX_OPT_UNTIL_ROUTE_QUERY,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.source = "path", .unit = "routers", .text = "hop limit")
		 CMX_OPT_KERNEL(.in_effect = opt_path_hop_limit, .of_path = true))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_GID_TYPE, GID_TYPE, gid_type, 0, 2, 2,
		 .until = CMX_OPT_UNTIL_ADDR_QUERY, .transports = CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.source = "port",
			      .text = "0: InfiniBand, 1: RoCE v1, 2: RoCE v2")
		 CMX_OPT_KERNEL(.check = opt_check_gid_type, .in_effect = opt_port_gid_type))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_PKEY, PKEY, pkey, 1, 65535, 65535,
		 .until = CMX_OPT_UNTIL_ROUTE_QUERY, .transports = CMX_TRANSPORT_IB,
		 CMX_OPT_TEXT(.source = "path", .text = "P_Key value, not its index")
		 CMX_OPT_KERNEL(.in_effect = opt_path_pkey, .of_path = true))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_PATH_MTU, PATH_MTU, path_mtu, 1, 5, 0,
		 .until = CMX_OPT_UNTIL_ROUTE_QUERY,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.source = "path", .unit = "128 bytes * 2^n",
			      .text = "path MTU; 1: 256 bytes, 5: 4096 bytes")
		 CMX_OPT_KERNEL(.check = opt_check_path_mtu,
				.in_effect = opt_path_mtu, .of_path = true))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_ECE_POLICY, ECE_POLICY, ece_policy, 0, 2, 0,
		 .until = CMX_OPT_UNTIL_REP_SENT,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.text = "0: automatic, 1: off, 2: the peer must have ECE")
		 CMX_OPT_KERNEL(.check = opt_check_ece_policy))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_MCAST_REJOIN, MCAST_REJOIN, mcast_rejoin, 0, 1, 0,
		 .until = CMX_OPT_UNTIL_DESTROYED,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.text = "rejoin groups whose membership was lost"))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_MCAST_LOOPBACK, MCAST_LOOPBACK, mcast_loopback, 0, 1, 1,
		 .until = CMX_OPT_UNTIL_DESTROYED,
		 .transports = CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE,
		 CMX_OPT_TEXT(.text = "receive own multicast packets; set before the QP exists")
		 CMX_OPT_KERNEL(.check = opt_check_mcast_loopback))
CMX_OPTION_VALUE(CMX_OPTION, CMX_OPTION_BIND_DEVICE, BIND_DEVICE, bind_device,
		 0, 2147483647, 0,
		 .until = CMX_OPT_UNTIL_BIND, .late = EINVAL, .transports = CMX_TRANSPORT_ANY,
		 .zero_resets = 1, .no_rule = 1,
		 CMX_OPT_TEXT(.unit = "ifindex",
			      .text = "use this network interface or VRF only; 0: any")
		 CMX_OPT_KERNEL(.check = opt_check_bind_device))

#undef CMX_OPTION_VALUE
#undef CMX_OPTION_RECORDS
