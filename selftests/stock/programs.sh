#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kernels: default
# timeout: 600
#
# Programs of other projects that use librdmacm, from Debian. Each runs on the in-tree stack, which shows that
# it works on rxe, and then on rdma_cmx while the in-tree user-space CM is not loaded.
#
# These programs do not work on rxe with the in-tree stack and are not run:
# fio with verb=send	"cq completion status 13(RNR retry counter exceeded)"
# qperf over librspreload	"fcntl F_SETOWN failed: Operation not supported"
. "$(dirname "$0")/../vm/guest.sh"
rig || { not_ok rig; finish; }
[ -n "$cmx_lib" ] || skip_all "no library"
run=$(mktemp -d)
cd "$run" || exit
addr=10.77.0.1
port=7300
# dtestcm binds 1,000 ids to any port before it listens on 45248
sysctl -qw net.ipv4.ip_local_port_range="46000 60999"

# One program runs at a time, so every listener is its passive side.
listening() {
	ss -Hltn | grep -q . || grep -q "^state-listen [^0]" /sys/kernel/debug/rdma_cmx/stats 2>/dev/null ||
		rdma resource show cm_id 2>/dev/null | grep -qwi LISTEN
}

used() { cat /sys/class/infiniband/rxe0/cmx1/connected; }

# program NAME COMMAND...: on the stack of this pass. On ours, the command must connect.
program() {
	local name="$1: $stack" before=0

	wanted "$name" || return
	port=$((port + 3))
	[ "$stack" != ours ] || before=$(used)
	if ! "${@:2}" >out 2>&1 </dev/null; then
		not_ok "$name"
		tail -30 out | tr -cd '\n\40-\176' | note
	elif [ "$stack" = ours ] && [ "$(used)" = "$before" ]; then
		not_ok "$name" "it did not use our stack"
	else
		ok "$name"
	fi
}

# with the library of the stack
on() { LD_LIBRARY_PATH=$lib timeout -k 2 $((20 * slow)) "$@" </dev/null; }

# serve COMMAND...: in the background, and wait until it listens; $server is its process
serve() {
	LD_LIBRARY_PATH=$lib timeout -k 2 $((20 * slow)) "$@" >passive 2>&1 </dev/null &
	server=$!
	within 10 listening
	# some have a second listener
	nap 0.3
}

# pair PASSIVE ACTIVE: @P is a port of their own. A passive side that begins with "endless" is ended.
pair() {
	local passive=${1//@P/$port} status=0

	# shellcheck disable=SC2086 # words
	serve ${passive#endless }
	# shellcheck disable=SC2086
	on ${2//@P/$port} || status=1
	[ "$passive" = "${passive#endless }" ] || kill "$server"
	wait "$server" || [ "$passive" != "${passive#endless }" ] || status=1
	cat passive
	within 5 eval ! listening
	return $status
}

# The sockets of both are rsockets.
http() {
	local preload=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so status=0

	mkdir -p www
	rm -f got
	head -c 100000 /dev/urandom >www/file
	serve env LD_PRELOAD=$preload /usr/bin/python3 -m http.server -d www -b $addr $port
	on env LD_PRELOAD=$preload /usr/bin/python3 -c "import urllib.request
urllib.request.urlretrieve('http://$addr:$port/file', 'got')" && cmp www/file got || status=1
	kill "$server"
	wait "$server"
	cat passive
	return $status
}

# The tests look for the address of a device at its parent, and rxe on a dummy interface has none.
pyverbs() {
	local doc=/usr/share/doc/rdma-core/tests

	rm -rf tests
	mkdir tests
	cp $doc/[!rt]* $doc/rdmacm_utils.py* $doc/test_rdmacm.py* tests
	gunzip tests/*.gz
	cat >run_tests <<-END
		import sys, unittest
		sys.path[:0] = [".", "tests"]
		sys.argv = ["run_tests", "--dev", "rxe0", "-v"]
		from args_parser import parser
		parser.parse_args()
		import tests.base
		def add(test, *args):
		    test.args.append([*args, "$addr", None])
		tests.base.RDMATestCase._get_ip_mac = add
		unittest.main(module="tests.test_rdmacm")
	END
	on /usr/bin/python3 run_tests >tests.log 2>&1
	cat tests.log
	grep -q '^Ran 10 tests' tests.log && grep -qx OK tests.log
}

# migrate: 2 MB of random numbers, as the memory of a machine without a processor
emulator() { # FILE ARG...
	timeout -k 2 $((60 * slow)) qemu-system-x86_64 -nodefaults -display none -S -monitor stdio -m 2M \
		-object memory-backend-file,id=ram,mem-path="$1",size=2M,share=on \
		-machine none,memory-backend=ram "${@:2}"
}
migrated() {
	echo "info migrate" >source.monitor
	nap 0.5
	grep -aqE 'Migration status: (completed|failed)' source.log
}
migrate() {
	local LD_LIBRARY_PATH=$lib source target

	export LD_LIBRARY_PATH
	rm -f ./*.monitor
	mkfifo source.monitor target.monitor
	head -c 2M /dev/urandom >source.ram
	head -c 2M /dev/zero >target.ram
	emulator target.ram -incoming "rdma:$addr:$port" <>target.monitor >target.log 2>&1 &
	target=$!
	within 20 listening
	emulator source.ram <>source.monitor >source.log 2>&1 &
	source=$!
	echo "migrate -d rdma:$addr:$port" >source.monitor
	within 20 migrated
	echo quit >source.monitor
	echo quit >target.monitor
	wait $source $target
	cat target.log source.log
	cmp source.ram target.ram
}

programs() {
	local fi="fi_pingpong -I 20 -S 4096 -c -p verbs" qperf="qperf -lp @P"
	local fio="fio --ioengine=rdma --port=@P --bs=4k --size=128k --iodepth=4"
	local demo="env UCX_TLS=rc_verbs,self UCX_NET_DEVICES=rxe0:1 UCX_SOCKADDR_TLS_PRIORITY=rdmacm"

	# rxe reports the last WQE of a QP each time its receiver runs, and UCX 1.13 aborts at the second
	demo="$demo UCX_IB_ASYNC_EVENTS=n io_demo"

	# a completion queue for the 256 peers that are the default is larger than rxe allows
	export FI_UNIVERSE_SIZE=2
	program "fi_pingpong msg" pair "$fi -e msg -B @P" "$fi -e msg -P @P $addr"
	program "fi_pingpong rdm" pair "$fi;ofi_rxm -e rdm -B @P" "$fi;ofi_rxm -e rdm -P @P $addr"
	program "fio write" pair "$fio --name=s --rw=read" \
		"$fio --name=c --hostname=$addr --verb=write --rw=write"
	program "fio read" pair "$fio --name=s --rw=read" \
		"$fio --name=c --hostname=$addr --verb=read --rw=write"
	program "qperf" pair "endless $qperf" "$qperf $addr -t 1 -cm1 rc_lat rc_rdma_write_lat"
	program "dtestcm" pair "dtestcm -s -P ofa-v2-cma" "dtestcm -P ofa-v2-cma -h $addr"
	program "io_demo" pair "endless $demo -p @P" "$demo -p @P -i 10 -d 4096:4096 -q $addr"
	program "pyverbs test_rdmacm" pyverbs
	program "QEMU live migration" migrate
}

rsockets() {
	local args="-p @P -C 10 -S 4096 -T v"

	program "rstream" pair "rstream -b $addr $args" "rstream -s $addr $args"
	program "riostream" pair "riostream -b $addr $args" "riostream -s $addr $args"
	program "http over librspreload" http
}

echo 'ofa-v2-cma u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "d0 0" ""' >dat.conf
export DAT_OVERRIDE=$run/dat.conf
stack=in-tree lib=
programs
rsockets
# they are no part of our library, which passes them to the system's
stack="our library" lib=$cmx_lib
rsockets
load_cmx || { not_ok "our stack" "no module"; finish; }
modprobe -r rdma_ucm
check_not "the in-tree user-space CM is not loaded" test -e /dev/infiniband/rdma_cm
stack=ours lib=$cmx_lib
programs
finish
