#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sa_edge: multicast on InfiniBand: rare situations, such as no broadcast group, or client reregistration
# kernels: release debug
# check: default debug
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/mcast/guest.sh"
# MADs that are late on purpose are none that the SM has to repeat
fabric_conf="transaction_timeout 3000" fabric up 3 >/dev/null || exit
load_cmx || exit
cmx=$top/tools/cmx
tmp=$(mktemp -d)

the_end() {
	local n
	for n in "${!mc_pid[@]}"; do mc_stop "$n"; done
	check "the module unloads" unload_cmx
	check "the fabric goes" fabric down
	finish
}
start() { # NAME HCA STACK: with an id of the UDP port space, and a QP
	mc_start "$1" "$2" "$3"
	mc "$1" id 0 udp "10.78.0.$(($2 + 1))" >/dev/null
	mc "$1" qp 0 >/dev/null
}
# what "cmx show mcast" says of an MGID, by one space
shown() { "$cmx" show mcast | tr -s ' ' | sed 's/ $//' | grep -F " $1 "; }
shown_not() { ! shown "$1"; }

echo "# listed for operators"
mgid=ff12:4001:ffff::f02:101
start a 0 ours
start b 1 ours
start a2 0 ours
mc a id 1 udp 10.78.0.1 >/dev/null
for who in "a 0" "a 1" "a2 0" "b 0"; do
	read -r name n <<<"$who"
	mc "$name" join "$n" 239.2.1.1 >/dev/null
	like "$name/$n joined" "MULTICAST_JOIN*status=0 *" "$(joined "$name")"
done
mlid=$(groups | sed -n "s/^$mgid //p")
is "each port has a line" "vib0/1 $mgid 3 mlid=$mlid
vib1/1 $mgid 1 mlid=$mlid" "$(shown $mgid | sort)"
mc a id 2 udp 10.78.0.1 >/dev/null
mc a join 2 239.2.1.1 send >/dev/null
like "a send-only member joined" "MULTICAST_JOIN*status=0 *" "$(joined a)"
is "send-only members have a line of their own" "vib0/1 $mgid 1 mlid=$mlid join_state=0x8" "$(shown $mgid | grep =0x8)"
mc a leave 2 239.2.1.1 >/dev/null
mc a leave 1 239.2.1.1 >/dev/null
mc_stop a2
is "who left does not count" "vib0/1 $mgid 1 mlid=$mlid" "$(shown $mgid | grep vib0)"
mc b option 0 rejoin 1 >/dev/null
knob ports/1/cable 0
lost() { shown $mgid | grep -q "^vib1/1 .* 1 .* lost=1$"; }
check "a lost membership is listed as such" within 20 lost
knob ports/1/cable 1
check "it comes back" again b
is "and is not lost any more" "vib1/1 $mgid 1" "$(shown $mgid | grep vib1 | cut -d' ' -f1-3)"
is "counted: joined, lost, joined again" "1 1 1" \
	"$(stat_of vib1/1 groups_joined) $(stat_of vib1/1 groups_lost) $(stat_of vib1/1 groups_rejoined)"
for n in a b; do mc $n leave 0 239.2.1.1 >/dev/null; done
check "left: no line" shown_not $mgid

echo "# clients register again, with an SM that knows all of them"
check "the interface is back" within 30 on 1 ping -c 1 -W 1 10.78.0.1
start plain 1 ours
start stock 1 stock
for n in a b plain stock; do
	mc $n join 0 239.2.1.2 >/dev/null
	like "$n joined" "MULTICAST_JOIN*status=0 *" "$(joined $n)"
done
check "a datagram arrives" flows a 0 b 0
is "a program can't have a join reported as a rejoin" "1 none" "$(mc b report) $(mc b event 500)"
knob mad/count 0
knob ports/1/event 17
check "with MCAST_REJOIN it is back" again b
is "a program can have that reported again" 1 "$(mc b report)"
check "it is reported again" again b
is "not again, until it is fetched" "1 1" "$(mc b report) $(sleep 5; mc b report)"
sleep 5
check "then it comes" again b
is "and only once" none "$(mc b event 1)"
is "without" "MULTICAST_ERROR id=0 status=-102" "$(joined plain)"
is "that is counted" 1 "$(stat_of vib1/1 groups_ended)"
is "as on the in-tree stack" "MULTICAST_ERROR id=0 status=-102" "$(joined stock)"
is "another port has lost nothing" none "$(mc a event 1)"
check "a datagram arrives again" flows a 0 b 0
check "and the other way" flows b 0 a 0
for n in a b plain stock; do mc $n leave 0 239.2.1.2 >/dev/null; done
check "left: the group ends" within 10 no_group ff12:4001:ffff::f02:102

echo "# another partition"
mgid=ff12:4001:8001::f02:106
echo "Part=0x1,ipoib:ALL=full;" >>"$fabric_run/partitions.conf"
check "interfaces in it" children
mc a id 2 udp 10.79.0.1 >/dev/null; mc a qp 2 >/dev/null
for n in stock b plain; do
	mc $n id 2 udp 10.79.0.2 >/dev/null
done
mc stock qp 2 >/dev/null
for n in a stock; do
	mc $n join 2 239.2.1.6 >/dev/null
	like "$n joined" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined $n)"
done
is "at the SA" 0x8001 "$(record $mgid pkey)"
check "a datagram arrives" flows a 2 stock 2
check "and the other way" flows stock 2 a 2
mc stock destroy 2 >/dev/null
mc stock id 2 udp 10.79.0.2 >/dev/null
mc b qp 2 >/dev/null
for n in a b; do mc $n option 2 rejoin 1 >/dev/null; done
for n in stock b plain; do
	mc $n join 2 239.2.1.6 >/dev/null
	like "$n joined" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined $n)"
done
echo "Default=0x7fff,ipoib:ALL=full;" >"$fabric_run/partitions.conf"
# the SM hears late that the ports have lost the P_Key, and until then lets them join
knob mad/attr 0x16
knob mad/delay 200
sm hup
is "the ports are no members any more" "MULTICAST_ERROR id=2 status=-102" "$(joined plain)"
is "as on the in-tree stack" "MULTICAST_ERROR id=2 status=-102" "$(joined stock)"
both_lost() { [ "$(shown $mgid | grep -c " 1 .* lost=1$")" = 2 ]; }
check "with MCAST_REJOIN they are lost" within 20 both_lost
knob mad/delay 0
knob mad/attr 0
echo "Part=0x1,ipoib:ALL=full;" >>"$fabric_run/partitions.conf"
sm hup
for n in a b; do check "$n is back with the partition" again $n; done
check "a datagram arrives again" flows a 2 b 2
for n in a b plain stock; do mc $n destroy 2 >/dev/null; done
check "left: the group ends" within 10 no_group $mgid

# that much fits on the debug kernel
[ $slow = 1 ] || { skip "senders only, mckey, no SM, no broadcast group" "deadlines times $slow"; the_end; }

echo "# who only sends, and who does not count as a member"
mgid=ff12:4001:ffff::f02:103
start c 2 ours
mc c join 0 239.2.1.3 sendnon >/dev/null
like "who only sends, no member: makes no group" "MULTICAST_ERROR*status=-22*" "$(joined c)"
mc c leave 0 239.2.1.3 >/dev/null
mc a join 0 239.2.1.3 >/dev/null
like "a member" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined a)"
mlid=$(groups | sed -n "s/^$mgid //p")
mc c join 0 239.2.1.3 sendnon >/dev/null
like "joins what is there" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined c)"
is "at the SA" 0x4 "$(record $mgid JoinState "$(guid_text 2)")"
mc b join 0 239.2.1.3 non >/dev/null
like "a non-member" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
check "what it sends reaches the member" flows c 0 a 0
check "and the non-member" flows c 0 b 0
mc a send 0 hello1 >/dev/null
is "it receives nothing" none "$(mc c recv 0 500)"
mc a leave 0 239.2.1.3 >/dev/null
check "without members the group ends, whoever else is in it" within 10 no_group $mgid
for n in b c; do mc $n leave 0 239.2.1.3 >/dev/null; done

echo "# a port that stays in the group it leaves, with another join state"
start l 0 ours
mc l join 0 239.2.1.8 >/dev/null
like "a member" "MULTICAST_JOIN*status=0 *" "$(joined l)"
mc a join 0 239.2.1.8 non >/dev/null
like "a non-member of the same port" "MULTICAST_JOIN*status=0 *" "$(joined a)"
mc l leave 0 239.2.1.8 >/dev/null
# it must have begun
sleep 0.2
mc l join 0 239.2.1.9 >/dev/null
like "the next join does not wait until that seems to be late" \
	"MULTICAST_JOIN id=0 status=0 *" "$(joined l)"
mc l leave 0 239.2.1.9 >/dev/null
mc a leave 0 239.2.1.8 >/dev/null

echo "# Debian's mckey"
i=0
mckey_in() { # STACK HCA ARG...
	local lib=
	[ "$1" = stock ] || lib=$cmx_lib
	on "$2" env LD_LIBRARY_PATH=$lib timeout 60 mckey -b "10.78.0.$(($2 + 1))" "${@:3}" </dev/null
}
send_until() { # PID COMMAND...: it leaves without waiting for its datagrams
	local pid=$1
	shift
	for _ in {1..10}; do
		"$@" || return
		[ -e "/proc/$pid/exe" ] || return 0
	done
}
for stacks in "ours ours" "ours stock" "stock ours"; do
	read -r to from <<<"$stacks"
	for ps in 0x111 0x2; do
		i=$((i + 1))
		kind=4001
		[ $ps = 0x111 ] || kind=401b
		mckey_in "$to" 0 -p $ps -m 239.2.2.$i -C 20 >"$tmp/server" 2>&1 &
		pid=$!
		check "mckey -p $ps: $to joins" within 20 group_is "ff12:$kind:ffff::f02:20$i"
		check "mckey -p $ps: $from sends" send_until $pid \
			mckey_in "$from" 1 -p $ps -m 239.2.2.$i -s -C 500
		kill $pid 2>/dev/null
		wait $pid
		check "mckey -p $ps: $from to $to" grep -q 'test complete' "$tmp/server"
	done
done

echo "# a group that others have created again with another SL"
mgid=ff12:4001:ffff::f02:108
mc b id 5 udp 10.78.0.2 >/dev/null; mc b qp 5 >/dev/null
mc b option 5 rejoin 1 >/dev/null
mc b join 5 239.2.1.8 >/dev/null
like "joined" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
knob ports/1/cable 0
check "the membership is lost, and with it the group" within 30 no_group $mgid
start d 2 ours
mc d join 0 239.2.1.8 sl=3 >/dev/null
like "another port has created the group" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined d)"
knob ports/1/cable 1
check "the membership is back" again b
is "in the group with that SL" 0x3 "$(record $mgid SL "$(guid_text 1)")"
check "a datagram arrives" flows d 0 b 5
mc_stop d
mc b destroy 5 >/dev/null
check "left: the group ends" within 10 no_group $mgid

partitions() { echo "$1" >"$fabric_run/partitions.conf" && sm stop && sm start; }
if [ "$slow" = 1 ]; then
	echo "# an SM whose broadcast group has another SL"
	mgid=ff12:4001:ffff::f02:10b
	mc b id 6 udp 10.78.0.2 >/dev/null
	mc b option 6 rejoin 1 >/dev/null
	mc b join 6 239.2.1.11 tclass=8 >/dev/null
	like "joined" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
	is "with the SL of the broadcast group" 0x0 "$(record $mgid SL)"
	knob ports/1/cable 0
	check "the membership is lost, and with it the group" within 30 no_group $mgid
	# without QoS OpenSM has no SL for a partition
	echo "qos TRUE" >>"$fabric_run/opensm.conf"
	check "the SM has it" partitions "Default=0x7fff,ipoib,sl=2:ALL=full;"
	# what the member has requested keeps it from the group, until IPoIB knows the SL
	start d 2 ours
	mc d join 0 239.2.1.11 tclass=9 >/dev/null
	like "another port has created the group" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined d)"
	knob ports/1/cable 1
	check "the interface is back" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	is "the membership is not" none "$(mc b event 2000)"
	mc d leave 0 239.2.1.11 >/dev/null
	check "it is back when the group has gone" again b
	is "in a group with the new SL" 0x2 "$(record $mgid SL)"
	mc_stop d
	mc b destroy 6 >/dev/null
fi

echo "# no SM"
sm stop
for i in 0 1; do
	n=a
	[ $i = 0 ] || n=b
	mc $n id 4 udp 10.78.0.$((i + 1)) >/dev/null
	mc $n join 4 239.2.1.7 >/dev/null
	is "$n: nobody refuses" "MULTICAST_ERROR id=4 status=-11" "$(joined $n)"
	mc $n leave 4 239.2.1.7 >/dev/null
	mc $n option 4 rejoin 1 >/dev/null
	mc $n join 4 239.2.1.7 >/dev/null
	is "$n: with MCAST_REJOIN it waits" none "$(mc $n event 2000)"
done
mc l option 0 rejoin 1 >/dev/null
mc l join 0 239.2.1.10 sendnon >/dev/null
is "so does one that no SM will accept" none "$(mc l event 2000)"
sm start
for n in a b; do
	like "$n: until there is one" "MULTICAST_JOIN id=4 status=0 *" "$(joined $n)"
	mc $n destroy 4 >/dev/null
done
check "left: the group ends" within 10 no_group ff12:4001:ffff::f02:107
is "the other one: until there is one, which refuses it" "MULTICAST_ERROR id=0 status=-22" "$(joined l)"

echo "# no broadcast group"
check "an SM without partitions for IPoIB" partitions "Default=0x7fff:ALL=full;"
# the SA answers when the SM is ready
check "there is no broadcast group" within 20 no_group ff12:401b:ffff::ffff:ffff
for n in a b stock; do mc $n destroy 0 >/dev/null; done
mc a id 0 udp 10.78.0.1 >/dev/null; mc a qp 0 >/dev/null
mc b id 0 udp 10.78.0.2 >/dev/null; mc b qp 0 >/dev/null
mc stock id 0 udp 10.78.0.2 >/dev/null
for n in a b; do
	mc $n join 0 239.2.1.4 >/dev/null
	like "$n joined" "MULTICAST_JOIN*status=0 mgid=ff12:4001:ffff::f02:104 *" "$(joined $n)"
done
check "a datagram arrives" flows a 0 b 0
is "the in-tree stack can't" "-1 EADDRNOTAVAIL" "$(mc stock join 0 239.2.1.4)"
mc a id 1 ipoib 10.78.0.1 >/dev/null
is "nor can IPoIB's port space" "-1 EADDRNOTAVAIL" "$(mc a join 1 239.2.1.5)"
the_end
