#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sm_scale: the SM is killed while many HCAs are members of many groups, and another SM takes over
# kernels: release
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

# records that the SA has of members of our groups, and of others
records() {
	saquery -C "vib$(sm_master)" --smkey 1 MCMR | awk -v ours="${1:-}" '
		/MGID\./ { here = /f09:/ ? "ours" : "others" }
		/PortGid\./ { n[here]++ }
		END { print n[ours] + 0 }'
}
records_are() { [ "$(records ours)" = "$1" ]; }
seen() { awk -v name="$1" '$1 == name { print $2 }' "$tmp/seen"; }
# run COMMAND: of the program; value NAME: of the last run. What it prints, and what the SA saw, is in the log
# in the form that bench/table reads.
run() { scale "$1" >"$tmp/result" && tell "$tmp/result"; }
tell() { sed "s/^/$stack scale_${stage}_/" "$1"; }
value() { awk -v name="$1" '$1 == name { print $2 + 0 }' "$tmp/result"; }
at_most() { [ "$1" -le "$2" ]; }

# all_back WHAT: after the SM was killed
all_back() {
	local open
	run back
	is "$1: all members are back" $all "$(value members)"
	is "$1: without an error that the program saw" 0 "$(value errors)"
	run flow
	is "$1: a datagram reaches each of them" $((all - hcas / members * groups)) "$(value flows)"
	check "$1: the SA has them all" within 20 records_are $all
	sa_seen >"$tmp/seen"
	tell "$tmp/seen"
	open=$(seen open)
	# IPoIB has no limit
	check "$1: at most 8 requests of a port at the same time" at_most "$open" $((8 + ipoib))
	check "$1: no more requests than multicast.rst says" at_most "$(seen requests)" \
		$(($(seen replies) + hcas * open * (300 + $(seen span_ms)) / 300))
}

echo "# many more ports: a model of them, with the queue of the module"
sa=$tests/lab/model/sa
check "5 ports for each 10 requests that the SA serves in a second" "$sa" 2000 50 4000
each() { "$sa" 2000 50 4000 | sed 's/.* \([0-9]*\)\.[0-9]* requests each.*/\1/'; }
check "less than two requests for each group" at_most "$(each)" 1
check_not "with 8 in progress whatever the replies, that is too much for the SA" "$sa" 200 20 800 -8

echo "# joining"
stack=ours stage=join
ipoib=$((($(records others) + hcas - 1) / hcas))
scale_start ours $hcas $groups $members
sa_watch
run join
is "all are joined" $all "$(value members)"
run flow
is "a datagram reaches each of them" $((all - hcas / members * groups)) "$(value flows)"
sa_seen >"$tmp/seen"
tell "$tmp/seen"
check "at most 8 requests of a port at the same time" at_most "$(seen open)" $((8 + ipoib))
check "the SA has them all" records_are $all

echo "# the SM is killed"
stage=back
check "another is ready" sm_next
run mark
sa_watch
check "it takes over" takeover
all_back "killed"
check "killed: with few requests" at_most "$(seen requests)" $(((all + ipoib * hcas) * 2))

echo "# two of them, one after the other"
stage=twice
check "another is ready" sm_next
check "and one more" sm start $(($(sm_master) + 2))
run mark
sa_watch
check "the next one takes over" takeover
check "and the one after that" takeover
all_back "twice"

echo "# an SM that is slow"
stage=slow
check "another is ready" sm_next
run mark
knob mad/class 3
knob mad/pace 8
sa_watch
check "it takes over" takeover
all_back "slow"
check "slow: few requests are repeated" at_most "$(seen again)" $(($(seen requests) / 3))
knob mad/pace 0

echo "# connections from all to all"
pairs=$((hcas * (hcas - 1)))
queries() { mads 0x03 "" 0x0035; }
seconds=/sys/module/rdma_cmx/parameters/path_cache_seconds
stage=first
run connect
is "all are made" $pairs "$(value connected)"
stage=second
knob mad/count 0
run connect
is "made again" $pairs "$(value connected)"
check "with paths from the cache" at_most "$(queries)" $((pairs / 10))
stage=uncached
echo 0 >$seconds
knob mad/count 0
run connect
is "without a cache" $pairs "$(value connected)"
check "each with a query and its reply" at_most $((pairs * 2)) "$(queries)"
scale_stop
check "the module unloads" unload_cmx

echo "# the in-tree stack"
stack=stock stage=join
scale_start stock $hcas $groups $members
run join
check "another is ready" sm_next
stage=back
run mark
sa_watch
check "it takes over" takeover
run back
is "all members are back" $all "$(value members)"
check "but the program had to join again" at_most $all "$(value errors)"
run flow
sa_seen >"$tmp/seen"
tell "$tmp/seen"
check "with more requests of a port at the same time" at_most $((8 + ipoib)) "$(seen open)"
stage=first
run connect
stage=second
run connect
scale_stop
for i in $(seq 0 "$(sm_master)"); do sm stop "$i"; done
check "the fabric goes" fabric down
finish
