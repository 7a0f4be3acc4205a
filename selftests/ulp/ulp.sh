#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ulp: a kernel ULP over <rdma/cmx.h>: its calls on RoCE and InfiniBand, and the teardown of its ids, device and
# module
# kernels: release debug kcsan uml
# check: uml
# real clock: debug kcsan
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
rig || exit
load_cmx || exit
tmp=$(mktemp -d)
. "$tests/ulp/guest.sh"
a=10.77.0.1
# One neighbour does not answer, and another is missing. For the latter the interface must use ARP.
ip link set d0 arp on
ip neigh replace 10.77.0.9 lladdr 02:77:00:00:00:09 dev d0 nud permanent

# the allocations of the module
kmalloc=/sys/kernel/tracing/events/kmem/kmalloc
[ -e $kmalloc ] || mount -t tracefs tracefs /sys/kernel/tracing
text=$(awk '$1 == "rdma_cmx" { print $6 }' /proc/modules)
printf 'call_site >= %#x && call_site < %#x' "$text" $((text + 0x200000)) >$kmalloc/filter
echo 1 >$kmalloc/enable
reports_start_no_io() {
	grep __GFP_NOFAIL /sys/kernel/tracing/trace >"$tmp/nofail" && ! grep -v GFP_NOIO "$tmp/nofail"
}

loaded() { [ -d /sys/module/cmx_ulp ] || load; }

# part "the ULP " "cmx show names" "cmx kill" "kill: " "ping" "a second listener" "echo over" "a group left" "GIDs of" "a reject" "a REJ" "an allocation" "no id is left with"
check "the ULP loads" load
check "the ULP listens" run "serve $a 7600"
check "cmx show names the module" eval '"$top/tools/cmx" show ids src-port 7600 | grep -qF " [cmx_ulp] "'
check "cmx kill refuses an id of the ULP" eval \
	'"$top/tools/cmx" kill src-port 7600 2>&1 >/dev/null | grep -qx "cmx: id 0 of cmx_ulp: Operation not supported"'
check "kill: an id of a kernel ULP" "$tests/uapi/uapi" "kill: an id of a kernel ULP"
check "ping: RDMA write and read, options and ECE" run "ping $a 7600 50"
# ping expects the value that it has set
rnr_is() { # TIMER MODULE: with a rule for the module
	"$top/tools/cmx" rule add ulp "$2" force set min_rnr_timer 7
	run "ping $a 7600 1" >/dev/null
	"$top/tools/cmx" rule delete all
	grep "rnr $1 " $ctl/result || { cat $ctl/result; return 1; }
}
check "ping: a rule for another module has no effect" rnr_is 5 rds
check "ping: a forced rule reaches the QP of the ULP" rnr_is 7 cmx_ulp
run "serve fd77::1 7601" 2>/dev/null && not_ok "a second listener is refused" || ok "a second listener is refused"
check_not "ping without a listener fails" run "ping $a 7999 1"
check "echo over a multicast group, with QPs of the engine" run "echo $a 239.7.7.7 239.7.7.7 20"
check "echo over a multicast group: the MAC address of the group" grep "dmac 01:00:5e:07:07:07," $ctl/result
check "echo over an IPv6 multicast group" run "echo fd77::1 ff15::77 ff15::77 20"
check "echo over an IPv6 multicast group: the MAC address of the group" grep "dmac 33:33:00:00:00:77," $ctl/result
check "a group left before the event of the join" run "leave $a 239.7.7.9"
check "a group left before the event of the join, IPv6" run "leave fd77::1 ff15::79"
check "GIDs of an id: an IPv4 id has GIDs" run "gids $a 7640"
check "GIDs of an id: the GIDs are the IPv4 addresses, and the service ID has the port" \
	grep -qF "::ffff:$a to ::ffff:$a, service 0x1061dd8, " $ctl/result
check "GIDs of an id: an IPv6 id has GIDs" run "gids fd77::1 7640"
check "GIDs of an id: the GIDs are the IPv6 addresses" grep -q "^fd77::1 to fd77::1, " $ctl/result

# 28 is the reason "consumer defined", and 35 refuses the ECE pair of the peer. 3 and 8 are for the CM only.
check "a reject: reason and private data" run "reject call 28 40 $a 7640"
check "a reject: the reason as text" grep -q "^status 28, consumer defined, 148 bytes" $ctl/result
check "a reject without private data" run "reject call 28 0 $a 7640"
check "a reject with the maximum of private data" run "reject call 28 148 $a 7640"
check_not "a reject with too much private data fails" run "reject call 28 149 $a 7640"
check "a reject: 0 stands for the reason 28" run "reject call 0 8 $a 7640"
check "a reject of the ECE pair" run "reject call 35 8 $a 7640"
check_not "a reject with a reason of the CM fails" run "reject call 8 0 $a 7640"
check "a REJ of the CM" run "reject raw 3 8 $a 7640"
check "a REJ with the reason 0" run "reject raw 0 8 $a 7640"
run "refuse $a 7641" >"$tmp/out" 2>&1 &
pid=$!
within 10 grep -q refusing $ctl/result
connect_fails() { # in rdma_connect() of an id without a channel
	ours timeout $((30 * slow)) rdma_client -s $a -p 7641 >"$tmp/client" 2>&1
	grep -q "rdma_connect: Connection refused" "$tmp/client" || { cat "$tmp/client"; return 1; }
}
check "a REJ with the reason 0 ends a call of rdma_connect()" connect_fails
kill $pid
wait
echo 0 >$kmalloc/enable
check "an allocation that must not fail starts no I/O" reports_start_no_io
check "the ULP unloads with a listener" unload
check "no id is left with a listener" within 5 no_ids

# part "listener for IB" "listener for iWARP: "
# by number: 1 is RDMA_NODE_IB_CA, which RoCE has as well, and 4 is RDMA_NODE_RNIC
check "listener for IB and RoCE: the ULP loads" load
check "listener for IB and RoCE: ids are restricted to devices of one node type" run "restrict $a 7642"
check "listener for IB and RoCE: listen" run "serve 0.0.0.0 7602 1"
check "listener for IB and RoCE: ping succeeds" run "ping $a 7602 1"
check "listener for IB and RoCE: the ULP unloads" unload
check "listener for iWARP: the ULP loads" load
check "listener for iWARP: listen" run "serve 0.0.0.0 7602 4"
check_not "listener for iWARP: ping over RoCE fails" run "ping $a 7602 1"
check "listener for iWARP: the ULP unloads" unload
check "listener for iWARP: no id is left" within 5 no_ids

# part "states: "
# Documentation/ulp-api.rst has the results
states() { # FUNCTION RESULTS
	run "states $1 $a 7645 10.77.0.9 10.77.0.10" && [ "$(cat $ctl/result)" = "$2" ] || { cat $ctl/result; return 1; }
}
loaded
while read -r name results; do
	check "states: $name" states "$name" "$results"
done < <(sed -n 's/^   \(cmx_[a-z_]*\)(), /\1 /p' "$top/Documentation/ulp-api.rst")
check "states: no id is left" within 5 no_ids
check "states: the ULP unloads" unload

# part "return" "thread: "
# by number: enum rdma_cm_event_type
check "return codes: the ULP loads" load
both_established() { [ "$("$top/tools/cmx" show state established | grep -c established)" = 2 ]; }
for how in return thread; do
	check "$how: ADDR_RESOLVED" run "break $how client 0 $a 7610"
	check "$how: ADDR_ERROR" run "break $how client 1 10.77.0.10 7610"
	check "$how: ROUTE_RESOLVED" run "break $how client 2 $a 7610"
	check "$how: CONNECT_REQUEST" run "break $how server 4 $a 7610"
	check "$how: CONNECT_RESPONSE" run "break $how client 5 $a 7610"
	check "$how: CONNECT_ERROR" run "break $how client 6 $a 7610"
	check "$how: UNREACHABLE" run "break $how client 7 10.77.0.9 7610"
	check "$how: REJECTED" run "break $how client 8 $a 7610"
	check "$how: ESTABLISHED, client" run "break $how client 9 $a 7610"
	check "$how: ESTABLISHED, server" run "break $how server 9 $a 7610"
	check "$how: DISCONNECTED, client" run "break $how client 10 $a 7610"
	check "$how: DISCONNECTED, server" run "break $how server 10 $a 7610"
	check "$how: MULTICAST_JOIN" run "break $how client 12 $a 7610"
	check "$how: MULTICAST_ERROR" run "break $how client 13 $a 7610"
	check "$how: TIMEWAIT_EXIT" run "break $how client 15 $a 7610"
	for side in client server; do
		run "break $how $side 11 $a 7610" >"$tmp/out" 2>&1 &
		pid=$!
		within 20 both_established
		check "$how: the device is removed, $side" timeout $((30 * slow)) rdma link del rxe0
		wait $pid && ok "$how: DEVICE_REMOVAL, $side" ||
			not_ok "$how: DEVICE_REMOVAL, $side" "$(cat "$tmp/out")"
		rig
	done
done
check "return codes: no id is left" within 5 no_ids

# part "locked id: "
# A call keeps an id locked. A process that waits for this lock cannot be killed.
loaded
run "hold $a 7620" >"$tmp/out" 2>&1 &
pid=$!
check "locked id: a call holds its lock" within 10 grep -q held $ctl/result
for what in ids stats; do
	timeout $((30 * slow)) "$top/tools/cmx" show $what >"$tmp/$what" &
done
check "locked id: cmx show does not wait for the lock" within 20 grep -q "listen.* busy$" "$tmp/ids"
check "locked id: cmx show stats does not wait for the lock" within 20 grep -Eq "^busy-ids +1 *$" "$tmp/stats"
kill $pid
wait
check "locked id: no id is left" within 5 no_ids

# part "locked handler: "
# three ids: the listener, its request and the id of the client
request_waits() { [ "$("$top/tools/cmx" show | grep -c ":7630\b")" = 3 ]; }
loaded
run "lock $a 7630" >"$tmp/out" 2>&1 &
pid=$!
within 10 grep -q locked $ctl/result
LD_LIBRARY_PATH=$cmx_lib timeout $((30 * slow)) rping -c -a $a -p 7630 -C 1 >/dev/null 2>&1 &
check "locked handler: a request arrives" within 10 request_waits
kill $pid
wait
check "locked handler: the request waits for the unlock" eval '[ "$(echo $(cat $ctl/result))" = "locked unlocked request" ]'
check "locked handler: no id is left" within 5 no_ids

# part "stalled handlers: "
# ib_mad reports timeouts to the users of a port one after another
ip neigh replace 10.77.0.99 lladdr 02:77:00:00:00:99 dev d0 nud permanent
loaded
run "stall 10.77.0.9 7620" >"$tmp/out" 2>&1 &
pid=$!
check "stalled handlers: 300 handlers do not return" within $((20 * slow)) grep -q stalled $ctl/result
check "stalled handlers: ids of other users get their timeouts" ours "$top/selftests/api/api" "option: retries to a silent peer"
kill $pid
wait
check "stalled handlers: no id is left" within 5 no_ids

# part "removed device: "
loaded
check "removed device: the ULP listens" run "serve $a 7600"
run "ping $a 7600 1000000" >/dev/null 2>&1 &
pid=$!
sleep 2
check "removed device: the device is removed under traffic" timeout $((30 * slow)) rdma link del rxe0
wait $pid
check "removed device: no id is left" within 5 no_ids
rig

# part "unload under connects: "
# the list of ids still has a destroyed id until ib_cm has released it
list_ids() { while "$top/tools/cmx" show ids >/dev/null; do :; done; }
loaded
check "unload under connects: the ULP listens" run "serve $a 7600"
list_ids &
pid=$!
for i in 1 2 3 4; do
	check "unload under connects: many ids connect, $i" run "storm $a 7600 $((i * 30))"
	check "unload under connects: the ULP unloads while ids are listed, $i" unload
	load
	run "serve $a 7600"
done
kill -0 $pid && ok "unload under connects: each listing succeeds" || not_ok "unload under connects: each listing succeeds"
kill $pid
wait $pid
check "unload under connects: many ids connect to a silent peer" run "storm 10.77.0.9 7600 30"
check "unload under connects: the ULP unloads during connects to a silent peer" unload
check "unload under connects: no id is left" within 5 no_ids

# part "random failures: "
# Allocations with our module in the call trace fail at random, also in callbacks and work queues.
f=/sys/kernel/debug/failslab
if [ -d $f ]; then
	loaded
	text=$(awk '$4 == "[rdma_cmx]" && $2 ~ /[tT]/ {print $1}' /proc/kallsyms | sort)
	echo N >$f/ignore-gfp-wait
	echo 0 >$f/verbose
	echo "0x$(head -1 <<<"$text")" >$f/require-start
	echo "0x$(tail -1 <<<"$text")" >$f/require-end
	# Documentation/testing.rst: such a QP of rxe cannot be drained any more
	read -r begin end < <(sort /proc/kallsyms |
		awk '$3 == "rxe_modify_qp" { begin = $1 } begin && $1 != begin { print begin, $1; exit }')
	echo "0x$begin" >$f/reject-start
	echo "0x$end" >$f/reject-end
	echo 32 >$f/stacktrace-depth
	echo -1 >$f/times
	echo 10 >$f/probability
	ended=0
	for i in $(seq 12); do
		run "serve $a 7600" >/dev/null 2>&1
		timeout $((30 * slow)) bash -c "echo ping $a 7600 3 >$ctl/run; echo echo $a 239.7.7.7 239.7.7.7 3 >$ctl/run" 2>/dev/null
		# neither stopped by timeout nor killed by a signal
		[ $? -ge 124 ] || ended=$((ended + 1))
	done
	echo 0 >$f/probability
	[ $ended = 12 ] && ok "random failures: each run ends" || not_ok "random failures: each run ends" "only $ended of 12 runs ended"
	run "serve $a 7600" >/dev/null 2>&1
	check "random failures: calls succeed afterwards" run "ping $a 7600 3"
	check "random failures: the ULP unloads" unload
fi
check "random failures: no id is left" within 5 no_ids

# part "InfiniBand: "
# the same over InfiniBand: the ends are HCAs in namespaces of their own
at() { # I COMMAND...
	nsenter --net="/run/netns/h$1" bash -c "echo '${*:2}' >$ctl/run" && return
	cat $ctl/result
	return 1
}
# joins: check that joins were sent to the SA
joins() { [ "$(mads 0x03 0x02 0x0038)" != 0 ]; }
check "InfiniBand: a fabric comes up" fabric up
loaded
check "InfiniBand: listen" at 0 "serve 10.78.0.1 7600"
check "InfiniBand: ping: RDMA write and read, options and ECE" at 1 "ping 10.78.0.1 7600 20"
check_not "InfiniBand: ping without a listener fails" at 1 "ping 10.78.0.1 7999 1"
# 80 bits of an IPv6 group address are significant
for groups in "10.78.0.2 239.7.7.7 239.7.7.7" "fd78::2 ff15::77 ff1e::77" \
	      "fd78::2 ff15::1 ff15:1::1" "fd78::2 ff15::2 ff12:5::2"; do
	knob mad/count 0
	check "InfiniBand: echo over a multicast group, $groups" at 1 "echo $groups 20"
	check "InfiniBand: a join is sent to the SA, $groups" joins
done
check "InfiniBand: a group left before the event of the join" at 1 "leave 10.78.0.2 239.7.7.9"
check "InfiniBand: the GIDs of an id are those of its path" at 1 "gids 10.78.0.1 7600"
check "InfiniBand: the ULP unloads with a listener" unload
check "InfiniBand: no id is left" within 5 no_ids
check "InfiniBand: the fabric goes down" fabric down
# all parts
[ ! -d /sys/module/cmx_ulp ] || unload
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
