#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kernels: default
# check: default
# timeout: 600
#
# by_rule: Debian's unmodified programs with rules: the traffic class on the wire, the RNR timer in the QP, and a
# deadline that ends a connect. Two RDMA devices of this host reach each other over a pair of interfaces.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/net/guest.sh"
modprobe -a rdma_rxe ib_uverbs veth sch_netem
net_wire_up || { not_ok "two devices"; finish; }
chmod 666 /dev/infiniband/* 2>/dev/null
[ -n "$cmx_lib" ] && load_cmx || { not_ok "our stack" "no module, or no library"; finish; }
cmx=$top/tools/cmx
run=$(mktemp -d)
port=7303

# both ENDS: a server and a client run to their ends. The client comes when the server listens
both() { # SERVER CLIENT
	local server
	# not by ours(): $! must be timeout, which passes the signal on
	# shellcheck disable=SC2086 # they are words
	LD_LIBRARY_PATH=$cmx_lib timeout $((60 * slow)) $1 >"$run/server" 2>&1 </dev/null &
	server=$!
	within 20 eval '"$cmx" show | grep -q "listen.*:$port "'
	# shellcheck disable=SC2086
	ours timeout $((60 * slow)) $2 >"$run/client" 2>&1 </dev/null ||
		{ kill $server; wait $server; cat "$run/client"; return 1; }
	wait $server || { cat "$run/server"; return 1; }
}
# its own connection goes by TCP
fabric() {
	local server status
	ours timeout $((60 * slow)) fi_pingpong -p verbs -e msg -I 3 -B 47592 >"$run/server" 2>&1 </dev/null &
	server=$!
	within 20 eval 'ss -Hltn | grep -q ":47592 "'
	ours timeout $((60 * slow)) fi_pingpong -p verbs -e msg -I 3 -P 47592 10.76.0.2 >"$run/client" 2>&1 </dev/null
	status=$?
	wait $server && [ $status = 0 ] || { cat "$run/server" "$run/client"; return 1; }
}

# The lines of the wire while the command runs
wire_of() { # COMMAND...
	local wire
	"$tests/stock/wire_tos" na >"$run/wire" &
	wire=$!
	# a socket, below the heading
	within 20 eval '[ "$(wc -l </proc/net/packet)" -gt 1 ]'
	"$@" || { kill $wire; return 1; }
	nap 0.5
	kill $wire
	wait $wire 2>/dev/null
	sort -u "$run/wire"
}
wire_is() { # TOS COMMAND...: of the packets of both ends
	local got
	got=$(wire_of "${@:2}") || { echo "$got"; return 1; }
	[ "$got" = "$(printf '10.76.0.1 %s\n10.76.0.2 %s\n' "$1" "$1")" ] || { echo "$got"; return 1; }
}
rping=(both "rping -s -a 10.76.0.2 -p $port -C 3" "rping -c -a 10.76.0.2 -p $port -C 3")
perftest=(both "ib_send_lat -d rxeb -R -p $port -n 20" "${slowly[*]} ib_send_lat -d rxea -R -p $port -n 20 10.76.0.2")

check "rping without a rule" wire_is 0 "${rping[@]}"
"$cmx" rule add dport 7300-7999 set tos 104
check "rping: the traffic class of both ends" wire_is 104 "${rping[@]}"
check "perftest: the traffic class of both ends" wire_is 104 "${perftest[@]}"
"$cmx" rule delete all
"$cmx" rule add dst 10.76.0.0/24 set tos 40
check "a prefix: the traffic class of both ends" wire_is 40 "${rping[@]}"
# It sets the class of the client's second connection.
client_has() { # TOS COMMAND...
	local got
	got=$(wire_of "${@:2}") && grep -qx "10.76.0.1 $1" <<<"$got" || { echo "$got"; return 1; }
}
own=(both "${perftest[1]} -T 96" "${perftest[2]} -T 96")
check "perftest: a traffic class of the program counts" client_has 96 "${own[@]}"
"$cmx" rule delete all
"$cmx" rule add dst 10.76.0.0/24 force set tos 40
check "perftest: the rule is forced" wire_is 40 "${own[@]}"
"$cmx" rule delete all
# the server takes that of the request, unless a rule is for it
"$cmx" rule add dev rxea set tos 8
check "a rule for the device of the client" wire_is 8 "${rping[@]}"
"$cmx" rule delete all
"$cmx" rule add dev rxeb/1 set tos 8
is "a rule for the device of the server" "10.76.0.1 0 10.76.0.2 8" "$(wire_of "${rping[@]}" | xargs)"
"$cmx" rule delete all

"$cmx" rule add uid 65534 set tos 12
check "fi_pingpong: a rule for another user" wire_is 0 fabric
"$cmx" rule delete all
"$cmx" rule add uid 0 set tos 12
check "fi_pingpong: the traffic class of both ends" wire_is 12 fabric
"$cmx" rule delete all

# The timer as the driver gets it
events=/sys/kernel/tracing/kprobe_events
echo 'p:cmx_rnr ib_modify_qp_with_udata timer=attr->min_rnr_timer' >$events
timers() { # the values that QPs got on the way to RTR
	echo >/sys/kernel/tracing/trace
	echo 1 >/sys/kernel/tracing/events/kprobes/cmx_rnr/enable
	"${rping[@]}" || return
	echo 0 >/sys/kernel/tracing/events/kprobes/cmx_rnr/enable
	awk -F'[ =]+' '/cmx_rnr/ { for (i = 1; i < NF; i++) if ($i == "timer" && $(i + 1)) print $(i + 1) }' \
		/sys/kernel/tracing/trace | sort -u | xargs
}
"$cmx" rule add dport 7300-7999 set min_rnr_timer 12
is "the RNR timer of both QPs" 12 "$(timers)"
"$cmx" rule delete all
echo >$events

# Nothing arrives
lose() {
	ip neigh replace 10.76.0.2 dev na lladdr "$(cat /sys/class/net/nb/address)" nud permanent
	tc qdisc replace dev na root netem loss 100%
}
lose
ended_within() { # SECONDS
	local begin=$SECONDS
	ours timeout 100 rping -c -a 10.76.0.2 -p 7299 >"$run/client" 2>&1
	grep -q UNREACHABLE "$run/client" && [ $((SECONDS - begin)) -le "$1" ] ||
		{ cat "$run/client"; echo "$((SECONDS - begin)) s"; return 1; }
}
"$cmx" rule add uid 0 dport 7299 set connect_deadline_ms 1500
check "a deadline ends a connect to nobody" ended_within $((10 * slow))
"$cmx" rule delete all
tc qdisc del dev na root

is "no rule is left" "" "$("$cmx" rule list)"
check "the module unloads after the rules" unload_cmx
net_wire_down
finish
