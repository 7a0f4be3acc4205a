#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ib: addresses, paths and connections on a software InfiniBand fabric under OpenSM
# kernels: release debug
# check: default
# timeout: 900
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
path=$tests/ib/path
acm=$tests/ib/acm
run=$(mktemp -d)
param=/sys/module/rdma_cmx/parameters
port=7500

fabric up >"$run/up" 2>&1 || { not_ok "fabric up" "$(tail -n 5 "$run/up")"; finish; }
load_cmx || { not_ok "the module"; finish; }

with() { # ours|stock COMMAND...
	local lib=
	[ "$1" = stock ] || lib=$cmx_lib
	shift
	exec env LD_LIBRARY_PATH="$lib" timeout -k 2 $((40 * slow)) "$@" </dev/null
}

listening() { # STACK SERVER-PID
	[ -e "/proc/$2" ] || return 0
	if [ "$1" = ours ]; then
		grep -q " listen " /sys/kernel/debug/rdma_cmx/ids
	else
		rdma resource show cm_id | grep -q LISTEN
	fi
}

# pair NAME PASSIVE-STACK ACTIVE-STACK SERVER -- CLIENT: the server at HCA 0, the client at HCA 1; or
# where $at says, words of the two
pair() {
	local name=$1 p=$2 a=$3 server=() pid s c pat=h0 aat=h1
	shift 3
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	[ -z "${at:-}" ] || read -r pat aat <<<"$at"
	(enter "$pat" "$p" "${server[@]}") >"$run/server" 2>&1 &
	pid=$!
	within 10 listening "$p" "$pid"
	[ "$p" = ours ] || sleep 0.5
	(enter "$aat" "$a" "$@") >"$run/client" 2>&1
	c=$?
	wait "$pid"
	s=$?
	if [ $c = 0 ] && [ $s = 0 ]; then
		ok "$name: $a to $p"
	else
		not_ok "$name: $a to $p" "client $c, server $s"
		tail -n 5 "$run/server" "$run/client" | note
	fi
}
enter() { # NAMESPACE STACK COMMAND...
	local ns=$1
	shift
	[ "$ns" = - ] && with "$@"
	with "$1" ip netns exec "$ns" "${@:2}"
}
said() { check "$1" grep -q -- "$2" "$run/$3"; }
three() { # NAME SERVER -- CLIENT: each stack on either side
	local name=$1
	shift
	pair "$name" ours ours "$@"
	pair "$name" ours stock "$@"
	pair "$name" stock ours "$@"
}

# MADs that ask for paths since "knob mad/count 0"
questions() { mads 0x03 0x01 0x0035; }
figure() {
	"$top/tools/cmx" show paths | awk -v d="vib$1" -v f="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == f) c = i } $1 == d { print $c }'
}

# the debug kernel is too slow for all cases
slow() { [ $slow != 1 ]; }
! slow || skip "what takes long" "deadlines times $slow"

# clients over IPoIB
three "rping, IPv4" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
# rping waits two seconds for the neighbour, and ib_ipoib joins the group of an address in its own time
within 20 on 1 ping -c 1 -W 1 fd78::1
three "rping, IPv6" rping -s -a fd78::1 -C 2 -- rping -c -a fd78::1 -C 2
three "rping, wildcard" rping -s -C 2 -- rping -c -a 10.78.0.1 -C 2
three "udaddy" udaddy -b 10.78.0.1 -- udaddy -s 10.78.0.1 -b 10.78.0.2
slow || three "udaddy, IPoIB's port space" udaddy -P ipoib -b 10.78.0.1 -- \
	udaddy -P ipoib -s 10.78.0.1 -b 10.78.0.2
three "ucmatose" ucmatose -b 10.78.0.1 -- ucmatose -s 10.78.0.1
at="h0 h0"
pair "rping, same port" ours ours rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
at=

option_rows() {
	(with ours ip netns exec h1 env API_ADDRESS=10.78.0.2 "$tests/api/api" \
		"option: each on the transports*")
}
check "each option on the transports that have it" option_rows

# the QP gets the values of the SA
pair "path from the SA" ours ours "$path" serve 10.78.0.1 7501 -- "$path" connect 10.78.0.1 7501
said "its P_Key" "pkey=0xffff" client
said "its LID in the QP" "dlid=$(vib_lid 0) " client
if ! slow; then
	qp=$(grep "^qp " "$run/client")
	pair "path from the SA" ours stock "$path" serve 10.78.0.1 7501 -- "$path" connect 10.78.0.1 7501
	is "the QP is what the in-tree stack makes of it" "$(grep "^qp " "$run/client")" "$qp"
fi
pair "path of the owner" ours ours "$path" serve 10.78.0.1 7502 -- "$path" given 10.78.0.1 7502
said "its MTU in the QP" "qp mtu=3 " client

# ECE in REQ and REP
for stacks in "ours ours" "ours stock" "stock ours"; do
	! slow || break
	read -r p a <<<"$stacks"
	port=$((port + 10))
	pair "ECE" "$p" "$a" "$path" -e serve 10.78.0.1 $port -- "$path" -e connect 10.78.0.1 $port
	said "the offer ($a to $p)" "ece vendor=0x15b3 options=0x30000001" server
	said "the answer ($p to $a)" "ece vendor=0x15b3 options=0x30000000" client
done

# a SIDR REQ has no offer, so no answer is sent; the in-tree stack sends one without a vendor
trace=/sys/kernel/tracing
rep() { grep -q "attr_id 0x0018 attr_mod 0x$1 " $trace/trace; }
ece_ud() { # PASSIVE-STACK ACTIVE-STACK OPTIONS
	echo >$trace/trace
	port=$((port + 10))
	pair "ECE, datagrams" "$1" "$2" "$path" -u -e serve 10.78.0.1 $port -- \
		"$path" -u connect 10.78.0.1 $port
	check "options $3 in the SIDR REP ($1 to $2)" rep "$3"
}
if ! slow; then
	echo 1 >$trace/events/ib_mad/ib_mad_recv_done_handler/enable
	ece_ud ours stock 00000000
	ece_ud stock ours 30000000
	echo 0 >$trace/events/ib_mad/ib_mad_recv_done_handler/enable
fi

# AF_IB: in the namespace of the devices
at="- -"
for stacks in "ours ours" "ours stock" "stock ours"; do
	read -r p a <<<"$stacks"
	port=$((port + 10))
	pair "AF_IB" "$p" "$a" "$path" serve "ib:$(vib_gid 0)" $port -- \
		"$path" connect "ib:$(vib_gid 0)" $port "ib:$(vib_gid 1)"
	said "private data whole ($a to $p)" "request hello from here" server
	said "peer's address ($a to $p)" "peer ib:fe80::.*/0xffff" server
	! slow || continue
	pair "AF_IB, datagrams" "$p" "$a" "$path" -u serve "ib:$(vib_gid 0)" $port -- \
		"$path" -u connect "ib:$(vib_gid 0)" $port "ib:$(vib_gid 1)"
	said "private data whole ($a to $p)" "request hello from here" server
	said "the GID that it is for ($a to $p)" "gid $(vib_guid 0)" server
	said "where to send ($a to $p)" "qpn=0x4711 qkey=0x1234567 dlid=$(vib_lid 0)$" client
done
# a listener of AF_IB takes the requests that the IP listeners of its port do not take
if ! slow; then
	both_listen() { [ "$(grep -c " listen " /sys/kernel/debug/rdma_cmx/ids)" = 2 ]; }
	(enter h0 ours "$path" -u serve 10.78.0.1 7586) >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours $pid
	(enter h0 ours "$path" -u serve "ib:$(vib_gid 0)" 7586) >"$run/sib" 2>&1 &
	sib=$!
	check "AF_IB beside IP: both listen" within 10 both_listen
	for server in $pid $sib; do
		check "AF_IB beside IP: connect" enter h1 ours "$path" -u connect 10.78.0.1 7586
		wait $server
	done
	said "AF_IB beside IP: the IP listener is first" "peer 10.78.0.2" server
	said "AF_IB beside IP: then the one of AF_IB" "peer ib:" sib
fi
# the private data that looks like IP addresses is not used to find an interface
if ! slow; then
	pair "AF_IB, like a header" ours ours "$path" serve "ib:$(vib_gid 0)" 7589 -- \
		"$path" -a connect "ib:$(vib_gid 0)" 7589 "ib:$(vib_gid 1)"
	said "private data whole" "request hello from here" server
	pair "AF_IB, like a header, wildcard" ours ours "$path" serve "ib:::" 7588 -- \
		"$path" -a connect "ib:$(vib_gid 0)" 7588 "ib:$(vib_gid 1)"
fi
pair "AF_IB, no source" ours ours "$path" serve "ib:$(vib_gid 0)" 7590 -- \
	"$path" connect "ib:$(vib_gid 0)" 7590
pair "AF_IB, wildcard" ours ours "$path" serve "ib:::" 7591 -- \
	"$path" connect "ib:$(vib_gid 0)" 7591 "ib:$(vib_gid 1)"
at=
for stack in stock ours; do
	for ps in tcp udp ib ipoib; do
		for addr in "ib:$(vib_gid 0)" ib::: ib:::1 "ib:fe80::99"; do
			(with $stack "$path" bind "$addr" 7600 $ps) 2>&1
		done
	done >"$run/bind.$stack"
done
check "AF_IB: binding says what the in-tree stack does" diff "$run/bind.stock" "$run/bind.ours"

# the cache
routes() { (with ours ip netns exec h1 "$path" routes 10.78.0.1 "$@") >"$run/routes" 2>&1; }
echo 0 >$param/path_cache
knob mad/count 0
routes 7610 5 20000
is "without the cache each id asks" 5 "$(questions)"
echo 1024 >$param/path_cache
routes 7611 1 20000
knob mad/count 0
hits=$(figure 1 hits)
routes 7611 5 20000
is "with it none does" 0 "$(questions)"
is "hits are counted" $((hits + 5)) "$(figure 1 hits)"
routes 7612 1 20000
is "another service is another question" 1 "$(questions)"
pair "connect once" ours ours "$path" serve 10.78.0.1 7614 -- "$path" connect 10.78.0.1 7614
knob mad/count 0
pair "and again" ours ours "$path" serve 10.78.0.1 7614 -- "$path" connect 10.78.0.1 7614
is "a connection does not ask either" 0 "$(questions)"
echo 1 >$param/path_cache
routes 7613 1 20000
is "no more records than allowed" 1 "$(figure 1 entries)"
echo 1024 >$param/path_cache
echo 1 >$param/path_cache_seconds
sleep 1.2
knob mad/count 0
routes 7613 1 20000
is "an old record is not used" 1 "$(questions)"
echo 60 >$param/path_cache_seconds

# events that invalidate all records
query_waits() { grep -q " route-query " /sys/kernel/debug/rdma_cmx/ids; }
learned() {
	within 20 on 1 ping -c 1 -W 1 10.78.0.1 && routes 7613 1 20000 && [ "$(figure 1 entries)" -gt 0 ]
}
forgotten() { [ "$(figure 1 entries)" = 0 ]; }
dropped() { # WHAT COMMAND...
	check "a record is kept" learned
	check "$1" "${@:2}"
	check "$1: it is dropped" within 10 forgotten
}
drops=$(figure 1 drops)
dropped "the port is down" eval 'knob ports/1/up 0 && within 10 ports_are DOWN 1'
check "that is counted" test "$(figure 1 drops)" -gt "$drops"
knob ports/1/up 1
within 20 ports_are ACTIVE 1
if ! slow; then
	dropped "an event: another LID" knob ports/1/event 11
	dropped "an event: other P_Keys" knob ports/1/event 12
	dropped "an event: another SM" knob ports/1/event 13
	dropped "an event: to register again" knob ports/1/event 17
fi

# a reply to an earlier query is not kept either
knob mad/class 3
knob mad/delay 1000
routes 7616 1 20000 &
pid=$!
check "a query is in progress" within 10 query_waits
drops=$(figure 1 drops)
knob ports/1/event 11
check "an event of the port" within 10 eval '[ "$(figure 1 drops)" -gt $drops ]'
check "the query is not answered yet" query_waits
wait $pid
knob mad/delay 0
knob mad/class 0
said "then it is" "ROUTE_RESOLVED.* 0" routes
check "the reply is not kept" forgotten

# a record is invalid if the peer does not get messages: a deadline, and a process that ends
connecting() { grep -q " connect " /sys/kernel/debug/rdma_cmx/ids; }
call() { (with ours ip netns exec h1 "$path" "$@" connect 10.78.0.1 7999) >"$run/client" 2>&1; }
check "a record is kept" learned
call
said "the peer rejects" "REJECTED" client
check_not "the record that led to it is kept" forgotten
knob mad/class 7
knob mad/drop 1
echo 300 >$param/connect_deadline_ms
call
said "the peer is silent: a deadline ends it" "UNREACHABLE.* -110" client
check "the record is dropped" within 10 forgotten
echo 0 >$param/connect_deadline_ms
check "a record is kept" learned
(with ours ip netns exec h1 "$path" connect 10.78.0.1 7999) >"$run/client" 2>&1 &
pid=$!
check "the peer is silent" within 10 connecting
kill $pid
wait $pid
check "whoever called is gone: the record is dropped" within 10 forgotten
check "a record is kept" learned
check "a request is taken back" call -t -q
check "the record is dropped" within 10 forgotten
knob mad/drop 0

# or rejects the path
# PORT COMMAND...: the client's command to $peer, while a server listens on that port of $listener
call_listener() {
	local pid status to=${peer:-10.78.0.1} pat=h0 aat=h1
	[ -z "${at:-}" ] || read -r pat aat <<<"$at"
	(enter "$pat" ours "$path" serve "${listener:-$to}" "$1") >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours "$pid"
	(enter "$aat" ours "$path" "${@:2}" "$to" "$1") >"$run/client" 2>&1
	status=$?
	kill "$pid"
	wait "$pid"
	return $status
}
check "a record is kept" learned
call_listener 7645 -g given
said "the peer rejects the path: invalid GID" "REJECTED 12," client
check "the record is dropped" forgotten

# or does not get the end of the connection, from an id that waits for the reply and from one that does not
lost_dreqs() { awk '$1 == "0x07" && $3 == "0x0015" { n += $5 } END { print n + 0 }' /sys/kernel/debug/vib/mad/count; }
unanswered() { # NAME OPTION...
	check "a record is kept" learned
	knob mad/count 0
	knob mad/attr 0x15
	knob mad/drop 1
	check "$1: the connection is made and ended" call_listener 7646 "${@:2}" connect
	check "the record is dropped" within 10 forgotten
	check "the peer was told in vain" test "$(lost_dreqs)" -gt 0
	knob mad/drop 0
	knob mad/attr 0
}
unanswered "the id stays" -q -s
unanswered "the id is destroyed" -q

# the first DREQ is lost, and the program that sent it has ended
repeated_dreq() { # NAME OPTION...
	local pid status
	knob mad/count 0
	knob mad/attr 0x15
	knob mad/drop 1
	(enter h0 ours "$path" serve 10.78.0.1 7647) >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours $pid
	check "$1: a program connects, and ends" enter h1 ours "$path" "${@:2}" connect 10.78.0.1 7647
	check "$1: its DREQ is lost" within 10 eval '[ "$(lost_dreqs)" -gt 0 ]'
	check "$1: the peer is still connected" test -e /proc/$pid
	knob mad/drop 0
	knob mad/attr 0
	wait $pid
	status=$?
	check "$1: the DREQ is repeated, and the peer receives it" [ $status = 0 ]
}
repeated_dreq "disconnect"
repeated_dreq "destroy" -x

# the last send of a connection is not completed, and a device that has nothing to do with it is removed
rig
knob ports/1/late 100000
at="h1 h0" pair "whose last send is not completed" ours ours "$path" serve 10.78.0.2 7648 -- "$path" connect 10.78.0.2 7648
at="- -" pair "on another device" ours ours "$path" serve 10.77.0.1 7649 -- "$path" connect 10.77.0.1 7649
check "the other device is removed meanwhile" timeout $((20 * slow)) rdma link delete rxe0
knob ports/1/late 0

# a QP that connects again waits for the end of its last connection; a program chooses the numbers of its QPs
if ! slow; then
	seq -f "addr add 10.78.1.%g/32 dev ib1" 65 | ip -n h1 -batch -
	echo 0 >$param/path_cache
	knob mad/attr 0x16
	knob mad/drop 1
	(enter h1 ours "$path" closing 10.78.1. 7648 65) >"$run/closing" 2>&1
	knob mad/drop 0
	knob mad/attr 0
	echo 1024 >$param/path_cache
	is "the search for it ends after 64 others of that number" "after 64: waited 2 s
after 65: waited 0 s" "$(grep ^after "$run/closing")"
fi
knob mad/class 0

# or if data fails after the connection was established
check "a record is kept" learned
pair "connection in order" ours ours "$path" serve 10.78.0.1 7644 -- "$path" connect 10.78.0.1 7644
check_not "the record that led to it is kept" forgotten
pair "data fails" ours ours "$path" serve 10.78.0.1 7644 -- "$path" -d connect 10.78.0.1 7644
said "the QP has stopped" "data: RNR" client
check "the record is dropped" forgotten

# requests that a listener does not take
for route in "10.78.0.1 10.78.0.2" "fd78::1 fd78::2"; do
	read -r peer from <<<"$route"
	ip -n h0 route add blackhole "$from"
	call_listener 7651 connect
	said "a peer without a route to it is rejected: $from" "REJECTED" client
	ip -n h0 route del blackhole "$from"
done
peer=
gid=$(vib_gid 0)
at="- -" peer=ib:$gid listener=ib:$gid/0x8001 call_listener 7652 connect
said "a peer outside the partition of an AF_IB listener is rejected" "REJECTED" client

# partitions: one of both ports, one without the peer's
printf '%s\n' "Part=0x1,ipoib,sl=2:ALL=full;" "Lone=0x2:$(vib_guid 1)=full;" \
	>>$fabric_run/partitions.conf
# without QoS OpenSM has no SL for a partition
echo "qos TRUE" >>$fabric_run/opensm.conf
dropped "another partition" children
three "rping, another partition" rping -s -a 10.79.0.1 -C 2 -- rping -c -a 10.79.0.1 -C 2
slow || three "udaddy, another partition" udaddy -b 10.79.0.1 -- udaddy -s 10.79.0.1 -b 10.79.0.2
pair "path in it" ours ours "$path" serve 10.79.0.1 7620 -- "$path" connect 10.79.0.1 7620
said "has its P_Key" "pkey=0x8001 sl=2 " client
said "at the other end, too" "pkey=0x8001 sl=2 " server
said "its SL in the QP" "^qp .* sl=2 " client

if ! slow; then
	# its interface in a namespace of its own
	ip netns add part
	on 0 ip link set ib0.8001 netns part
	ip -n part addr add 10.79.0.1/24 dev ib0.8001
	ip -n part link set ib0.8001 up
	check "the interface is there" within 20 on 1 ping -c 1 -W 1 10.79.0.1
	at="part h1"
	three "rping, wildcard, another namespace" rping -s -C 2 -- rping -c -a 10.79.0.1 -C 2
	at=
	(enter part ours rping -s -C 1) >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours $pid
	(enter h1 ours rping -c -a 10.78.0.1 -C 1) >"$run/client" 2>&1
	said "its listener does not get what comes for the other one" "REJECTED" client
	kill $pid
	wait $pid
	ip netns del part

	# what the SA refuses
	for stack in ours stock; do
		(with $stack "$path" routes ib:fe80::99 7622 1 5000) >"$run/routes" 2>&1
		said "no such peer: refused ($stack)" "ROUTE_ERROR.* -22" routes
		(with $stack "$path" routes "ib:$(vib_gid 0)/0x8002" 7622 1 5000) >"$run/routes" 2>&1
		said "a peer not in the partition: refused ($stack)" "ROUTE_ERROR.* -22" routes
	done

	# IP routers do not forward packets of InfiniBand
	ip -n h1 route add 10.99.0.0/24 via 10.78.0.1
	(with ours ip netns exec h1 "$path" routes 10.99.0.1 7622 1 5000) >"$run/routes" 2>&1
	said "a peer behind an IP router" "resolve_addr: Cannot assign requested address" routes

	# the port of the peer has lower limits than ours
	knob ports/0/mtu 4
	knob ports/0/cable 0
	knob ports/0/cable 1
	check "ping with the smaller MTU" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	mtu() { (with ours ip netns exec h1 "$path" "-m$1" routes 10.78.0.1 7623 1 5000) >"$run/routes" 2>&1; }
	mtu 4
	said "its MTU: there is a path" "ROUTE_RESOLVED.* 0" routes
	mtu 5
	said "more than that: refused" "ROUTE_ERROR.* -22" routes
	knob ports/0/mtu 5
	knob ports/0/cable 0
	knob ports/0/cable 1
	check "ping with the larger one" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	mtu 5
	said "with which there is one" "ROUTE_RESOLVED.* 0" routes

	# another SM, other LIDs
	sm_is() { sminfo -C vib0 "$(vib_lid 1)" | grep -q "SMINFO_$1"; }
	takeover() { sm start 1 && within 20 sm_is STANDBY && sm kill 0 && within 30 sm_is MASTER; }
	dropped "another SM takes over" takeover
	check "ping under it" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	three "rping, another SM" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
	sm stop 1
	dropped "other LIDs" other_lids 32
	check "ping with them" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	three "rping, other LIDs" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
	pair "path with them" ours ours "$path" serve 10.78.0.1 7624 -- "$path" connect 10.78.0.1 7624
	said "has the peer's" "dlid=32 " client
fi

# LMC 1: two LIDs for each port
sm stop
sm start 0 -l 1
check "each port has two LIDs" within 30 eval 'two_lids 0 && two_lids 1'
check "ping with two LIDs" within 30 on 1 ping -c 1 -W 1 10.78.0.1
lid0=$(vib_lid 0) lid1=$(vib_lid 1)
three "rping, two LIDs" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
three "udaddy, two LIDs" udaddy -b 10.78.0.1 -- udaddy -s 10.78.0.1 -b 10.78.0.2
pair "path with two LIDs" ours ours "$path" serve 10.78.0.1 7640 -- "$path" connect 10.78.0.1 7640
lid=$(sed -n 's/^paths=.* dlid=\([0-9]*\) .*/\1/p' "$run/client")
is "the peer's LID in it is one of them" $lid0 $((${lid:-0} & ~1))
said "and that of the QP" "^qp .* dlid=$lid " client
for stacks in "ours ours" "ours stock" "stock ours"; do
	read -r p a <<<"$stacks"
	pair "path of the owner, second LIDs" "$p" "$a" "$path" serve 10.78.0.1 7641 -- \
		"$path" given 10.78.0.1 7641 1
	said "the QP sends to the second ($a)" "^qp .* dlid=$((lid0 + 1)) bits=1 " client
	said "so does the peer's ($p)" "^qp .* dlid=$((lid1 + 1)) " server
done

# a record for each direction, as from ibacm: data to the second LIDs, GMPs to the first
"$acm" $lid1 $lid0 $((lid1 + 1)) $((lid0 + 1)) >"$run/acm" &
pid=$!
within 10 grep -q ready "$run/acm"
for stacks in "stock stock" "ours ours" "ours stock" "stock ours"; do
	read -r p a <<<"$stacks"
	knob mad/count 0
	pair "path each way" "$p" "$a" "$path" serve 10.78.0.1 7642 -- "$path" connect 10.78.0.1 7642
	said "of the record for both ($a)" "^paths=1 .* slid=$lid1 dlid=$lid0 hops=2" client
	said "the way out in the QP ($a)" "^qp .* dlid=$((lid0 + 1)) .* global=1 " client
	said "the way in in that of the peer ($p)" "^qp .* dlid=$((lid1 + 1)) " server
	is "the SA is not asked ($a)" 0 "$(questions)"
done
kill $pid
wait $pid

# replies that arrive before the send has completed, for ids that are destroyed at that time: ib_sa
# may call back twice
give_up() {
	local pid pids=()
	for _ in 1 2 3; do
		with ours ip netns exec h1 setpriv --reuid 65534 --clear-groups \
			"$path" giveup 10.78.0.1 7643 32 10 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || echo "status $?"
	done
}
echo 0 >$param/path_cache
knob ports/1/late 20
knob mad/count 0
give_up >"$run/giveup" 2>&1
knob ports/1/late 0
echo 1024 >$param/path_cache
is "ids destroyed while ib_sa answers: all others have their answers" "" "$(cat "$run/giveup")"
check "there were many" test "$(questions)" -gt 100

# services: from Linux 6.18 on ib_sa asks for ServiceRecords
sid=0x13f1234
service() { with ours "$tests/ib/service" "$@" 2>&1; }
port_gid() { python3 -c 'import ipaddress, sys; print(ipaddress.ip_address(sys.argv[1]))' "$(vib_gid "$1")"; }
no_query() { ! grep -q " addr-query " /sys/kernel/debug/rdma_cmx/ids; }
registered() { service register vib0 $sid "$1" >"$run/registered"; }
check "services: one is registered" registered "a service" || note <"$run/registered"
# a ServiceRecord has room for 63 bytes, and a name is not cut
long=$(printf 'x%.0s' {1..64})
is "services: a name of 64 bytes" "resolve_addrinfo: E2BIG" "$(service connect "$(vib_gid 1)" "$long")"
is "services: a name of 64 bytes, without an id" "getaddrinfo: ENOENT" "$(service getaddrinfo "$long")"
if grep -q ' ib_sa_service_rec_get' /proc/kallsyms; then
	offered="$(port_gid 0) $sid 0xffff"
	rejected="offered $offered
peer $offered
rejected"
	for service in "a service" $sid; do
		service listen "$(vib_gid 0)" $sid >"$run/listen" &
		pid=$!
		within 10 grep -q ready "$run/listen"
		is "services: connect to \"$service\"" "$rejected" "$(service connect "$(vib_gid 1)" "$service")"
		wait $pid
	done
	is "services: none has the name" "RDMA_CM_EVENT_ADDRINFO_ERROR: status -61" \
		"$(service connect "$(vib_gid 1)" another)"
	is "services: nor one of 63 bytes" "RDMA_CM_EVENT_ADDRINFO_ERROR: status -61" \
		"$(service connect "$(vib_gid 1)" "${long#x}")"
	is "services: asked with no id" "offered $offered" \
		"$(service getaddrinfo "a service" | grep -v ^from)"
	is "services: none for that ID" "getaddrinfo: ENOENT" "$(service getaddrinfo 4711)"
	knob mad/class 3
	knob mad/drop 1
	is "services: the SA is silent" "RDMA_CM_EVENT_ADDRINFO_ERROR: status -110" \
		"$(service connect "$(vib_gid 1)" another)"
	(service connect "$(vib_gid 1)" another) >/dev/null &
	pid=$!
	check "services: a query is under way" within 10 eval "! no_query"
	kill $pid
	wait $pid
	check "services: nobody waits for it" within 10 no_query
	knob mad/drop 0
	knob mad/class 0
else
	is "services: not supported" "resolve_addrinfo: EOPNOTSUPP" "$(service connect "$(vib_gid 1)" $sid)"
	is "services: not supported without an id either" "getaddrinfo: EOPNOTSUPP" \
		"$(service getaddrinfo $sid)"
fi

# queries to the SA are lost
knob mad/class 3
knob mad/drop 1
routes 7630 1 2000
said "no answer: timed out" "ROUTE_ERROR.* -110" routes
said "no answer: in time" "after [23] s" routes
routes 7631 1 1000 3
said "no answer, three more tries: timed out" "ROUTE_ERROR.* -110" routes
said "no answer, three more tries: in time" "after [456] s" routes
(with ours ip netns exec h1 "$path" routes 10.78.0.1 7632 1 30000) >"$run/routes" 2>&1 &
pid=$!
check "a question is under way" within 10 query_waits
kill $pid
wait $pid
check "what nobody waits for is given up" unload_cmx
load_cmx
routes 7633 1 3000 15 &
pid=$!
check "another question" within 10 query_waits
sleep 4
knob mad/drop 0
wait $pid
said "it is asked until there is an answer" "ROUTE_RESOLVED.* 0" routes
knob mad/drop 1
# a day; ib_sa would wait a tenth of it before it repeats the query
routes 7636 1 86400000 &
pid=$!
check "a query with a long timeout" within 10 query_waits
sleep 25
knob mad/drop 0
wait $pid
said "it is repeated, also after 20 s" "ROUTE_RESOLVED.* 0" routes
knob mad/drop 1
routes 7635 1 30000 &
pid=$!
check "one more question" within 10 query_waits
knob remove 1
wait $pid
said "the device goes meanwhile" "DEVICE_REMOVAL" routes
knob mad/drop 0
check "the module unloads" unload_cmx
check "the fabric comes down" fabric down
finish
