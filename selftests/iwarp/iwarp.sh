#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# iwarp: connections over iw_cm, on siw: the test ULP, and rping with either stack
# kernels: uml
# check: uml
# timeout: 500
. "$(dirname "$0")/../vm/guest.sh"
a=10.77.0.1
tmp=$(mktemp -d)

siw() {
	modprobe -a siw ib_uverbs rdma_cm rdma_ucm || return
	[ -e /sys/class/net/d0 ] || ip link add d0 type dummy || return
	ip link set d0 up
	ip addr replace $a/24 dev d0
	ip addr replace fd77::1/64 dev d0 nodad
	rdma link add siw0 type siw netdev d0 || return
	within 10 grep -q ACTIVE /sys/class/infiniband/siw0/ports/1/state || return
	chmod 666 /dev/infiniband/*
}

# another device, whose users must not be affected
roce() {
	modprobe rdma_rxe || return
	[ -e /sys/class/net/d2 ] || ip link add d2 type dummy || return
	ip link set d2 up
	ip addr replace 10.79.0.1/24 dev d2
	rdma link add rxe2 type rxe netdev d2 || return
	within 10 grep -q ACTIVE /sys/class/infiniband/rxe2/ports/1/state || return
	chmod 666 /dev/infiniband/*
}

# siw confirms a connection before its QP accepts data, and handles data that has arrived meanwhile only when
# more data arrives, also on the in-tree stack. The ping of our ULP sends more data. rping does not: it runs on
# one processor with real-time priority, so that no data arrives too early.
alone() { # COMMAND...
	local cpu1=/sys/devices/system/cpu/cpu1/online ret=0
	echo 0 >$cpu1
	"$@" || ret=$?
	echo 1 >$cpu1
	return $ret
}

# Where the peer closes the connection at once, siw may report a reset (-104) before it has read the reply, see
# Documentation/testing.rst.
check_reply() { # NAME COMMAND...
	local name=$1 out n=0
	shift
	until out=$("$@" 2>&1 </dev/null); do
		if [[ $((++n)) = 5 || $out != *"status -104,"* ]]; then
			not_ok "$name" "$out"
			return
		fi
		repeated "$name" "siw has not read the reply"
	done
	ok "$name"
}

check "siw comes up" siw
check "the module loads" load_cmx
. "$tests/ulp/guest.sh"
check "ULP: the module loads" load
check "ULP: listen" run "serve $a 7600"
check "ULP: ping with RDMA write and read, without ECE" run "ping $a 7600 5"
check "ULP: the ids use iw_cm" eval '"$top/tools/cmx" show dev siw0/1 | grep -q iWARP'
check_not "ULP: ping without a listener fails" run "ping $a 7999 1"
check_not "ULP: datagrams are not supported" run "echo $a 239.7.7.7 239.7.7.7 1"
for how in return thread; do
	check "$how: CONNECT_REQUEST" run "break $how server 4 $a 7610"
	check "$how: REJECTED" run "break $how client 8 $a 7610"
	check "$how: ESTABLISHED, client" run "break $how client 9 $a 7610"
	check "$how: ESTABLISHED, server" run "break $how server 9 $a 7610"
	check "$how: DISCONNECTED, client" run "break $how client 10 $a 7610"
	check "$how: DISCONNECTED, server" run "break $how server 10 $a 7610"
done
# in simulated time all tries at once would end alike; check_reply counts them in n
disconnect_at_once() {
	local how=hasty
	[ "$n" = 0 ] || how=soon
	run "break $how client 10 $a 7610"
}
check_reply "a disconnect at once after the accept" disconnect_at_once
check_reply "a reject with private data" run "reject call 28 40 $a 7640"
check "a reject has its reason as text" grep -q "^status -[0-9]*, rejected by the [a-z]*, 40 bytes" $ctl/result
check_reply "a reject with another reason and without private data" run "reject call 35 0 $a 7640"
check "ids are restricted to devices of one node type" run "restrict $a 7642"

# 150 requests to a listener whose handler is locked
some_are_refused() { [ "$(cat /sys/class/infiniband/siw0/cmx1/refused_backlog)" -gt 0 ]; }
run "lock $a 7630" >"$tmp/lock" 2>&1 &
pid=$!
within 10 grep -q locked $ctl/result
for i in {1..5}; do
	LD_LIBRARY_PATH=$cmx_lib timeout $((60 * slow)) ucmatose -s $a -p 7630 -c 30 >"$tmp/clients.$i" 2>&1 &
done
check "requests beyond the backlog are refused" within 30 some_are_refused
check "128 requests wait for the handler" test "$("$top/tools/cmx" show ids src-port 7630 state connect | grep -c cmx_ulp)" = 128
kill $pid
wait

check "each option on the transports that have it" \
	ours "$tests/api/api" "option: each on the transports*"
check "a disconnect during a connect that fails" ours "$tests/api/api" -x "iwarp: attempt*"
check "no worker waits for a silent peer" \
	ours "$tests/api/api" -x "iwarp: peer that*"
check "a connect does not use TCP of another namespace" \
	ours "$tests/api/api" -x "iwarp: connect from*"
check "a listener gets the port of a destroyed listener" \
	ours "$tests/api/api" -x "iwarp: listener on the port*"
for case in "accept: *" "accept and destroy: *" "accept and deadline: *" "reject and destroy: *" \
	"disconnect: *" "listen and destroy: *"; do
	check "the provider waits in a call: ${case%: *}" ours "$tests/api/api" -x "delay: $case"
done
cases "siw: " env GOING="siw0 $a" GOING_REMOVE="rdma link delete siw0" \
	GOING_ADD="rdma link add siw0 type siw netdev d0" LD_LIBRARY_PATH="$cmx_lib" "$tests/api/api" "removed device: *"
check "rxe comes up beside siw" roce
check "a listener on RoCE has the port of another user's on iWARP" \
	ours "$tests/api/api" -x "iwarp: listener on RoCE*"
check "rxe is removed beside siw" timeout $((30 * slow)) rdma link del rxe2
check "a wildcard listener of AF_IB" ours "$tests/api/api" "*wildcard of AF_IB*"
check "ULP: the module unloads with a listener" unload
check "ULP: no id is left with a listener" within 5 no_ids
# by number: 1 is RDMA_NODE_IB_CA, and 4 is RDMA_NODE_RNIC
check "listener for iWARP: the module loads" load
check "listener for iWARP: listen" run "serve 0.0.0.0 7602 4"
check "listener for iWARP: ping succeeds" run "ping $a 7602 1"
check "listener for iWARP: the module unloads" unload
check "listener for IB and RoCE: the module loads" load
check "listener for IB and RoCE: listen" run "serve 0.0.0.0 7602 1"
check_not "listener for IB and RoCE: ping over iWARP fails" run "ping $a 7602 1"
check "listener for IB and RoCE: the module unloads" unload
check "IPv6: the module loads" load
check "IPv6: listen" run "serve fd77::1 7600"
check "IPv6: ping succeeds" run "ping fd77::1 7600 5"
check "IPv6: the device is removed under a listener" timeout $((30 * slow)) rdma link del siw0
check "IPv6: the module unloads" unload
check "IPv6: no id is left" within 5 no_ids
check "later device: the module loads" load
check "later device: a wildcard listener without a device" run "serve 0.0.0.0 7600"
check "later device: siw is added" siw
check "later device: the wildcard listener gets a request" run "ping $a 7600 1"
check "later device: the module unloads" unload
check "IPv6 wildcard: the module loads" load
check "IPv6 wildcard: listen" run "serve :: 7600"
check "IPv6 wildcard: ping over IPv4 succeeds" run "ping $a 7600 1"
check "IPv6 wildcard: the module unloads" unload

listening() { ss -Hlt "sport = :7700" | grep -q .; }
pair() { # SERVER-STACK CLIENT-STACK
	$1 timeout $((30 * slow)) chrt -f 1 rping -s -C 3 -a $a -p 7700 >"$tmp/server" 2>&1 &
	local pid=$! ret=0
	within 30 listening
	"$2" timeout $((30 * slow)) chrt -f 1 rping -c -C 3 -a $a -p 7700 || ret=1
	wait $pid || ret=1
	return $ret
}
check "rping: ours to ours" alone pair ours ours
check "rping: stock to ours" alone pair ours stock
check "rping: ours to stock" alone pair stock ours

vlan() {
	ip link add link d0 name d0.5 type vlan id 5 && ip link set d0.5 up && ip addr add 10.78.5.1/24 dev d0.5
}
check "a VLAN on the interface of the port comes up" vlan
check "rping over the VLAN: stock to stock" eval "a=10.78.5.1; alone pair stock stock"
check "rping over the VLAN: ours to ours" eval "a=10.78.5.1; alone pair ours ours"
# some providers look up the address of the VLAN in the network namespace of the host
move_vlan() {
	ip netns add v && ip link set d0.5 netns v && ip -n v link set d0.5 up && ip -n v addr add 10.78.5.1/24 dev d0.5
}
bind_in() { # STACK
	local out
	out=$("$1" timeout $((20 * slow)) ip netns exec v rping -s -a 10.78.5.1 -p 7722 2>&1)
	grep -q "rdma_bind_addr: No such device" <<<"$out" || { echo "$out"; return 1; }
}
check "the VLAN moves to a container" move_vlan
check "an address in a container has no RDMA device: stock" bind_in stock
check "an address in a container has no RDMA device: ours" bind_in ours
ip netns del v
a=10.77.0.1

# No host has that address. TCP would wait for minutes.
silent() {
	"$top/tools/cmx" default connect_deadline_ms 300 || return
	ours rping -c -C 1 -a ${a%.*}.99 -p 7700 >"$tmp/silent" 2>&1 &
	within 30 grep -q "UNREACHABLE, error -110" "$tmp/silent"
}
killed() {
	"$top/tools/cmx" default connect_deadline_ms 0 || return
	LD_LIBRARY_PATH=$cmx_lib rping -c -C 1 -a ${a%.*}.99 -p 7700 >/dev/null 2>&1 &
	within 30 eval '[ "$(ids_in connect)" != 0 ]' || return
	kill -9 $! || return
	within 10 grep -qx 'process-ids 0' /sys/kernel/debug/rdma_cmx/stats
}
check "the deadline expires while the provider waits for TCP" silent
check "a process is killed while the provider waits for TCP" killed

check "the device is removed while the provider waits for TCP" \
	ours "$tests/api/api" -x "iwarp: removal during TCP*"
check "siw is added after the wait for TCP" siw
check "the device is removed after the wait for an MPA reply" \
	ours "$tests/api/api" -x "iwarp: removal during MPA*"
check "siw is added after the wait for an MPA reply" siw
check "ULP: the module loads for a provider that waits" load
removal() { # CASE
	ours "$tests/api/api" -x "delay: removal during $1*" && within 10 test ! -e /sys/class/infiniband/siw0
}
for case in "listen" "accept"; do
	check "the device is removed while the provider waits in a call: $case" removal "$case"
	check "siw is added after the wait in a call: $case" siw
done
check "ULP: the module unloads after a provider that waited" unload

# a container, with the address of the interface on one of its own
container() {
	ip netns add c && ip -n c link add x0 type dummy && ip -n c link set x0 up && ip -n c addr add $a/24 dev x0
}
# serve_in COMMAND...: a wildcard listener. The output of rping must not be lost when it is killed.
serve_in() {
	ours timeout $((60 * slow)) ip netns exec c stdbuf -oL "$@" rping -d -s -a 0.0.0.0 -p 7711 >"$tmp/in" 2>&1
}
refused_in() { ! serve_in setpriv --reuid 65534 --clear-groups && grep -q "rdma_listen: Permission denied" "$tmp/in"; }
serves_in() { [ "$(ids_in listen)" != 0 ]; }
unasked_in() { grep -q '^rdma_listen' "$tmp/in" && ! grep -q CONNECT_REQUEST "$tmp/in"; }
check "a container has the address of siw" container
check "a user of a container may not listen on a port of the host's device" refused_in
check "rxe comes up for programs without siw" roce
check "siw is removed before the listener of a container" timeout $((30 * slow)) rdma link del siw0
serve_in &
check "root of a container listens" within 30 serves_in
check "siw is added with a socket of the host" siw
check_not "a request to the host is not accepted by a container" ours timeout $((30 * slow)) rping -c -C 1 -a $a -p 7711
check "a container gets no event of a request to the host" unasked_in
ip netns pids c | xargs kill && wait
check "rxe is removed after the containers" timeout $((30 * slow)) rdma link del rxe2
ip netns del c
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
