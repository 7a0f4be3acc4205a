# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for suites that use the test ULP. rdma_cmx must be loaded
. "$tests/ulp/kernel.sh"
ctl=/sys/kernel/debug/cmx_ulp
ko=$(dirname "$(cmx_module)")/ulp/cmx_ulp.ko
[ -e "$ko" ] || { not_ok "module" "no $ko"; finish; }

run() { # in one write()
	echo "$*" >$ctl/run && return
	cat $ctl/result
	return 1
}
load() { insmod "$ko" timeout_ms=$((10000 * slow)); }
unload() { within 20 rmmod cmx_ulp; }
