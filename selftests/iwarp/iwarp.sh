#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# iwarp: connections over iw_cm, on siw: the test ULP, and rping with either stack
# kernels: debug
# check: debug
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

# siw answers a connection before its QP takes data, and loses what comes meanwhile, also on the
# in-tree stack. Our ULP's ping sends more then. For rping: one processor, and programs that are
# not interrupted, leave no such time.
alone() { # COMMAND...
	local cpu1=/sys/devices/system/cpu/cpu1/online ret=0
	echo 0 >$cpu1
	"$@" || ret=$?
	echo 1 >$cpu1
	return $ret
}

check "siw" siw
check "the module" load_cmx
. "$tests/ulp/guest.sh"
check "load" load
check "listen" run "serve $a 7600"
check "ping: RDMA write and read, and no ECE" run "ping $a 7600 5"
check "it went over iw_cm" grep -q " siw0/1 iw " /sys/kernel/debug/rdma_cmx/ids
check_not "ping: nobody listens" run "ping $a 7999 1"
check_not "there are no datagrams" run "echo $a 239.7.7.7 239.7.7.7 1"
for how in return thread; do
	check "$how: CONNECT_REQUEST" run "break $how server 4 $a 7610"
	check "$how: REJECTED" run "break $how client 8 $a 7610"
	check "$how: ESTABLISHED, client" run "break $how client 9 $a 7610"
	check "$how: ESTABLISHED, server" run "break $how server 9 $a 7610"
	check "$how: DISCONNECTED, client" run "break $how client 10 $a 7610"
	check "$how: DISCONNECTED, server" run "break $how server 10 $a 7610"
done
check "a disconnect as soon as it is accepted" run "break hasty client 10 $a 7610"
check "a reject: private data" run "reject call 28 40 $a 7640"
check "the reason as text" grep -q "^status -[0-9]*, rejected by the [a-z]*, 40 bytes" $ctl/result
check "a reject without private data, and with another reason" run "reject call 35 0 $a 7640"
check "ids for devices of one node type" run "restrict $a 7642"

# 150 requests to a listener whose handler is locked
some_are_refused() { [ "$(cat /sys/class/infiniband/siw0/cmx1/refused_backlog)" -gt 0 ]; }
run "lock $a 7630" >"$tmp/lock" 2>&1 &
pid=$!
within 10 grep -q locked $ctl/result
for i in {1..5}; do
	LD_LIBRARY_PATH=$cmx_lib timeout $((60 * slow)) ucmatose -s $a -p 7630 -c 30 >"$tmp/clients.$i" 2>&1 &
done
check "more requests than may wait for a handler" within 30 some_are_refused
check "128 of them wait" test "$("$top/tools/cmx" show ids src-port 7630 state connect | grep -c cmx_ulp)" = 128
kill $pid
wait

check "each option on the transports that have it" \
	ours "$tests/api/api" "option: each on the transports*"
check "a disconnect of an attempt that fails" ours "$tests/api/api" -x "iwarp: attempt*"
check "no worker waits for a peer that does not reply" \
	ours "$tests/api/api" -x "iwarp: peer that*"
check "TCP of another namespace is not used" \
	ours "$tests/api/api" -x "iwarp: connect from*"
check "a listener on the port of the one before" \
	ours "$tests/api/api" -x "iwarp: listener on the port*"
check "rxe" roce
check "a listener on RoCE, beside another user's on iWARP" \
	ours "$tests/api/api" -x "iwarp: listener on RoCE*"
check "rxe goes" timeout $((30 * slow)) rdma link del rxe2
check "a wildcard of AF_IB" ours "$tests/api/api" "*wildcard of AF_IB*"
check "unload with a listener" unload
check "no id is left" within 5 no_ids
# by number: 1 is RDMA_NODE_IB_CA, and 4 is RDMA_NODE_RNIC
check "load" load
check "listen, on iWARP only" run "serve 0.0.0.0 7602 4"
check "ping" run "ping $a 7602 1"
check "unload" unload
check "load" load
check "listen, on InfiniBand and RoCE only" run "serve 0.0.0.0 7602 1"
check_not "ping: no listener for this device" run "ping $a 7602 1"
check "unload" unload
check "load" load
check "listen, IPv6" run "serve fd77::1 7600"
check "ping, IPv6" run "ping fd77::1 7600 5"
check "the device goes" timeout $((30 * slow)) rdma link del siw0
check "unload" unload
check "no id is left" within 5 no_ids
check "load" load
check "listen, before there is a device" run "serve 0.0.0.0 7600"
check "the device comes" siw
check "ping: a wildcard, on a device that came later" run "ping $a 7600 1"
check "unload" unload
check "load" load
check "listen: the wildcard of IPv6" run "serve :: 7600"
check "ping: by IPv4" run "ping $a 7600 1"
check "unload" unload

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
check "a VLAN above the interface of the port" vlan
check "rping on it: stock to stock" eval "a=10.78.5.1; alone pair stock stock"
check "rping on it: ours to ours" eval "a=10.78.5.1; alone pair ours ours"
# in a container: some providers look its address up in the network namespace of the host
move_vlan() {
	ip netns add v && ip link set d0.5 netns v && ip -n v link set d0.5 up && ip -n v addr add 10.78.5.1/24 dev d0.5
}
bind_in() { # STACK
	local out
	out=$("$1" timeout $((20 * slow)) ip netns exec v rping -s -a 10.78.5.1 -p 7722 2>&1)
	grep -q "rdma_bind_addr: No such device" <<<"$out" || { echo "$out"; return 1; }
}
check "the VLAN goes to a container" move_vlan
check "its address is on no RDMA device: stock" bind_in stock
check "its address is on no RDMA device: ours" bind_in ours
ip netns del v
a=10.77.0.1

# nobody has that address: TCP would wait for minutes
silent() {
	"$top/tools/cmx" default connect_deadline_ms 300 || return
	ours rping -c -C 1 -a ${a%.*}.99 -p 7700 >"$tmp/silent" 2>&1 &
	within 30 grep -q "UNREACHABLE, error -110" "$tmp/silent"
}
killed() {
	"$top/tools/cmx" default connect_deadline_ms 0 || return
	LD_LIBRARY_PATH=$cmx_lib rping -c -C 1 -a ${a%.*}.99 -p 7700 >/dev/null 2>&1 &
	within 30 grep -q " connect " /sys/kernel/debug/rdma_cmx/ids || return
	kill -9 $! || return
	within 10 grep -qx 'process-ids 0' /sys/kernel/debug/rdma_cmx/stats
}
check "a deadline, while the provider waits for TCP" silent
check "the program that waits is killed" killed

check "the device goes when the program that waits for TCP is killed" \
	ours "$tests/api/api" -x "iwarp: removal during TCP*"
check "the device comes" siw
check "the device goes when the provider has waited for an MPA reply" \
	ours "$tests/api/api" -x "iwarp: removal during MPA*"
check "the device comes" siw

# a container, with the address of the interface on one of its own
container() {
	ip netns add c && ip -n c link add x0 type dummy && ip -n c link set x0 up && ip -n c addr add $a/24 dev x0
}
# serve_in COMMAND...: on a wildcard. What rping prints must not be lost when it is killed
serve_in() {
	ours timeout $((60 * slow)) ip netns exec c stdbuf -oL "$@" rping -d -s -a 0.0.0.0 -p 7711 >"$tmp/in" 2>&1
}
refused_in() { ! serve_in setpriv --reuid 65534 --clear-groups && grep -q "rdma_listen: Permission denied" "$tmp/in"; }
serves_in() { grep -q " listen " /sys/kernel/debug/rdma_cmx/ids; }
unasked_in() { grep -q '^rdma_listen' "$tmp/in" && ! grep -q CONNECT_REQUEST "$tmp/in"; }
check "a container" container
check "its user may not take the port of a device of the host" refused_in
check "another device, without which no program starts" roce
check "the device goes" timeout $((30 * slow)) rdma link del siw0
serve_in &
check "its root listens" within 30 serves_in
check "the device comes, with a socket of the host" siw
check_not "the container gets no request of the host" ours timeout $((30 * slow)) rping -c -C 1 -a $a -p 7711
check "nor hears of it" unasked_in
ip netns pids c | xargs kill && wait
check "rxe goes" timeout $((30 * slow)) rdma link del rxe2
ip netns del c
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
