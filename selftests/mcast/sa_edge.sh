#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sa_edge: multicast on InfiniBand: rare situations, such as no broadcast group, or client reregistration
# kernels: 7 uml
# check: uml
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/mcast/guest.sh"
# The SM must not repeat MADs that the suite delays on purpose.
fabric_conf="transaction_timeout 3000" fabric up 3 >/dev/null || exit
load_cmx || exit
cmx=$top/tools/cmx
tmp=$(mktemp -d)

the_end() {
	local n
	for n in "${!mc_pid[@]}"; do mc_stop "$n"; done
	check "the module unloads" unload_cmx
	check "the fabric goes down" fabric down
	finish
}
start() { # NAME HCA STACK: with an id of the UDP port space, and a QP
	mc_start "$1" "$2" "$3"
	mc "$1" id 0 udp "10.78.0.$(($2 + 1))" >/dev/null
	mc "$1" qp 0 >/dev/null
}
# shown MGID: its lines of "cmx show mcast", with single spaces
shown() { "$cmx" show mcast | tr -s ' ' | sed 's/ $//' | grep -F " $1 "; }
shown_not() { ! shown "$1"; }

partitions() { echo "$1" >"$fabric_run/partitions.conf" && sm stop && sm start; }
start a 0 ours
start b 1 ours
start plain 1 ours
start stock 1 stock
start l 0 ours

# part "listed: "
echo "# cmx show mcast"
mgid=ff12:4001:ffff::f02:101
start a2 0 ours
mc a id 1 udp 10.78.0.1 >/dev/null
for who in "a 0" "a 1" "a2 0" "b 0"; do
	read -r name n <<<"$who"
	mc "$name" join "$n" 239.2.1.1 >/dev/null
	like "listed: $name/$n joins" "MULTICAST_JOIN*status=0 *" "$(joined "$name")"
done
mlid=$(groups | sed -n "s/^$mgid //p")
is "listed: each port has a line" "vib0/1 $mgid 3 mlid=$mlid
vib1/1 $mgid 1 mlid=$mlid" "$(shown $mgid | sort)"
mc a id 2 udp 10.78.0.1 >/dev/null
mc a join 2 239.2.1.1 send >/dev/null
like "listed: a send-only member joins" "MULTICAST_JOIN*status=0 *" "$(joined a)"
is "listed: send-only members have a line of their own" "vib0/1 $mgid 1 mlid=$mlid join_state=0x8" "$(shown $mgid | grep =0x8)"
check "listed: JSON is as the schema says" eval '"$cmx" show -j mcast | "$tests/tool/valid" "$top/tools/cmx.schema.json" show-mcast'
check "listed: JSON has the same values" eval '"$cmx" show -j mcast |
	grep -qF "{\"dev\":\"vib0\",\"port\":1,\"group\":\"$mgid\",\"users\":1,\"mlid\":$((mlid)),\"join-state\":8}"'
mc a leave 2 239.2.1.1 >/dev/null
mc a leave 1 239.2.1.1 >/dev/null
mc_stop a2
is "listed: a member that has left does not count" "vib0/1 $mgid 1 mlid=$mlid" "$(shown $mgid | grep vib0)"
mc b option 0 rejoin 1 >/dev/null
trace=/sys/kernel/tracing
[ -e $trace/events ] || mount -t tracefs tracefs $trace
echo 1 >$trace/events/rdma_cmx/cmx_member/enable
knob ports/1/cable 0
lost() { shown $mgid | grep -q "^vib1/1 .* 1 .* lost=1$"; }
check "listed: a lost membership has lost=1" within 20 lost
knob ports/1/cable 1
check "listed: the lost membership is rejoined" again b
is "listed: a rejoined membership has no lost=1" "vib1/1 $mgid 1" "$(shown $mgid | grep vib1 | cut -d' ' -f1-3)"
echo 0 >$trace/events/rdma_cmx/cmx_member/enable
is "listed: the trace has the states from the loss to the report" "MEMBER -> LOST
UNREPORTED -> REJOINED" "$(sed -n "s|.*cmx_member: .* vib1/1 mgid=$mgid ||p" $trace/trace | sed -n '1p;$p')"
is "listed: the counters have a join, a loss and a rejoin" "1 1 1" \
	"$(stat_of vib1/1 groups_joined) $(stat_of vib1/1 groups_lost) $(stat_of vib1/1 groups_rejoined)"
for n in a b; do mc $n leave 0 239.2.1.1 >/dev/null; done
check "listed: a group that all have left has no line" shown_not $mgid

# part "reregistration: "
echo "# clients register again, with an SM that knows all of them"
check "reregistration: IPoIB works again" within 30 on 1 ping -c 1 -W 1 10.78.0.1
mc b option 0 rejoin 1 >/dev/null
for n in a b plain stock; do
	mc $n join 0 239.2.1.2 >/dev/null
	like "reregistration: $n joins" "MULTICAST_JOIN*status=0 *" "$(joined $n)"
done
check "reregistration: a datagram arrives" flows a 0 b 0
is "reregistration: a join is not reported as a rejoin" "1 none" "$(mc b report) $(mc b event 500)"
knob mad/count 0
knob ports/1/event 17
check "reregistration: a member with MCAST_REJOIN rejoins" again b
is "reregistration: a program requests another report" 1 "$(mc b report)"
check "reregistration: the rejoin is reported again" again b
is "reregistration: a report that is not fetched is not repeated" "1 1" "$(mc b report) $(sleep 5; mc b report)"
sleep 5
check "reregistration: the next report arrives" again b
is "reregistration: the next report arrives once" none "$(mc b event 1)"
is "reregistration: a member without MCAST_REJOIN gets an error" "MULTICAST_ERROR id=0 status=-102" "$(joined plain)"
is "reregistration: the error is counted" 1 "$(stat_of vib1/1 groups_ended)"
is "reregistration: a member on the in-tree stack gets the same error" "MULTICAST_ERROR id=0 status=-102" "$(joined stock)"
is "reregistration: a member at another port gets no event" none "$(mc a event 1)"
check "reregistration: a rejoined member receives datagrams" flows a 0 b 0
check "reregistration: a rejoined member sends datagrams" flows b 0 a 0
for n in a b plain stock; do mc $n leave 0 239.2.1.2 >/dev/null; done
check "reregistration: the group ends with its members" within 10 no_group ff12:4001:ffff::f02:102

# part "partition: " "lost partition: "
echo "# another partition"
mgid=ff12:4001:8001::f02:106
echo "Part=0x1,ipoib:ALL=full;" >>"$fabric_run/partitions.conf"
check "partition: interfaces come up" children
mc a id 2 udp 10.79.0.1 >/dev/null; mc a qp 2 >/dev/null
for n in stock b plain; do
	mc $n id 2 udp 10.79.0.2 >/dev/null
done
mc stock qp 2 >/dev/null
for n in a stock; do
	mc $n join 2 239.2.1.6 >/dev/null
	like "partition: $n joins" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined $n)"
done
is "partition: the SA has the P_Key" 0x8001 "$(record $mgid pkey)"
check "partition: a datagram arrives at the in-tree stack" flows a 2 stock 2
check "partition: a datagram arrives from the in-tree stack" flows stock 2 a 2
mc stock destroy 2 >/dev/null
mc stock id 2 udp 10.79.0.2 >/dev/null
mc b qp 2 >/dev/null
for n in a b; do mc $n option 2 rejoin 1 >/dev/null; done
for n in stock b plain; do
	mc $n join 2 239.2.1.6 >/dev/null
	like "partition: $n joins for the loss" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined $n)"
done
echo "Default=0x7fff,ipoib:ALL=full;" >"$fabric_run/partitions.conf"
# The SM learns late that the ports have lost the P_Key, and accepts joins until then.
knob mad/attr 0x16
knob mad/delay 200
sm hup
is "lost partition: a member without MCAST_REJOIN gets an error" "MULTICAST_ERROR id=2 status=-102" "$(joined plain)"
is "lost partition: a member on the in-tree stack gets the same error" "MULTICAST_ERROR id=2 status=-102" "$(joined stock)"
both_lost() { [ "$(shown $mgid | grep -c " 1 .* lost=1$")" = 2 ]; }
check "lost partition: members with MCAST_REJOIN are lost" within 20 both_lost
knob mad/delay 0
knob mad/attr 0
echo "Part=0x1,ipoib:ALL=full;" >>"$fabric_run/partitions.conf"
sm hup
for n in a b; do check "lost partition: $n rejoins with the partition" again $n; done
check "lost partition: a rejoined member receives datagrams" flows a 2 b 2
for n in a b plain stock; do mc $n destroy 2 >/dev/null; done
check "lost partition: the group ends with its members" within 10 no_group $mgid

# all parts
# the rest takes too long on the debug kernel
[ $slow = 1 ] || { skip "senders only, mckey, no SM, no broadcast group" "deadlines times $slow"; the_end; }

# part "join states: "
echo "# send-only members and non-members"
mgid=ff12:4001:ffff::f02:103
start c 2 ours
mc c join 0 239.2.1.3 sendnon >/dev/null
like "join states: a send-only non-member creates no group" "MULTICAST_ERROR*status=-22*" "$(joined c)"
mc c leave 0 239.2.1.3 >/dev/null
mc a join 0 239.2.1.3 >/dev/null
like "join states: a full member joins" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined a)"
mlid=$(groups | sed -n "s/^$mgid //p")
mc c join 0 239.2.1.3 sendnon >/dev/null
like "join states: a send-only non-member joins an existing group" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined c)"
is "join states: the SA has the send-only non-member" 0x4 "$(record $mgid JoinState "$(guid_text 2)")"
mc b join 0 239.2.1.3 non >/dev/null
like "join states: a non-member joins" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
check "join states: a full member receives from a send-only non-member" flows c 0 a 0
check "join states: a non-member receives from a send-only non-member" flows c 0 b 0
mc a send 0 hello1 >/dev/null
is "join states: a send-only non-member receives nothing" none "$(mc c recv 0 500)"
mc a leave 0 239.2.1.3 >/dev/null
check "join states: the group ends when no full member is left" within 10 no_group $mgid
for n in b c; do mc $n leave 0 239.2.1.3 >/dev/null; done

# part "second join state: "
echo "# a port leaves a group with one join state and stays in it with another"
mc l join 0 239.2.1.8 >/dev/null
like "second join state: a full member joins" "MULTICAST_JOIN*status=0 *" "$(joined l)"
mc a join 0 239.2.1.8 non >/dev/null
like "second join state: a non-member of the same port joins" "MULTICAST_JOIN*status=0 *" "$(joined a)"
mc l leave 0 239.2.1.8 >/dev/null
# the leave must have begun
sleep 0.2
mc l join 0 239.2.1.9 >/dev/null
like "second join state: a join does not wait for the leave's timeout" \
	"MULTICAST_JOIN id=0 status=0 *" "$(joined l)"
mc l leave 0 239.2.1.9 >/dev/null
mc a leave 0 239.2.1.8 >/dev/null

# part "mckey -p "
echo "# Debian's mckey"
i=0
mckey_in() { # STACK HCA ARG...
	local lib=
	[ "$1" = stock ] || lib=$cmx_lib
	on "$2" env LD_LIBRARY_PATH=$lib timeout 60 mckey -b "10.78.0.$(($2 + 1))" "${@:3}" </dev/null
}
send_until() { # PID COMMAND...: repeated, because the sender leaves without waiting for its datagrams
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
		check "mckey -p $ps, $from to $to: the receiver joins" within 20 group_is "ff12:$kind:ffff::f02:20$i"
		check "mckey -p $ps, $from to $to: the sender sends" send_until $pid \
			mckey_in "$from" 1 -p $ps -m 239.2.2.$i -s -C 500
		kill $pid 2>/dev/null
		wait $pid
		check "mckey -p $ps, $from to $to: the receiver gets the datagrams" grep -q 'test complete' "$tmp/server"
	done
done

# part "another SL: "
echo "# another port creates a lost group again, with another SL"
mgid=ff12:4001:ffff::f02:108
mc b id 5 udp 10.78.0.2 >/dev/null; mc b qp 5 >/dev/null
mc b option 5 rejoin 1 >/dev/null
mc b join 5 239.2.1.8 >/dev/null
like "another SL: the member joins" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
knob ports/1/cable 0
check "another SL: the group ends with the lost membership" within 30 no_group $mgid
start d 2 ours
mc d join 0 239.2.1.8 sl=3 >/dev/null
like "another SL: another port creates the group" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined d)"
knob ports/1/cable 1
check "another SL: the member rejoins" again b
is "another SL: the rejoined member has the SL of the group" 0x3 "$(record $mgid SL "$(guid_text 1)")"
check "another SL: a rejoined member receives datagrams" flows d 0 b 5
mc_stop d
mc b destroy 5 >/dev/null
check "another SL: the group ends with its members" within 10 no_group $mgid

# part "broadcast SL: "
if [ "$slow" = 1 ]; then
	echo "# an SM whose broadcast group has another SL"
	mgid=ff12:4001:ffff::f02:10b
	mc b id 6 udp 10.78.0.2 >/dev/null
	mc b option 6 rejoin 1 >/dev/null
	mc b join 6 239.2.1.11 tclass=8 >/dev/null
	like "broadcast SL: the member joins" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
	is "broadcast SL: the group has the SL of the broadcast group" 0x0 "$(record $mgid SL)"
	knob ports/1/cable 0
	check "broadcast SL: the group ends with the lost membership" within 30 no_group $mgid
	# without QoS OpenSM has no SL for a partition
	echo "qos TRUE" >>"$fabric_run/opensm.conf"
	check "broadcast SL: an SM with another SL starts" partitions "Default=0x7fff,ipoib,sl=2:ALL=full;"
	# the member cannot rejoin with the attributes of its request until IPoIB knows the SL
	start d 2 ours
	mc d join 0 239.2.1.11 tclass=9 >/dev/null
	like "broadcast SL: another port creates the group" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined d)"
	knob ports/1/cable 1
	check "broadcast SL: IPoIB works again" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	is "broadcast SL: the member does not join another group" none "$(mc b event 2000)"
	mc d leave 0 239.2.1.11 >/dev/null
	check "broadcast SL: the member rejoins when that group has ended" again b
	is "broadcast SL: the new group has the new SL" 0x2 "$(record $mgid SL)"
	mc_stop d
	mc b destroy 6 >/dev/null
fi

# part "no SM: "
echo "# no SM"
sm stop
for i in 0 1; do
	n=a
	[ $i = 0 ] || n=b
	mc $n id 4 udp 10.78.0.$((i + 1)) >/dev/null
	mc $n join 4 239.2.1.7 >/dev/null
	is "no SM: the join of $n is an error" "MULTICAST_ERROR id=4 status=-11" "$(joined $n)"
	mc $n leave 4 239.2.1.7 >/dev/null
	mc $n option 4 rejoin 1 >/dev/null
	mc $n join 4 239.2.1.7 >/dev/null
	is "no SM: $n with MCAST_REJOIN waits" none "$(mc $n event 2000)"
done
mc l option 0 rejoin 1 >/dev/null
mc l join 0 239.2.1.10 sendnon >/dev/null
is "no SM: a join that an SM would refuse waits" none "$(mc l event 2000)"
sm start
for n in a b; do
	like "no SM: $n joins when an SM starts" "MULTICAST_JOIN id=4 status=0 *" "$(joined $n)"
	mc $n destroy 4 >/dev/null
done
check "no SM: the group ends with its members" within 10 no_group ff12:4001:ffff::f02:107
is "no SM: a join that the new SM refuses is an error" "MULTICAST_ERROR id=0 status=-22" "$(joined l)"

# part "no broadcast group: "
echo "# no broadcast group"
check "no broadcast group: an SM without partitions for IPoIB starts" partitions "Default=0x7fff:ALL=full;"
# the SA answers when the SM is ready
check "no broadcast group: the SA has none" within 20 no_group ff12:401b:ffff::ffff:ffff
# the ports have registered again when the SM has refused the joins of IPoIB; until then it may refuse others as well
within 20 awk '/Entering MASTER/ { n = 0 } /ERR 1B11.*ff12:401b/ { n++ } END { exit n < 3 }' "$fabric_run/sm0/log"
for n in a b stock; do mc $n destroy 0 >/dev/null; done
mc a id 0 udp 10.78.0.1 >/dev/null; mc a qp 0 >/dev/null
mc b id 0 udp 10.78.0.2 >/dev/null; mc b qp 0 >/dev/null
mc stock id 0 udp 10.78.0.2 >/dev/null
for n in a b; do
	mc $n join 0 239.2.1.4 >/dev/null
	like "no broadcast group: $n joins" "MULTICAST_JOIN*status=0 mgid=ff12:4001:ffff::f02:104 *" "$(joined $n)"
done
check "no broadcast group: a datagram arrives" flows a 0 b 0
is "no broadcast group: the in-tree stack refuses a join" "-1 EADDRNOTAVAIL" "$(mc stock join 0 239.2.1.4)"
mc a id 1 ipoib 10.78.0.1 >/dev/null
is "no broadcast group: a join with IPoIB's port space is refused" "-1 EADDRNOTAVAIL" "$(mc a join 1 239.2.1.5)"
# all parts
the_end
