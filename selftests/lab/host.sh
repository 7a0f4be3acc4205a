#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# host: a few cases of each feature, on both stacks where possible. selftests/lab/hosts runs it on hosts that
# are configured unlike those of the other suites
# kernels: 6.1 7
# timeout: 300
#
# host.sh [SETTING...]: settings of the host that are made first, see below
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/stock/guest.sh"
a=10.77.0.1

# the addresses in util.h of the program compare
compare_args roce
ip link add d0 address 02:00:00:00:00:77 type dummy
ip link set d0 arp on addrgenmode none 2>/dev/null || ip link set d0 arp on
rig || exit
compare_rig 02:00:00:00:00:50 2>/dev/null

# The interface keeps its old name as an altname, because tests use that name.
rename() {
	ip link set d0 name r0 || { ip link set d0 down && ip link set d0 name r0 && ip link set r0 up; } || return
	ip link property add dev r0 altname d0 || return
	# the addresses are gone if the interface had to be down
	compare_rig 02:00:00:00:00:50 2>/dev/null
	return 0
}
for setting; do
	case $setting in
	no-namespaces)
		check "namespaces are forbidden" sysctl -qw user.max_user_namespaces=0 user.max_net_namespaces=0
		check_not "no namespace can be created" unshare -n true;;
	sysctl=*)
		check "${setting#sysctl=}" sysctl -qw "${setting#sysctl=}";;
	renamed)
		check "the interface is renamed" rename;;
	*)
		not_ok "the setting $setting" "it is unknown";;
	esac
done

# Each address at each call that takes one, and one case or more for each feature. compare skips IPv6
# addresses on a host without IPv6.
patterns=('bind.v[46]*' bind.udp bind.ipoib bind.ps_ib bind.two.any6_only_then_any4_listen
	'resolve.*self*' 'resolve.*any*' 'resolve.*ghost*' 'resolve.*loopback*' 'resolve.*no_r*' 'resolve.*v6*'
	'resolve.mixed*' 'resolve.group*' resolve.unreachable
	'mcast.*udp*' 'mcast.v6*' mcast.unicast mcast.any mcast.broadcast mcast.two_ids
	'connect.full.*' 'option.afonly.*' 'option.tos_effect.*' ece.external.both ece.external.offer_only ece.refused
	ud.full ud.external reject.data.40 event.burst event.edge owner.setuid.bound misc.endpoints)
compare_stacks 6

features=("option: each at its bounds, and read back" "option: path" "option: TOS" "ECE: required by *" "ECE: rejected"
	"multicast: IPv4, *" "multicast: send-only *" "end: told at once *" "event: *" "limit: ids of *" "channel: epoll *"
	"address: a wildcard *")
if [ -e /proc/net/if_inet6 ]; then
	cases "" ours "$tests/api/api" "${features[@]}" "multicast: *IPv6*" "multicast: a group of the other family"
else
	cases "" ours "$tests/api/api" "${features[@]}" "address: a host without IPv6"
	cases "a user: " ours as_nobody "$tests/api/api" "address: a host without IPv6"
fi

rping_listens() { # STACK
	case $1 in
	ours)	shows "$a:7700 .*listen" show ids;;
	stock)	rdma resource show cm_id | grep "LISTEN.*:7700 ";;
	esac
}
pair() { # SERVER-STACK CLIENT-STACK
	local pid
	"$1" timeout $((30 * slow)) rping -s -a $a -p 7700 -C 3 &
	pid=$!
	within 20 rping_listens "$1"
	"$2" timeout $((30 * slow)) rping -c -a $a -p 7700 -C 3 && wait $pid
}
shows() { # TEXT CMX-ARGUMENT...
	local text=$1
	shift
	"$top/tools/cmx" "$@" | grep -- "$text"
}
check "rping: ours to in-tree" pair stock ours
check "rping: in-tree to ours" pair ours stock
check "cmx stats shows requests" shows "requests [1-9]" stats rxe0/1
check "cmx options shows TOS" shows TOS options
check "cmx version shows the module" shows module version

# the test ULP has its commands in debugfs
if grep -qw debugfs /proc/filesystems; then
	. "$tests/ulp/guest.sh"
	check "ULP: the module loads" load
	check "ULP: an IPv4 listener" run "serve 0.0.0.0 7600"
	check "ULP: ping succeeds" run "ping $a 7600 5"
	check "ULP: echo over a multicast group" run "echo $a 239.7.7.7 239.7.7.7 5"
	check "ULP: a REQ over IPv4 for an IPv6 address is answered" run "request6 $a 7600"
	check "ULP: a REQ over IPv4 for an IPv6 address is rejected" grep -qx "answered by a REJ with the reason 28" $ctl/result
	for addr in fd77::1 :: ::ffff:$a; do
		if [ -e /proc/net/if_inet6 ]; then
			skip "ULP: a listener on $addr is refused" "this host has IPv6"
		else
			check_not "ULP: a listener on $addr is refused" run "serve $addr 7601"
		fi
	done
	check "ULP: ping succeeds after the refused listeners" run "ping $a 7600 5"
	check "ULP: the module unloads" unload
else
	skip "ULP" "no debugfs"
fi
check "the module unloads" unload_cmx
finish
