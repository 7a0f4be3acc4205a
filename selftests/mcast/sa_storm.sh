#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sa_storm: multicast on InfiniBand: many joins and leaves at once, a slow SA and a silent one
# kernels: release debug
# check: default
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/mcast/guest.sh"
fabric up 3 >/dev/null || exit
load_cmx || exit
# the first groups of a storm are 239.1.6.x and 239.1.7.x
storm=300
none_left() { no_group 'ff12:4001:ffff::f01:[67]..'; }
at_least() { [ "$("$1")" -ge "$2" ]; }
# the SA takes so many milliseconds for each request; all MADs for it get lost
pace() { knob mad/class 3; knob mad/pace "$1"; }
silence() { knob mad/class 3; knob mad/drop "$1"; }
ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
# as mc, but the answer is for later
mc_ask() { local name=$1; shift; echo "$*" >&"${mc_in[$name]}"; }
mc_answer() { local answer; read -r -t 90 answer <&"${mc_out[$1]}" || answer="no answer"; echo "$answer"; }
start() { # NAME HCA: with an id
	mc_start "$1" "$2" ours
	mc "$1" id 0 udp "10.78.0.$(($2 + 1))" >/dev/null
}

echo "# many joins, then many leaves, and a slow SA"
start a 0
knob mad/count 0
pace 20
is "all are joined" "$storm of $storm, status 0" "$(mc a many 0 239.1.6.1 $storm)"
check "with few MADs" test "$(joins)" -le $((storm + storm / 2))
begin=$(ms)
mc a destroy 0 >/dev/null
check "destroying does not wait for the SA" test $(($(ms) - begin)) -lt $((2000 * slow))
check "the SA is told of all" within 60 at_least leaves $storm
pace 0
check "and has none of them" within 20 none_left
check "with few MADs, too" test "$(leaves)" -le $((storm + storm / 2))
mc_stop a

echo "# users take turns"
mc_as=65534 start hog 0
start a 0
knob mad/count 0
pace 20
mc_ask hog many 0 239.1.6.1 $storm
check "somebody joins many groups" within 20 at_least joins 20
before=$(joins)
mc a join 0 239.1.9.1 >/dev/null
like "another user joins one" "MULTICAST_JOIN*status=0 *" "$(joined a)"
check "after a few of the other's" test $(($(joins) - before)) -le 40
mc a destroy 0 >/dev/null
pkill -KILL -u 65534 -x mc
wait "${mc_pid[hog]}" 2>/dev/null
pace 0
check "the SA keeps none of somebody who was killed" within 60 none_left
check "and was not asked for what waited" test "$(joins)" -le $((storm / 2))
mc_stop a

echo "# leaves of a user count until they have ended"
limit=/sys/module/rdma_cmx/parameters/max_user_ids
mc_as=65533 start u 0
echo 2 >$limit
mc u join 0 239.1.5.2 >/dev/null
like "a user joins" "MULTICAST_JOIN id=0 status=0 *" "$(joined u)"
silence 1
mc u leave 0 239.1.5.2 >/dev/null
is "but not again while the leave waits for a silent SA" "-1 EMFILE" "$(mc u join 0 239.1.5.3)"
silence 0
can_join() { [ "$(mc u join 0 239.1.5.3)" = 0 ]; }
check "and again when it has ended" within 20 can_join
echo 65536 >$limit
mc_stop u

echo "# an SA that is silent for one join"
start a 0
mc_as=65533 start u 0
check "nothing is in progress" within 20 no_group 'ff12:4001:ffff::f01:5..'
# ib_sa is polled for the end of the last leave
sleep 1
silence 1
knob mad/count 0
mc_ask a many 0 239.1.6.1 40
check "one join is sent, the others wait" within 20 at_least joins 1
mc u join 0 239.1.7.1 >/dev/null
check "it times out, and the next one is sent" within 20 at_least joins 2
silence 0
is "no other one has failed" "39 of 40, status -110" "$(mc_answer a)"
like "none of another user either" "MULTICAST_JOIN id=0 status=0 *" "$(joined u)"
mc_stop u
mc_stop a
check "left: it has none of them" within 20 none_left

echo "# a silent SA"
start a 0
start e 0
mc e join 0 239.1.5.1 >/dev/null
like "a group before that" "MULTICAST_JOIN id=0 status=0 *" "$(joined e)"
mc e id 1 udp 10.78.0.1 >/dev/null
silence 1
begin=$(ms)
mc_ask a many 0 239.1.6.1 40
sleep 1
mc e join 1 239.1.5.1 >/dev/null
like "a join that needs no MAD does not wait" "MULTICAST_JOIN id=1 status=0 *" "$(joined e)"
is "all others time out" "0 of 40, status -110" "$(mc_answer a)"
check "at the same time" test $(($(ms) - begin)) -lt $((8000 * slow))
mc_stop e
mc a destroy 0 >/dev/null
mc a id 0 udp 10.78.0.1 >/dev/null
mc a option 0 rejoin 1 >/dev/null
mc_ask a many 0 239.1.6.101 40
sleep 5
silence 0
is "with MCAST_REJOIN they wait for the SA" "40 of 40, status 0" "$(mc_answer a)"
mc a destroy 0 >/dev/null
check "left: it has none of them" within 20 none_left

echo "# clients register again, and a program fetches no event"
mc a id 0 udp 10.78.0.1 >/dev/null
mc a option 0 rejoin 1 >/dev/null
is "all are joined once more" "$storm of $storm, status 0" "$(mc a many 0 239.1.6.1 $storm)"
rejoined() { stat_of vib0/1 groups_rejoined; }
before=$(rejoined)
for n in {1..10}; do
	knob ports/0/event 17
	within 60 at_least rejoined $((before + n * storm)) || break
done
is "they are joined again 10 times" $((before + 10 * storm)) "$(rejoined)"
told=0
told_all() { told=$((told + $(mc a count))); [ $told = $((2048 + storm)) ]; }
check "2,048 of these events wait, and then each group is reported as it is now" within 30 told_all
mc a destroy 0 >/dev/null
check "and left: it has none of them" within 20 none_left

echo "# a join whose answer is late"
mc a id 0 udp 10.78.0.1 >/dev/null
knob mad/class 3
knob mad/delay 4000
mc a join 0 239.1.6.1 >/dev/null
is "it times out" "MULTICAST_ERROR id=0 status=-110" "$(joined a)"
knob mad/delay 0
check "but the SA has it" within 20 group_is ff12:4001:ffff::f01:601
# until the last repetition has arrived
sleep 5
mc a leave 0 239.1.6.1 >/dev/null
check "left: it has not" within 20 no_group ff12:4001:ffff::f01:601
# the same, left before it times out
knob mad/delay 1000
mc a join 0 239.1.6.2 >/dev/null
mc a leave 0 239.1.6.2 >/dev/null
# a shorter delay would let the leave overtake a join
sleep 8
knob mad/delay 0
check "left before the answer: it has not" no_group ff12:4001:ffff::f01:602
mc_stop a

echo "# the end of a device and of the module"
start a 1
knob mad/count 0
pace 20
mc_ask a many 0 239.1.6.1 $storm
check "many joins wait" within 20 at_least joins 20
# ib_uverbs waits for who has the device open
echo 1 >/sys/kernel/debug/vib/remove &
remover=$!
sleep 1
pkill -KILL -x mc
begin=$(ms)
wait $remover
check "the device goes at once" test $(($(ms) - begin)) -lt $((5000 * slow))
pace 0
start a 0
is "joined" "$storm of $storm, status 0" "$(mc a many 0 239.1.6.1 $storm)"
silence 1
mc_stop a
begin=$(ms)
check "the module unloads while many leaves wait" unload_cmx
check "at once" test $(($(ms) - begin)) -lt $((2000 * slow))
silence 0
knob mad/class 0
check "the fabric goes" fabric down
finish
