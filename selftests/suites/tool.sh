#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tool: the char device's mode, and what cmx(8) does but show: run, options, default, version
# kernels: release debug
# check: default
# hardware: all, without a device
. "$(dirname "$0")/../vm/guest.sh"
cmx=$top/tools/cmx
params=/sys/module/rdma_cmx/parameters
dev=/dev/infiniband/rdma_cmx

says() { # TEXT COMMAND...: what the command prints
	local want=$1 got
	shift
	got=$("$@" 2>&1) || { echo "status $?: $got"; return 1; }
	[ "$got" = "$want" ] || { echo "$got"; return 1; }
}
status_is() { # STATUS COMMAND...
	local want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$want" ] || { echo "status $got"; return 1; }
}
option_default() { "$cmx" options | awk -v o="$1" '$1 == o { print $3 }'; }
# rdma_cmx as any user: what the mode allows
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

check "version without the module" eval '"$cmx" version | grep -q "^module  *not loaded"'
check_not "default without the module" "$cmx" default tos
# load_cmx gives everybody the device: without it, its mode is the module's own choice
ko=$(cmx_module) && modprobe -a $(modinfo -F depends "$ko" | tr , ' ') && insmod "$ko" || exit
within 5 test -c $dev
check "the device's mode without udev" says "666 root root" stat -c '%a %U %G' $dev
check "version for another user" as_nobody "$cmx" version
check "another user reaches the module" eval \
	'as_nobody "$cmx" version | grep -q "^module  *$(modinfo -F version "$ko"), ABI [0-9]"'
check "version finds the library" eval '"$cmx" version | grep -q "^library  *[^ ]*, $cmx_lib\$"'

check "run puts our library first" eval \
	'[[ "$("$cmx" run printenv LD_LIBRARY_PATH)" = "$cmx_lib" ]]'
check "run keeps the path that was" eval \
	'[[ "$(LD_LIBRARY_PATH=/a:/b "$cmx" run printenv LD_LIBRARY_PATH)" = "$cmx_lib:/a:/b" ]]'
check "run passes arguments and status on" status_is 7 "$cmx" run sh -c 'exit $1' sh 7
check "run without a program" status_is 2 "$cmx" run
check "run of what is not there" status_is 127 "$cmx" run /no/such/program
check "run of what is no program" status_is 126 "$cmx" run /etc/passwd
check "run without the library" status_is 125 env -C / bash -c 'cp "$1" /run/cmx && /run/cmx run true' - "$cmx"
check "run: rping is on our library" eval '"$cmx" run ldd "$(command -v rping)" | grep -q "$cmx_lib/librdmacm"'

for p in tos cm_retries cm_response_timeout connect_deadline_ms close_seconds netns_listen \
	 path_cache path_cache_seconds; do
	check "default shows $p" says "$p $(cat $params/$p)" "$cmx" default $p
done
check "default shows all of them" says "$(cd $params && grep . -- * | tr : ' ')" \
	eval '"$cmx" default | sort'
old=$(cat $params/cm_retries)
check "default sets cm_retries" "$cmx" default cm_retries 5
check "the module has it" grep -qx 5 $params/cm_retries
check "options show it" [ "$(option_default CM_RETRIES)" = 5 ]
check "default refuses a value out of range" status_is 1 "$cmx" default cm_retries 16
check "the module has kept the old one" grep -qx 5 $params/cm_retries
check "default sets it back" "$cmx" default cm_retries "$old"
check "default of no such name" status_is 1 "$cmx" default nothing

# "NAME:TEXT: MIN..MAX (DEFAULT)", which the module must obey and the documentation repeat
refused() { # PARAMETER VALUE: with EINVAL
	LC_ALL=C bash -c 'echo "$2" >"$1"' - "$params/$1" "$2" 2>&1 |
		grep -q "Invalid argument" && return
	echo "$1 takes $2"
	return 1
}
range_holds() { # PARAMETER MIN MAX DEFAULT
	local status=0
	[ "$(<"$params/$1")" = "$4" ] || { echo "its value is $(<"$params/$1")"; return 1; }
	[ "$2" = 0 ] || refused "$1" $(($2 - 1)) || status=1
	refused "$1" -1 && refused "$1" $(($3 + 1)) && refused "$1" 4294967296 && refused "$1" x || status=1
	[ "$(<"$params/$1")" = "$4" ] || { echo "a refused value has changed it"; status=1; }
	echo "$3" >"$params/$1" && echo "$2" >"$params/$1" || status=1
	echo "$4" >"$params/$1"
	return $status
}
text=$(modinfo -p "$ko")
check "every parameter has its range in its text" says "$(cd $params && printf '%s\n' *)" \
	eval 'sed -nE "s/^([a-z_]+):.*: ([0-9]+\.\.[0-9]+|Y, N) \([^ ]+\)( \(bool\))?\$/\1/p" <<<"$text" | sort'
while read -r p min max def; do
	check "range of $p" range_holds "$p" "$min" "$max" "$def"
	check "documented range of $p" grep -qE "^$p +$min\.\.$max +$def " "$top/Documentation/options.rst"
done < <(sed -nE 's/^([a-z_]+):.*: ([0-9]+)\.\.([0-9]+) \(([0-9]+)\)$/\1 \2 \3 \4/p' <<<"$text")
check "netns_listen takes Y or N" refused netns_listen 2
check "default stays in its folder" status_is 2 "$cmx" default ../taint
check_not "another user sets no default" as_nobody "$cmx" default cm_retries 3

# every option of the documentation, and no other
check "options lists them all" says \
	"$(awk '/^======.* =/ { n++; next } n == 2 { print $1 }' "$top/Documentation/options.rst")" \
	eval '"$cmx" options | awk "NR > 1 { print \$1 }"'
check "options takes no argument" status_is 2 "$cmx" options x
check "no command" status_is 2 "$cmx"
check "the module unloads" unload_cmx
finish
