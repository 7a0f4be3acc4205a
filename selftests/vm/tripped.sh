# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Restarts virtual machines that failed for reasons other than the module. Source it on the host.
# shellcheck shell=bash

# tripped STATUS LOG...: machines died, or their timers stopped on a busy host, with no module of ours in
# sight in their kernel logs. That is no verdict on the module.
tripped() {
	local status=$1
	shift
	[ "$status" = 99 ] || { [ "$status" != 0 ] && grep -q 'rcu.*detected stalls' "$@"; } || return
	! grep -qE '\[(rdma_cmx|vib)\]' "$@"
}

# twice LOGS COMMAND: run it with an empty folder as its argument; and again, if machines that left their
# kernel logs in LOGS/dmesg.* have tripped. A line in the output lets check count it.
twice() {
	local logs=$1 status
	mkdir "$logs/1" "$logs/2"
	"$2" "$logs/1"
	status=$?
	tripped $status "$logs"/dmesg.* || return $status
	echo "# repeated: a machine died, or its timers stopped"
	"$2" "$logs/2"
}
