#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sa_storm: multicast on InfiniBand: many joins and leaves at once, a slow SA and a silent one
# kernels: 7 uml
# check: uml
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/mcast/guest.sh"
fabric up 3 >/dev/null || exit
load_cmx || exit
# the first groups of a storm are 239.1.6.x and 239.1.7.x
storm=300
none_left() { no_group 'ff12:4001:ffff::f01:[67]..'; }
at_least() { [ "$("$1")" -ge "$2" ]; }
# pace MS: the SA takes that long for each request. silence 1: all MADs for the SA are lost
pace() { knob mad/class 3; knob mad/pace "$1"; }
silence() { knob mad/class 3; knob mad/drop "$1"; }
ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
# mc_ask and mc_answer: the two halves of mc
mc_ask() { local name=$1; shift; echo "$*" >&"${mc_in[$name]}"; }
mc_answer() { local answer; read -r -t 90 answer <&"${mc_out[$1]}" || answer="no answer"; echo "$answer"; }
start() { # NAME HCA: with an id
	mc_start "$1" "$2" ours
	mc "$1" id 0 udp "10.78.0.$(($2 + 1))" >/dev/null
}

# part "slow SA: "
echo "# many joins, then many leaves, and a slow SA"
start a 0
knob mad/count 0
pace 20
is "slow SA: all joins succeed" "$storm of $storm, status 0" "$(mc a many 0 239.1.6.1 $storm)"
check "slow SA: few joins are repeated" test "$(joins)" -le $((storm + storm / 2))
begin=$(ms)
mc a destroy 0 >/dev/null
check "slow SA: destroy does not wait" test $(($(ms) - begin)) -lt $((2000 * slow))
check "slow SA: a leave is sent for each group" within 60 at_least leaves $storm
pace 0
check "slow SA: no group is left" within 20 none_left
check "slow SA: few leaves are repeated" test "$(leaves)" -le $((storm + storm / 2))
mc_stop a

# part "two users: " "killed user: "
echo "# fairness between users"
mc_as=65534 start hog 0
start a 0
knob mad/count 0
pace 20
mc_ask hog many 0 239.1.6.1 $storm
check "two users: the joins of one user wait" within 20 at_least joins 20
before=$(joins)
mc a join 0 239.1.9.1 >/dev/null
like "two users: the join of another user succeeds" "MULTICAST_JOIN*status=0 *" "$(joined a)"
check "two users: at most 40 joins are sent before that of another user" test $(($(joins) - before)) -le 40
mc a destroy 0 >/dev/null
pkill -KILL -u 65534 -x mc
wait "${mc_pid[hog]}" 2>/dev/null
pace 0
check "killed user: no group is left" within 60 none_left
check "killed user: waiting joins are not sent" test "$(joins)" -le $((storm / 2))
mc_stop a

# part "limit: " "one lost join: "
echo "# a leave counts as an id of its user until it has ended"
limit=/sys/module/rdma_cmx/parameters/max_user_ids
mc_as=65533 start u 0
echo 2 >$limit
mc u join 0 239.1.5.2 >/dev/null
like "limit: a user joins" "MULTICAST_JOIN id=0 status=0 *" "$(joined u)"
silence 1
mc u leave 0 239.1.5.2 >/dev/null
is "limit: a join fails while a leave waits for a silent SA" "-1 EMFILE" "$(mc u join 0 239.1.5.3)"
silence 0
can_join() { [ "$(mc u join 0 239.1.5.3)" = 0 ]; }
check "limit: a join succeeds when the leave has ended" within 20 can_join
echo 65536 >$limit
mc_stop u

# After the leave that the SA has not answered, one join is sent at first.
echo "# an SA that does not reply to one join"
start a 0
mc_as=65533 start u 0
check "one lost join: the group of the last leave is gone" within 20 no_group 'ff12:4001:ffff::f01:5..'
# ib_sa is polled for the end of the last leave
sleep 1
silence 1
knob mad/count 0
mc_ask a many 0 239.1.6.1 40
check "one lost join: one join is sent, and the others wait" within 20 at_least joins 1
mc u join 0 239.1.7.1 >/dev/null
check "one lost join: the next join is sent after the timeout" within 20 at_least joins 2
silence 0
is "one lost join: 39 joins succeed" "39 of 40, status -110" "$(mc_answer a)"
like "one lost join: the join of another user succeeds" "MULTICAST_JOIN id=0 status=0 *" "$(joined u)"
mc_stop u
mc_stop a
check "one lost join: no group is left" within 20 none_left

# part "silent SA: "
echo "# a silent SA"
start a 0
start e 0
mc e join 0 239.1.5.1 >/dev/null
like "silent SA: a join before the silence succeeds" "MULTICAST_JOIN id=0 status=0 *" "$(joined e)"
mc e id 1 udp 10.78.0.1 >/dev/null
silence 1
begin=$(ms)
mc_ask a many 0 239.1.6.1 40
sleep 1
mc e join 1 239.1.5.1 >/dev/null
like "silent SA: a join that needs no MAD succeeds" "MULTICAST_JOIN id=1 status=0 *" "$(joined e)"
is "silent SA: all other joins time out" "0 of 40, status -110" "$(mc_answer a)"
check "silent SA: the joins time out at the same time" test $(($(ms) - begin)) -lt $((8000 * slow))
mc_stop e
mc a destroy 0 >/dev/null
mc a id 0 udp 10.78.0.1 >/dev/null
mc a option 0 rejoin 1 >/dev/null
mc_ask a many 0 239.1.6.101 40
sleep 5
silence 0
is "silent SA: joins with MCAST_REJOIN wait for the SA" "40 of 40, status 0" "$(mc_answer a)"
mc_stop a
check "silent SA: no group is left" within 20 none_left

# part "reregistration: "
echo "# clients register again, and a program fetches no event"
start a 0
mc a option 0 rejoin 1 >/dev/null
is "reregistration: all joins succeed" "$storm of $storm, status 0" "$(mc a many 0 239.1.6.1 $storm)"
rejoined() { stat_of vib0/1 groups_rejoined; }
before=$(rejoined)
for n in {1..10}; do
	knob ports/0/event 17
	within 60 at_least rejoined $((before + n * storm)) || break
done
is "reregistration: all members rejoin 10 times" $((before + 10 * storm)) "$(rejoined)"
told=0
told_all() { told=$((told + $(mc a count))); [ $told = $((2048 + storm)) ]; }
check "reregistration: 2,048 events are queued, then one for each group" within 30 told_all
mc_stop a
check "reregistration: no group is left" within 20 none_left

# part "late reply: "
echo "# a join whose reply is late"
start a 0
knob mad/class 3
knob mad/delay 4000
mc a join 0 239.1.6.1 >/dev/null
is "late reply: the join times out" "MULTICAST_ERROR id=0 status=-110" "$(joined a)"
knob mad/delay 0
check "late reply: the SA has the group" within 20 group_is ff12:4001:ffff::f01:601
# until the last repetition has arrived
sleep 5
mc a leave 0 239.1.6.1 >/dev/null
check "late reply: a leave ends the group" within 20 no_group ff12:4001:ffff::f01:601
# the same, with a leave before the timeout
knob mad/delay 1000
mc a join 0 239.1.6.2 >/dev/null
mc a leave 0 239.1.6.2 >/dev/null
# a shorter delay would let the leave overtake a join
sleep 8
knob mad/delay 0
check "late reply: a leave before the reply ends the group" no_group ff12:4001:ffff::f01:602
mc_stop a

# part "removed device: " "unload: "
echo "# the end of a device and of the module"
start a 1
knob mad/count 0
pace 20
mc_ask a many 0 239.1.6.1 $storm
check "removed device: many joins wait" within 20 at_least joins 20
# ib_uverbs waits for the processes that have the device open
echo 1 >/sys/kernel/debug/vib/remove &
remover=$!
sleep 1
pkill -KILL -x mc
begin=$(ms)
wait $remover
check "removed device: the removal does not wait for the SA" test $(($(ms) - begin)) -lt $((5000 * slow))
pace 0
start a 0
is "unload: all joins succeed" "$storm of $storm, status 0" "$(mc a many 0 239.1.6.1 $storm)"
silence 1
mc_stop a
begin=$(ms)
check "unload: the module unloads while many leaves wait" unload_cmx
check "unload: the unload does not wait for the SA" test $(($(ms) - begin)) -lt $((2000 * slow))
silence 0
# all parts
knob mad/class 0
unload_cmx
check "the fabric goes down" fabric down
finish
