# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The program mc on HCAs of the fabric. Source it after vm/ and vib/guest.sh.
#
# mc_start NAME I STACK     start mc in the namespace of HCA i, on ours or stock; as user $mc_as if that is set
# mc NAME COMMAND...        print its answer to a command
# mc_stop NAME              end it, and thus its ids
# addr I KIND               print the address to bind to: IPv4, or with ib that of AF_IB
# joined NAME               print the next event, which is the result of a join
# again NAME                wait for the event of a rejoined membership; other events are shown
# drain NAME                discard all events
# flows FROM ID TO ID       check that a datagram arrives; repeated, as the switch may not know the group yet
# record MGID FIELD [GUID]  print a field of the SA's record of the member at that port, or of the first member
# guid_text I               print the GUID of the port as in a GID
# no_member_of I...         check that the SA answers, and has no member at the ports of these HCAs
# group_is MGID             check that the SA has that group; the opposite is no_group of vib/guest.sh
# stat_of PORT NAME         print a counter of rdma_cmx
# joins, leaves             print the number of joins or leaves sent to the SA since "knob mad/count 0"
# like NAME WANT GOT        as is of vm/guest.sh, but WANT is a pattern
# shellcheck shell=bash

declare -A mc_in mc_out mc_pid

mc_start() {
	local name=$1 i=$2 lib= dir=/tmp/mc.$1 in out
	[ "$3" != ours ] || lib=$cmx_lib
	rm -rf "$dir"
	mkdir -p "$dir"
	mkfifo "$dir/in" "$dir/out"
	on "$i" ${mc_as:+setpriv --reuid "$mc_as" --clear-groups} \
		env LD_LIBRARY_PATH="$lib" "$tests/mcast/mc" \
		<>"$dir/in" >"$dir/out" 2>"$dir/err" &
	mc_pid[$name]=$!
	exec {in}<>"$dir/in" {out}<>"$dir/out"
	mc_in[$name]=$in mc_out[$name]=$out
}

mc() {
	local name=$1 answer
	shift
	echo "$*" >&"${mc_in[$name]}"
	read -r -t 90 answer <&"${mc_out[$name]}" || answer="no answer"
	echo "$answer"
}

mc_stop() {
	local in=${mc_in[$1]} out=${mc_out[$1]}
	echo quit >&"$in"
	wait "${mc_pid[$1]}"
	exec {in}>&- {out}>&-
	unset "mc_pid[$1]"
}

addr() {
	case $2 in
	ib)	echo "ib:$(vib_gid "$1"),0xffff";;
	*)	echo "10.78.0.$(($1 + 1))";;
	esac
}

like() {
	# shellcheck disable=SC2053
	if [[ $3 = $2 ]]; then ok "$1"; else not_ok "$1" "wanted '$2', got '$3'"; fi
}

record() { # MGID NAME [PORT-GUID]
	saquery --smkey 1 MCMR 2>/dev/null | awk -v mgid="$1" -v name="$2" -v port="${3:-:}" '
		{ at = index($1, "."); key = substr($1, 1, at - 1); sub(/^[^.]*\.+/, "", $1) }
		key == "MGID" { here = $1 == mgid }
		key == "PortGid" { mine = index($1, port) }
		here && mine && key == name { print $1; exit }'
}
guid_text() {
	local g
	g=$(vib_guid "$1")
	printf '%x:%x:%x:%x' "0x${g:2:4}" "0x${g:6:4}" "0x${g:10:4}" "0x${g:14:4}"
}
no_member_of() {
	local known i
	known=$(saquery --smkey 1 MCMR 2>/dev/null) || return
	for i; do ! grep -q "PortGid.*$(guid_text "$i")" <<<"$known" || return; done
}
stat_of() { "$top/tools/cmx" stats "$1" | awk -v n="$2" '$2 == n { v = $3 } END { print v + 0 }'; }
joins() { mads 0x03 0x02 0x0038; }
leaves() { mads 0x03 0x15 0x0038; }
group_is() { groups | grep -q "^$1 "; }
joined() { mc "$1" event $((20000 * slow)); }

flows() {
	local from=$1 n=$2 to=$3 m=$4 end=$((SECONDS + 20 * slow))
	while [ $SECONDS -lt $end ]; do
		[ "$(mc "$from" send "$n" "hello$SECONDS")" = 0 ] || return
		[[ $(mc "$to" recv "$m" 200) = hello* ]] || continue
		while [ "$(mc "$to" recv "$m" 50)" != none ]; do :; done
		return
	done
	return 1
}

again() {
	local i ev
	for i in {1..5}; do
		ev=$(mc "$1" event 30000)
		[[ $ev != MULTICAST_JOIN*status=0*" rejoined" ]] || return 0
		echo "$ev"
	done
	return 1
}
drain() { while [ "$(mc "$1" event 1)" != none ]; do :; done; }
