#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# vib: the software InfiniBand fabric carries the in-tree stack, under the real subnet manager
# kernels: 7 uml
# check: uml
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/vib/pairs.sh"

# send HCA COMMAND...: The sender of mckey exits without waiting for its datagrams, and may send none. It is
# repeated until the member has received its number of datagrams.
send() {
	until [ -s "$tmp/status" ]; do
		on "$1" timeout $limit "${@:2}" || return
		nap 0.3
	done
	[ "$(cat "$tmp/status")" = 0 ] || { tail -n 5 "$tmp/server"; return 1; }
}

check "a fabric of 3 HCAs comes up" fabric up 3
[ "$failed" = 0 ] || finish

# subnet management
check "ibstat: the port is active" says 'State: Active' ibstat vib0
check "ibstat: the link is up" says 'Physical state: LinkUp' ibstat vib2
ibnetdiscover -C vib0 >"$tmp/net" 2>&1
check "ibnetdiscover: one switch" test "$(grep -c ^Switch "$tmp/net")" = 1
check "ibnetdiscover: three HCAs" test "$(grep -c ^Ca "$tmp/net")" = 3
check "sminfo: the SM is the master" says 'SMINFO_MASTER' sminfo -C vib0
sw=$(switch_lid)
check "the switch has a LID" test "$sw" -gt 0
check "smpquery -D nodedesc of the switch" says 'vib switch' smpquery -C vib0 -D nodedesc 0,1
check "smpquery -D nodedesc of an HCA, two hops" says 'vib1' smpquery -C vib0 -D nodedesc 0,1,2
check "smpquery -D nodedesc, there and back" says 'vib0' smpquery -C vib0 -D nodedesc 0,1,1
for attr in nodeinfo "switchinfo" "portinfo 1" "pkeys 0" "sl2vl 1" "vlarb 1"; do
	# shellcheck disable=SC2086 # an attribute and its port
	set -- $attr
	check "smpquery $attr of the switch" smpquery -C vib0 "$1" "$sw" ${2:+"$2"}
done
for attr in nodeinfo "portinfo 1" pkeys guidinfo "sl2vl 1" "vlarb 1"; do
	# shellcheck disable=SC2086
	set -- $attr
	check "smpquery $attr of an HCA" smpquery -C vib0 "$1" "$(vib_lid 1)" ${2:+"$2"}
done
check "SMInfo is refused where no SM runs" says 'error status 0xc' \
	sminfo -C vib0 -e -t 100 "$(vib_lid 1)"
# the MAD is routed by LID to the switch, and directed from there
check "ibportstate of a port of the switch, and of its peer" says 'Peer PortInfo' \
	ibportstate -C vib0 "$sw" 2 query

# part "M_Key: "
# M_Key: a refused MAD starts the lease, a MAD with the key stops it, and when it ends all MADs are accepted
lid=$(vib_lid 2)
asks() { smpquery -C vib0 -t 100 "$@" portinfo "$lid" 1; }
check "M_Key: a port gets an M_Key" ibportstate -C vib0 "$lid" 1 mkey 0x55 mkeylease 3 mkeyprot 2
check_not "M_Key: a MAD with a wrong key gets no reply" asks
check "M_Key: a MAD with the key gets a reply" asks -y 0x55
nap 4
check_not "M_Key: a MAD with the key stops the lease" asks
check "M_Key: the protection ends with the lease" within 10 asks
check "M_Key: the M_Key is cleared" ibportstate -C vib0 -y 0x55 "$lid" 1 mkey 0

# all parts
check "ibroute" says ": \(Channel Adapter portguid $(vib_guid 1)" ibroute -C vib0 "$sw"
check "ibroute -M" says '^0xc000.* x' ibroute -C vib0 -M "$sw"
check "ibtracert" says 'To ca node|To ca' ibtracert -C vib0 "$(vib_lid 0)" "$(vib_lid 2)"
check "saquery: nodes" nodes_are 4
check "saquery: a path" says 'hop_limit|mtu' saquery -C vib0 -p --src-to-dst "$(vib_lid 0):$(vib_lid 1)"
check "the broadcast group" says '^ff12:401b:ffff::ffff:ffff ' groups
check "perfquery of an HCA" says 'PortXmitPkts' perfquery -C vib0 "$(vib_lid 1)" 1
check "perfquery -x of a port of the switch" says 'PortMulticastRcvPkts' perfquery -C vib0 -x "$sw" 2

# part "a link of " "ibv_devinfo of the peer"
# the enabled width and speed of a switch port apply when the link comes up again, also at the peer and the SA
link() { # WIDTH SPEED RATE-OF-THE-PORT RATE-OF-THE-PATH
	ibportstate -C vib0 "$sw" 2 width "$1" speed "$2" && ibportstate -C vib0 "$sw" 2 reset &&
	within 20 ports_are ACTIVE 1 &&
	within 5 says "^$3" cat /sys/class/infiniband/vib1/ports/1/rate &&
	within 20 says "rate\.+$4" saquery -C vib0 -p --src-to-dst "$(vib_lid 0):$(vib_lid 1)"
}
check "a link of 1X" link 1 7 '10 Gb/sec \(1X QDR\)' 0x83
check "a link of 2.5 Gb/s a lane" link 3 1 '10 Gb/sec \(4X' 0x83
check "a link of full width and speed" link 3 7 '40 Gb/sec \(4X QDR\)' 0x87
check "ibv_devinfo of the peer" says 'active_width:.*4X' ibv_devinfo -v -d vib1

# part "ibv_" "UC: " "a wrong R_Key" "a write that" "a receive that" "SQD: " "an alternate path"
# verbs
check "ibv_rc_pingpong" verbs 0 1 ibv_rc_pingpong -n 100
check "ibv_rc_pingpong of 64 KB, by events" verbs 0 1 ibv_rc_pingpong -n 20 -s 65536 -e -c
check "ibv_uc_pingpong" verbs 0 1 ibv_uc_pingpong -n 100
check "ibv_ud_pingpong" verbs 0 1 ibv_ud_pingpong -n 100 -s 1024
qp() { "$tests/ib/qp" vib0 "$@"; }
check "UC: a refused packet is dropped, and the QP stays in RTS" qp uc-drops
check "a wrong R_Key: QP_ACCESS_ERR" qp access-error
check "a write that is not allowed: QP_REQ_ERR" qp request-error
check "a receive that is too short: the completion has the error" qp length-error
check "SQD: requests in progress complete, and others wait" qp sqd
check "an alternate path is refused" qp no-alternate-path

# part "ping" "rping" "ucmatose" "udaddy"
# IPoIB and programs that use it
check "ping" on 0 ping -q -c 2 -i 0.3 10.78.0.2
check "ping -6" on 1 ping -q -c 2 -i 0.3 fd78::3
check "ping of 1900 bytes" on 0 ping -q -c 2 -i 0.3 -M do -s 1900 10.78.0.3
check "rping" pair 0 "rping -s -C 10 -a 10.78.0.1" 1 "rping -c -C 10 -a 10.78.0.1"
within 20 on 2 ping -c 1 -W 1 fd78::2	# rping waits two seconds for the neighbour
check "rping -6" pair 1 "rping -s -C 3 -a fd78::2" 2 "rping -c -C 3 -a fd78::2"
check "rping of 60 KB, verified" pair 0 "rping -s -C 5 -S 60000 -V -a 10.78.0.1" \
	2 "rping -c -C 5 -S 60000 -V -a 10.78.0.1"
check "ucmatose" pair 0 "ucmatose -b 10.78.0.1" 1 "ucmatose -s 10.78.0.1"
check "udaddy" pair 0 "udaddy -b 10.78.0.1" 1 "udaddy -s 10.78.0.1"
check "udaddy -P ipoib" pair 0 "udaddy -P ipoib -b 10.78.0.1" 1 "udaddy -P ipoib -s 10.78.0.1"

# part "multicast: " "perfquery -R" "no counter below" "mckey -p ipoib"
# Multicast is forwarded only by the MFT. OpenSM routes a group that has two ports.
joined() { mlid=$(groups | sed -n "s/^$1 //p") && [ "$mlid" ] && [ "$(mft "$mlid")" = "$2" ]; }
serve 0 mckey -m 239.7.7.7 -b 10.78.0.1 -C 50
on 1 timeout $limit mckey -m 239.7.7.7 -b 10.78.0.2 -C 50 >"$tmp/second" 2>&1 &
check "multicast: the SA and the MFT have two members" within $limit joined ff12:4001:ffff::f07:707 "1 2"
out1=$(switch_port 0 mcast-out) out3=$(switch_port 2 mcast-out)
check "multicast: mckey receives" send 1 mckey -m 239.7.7.7 -s -b 10.78.0.2 -C 500
check "multicast: the datagrams leave at the member's port" test $(($(switch_port 0 mcast-out) - out1)) -ge 50
check "multicast: no datagram leaves at another port" test $(($(switch_port 2 mcast-out) - out3)) -lt 20
check "multicast: the member at the sender's port receives" within 5 grep -q 'test complete' "$tmp/second"
# HCA 1 sent more multicast packets before its counter of all packets was cleared than others afterwards
check "perfquery -R" perfquery -C vib0 -R "$(vib_lid 1)" 1
check "no counter below zero" says 'PortUnicastXmitPkts:\.+[0-9]{1,9}$' perfquery -C vib0 -x "$(vib_lid 1)" 1
check "multicast: the group ends with its members" within $limit no_group ff12:4001:ffff::f07:707
serve 0 mckey -p 0x2 -m 239.7.7.8 -b 10.78.0.1
check "mckey -p ipoib joins" within $limit says ff12:401b:ffff::f07:708 groups
check "mckey -p ipoib receives" send 1 mckey -p 0x2 -m 239.7.7.8 -s -b 10.78.0.2 -C 500

# part "partition: "
# partitions
echo "Test=0x0021,ipoib:$(vib_guid 0)=full,$(vib_guid 1)=full;" >>"$fabric_run/partitions.conf"
sm hup
has_pkey() { grep -qr 0x8021 "/sys/class/infiniband/vib$1/ports/1/pkeys/"; }
check "partition: the members have its P_Key" within 20 eval 'has_pkey 0 && has_pkey 1'
check_not "partition: another port does not have its P_Key" has_pkey 2
for i in 0 1; do
	check "partition: a child interface, HCA $i" on $i ip link add link ib$i name ib$i.8021 type ipoib pkey 0x8021
	on $i ip addr add 10.79.0.$((i + 1))/24 dev ib$i.8021
	on $i ip link set ib$i.8021 up
done
check "partition: ping" within 20 pings 0 10.79.0.2
check "partition: rping" pair 0 "rping -s -C 3 -a 10.79.0.1" 1 "rping -c -C 3 -a 10.79.0.1"

# part "lost PathRecords: " "late PathRecords: "
# lost and late MADs
serve 2 rping -s -C 1 -a 10.78.0.3
sleep $slow
knob mad/class 0x3 && knob mad/attr 0x35
knob mad/drop 1
check_not "lost PathRecords: a connect fails" on 1 timeout $((20 * slow)) rping -c -C 1 -a 10.78.0.3
knob mad/drop 0
check "lost PathRecords: the same server answers afterwards" ask 1 rping -c -C 1 -a 10.78.0.3
knob mad/delay 700
begin=$(date +%s%N)
check "late PathRecords: rping succeeds" pair 0 "rping -s -C 1 -a 10.78.0.1" 1 "rping -c -C 1 -a 10.78.0.1"
# the delay of a request and of its reply, and the second in which the server starts
check "late PathRecords: the delay is that of a request and a reply" test $(($(date +%s%N) - begin)) -gt $((1400000000 + slow * 1000000000))
knob mad/delay 0
knob mad/class 0 && knob mad/attr 0

# part "OpenSM is killed" "clients register again" "ping after the restart" "cable pulled: " "cable back: "
# The subnet manager exits, and another one starts. It does not sweep periodically: it learns of changed links
# only by traps.
sm kill 0
check "OpenSM is killed and restarted" sm start 0 -s 0
check "clients register again" within 20 says '^ff12:401b:ffff::ffff:ffff ' groups
check "ping after the restart of OpenSM" within 20 pings 0 10.78.0.2

# cables
knob mad/count 0
knob ports/1/cable 0
check "cable pulled: the port goes down" within 5 ports_are DOWN 1
trapped() { [ "$(mads 0x01 0x05 0x0002)" -ge 1 ]; }
check "cable pulled: the switch sends a trap" within 5 trapped
check "cable pulled: the SA loses the node" within 10 nodes_are 3
check_not "cable pulled: ping fails" pings 0 10.78.0.2
knob ports/1/cable 1
check "cable back: the port becomes active" within 15 ports_are ACTIVE 1
check "cable back: ping" within 20 pings 0 10.78.0.2

# part "removed HCA: "
# an HCA is removed and added again
on 0 ping -q -f -w 1 10.78.0.3 >/dev/null 2>&1 &
nap 0.2
check "removed HCA: the removal succeeds while packets arrive" knob remove 2
check_not "removed HCA: the device is gone" test -e /sys/class/infiniband/vib2
check "removed HCA: the SA loses the node" within 10 nodes_are 3
check "removed HCA: the HCA is added again" knob add 2
check "removed HCA: the added port becomes active" within 15 ports_are ACTIVE 2

# part "second SM: "
# two managers
check "second SM: the second SM is in standby" eval 'sm start 1 && within 15 says SMINFO_STANDBY sminfo -C vib0 $(vib_lid 1)'
sm kill 0
check "second SM: the second SM takes over" within 30 says SMINFO_MASTER sminfo -C vib0 "$(vib_lid 1)"
check "second SM: ping under the second SM" within 20 pings 0 10.78.0.2

# all parts
gone() { fabric down && ! test -d /sys/module/vib; }
check "the fabric and its module go away" gone
finish
