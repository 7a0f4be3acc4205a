#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# wire: random calls while CM messages and SA replies are changed, repeated and reordered
#   wire.sh [SEED [SECONDS]]     SEED repeats the random numbers; SECONDS is the time of each run
# kernels: default debug kcsan uml
# real clock: debug kcsan
# timeout: 900
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
seed=${1:-$(date +%s)}
# A guest that counts instructions needs several of the host's seconds for each of these.
seconds=8
# the debug kernel
[ ! -e /sys/kernel/debug/kmemleak ] || seconds=100
seconds=${2:-$seconds}
calls=$(mktemp)

deep() { grep -q '^ESTABLISHED' "$calls" && grep -q '^MULTICAST_JOIN' "$calls"; }

# knobs CLASS CHANGE REPEAT SHUFFLE: one MAD in CHANGE is changed, one in REPEAT is sent twice, and each is
# delayed by up to SHUFFLE ms
knobs() {
	knob mad/class "$1" && knob mad/change "$2" && knob mad/repeat "$3" && knob mad/shuffle "$4"
}

changed_and_repeated() { # CHANGED REPEATED: the numbers before
	[ "$(knob mad/changed)" -gt "$1" ] && [ "$(knob mad/repeated)" -gt "$2" ]
}

# IPoIB and this module have cached wrong paths from changed replies.
forget_paths() {
	local i
	for i in 0 1; do
		knob ports/$i/event 17
		ip link set ib$i down
		ip link set ib$i up
		fabric_if_addr6 $i
		ip route replace 224.0.0.0/4 dev ib$i
	done
	within 20 fabric_if_up 0 && within 20 fabric_if_up 1
}

connects() {
	local pid status=0
	ours timeout $((30 * slow)) rping -s -C 2 -a 10.78.0.2 -p 7777 >/dev/null 2>&1 &
	pid=$!
	within 10 eval '[ "$(ids_in listen)" != 0 ]'
	ours timeout $((30 * slow)) rping -c -C 2 -a 10.78.0.2 -p 7777 || status=1
	kill $pid 2>/dev/null
	wait $pid
	return $status
}

# fuzz_wire WHAT CLASS CHANGE REPEAT SHUFFLE
fuzz_wire() {
	local what=$1 changed repeated status=0
	changed=$(knob mad/changed) repeated=$(knob mad/repeated)
	knob mad/seed "$seed"
	knobs "$2" "$3" "$4" "$5"
	timeout -k 5 $((seconds + 90 * slow)) "$tests/stress/fuzz_ioctl" -s "$seed" -n 10000000 -T "$seconds" \
		10.78.0.1 10.78.0.2 fd78::1 fd78::2 "ib:$(vib_gid 0)" "ib:$(vib_gid 1)" - 10.78.0.99 \
		>"$calls" 2>&1 </dev/null || status=$?
	note <"$calls"
	note "$what, seed $seed: $(knob mad/changed) changed, $(knob mad/repeated) repeated"
	check "$what: the program succeeds" test $status = 0
	check "$what: connections and groups are made" deep
	check "$what: messages were changed and repeated" changed_and_repeated "$changed" "$repeated"
	knobs 0 0 0 0
	check "$what: no id is left" within 60 no_ids
	check "$what: the ports get paths again" forget_paths
	check "$what: a connection succeeds afterwards" within 30 connects
}

load_cmx || exit
fabric up -f >/dev/null || { not_ok "the fabric comes up"; finish; }
fuzz_wire "CM messages" 7 4 8 50
fuzz_wire "replies of the SA" 3 4 8 50
check "the module unloads" within 30 rmmod rdma_cmx
check "the fabric goes down" fabric down
finish
