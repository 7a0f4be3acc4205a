#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# net: connections, datagrams and groups through some bad networks
#   net.sh [-n CONNECTIONS] [-r ROUNDS] [-it] [SEED [LINK.WEATHER...]]	see net/guest.sh
# kernels: uml
# check: uml
# timeout: 50000
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/../vm/guest.sh"
. "$tests/vib/guest.sh"
. "$tests/net/guest.sh"
number=40 weathers=(rxe.storm ib.storm ib.RTU ib.DREQ)
net_args "$@"
net_suite
finish
