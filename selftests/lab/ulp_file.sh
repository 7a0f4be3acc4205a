#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ulp_file: unchanged file systems and sockets over RDMA of the kernel: NFS, SMB direct, 9p, RDS.
#   ulp_file [ULP-CLIENT-SERVER...]     CLIENT and SERVER: ours or stock
# kernels: default debug
# timeout: 3000
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
tmp=$(mktemp -d)
. "$tests/lab/intree/guest.sh"

# blocks of several processes at random places, each with its checksum
fio_verifies() {
	mountpoint -q "$mnt" && fio --name=cmx --directory="$mnt" --rw=randrw --size=1m --bs=16k --direct=1 --numjobs=4 \
		--verify=crc32c --verify_fatal=1
}
written_and_read() { # WHAT
	check "$who: $1: write" write_file
	check "$who: $1: the file reads back" read_file
}

# the device is removed while a file system is unmounted. Only a forced unmount ends without a device
forced_unmount() {
	remove_device &
	within 60 umount -f "$mnt" && wait $!
}
plain_unmount() {
	umount "$mnt" &
	remove_device && rig && wait $!
}

# NFS: client and server are one module, so that both have the same stack; lab/two tries others
nfs_versions() {
	local v
	for v in 3 4.0 4.1 4.2; do
		check "$who: version $v: mount" nfs_mount $v
		check "$who: version $v: write" write_file
		umount "$mnt"
		check "$who: version $v: mount again" nfs_mount $v
		check "$who: version $v: the file reads back" read_file
		check "$who: version $v: unmount" umount "$mnt"
	done
	check "$who: IPv6: mount" nfs_mount 4.2 fd77::1
	written_and_read "IPv6"
	check "$who: IPv6: unmount" umount "$mnt"
	check "$who: nconnect=4: mount" nfs_mount 4.1 10.77.0.1 nconnect=4
	check "$who: nconnect=4: fio" fio_verifies
	# listeners of both address families
	[ "$1" = stock ] || check "$who: nconnect=4: connections of ours" some_ids $((2 + 8 - 1))
	written_and_read "nconnect=4"
	check "$who: nconnect=4: unmount" umount "$mnt"
}
nfs_teardown() {
	check "$who: mount" nfs_mount 4.2
	check "$who: fio" fio_verifies
	check "$who: write" write_file
	start_file_io
	check "$who: remove the device under I/O" remove_device
	rig
	check "$who: the file reads back on the next device" read_file
	written_and_read "after the removal"
	check "$who: end the server under I/O" eval "echo 0 >$nfsd/threads"
	check "$who: serve again" nfs_serve
	check "$who: the file reads back from the next server" read_file
	stop_io
	written_and_read "after the restart"
	start_file_io
	check "$who: a forced unmount during the removal" forced_unmount
	stop_io
	rig
	check "$who: mount after a forced unmount" nfs_mount 4.2
	check "$who: the file reads back after a forced unmount" read_file
	check "$who: a plain unmount during the removal" plain_unmount
}
run_nfs() { # CLIENT SERVER
	check "$who: load" load "$1" net/sunrpc/xprtrdma/rpcrdma
	check "$who: export a folder" nfs_export
	check "$who: serve" nfs_serve
	check "$who: our end has listeners" ids_of "$2"
	nfs_versions "$1"
	nfs_teardown
	check "$who: end the server" nfs_unexport
	unloaded rpcrdma
}

# SMB direct: Debian 12's ksmbd-tools do not fit the server of its 6.12
ksmbd() { CMX_CACHE=${user%/*} "$tests/vm/debian13" "ksmbd.$1" -C "$tmp/smb.conf" -P "$tmp/smb.users" "${@:2}"; }
smb_serve() {
	cat >"$tmp/smb.conf" <<-END
		[global]
		server min protocol = SMB3_11
		[cmx]
		path = $export_dir
		read only = no
		force user = root
	END
	: >"$tmp/smb.users"
	# the daemon must not hold the output of a case
	ksmbd adduser -a -p secret cmx && ksmbd mountd >"$tmp/smb.log" 2>&1 || { cat "$tmp/smb.log"; return 1; }
}
smb_ready() { grep -q running /sys/class/ksmbd-control/stats; }
smb_mount() {
	mount -i -t cifs "//10.77.0.1/cmx" "$mnt" \
		-o ip=10.77.0.1,rdma,vers=3.1.1,username=cmx,password=secret,cache=none,echo_interval=5
}
smb_end() {
	echo hard >/sys/class/ksmbd-control/kill_server
	pkill -f ksmbd.mountd
	true
}
# both ends post as many receives as their queues have room for, and ib_drain_qp() warns that it cannot post one more
smb_leave_room() {
	echo 254 >/proc/fs/cifs/smbd_receive_credit_max && echo 254 >/proc/fs/cifs/smbd_send_credit_target
}
run_smb() { # CLIENT SERVER
	mount -t tmpfs none "$export_dir"
	check "$who: load the server" load "$2" fs/smb/server/ksmbd
	check "$who: load the client" load "$1" fs/smb/client/cifs
	check "$who: one credit less" smb_leave_room
	check "$who: serve" smb_serve
	check "$who: the server is ready" within 30 smb_ready
	check "$who: mount" smb_mount
	check "$who: our ends have ids" ids_of "$1" "$2"
	written_and_read "a file"
	check "$who: fio" fio_verifies
	check "$who: unmount" umount "$mnt"
	check "$who: mount again" smb_mount
	check "$who: the file reads back" read_file
	# not under I/O, because cifs may then wait forever for a memory region, on either stack
	check "$who: remove the device" remove_device
	rig
	check "$who: the file reads back on the next device" within 60 read_file
	written_and_read "after the removal"
	check "$who: unmount after the removal" umount "$mnt"
	check "$who: unload the client" unload cifs
	check "$who: end the server" smb_end
	unloaded ksmbd
	umount "$export_dir"
}

# RDS_INFO_IB_CONNECTIONS: RDS reads the GIDs of a connection under the RCU read lock
rds_connections() {
	python3 -c 'import socket
assert socket.socket(21, socket.SOCK_SEQPACKET).getsockopt(276, 10008, 1024)'
}
# RDS: the loopback of its RDMA transport has two QPs
run_rds() { # CLIENT SERVER
	# rds is a module of Debian's kernel, or was built with the others
	modprobe -q rds || insmod "$mods/net/rds/rds.ko"
	check "$who: load" load "$1" net/rds/rds_rdma
	rds_answer 10.77.0.1
	check "$who: datagrams" rds_send 10.77.0.1 10.77.0.1
	check "$who: RDS lists its connections" rds_connections
	[ "$1" = stock ] || check "$who: connections of ours" some_ids 2
	check "$who: remove the device" remove_device
	rig
	check "$who: datagrams on the next device" rds_send 10.77.0.1 10.77.0.1
	kill $serving
	wait $serving
	unloaded rds_rdma
	rmmod rds
}

# 9p: the client; the server is a program on either library
p9_serve() { # STACK
	local lib=
	[ "$1" = stock ] || lib=$cmx_lib
	LD_LIBRARY_PATH=$lib "$tests/lab/intree/server9p" 10.77.0.1 5640 "$export_dir" >"$tmp/9p" 2>&1 &
	serving=$!
	within 30 grep -q ready "$tmp/9p" || { cat "$tmp/9p"; return 1; }
}
p9_mount() {
	mount -i -t 9p -o trans=rdma,port=5640,version=9p2000.L,msize=65536 10.77.0.1 "$mnt"
}
p9_end() {
	kill $serving
	wait $serving
	true
}
run_9p() { # CLIENT SERVER
	check "$who: load" load "$1" net/9p/9pnet_rdma
	p9_serve "$2" && ok "$who: serve" || not_ok "$who: serve" "$(cat "$tmp/9p")"
	check "$who: mount" p9_mount
	# the server is a process, whose ids do not count
	check "$who: our end has an id" ids_of "$1"
	check "$who: write" write_file
	umount "$mnt"
	p9_end
	p9_serve "$2"
	check "$who: mount again" p9_mount
	check "$who: the file reads back" read_file
	check "$who: folders" eval "mkdir $mnt/d && [ -d $export_dir/d ] && rmdir $mnt/d && [ -e $mnt/file ]"
	check "$who: unmount" umount "$mnt"
	p9_end
	unloaded 9pnet_rdma
	rm -rf "${export_dir:?}"/*
}

# the debug kernel has only these modules
all="rds-ours-ours 9p-ours-ours"
[ ! -e "$mods-stock/Kbuild" ] || all=$(echo {nfs,smb,rds,9p}-{ours-ours,stock-stock} {smb,9p}-{ours-stock,stock-ours})
for t in ${*:-$all}; do
	IFS=- read -r ulp client server <<<"$t"
	who="${ulp^^} $client-$server"
	run_"$ulp" "$client" "$server"
done
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
