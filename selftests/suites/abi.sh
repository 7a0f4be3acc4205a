#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# abi: the char device, called right and wrong
# kernels: 6.1 6.12 debug
# check: 6.12 debug
# real clock: debug
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit

while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#ok }";;
	"not ok "*) not_ok "${line#not ok }";;
	*) echo "$line";;
	esac
done < <("$top/selftests/abi/abi" 2>&1)
[ $((passed + failed)) -gt 0 ] || not_ok "abi ran"
check "the module unloads" unload_cmx
finish
