#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sa_mcast: multicast on InfiniBand: requests to the SA, forwarding in the switch, and received datagrams
# kernels: 6.1 7 uml
# check: uml
# timeout: 900
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/mcast/guest.sh"
fabric up 3 || exit
load_cmx || exit
# ib_ipoib joins its own groups, which a case that counts the joins must not see
sleep 2
left_mft() { ! mft "$1" | grep -qw "$2"; }
mcast_out() { switch_port "$1" mcast-out; }

echo "# a group of each kind, and datagrams"
mc_start a 0 ours
mc_start b 1 ours
mc_start c 2 ours

# pair KIND PS GROUP MGID: two members, and a port without a member
pair() {
	local kind=$1 ps=$2 group=$3 mgid=$4 ev mlid before ports
	may_match "$kind: " || return
	is "$kind: a is bound" 0 "$(mc a id 0 "$ps" "$(addr 0 "$ps")")"
	is "$kind: b is bound" 0 "$(mc b id 0 "$ps" "$(addr 1 "$ps")")"
	check "$kind: the SA does not know the group" no_group "$mgid"
	mc a qp 0 >/dev/null; mc b qp 0 >/dev/null
	mc a join 0 "$group" >/dev/null
	ev=$(joined a)
	like "$kind: a member joins" "MULTICAST_JOIN id=0 status=0 mgid=$mgid mlid=0xc*qpn=0xffffff*" "$ev"
	[[ $ev = MULTICAST_JOIN* ]] || return
	mlid=$(sed 's/.*mlid=\([^ ]*\).*/\1/' <<<"$ev")
	mc b join 0 "$group" >/dev/null
	like "$kind: a second member joins" "*status=0*mlid=$mlid *" "$(joined b)"
	is "$kind: the SA has the group" "$mgid $mlid" "$(groups | grep "^$mgid ")"
	before=$(mcast_out 2)
	check "$kind: a datagram arrives" flows a 0 b 0
	check "$kind: a datagram arrives the other way" flows b 0 a 0
	for _ in {1..10}; do mc a send 0 more >/dev/null; done
	# IPoIB sends datagrams of its own now and then
	check "$kind: no datagram arrives at a port without a member" test $(($(mcast_out 2) - before)) -lt 10
	ports=$(mft "$mlid")
	is "$kind: the switch's MFT has the two ports" "1 2" "$ports"
	mc a leave 0 "$group" >/dev/null
	check "$kind: the MFT loses the port of a member that leaves" within 10 left_mft "$mlid" 1
	mc b leave 0 "$group" >/dev/null
	check "$kind: the SA forgets a group that all have left" within 10 no_group "$mgid"
	mc a destroy 0 >/dev/null; mc b destroy 0 >/dev/null
}

# part "UDP IPv" "IPoIB" "AF_IB: "
pair "UDP IPv4" udp 239.1.2.3 ff12:4001:ffff::f01:203
pair "UDP IPv6" udp ff15::77 ff12:6001:ffff::77
pair "IPoIB" ipoib 239.1.2.4 ff12:401b:ffff::f01:204
pair "IPoIB IPv6" ipoib ff15::78 ff12:601b:ffff::78
pair "AF_IB" ib ib:ff12:1234::77 ff12:1234::77

# part "chosen MGID: "
echo "# the SA chooses the MGID"
mc a id 0 udp 10.78.0.1 >/dev/null; mc a qp 0 >/dev/null
mc b id 0 udp 10.78.0.2 >/dev/null; mc b qp 0 >/dev/null
mc a join 0 0.0.0.0 >/dev/null
ev=$(joined a)
like "chosen MGID: the SA chooses an MGID" "MULTICAST_JOIN id=0 status=0 mgid=ff1?:a01b:*" "$ev"
mgid=$(sed 's/.*mgid=\([^ ]*\).*/\1/' <<<"$ev")
check "chosen MGID: the SA has the group" group_is "$mgid"
mc b join 0 "$mgid" >/dev/null
like "chosen MGID: another member joins" "*status=0 mgid=$mgid *" "$(joined b)"
check "chosen MGID: a datagram arrives" flows a 0 b 0
mc a destroy 0 >/dev/null; mc b destroy 0 >/dev/null
check "chosen MGID: the group ends with its members" within 10 no_group "$mgid"

# part "several addresses: "
echo "# an id with a QP joins one group by several addresses, and by one of them twice"
mc a id 0 udp 10.78.0.1 >/dev/null; mc a qp 0 >/dev/null
mc b id 0 udp 10.78.0.2 >/dev/null; mc b qp 0 >/dev/null
mgid=ff12:6001:ffff::99
n=0
for group in ff15::99 ff1e::99 ff15:1::99 ff15::99; do
	n=$((n + 1))
	mc b join 0 $group >/dev/null
	like "several addresses: join $n, $group" "MULTICAST_JOIN*status=0 mgid=$mgid *" "$(joined b)"
done
mc a join 0 ff15::99 send >/dev/null
joined a >/dev/null
for group in ff15::99 ff1e::99 ff15:1::99; do
	check "several addresses: a datagram arrives before the leave of $group" flows a 0 b 0
	mc b leave 0 $group >/dev/null
done
check "several addresses: a datagram arrives by the last join" flows a 0 b 0
mc b leave 0 ff15::99 >/dev/null
mc a send 0 hello1 >/dev/null
is "several addresses: no datagram arrives after the last leave" none "$(mc b recv 0 500)"
mc a destroy 0 >/dev/null; mc b destroy 0 >/dev/null

# part "many ids: "
echo "# many ids, one membership"
mgid=ff12:4001:ffff::f01:205
mc_start a2 0 ours
knob mad/count 0
for n in 0 1 2 3 4 5 6 7; do
	mc a id $n udp 10.78.0.1 >/dev/null
	mc a join $n 239.1.2.5 >/dev/null
	like "many ids: id $n joins" "MULTICAST_JOIN id=$n status=0 *" "$(joined a)"
done
mc a2 id 0 udp 10.78.0.1 >/dev/null
mc a2 join 0 239.1.2.5 >/dev/null
like "many ids: an id of another process joins" "MULTICAST_JOIN id=0 status=0 *" "$(joined a2)"
is "many ids: one join is sent to the SA" 1 "$(joins)"
for n in 0 1 2 3 4 5 6; do mc a leave $n 239.1.2.5 >/dev/null; done
mc a2 leave 0 239.1.2.5 >/dev/null
sleep 1
is "many ids: no leave is sent while a member is left" 0 "$(leaves)"
check "many ids: the SA has the group while a member is left" group_is $mgid
mc a leave 7 239.1.2.5 >/dev/null
check "many ids: the group ends with the last member" within 10 no_group $mgid
is "many ids: one leave is sent to the SA" 1 "$(leaves)"
for n in 0 1 2 3 4 5 6 7; do mc a destroy $n >/dev/null; done
mc_stop a2

# part "join states: "
echo "# join states"
mgid=ff12:4001:ffff::f01:206
i=0
for n in a b c; do
	mc $n id 0 udp 10.78.0.$((++i)) >/dev/null
	mc $n qp 0 >/dev/null
done
mc c join 0 239.1.2.6 non >/dev/null
like "join states: a non-member creates no group" "MULTICAST_ERROR id=0 status=-22*" "$(joined c)"
mc c leave 0 239.1.2.6 >/dev/null
mc a join 0 239.1.2.6 send >/dev/null
like "join states: a send-only member joins" "MULTICAST_JOIN id=0 status=0 mgid=$mgid *" "$(joined a)"
is "join states: the SA has the send-only member" 0x8 "$(record $mgid JoinState)"
mlid=$(groups | awk -v g=$mgid '$1 == g { print $2 }')
is "join states: the MFT has no port of a send-only member" "" "$(mft "$mlid")"
mc b join 0 239.1.2.6 >/dev/null
joined b >/dev/null
mc c join 0 239.1.2.6 non >/dev/null
like "join states: a non-member joins an existing group" "MULTICAST_JOIN id=0 status=0 mgid=$mgid *" "$(joined c)"
check "join states: a full member receives from a send-only member" flows a 0 b 0
check "join states: a non-member receives from a send-only member" flows a 0 c 0
mc b send 0 hello1 >/dev/null
is "join states: a send-only member receives nothing" none "$(mc a recv 0 500)"
mc b leave 0 239.1.2.6 >/dev/null
check "join states: the group stays while a send-only member is left" group_is $mgid
for n in a b c; do mc $n destroy 0 >/dev/null; done
check "join states: the group ends with the send-only member" within 10 no_group $mgid

# part "attributes: "
echo "# attributes of a join"
mgid=ff15:4001:ffff::f01:207
mc a id 0 udp 10.78.0.1 >/dev/null
mc a join 0 239.1.2.7 qkey=0x12345 mtu=3 rate=2 sl=3 flow=0x54321 tclass=72 hop=9 scope=5 >/dev/null
like "attributes: the event has those of the join" \
	"*status=0 mgid=$mgid *qkey=0x12345 *sl=3 rate=2 flow=0x54321 tclass=72 hop=9" "$(joined a)"
for want in mtu:0x83 rate:0x82 SL:0x3 FlowLabel:0x54321 TClass:0x48 HopLimit:0x9 qkey:0x12345 \
	Scope:0x5; do
	is "attributes: the SA has ${want%:*}" "${want#*:}" "$(record $mgid "${want%:*}")"
done
mc b id 0 udp 10.78.0.2 >/dev/null
mc b join 0 239.1.2.7 scope=5 >/dev/null
like "attributes: a join with other values is refused" "MULTICAST_ERROR id=0 status=-22*" "$(joined b)"
mc b leave 0 239.1.2.7 >/dev/null
mc b join 0 239.1.2.7 scope=5 non >/dev/null
like "attributes: a non-member's join without values is accepted" "MULTICAST_JOIN id=0 status=0 *qkey=0x12345*" "$(joined b)"
for n in a b; do mc $n destroy 0 >/dev/null; done

# part "refused: " "left after a refusal: "
echo "# refusals"
refused() { # WHAT ATTRIBUTE...
	local what=$1
	shift
	mc a id 0 udp 10.78.0.1 >/dev/null
	mc a join 0 239.1.2.8 "$@" >/dev/null
	is "refused: $what" "MULTICAST_ERROR id=0 status=-22" "$(joined a)"
	is "left after a refusal: $what" 0 "$(mc a leave 0 239.1.2.8)"
	mc a destroy 0 >/dev/null
}
refused "a P_Key of which the port is no member" pkey=0x9234
refused "a rate that no port has" rate=18
mc b id 0 udp 10.78.0.2 >/dev/null
mc b join 0 239.1.2.8 mtu=3 >/dev/null; joined b >/dev/null
refused "another MTU than the group's" mtu=4
mc b destroy 0 >/dev/null
mc a id 0 udp 10.78.0.1 >/dev/null
mc a join 0 239.1.2.9 >/dev/null; joined a >/dev/null
mc a join 0 239.1.2.10 qkey=0x4711 >/dev/null
is "refused: another Q_Key than the id's" "MULTICAST_ERROR id=0 status=-22" "$(joined a)"
check "refused: another Q_Key creates no group" no_group ff12:4001:ffff::f01:20a
is "refused: a unicast address" "-1 EINVAL" "$(mc a join 0 10.78.0.1)"
mc a destroy 0 >/dev/null

# part "silent SA: "
echo "# nobody answers"
knob mad/class 3
knob mad/drop 1
mc a id 0 udp 10.78.0.1 >/dev/null
mc a join 0 239.1.2.11 >/dev/null
is "silent SA: the join times out" "MULTICAST_ERROR id=0 status=-110" "$(joined a)"
mc a leave 0 239.1.2.11 >/dev/null
mc a join 0 239.1.2.12 >/dev/null
start=$(date +%s%N)
mc a leave 0 239.1.2.12 >/dev/null
mc a join 0 239.1.2.13 >/dev/null
mc a destroy 0 >/dev/null
is "silent SA: leave and destroy do not wait" 0 $((($(date +%s%N) - start) / (3000000000 * slow)))
knob mad/drop 0
knob mad/class 0

# part "OpenSM killed and started again: " "the ports down and up: " "the cables pulled: " "other LIDs: " "another SM takes over: "
echo "# rejoining"
# rdmavt has one MLID for an MGID: a member without MCAST_REJOIN keeps others of its port from a new MLID
mc_start plain 2 ours
mc_start stock 2 stock
for n in a b plain stock; do
	case $n in a) i=0;; b) i=1;; *) i=2;; esac
	mc $n id 0 udp 10.78.0.$((i + 1)) >/dev/null
	mc $n qp 0 >/dev/null
done
mc a option 0 rejoin 1 >/dev/null
mc b option 0 rejoin 1 >/dev/null

join_sent() { [ "$(mc "$1" join 0 239.1.2.14)" = 0 ]; }
# heals NAMES WHAT COMMAND...: two members have MCAST_REJOIN, and two do not. The command ends the memberships
# of NAMES, which are members with MCAST_REJOIN.
heals() {
	local names=$1 what=$2 n
	may_match "$what: " || return
	shift 2
	for n in a b plain stock; do
		# the in-tree stack refuses a join until IPoIB is back in the broadcast group
		within $([ $n = stock ] && echo 30 || echo 0) join_sent $n
		like "$what: $n joins" "MULTICAST_JOIN*status=0 *" "$(joined $n)"
	done
	check "$what: a datagram arrives" flows a 0 b 0
	check "$what: the outage is over" "$@"
	for n in $names; do check "$what: $n rejoins" again "$n"; done
	is "$what: a member without MCAST_REJOIN gets an error" "MULTICAST_ERROR id=0 status=-102" "$(joined plain)"
	is "$what: a member on the in-tree stack gets an error" "MULTICAST_ERROR id=0 status=-102" "$(joined stock)"
	sleep 1
	drain a; drain b
	check "$what: a rejoined member receives datagrams" flows a 0 b 0
	check "$what: a rejoined member sends datagrams" flows b 0 a 0
	for n in a b plain stock; do
		drain $n
		mc $n leave 0 239.1.2.14 >/dev/null
	done
	check "$what: the group ends with its members" within 10 no_group ff12:4001:ffff::f01:20e
}

sm_restart() { sm kill && sleep 1 && sm start; }
# knobs NAME VALUE: of the ports of b and of the members without MCAST_REJOIN
knobs() { knob "ports/1/$1" "$2" && knob "ports/2/$1" "$2"; }
# An SM that misses the outage keeps the members of HCA 2, which neither join again nor leave.
bounce() {
	knobs "$1" 0 && within 30 no_member_of 1 2 && knobs "$1" 1 && within 30 ports_are ACTIVE
}
takeover() {
	printf 'sminfo_polling_timeout 500\npolling_retry_number 2\n' >"$fabric_run/conf"
	sm start 2 -F "$fabric_run/conf" && sleep 3 && sm kill 0 &&
		within 30 eval "sminfo | grep -q 'sm lid $(vib_lid 2) '"
}

heals "a b" "OpenSM killed and started again" sm_restart
heals "b" "the ports down and up" bounce up
heals "b" "the cables pulled" bounce cable
heals "a b" "other LIDs" other_lids 32
heals "a b" "another SM takes over" takeover
# with two SMs, the one that starts would take over later, and the members would be lost again
one_sm() { sm kill 2 && sm start && within 30 eval "sminfo | grep -q 'sm lid $(vib_lid 0) '"; }
! may_match "another SM takes over: " || check "another SM takes over: a single SM is left" one_sm
for n in a b plain stock; do mc $n destroy 0 >/dev/null; done
for n in plain stock; do mc_stop $n; done
# all parts
for n in a b c; do mc_stop $n; done

# part "2 processes: " "4 processes: "
echo "# processes of one port, and other MLIDs"
# all processes fetch events at the same time, because that lets the others attach
rejoined() { # NAME...: the number of rejoined memberships of each process, of 20
	local n pids=()
	for n; do
		for _ in {1..20}; do mc "$n" event 60000; done >"/tmp/mc.$n/back" &
		pids+=($!)
	done
	wait "${pids[@]}"
	for n; do grep -c '^MULTICAST_JOIN.*status=0 ' "/tmp/mc.$n/back"; done
}
mlids() { groups | grep '^ff12:4001:ffff::f01:4[0-9a-f]* ' | sort; }
one_port() { # NAME...
	local n before
	may_match "$# processes: " || return
	for n; do
		mc_start "$n" 1 ours
		mc "$n" id 0 udp 10.78.0.2 >/dev/null; mc "$n" qp 0 >/dev/null
		mc "$n" option 0 rejoin 1 >/dev/null
		is "$# processes: $n joins" "20 of 20, status 0" "$(mc "$n" many 0 239.1.4.1 20)"
	done
	before=$(mlids)
	check "$# processes: OpenSM is killed" sm kill
	check "$# processes: OpenSM is started again" sm start
	is "$# processes: all memberships are rejoined" "$(for n; do echo 20; done)" "$(rejoined "$@")"
	check "$# processes: the groups have other MLIDs" test "$before" != "$(mlids)"
	mc_start from 0 ours
	mc from id 0 udp 10.78.0.1 >/dev/null; mc from qp 0 >/dev/null
	for group in 239.1.4.1 239.1.4.20; do
		mc from join 0 $group send >/dev/null
		joined from >/dev/null
		for n; do check "$# processes: $n receives from $group" flows from 0 "$n" 0; done
		for n; do while [ "$(mc "$n" recv 0 50)" != none ]; do :; done; done
	done
	for n in from "$@"; do mc_stop "$n"; done
	check "$# processes: the groups end with their members" within 20 no_group ff12:4001:ffff::f01:401
}
one_port p1 p2
one_port p1 p2 p3 p4
# all parts
check "the module unloads" unload_cmx
check "the fabric goes down" fabric down

# part "full switch: " "two LIDs" "the module unloads after the full switch" "the fabric of the full switch"
echo "# a switch with little room for groups"
fabric up 3 mlids=32 || { not_ok "full switch: the fabric comes up"; finish; }
load_cmx
for n in a b c; do
	case $n in a) i=0;; b) i=1;; *) i=2;; esac
	mc_start $n $i ours
done
mc_start stock 1 stock
mc a id 0 udp 10.78.0.1 >/dev/null
like "full switch: some of 40 joins are refused" "[1-9]* of 40, status -22" "$(mc a many 0 239.1.3.1 40)"
is "full switch: all 32 MLIDs are used" 32 "$(groups | awk '!seen[$2]++' | wc -l)"
for n in b stock; do
	mc $n id 0 udp 10.78.0.2 >/dev/null
	mc $n join 0 239.1.2.16 >/dev/null
	is "full switch: one more group of $n is refused" "MULTICAST_ERROR id=0 status=-22" "$(joined $n)"
	mc $n leave 0 239.1.2.16 >/dev/null
done
check "full switch: a refused group is not created" no_group ff12:4001:ffff::f01:210
mc b join 0 239.1.3.1 >/dev/null
like "full switch: an existing group is joined" "MULTICAST_JOIN id=0 status=0 *" "$(joined b)"
mc b leave 0 239.1.3.1 >/dev/null
mc a destroy 0 >/dev/null
check "full switch: the groups end with their member" within 20 no_group ff12:4001:ffff::f01:301
mc b join 0 239.1.2.16 >/dev/null
like "full switch: a group is joined when others have ended" "MULTICAST_JOIN id=0 status=0 *" "$(joined b)"
mc b destroy 0 >/dev/null
mc stock destroy 0 >/dev/null
mc_stop stock

echo "# two LIDs for each port"
ipoib_is_back() { group_is ff12:401b:ffff::ffff:ffff; }
sm stop
sm start 0 -l 1
check "two LIDs: each port has two LIDs" within 30 eval 'two_lids 0 && two_lids 1 && two_lids 2'
check "two LIDs: IPoIB is in its broadcast group again" within 30 ipoib_is_back
pair "two LIDs" udp 239.1.2.17 ff12:4001:ffff::f01:211
for n in a b c; do mc_stop $n; done
check "the module unloads after the full switch" unload_cmx
check "the fabric of the full switch goes down" fabric down
# all parts
finish
