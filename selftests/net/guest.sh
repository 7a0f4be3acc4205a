# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Runs of the program net on rxe and on the InfiniBand fabric. Source it after vm/guest.sh and vib/guest.sh.
#
# net_args [-n CONNECTIONS] [-r ROUNDS] [-it] [SEED [LINK.WEATHER...]]
#              parse the arguments of the suite over the defaults in $number, $rounds, $seed and $weathers. The
#              links are rxe and ib, "net -lv" prints the weathers; none: all. -r: with so many seeds, from SEED
#              on. -i: only the in-tree stack. -t: print all events
# net_suite    run these on the in-tree stack, whose counts are printed, and on ours, which is judged
# shellcheck shell=bash disable=SC2154
net=$tests/net/net
net_output=/run/net.output
number=60 rounds=1 seed=1 weathers=() intree="" trace=""

net_args() {
	local o OPTIND
	while getopts n:r:it o; do
		case $o in
		n) number=$OPTARG;;
		r) rounds=$OPTARG;;
		i) intree=1;;
		t) trace=-t;;
		*) exit 2;;
		esac
	done
	shift $((OPTIND - 1))
	seed=${1:-$seed}
	[ $# -lt 2 ] || weathers=("${@:2}")
}

net_wants() { # LINK
	may_match "$1, " && { [ ${#weathers[@]} = 0 ] || [[ " ${weathers[*]}" = *" $1."* ]]; }
}

# Two interfaces of this host that reach each other only over the wire: the local table comes last, except
# for what arrives on the interface of the address
net_wire_up() {
	local i
	ip link add na type veth peer name nb || return
	sysctl -qw net.ipv4.conf.{all,na,nb}.{accept_local=1,rp_filter=0} net.ipv4.conf.all.arp_ignore=1 \
		net.ipv4.conf.all.arp_announce=2
	# rxe sends from the addresses of this namespace only
	for i in a b; do
		ip link set n$i up multicast on
	done
	ip addr add 10.76.0.1/32 dev na
	ip addr add 10.76.0.2/32 dev nb
	ip route add 10.76.0.2 dev na src 10.76.0.1
	ip route add 10.76.0.1 dev nb src 10.76.0.2
	ip rule add pref 10 iif na to 10.76.0.1 lookup local
	ip rule add pref 11 iif nb to 10.76.0.2 lookup local
	ip rule add pref 20 lookup main
	ip rule add pref 30 lookup local
	ip rule del pref 0
	for i in a b; do
		rdma link add rxe$i type rxe netdev n$i || return
		within 10 grep -q ACTIVE /sys/class/infiniband/rxe$i/ports/1/state || return
	done
}

# The rules decide for all that runs later on this machine.
net_wire_down() {
	local i
	ip rule add pref 0 lookup local
	for i in 10 11 20 30; do
		ip rule del pref $i
	done
	rdma link delete rxea
	rdma link delete rxeb
	ip link delete na
}

nothing_closing() { ! grep -v '^0$' /sys/class/infiniband/*/cmx*/now_closing; }
# check that the SA has no group but those of which the program says that no leave may have arrived
no_groups() {
	local known lost
	known=$(groups) && lost=$(sed -n 's/^# leaves that may be lost: *//p' "$net_output") || return
	! grep '^ff1.:4001:.*:f4d:' <<<"$known" | grep -Ev ":(${lost// /|}) "
}

# what is left after the program has ended, whose last seconds were in a good network
net_leftovers() { # LINK WEATHER ARG...
	check "$1, $2: no id is left" within 5 no_ids
	check "$1, $2: no connection is closing" within 5 nothing_closing
	[ "$1" = ib ] || return
	check "$1, $2: the SA has no group whose leave can have arrived" no_groups
	# a round without connections joins and leaves each group
	net_ours -n 0 "${@:3}" >/dev/null
	check "$1, $2: the SA has no group that has been joined and left again" no_groups
}

net_ours() { ours "$net" "$@" | tee "$net_output"; }

# the command that runs this network again, with the first seed that failed
net_again() { # LINK.WEATHER FAILED-SEED
	note "again: $(cat /vm/again) selftests/net/$suite.sh -n $number -r $([ "$2" ] && echo 1 || echo "$rounds") ${2:-$seed} $1"
}

net_run() { # LINK WEATHER ARG...
	local link=$1 weather=$2 before=$failed again
	shift 2
	[ ${#weathers[@]} = 0 ] || [[ " ${weathers[*]} " = *" $link.$weather "* ]] || return
	may_match "$link, $weather: " || return
	note "$link, $weather, in-tree:"
	stock "$net" -i -s "$seed" -r "$rounds" -n "$number" ${trace:+"$trace"} "$@" | sed 's/^# //' | note
	[ "$link" != ib ] || groups | grep '^ff1.:4001:.*:f4e:' | note
	[ -z "$intree" ] || return
	note "$link, $weather, rdma_cmx, seed $seed"
	cases "$link, $weather: " net_ours -s "$seed" -r "$rounds" -n "$number" ${trace:+"$trace"} "$@"
	again=$(sed -n 's/^# that was seed //p' "$net_output" | head -1)
	net_leftovers "$link" "$weather" "$@"
	[ "$failed" = "$before" ] || net_again "$link.$weather" "$again"
}

net_suite() {
	local weather
	modprobe -a rdma_rxe ib_uverbs rdma_cm rdma_ucm sch_netem || return
	load_cmx || return
	! net_wants rxe || net_wire_up || { not_ok "rxe: the wire comes up"; return; }
	for weather in $("$net" -l); do
		net_run rxe "$weather" "$weather" 10.76.0.2 nb 10.76.0.1 na
	done
	! net_wants ib || fabric up >/dev/null 2>&1 || { not_ok "ib: the fabric comes up"; return; }
	for weather in $("$net" -lv); do
		net_run ib "$weather" -v "$weather" 10.78.0.2 ib1@h1 10.78.0.1 ib0@h0
	done
	check "the module unloads" unload_cmx
	! net_wants rxe || net_wire_down
}
