#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# api: features that only rdma_cmx has: options, ECE policy, multicast attributes
# kernels: release uml
# check: default uml
# hardware: the cases with two addresses
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
# how long a DREQ is repeated to a peer that does not answer
echo $((8 * slow)) >/sys/module/rdma_cmx/parameters/close_seconds
api_rig() {
	# an interface with ARP
	ip link set d0 arp on
	# peers without a host
	ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud permanent
	ip neigh replace 10.77.0.97 lladdr 02:00:00:00:00:97 dev d0 nud permanent
	# a bond whose address is that of the link in use
	modprobe -q bonding max_bonds=0
	ip link add bond1 type bond mode active-backup miimon 50 fail_over_mac active
	for l in ba bb; do
		ip link add $l type dummy
		ip link set $l master bond1
	done
	ip link set bond1 up
	ip addr add 10.81.0.1/24 dev bond1
	rdma link add rxe1 type rxe netdev bond1
	! grep -qw rxe_disassociate_ucontext /proc/kallsyms || export GOING_AT_ONCE=1
	# a VLAN that derives the priority in its tag from that of a packet
	modprobe -q 8021q
	ip link add link d0 name d0.5 type vlan id 5 egress-qos-map 0:1 2:3 6:5
	ip link set d0.5 up
	ip addr add 10.82.5.1/24 dev d0.5
	within 10 grep -qs ffff:0a52:0501 /sys/class/infiniband/rxe0/ports/1/gids/{?,??}

	# two VRFs with the same addresses, if the kernel has VRFs
	modprobe -q vrf
	for n in 10 20; do
		ip link add vrf$n type vrf table $n 2>/dev/null || break
		ip link set vrf$n up
		ip link add v$n type dummy
		ip link set v$n addrgenmode none master vrf$n multicast on up
		for a in 10.90.0.1/24 "fd90::1/64 nodad" "fe80::90/64 nodad"; do
			ip addr add $a dev v$n
		done
		ip route add 224.0.0.0/4 dev v$n table $n
		rdma link add rxev$n type rxe netdev v$n
		ip link add link d0 name d0.$n type vlan id $n
		ip link set d0.$n master vrf$n up
		ip addr add 10.93.0.1/24 dev d0.$n
	done
	# an adapter in the subnet of d0, to which no route leads
	ip link add v30 type dummy
	ip link set v30 up
	ip addr add 10.77.0.31/24 dev v30 noprefixroute
	rdma link add rxev30 type rxe netdev v30
	[ ! -e /sys/class/net/vrf10 ] || ip addr add 10.91.0.1/24 dev v10
	[ ! -e /sys/class/net/vrf10 ] || ip addr add fd91::1/64 dev v10 nodad
	[ ! -e /sys/class/net/vrf10 ] || ip addr add 10.77.0.31/32 dev v10
	# trace the work items that changes of neighbours queue
	tracing=/sys/kernel/tracing
	queued=$tracing/events/workqueue/workqueue_queue_work
	[ -e $queued ] || mount -t tracefs tracefs $tracing
	# the buffer must be large enough for all of them
	echo 8192 >$tracing/buffer_size_kb
	echo 'workqueue == "rdma_cmx"' >$queued/filter
	echo 1 >$queued/enable
	# count the calls of ib_destroy_cm_id(), and how often it polls for a cancelled message
	probes=$tracing/events/kprobes/enable
	for p in cancel:ib_destroy_cm_id cancel_poll:cm_destroy_id_wait_timeout; do
		echo "p:${p/:/ }" >>$tracing/kprobe_events
	done 2>/dev/null
	[ ! -e $probes ] || echo 1 >$probes
	# trace the reasons why requests are dropped
	refused=$tracing/events/rdma_cmx/cmx_req_refused/enable
	echo 1 >$refused
}
on_hardware || api_rig

# The first device is that of an interface that has left a bond, and with it the bond's GID. No port is active.
first_without_gid() {
	local gid=/sys/class/infiniband/rxe2/ports/1/gids/0
	rdma link del rxe1 && rdma link del rxe0 && rdma link add rxe2 type rxe netdev bb &&
		within 10 grep -q ^fe80: $gid && ip link set bb nomaster && within 10 grep -q '^[0:]*$' $gid &&
		rig && ip link set d0 down
}

# watch_works CASE: how often the work item of a neighbour or bond was queued in that case of the program
watch_works() {
	sed -n "/ $1: begin/,/ $1: end/p" $tracing/trace | grep -c function=watch_work
}

# Three cases use the trace that cases of the program have left.
peer="only a neighbour that gets another address queues work"
bond="only a bond that ids use queues work"
full="limit: the trace tells that a backlog was full"
traced=()
if [ -n "$only" ]; then
	! wanted "$peer" || traced+=("the peer gets another MAC address")
	! wanted "$bond" || traced+=("a bond fails over")
	! wanted "$full" || traced+=("limit: requests to a slow listener")
fi
cases "" ours "$tests/api/api" ${only:+"$only"} "${traced[@]}"
check "cmx default sets a value" "$top/tools/cmx" default tos 8
check "cmx default shows the value that was set" grep -qx "tos 8" <("$top/tools/cmx" default tos)
check "a program with extensions runs on ours" ours "$tests/api/both" ours
check "a program with extensions runs on the in-tree stack" stock "$tests/api/both" stock
newer="a program of rdma-core 65 runs"
if [ -e "$tests/api/newer" ] && ! on_hardware; then
	check "$newer" ours "$tests/api/newer" 10.77.0.1
else
	skip "$newer" "needs the interface of the suite"
fi
if on_hardware; then
	skip "$peer" "needs the interface of the suite"
	skip "$bond" "needs the interface of the suite"
	skip "$full" "needs the interface of the suite"
else
	check "$peer" [ "$(watch_works peer)" = 3 ]
	# a bond without ids fails over ten times
	check "$bond" grep -qx '[1-9]' <(watch_works bond)
	check "$full" \
		grep -Eq "cmx_req_refused: .* 10\.77\.0\.1:[0-9]+ backlog-full " $tracing/trace
	echo 0 >$queued/enable
	echo 0 >$refused
	[ ! -e $probes ] || { echo 0 >$probes && echo >$tracing/kprobe_events; }
	ip neigh del 10.77.0.99 dev d0
	ip neigh del 10.77.0.97 dev d0
	ip neigh del 10.77.0.98 dev d0
	ip link del d0.5
	rdma link del rxev30
	ip link del v30
	for n in 10 20; do
		[ -e /sys/class/net/vrf$n ] || continue
		rdma link del rxev$n
		ip link del d0.$n
		ip link del v$n
		ip link del vrf$n
	done
	check "the first device has no GID" first_without_gid
	check "a loopback address resolves if the first device has no GID" ours "$tests/api/api" "address: loopback"
	ip link set d0 up
	rdma link del rxe2
	ip link del ba
	ip link del bb
	ip link del bond1
fi
check "the module unloads" unload_cmx
finish
