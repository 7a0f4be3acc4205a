#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# death: processes, devices, namespaces and the module end at any time while ids use them.
# kernels: 6.1 7 debug kcsan uml
# check: uml
# real clock: debug kcsan
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
hold=$tests/stress/hold
tmp=$(mktemp -d)

# start NAME ARGS...: a holder in the background, in namespace $ns, its input in fd 8
start() {
	local name=$1
	shift
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	LD_LIBRARY_PATH=$cmx_lib ${ns:+ip netns exec $ns} "$hold" "$@" <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	exec 8>"$tmp/in"
	check "$name" within 60 grep -q ^ready "$tmp/out" || note <"$tmp/out"
}

# end NAME: tell the holder to destroy its ids
end() {
	echo >&8
	exec 8>&-
	check "$1" within 60 grep -q ^gone "$tmp/out"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

groups() { [ "$(grep -c '4DEF ' /proc/net/igmp)" = "$1" ]; }
dead() { ! kill -0 "$pid" 2>/dev/null; }
# check that each id for which the holder announced a removal has DEVICE_REMOVAL
all_removed() { [ "$(grep -c '^removal ' "$tmp/out")" = "$(sed -n 's/^ready .* removals //p' "$tmp/out")" ]; }
remove() { timeout $((60 * slow)) rdma link del rxe0; }
# A request to the listener of the holder is an event there. The holder does not answer it.
knock() {
	local client status
	rping -c -a 10.77.0.1 -p 7400 -C 1 >/dev/null 2>&1 &
	client=$!
	within 15 grep -q CONNECT_REQUEST "$tmp/out"
	status=$?
	kill $client
	wait $client
	return $status
}

# part "a process holds ids in every state" "the 50 groups" "rmmod is refused" "a killed process" "the ports of a killed" "the ids of the next" "the module unloads after"
start "a process holds ids in every state" -n 30 -g 50
check "the 50 groups are in /proc/net/igmp" groups 50
check_not "rmmod is refused while ids exist" rmmod rdma_cmx
kill -9 "$pid"
exec 8>&-
wait "$pid" 2>/dev/null
check "a killed process leaves its groups" within 10 groups 0
start "the ports of a killed process are free" -n 3 -g 3
end "the ids of the next process are destroyed"
check "the module unloads after a killed process" unload_cmx

# all parts
load_cmx || exit
# part "a process holds ids in every state before" "each id gets" "the removal ends" "calls on ids of" "the port of an id" "ids are destroyed after" "no id gets"
start "a process holds ids in every state before a removal" -n 30 -g 50
# without any device a program gets no channel
ip link add d1 type dummy
ip link set d1 up
rdma link add rxe1 type rxe netdev d1
# rxe exists until uverbs releases it, which happens when the last process has closed it
remove &
check "each id gets DEVICE_REMOVAL" within 20 all_removed
check "the removal ends all memberships" within 10 groups 0
check_not "calls on ids of a removed device fail" grep "^still there" "$tmp/out"
check "the port of an id of a removed device is free" ours "$hold" -w -p 7401
rdma link del rxe1
ip link del d1
end "ids are destroyed after their device"
check "no id gets DEVICE_REMOVAL twice" all_removed
check "the removal ends when the last process closes the device" within 30 test ! -e /sys/class/infiniband/rxe0
# the name is free again when the removal has ended
wait
rig

# part "a process listens on any" "the device is removed under" "a wildcard listener" "the wildcard listener"
start "a process listens on any device" -w
check "the device is removed under a wildcard listener" remove
rig
check "a wildcard listener gets requests of a device that is added later" knock
end "the wildcard listener is destroyed"

# part "the device is removed while"
# connections are made and ended while the device is removed and added
for i in 1 2 3 4 5; do
	ours timeout $((60 * slow)) "$hold" -n 60 -g 20 </dev/null >/dev/null 2>&1 &
	sleep "0.$((i * 2))"
	check "the device is removed while connections are made, $i" remove
	rig
	wait
done

# part "300 " "1000 " "the device is removed within" "the module unloads within"
# Messages without a reply would be repeated for days. No removal waits for them.
ip link set d0 arp on
messages=1000
# the debug kernel takes half a minute for so many
[ ! -e /sys/kernel/debug/kmemleak ] || messages=300
for way in withdrawn refused notified; do
	ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud permanent
	check "$messages messages without a reply: $way" ours "$tests/stress/leave" $way $messages
	remove &
	check "the device is removed within two seconds: $way" \
		within 2 test ! -e /sys/class/infiniband/rxe0
	wait
	rig
done
default=$(cat /sys/module/rdma_cmx/parameters/max_user_requests)
echo 16 >/sys/module/rdma_cmx/parameters/max_user_requests
ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud permanent
check "300 requests without a reply, most of them not sent" \
	ours setpriv --reuid 65534 --clear-groups "$tests/stress/leave" unsent 300
remove &
check "the device is removed within two seconds: unsent" within 2 test ! -e /sys/class/infiniband/rxe0
wait
echo "$default" >/sys/module/rdma_cmx/parameters/max_user_requests
rig
check "300 messages without a reply before the module unloads" ours "$tests/stress/leave" withdrawn 300
rmmod rdma_cmx &
check "the module unloads within two seconds" within 2 test ! -e /sys/module/rdma_cmx
wait
load_cmx || exit

# part "a process holds ports" "a port is bound" "the ids with the ports" "a process holds ids in another" "a namespace is deleted" "ids in a deleted" "nothing holds"
ip netns add gone
ip netns exec gone ip link set lo up
start "a process holds ports" -w
check_not "a port is bound only once in a namespace" ours "$hold" -w
check "a port is bound again in another namespace" ours ip netns exec gone "$hold" -w
end "the ids with the ports are destroyed"

# one end of the veth pair is removed with its namespace, and the other end with it
modprobe veth
ip link add cable0 type veth peer name cable1 netns gone
ns=gone start "a process holds ids in another namespace" -w
check "a namespace is deleted with ids in it" ip netns del gone
end "ids in a deleted namespace are destroyed"
check "nothing holds the deleted namespace" within 30 test ! -e /sys/class/net/cable0

# all parts
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
