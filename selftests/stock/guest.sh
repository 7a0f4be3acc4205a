# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The same calls on the in-tree stack and on ours. Source it after vm/guest.sh.
#
# compare_args LINK [-o DIR] [-s] [PATTERN...]
#                           parse the arguments of the suite. LINK is roce or ib
#                           -o  keep the traces in DIR
#                           -s  run the in-tree stack twice, to check that its traces are stable
# compare_rig LLADDR        add the addresses of util.h to the interface d0, which exists. The
#                           neighbour without a host has that link layer address
# compare_link              on hardware, set LINK to the link of the device
# compare_stacks JOBS       run JOBS cases at a time on both stacks
#
# A case whose traces differ must be a row of Documentation/differences.rst, and each row must differ.
# shellcheck shell=bash

compare_args() {
	local o OPTIND
	link=$1 out=$(mktemp -d) second=ours
	shift
	while getopts o:s o; do
		case $o in
		o) out=$OPTARG;;
		s) second=stock;;
		*) exit 2;;
		esac
	done
	shift $((OPTIND - 1))
	patterns=("$@")
	[ $# -gt 0 ] || [ -z "$only" ] || patterns=("$only")
}

compare_rig() {
	ip addr replace 10.77.0.1/24 dev d0
	ip addr add 10.77.0.2/24 dev d0
	ip addr replace fd77::1/64 dev d0 nodad
	ip addr add fe80::77/64 dev d0 nodad
	ip route replace 224.0.0.0/4 dev d0
	ip neigh replace 10.77.0.50 lladdr "$1" dev d0 nud permanent
	ip neigh replace fd77::50 lladdr "$1" dev d0 nud permanent
	export COMPARE_LLADDR=$1
	ip link add d1 type dummy
	ip addr add 10.79.0.1/24 dev d1
	ip link set d1 up
	ip route add unreachable 10.98.0.0/16
	# before Linux 6.18 ib_core cannot reply to this host in a VRF
	! printf '6.18\n%s\n' "$(uname -r)" | sort -VC || [ "$link" = ib ] || compare_vrf
}

# A VLAN of d0 in a VRF
compare_vrf() {
	modprobe -q -a vrf 8021q
	ip link add vrf92 type vrf table 92 || return
	ip link set vrf92 up
	ip link add link d0 name d0.92 type vlan id 92
	ip link set d0.92 master vrf92 addrgenmode none up
	ip addr add 10.92.0.1/24 dev d0.92
	ip addr add fd92::1/64 dev d0.92 nodad
	within 10 grep -qs ffff:0a5c:0001 /sys/class/infiniband/rxe0/ports/1/gids/{?,??}
}

compare_link() {
	link=roce
	! grep -q InfiniBand "/sys/class/infiniband/$CMX_DEV/ports/1/link_layer" || link=ib
}

bin=$tests/stock/compare
table=$top/Documentation/differences.rst

# trace NAME COMMAND...: run it, and leave the trace of each case in a file of its own. A line "# skip: REASON"
# ends the trace of a case that was skipped. The times of the cases are printed.
trace() {
	local name=$1
	shift
	mkdir -p "$out/$name"
	begin_output
	"$@" 2>"$out/$name.errors" | awk -v dir="$out/$name" '
		/^# [0-9]+ ms [^ ]+$/ { print; fflush(); next }
		/^(not )?ok / {
			sub(/^(not )?ok [0-9]+ /, "")
			if (sub(/ # SKIP /, "\n# skip: "))
				trace = trace substr($0, index($0, "\n") + 1) "\n"
			sub(/\n.*/, "")
			f = dir "/" $0
			printf "%s\n%s", $0, trace >f
			close(f)
			trace = ""
			next
		}
		/^(TAP version|1\.\.|# Totals: )/ { next }
		{ trace = trace $0 "\n" }'
}

# the names and patterns in the first column of the table, for the running kernel and this link
rows() {
	local row
	awk '/^     - /  { first = 0 }
	     /^   \* - / { first = 1 }
	     first' "$table" | grep -o '``[a-z0-9_.*:]*``' | tr -d '\`' |
	while read -r row; do
		while [[ $row = *:* ]]; do
			[[ ${row%%:*} = "$link" || $(uname -r) = ${row%%:*}.* ]] || continue 2
			row=${row#*:}
		done
		echo "$row"
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

compare_stacks() {
	local jobs=$1 all case row text_a text_b a b found
	# how compare reports a case that crashed or hung; the second pattern: a case that hung
	local broken=$'*\n# @(stuck in the kernel|killed by signal *|exit status *)\n*'
	local hung=$'*\n# @(stuck in the kernel|killed by signal 14)\n*'
	# in-tree ids can take a minute to be destroyed, which is not an error here
	on_hardware || sysctl -qw kernel.hung_task_timeout_secs=0
	trace first stock "$bin" -j "$jobs" "${patterns[@]}"
	if [ "$second" = ours ]; then
		load_cmx || exit
		check "our library is the one in use" ours sh -c "ldd $bin | grep -q $cmx_lib/librdmacm"
		mapfile -t rows <<<"$(rows)"
	else
		rows=()
	fi
	[ "$second" = stock ] || on_hardware || sysctl -qw kernel.hung_task_timeout_secs=$((60 * slow))
	trace second "$second" env COMPARE_PORT=20000 "$bin" -j "$jobs" "${patterns[@]}"

	# do not start a program for equal traces: that would take minutes under emulation
	all=$("$bin" -l)
	for case in $("$bin" -l "${patterns[@]}"); do
		a=$out/first/$case b=$out/second/$case text_a= text_b=
		IFS= read -rd '' text_a <"$a"
		IFS= read -rd '' text_b <"$b"
		if [[ $text_a$text_b = *$'\n# skip: '* ]]; then
			text_a=${text_a#*$'\n# skip: '}
			skip "$case" "${text_a%%$'\n'*}"
		elif [ -z "$text_a" ] || [ -z "$text_b" ] || [[ $text_a$text_b = *$'\n# not run\n'* ]]; then
			not_ok "$case" "it was not run on both stacks"
		elif [ "$text_a" = "$text_b" ]; then
			# some devices do not show each difference
			if listed "$case" && ! on_hardware; then
				not_ok "$case" "listed as a difference, but there is none"
			elif [ "$second" = ours ] && [[ $text_a = $broken ]]; then
				not_ok "$case" "on both stacks: ${text_a##*$'\n# '}"
			else
				ok "$case"
			fi
		elif listed "$case" && [[ $text_b != $hung ]]; then
			ok "$case (differs, as listed)"
		else
			not_ok "$case" "- in-tree, + $second"
			diff -U 2 "$a" "$b" | tail -n +4 | head -40 | note
		fi
	done
	for row in "${rows[@]}"; do
		found=
		for case in $all; do
			# shellcheck disable=SC2053 # a row may be a pattern
			[[ $case = $row ]] && found=1 && break
		done
		[ "$found" ] || not_ok "$row" "a row for no case"
	done
}
