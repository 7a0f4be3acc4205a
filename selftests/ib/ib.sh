#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ib: addresses, paths and connections on a software InfiniBand fabric under OpenSM
# kernels: 7 uml
# check: uml
# timeout: 900
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
path=$tests/ib/path
acm=$tests/ib/acm
run=$(mktemp -d)
param=/sys/module/rdma_cmx/parameters
port=7500

fabric up >"$run/up" 2>&1 || { not_ok "the fabric comes up" "$(tail -n 5 "$run/up")"; finish; }
load_cmx || { not_ok "the module"; finish; }
# ib_ipoib asks the SA for the path to a neighbour, which a case that counts or drops queries must not see
within 20 on 1 ping -c 1 -W 1 10.78.0.1

with() { # ours|stock COMMAND...
	local lib=
	[ "$1" = stock ] || lib=$cmx_lib
	shift
	LD_LIBRARY_PATH=$lib exec timeout -k 2 $((40 * slow)) "$@" </dev/null
}

listening() { # STACK SERVER-PID
	[ -e "/proc/$2" ] || return 0
	if [ "$1" = ours ]; then
		[[ $(</sys/kernel/debug/rdma_cmx/stats) = *"state-listen "[1-9]* ]]
	else
		rdma resource show cm_id | grep -q LISTEN
	fi
}

# pair NAME PASSIVE-STACK ACTIVE-STACK SERVER -- CLIENT: the server runs at HCA 0 and the client at HCA 1, or
# in the two namespaces that $at names
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

# the number of path queries since "knob mad/count 0"
questions() { mads 0x03 0x01 0x0035; }
figure() {
	"$top/tools/cmx" show paths | awk -v d="vib$1" -v f="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == f) c = i } $1 == d { print $c }'
}

# the debug kernel is too slow for all cases
slow() { [ $slow != 1 ]; }
! slow || skip "long cases" "deadlines times $slow"

routes() { (with ours ip netns exec h1 "$path" routes 10.78.0.1 "$@") >"$run/routes" 2>&1; }
query_waits() { [ "$(ids_in route-query)" != 0 ]; }
learned() {
	within 20 on 1 ping -c 1 -W 1 10.78.0.1 && routes 7613 1 20000 && [ "$(figure 1 entries)" -gt 0 ]
}
forgotten() { [ "$(figure 1 entries)" = 0 ]; }
dropped() { # WHAT COMMAND...
	check "$1: the cache has a record" learned
	check "$1" "${@:2}"
	check "$1: the record is dropped" within 10 forgotten
}
# call_listener PORT COMMAND...: the client's command to $peer, while a server listens on that port of $listener
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

# part "rping, IPv" "rping, wildcard" "rping, same port" "udaddy" "ucmatose"
# clients over IPoIB
three "rping, IPv4" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
# rping waits two seconds for the neighbour, and ib_ipoib may join the group of an address later than that
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

# part "each option on the transports"
option_rows() {
	(with ours ip netns exec h1 env API_ADDRESS=10.78.0.2 "$tests/api/api" \
		"option: each on the transports*")
}
check "each option on the transports that have it" option_rows

# part "path from the SA: " "path from the application: "
# the QP gets the values of the path record
pair "path from the SA" ours ours "$path" serve 10.78.0.1 7501 -- "$path" connect 10.78.0.1 7501
said "path from the SA: the path has the P_Key" "pkey=0xffff" client
said "path from the SA: the QP has the LID" "dlid=$(vib_lid 0) " client
if ! slow; then
	qp=$(grep "^qp " "$run/client")
	pair "path from the SA" ours stock "$path" serve 10.78.0.1 7501 -- "$path" connect 10.78.0.1 7501
	is "path from the SA: the QP has the attributes of the in-tree stack" "$(grep "^qp " "$run/client")" "$qp"
fi
pair "path from the application" ours ours "$path" serve 10.78.0.1 7502 -- "$path" given 10.78.0.1 7502
said "path from the application: the QP has the MTU" "qp mtu=3 " client

# part "ECE"
# ECE in REQ and REP
for stacks in "ours ours" "ours stock" "stock ours"; do
	! slow || break
	read -r p a <<<"$stacks"
	port=$((port + 10))
	pair "ECE" "$p" "$a" "$path" -e serve 10.78.0.1 $port -- "$path" -e connect 10.78.0.1 $port
	said "ECE: the server gets the offer ($a to $p)" "ece vendor=0x15b3 options=0x30000001" server
	said "ECE: the client gets the answer ($p to $a)" "ece vendor=0x15b3 options=0x30000000" client
done

# A SIDR REQ has no offer, so we send no options. The in-tree stack sends options without a vendor.
trace=/sys/kernel/tracing
rep() { grep -q "attr_id 0x0018 attr_mod 0x$1 " $trace/trace; }
ece_ud() { # PASSIVE-STACK ACTIVE-STACK OPTIONS
	echo >$trace/trace
	port=$((port + 10))
	pair "ECE, datagrams" "$1" "$2" "$path" -u -e serve 10.78.0.1 $port -- \
		"$path" -u connect 10.78.0.1 $port
	check "ECE, datagrams: options $3 in the SIDR REP ($1 to $2)" rep "$3"
}
if ! slow; then
	echo 1 >$trace/events/ib_mad/ib_mad_recv_done_handler/enable
	ece_ud ours stock 00000000
	ece_ud stock ours 30000000
	echo 0 >$trace/events/ib_mad/ib_mad_recv_done_handler/enable
fi

# part "AF_IB"
# AF_IB: in the namespace of the devices
at="- -"
for stacks in "ours ours" "ours stock" "stock ours"; do
	read -r p a <<<"$stacks"
	port=$((port + 10))
	pair "AF_IB" "$p" "$a" "$path" serve "ib:$(vib_gid 0)" $port -- \
		"$path" connect "ib:$(vib_gid 0)" $port "ib:$(vib_gid 1)"
	said "AF_IB: the private data is complete ($a to $p)" "request hello from here" server
	said "AF_IB: the server gets the peer's address ($a to $p)" "peer ib:fe80::.*/0xffff" server
	! slow || continue
	pair "AF_IB, datagrams" "$p" "$a" "$path" -u serve "ib:$(vib_gid 0)" $port -- \
		"$path" -u connect "ib:$(vib_gid 0)" $port "ib:$(vib_gid 1)"
	said "AF_IB, datagrams: the private data is complete ($a to $p)" "request hello from here" server
	said "AF_IB, datagrams: the request has the GID of the server ($a to $p)" "gid $(vib_guid 0)" server
	said "AF_IB, datagrams: the client gets QPN, Q_Key and LID ($a to $p)" "qpn=0x4711 qkey=0x1234567 dlid=$(vib_lid 0)$" client
done
# a listener of AF_IB takes the requests that the IP listeners of its port do not take
if ! slow; then
	both_listen() { [ "$(ids_in listen)" = 2 ]; }
	(enter h0 ours "$path" -u serve 10.78.0.1 7586) >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours $pid
	(enter h0 ours "$path" -u serve "ib:$(vib_gid 0)" 7586) >"$run/sib" 2>&1 &
	sib=$!
	check "AF_IB beside IP: both listen" within 10 both_listen
	n=0
	for server in $pid $sib; do
		n=$((n + 1))
		check "AF_IB beside IP: connect $n" enter h1 ours "$path" -u connect 10.78.0.1 7586
		wait $server
	done
	said "AF_IB beside IP: the IP listener gets the first request" "peer 10.78.0.2" server
	said "AF_IB beside IP: the AF_IB listener gets the next request" "peer ib:" sib
fi
# private data that looks like an IP header is not used to find an interface
if ! slow; then
	pair "AF_IB, like a header" ours ours "$path" serve "ib:$(vib_gid 0)" 7589 -- \
		"$path" -a connect "ib:$(vib_gid 0)" 7589 "ib:$(vib_gid 1)"
	said "AF_IB, like a header: the private data is complete" "request hello from here" server
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
check "AF_IB: bind has the results of the in-tree stack" diff "$run/bind.stock" "$run/bind.ours"

# part "path cache: "
# the cache
echo 0 >$param/path_cache
knob mad/count 0
routes 7610 5 20000
is "path cache: off, each id sends a query" 5 "$(questions)"
echo 1024 >$param/path_cache
routes 7611 1 20000
knob mad/count 0
hits=$(figure 1 hits)
routes 7611 5 20000
is "path cache: on, no id sends a query" 0 "$(questions)"
is "path cache: hits are counted" $((hits + 5)) "$(figure 1 hits)"
check "path cache: JSON is as the schema says" eval \
	'"$top/tools/cmx" show -j paths | "$tests/tool/valid" "$top/tools/cmx.schema.json" show-paths'
routes 7612 1 20000
is "path cache: another service ID needs another query" 1 "$(questions)"
pair "path cache: the first connection" ours ours "$path" serve 10.78.0.1 7614 -- "$path" connect 10.78.0.1 7614
knob mad/count 0
pair "path cache: the second connection" ours ours "$path" serve 10.78.0.1 7614 -- "$path" connect 10.78.0.1 7614
is "path cache: the second connection sends no query" 0 "$(questions)"
echo 1 >$param/path_cache
routes 7613 1 20000
is "path cache: the number of records is limited" 1 "$(figure 1 entries)"
echo 1024 >$param/path_cache
echo 1 >$param/path_cache_seconds
sleep 1.2
knob mad/count 0
routes 7613 1 20000
is "path cache: an expired record is not used" 1 "$(questions)"
echo 60 >$param/path_cache_seconds

# part "the port is down" "port event: "
# events that invalidate all records
drops=$(figure 1 drops)
dropped "the port is down" eval 'knob ports/1/up 0 && within 10 ports_are DOWN 1'
check "the port is down: the drop is counted" test "$(figure 1 drops)" -gt "$drops"
knob ports/1/up 1
within 20 ports_are ACTIVE 1
if ! slow; then
	dropped "port event: another LID" knob ports/1/event 11
	dropped "port event: other P_Keys" knob ports/1/event 12
	dropped "port event: another SM" knob ports/1/event 13
	dropped "port event: client reregistration" knob ports/1/event 17
fi

# part "late reply: "
# the reply to a query that was sent before an event is not cached
knob mad/class 3
knob mad/delay 1000
routes 7616 1 20000 &
pid=$!
check "late reply: a query is in progress" within 10 query_waits
drops=$(figure 1 drops)
knob ports/1/event 11
check "late reply: a port event occurs" within 10 eval '[ "$(figure 1 drops)" -gt $drops ]'
check "late reply: the query is still in progress" query_waits
wait $pid
knob mad/delay 0
knob mad/class 0
said "late reply: the id gets the reply" "ROUTE_RESOLVED.* 0" routes
check "late reply: the cache does not keep the reply" forgotten

# part "reject: " "silent peer: " "killed client: " "cancelled request: "
# A record is dropped if the peer does not reply until a deadline expires, or until the process ends.
connecting() { [ "$(ids_in connect)" != 0 ]; }
call() { (with ours ip netns exec h1 "$path" "$@" connect 10.78.0.1 7999) >"$run/client" 2>&1; }
check "reject: the cache has a record" learned
call
said "reject: the connect fails" "REJECTED" client
check_not "reject: the cache keeps the record" forgotten
knob mad/class 7
knob mad/drop 1
echo 300 >$param/connect_deadline_ms
call
said "silent peer: the deadline ends the connect" "UNREACHABLE.* -110" client
check "silent peer: the deadline drops the record" within 10 forgotten
echo 0 >$param/connect_deadline_ms
check "killed client: the cache has a record" learned
(with ours ip netns exec h1 "$path" connect 10.78.0.1 7999) >"$run/client" 2>&1 &
pid=$!
check "killed client: a connect waits for a silent peer" within 10 connecting
kill $pid
wait $pid
check "killed client: the record is dropped" within 10 forgotten
check "cancelled request: the cache has a record" learned
check "cancelled request: the client cancels its request" call -t -q
check "cancelled request: the record is dropped" within 10 forgotten
knob mad/drop 0
knob mad/class 0

# part "invalid GID: "
# or if the peer rejects the path
check "invalid GID: the cache has a record" learned
call_listener 7645 -g given
said "invalid GID: the peer rejects the path" "REJECTED 12," client
check "invalid GID: the record is dropped" forgotten

# part "lost DREQs, " "DREQ of a "
# or if the peer does not reply to a DREQ: of an id that waits for the DREP, and of a destroyed id
lost_mads() { # ATTRIBUTE
	awk -v attr="$1" '$1 == "0x07" && $3 == attr { n += $5 } END { print n + 0 }' /sys/kernel/debug/vib/mad/count
}
lost_dreqs() { lost_mads 0x0015; }
lose() { # ATTRIBUTE
	knob mad/count 0
	knob mad/attr "$1"
	knob mad/drop 1
}
unanswered() { # NAME OPTION...
	check "$1: the cache has a record" learned
	lose 0x15
	check "$1: the client connects and disconnects" call_listener 7646 "${@:2}" connect
	check "$1: the record is dropped" within 10 forgotten
	check "$1: DREQs were lost" test "$(lost_dreqs)" -gt 0
	knob mad/drop 0
	knob mad/attr 0
}
# the first DREQ is lost, and the peer gets another one
second_dreq() { # NAME PID
	local status
	check "$1: the first DREQ is lost" within 10 eval '[ "$(lost_dreqs)" -gt 0 ]'
	check "$1: the peer is still connected" test -e "/proc/$2"
	knob mad/drop 0
	knob mad/attr 0
	wait "$2"
	status=$?
	check "$1: the peer receives a repeated DREQ" [ $status = 0 ]
}
# the program that sends the DREQ has ended
repeated_dreq() { # NAME OPTION...
	local pid
	lose 0x15
	(enter h0 ours "$path" serve 10.78.0.1 7647) >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours $pid
	check "$1: a program connects and exits" enter h1 ours "$path" "${@:2}" connect 10.78.0.1 7647
	second_dreq "$1" $pid
}
knob mad/class 7
unanswered "lost DREQs, the id stays" -q -s
unanswered "lost DREQs, the id is destroyed" -q
repeated_dreq "DREQ of a disconnect"
trace=/sys/kernel/tracing
states=$trace/events/rdma_cmx/cmx_ib_state
[ -e $states ] || mount -t tracefs tracefs $trace
echo >$trace/trace
echo 1 >$states/enable
repeated_dreq "DREQ of a destroyed id" -x
traced() { grep -q "cmx_ib_state: .* $1\$" $trace/trace; }
check "DREQ of a destroyed id: the release is traced" traced "DREQ_SENT -> RELEASED_SENT"
check "DREQ of a destroyed id: the reply ends it" within 10 traced "RELEASED_SENT -> DESTROYED"
echo 0 >$states/enable
# the program that accepts ends before the RTU arrives, and the first DREQ, which follows the RTU, is lost. The DREQ
# of a user without CAP_SYS_RESOURCE needs a place in the send window, after its id has left the device
window=$(<$param/max_user_requests)
echo 32 >$param/max_user_requests
lose 0x14
(enter h0 ours setpriv --bounding-set=-sys_resource "$path" -x serve 10.78.0.1 7651) >"$run/server" 2>&1 &
server=$!
within 10 listening ours $server
(enter h1 ours "$path" -w connect 10.78.0.1 7651) >"$run/client" 2>&1 &
client=$!
wait $server
status=$?
check "DREQ of a server that ends early: a program accepts, disconnects and exits" [ $status = 0 ]
check "DREQ of a server that ends early: the RTU is lost" within 10 eval '[ "$(lost_mads 0x0014)" -gt 0 ]'
knob mad/attr 0x15
second_dreq "DREQ of a server that ends early" $client
echo "$window" >$param/max_user_requests
knob mad/class 0

# part "a connection whose last send" "a connection on another device" "another device is removed"
# the last send of a connection is not completed, and another device is removed
rig
knob ports/1/late 100000
at="h1 h0" pair "a connection whose last send is not completed" ours ours "$path" serve 10.78.0.2 7648 -- "$path" connect 10.78.0.2 7648
at="- -" pair "a connection on another device" ours ours "$path" serve 10.77.0.1 7649 -- "$path" connect 10.77.0.1 7649
check "another device is removed while a send is not completed" timeout $((20 * slow)) rdma link delete rxe0
knob ports/1/late 0

# part "the search for the last connection"
# A QP that connects again waits for the end of its last connection. A program chooses its QP numbers.
if ! slow; then
	seq -f "addr add 10.78.1.%g/32 dev ib1" 65 | ip -n h1 -batch -
	echo 0 >$param/path_cache
	knob mad/class 7
	knob mad/attr 0x16
	knob mad/drop 1
	(enter h1 ours "$path" closing 10.78.1. 7648 65) >"$run/closing" 2>&1
	knob mad/drop 0
	knob mad/attr 0
	echo 1024 >$param/path_cache
	is "the search for the last connection of a QP ends after 64 ids" "after 64: waited 2 s
after 65: waited 0 s" "$(grep ^after "$run/closing")"
	knob mad/class 0
fi

# part "data: "
# A record is dropped if data fails after the connection was established.
check "data: the cache has a record" learned
pair "data: a connection without an error" ours ours "$path" serve 10.78.0.1 7644 -- "$path" connect 10.78.0.1 7644
check_not "data: the cache keeps the record without an error" forgotten
pair "data: a connection whose data fails" ours ours "$path" serve 10.78.0.1 7644 -- "$path" -d connect 10.78.0.1 7644
said "data: the QP has stopped" "data: RNR" client
check "data: the record is dropped" forgotten

# part "a peer without a route" "a peer outside the partition of"
# requests that a listener rejects
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

# part "another partition" "rping, another partition" "udaddy, another partition" "path in another partition" "the interface of a partition" "rping, wildcard, another" "a listener in another namespace" "the SA refuses" "a peer behind"
# partitions: one of both ports, one without the peer's
printf '%s\n' "Part=0x1,ipoib,sl=2:ALL=full;" "Lone=0x2:$(vib_guid 1)=full;" \
	>>$fabric_run/partitions.conf
# without QoS OpenSM has no SL for a partition
echo "qos TRUE" >>$fabric_run/opensm.conf
dropped "another partition" children
three "rping, another partition" rping -s -a 10.79.0.1 -C 2 -- rping -c -a 10.79.0.1 -C 2
slow || three "udaddy, another partition" udaddy -b 10.79.0.1 -- udaddy -s 10.79.0.1 -b 10.79.0.2
pair "path in another partition" ours ours "$path" serve 10.79.0.1 7620 -- "$path" connect 10.79.0.1 7620
said "path in another partition: the client's path has the P_Key" "pkey=0x8001 sl=2 " client
said "path in another partition: the server's path has the P_Key" "pkey=0x8001 sl=2 " server
said "path in another partition: the QP has the SL" "^qp .* sl=2 " client

if ! slow; then
	# the interface of that partition in a namespace of its own
	ip netns add part
	on 0 ip link set ib0.8001 netns part
	ip -n part addr add 10.79.0.1/24 dev ib0.8001
	ip -n part link set ib0.8001 up
	check "the interface of a partition answers in another namespace" within 20 on 1 ping -c 1 -W 1 10.79.0.1
	at="part h1"
	three "rping, wildcard, another namespace" rping -s -C 2 -- rping -c -a 10.79.0.1 -C 2
	at=
	(enter part ours rping -s -C 1) >"$run/server" 2>&1 &
	pid=$!
	within 10 listening ours $pid
	(enter h1 ours rping -c -a 10.78.0.1 -C 1) >"$run/client" 2>&1
	said "a listener in another namespace does not get requests of this one" "REJECTED" client
	kill $pid
	wait $pid
	ip netns del part

	# queries that the SA refuses
	for stack in ours stock; do
		(with $stack "$path" routes ib:fe80::99 7622 1 5000) >"$run/routes" 2>&1
		said "the SA refuses an unknown peer ($stack)" "ROUTE_ERROR.* -22" routes
		(with $stack "$path" routes "ib:$(vib_gid 0)/0x8002" 7622 1 5000) >"$run/routes" 2>&1
		said "the SA refuses a peer outside the partition ($stack)" "ROUTE_ERROR.* -22" routes
	done

	# IP routers do not forward packets of InfiniBand
	ip -n h1 route add 10.99.0.0/24 via 10.78.0.1
	(with ours ip netns exec h1 "$path" routes 10.99.0.1 7622 1 5000) >"$run/routes" 2>&1
	said "a peer behind an IP router is refused" "resolve_addr: Cannot assign requested address" routes
fi

# part "ping with a " "MTU: "
# the port of the peer has lower limits than ours
if ! slow; then
	knob ports/0/mtu 4
	knob ports/0/cable 0
	knob ports/0/cable 1
	check "ping with a smaller MTU of the peer" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	mtu() { (with ours ip netns exec h1 "$path" "-m$1" routes 10.78.0.1 7623 1 5000) >"$run/routes" 2>&1; }
	mtu 4
	said "MTU: a path with the MTU of the peer is found" "ROUTE_RESOLVED.* 0" routes
	mtu 5
	said "MTU: a path with a larger MTU than the peer's is refused" "ROUTE_ERROR.* -22" routes
	knob ports/0/mtu 5
	knob ports/0/cable 0
	knob ports/0/cable 1
	check "ping with a larger MTU of the peer" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	mtu 5
	said "MTU: a path with the larger MTU is found" "ROUTE_RESOLVED.* 0" routes
fi

# part "another SM takes over" "ping under" "rping, another SM" "other LIDs" "ping with other" "rping, other LIDs" "path with other LIDs"
# another SM, other LIDs
if ! slow; then
	sm_is() { sminfo -C vib0 "$(vib_lid 1)" | grep -q "SMINFO_$1"; }
	takeover() { sm start 1 && within 20 sm_is STANDBY && sm kill 0 && within 30 sm_is MASTER; }
	dropped "another SM takes over" takeover
	check "ping under another SM" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	three "rping, another SM" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
	sm stop 1
	dropped "other LIDs" other_lids 32
	check "ping with other LIDs" within 30 on 1 ping -c 1 -W 1 10.78.0.1
	three "rping, other LIDs" rping -s -a 10.78.0.1 -C 2 -- rping -c -a 10.78.0.1 -C 2
	pair "path with other LIDs" ours ours "$path" serve 10.78.0.1 7624 -- "$path" connect 10.78.0.1 7624
	said "path with other LIDs: the path has the peer's LID" "dlid=32 " client
fi

# part "each port has two LIDs" "ping with two" "rping, two LIDs" "udaddy, two LIDs" "path with two LIDs" "second LIDs" "records from ibacm"
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
is "path with two LIDs: the path has a LID of the peer" $lid0 $((${lid:-0} & ~1))
said "path with two LIDs: the QP has the LID of the path" "^qp .* dlid=$lid " client
for stacks in "ours ours" "ours stock" "stock ours"; do
	read -r p a <<<"$stacks"
	pair "second LIDs in a path from the application" "$p" "$a" "$path" serve 10.78.0.1 7641 -- \
		"$path" given 10.78.0.1 7641 1
	said "second LIDs: the client's QP sends to the second LID ($a to $p)" "^qp .* dlid=$((lid0 + 1)) bits=1 " client
	said "second LIDs: the server's QP sends to the second LID ($a to $p)" "^qp .* dlid=$((lid1 + 1)) " server
done

# one record for each direction, as from ibacm: data goes to the second LIDs, and GMPs to the first
"$acm" $lid1 $lid0 $((lid1 + 1)) $((lid0 + 1)) >"$run/acm" &
pid=$!
within 10 grep -q ready "$run/acm"
for stacks in "stock stock" "ours ours" "ours stock" "stock ours"; do
	read -r p a <<<"$stacks"
	knob mad/count 0
	pair "records from ibacm" "$p" "$a" "$path" serve 10.78.0.1 7642 -- "$path" connect 10.78.0.1 7642
	said "records from ibacm: the path is that of both directions ($a to $p)" "^paths=1 .* slid=$lid1 dlid=$lid0 hops=2" client
	said "records from ibacm: the client's QP has the outbound path ($a to $p)" "^qp .* dlid=$((lid0 + 1)) .* global=1 " client
	said "records from ibacm: the server's QP has the inbound path ($a to $p)" "^qp .* dlid=$((lid1 + 1)) " server
	is "records from ibacm: no query is sent to the SA ($a to $p)" 0 "$(questions)"
done
kill $pid
wait $pid

# part "ids destroyed while"
# Replies arrive before the send has completed, while ids are destroyed: ib_sa may call back twice.
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
is "ids destroyed while ib_sa answers: all other ids get their replies" "" "$(cat "$run/giveup")"
check "ids destroyed while ib_sa answers: more than 100 queries" test "$(questions)" -gt 100

# part "services: "
# services: from Linux 6.18 on, ib_sa can query ServiceRecords
sid=0x13f1234
service() { with ours "$tests/ib/service" "$@" 2>&1; }
port_gid() { python3 -c 'import ipaddress, sys; print(ipaddress.ip_address(sys.argv[1]))' "$(vib_gid "$1")"; }
no_query() { [ "$(ids_in addr-query)" = 0 ]; }
registered() { service register vib0 $sid "$1" >"$run/registered"; }
check "services: a service is registered" registered "a service" || note <"$run/registered"
# A ServiceRecord has room for 63 bytes. A longer name is refused and not truncated.
long=$(printf 'x%.0s' {1..64})
is "services: a name of 64 bytes is refused" "resolve_addrinfo: E2BIG" "$(service connect "$(vib_gid 1)" "$long")"
is "services: a name of 64 bytes is refused without an id" "getaddrinfo: ENOENT" "$(service getaddrinfo "$long")"
if grep -q ' ib_sa_service_rec_get' /proc/kallsyms; then
	offered="$(port_gid 0) $sid 0xffff"
	service_reached() { # CASE SERVICE RETRIES
		service listen "$(vib_gid 0)" $sid >"$run/listen" &
		pid=$!
		within 10 grep -q ready "$run/listen"
		is "services: $1" "offered $offered
peer $offered
retries $3
rejected" "$(service connect "$(vib_gid 1)" "$2")"
		wait $pid
	}
	for service in "a service" $sid; do
		service_reached "a connect reaches \"$service\"" "$service" 15
	done
	"$top/tools/cmx" rule add dst "$(port_gid 0)" set cm_retries 3
	service_reached "a rule for the peer sets its option" $sid 3
	"$top/tools/cmx" rule delete all
	is "services: an unknown name is an error" "RDMA_CM_EVENT_ADDRINFO_ERROR: status -61" \
		"$(service connect "$(vib_gid 1)" another)"
	is "services: an unknown name of 63 bytes is an error" "RDMA_CM_EVENT_ADDRINFO_ERROR: status -61" \
		"$(service connect "$(vib_gid 1)" "${long#x}")"
	is "services: rdma_getaddrinfo finds the name without an id" "offered $offered" \
		"$(service getaddrinfo "a service" | grep -v ^from)"
	is "services: an unknown service ID is an error" "getaddrinfo: ENOENT" "$(service getaddrinfo 4711)"
	knob mad/class 3
	knob mad/drop 1
	is "services: a silent SA is a timeout" "RDMA_CM_EVENT_ADDRINFO_ERROR: status -110" \
		"$(service connect "$(vib_gid 1)" another)"
	(service connect "$(vib_gid 1)" another) >/dev/null &
	pid=$!
	check "services: a query is in progress" within 10 eval "! no_query"
	kill $pid
	wait $pid
	check "services: the query of a killed process is cancelled" within 10 no_query
	knob mad/drop 0
	knob mad/class 0
else
	is "services: not supported" "resolve_addrinfo: EOPNOTSUPP" "$(service connect "$(vib_gid 1)" $sid)"
	is "services: not supported without an id" "getaddrinfo: EOPNOTSUPP" \
		"$(service getaddrinfo $sid)"
fi

# part "lost query" "killed process: " "15 retries: " "long timeout: " "removed device: "
# queries to the SA are lost
knob mad/class 3
knob mad/drop 1
routes 7630 1 2000
said "lost query: the error is a timeout" "ROUTE_ERROR.* -110" routes
said "lost query: the timeout is that of the call" "after [23] s" routes
routes 7631 1 1000 3
said "lost query, three retries: the error is a timeout" "ROUTE_ERROR.* -110" routes
said "lost query, three retries: the timeouts add up" "after [456] s" routes
(with ours ip netns exec h1 "$path" routes 10.78.0.1 7632 1 30000) >"$run/routes" 2>&1 &
pid=$!
check "killed process: a query is in progress" within 10 query_waits
kill $pid
wait $pid
check "killed process: the module unloads without waiting for the query" unload_cmx
load_cmx
routes 7633 1 3000 15 &
pid=$!
check "15 retries: a query is in progress" within 10 query_waits
sleep 4
knob mad/drop 0
wait $pid
said "15 retries: a late reply is used" "ROUTE_RESOLVED.* 0" routes
knob mad/drop 1
# a day; ib_sa would wait a tenth of it before it repeats the query
routes 7636 1 86400000 &
pid=$!
check "long timeout: a query is in progress" within 10 query_waits
sleep 25
knob mad/drop 0
wait $pid
said "long timeout: the query is repeated, also after 20 s" "ROUTE_RESOLVED.* 0" routes
knob mad/drop 1
routes 7635 1 30000 &
pid=$!
check "removed device: a query is in progress" within 10 query_waits
knob remove 1
wait $pid
said "removed device: the id gets DEVICE_REMOVAL" "DEVICE_REMOVAL" routes
# all parts
knob mad/drop 0

# part "HCA: "
# an HCA that a process has open, in this namespace
add="echo 1 >$vib_debugfs/add && ip addr replace 10.80.0.1/24 dev ib0 && ip link set ib0 up"
[ ! -e /sys/class/infiniband/vib1 ] || knob remove 1
check "HCA: a removed HCA is added again" eval "$add && within 15 ports_are ACTIVE 1 && within 15 eval 'ip link show ib0 | grep -q LOWER_UP'"
cases "HCA: " env GOING="vib1 10.80.0.1" GOING_REMOVE="echo 1 >$vib_debugfs/remove" GOING_ADD="$add" \
	LD_LIBRARY_PATH="$cmx_lib" "$tests/api/api" "removed device: *"
# all parts
check "the module unloads" unload_cmx
check "the fabric goes down" fabric down
finish
