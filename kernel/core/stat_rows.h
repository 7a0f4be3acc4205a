/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters, gauges and latencies of a port: the names of their files in sysfs, and their
 * meaning for "cmx stats -m" and cmx(8). The files of gauges begin with "now_" and those of
 * latencies with "latency_". All rows of CMX_STAT come first, then those of CMX_GAUGE, then those
 * of CMX_STAGE. Each file that includes this one defines the macros that it needs.
 */
#ifndef CMX_STAT
#define CMX_STAT(...)
#endif
#ifndef CMX_GAUGE
#define CMX_GAUGE(...)
#endif
#ifndef CMX_STAGE
#define CMX_STAGE(...)
#endif

CMX_STAT(ADDR_RESOLVED, "addr_resolved",
	 "address resolutions that succeeded, of ids bound to the port")
CMX_STAT(ADDR_TIMEOUT, "addr_timeouts",
	 "address resolutions that nobody answered in time, of ids bound to the port")
CMX_STAT(ADDR_ERROR, "addr_errors",
	 "other address resolutions that failed, and invalid replies to datagram connects")
CMX_STAT(ROUTE_RESOLVED, "route_resolved",
	 "route resolutions that succeeded")
CMX_STAT(ROUTE_TIMEOUT, "route_timeouts",
	 "route resolutions that nobody answered in time")
CMX_STAT(ROUTE_ERROR, "route_errors",
	 "other route resolutions that failed")
CMX_STAT(CONNECTED, "connected",
	 "connections established as the active side")
CMX_STAT(ACCEPTED, "accepted",
	 "connections established as the passive side")
CMX_STAT(CONNECT_TIMEOUT, "connect_timeouts",
	 "connects and accepts that the peer did not answer in time")
CMX_STAT(CONNECT_ERROR, "connect_errors",
	 "connects and accepts that failed here, and datagram connects that the peer refused")
CMX_STAT(REJECTED_CONSUMER, "rejected_consumer",
	 "connects rejected with reason 28: by the program, or no listener or route fits")
CMX_STAT(REJECTED_NO_LISTENER, "rejected_no_listener",
	 "connects rejected with reason 8: nobody listens on the port")
CMX_STAT(REJECTED_STALE, "rejected_stale",
	 "connects rejected with reason 10: the peer has an old connection of the QP")
CMX_STAT(REJECTED_ECE, "rejected_ece",
	 "connects rejected with reason 35: ECE")
CMX_STAT(REJECTED_OTHER, "rejected_other",
	 "connects and accepts rejected with another reason")
CMX_STAT(REQUEST, "requests",
	 "incoming requests that were reported to a listener")
CMX_STAT(REFUSED_NO_LISTENER, "refused_no_listener",
	 "incoming requests refused here because nobody listens on the address")
CMX_STAT(REFUSED_BACKLOG, "refused_backlog",
	 "incoming requests dropped here because the backlog of the listener was full")
CMX_STAT(REFUSED_QUOTA, "refused_quota",
	 "incoming requests dropped here because the user has max_user_ids ids")
CMX_STAT(REFUSED_ECE, "refused_ece",
	 "incoming requests refused here because ECE is required and was not offered")
CMX_STAT(REFUSED_OTHER, "refused_other",
	 "incoming requests refused here for another reason")
CMX_STAT(DISCONNECTED, "disconnected",
	 "connections that have ended")
CMX_STAT(ADDR_CHANGED, "addr_changed",
	 "ids whose link layer address, here or at the peer, has changed")
CMX_STAT(GROUP_JOINED, "groups_joined",
	 "joins of multicast groups that succeeded")
CMX_STAT(GROUP_TIMEOUT, "group_timeouts",
	 "joins of multicast groups that nobody answered in time")
CMX_STAT(GROUP_ERROR, "group_errors",
	 "other joins of multicast groups that failed")
CMX_STAT(GROUP_LOST, "groups_lost",
	 "memberships that were lost and are to be rejoined")
CMX_STAT(GROUP_REJOINED, "groups_rejoined",
	 "memberships that were rejoined")
CMX_STAT(GROUP_ENDED, "groups_ended",
	 "memberships that were lost for good, without MCAST_REJOIN")

/* CLOSING also has ids that were destroyed, see ib_close.c. */
CMX_GAUGE(ESTABLISHED, "now_established",
	  "ids at the moment that are established")
CMX_GAUGE(CONNECTING, "now_connecting",
	  "ids at the moment that have sent or received a request and are not established")
CMX_GAUGE(LISTENING, "now_listening",
	  "ids at the moment that listen on an address of the port")
CMX_GAUGE(CLOSING, "now_closing",
	  "connections at the moment that have ended, and whose peer may not know that yet")

/* Stages, whose latency is measured when they succeed */
CMX_STAGE(ADDR, "latency_addr",
	  "time to resolve an address")
CMX_STAGE(ROUTE, "latency_route",
	  "time to resolve a route, also if it was known at once")
CMX_STAGE(CONNECT, "latency_connect",
	  "time from the REQ that was sent to the REP, or from SIDR REQ to SIDR REP")
CMX_STAGE(ACCEPT, "latency_accept",
	  "time from the REQ that was received until the connection was established")
CMX_STAGE(JOIN, "latency_join",
	  "time to join a multicast group")

#undef CMX_STAT
#undef CMX_GAUGE
#undef CMX_STAGE
