#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# vib_net: several switches of the software InfiniBand fabric, from a topology file, under OpenSM
# kernels: default 7
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/vib/pairs.sh"

topology=$tests/vib/topology
ring=$tests/vib/ring.net

echo "# topology files"
# refused WHY LINE...: a file with these lines
refused() {
	local why=$1
	shift
	printf '%s\n' "$@" >"$tmp/net"
	says "$why" "$topology" "$tmp/net" && ! "$topology" "$tmp/net" >/dev/null 2>&1
}
check "topology: a node that does not exist" refused 'net:2: no node "x"' 'Switch 2 "s"' '[1] "x"[1]' 'Hca 1 "h"'
check "topology: two cables in one port" refused 'port 1 of "s" has two cables' 'Switch 2 "s"' '[1] "h"[1]' '[1] "h"[1]'
check "topology: ends that do not agree" refused 'is not connected to "s"\[1\]' 'Switch 2 "s"' '[1] "h"[1]' \
	'Hca 1 "h"' '[1] "s"[2]'
check "topology: a port beyond the last" refused 'beyond the last' 'Switch 2 "s"' '[3] "h"[1]' 'Hca 1 "h"'
check "topology: a cable between HCAs" refused 'between two HCAs' 'Switch 1 "s"' 'Hca 1 "g"' '[1] "h"[1]' 'Hca 1 "h"'
printf '%s\n' 'Switch 2 "s"' 'Hca 2 "h"	# "name"' '[2] "s"[2] w=1 s=2' >"$tmp/net"
check "topology: one end of a cable is enough" says '^connect sw0/2 vib0 1 2 5$' "$topology" "$tmp/net"

check "4 switches in a ring, 8 HCAs: a fabric comes up" fabric up -t "$ring"
[ "$failed" = 0 ] || finish

# ends FILE: its cables as "NAME NAME WIDTH SPEED", an end of a switch with its port, sorted
ends() {
	"$topology" "$1" | awk '
		$1 ~ /^(name|node_desc)$/ { name[$2] = $3 }
		$1 == "connect" {
			for (i = 2; i <= 3; i++) {
				split($i, end, "/")
				$i = name[end[1]] "/" end[2]
			}
			print $2 < $3 ? $2 " " $3 : $3 " " $2, $4 ? $4 : 4, $5 ? $5 : 4
		}' | sort
}
same_net() {
	ibnetdiscover -C vib0 >"$tmp/net" && diff <(ends "$ring") <(ends "$tmp/net")
}
check "ibnetdiscover finds the topology of the file" same_net
check "one record of each node" within 20 nodes_are 12
check "smpquery -D, across four links and back" says 'Host7' smpquery -C vib0 -D nodedesc 0,1,5,1
check "smpquery -D of the third switch" says 'Ring3' smpquery -C vib0 -D nodedesc 0,1,4,3
check_not "connect: a port in use is refused" knob connect "sw0/1 sw2/4"
check_not "connect: a port that does not exist is refused" knob connect "sw0/7 sw2/4"
check_not "connect: an HCA that has a cable is refused" knob connect "sw2/4 vib0"

# pairs_ping: each HCA reaches each other one
pairs_ping() {
	local i j lost=0
	for ((i = 0; i < 8; i++)); do
		for ((j = i + 1; j < 8; j++)); do
			pings $i 10.78.0.$((j + 1)) || { echo "$i to $j"; lost=$((lost + 1)); }
		done
	done
	[ $lost = 0 ]
}
check "all pairs ping" pairs_ping

# path I J: rate and MTU of the path between two HCAs, as codes of the SA: 2 is 2.5 Gb/s, 3 is 10, 7 is 40
path() {
	saquery -C vib0 -p --src-to-dst "$(vib_lid "$1"):$(vib_lid "$2")" |
		awk '/rate\./ { sub(/.*\.+0x8/, ""); rate = $1 } /mtu\./ { sub(/.*\.+0x8/, ""); mtu = $1 } END { print rate, mtu }'
}
path_is() { test "$(path "$1" "$2")" = "$3"; }
check "a path of good links" path_is 0 2 "7 5"
check "a path with a link of 1X" path_is 2 4 "3 5"
check "a path with a link of 2.5 Gb/s a lane" path_is 0 7 "3 5"
check "a path with a link whose MTU is 2048" path_is 4 6 "7 4"
check "the rate of the slow port" says '^10 Gb/sec \(4X SDR\)' cat /sys/class/infiniband/vib7/ports/1/rate

check "a multicast datagram arrives once at each HCA" once 0 1 2 3 4 5 6 7
check "a multicast datagram from the other side of the ring arrives once" once 5 0 1 2 3 4 6 7

echo "# cables are cut and connected"
check "rping over the ring, 3 switches" rpings 0 4 20000
# hops I J: the number of switches between two HCAs, by their LFTs
hops() { ibtracert -C vib0 "$(vib_lid "$1")" "$(vib_lid "$2")" | grep -c 'switch port'; }
hops_are() { test "$(hops "$1" "$2")" = "$3"; }
check "a path of 2 switches" hops_are 0 6 2
check "parallel cables: one of two is cut" knob disconnect sw0/3
check "parallel cables: the subnet manager uses the second one" within 20 eval '! ibnetdiscover -C vib0 | grep -q "^\[3\].*Ring2" && pairs_ping'
check "parallel cables: the far end of the cut cable is down" says '^port 5 down' knob switches/1
check "cut ring: a cable of the ring is cut" knob disconnect sw0/5
check "cut ring: the path goes around the ring" within 20 hops_are 0 6 4
check "cut ring: all pairs ping" within 20 pairs_ping
check "cut ring: the path has the rate of 1X and the MTU of 2048" path_is 0 6 "3 4"
check "cut ring: rping over 4 switches" rpings 0 6 20000
check "cut ring: a multicast datagram arrives once at each HCA" once 0 1 2 3 4 5 6 7
check "divided fabric: the last cable is cut" knob disconnect sw0/4
check "divided fabric: the SA loses the nodes" within 20 nodes_are 3
check_not "divided fabric: ping fails" pings 0 10.78.0.3
check "all cables are connected again" eval 'knob connect "sw0/5 sw3/3" && knob connect "sw0/3 sw1/5" && knob connect "sw0/4 sw1/6"'
check "all pairs ping with all cables" within 30 pairs_ping
check "ibnetdiscover finds the topology of the file again" same_net
check "moved HCA: the cable goes to another switch" eval 'knob disconnect sw3/1 && knob connect "sw0/6 vib6"'
check "moved HCA: ping over the other switch" within 20 eval 'hops_are 0 6 1 && pings 0 10.78.0.7'

echo "# loops in the tables"
sm kill 0
smp() { "$tests/vib/smp" vib0 "$@"; }
dropped() { cat /sys/kernel/debug/vib/switches/* | awk '$1 == "port" { n += $NF } END { print n + 0 }'; }
to=$(vib_lid 3)
check "loop: two LFTs have a loop" eval 'smp $(switch_lid 1) lft $to 5 && smp $(switch_lid 0) lft $to 3'
before=$(dropped)
check_not "loop: ping fails" pings 0 10.78.0.4
check "loop: the packets are dropped" test "$(dropped)" -gt "$before"
check "loop: ping on another path succeeds" pings 0 10.78.0.3
# programs that exchange their addresses over TCP need no subnet manager for their path
serve x ibv_rc_pingpong -d vib3 -e -n 10
within 20 listens 18515
check "loop: the retries of a message end" says 'transport retry counter exceeded' \
	timeout $limit ibv_rc_pingpong -d vib0 -e -n 10 127.0.0.1
within $limit test -s "$tmp/status"
check "loop: all MFTs have loops" eval 'smp $(switch_lid 0) mft 0xc000 1 2 3 4 5 && smp $(switch_lid 1) mft 0xc000 1 2 3 5 6 &&
	smp $(switch_lid 2) mft 0xc000 1 2 3 5 && smp $(switch_lid 3) mft 0xc000 1 2 3 5'
before=$(dropped)
on 0 ip neigh flush all
pings 0 10.78.0.3 >/dev/null
check "loop: the copies of a multicast packet are dropped" test "$(dropped)" -gt "$before"
check "loop: the subnet manager removes the loops" eval 'sm start 0 && within 30 pings 0 10.78.0.4'
check "loop: all pairs ping afterwards" within 30 pairs_ping
check "loop: a multicast datagram arrives once afterwards" once 0 1 2 3 4 5 6 7

check "the fabric goes down" fabric down
finish
