#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# stock: the same calls on the in-tree stack and on ours leave the same trace
# kernels: 6.1 7 uml
# check: uml
# hardware: the cases with two addresses
# timeout: 1200
#
# stock.sh [-o DIR] [-s] [PATTERN...]: see stock/guest.sh
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/stock/guest.sh"
compare_args roce "$@"

if on_hardware; then
	rig || exit
	compare_link
else
	# the addresses in util.h of the program compare
	ip link add d0 address 02:00:00:00:00:77 type dummy
	ip link set d0 arp on addrgenmode none
	rig || exit
	compare_rig 02:00:00:00:00:50
fi

compare_stacks 6
check "the module unloads" unload_cmx
finish
