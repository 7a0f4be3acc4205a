#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# examples: the programs and the module of Documentation/tutorial.rst work as described there
# kernels: default 7
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
listening() { "$top/tools/cmx" show state listen src-port "$1" | grep -q listen; }
says() { grep -qxF "$2" "$tmp/$1"; }
# called in the background, so that $! is the program
start() { exec env LD_LIBRARY_PATH="$cmx_lib" "$@"; }
start_on() { exec ip netns exec "h$1" env LD_LIBRARY_PATH="$cmx_lib" "${@:2}"; }
# serve PORT COMMAND...: start a server and wait until it listens
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
# client PROGRAM...: run it with its output in a file, and return its status
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
check "example: hello: the client succeeds" client "$bin/hello" $a 7471
check "example: hello: the client prints its options and the answer" lines client "TOS is 104, set" \
	"CONNECT_DEADLINE_MS is 2000, set" "CM_RETRIES is 15, the default" "received: hello, client"
ended "example: hello: the server succeeds"
check "example: hello: the server receives the private data" lines server "received: hello, server"
check "example: hello: a connect without a listener fails" fails "$bin/hello" $a 7479
check "example: hello: the error names step, peer and reason" lines client \
	"hello: connect, $a port 7479: Connection refused (RDMA_CM_EVENT_REJECTED, status 8)"
check "example: hello: an extension fails on the in-tree stack" fails_stock "$bin/hello" $a 7471
check "example: hello: the error names the extension" lines client \
	"hello: set CONNECT_DEADLINE_MS, $a port 7471: Function not implemented"
# a neighbour entry without a host
ip link set d0 arp on
ip neigh replace 10.77.0.9 lladdr 02:77:00:00:00:09 dev d0 nud permanent
begin=$SECONDS
check "example: hello: a connect to a silent peer fails" fails "$bin/hello" 10.77.0.9 7471
check "example: hello: the deadline ends the connect" [ $((SECONDS - begin)) -lt $((10 * slow)) ]
check "example: hello: the error is a timeout" lines client \
	"hello: connect, 10.77.0.9 port 7471: Connection timed out (RDMA_CM_EVENT_UNREACHABLE, status -110)"

# rxe does not support ECE
serve 7472 "$bin/ece" -s $a 7472
check "example: ece: the client succeeds without ECE" client "$bin/ece" $a 7472
check "example: ece: the client prints that there is no ECE" lines client "local 0x0:0x0, peer 0x0:0x0, no ECE"
ended "example: ece: the server succeeds without ECE"
serve 7472 "$bin/ece" -s $a 7472 0x15b3 0x6
check "example: ece: the client succeeds with ECE" client "$bin/ece" $a 7472 0x15b3 0x3
ended "example: ece: the server succeeds with ECE"
check "example: ece: the client prints both options" lines client "local 0x15b3:0x3, peer 0x15b3:0x2, both ends have ECE"
check "example: ece: the server prints both options" lines server "local 0x15b3:0x2, peer 0x15b3:0x3, both ends have ECE"

# logged PATTERN: check for a message of hello_ulp since it was loaded last
logged() { dmesg | awk '/example: the ULP is loaded/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' | grep -q "hello: $1"; }
load_ulp() { echo "example: the ULP is loaded" >/dev/kmsg; insmod "$ulp" "$@"; }
serve 7473 "$bin/hello" -s $a 7473
check "example: ULP: the module loads" load_ulp peer=$a port=7473
check "example: ULP: the module logs the answer of the server" within 10 logged "received: hello, client"
ended "example: ULP: the server succeeds"
check "example: ULP: the server receives the private data" lines server "received: hello from the kernel"
check "example: ULP: the module unloads after its connection" within 10 rmmod hello_ulp
check "example: ULP: the module loads without a listener" load_ulp peer=$a port=7479
check "example: ULP: the module logs the reject" within 10 logged "rejected, $a port 7479: .*status 8"
check "example: ULP: the module unloads after the reject" within 10 rmmod hello_ulp
check "example: ULP: the module loads with a silent peer" load_ulp peer=10.77.0.9
check "example: ULP: the deadline ends the connect" within 10 logged "unreachable, 10.77.0.9 port 7471: .*status -110"
check "example: ULP: the device is removed" timeout $((30 * slow)) rdma link del rxe0
check "example: ULP: the module unloads without a device" within 10 rmmod hello_ulp
check "example: no id is left" within 10 no_ids

rig || exit
check "example: Python: the binding connects and joins" client "$top/Documentation/examples/cmx.py" $a 239.7.7.7
check "example: Python: the binding prints options, data and ECE" lines client "ABI 1, 20 options" \
	"CONNECT_DEADLINE_MS is 5000, set: True" "CM_RETRIES is 15, set: False" \
	"server received: hello, server" "client received: hello, client" \
	"ECE 0x15b3:0x3, peer 0x15b3:0x2, applied" "joined: True" "events: [1, 4, 2, 1]"
start "$bin/group" $a 239.7.7.7 >"$tmp/member" 2>&1 &
members=$!
check "example: group: a member joins on RoCE" within 10 grep -q "^member: MGID ::ffff:239.7.7.7," "$tmp/member"
start "$bin/group" $a 239.7.7.7 greetings >"$tmp/sender" 2>&1 &
members="$members $!"
check "example: group: a datagram arrives on RoCE" within 20 says member "received: greetings"
kill $members
wait
start "$bin/group" fd77::1 ff15::77 >"$tmp/member" 2>&1 &
members=$!
check "example: group: a member joins an IPv6 group on RoCE" \
	within 10 grep -q "^member: MGID ff15::77," "$tmp/member"
start "$bin/group" fd77::1 ff15::77 greetings >"$tmp/sender" 2>&1 &
members="$members $!"
check "example: group: a datagram to an IPv6 group arrives" within 20 says member "received: greetings"
kill $members
wait

check "example: group: a fabric comes up" fabric up 2
start_on 0 "$bin/group" 10.78.0.1 239.7.7.7 greetings >"$tmp/sender" 2>&1 &
members=$!
start_on 1 "$bin/group" 10.78.0.2 239.7.7.7 >"$tmp/member" 2>&1 &
members="$members $!"
check "example: group: a datagram arrives on InfiniBand" within 30 says member "received: greetings"
show_cause() {
	tail -n 5 "$tmp/sender" "$tmp/member"
	"$top/tools/cmx" show mcast
	tail -n 20 "$fabric_run/sm0/log"
}
check "example: group: OpenSM is killed" sm kill
check "example: group: OpenSM is started again" sm start
for n in sender member; do
	check "example: group: the $n rejoins" \
		within 60 grep -q "^member again: MGID ff12:4001:ffff::f07:707, MLID 0xc0" "$tmp/$n"
done
n=$(grep -c received "$tmp/member")
datagram_arrives() { [ "$(grep -c "received: greetings" "$tmp/member")" -gt "$n" ]; }
check "example: group: a datagram arrives after the rejoin" within 30 datagram_arrives
kill $members
wait $members 2>/dev/null
check "example: the module unloads" unload_cmx
check "example: the fabric goes down" fabric down
finish
