#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kunit: the unit tests of the pure functions, kernel/tests/
# kernels: uml
# check: uml
. "$(dirname "$0")/../vm/guest.sh"
ko=$(dirname "$(cmx_module)")/rdma_cmx_kunit.ko
modprobe kunit || { not_ok "kunit"; finish; }
modprobe -a $(modinfo -F depends "$ko" | tr , ' ')
insmod "$ko" || { not_ok "rdma_cmx_kunit"; finish; }

while read -r verdict; do
	verdict=${verdict#"${verdict%%[! ]*}"}
	case $verdict in
	"ok "*" # SKIP"*)
		read -r _ _ name <<<"$verdict"
		skip "${name%% # SKIP*}" "${name#* # SKIP }"
		;;
	"ok "*)	read -r _ _ name <<<"$verdict"; ok "$name";;
	"not ok "*) read -r _ _ _ name <<<"$verdict"; not_ok "$name";;
	esac
# the result of a KUnit suite is not indented, and only those of its cases count
done < <(cat /sys/kernel/debug/kunit/*/results | grep -E '^ +(not )?ok [0-9]+ ')
[ $((passed + failed)) -gt 0 ] || not_ok "there are results" "$(dmesg | tail -20)"
grep -h -A5 'EXPECTATION FAILED' /sys/kernel/debug/kunit/*/results | head -40 | note
rmmod rdma_cmx_kunit
finish
