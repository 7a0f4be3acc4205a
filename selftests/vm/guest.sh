# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for test scripts that run in a guest. Source it first:
#   . "$(dirname "$0")/../vm/guest.sh"
#
# The results are printed in the Test Anything Protocol, version 13.
#
# ok NAME, not_ok NAME [WHY], skip NAME WHY    print the result of a case
# check NAME COMMAND...                        the command must succeed. After a failure the function show_cause of the
#                                              script, if there is one, prints more
# check_not NAME COMMAND...                    the command must fail
# is NAME WANT GOT                             a case: the texts must be equal
# cases PREFIX COMMAND...                      the cases of a program that prints TAP
# note [TEXT...]                               print a line that is not a result; without TEXT: the input
# skip_all WHY                                 end the script, because no case can run here
# finish                                       print plan and counts; the last line of a script
# rig [HOST]                                   create rxe0 on d0, 10.77.0.HOST/24 and fd77::HOST/64, HOST 1
# load_cmx, unload_cmx                         load and unload our module for the running kernel
# own_modules [FILE...]                        /lib/modules in memory, with the devices of rig and these modules
# built PATTERN                                print the module in build/ for the running kernel
# ours COMMAND..., stock COMMAND...            run with our librdmacm, or with the system's
# as_nobody COMMAND...                         run as a user without privileges
# status_is STATUS COMMAND...                  check that the command ends with that status
# within SECONDS COMMAND...                    repeat the command until it succeeds
# repeated NAME WHY                            a case whose result depends on chance is tried once more
# on_hardware                                  check whether the tests use an RDMA device of the caller
#
# With CMX_DEV=mlx5_0 the tests use that RDMA device. CMX_ADDR and CMX_PEER are two IPv4 addresses
# on its interface CMX_NETDEV, CMX_ADDR6 is an IPv6 address; the tests look up values that are not
# given. A script that needs nothing else has a line "# hardware:" in its head; the others are skipped.
#
# CMX_CASE is a shell pattern: only cases whose NAME, or "SUITE: NAME", matches it count. $only is
# the same without the suite, for programs.
#
# A line '# part "BEGIN" ["BEGIN"]...' in a script begins a part, up to the next such line or "# all parts". The names
# of its cases begin with one of these texts. It needs no other part, so with CMX_CASE only the parts
# run that may have such a case, and what is in no part.
#
# Timeouts are for an idle machine and are multiplied by $slow, which vm/slow has measured.
# shellcheck shell=bash

tests=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
# an installed tree has everything in one folder
top=$tests
[ -e "$tests/kselftest-list.txt" ] || top=$(realpath "$tests/..")
suite=$(basename "$0" .sh)
passed=0 failed=0 skipped=0
slow=${CMX_SLOW:-1}
only=${CMX_CASE:-}
only=${only#"$suite: "}

# wanted NAME: check whether CMX_CASE selects the case
wanted() {
	# shellcheck disable=SC2053 # it is a pattern
	[ -z "$only" ] || [[ $1 = $only || ${1%" (differs, as listed)"} = $only || "$suite: $1" = $only ]]
}

# may_match BEGIN...: check whether CMX_CASE may select a case whose name begins with one of these texts
may_match() {
	local text fixed=${only%%[*?[\\]*}
	for text; do
		[[ $text != "$fixed"* && $fixed != "$text"* ]] || return 0
	done
	return 1
}

# The script begins again without the parts that CMX_CASE does not select. The other lines keep their numbers.
run_parts() { # ARG...: of the script
	local line script= part=1 words
	while IFS= read -r line; do
		case $line in
		'# part "'*)
			eval "words=(${line#\# part })"
			may_match "${words[@]}" && part=1 || part=
			;;
		"# all parts"*) part=1;;
		esac
		script+=${part:+$line}$'\n'
	done <"$0"
	CMX_PARTS=1 exec bash -c "$script" "$0" "$@"
}
[ -z "$only" ] || [ "${CMX_PARTS:-}" ] || ! grep -q '^# part "' "$0" || run_parts "$@"

# the version must be the first line
begun=${KSFT_TAP_LEVEL:-}
begin_output() {
	[ -n "$begun" ] || echo "TAP version 13"
	begun=1
}

# result VERDICT NAME [SKIP-REASON]: the counters have been raised
result() {
	begin_output
	echo "$1 $((passed + failed + skipped)) ${2//\#/\\#}${3+ # SKIP${3:+ $3}}"
}

note() {
	begin_output
	if [ $# -gt 0 ]; then echo "# $*"; else sed 's/^/#   /'; fi
}

ok() {
	! wanted "$1" || { passed=$((passed + 1)); result ok "$1"; }
}

not_ok() {
	wanted "$1" || { note "not selected, and failed: $1${2:+: $2}"; return; }
	failed=$((failed + 1))
	result "not ok" "$1"
	[ -z "${2:-}" ] || note <<<"$2"
}

skip() {
	! wanted "$1" || { skipped=$((skipped + 1)); result ok "$1" "${2:-}"; }
}

repeated() { note "repeated $1: $2"; }

check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1 </dev/null); then
		ok "$name"
	else
		not_ok "$name" "status $?"
		echo "$out" | tail -20 | note
		! declare -F show_cause >/dev/null || show_cause | note
	fi
}

check_not() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1 </dev/null); then
		not_ok "$name" "it succeeded"
		echo "$out" | tail -20 | note
	else
		ok "$name"
	fi
}

is() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted '$2', got '$3'"; fi
}

cases() {
	local prefix=$1 line name plan= n=0
	shift
	while IFS= read -r line; do
		name=${line#*ok }
		name=$prefix${name#* }
		case $line in
		"ok "*" # SKIP"*) skip "${name%% # SKIP*}" "${name#* # SKIP }"; n=$((n + 1));;
		"ok "*) ok "$name"; n=$((n + 1));;
		"not ok "*) not_ok "$name"; n=$((n + 1));;
		1..*) plan=${line#1..};;
		"TAP version "*|"# Totals: "*) ;;
		"#"*) begin_output; echo "$line";;
		*) note "$line";;
		esac
	done < <("$@" 2>&1)
	# a program in which nothing matches the pattern prints no plan
	[ "$plan" = "$n" ] || [ -n "$only" ] ||
		not_ok "$prefix$* ran" "$n of ${plan:-unknown} cases"
}

skip_all() {
	begin_output
	echo "1..0 # SKIP $*"
	note "$suite: 0 passed, 0 failed, 0 skipped"
	exit 4
}

# kselftest treats exit status 4 as "skipped"
finish() {
	local n=$((passed + failed + skipped))
	[ $n != 0 ] || skip_all "no case ${only:+matches $only}"
	echo "1..$n"
	note "$suite: $passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] || exit 1
	[ "$passed" != 0 ] || exit 4
	exit 0
}

# nap SECONDS: sleep without another process, which would cost more than the sleep on a kernel with simulated time
mkfifo "/run/nap.$$" && exec {nap_fd}<>"/run/nap.$$" && rm "/run/nap.$$"
nap() { read -rt "$1" -u "$nap_fd"; }

within() {
	# SECONDS counts whole ones: of two seconds, one would be left at the end of a second
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * slow * 1000000)) pause=1
	shift
	until "$@" >/dev/null 2>&1; do
		[ ${EPOCHREALTIME/[.,]/} -lt $end ] || return 1
		nap "0.$pause"
		[ $pause = 5 ] || pause=$((pause + 1))
	done
}

on_hardware() { [ -n "${CMX_DEV:-}" ]; }

hardware_rig() {
	local dir=/sys/class/infiniband/$CMX_DEV a found
	[ -e "$dir" ] || skip_all "no RDMA device $CMX_DEV"
	modprobe -a ib_uverbs rdma_cm rdma_ucm || return
	: "${CMX_NETDEV:=$(cat "$dir/ports/1/gid_attrs/ndevs/0" 2>/dev/null ||
		ls "$dir/device/net" | head -1)}"
	found=$(ip -o addr show dev "$CMX_NETDEV" scope global | awk '{ sub("/.*", "", $4); print $4 }')
	for a in $found; do
		case $a in
		*:*) : "${CMX_ADDR6:=$a}";;
		"${CMX_PEER:-}") ;;
		"${CMX_ADDR:=$a}") ;;
		*) : "${CMX_PEER:=$a}";;
		esac
	done
	[ -n "${CMX_ADDR:-}" ] && [ -n "${CMX_PEER:-}" ] ||
		skip_all "needs two IPv4 addresses on $CMX_NETDEV"
	export CMX_NETDEV CMX_ADDR CMX_PEER CMX_ADDR6
	note "$CMX_DEV on $CMX_NETDEV, $CMX_ADDR $CMX_PEER ${CMX_ADDR6:-}"
}

# a dummy Ethernet device, unless d0 exists, with a software RDMA device on it
rig() {
	local host=${1:-1}
	! on_hardware || { hardware_rig; return; }
	[ -e /sys/class/infiniband/rxe0 ] && return
	modprobe -a rdma_rxe ib_uverbs rdma_cm rdma_ucm || return
	[ -e /sys/class/net/d0 ] || ip link add d0 type dummy || return
	ip -force -batch - <<-END
		link set d0 up multicast on
		addr replace 10.77.0.$host/24 dev d0
		addr replace fd77::$host/64 dev d0 nodad
		route replace 224.0.0.0/4 dev d0
	END
	rdma link add rxe0 type rxe netdev d0 || return
	within 10 grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state
	chmod 666 /dev/infiniband/* 2>/dev/null
}

# The modules of a guest are read-only, and depmod is slow with all of them.
own_modules() {
	local f dir
	dir=$(mktemp -d)
	for f in $(modprobe -a --show-depends dummy rdma_rxe crypto-crc32 ib_uverbs rdma_ucm iw_cm |
		   awk '$1 == "insmod" { print $2 }') /lib/modules/*/modules.{order,builtin,builtin.modinfo}; do
		cp --parents "$f" "$dir"
	done
	mount -t tmpfs modules /lib/modules && mv "$dir"/lib/modules/* /lib/modules/ && rm -r "$dir" || return
	for f; do
		install -D -m 644 "$f" -t "/lib/modules/$(uname -r)/updates/" || return
	done
	depmod
}

# built PATTERN: the module in build/ that fits the running kernel
built() {
	local ko release
	release=$(uname -r)
	for ko in "$top"/build/$1; do
		[ -e "$ko" ] || continue
		[[ $(modinfo -F vermagic "$ko") = "$release "* ]] || continue
		echo "$ko"
		return
	done
	return 1
}

cmx_module() { built "*/rdma_cmx.ko"; }

# insert_module FILE [PARAMETER...]: a guest inserts a stripped copy. Debugging information is most of the file,
# and the guest would read it from the host each time. Those for uml have none.
insert_module() {
	local ko=/run/${1//\//_}
	[ -e /vm/main ] && [[ $(uname -r) != *-uml ]] || ko=$1
	[ -e "$ko" ] || { strip -g -o "$ko.new" "$1" && mv "$ko.new" "$ko"; } || return
	insmod "$ko" "${@:2}"
}

load_cmx() {
	local ko
	[ -d /sys/module/rdma_cmx ] && return
	if ko=$(cmx_module); then
		modprobe -a $(modinfo -F depends "$ko" | tr , ' ') || return
		insert_module "$ko" "$@" || return
	else
		modprobe rdma_cmx "$@" || { note "no module for $(uname -r)"; return 1; }
	fi
	# for vm/leaks; all symbols are many
	[ ! -e /sys/kernel/debug/kmemleak ] || grep '\[rdma_cmx\]' /proc/kallsyms >/run/symbols
	within 5 test -c /dev/infiniband/rdma_cmx && chmod 666 /dev/infiniband/rdma_cmx
}

unload_cmx() {
	[ -d /sys/module/rdma_cmx ] || return 0
	within 10 rmmod rdma_cmx
}

cmx_lib=
for lib in "$top/build/lib" "$top/lib/build" "$top/lib"; do
	[ -e "$lib/librdmacm.so.1" ] && cmx_lib=$lib && break
done

# ids_in STATE: the number of ids; "connect" is also that of established ones
ids_in() { sed -n "s/^state-$1 //p" /sys/kernel/debug/rdma_cmx/stats; }
# no_ids: also the gauges are 0, except that of connections that close
no_ids() {
	[ "$(grep -cE '^(process|kernel)-ids 0$' /sys/kernel/debug/rdma_cmx/stats)" = 2 ] &&
		! grep -v '^0$' /sys/class/infiniband/*/cmx*/now_{established,connecting,listening} \
			/sys/class/misc/rdma_cmx/stats/now_* 2>/dev/null
}

ours()  { LD_LIBRARY_PATH=$cmx_lib "$@"; }
stock() { "$@"; }

# Each call of either CM's device begins 50 ms late. For perftest, whose client connects for the second time while its
# server is still about to listen, and crashes when it is rejected.
slowly=(strace -o /dev/null -P /dev/infiniband/rdma_cm -P /dev/infiniband/rdma_cmx
	-e inject=ioctl,write:delay_enter=50000)

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

status_is() {
	local want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$want" ] || { echo "status $got"; return 1; }
}

! on_hardware || grep -q '^# hardware:' "$0" || skip_all "needs devices of its own"
