#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# stock_ib: on InfiniBand, the same calls on the in-tree stack and on ours leave the same trace
# kernels: 7 uml
# check: uml
# timeout: 1200
#
# stock_ib.sh [-o DIR] [-s] [PATTERN...]: see stock/guest.sh
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/stock/guest.sh"
compare_args ib "$@"

fabric up -f 1 >/dev/null || exit
ip link set ib0 down
ip addr flush dev ib0
ip link set ib0 name d0 addrgenmode none
ip link set d0 up
# no CM answers at the switch, but the SA has a path to it
guid=$(ibswitches -C vib0 | sed -n 's/.*0x\([0-9a-f]*\) .*/\1/p' | sed 's/../:&/g')
compare_rig "00:00:00:00:fe:80:00:00:00:00:00:00$guid"
within 20 eval "ip -o link show d0 | grep -q LOWER_UP" || exit

compare_stacks 6
check "the module unloads" unload_cmx
check "the fabric goes down" fabric down
finish
