#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# uapi: the char device, with valid and invalid calls
# kernels: release debug kcsan uml
# check: uml
# hardware: all
# real clock: debug kcsan
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit

uapi=$tests/uapi
cases "" "$uapi/uapi" ${only:+"$only"}
for pattern in "*malformed*" "*unusual*" "a request has*" "grow: *"; do
	cases "one field more: " "$uapi/uapi-more" "$pattern"
	cases "one field fewer: " "$uapi/uapi-fewer" "$pattern"
done
library() { # PREFIX FOLDER: results of events and queries with the library of that folder
	for name in "*ECE: offered*" "*many events*" "*multicast: attributes*"; do
		cases "$1" env LD_LIBRARY_PATH="$2" "$tests/api/api" "$name"
	done
}
library "library with one field more: " "$uapi/more/lib"
too_new() { LD_LIBRARY_PATH=$uapi/other/lib timeout 20 rping -s -a "${CMX_ADDR:-10.77.0.1}" 2>&1; }
check "a library with another ABI prints an error" eval 'too_new | grep -q "does not accept ABI 99"'
check "a library with another ABI prints its error once" [ "$(too_new | grep -c "accept ABI")" = 1 ]
check "the module unloads" unload_cmx

# a module that has one field more than the programs and the library
if built "*/later/rdma_cmx.ko" >/dev/null; then
	cmx_module() { built "*/later/rdma_cmx.ko"; }
	load_cmx || exit
	cases "later module: " "$uapi/uapi" "grow: *"
	cases "later module, one field fewer: " "$uapi/uapi-fewer" "grow: *"
	library "later module, library: " "$cmx_lib"
	check "the later module unloads" unload_cmx
fi
finish
