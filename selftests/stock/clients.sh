#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kernels: default 7
# check: default
# timeout: 600
#
# Each pair of Debian's unmodified RDMA programs (selftests/stock/pairs) runs five times:
# - with the in-tree stack at both ends, which shows that the pair works here
# - with our library at both ends, which falls back to the system's because our module is not loaded
# - with rdma_cmx at both ends, while the in-tree user-space CM is not loaded
# - with rdma_cmx at one end and the in-tree stack at the other end, in both directions
. "$(dirname "$0")/../vm/guest.sh"
rig || { not_ok rig; finish; }
run=$(mktemp -d)
port=7200

# listening PID STACK: check that it has a listener on the port (udaddy uses only 7174), or has joined the group
listening() {
	local i group at="listen.*:\($port\|7174\) "

	printf -v group '%02X0707EF' $((port % 250 + 1))
	for i in $(seq 100); do
		nap 0.1
		[ -e "/proc/$1" ] || return
		if [ "$2" = ours ]; then
			! "$top/tools/cmx" show | grep -q " $at" || return
		else
			! rdma resource show cm_id 2>/dev/null | grep -qi "$at" || return
		fi
		! grep -q "$group" /proc/net/igmp || return
	done
}

# cmtime of rdma-core 56 and later counts the QPs that it does not have from the same number in each process, and
# a CM takes the second one with a number for a stale connection
own_numbers=
! cmtime -h 2>&1 | grep -q base_qpn || own_numbers=1

fill() { # COMMAND FIRST-NUMBER
	local s=$1
	s=${s//@Q/${own_numbers:+-q $((port * 1000 + $2))}}
	s=${s//@A/10.77.0.1} s=${s//@6/fd77::1} s=${s//@P/$port} s=${s//@N/$((port % 250 + 1))}
	echo "$s"
}

with() { # ours|stock|fallback COMMAND...: in the background, its process in $pid
	local lib= fallback=0
	[ "$1" = stock ] || lib=$cmx_lib
	[ "$1" != fallback ] || fallback=1
	RDMA_CMX_FALLBACK=$fallback LD_LIBRARY_PATH=$lib timeout -k 2 $((30 * slow)) "${@:2}" </dev/null &
	pid=$!
}

# perftest takes its port and the next one, and its client needs $slowly.
# mckey's sender leaves the group and ends without waiting for its datagrams to be sent: it leaves late.
# try_pair PASSIVE-STACK ACTIVE-STACK PASSIVE ACTIVE: its status goes to $a and $p
try_pair() {
	local passive active server endless= repeat= try

	a=0 p=0
	port=$((port + 3))
	read -ra passive <<<"$(fill "$3" 0)"
	read -ra active <<<"$(fill "$4" 500)"
	[ "${passive[0]}" = endless ] && endless=1 && passive=("${passive[@]:1}")
	[ "${active[0]}" = repeat ] && repeat=1 && active=("${active[@]:1}")
	[ "${active[0]}" = slowly ] && active=("${slowly[@]}" "${active[@]:1}")

	with "$1" "${passive[@]}" >"$run/passive" 2>&1
	server=$pid
	within 5 pgrep -P "$server"
	listening "$(pgrep -P "$server")" "$1"
	for try in 1 2 3 4 5 6 7 8; do
		with "$2" "${active[@]}" >"$run/active" 2>&1
		wait "$pid"
		a=$?
		[ -n "$repeat" ] && [ $a = 0 ] && [ -e "/proc/$server" ] || break
		nap 0.3
	done
	[ -z "$endless" ] || kill "$server"
	wait "$server" || p=$?
	[ -z "$endless" ] || [ $p != 143 ] || p=0
	[ $a = 0 ] && [ $p = 0 ] && { [ "$1" != fallback ] || fell_back; }
}

# both programs print it, each of them once
fell_back() {
	[ "$(grep -c "falling back on" "$run/passive")$(grep -c "falling back on" "$run/active")" = 11 ]
}

# If a program fails with the in-tree stack at both ends, its other pairs with the in-tree stack are skipped.
# The programs have races of their own, hence the second try. perftest exits when it cannot measure the clock
# of a busy emulated processor, and is then tried more often.
pair() { # NAME PASSIVE-STACK ACTIVE-STACK PASSIVE ACTIVE
	local name="$1: $3 to $2" a p try

	if [ "$2" != ours ] && [[ " $broken " = *" $1 "* ]]; then
		skip "$name" "the in-tree stack fails here"
		return
	fi
	for try in 1 2 3 4 5 6 7 8; do
		if try_pair "${@:2}"; then
			ok "$name"
			return
		fi
		[ $try = 1 ] || grep -q "Can't produce a report" "$run/passive" "$run/active" || break
		repeated "$name" "active status $a, passive status $p"
	done
	if [ "$2$3" = stockstock ]; then
		broken="$broken $1"
		skip "$name" "the in-tree stack fails here"
	else
		not_ok "$name" "active status $a, passive status $p"
		tail -12 "$run/passive" | sed 's/^/passive: /' | note
		tail -12 "$run/active" | sed 's/^/active: /' | note
	fi
}

column() { # PASSIVE-STACK ACTIVE-STACK
	local name passive active
	while IFS='|' read -r name passive active; do
		read -r name <<<"$name"
		case $name in ''|'#'*) continue;; esac
		[ -z "$programs" ] || [[ " $programs " = *" $name "* ]] || continue
		# the in-tree stack at both ends shows which programs must work
		wanted "$name: $2 to $1" ||
			{ [ "$1$2" = stockstock ] && wanted "$name: ours to stock"; } || continue
		pair "$name" "$1" "$2" "$passive" "$active"
	done <"$tests/stock/pairs"
}

programs=$*
broken=
column stock stock
column fallback fallback
if [ -z "$cmx_lib" ] || ! load_cmx; then
	not_ok "our stack" "no module, or no library"
	finish
fi
modprobe -r rdma_ucm
check_not "the in-tree user-space CM is not loaded" test -e /dev/infiniband/rdma_cm
column ours ours
modprobe rdma_ucm
column stock ours
column ours stock
finish
