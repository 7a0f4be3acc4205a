#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# examples: the programs and the module of Documentation/tutorial.rst work as described there
# kernels: release
# check: default
# timeout: 300
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
rig || exit
load_cmx || exit
bin=$top/build/examples
ulp=$(dirname "$(cmx_module)")/ulp/hello_ulp.ko
tmp=$(mktemp -d)
a=10.77.0.1
listening() { grep -q " listen .*:$1 " /sys/kernel/debug/rdma_cmx/ids; }
says() { grep -qxF "$2" "$tmp/$1"; }
# in the background, for the program to be $!
start() { exec env LD_LIBRARY_PATH="$cmx_lib" "$@"; }
start_on() { exec ip netns exec "h$1" env LD_LIBRARY_PATH="$cmx_lib" "${@:2}"; }
# serve PORT COMMAND...: returns when it listens
serve() {
	local port=$1
	shift
	start "$@" >"$tmp/server" 2>&1 &
	server=$!
	within 20 listening "$port" || note <"$tmp/server"
}
ended() { # NAME
	if wait $server; then ok "$1"; else not_ok "$1" "$(cat "$tmp/server")"; fi
}
no_ids() { [ "$(grep -cE '^(process|kernel)-ids 0$' /sys/kernel/debug/rdma_cmx/stats)" = 2 ]; }
# the program's output goes to a file, and its status is the function's
client() { ours timeout $((20 * slow)) "$@" >"$tmp/client" 2>&1; }
fails() { ! client "$@"; }
fails_stock() { ! stock timeout $((20 * slow)) "$@" >"$tmp/client" 2>&1; }
# lines NAME TEXT...: check that the program has printed each of these lines
lines() {
	local name=$1 line
	shift
	for line; do
		says "$name" "$line" || { cat "$tmp/$name"; return 1; }
	done
}

serve 7471 "$bin/hello" -s $a 7471
check "example: hello: the client ends well" client "$bin/hello" $a 7471
check "example: hello: options and the answer" lines client "TOS is 104, set" \
	"CONNECT_DEADLINE_MS is 2000, set" "CM_RETRIES is 15, the default" "received: hello, client"
ended "example: hello: the server ends well"
check "example: hello: what the server received" lines server "received: hello, server"
check "example: hello: nobody listens" fails "$bin/hello" $a 7479
check "example: hello: says step, peer and reason" lines client \
	"hello: connect, $a port 7479: Connection refused (RDMA_CM_EVENT_REJECTED, status 8)"
check "example: hello: the in-tree stack has no such option" fails_stock "$bin/hello" $a 7471
check "example: hello: says so" lines client \
	"hello: set CONNECT_DEADLINE_MS, $a port 7471: Function not implemented"
# a neighbour entry without a host
ip link set d0 arp on
ip neigh replace 10.77.0.9 lladdr 02:77:00:00:00:09 dev d0 nud permanent
begin=$SECONDS
check "example: hello: a silent peer" fails "$bin/hello" 10.77.0.9 7471
check "example: hello: the deadline ends it" [ $((SECONDS - begin)) -lt $((10 * slow)) ]
check "example: hello: says so" lines client \
	"hello: connect, 10.77.0.9 port 7471: Connection timed out (RDMA_CM_EVENT_UNREACHABLE, status -110)"

# rxe has no ECE of its own
serve 7472 "$bin/ece" -s $a 7472
check "example: ece: a device without it" client "$bin/ece" $a 7472
check "example: ece: says so" lines client "local 0x0:0x0, peer 0x0:0x0, no ECE"
ended "example: ece: the passive end ends well"
serve 7472 "$bin/ece" -s $a 7472 0x15b3 0x6
check "example: ece: both ends have it" client "$bin/ece" $a 7472 0x15b3 0x3
ended "example: ece: the passive end ends well"
check "example: ece: the active end" lines client "local 0x15b3:0x3, peer 0x15b3:0x2, both ends have ECE"
check "example: ece: the passive end" lines server "local 0x15b3:0x2, peer 0x15b3:0x3, both ends have ECE"

# print the messages of hello_ulp since it was loaded last
logged() { dmesg | awk '/example: the ULP is loaded/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' | grep -q "hello: $1"; }
load_ulp() { echo "example: the ULP is loaded" >/dev/kmsg; insmod "$ulp" "$@"; }
serve 7473 "$bin/hello" -s $a 7473
check "example: ULP: it loads" load_ulp peer=$a port=7473
check "example: ULP: the answer of the server" within 10 logged "received: hello, client"
ended "example: ULP: the server ends well"
check "example: ULP: what the server received" lines server "received: hello from the kernel"
check "example: ULP: it unloads" within 10 rmmod hello_ulp
check "example: ULP: it loads again" load_ulp peer=$a port=7479
check "example: ULP: nobody listens" within 10 logged "rejected, $a port 7479: .*status 8"
check "example: ULP: it unloads" within 10 rmmod hello_ulp
check "example: ULP: it loads once more" load_ulp peer=10.77.0.9
check "example: ULP: the deadline ends it" within 10 logged "unreachable, 10.77.0.9 port 7471: .*status -110"
check "example: ULP: the device goes" timeout $((30 * slow)) rdma link del rxe0
check "example: ULP: it unloads without a device" within 10 rmmod hello_ulp
check "example: no id is left" within 10 no_ids

rig || exit
start "$bin/group" $a 239.7.7.7 >"$tmp/member" 2>&1 &
members=$!
check "example: group: a member on RoCE" within 10 grep -q "^member: MGID ::ffff:239.7.7.7," "$tmp/member"
start "$bin/group" $a 239.7.7.7 greetings >"$tmp/sender" 2>&1 &
members="$members $!"
check "example: group: a datagram arrives" within 20 says member "received: greetings"
kill $members
wait
start "$bin/group" fd77::1 ff15::77 >"$tmp/member" 2>&1 &
members=$!
check "example: group: a member of an IPv6 group on RoCE" \
	within 10 grep -q "^member: MGID ff15::77," "$tmp/member"
start "$bin/group" fd77::1 ff15::77 greetings >"$tmp/sender" 2>&1 &
members="$members $!"
check "example: group: a datagram to it arrives" within 20 says member "received: greetings"
kill $members
wait

check "example: group: a fabric" fabric up 2
start_on 0 "$bin/group" 10.78.0.1 239.7.7.7 greetings >"$tmp/sender" 2>&1 &
members=$!
start_on 1 "$bin/group" 10.78.0.2 239.7.7.7 >"$tmp/member" 2>&1 &
members="$members $!"
check "example: group: a datagram arrives on InfiniBand" within 30 says member "received: greetings"
check "example: group: OpenSM is killed" sm kill
check "example: group: OpenSM is back" sm start
for n in sender member; do
	check "example: group: the membership of the $n is back" \
		within 60 grep -q "^member again: MGID ff12:4001:ffff::f07:707, MLID 0xc0" "$tmp/$n"
done
n=$(grep -c received "$tmp/member")
datagram_arrives() { [ "$(grep -c "received: greetings" "$tmp/member")" -gt "$n" ]; }
check "example: group: a datagram arrives again" within 30 datagram_arrives
kill $members
wait $members 2>/dev/null
check "example: the module unloads" unload_cmx
check "example: the fabric goes" fabric down
finish
