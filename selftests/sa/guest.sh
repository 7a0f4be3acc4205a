# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Programs that do multicast by command, on the fabric. Source it after vm/ and hca/guest.sh.
#
# mc_start NAME I STACK     one in the namespace of HCA i, on ours or stock
# mc NAME COMMAND...        its answer
# mc_stop NAME              ends it, its ids with it
# addr I KIND               what to bind to: the IPv4 address, or with ib that of AF_IB
# is, like NAME WANT GOT    equal; fits the pattern
# shellcheck shell=bash

declare -A mc_in mc_out mc_pid

mc_start() {
	local name=$1 i=$2 lib= dir=/tmp/mc.$1 in out
	[ "$3" != ours ] || lib=$cmx_lib
	rm -rf "$dir"
	mkdir -p "$dir"
	mkfifo "$dir/in" "$dir/out"
	on "$i" env LD_LIBRARY_PATH="$lib" "$top/selftests/sa/mc" \
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
}

addr() {
	case $2 in
	ib)	echo "ib:$(cat "/sys/class/infiniband/vib$1/ports/1/gids/0"),0xffff";;
	*)	echo "10.78.0.$(($1 + 1))";;
	esac
}

is() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted '$2', got '$3'"; fi
}

like() {
	# shellcheck disable=SC2053
	if [[ $3 = $2 ]]; then ok "$1"; else not_ok "$1" "wanted '$2', got '$3'"; fi
}
