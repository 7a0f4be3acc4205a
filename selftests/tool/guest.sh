# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for the tests of cmx(8), sourced after vm/guest.sh:
#   . "$tests/tool/guest.sh"
# shellcheck shell=bash

cmx=$top/tools/cmx
says() { # TEXT COMMAND...: check the output of the command
	local want=$1 got
	shift
	got=$("$@" 2>&1) || { echo "status $?: $got"; return 1; }
	[ "$got" = "$want" ] || { echo "$got"; return 1; }
}
valid() { # DEFINITION ARG...: the output of cmx is JSON as the schema says
	"$cmx" "${@:2}" | "$tests/tool/valid" "$top/tools/cmx.schema.json" "$1"
}
