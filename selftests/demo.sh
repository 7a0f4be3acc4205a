#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# demo: a tour in a virtual machine: unmodified programs over rdma_cmx, options, multicast, ECE;
# then on a software InfiniBand fabric, under OpenSM.
#   demo.sh [6.1|6.12|debug]
here=$(dirname "$(realpath "$0")")
kernel=${1:-6.12}
if [ "$kernel" != guest ]; then
	cd "$here/.." || exit
	selftests/vm/setup || exit
	echo "Building for kernel $kernel, and booting it under emulation: a minute or two"
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	{ make -s module KERNEL="$kernel" && make -s lib tools && make -s -C selftests/demo &&
		make -s -C selftests/ib && make -s -C selftests/vib KERNEL="$kernel"; } \
		>"$log" 2>&1 || { cat "$log"; exit 1; }
	selftests/vm/boot -k "$kernel" -t 400 "$0" guest
	exit
fi

. "$here/vm/guest.sh"
title() { printf '\n=== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }
run() { env LD_LIBRARY_PATH="$cmx_lib" "$@"; }
listening() { grep -q ' listen ' /sys/kernel/debug/rdma_cmx/ids; }
# the same in the background, for the process to be $!
start() { exec env LD_LIBRARY_PATH="$cmx_lib" "$@"; }
cmx=$top/tools/cmx
tmp=$(mktemp -d)
failed=

title "The module, beside the in-tree stack"
rig && load_cmx || exit
uname -r
lsmod | grep -E '^(rdma_cmx|rdma_cm|rdma_ucm|ib_cm|rdma_rxe) '
ls /dev/infiniband/
show "$cmx" version

title "Debian's rping, as it is, over our library; the in-tree user-space CM is unloaded"
modprobe -r rdma_ucm
command -v rping
run ldd "$(command -v rping)" | grep librdmacm
start rping -s -a 10.77.0.1 -C 40000 >"$tmp/server" 2>&1 &
server=$!
within 20 listening
start rping -c -a 10.77.0.1 -C 40000 >"$tmp/client" 2>&1 &
client=$!
sleep 1.5
echo "files that rping holds open:"
find /proc/$client/fd -lname '/dev/infiniband/*' -printf '%l\n' 2>/dev/null | sort -u
show "$cmx" show
kill $client $server 2>/dev/null
wait 2>/dev/null
start rping -s -a 10.77.0.1 -C 3 >"$tmp/server" 2>&1 &
within 20 listening
run rping -c -a 10.77.0.1 -C 3 -v
echo "rping: status $?"
wait
modprobe rdma_ucm

title "Options and ECE: set, read back, negotiated; then what the operator sees"
run "$top/selftests/demo/tour" 10.77.0.1 "$cmx show" || { echo "tour failed"; failed=1; }

title "Multicast: Debian's mckey joins 239.1.2.3; the host is then a member, and a datagram arrives"
start stdbuf -oL mckey -m 239.1.2.3 -b 10.77.0.1 -C 1 >"$tmp/receiver" 2>&1 &
receiver=$!
within 10 grep -q joined "$tmp/receiver"
show "$cmx" show mcast
echo "/proc/net/igmp (d0; 030201EF is 239.1.2.3):"
sed -n '/d0/,/^[^\t]/p' /proc/net/igmp
# the sender posts and leaves, without waiting for any datagram to be sent
for _ in 1 2 3 4 5 6; do
	run mckey -m 239.1.2.3 -b 10.77.0.1 -s -C 100 >"$tmp/sender" 2>&1
	sleep 0.3
	[ -e /proc/$receiver ] || break
done
wait $receiver
status=$?
cat "$tmp/receiver"
echo "receiver: status $status"

title "InfiniBand: two software HCAs on a switch, under Debian's OpenSM"
. "$top/selftests/vib/guest.sh"
. "$top/selftests/ib/guest.sh"
fabric up 2 || exit
ibnetdiscover | grep '"[HS]-'
mc_start a 0 ours
mc_start b 1 ours
# each NAME COMMAND...: what it is told, and what it says
each() { printf '%s> %s\n' "$1" "${*:2}"; mc "$@"; }
hello() {
	local answer i
	for i in {1..40}; do
		mc a send 0 "hello-$1" >/dev/null
		answer=$(mc b recv 0 250)
		[ "$answer" = none ] || break
	done
	echo "b received: $answer"
	[ "$answer" != none ] || failed=1
}
# where the switch sends what is for the group
tables() {
	mlid=$(sed -n 's/.*mlid=\([^ ]*\).*/\1/p' "$tmp/join")
	show groups | grep ff12:4001
	echo "the switch's MFT: $mlid goes to ports $(mft "$mlid")"
}
for n in a b; do
	each $n id 0 udp "$(addr $([ $n = a ] && echo 0 || echo 1) udp)"
	each $n qp 0
	each $n option 0 rejoin 1
	each $n join 0 239.1.2.3
	each $n event 10000 | tee "$tmp/join"
done
hello first
tables

title "OpenSM is killed and started again: the members come back by themselves"
sm kill 2>/dev/null
show groups
sm start
each a event 30000
each b event 30000 | tee "$tmp/join"
hello again
tables
mc_stop a
mc_stop b
fabric down

title "Done: the module goes"
unload_cmx && echo "unloaded" || exit 1
[ $status = 0 ] && [ -z "$failed" ]
