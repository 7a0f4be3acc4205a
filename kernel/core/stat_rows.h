/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters and latencies of a port, with the names of their files in sysfs; cmx(8) explains
 * them. All rows of CMX_STAT come before the rows of CMX_STAGE.
 */
CMX_STAT(ADDR_RESOLVED, "addr_resolved")
CMX_STAT(ADDR_TIMEOUT, "addr_timeouts")
CMX_STAT(ADDR_ERROR, "addr_errors")
CMX_STAT(ROUTE_RESOLVED, "route_resolved")
CMX_STAT(ROUTE_TIMEOUT, "route_timeouts")
CMX_STAT(ROUTE_ERROR, "route_errors")
CMX_STAT(CONNECTED, "connected")
CMX_STAT(ACCEPTED, "accepted")
CMX_STAT(CONNECT_TIMEOUT, "connect_timeouts")
CMX_STAT(CONNECT_ERROR, "connect_errors")
CMX_STAT(REJECTED_CONSUMER, "rejected_consumer")
CMX_STAT(REJECTED_NO_LISTENER, "rejected_no_listener")
CMX_STAT(REJECTED_STALE, "rejected_stale")
CMX_STAT(REJECTED_ECE, "rejected_ece")
CMX_STAT(REJECTED_OTHER, "rejected_other")
CMX_STAT(REQUEST, "requests")
CMX_STAT(REFUSED_NO_LISTENER, "refused_no_listener")
CMX_STAT(REFUSED_BACKLOG, "refused_backlog")
CMX_STAT(REFUSED_QUOTA, "refused_quota")
CMX_STAT(REFUSED_ECE, "refused_ece")
CMX_STAT(REFUSED_OTHER, "refused_other")
CMX_STAT(DISCONNECTED, "disconnected")
CMX_STAT(ADDR_CHANGED, "addr_changed")
CMX_STAT(GROUP_JOINED, "groups_joined")
CMX_STAT(GROUP_TIMEOUT, "group_timeouts")
CMX_STAT(GROUP_ERROR, "group_errors")
CMX_STAT(GROUP_LOST, "groups_lost")
CMX_STAT(GROUP_REJOINED, "groups_rejoined")
CMX_STAT(GROUP_ENDED, "groups_ended")

/*
 * Stages whose latency is measured when they succeed: resolving an address; resolving a route, also
 * if it is known at once; from the REQ that is sent to the reply; from the REQ that is received
 * until the connection is established; joining a multicast group.
 */
CMX_STAGE(ADDR, "latency_addr")
CMX_STAGE(ROUTE, "latency_route")
CMX_STAGE(CONNECT, "latency_connect")
CMX_STAGE(ACCEPT, "latency_accept")
CMX_STAGE(JOIN, "latency_join")

#undef CMX_STAT
#undef CMX_STAGE
