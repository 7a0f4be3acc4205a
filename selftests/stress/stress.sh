#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# stress: random calls, valid and invalid, while devices, links and namespaces are removed and restored
#   stress.sh [SEED [SECONDS]]     SEED repeats the calls of a run; SECONDS is the time of each of the four runs
# kernels: default debug kcsan
# real clock: debug kcsan
# timeout: 1200
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
stress=$tests/stress
seed=${1:-$(date +%s)}
# A guest that counts instructions needs several of the host's seconds for each of these: it never idles here.
seconds=8
# kernels with the clock of the host
[ ! -e /sys/kernel/debug/kmemleak ] && [ ! -e /sys/kernel/debug/kcsan ] || seconds=150
seconds=${2:-$seconds}

deep() { grep -q '^ESTABLISHED' "$1" && grep -q '^MULTICAST_JOIN' "$1"; }

# rxe may be unusable after the previous run
rig_again() {
	rdma link del rxe0 2>/dev/null
	rig || exit
}

# fuzz_once WHERE WHAT ADDRESS...: returns the status of the program, whose output is in $out
fuzz_once() {
	local where=$1 what=$2 pid status
	shift 2
	"$stress/disturb" "$where" "$seed" "$seconds" "$what" </dev/null &
	pid=$!
	timeout -k 5 $((seconds + 90 * slow)) "$stress/$what" -s "$seed" -n 10000000 \
		-T "$seconds" "$@" >"$out" 2>&1 </dev/null
	status=$?
	wait $pid
	note <"$out"
	return $status
}

# fuzz WHERE WHAT ADDRESS...: on rxe or on the fabric, with its disturbances
fuzz() {
	local where=$1 what=$2 out status=0
	out=$(mktemp)
	load_cmx || exit
	fuzz_once "$@" || status=$?
	if [ $status = 0 ] && ! deep "$out"; then
		repeated "$what on the $where" "a disturbance came before its first connection or group"
		seed=$((seed + 1))
		[ "$where" = fabric ] || rig_again
		fuzz_once "$@" || status=$?
	fi
	check "$what on the $where succeeds" test $status = 0
	check "$what on the $where makes connections and groups" deep "$out"
	check "no id of $what is left on the $where" within 30 no_ids
	no_ids || "$top/tools/cmx" show -d | head -20 | note
	check "the module unloads after $what on the $where" within 30 rmmod rdma_cmx
}
for what in fuzz_ioctl fuzz_lib; do
	rig_again
	fuzz rig $what 10.77.0.1 fd77::1 - 10.77.0.99
done
rdma link del rxe0
ip link del d0

fabric up -f >/dev/null || { not_ok "the fabric comes up"; finish; }
for what in fuzz_ioctl fuzz_lib; do
	fuzz fabric $what 10.78.0.1 10.78.0.2 fd78::1 fd78::2 "ib:$(vib_gid 0)" "ib:$(vib_gid 1)" - 10.78.0.99
done
check "the fabric goes down" fabric down
finish
