#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# faults: failures of each allocation of the main paths; ids that are destroyed while ib_cm reports a timeout
# kernels: debug uml
# check: uml
# real clock: debug
# timeout: 400
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
tmp=$(mktemp -d)

# An id ends after ib_cm has begun to report a timeout, and before the handler runs: stress/window.c
# widens that race. KASAN reports an access to a freed id. A round shows nothing if the host delays the
# processors of the guest too long.
expired() {
	local n
	ip neigh replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev d0 nud permanent
	insmod "$1" pause_ms=$((50 * slow)) || return
	check "ids are destroyed while ib_cm reports a timeout" \
		ours timeout $((60 * slow)) "$top/selftests/stress/leave" expired 5
	n=$(cat /sys/module/window/parameters/destroyed)
	[ "$n" != 0 ] && ok "an id ends before the handler runs" ||
		not_ok "an id ends before the handler runs" "none of 5"
	rmmod window
}
# on uml, a pause that spins never ends
if [[ $(uname -r) = *-uml ]]; then
	skip "ids are destroyed while ib_cm reports a timeout" "window.ko is not for uml"
else
	expired "$(built 'window-*/window.ko')" || exit
fi

f=/sys/kernel/debug/failslab
[ -d "$f" ] || { skip "fault injection" "this kernel has none"; finish; }
echo N >"$f/ignore-gfp-wait"
echo 0 >"$f/verbose"
# failnth fails allocations of whole pages as well
pages=/sys/kernel/debug/fail_page_alloc
echo N >$pages/ignore-gfp-wait
echo 0 >$pages/min-order
echo 0 >$pages/verbose

LD_LIBRARY_PATH=$cmx_lib "$tests/stress/failnth" >"$tmp/out" 2>&1
status=$?
n=0 plan=
while read -r verdict rest; do
	case $verdict in
	1..*) plan=${verdict#1..};;
	ok) ok "$rest"; n=$((n + 1));;
	*) not_ok "$verdict $rest";;
	esac
done <"$tmp/out"
[ $status = 0 ] && [ $n = "$plan" ] && ok "failnth prints all results" ||
	not_ok "failnth prints all results" "status $status, $n of $plan results"

# Random failures of allocations by our module, also in callbacks and work queues
text=$(awk '$4 == "[rdma_cmx]" && $2 ~ /[tT]/ {print $1}' /proc/kallsyms | sort)
echo "0x$(head -1 <<<"$text")" >"$f/require-start"
echo "0x$(tail -1 <<<"$text")" >"$f/require-end"
echo 32 >"$f/stacktrace-depth"
echo -1 >"$f/times"
n=0
# Each run has QP numbers of its own: if a DREP was lost for lack of memory, ib_cm refuses them until the peer repeats
# its DREQ after some seconds.
for i in $(seq 20); do
	# at 5 %, most runs end before they have a connection; at 1 %, every third one succeeds
	echo $((i % 2 ? 5 : 1)) >"$f/probability"
	ours timeout $((30 * slow)) "$tests/stress/hold" -n 6 -g 6 -q $((i * 4096)) </dev/null >/dev/null 2>&1
	# neither stopped by timeout nor killed by a signal
	[ $? -ge 124 ] || n=$((n + 1))
done
echo 0 >"$f/probability"
[ $n = 20 ] && ok "20 runs with random failures end" || not_ok "20 runs with random failures end" "only $n of 20 ended"
check "calls succeed after the failures" ours "$tests/stress/hold" -n 6 -g 6
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
