# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions to run pairs of programs at two HCAs of the fabric. Source it after vib/guest.sh.
# shellcheck shell=bash

tmp=$(mktemp -d)

# says PATTERN COMMAND...: check that the command prints a line that matches
says() {
	local want=$1 out
	shift
	out=$("$@" 2>&1)
	grep -qE -- "$want" <<<"$out" || { echo "no \"$want\" in:"; echo "$out"; return 1; }
}

limit=$((30 * slow))

# serve HCA COMMAND...: in the background. The status goes to a file, because "check" uses subshells.
serve() {
	rm -f "$tmp/status"
	{
		on "$1" timeout $limit "${@:2}" >"$tmp/server" 2>&1
		echo $? >"$tmp/status"
	} &
}

# ask HCA COMMAND...: the client of that server. It tries again until the server is ready.
ask() {
	local status server
	for _ in 1 2 3; do
		on "$1" timeout $limit "${@:2}" >"$tmp/client" 2>&1
		status=$?
		[ $status != 0 ] && [ ! -e "$tmp/status" ] || break
		sleep $slow
	done
	within $limit test -s "$tmp/status"
	server=$(cat "$tmp/status")
	[ "$status $server" != "0 0" ] || return 0
	echo "client $status, server $server"
	tail -n 5 "$tmp/client" "$tmp/server"
	return 1
}

# pair SERVER-HCA "SERVER COMMAND" CLIENT-HCA "CLIENT COMMAND"
pair() {
	# shellcheck disable=SC2086 # commands with arguments
	serve "$1" $2
	sleep $slow
	# shellcheck disable=SC2086
	ask "$3" $4
}

nodes_are() { test "$(saquery -C vib0 2>/dev/null | grep -c 'NodeRecord dump')" = "$1"; }
pings() { on "$1" ping -q -c 1 -W 1 "$2"; }

listens() { ss -Hltn "sport = :$1" | grep -q .; }

# verbs SERVER-HCA CLIENT-HCA PROGRAM [ARG...]: introduced by TCP
verbs() {
	serve x "$3" -d "vib$1" "${@:4}"
	within 20 listens 18515
	ask x "$3" -d "vib$2" "${@:4}" 127.0.0.1
}

# rpings SERVER-HCA CLIENT-HCA SIZE: some messages of RDMA in both directions, verified
rpings() {
	local args="-C 5 -S $3 -V -a 10.78.0.$(($1 + 1))"
	pair "$1" "rping -s $args" "$2" "rping -c $args"
}

# once HCA...: all hosts are in a group. The first one asks it five times, and each other one answers each
# time exactly once
once() {
	local i
	for ((i = 0; i < $(fabric_n); i++)); do
		on "$i" sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0
	done
	on "$1" ping -i 0.3 -w 5 224.0.0.1 >"$tmp/answers"
	! grep DUP "$tmp/answers" || return
	for i in "${@:2}"; do
		[ "$(grep -cE "from 10.78.0.$((i + 1)): icmp_seq=[1-5] " "$tmp/answers")" = 5 ] ||
			{ echo "HCA $i:"; cat "$tmp/answers"; return 1; }
	done
}
