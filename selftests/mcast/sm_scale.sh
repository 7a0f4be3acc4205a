#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sm_scale: the SM is killed while many HCAs are members of many groups, and another SM takes over
# kernels: default
# timeout: 900
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/mcast/guest.sh"
. "$tests/lab/bench/scale.sh"
hcas=16 groups=20 members=4
all=$((hcas * groups))
scale_net $hcas >/tmp/scale.net
fabric up -t /tmp/scale.net >/dev/null || exit
scale_ipv4
load_cmx || exit
tmp=$(mktemp -d)

# records ours|others: the number of records that the SA has of members of our groups, or of other groups
records() {
	saquery -C "vib$(sm_master)" --smkey 1 MCMR | awk -v ours="${1:-}" '
		/MGID\./ { here = /f09:/ ? "ours" : "others" }
		/PortGid\./ { n[here]++ }
		END { print n[ours] + 0 }'
}
records_are() { [ "$(records ours)" = "$1" ]; }
seen() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/seen"; }
# run COMMAND: a command of the program; value NAME: a result of the last run. The log has the results and the
# counters of the SA in the format that bench/table reads.
run() { scale "$1" >"$tmp/result" && tell "$tmp/result"; }
tell() { sed "s/^/$stack scale_${stage}_/" "$1"; }
value() { awk -v name="$1" '$1 == name { print $2 + 0 }' "$tmp/result"; }
at_most() { [ "$1" -le "$2" ]; }

# all_back WHAT: after the SM was killed
all_back() {
	local open
	run back
	is "$1: all members rejoin" $all "$(value members)"
	is "$1: the program gets no error" 0 "$(value errors)"
	run flow
	is "$1: a datagram reaches each member" $((all - hcas / members * groups)) "$(value flows)"
	check "$1: the SA has all members" within 20 records_are $all
	sa_seen >"$tmp/seen"
	tell "$tmp/seen"
	open=$(seen open)
	# IPoIB has no limit
	check "$1: at most 8 requests of a port at the same time" at_most "$open" $((8 + ipoib))
	check "$1: at most the requests that multicast.rst allows" at_most "$(seen requests)" \
		$(($(seen replies) + hcas * open * (300 + $(seen span_ms)) / 300))
}

echo "# many more ports: a model of them, with the queue of the module"
sa=$tests/lab/model/sa
check "model: 5 ports for 10 requests a second of the SA" "$sa" 2000 50 4000
each() { "$sa" 2000 50 4000 | sed 's/.* \([0-9]*\)\.[0-9]* requests each.*/\1/'; }
check "model: less than two requests for each group" at_most "$(each)" 1
check_not "model: 8 requests in progress regardless of replies overload the SA" "$sa" 200 20 800 -8

echo "# joining"
stack=ours stage=join
ipoib=$((($(records others) + hcas - 1) / hcas))
scale_start ours $hcas $groups $members
sa_watch
run join
is "join: all members join" $all "$(value members)"
run flow
is "join: a datagram reaches each member" $((all - hcas / members * groups)) "$(value flows)"
sa_seen >"$tmp/seen"
tell "$tmp/seen"
check "join: at most 8 requests of a port at the same time" at_most "$(seen open)" $((8 + ipoib))
check "join: the SA has all members" records_are $all

echo "# the SM is killed"
stage=back
check "killed: another SM is ready" sm_next
run mark
sa_watch
check "killed: another SM takes over" takeover
all_back "killed"
check "killed: at most two requests for each member" at_most "$(seen requests)" $(((all + ipoib * hcas) * 2))

echo "# two SMs are killed, one after the other"
stage=twice
check "twice: a second SM is ready" sm_next
check "twice: a third SM is ready" sm start $(($(sm_master) + 2))
run mark
sa_watch
check "twice: the second SM takes over" takeover
check "twice: the third SM takes over" takeover
all_back "twice"

echo "# a slow SM"
stage=slow
check "slow: another SM is ready" sm_next
run mark
knob mad/class 3
knob mad/pace 8
sa_watch
check "slow: another SM takes over" takeover
all_back "slow"
check "slow: at most a third of the requests is repeated" at_most "$(seen again)" $(($(seen requests) / 3))
knob mad/pace 0

echo "# connections from all to all"
pairs=$((hcas * (hcas - 1)))
queries() { mads 0x03 "" 0x0035; }
seconds=/sys/module/rdma_cmx/parameters/path_cache_seconds
stage=first
run connect
is "connections: all are made" $pairs "$(value connected)"
stage=second
knob mad/count 0
run connect
is "connections: all are made again" $pairs "$(value connected)"
check "connections: the second time has paths from the cache" at_most "$(queries)" $((pairs / 10))
stage=uncached
echo 0 >$seconds
knob mad/count 0
run connect
is "connections: all are made with the cache off" $pairs "$(value connected)"
check "connections: each has a query and a reply with the cache off" at_most $((pairs * 2)) "$(queries)"
scale_stop
check "the module unloads" unload_cmx

echo "# the in-tree stack"
stack=stock stage=join
scale_start stock $hcas $groups $members
run join
check "in-tree: another SM is ready" sm_next
stage=back
run mark
sa_watch
check "in-tree: another SM takes over" takeover
run back
is "in-tree: all members are back" $all "$(value members)"
check "in-tree: the program has to join again" at_most $all "$(value errors)"
run flow
sa_seen >"$tmp/seen"
tell "$tmp/seen"
check "in-tree: a port has more than 8 requests at the same time" at_most $((8 + ipoib)) "$(seen open)"
stage=first
run connect
stage=second
run connect
scale_stop
for i in $(seq 0 "$(sm_master)"); do sm stop "$i"; done
check "the fabric goes down" fabric down
finish
