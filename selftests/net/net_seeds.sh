#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# net_seeds: connections, datagrams and groups through all bad networks, with new seeds each day
#   net_seeds.sh [-n CONNECTIONS] [-r ROUNDS] [-it] [SEED [LINK.WEATHER...]]	see net/guest.sh
# kernels: uml
# timeout: 500000
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/net/guest.sh"
# the clock of uml begins at a fixed date, and boot has written this file
rounds=3 seed=$(date -r /vm/main +%Y%m%d)
net_args "$@"
net_suite
finish
