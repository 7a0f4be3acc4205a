/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The methods, one row each: the object, the method, and the name of its struct cmx_method. Each
 * file that includes this one defines CMX_METHOD.
 */

/* ioctl_channel.c */
CMX_METHOD(CHANNEL, INFO, channel_info)
CMX_METHOD(CHANNEL, GET_EVENTS, get_events)

/* ioctl_list.c */
CMX_METHOD(CHANNEL, LIST_IDS, list_ids)
CMX_METHOD(CHANNEL, KILL, kill)

/* ioctl_rule.c */
CMX_METHOD(CHANNEL, GET_RULES, get_rules)
CMX_METHOD(CHANNEL, SET_RULES, set_rules)

/* ioctl_id.c */
CMX_METHOD(ID, CREATE, create)
CMX_METHOD(ID, DESTROY, destroy)
CMX_METHOD(ID, BIND, bind)
CMX_METHOD(ID, RESOLVE_ADDR, resolve_addr)
CMX_METHOD(ID, RESOLVE_ROUTE, resolve_route)
CMX_METHOD(ID, QUERY, query)
CMX_METHOD(ID, MIGRATE, migrate)
CMX_METHOD(ID, WRITE_EVENT, write_event)

/* ioctl_conn.c */
CMX_METHOD(ID, LISTEN, listen)
CMX_METHOD(ID, CONNECT, connect)
CMX_METHOD(ID, ACCEPT, accept)
CMX_METHOD(ID, ESTABLISH, establish)
CMX_METHOD(ID, REJECT, reject)
CMX_METHOD(ID, DISCONNECT, disconnect)
CMX_METHOD(ID, NOTIFY, notify)
CMX_METHOD(ID, INIT_QP_ATTR, init_qp_attr)

/* ioctl_option.c */
CMX_METHOD(ID, SET_OPTION, set_option)
CMX_METHOD(ID, GET_OPTION, get_option)

/* ioctl_service.c */
CMX_METHOD(ID, RESOLVE_SERVICE, resolve_service)
CMX_METHOD(ID, QUERY_SERVICES, query_services)

/* ioctl_mcast.c */
CMX_METHOD(MCAST, JOIN, join)
CMX_METHOD(MCAST, LEAVE, leave)
CMX_METHOD(MCAST, REPORT, report)

#undef CMX_METHOD
