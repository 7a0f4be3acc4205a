#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kernels: default
# check: default
# timeout: 300
#
# The library without its module: an error names the module, or with RDMA_CMX_FALLBACK=1 the system's
# library is used. "cmx run" explains what is missing. The suite clients runs Debian's programs after a
# fallback.
. "$(dirname "$0")/../vm/guest.sh"
rig || { not_ok rig; finish; }
[ -n "$cmx_lib" ] || skip_all "no library"
run=$(mktemp -d)
chmod 755 "$run"
prog=$tests/stock/fallback
cmx=$top/tools/cmx
dev=/dev/infiniband/rdma_cmx
system=$(ldd "$prog" | awk '$1 == "librdmacm.so.1" { print $3 }')
notice="librdmacm: no $dev: falling back on $system"
missing="librdmacm: no $dev: is the kernel module rdma_cmx installed?"
theirs="/rdma_cm, extension: Function not implemented"

# says TEXT COMMAND...: check the output of the command, including its errors
says() {
	local want=$1 got
	shift
	got=$("$@" 2>&1 </dev/null) || true
	[ "$got" = "$want" ] || { echo "$got"; return 1; }
}
with() { # VALUE COMMAND...: with our library
	RDMA_CMX_FALLBACK=$1 LD_LIBRARY_PATH=$cmx_lib "${@:2}"
}
conf() { # [LINE]: the file, or none
	mkdir -p /etc/rdma
	if [ $# = 0 ]; then rm -f /etc/rdma/rdma_cmx.conf; else echo "$1" >/etc/rdma/rdma_cmx.conf; fi
}
conf

# without the module
refused="$missing
no channel: No such file or directory"
fell="$notice
$theirs"
check "no fallback by default" says "$refused" ours "$prog"
check "no fallback with 0" says "$refused" with 0 "$prog"
check "no fallback with another value" says "$refused" with yes "$prog"
check "a fallback with 1 prints one message" says "$fell" with 1 "$prog"
check "the system's library works in a program with its own malloc" \
	says "$theirs" env LD_PRELOAD="$tests/stock/allocator.so" "$prog"
check "a fallback in a program with its own malloc" says "$fell" \
	with 1 env LD_PRELOAD="$tests/stock/allocator.so" "$prog"
check "a fallback in a program that is not PIE" says "$fell" with 1 "$prog-no-pie"
check "a fallback in such a program with its own malloc" says "$fell" \
	with 1 env LD_PRELOAD="$tests/stock/allocator.so" "$prog-no-pie"
check "a fallback in a program with the address sanitizer" says "$fell" \
	with 1 env ASAN_OPTIONS=detect_leaks=0 "$prog-asan"
check "a fallback with rsockets and its own malloc" eval \
	'diff <(stock "$tests/stock/rsockets") <(with 1 env LD_PRELOAD="$tests/stock/allocator.so" "$tests/stock/rsockets" 2>/dev/null)'
for value in "1 " " 1" $'1\n'; do
	check "white space around the value is ignored: ${value@Q}" says "$fell" with "$value" "$prog"
done

# a program whose descriptor 2 is a file of its own
python3 -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log")
print(s.recv(1000).decode())' >"$run/syslog" &
within 10 test -S /dev/log
check "descriptor 2 is another file" says "$theirs" with 1 "$prog" -f "$run/data"
check "nothing was written to it" eval '[ -e "$run/data" ] && [ ! -s "$run/data" ]'
check "syslog has the message" within 10 grep -qF "$notice" "$run/syslog"
kill $! 2>/dev/null
wait $!
rm -f /dev/log

# each request for the module starts modprobe
requests() { # NUMBER COMMAND...: of the kernel
	local modprobe
	modprobe=$(cat /proc/sys/kernel/modprobe)
	: >"$run/requests"
	printf '%s\n' '#!/bin/sh' "echo \"\$*\" >>$run/requests" >"$run/modprobe"
	chmod +x "$run/modprobe"
	echo "$run/modprobe" >/proc/sys/kernel/modprobe
	"${@:2}" 2>/dev/null
	echo "$modprobe" >/proc/sys/kernel/modprobe
	says "$1" grep -c rdma-client-rdma_cmx "$run/requests"
}
check "a process requests the module once" requests 1 ours "$prog" -c 3
check "no notice when librdmacm is not used" says "" with 1 "$prog" -n
# the list is that of libibverbs
devices=$(stock "$prog" -d)
check "the system's library lists the devices" eval 'grep -qw rxe0 <<<"$devices"'
check "our library lists the same devices without the module" says "$devices" ours "$prog" -d
check "our library lists the same devices after a fallback" says "$notice
$devices" with 1 "$prog" -d
conf RDMA_CMX_FALLBACK=1
check "a fallback by the file" says "$fell" ours "$prog"
check "the variable overrides the file" says "$refused" with 0 "$prog"
conf "RDMA_CMX_FALLBACK=1 "
check "white space in the file" says "$fell" ours "$prog"
conf "# RDMA_CMX_FALLBACK=1"
check "a comment in the file" says "$refused" ours "$prog"
conf

# A set-user-ID program finds our library only by the configuration of the loader
install -m 4755 "$prog" "$run/setuid"
echo "$cmx_lib" >/etc/ld.so.conf.d/00-rdma-cmx.conf
ldconfig
check "a set-user-ID program ignores the variable" says "$refused" \
	as_nobody env RDMA_CMX_FALLBACK=1 "$run/setuid"
conf RDMA_CMX_FALLBACK=1
check "a set-user-ID program obeys the file" says "$fell" as_nobody "$run/setuid"
conf
rm /etc/ld.so.conf.d/00-rdma-cmx.conf
ldconfig

explains() { # TEXT COMMAND...: check the text that "cmx run" prints
	"${@:2}" "$cmx" run true 2>&1 | grep -qF "$1" || { "${@:2}" "$cmx" run true 2>&1; return 1; }
}
check "cmx run: not installed" explains "is not installed for the running kernel $(uname -r)"
# the modules of the guest are those of its kernel, read-only
dep=/lib/modules/$(uname -r)/modules.dep
{ cat "$dep"; echo "updates/rdma_cmx.ko.xz: "; } >"$run/dep"
mount --bind "$run/dep" "$dep"
check "cmx run: not loaded" explains "is installed, but it is not loaded"
umount "$dep"
check "cmx run still runs the program" says "$theirs" eval \
	'RDMA_CMX_FALLBACK=1 "$cmx" run "$prog" 2>/dev/null'

# a program keeps the system's library after a fallback, even if the module is loaded later
mkfifo "$run/input"
with 1 "$prog" -w <"$run/input" >"$run/output" 2>&1 &
exec {input}>"$run/input"
within 10 grep -q "$notice" "$run/output"
load_cmx || { not_ok "the module"; finish; }
exec {input}>&-
wait $!
check "one library for the life of a process" says "$fell" cat "$run/output"

# with the module
check "no fallback where the device is" says "/rdma_cmx, extension: works" with 1 "$prog"
check "cmx run has nothing to explain" says "/rdma_cmx, extension: works" "$cmx" run "$prog"
rsockets_refused() {
	ours env LD_PRELOAD="$tests/stock/allocator.so" "$tests/stock/rsockets" >"$run/rsockets" 2>&1
	grep -q "its own malloc" "$run/rsockets" && grep -q "^rsocket(.*: -1 errno 38" "$run/rsockets"
}
check "no rsockets in a program with its own malloc, and the reason" rsockets_refused

# the module is about to be replaced: what runs goes on, and what starts uses the system's library
env LD_LIBRARY_PATH="$cmx_lib" rping -s -a 10.77.0.1 -p 7700 >/dev/null 2>&1 &
server=$!
within 60 eval '"$cmx" show | grep -qw listen'
drains() { # STATUS [ARG]: with that exit status
	"$cmx" drain "${@:2}" >"$run/drain"
	[ $? = "$1" ] || { cat "$run/drain"; return 1; }
}
check "drain: off at first, with a list of what uses the module" eval \
	'drains 1 && diff <(printf "drain off\npid $server rping\n") "$run/drain"'
check_not "drain: another user cannot begin it" as_nobody "$cmx" drain on
check "drain: on, with the same list" eval 'drains 1 on && diff <(printf "drain on\npid $server rping\n") "$run/drain"'
check "drain: a program that starts falls back" says "librdmacm: no $dev: falling back on $system
$theirs" with 1 "$prog"
check "drain: a program that has no fallback learns the reason" says "librdmacm: the module rdma_cmx is about to be replaced: see cmx drain
no channel: No such device" ours "$prog"
check "drain: cmx show lists the ids" eval '"$cmx" show | grep -qw "$server"'
check "drain: cmx run explains it" explains "about to be replaced"
stock rping -c -a 10.77.0.1 -p 7700 >/dev/null 2>&1 &
client=$!
within 60 eval '[ "$(ids_in connect)" -gt 0 ]'
check "drain: an established connection is listed" eval 'drains 1 && diff <(printf "drain on\npid $server rping\n") "$run/drain"'
kill $server
check "drain: nothing is left" within 60 eval 'drains 0 && diff <(echo "drain on") "$run/drain"'
check "drain: the module unloads at once" rmmod rdma_cmx
wait $server $client
load_cmx || not_ok "drain: the new module"
check "drain: the new module is not drained" eval 'drains 0 && diff <(echo "drain off") "$run/drain"'
check "drain: off, and a program gets a channel" eval \
	'drains 0 on && drains 0 off && says "/rdma_cmx, extension: works" with 1 "$prog"'
chmod 600 $dev
check "no fallback without permission" says "no channel: Permission denied" as_nobody \
	env RDMA_CMX_FALLBACK=1 LD_LIBRARY_PATH="$cmx_lib" "$prog"
check "cmx run: no permission" explains "Its mode does not permit" as_nobody
rm $dev
check "cmx run: no device" explains "is loaded, but this system or container has no device"
check "the library: no device" says "librdmacm: no $dev, but the kernel module rdma_cmx is loaded: a container needs this device of the host
no channel: No such file or directory" ours "$prog"
check "a fallback without the device" says "$fell" with 1 "$prog"
mknod $dev c 10 250
check "a fallback where the device has no driver" says "$fell" with 1 "$prog"
# devtmpfs makes the device again when the module is loaded, but not over this one
rm $dev
check "the module unloads" unload_cmx
finish
