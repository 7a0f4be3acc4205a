# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The ULPs of the kernel, for suites and for two machines. $who is the ULP with the stacks of its client and
# server (initiator and target), for example "SRP ours-stock". The names of cases begin with it, and
# intree/table reads it. The server is 10.77.0.1 or fd77::1.
mods=$(dirname "$(cmx_module)")/intree
[ -e "$mods/net/rds/rds_rdma.ko" ] || { not_ok "modules" "none in $mods"; finish; }
. "$tests/ulp/kernel.sh"
user=$(cat "$mods/user")	# programs that are not installed here
user() { LD_LIBRARY_PATH=$user/usr/lib/x86_64-linux-gnu "$@"; }
mnt=$tmp/mnt
# the same on two machines
export_dir=/run/cmx-export
mkdir "$mnt"
mkdir -p "$export_dir"

# what the connection managers and the server did last
tracing=/sys/kernel/tracing
show_cause() {
	tail -100 $tracing/trace
	cat "$tmp/9p" "$tmp/rds" 2>/dev/null
}

# ours|stock MODULE-IN-ITS-FOLDER
load() {
	local ko=$mods/$2.ko
	[ "$1" = ours ] || ko=$mods-stock/$2.ko
	if [ -e "$ko" ]; then
		modinfo -F depends "$ko" | tr , '\n' | grep -vE '^(rdma_cmx|rds|rtrs-.*|)$' | xargs -r modprobe -a &&
			insmod "$ko"
	else
		modprobe "${2##*/}"
	fi || return
	echo 1 | tee $tracing/events/{rdma_cmx,rdma_cma,ib_cma}/enable >/dev/null 2>&1 || true
}
unload() { within 30 rmmod "$1"; }
some_ids() { [ "$(kernel_ids)" -gt "$1" ]; }
# ids_of STACK...: check for at least one id for each end on our stack, and for no id without such an end
ids_of() {
	local want
	want=$(printf '%s\n' "$@" | grep -c ours)
	[ "$(kernel_ids)" -ge "$want" ] && { [ "$want" != 0 ] || no_ids; }
}
unloaded() { # MODULE...
	local m
	for m; do
		check "$who: unload $m" unload "$m"
	done
	check "$who: no id is left" within 10 no_ids
}
remove_device() { timeout $((60 * slow)) rdma link del rxe0; }

check_disk() { # WHAT DEVICE
	check "$who: $1" eval "disk_write $2 && disk_read $2"
}

# I/O on a file of $mnt until it fails, or stop_io ends it
start_file_io() {
	rm -f "$mnt/io"
	python3 -c '
import os, sys
f = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_SYNC)
while True:
	for i in range(100):
		os.pwrite(f, bytes(65536), i * 65536)' "$mnt/io" 2>/dev/null &
	io=$!
	within 30 test -s "$mnt/io"
}
stop_io() {
	kill $io
	wait $io
	true
} 2>/dev/null

# rnbd: a block device over rtrs, which Debian's kernel does not have
rtrs_path=/sys/devices/virtual/rtrs-client/cmx/paths
rnbd_load() { # STACK client|server
	local f
	for f in infiniband/ulp/rtrs/rtrs-core "infiniband/ulp/rtrs/rtrs-$2" "block/rnbd/rnbd-$2"; do
		[ -e "/sys/module/$(basename "${f//-/_}")" ] ||
			check "$who: load ${f##*/}" load "$1" "drivers/$f"
	done
}
rnbd_map() { echo "sessname=cmx path=ip:10.77.0.1 device_path=/dev/ram0" >/sys/devices/virtual/rnbd-client/ctl/map_device; }
rnbd_unmap() { echo "$1" >/sys/block/rnbd0/rnbd/unmap_device; }
rtrs_connected() { [ "$(cat $rtrs_path/*/state)" = connected ]; }

# NFS/RDMA: client and server are one module
nfsd=/proc/fs/nfsd
nfs_export() {
	ip link set lo up
	modprobe nfsd && mount -t tmpfs none "$export_dir" && mount -t nfsd none $nfsd || return
	# there is no name server for the daemons that look up the name of a client
	sed -i 's/^hosts:.*/hosts: files/' /etc/nsswitch.conf
	mkdir -p /run/rpcbind /var/lib/nfs
	touch /var/lib/nfs/etab /var/lib/nfs/rmtab
	grep -q ^_rpc: /etc/passwd || echo "_rpc:x:65533:65534::/run/rpcbind:/bin/false" >>/etc/passwd
	echo "$export_dir *(rw,no_root_squash,insecure,no_subtree_check,fsid=0)" >/etc/exports
	user "$user/sbin/rpcbind" && user "$user/usr/sbin/exportfs" -a && user "$user/usr/sbin/rpc.mountd" -p 20048 || return
	echo 10 >$nfsd/nfsv4leasetime
	echo 10 >$nfsd/nfsv4gracetime
}
nfs_serve() { echo "rdma 20049" >$nfsd/portlist && echo 4 >$nfsd/threads; }
nfs_unexport() {
	echo 0 >$nfsd/threads
	user "$user/usr/sbin/exportfs" -ua
	pkill rpc.mountd
	pkill rpcbind
	umount $nfsd "$export_dir"
}
nfs_mount() { # VERSION [ADDRESS [OPTION]]
	local addr=${2:-10.77.0.1} rdma=rdma path=/ host
	host=$addr
	[[ $addr != *:* ]] || rdma=rdma6 host="[$addr]"
	set -- "vers=$1,proto=$rdma,port=20049,addr=$addr${3:+,$3}" "$1"
	if [ "$2" = 3 ]; then
		mount -i -t nfs -o "$1,nolock,mountproto=tcp,mountport=20048" "$host:$export_dir" "$mnt"
	else
		mount -i -t nfs4 -o "$1,clientaddr=$addr" "$host:/" "$mnt"
	fi
}

# RDS
rds_send() { # FROM TO
	timeout 60 python3 - "$1" "$2" <<-'END'
	import hashlib, os, socket, sys
	s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
	s.bind((sys.argv[1], 4000))
	for size in 1, 100, 8192, 65536:
	    sent = os.urandom(size)
	    s.sendto(sent, (sys.argv[2], 4001))
	    got, sender = s.recvfrom(64)
	    assert got == hashlib.sha256(sent).digest() and sender == (sys.argv[2], 4001), (size, sender)
	END
}
rds_answer() { # ADDRESS: each datagram with its hash
	python3 - "$1" <<-'END' >"$tmp/rds" &
	import hashlib, socket, sys
	s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
	s.bind((sys.argv[1], 4001))
	print("ready", flush=True)
	while True:
	    got, sender = s.recvfrom(1 << 17)
	    s.sendto(hashlib.sha256(got).digest(), sender)
	END
	serving=$!
	within 30 grep -q ready "$tmp/rds"
}
