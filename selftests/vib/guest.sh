# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The software InfiniBand fabric, for test scripts that run in a guest. Source it after vm/guest.sh:
#   . "$(dirname "$0")/../vm/guest.sh"
#   . "$tests/vib/guest.sh"
#
# fabric up [-f] [N [PARAM...]]
# fabric up [-f] -t FILE [PARAM...]
#                           load the module with PARAM, with N HCAs (2), vib0 to vibN-1, on one switch,
#                           or with the topology of a file; start OpenSM on vib0, and IPoIB. HCA i has
#                           the namespace hi with ibi, 10.78.0.(i+1)/24 and fd78::(i+1)/64. -f: flat, all
#                           of them stay in this namespace
# fabric down               undo this; fails if the module cannot be unloaded
# on I COMMAND...           run a command in the namespace of HCA i
# sm start [I [ARG...]]     start OpenSM on HCA i (0) with more arguments; returns when it is master or standby and
#                           the port is ACTIVE
# sm stop [I], sm kill [I]  end it in order, or by SIGKILL
# sm hup                    make it read its partitions again; they are in $fabric_run/partitions.conf
# other_lids BASE           restart OpenSM on HCA 0, which then gives HCA i the LID BASE + i
# child I                   create ibi.8001 on top of ibi, with 10.79.0.(i+1)/24; fails until it has a
#                           carrier, for which the partition must have reached the port
# children                  make OpenSM read its partitions again, and create the children of HCA 0 and 1,
#                           which reach each other
# ports_are STATE [I...]    check the state of the ports of these HCAs (all): ACTIVE DOWN INIT ...
# vib_guid I                print the GUID of the port, 0x0002...
# vib_gid I                 print the first GID of the port
# vib_lid I                 print its LID, a decimal number
# two_lids I                check that it has two LIDs (LMC 1) and is ACTIVE
# knob NAME [VALUE]         read or write a file of the module in debugfs
# mads [CLASS [METHOD [ATTR]]]  print the number of MADs since "knob mad/count 0": 0x03 0x01 0x0035; empty: any
# switch_port I FIELD       print a counter of the switch port to HCA i: in out mcast-in mcast-out dropped
# switch_lid [SWITCH]       print the LID of a switch (0)
# mft MLID [SWITCH]         print the ports in the MFT of a switch (0) for a multicast LID (0xc000...)
# groups                    print a line "MGID MLID" for each multicast group of the SA
# no_group MGID             check that the SA answers, and has no group whose MGID matches the pattern
# shellcheck shell=bash

vib_debugfs=/sys/kernel/debug/vib
# the state is kept in files, because "check" runs commands in a subshell
fabric_run=/run/fabric

fabric_n() { echo "$(<"$fabric_run/n")"; }

vib_module() { built "vib-*/vib.ko"; }

knob() {
	local text
	if [ $# = 1 ]; then
		text=$(<"$vib_debugfs/$1") && echo "$text"
	else
		echo "$2" >"$vib_debugfs/$1"
	fi
}

on() {
	local i=$1
	shift
	if [ ! -e "/run/netns/h$i" ]; then
		"$@"
	elif [ "$1" = ip ]; then
		ip -n "h$i" "${@:2}"
	else
		ip netns exec "h$i" "$@"
	fi
}

# what tests ask for most often is read without another program
vib_gid() {
	echo "$(<"/sys/class/infiniband/vib$1/ports/1/gids/0")"
}

vib_guid() {
	# fe80:0000:0000:0000:AAAA:BBBB:CCCC:DDDD
	local gid
	gid=$(<"/sys/class/infiniband/vib$1/ports/1/gids/0")
	gid=${gid:20}
	echo "0x${gid//:/}"
}

vib_lid() {
	printf '%d\n' "$(<"/sys/class/infiniband/vib$1/ports/1/lid")"
}

ports_are() {
	local state=$1 i
	shift
	[ $# -gt 0 ] || set -- $(seq 0 $(($(fabric_n) - 1)))
	for i; do
		[[ $(<"/sys/class/infiniband/vib$i/ports/1/state") = *"$state"* ]] || return
	done
}

two_lids() {
	[ "$(<"/sys/class/infiniband/vib$1/ports/1/lid_mask_count")" = 1 ] && ports_are ACTIVE "$1"
}

mads() {
	awk -v kind="^${1:-.*} ${2:-.*} ${3:-.*} " '
		NR > 1 && $0 ~ kind { n += $4 } END { print n + 0 }' $vib_debugfs/mad/count
}

switch_port() {
	awk -v port=$(($1 + 1)) -v field="$2" '
		$1 == "port" && $2 == port { for (i = 4; i < NF; i += 2) if ($i == field) print $(i + 1) }' $vib_debugfs/switch
}

switch_lid() {
	sed -n 's/^lid \([0-9]*\) .*/\1/p' "$vib_debugfs/switches/${1:-0}"
}

mft() {
	sed -n "s/^mft $1 //p" "$vib_debugfs/switches/${2:-0}"
}

groups() {
	local records
	records=$(saquery -C vib0 -g 2>/dev/null) || return
	awk '/MGID\./ { sub(/.*\.+/, ""); mgid = $1 } /Mlid\./ { sub(/.*\.+/, ""); print mgid, tolower($1) }' <<<"$records"
}

no_group() {
	local known
	known=$(groups) && ! grep -q "^$1 " <<<"$known"
}

# sm_has_ended PID: a zombie may remain. While a thread remains, the files are open, and the next OpenSM gives up.
sm_has_ended() {
	! grep -qsv ') Z ' "/proc/$1/task/"*/stat
}

sm() {
	local verb=$1 i=${2:-0} dir pid=""
	dir=$fabric_run/sm$i
	shift
	[ $# = 0 ] || shift
	[ ! -e "$dir/pid" ] || pid=$(cat "$dir/pid")
	case $verb in
	start)
		mkdir -p "$dir"
		OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir opensm -g "$(vib_guid "$i")" -f "$dir/log" \
			-F "$fabric_run/opensm.conf" -P "$fabric_run/partitions.conf" \
			--dump_files_dir "$dir" "$@" >"$dir/out" 2>&1 </dev/null &
		echo $! >"$dir/pid"
		# bash would report that it was killed
		disown
		# ports may be ACTIVE from the OpenSM before, and this one may give up
		within 30 grep -qE "Entering (MASTER|STANDBY)" "$dir/out" && within 30 ports_are ACTIVE "$i"
		;;
	stop|kill)
		[ -n "$pid" ] || return 0
		rm "$dir/pid"
		kill "-$([ "$verb" = stop ] && echo TERM || echo KILL)" "$pid"
		within 10 sm_has_ended "$pid" || kill -KILL "$pid"
		;;
	hup)
		kill -HUP "$pid"
		;;
	esac
}

other_lids() {
	local i n
	n=$(fabric_n)
	sm stop
	for ((i = 0; i < n; i++)); do
		printf '%s 0x%04x 0x%04x\n\n' "$(vib_guid $i)" $(($1 + i)) $(($1 + i))
	done >"$fabric_run/sm0/guid2lid"
	sm start 0 -x
	within 30 eval "[ \$(vib_lid $((n - 1))) = $(($1 + n - 1)) ]"
}

child() {
	local name=ib$1.8001
	grep -q 0x8001 "/sys/class/infiniband/vib$1/ports/1/pkeys"/* || return
	on "$1" ip link show "$name" ||
		on "$1" ip link add "$name" link "ib$1" type ipoib pkey 0x8001 || return
	on "$1" ip addr replace "10.79.0.$(($1 + 1))/24" dev "$name"
	on "$1" ip link set "$name" up
	on "$1" ip -o link show "$name" | grep -q LOWER_UP
}

children() {
	sm hup && within 30 child 0 && within 20 child 1 && within 20 on 1 ping -c 1 -W 1 10.79.0.1
}

fabric_up() {
	local flat="" file="" n i ko
	[ "${1:-}" != -f ] || { flat=1; shift; }
	if [ "${1:-}" = -t ]; then
		file=$2
		n=$("$tests/vib/topology" "$file" | sed -n 's/^nodes=\([0-9]*\) .*/\1/p')
		shift 2
	else
		n=${1:-2}
		[ $# = 0 ] || shift
	fi
	ko=$(vib_module) || { echo "no fabric for $(uname -r) in build/"; return 1; }
	modprobe -a rdmavt ib_umad ib_uverbs ib_ipoib rdma_cm rdma_ucm || return
	mkdir -p "$fabric_run"
	echo "$n" >"$fabric_run/n"
	echo "Default=0x7fff,ipoib:ALL=full;" >"$fabric_run/partitions.conf"
	# a standby takes over within seconds
	printf '%s\n' "sminfo_polling_timeout 1000" "polling_retry_number 3" "${fabric_conf:-}" \
		>"$fabric_run/opensm.conf"
	if [ "$file" ]; then
		"$tests/vib/topology" -l "$ko" "$file" "$@" || return
	else
		insert_module "$ko" nodes="$n" "$@" || return
	fi
	within 10 test -e /dev/infiniband/umad$((n - 1)) || return
	chmod 666 /dev/infiniband/* 2>/dev/null
	sm start 0 || { tail -n 5 "$fabric_run/sm0/log"; return 1; }
	within 30 ports_are ACTIVE || { echo "ports do not become active"; return 1; }
	for ((i = 0; i < n; i++)); do
		fabric_if "$i" "$flat" || return
	done
	for ((i = 0; i < n; i++)); do
		within 20 fabric_if_up "$i" || { echo "ib$i does not come up"; return 1; }
	done
}

# nothing on a host without IPv6
fabric_if_addr6() {
	[ ! -e /proc/net/if_inet6 ] || on "$1" ip addr replace "fd78::$(($1 + 1))/64" dev "ib$1" nodad
}

# move the IPoIB interface of HCA i to its namespace, and add its addresses
fabric_if() {
	local i=$1 name=ib$1
	within 10 test -e "/sys/class/net/$name" || { echo "no $name"; return 1; }
	if [ -z "$2" ]; then
		ip netns add "h$i" || return
		ip link set "$name" netns "h$i" || return
	fi
	fabric_if_addr6 "$i" && on "$i" ip -batch - <<-END
		link set lo up
		addr add 10.78.0.$((i + 1))/24 dev $name
		link set $name up
		route replace 224.0.0.0/4 dev $name
	END
}

fabric_if_up() {
	on "$1" ip -o link show "ib$1" | grep -q LOWER_UP
}

fabric_down() {
	local i
	for ((i = 0; i < $(fabric_n); i++)); do
		sm stop "$i"
		[ ! -e "/run/netns/h$i" ] || ip netns del "h$i"
	done
	within 20 rmmod vib
}

fabric() {
	local verb=$1
	shift
	"fabric_$verb" "$@"
}
