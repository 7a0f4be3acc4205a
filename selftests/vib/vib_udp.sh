#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# vib_udp: UDP links of the software InfiniBand fabric, here between two switches of one module
# kernels: default 7
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/vib/pairs.sh"

cat >"$tmp/net" <<'END'
Switch 4 "Left"
[1] "Host1"[1]
[2] "Host2"[1]
[3] "udp:127.0.0.1:7002"[7001]

Switch 4 "Right"
[1] "Host3"[1]
[2] "Host4"[1]
[3] "udp:127.0.0.1:7001"[7002]	w=1

Hca 1 "Host1"
Hca 1 "Host2"
Hca 1 "Host3"
Hca 1 "Host4"
END
ip link set lo up
check "two switches with a UDP link between them: a fabric comes up" fabric up -t "$tmp/net"
[ "$failed" = 0 ] || finish

# subnet management, datagrams, multicast
link_is() { knob links | grep -q "^sw$1/3 udp $2"; }
check "the link has the width of the slower end" eval 'link_is 0 "1 4 5 active" && link_is 1 "1 4 5 active"'
check "ibnetdiscover finds both switches and all HCAs" eval '[ "$(ibnetdiscover -C vib0 | grep -c "^Switch\|^Ca")" = 6 ]'
check "ping" pings 0 10.78.0.3
check "ping of 1900 bytes" on 1 ping -q -c 2 -i 0.3 -M do -s 1900 10.78.0.4
check "a multicast datagram arrives once at each HCA" once 0 1 2 3

# verbs: the requests of RC go by packets
check "ibv_rc_pingpong" verbs 0 2 ibv_rc_pingpong -n 100
check "ibv_rc_pingpong of 1 MB, verified" verbs 0 2 ibv_rc_pingpong -n 5 -s 1000000 -c
check "ibv_rc_pingpong of 64 KB, MTU 256" verbs 0 2 ibv_rc_pingpong -n 5 -s 65536 -m 256 -c
check "ibv_ud_pingpong" verbs 0 2 ibv_ud_pingpong -n 100 -s 1024
perf() { verbs 0 2 "$1" -n 20 -F "${@:2}"; } # PROGRAM [ARG...]: of perftest
check "ib_send_bw" perf ib_send_bw -s 30000
check "ib_write_bw" perf ib_write_bw -s 300000
check "ib_read_bw" perf ib_read_bw -s 300000
check "ib_atomic_lat, fetch and add" perf ib_atomic_lat -A FETCH_AND_ADD
check "ib_atomic_lat, compare and swap" perf ib_atomic_lat -A CMP_AND_SWAP
check "rping, verified" rpings 0 2 60000
check "ucmatose" pair 3 "ucmatose -b 10.78.0.4" 1 "ucmatose -s 10.78.0.4"
check "udaddy" pair 0 "udaddy -b 10.78.0.1" 3 "udaddy -s 10.78.0.1"
check "ib_send_bw with few receives has RNR retries" perf ib_send_bw -s 5000 -r 1 -t 16

# some lost packets cause a timeout; their number depends on chance
echo "# lost packets of RC"
limit=$((120 * slow))
knob udp_drop 10
check "one in 10 lost: rping, verified" rpings 0 2 60000
# the programs of perftest exit when both sides have agreed, and not when the last acknowledgement is lost
check "one in 10 lost: ib_send_bw" perf ib_send_bw -s 65536
check "one in 10 lost: ib_write_bw" perf ib_write_bw -s 65536
check "one in 10 lost: ib_read_bw" perf ib_read_bw -s 100000
check "one in 10 lost: ib_atomic_lat" perf ib_atomic_lat -A FETCH_AND_ADD
# MADs are not lost, so there is a connection
serve 0 rping -s -C 1 -a 10.78.0.1
sleep $slow
knob udp_drop 1
# IBV_WC_RETRY_EXC_ERR
retries_end() {
	local out status
	out=$(on 2 timeout $limit rping -c -C 1 -a 10.78.0.1 2>&1)
	status=$?
	echo "status $status, $out"
	[ $status != 0 ] && [ $status != 124 ] && grep -q 'completion failed status 12$' <<<"$out"
}
check "all lost: the retries end with an error" retries_end
knob udp_drop 0
within $limit test -s "$tmp/status"
check "all lost: rping succeeds afterwards" rpings 0 2 1000

echo "# links that go down and come up"
state_is() { knob "switches/$1" | grep -q "^port 3 $2 "; }
knob udp_timeout 100000
check "unplugged: one end is unplugged" knob disconnect sw0/3
check "unplugged: the far end goes down at once" within 20 state_is 1 down
knob udp_timeout 3000
check "unplugged: the SA loses the nodes" within 20 nodes_are 3
check_not "unplugged: ping fails" pings 0 10.78.0.3
check "unplugged: a UDP port in use is refused" eval '! knob connect "sw0/4 udp 7002 127.0.0.1 7003"'
check "plugged in: the link is connected" knob connect "sw0/3 udp 7001 127.0.0.1 7002"
check "plugged in: ping" within 20 pings 0 10.78.0.3
check "plugged in: the link has the width of the cable" link_is 0 "1 4 5 active"
reset_link() { ibportstate -C vib0 "$(switch_lid 0)" 3 reset; }
active_again() { state_is 0 active && state_is 1 active && pings 0 10.78.0.3; }
# downs: how often the link has gone down, at either end
downs() {
	local i
	for i in 0 1; do
		perfquery -C vib0 "$(switch_lid $i)" 3 | sed -n 's/^LinkDownedCounter:\.*//p'
	done | xargs
}
before=$(downs)
check "reset: a port is reset by a MAD" reset_link
check "reset: the link comes up" within 20 active_again
check "reset: each end was down once" test "$(downs)" = "$((${before% *} + 1)) $((${before#* } + 1))"

# a hello and a packet of another port than the peer's
before=$(downs)
printf 'vibL\1\1\0\0\0\0\0\1\0\0\0\0\1\3\7\0' >/dev/udp/127.0.0.1/7001
printf 'vibL\1\2\0\0\0\0\0\1' >/dev/udp/127.0.0.1/7001
nap 1
check "another UDP port: packets from there do not take the link down" test "$(downs)" = "$before"
check "another UDP port: the link stays active" active_again

# the other end becomes silent without a last message
ip link set lo down
check "silent peer: both ends go down" within 30 eval 'state_is 0 down && state_is 1 down'
ip link set lo up
check "silent peer: the link comes up again" within 20 active_again
check "silent peer: rping afterwards" rpings 0 2 1000

check "the fabric goes down" fabric down
finish
