#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# compare: the same calls on the in-tree stack and on ours leave the same trace
# kernels: 6.1 6.12
# timeout: 1200
#
# compare.sh [-o DIR] [-s] [PATTERN...]
# -o  keep the traces in DIR    -s  the in-tree stack twice, to see that its traces are stable
#
# A case whose traces differ must be a row of Documentation/differences.rst, and a row must differ.
. "$(dirname "$0")/../vm/guest.sh"
out=$(mktemp -d) second=ours
while getopts o:s o; do
	case $o in
	o) out=$OPTARG;;
	s) second=stock;;
	*) exit 2;;
	esac
done
shift $((OPTIND - 1))

# what compare's util.h calls its addresses
ip link add d0 address 02:00:00:00:00:77 type dummy
ip link set d0 arp on addrgenmode none
rig || exit
ip addr add 10.77.0.2/24 dev d0
ip addr add fe80::77/64 dev d0 nodad
ip neigh replace 10.77.0.50 lladdr 02:00:00:00:00:50 dev d0 nud permanent
ip neigh replace fd77::50 lladdr 02:00:00:00:00:50 dev d0 nud permanent
ip link add d1 type dummy
ip addr add 10.79.0.1/24 dev d1
ip link set d1 up
ip route add unreachable 10.98.0.0/16

bin=$top/selftests/compare/compare
table=$top/Documentation/differences.rst

# trace NAME COMMAND...: run it, and leave each case in a file of its own
trace() {
	local name=$1
	shift
	mkdir -p "$out/$name"
	"$@" >"$out/$name.trace" 2>"$out/$name.times"
	awk -v dir="$out/$name" '/^[a-z]/ { close(f); f = dir "/" $1 } { print >f }' "$out/$name.trace"
}

# the names and patterns in the first column of the table, for the running kernel
rows() {
	local row
	awk '/^     - /  { first = 0 }
	     /^   \* - / { first = 1 }
	     first' "$table" | grep -o '``[a-z0-9_.*:]*``' | tr -d '\`' |
	while read -r row; do
		[[ $row != *:* || $(uname -r) = ${row%%:*}.* ]] && echo "${row#*:}"
	done
}
listed() {
	local row
	for row in "${rows[@]}"; do
		# shellcheck disable=SC2053 # a row may be a pattern
		[[ $1 = $row ]] && return
	done
	return 1
}

# in-tree ids can take a minute to go; that is no fault of ours
sysctl -qw kernel.hung_task_timeout_secs=0
trace first stock "$bin" -t -j 6 "$@"
if [ "$second" = ours ]; then
	load_cmx || exit
	check "our library is the one in use" ours sh -c "ldd $bin | grep -q $cmx_lib/librdmacm"
	mapfile -t rows <<<"$(rows)"
else
	rows=()
fi
[ "$second" = stock ] || sysctl -qw kernel.hung_task_timeout_secs=60
trace second "$second" "$bin" -t -j 6 -p 20000 "$@"
# our library makes some events itself, but not for who polls
[ "$second" = stock ] || trace third ours "$bin" -n -t -j 6 -p 26000 "$@"

# no program is started for what is the same: that takes minutes under emulation
all=$("$bin" -l) unpolled=0
for case in $("$bin" -l "$@"); do
	a=$out/first/$case b=$out/second/$case
	IFS= read -rd '' text_a <"$a"
	IFS= read -rd '' text_b <"$b"
	if [ "$text_a" = "$text_b" ]; then
		if listed "$case"; then
			not_ok "$case" "listed as a difference, but there is none"
		else
			ok "$case"
		fi
	elif listed "$case"; then
		ok "$case (differs, as listed)"
	else
		not_ok "$case" "- in-tree, + $second"
		diff -U 2 "$a" "$b" | tail -n +4 | head -40 | sed 's/^/    /'
	fi
done
for case in $([ "$second" = stock ] || "$bin" -l "$@"); do
	a=$out/second/$case b=$out/third/$case
	IFS= read -rd '' text_a <"$a"
	IFS= read -rd '' text_b <"$b"
	if [ "$text_a" = "$text_b" ]; then
		unpolled=$((unpolled + 1))
	else
		not_ok "$case, without poll()" "- with poll(), + without"
		diff -U 2 "$a" "$b" | tail -n +4 | head -40 | sed 's/^/    /'
	fi
done
[ "$second" = stock ] || check "the same without poll(), in $unpolled cases" [ "$unpolled" -gt 0 ]
for row in "${rows[@]}"; do
	found=
	for case in $all; do
		# shellcheck disable=SC2053 # a row may be a pattern
		[[ $case = $row ]] && found=1 && break
	done
	[ "$found" ] || not_ok "$row" "a row for no case"
done
[ "$second" = stock ] || check "the module unloads" unload_cmx
finish
