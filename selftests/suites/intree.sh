#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# intree: more of the kernel's own ULPs, unchanged: rnbd over rtrs, SRP, iSER, NFS/RDMA, RDS, 9p.
# kernels: default
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
tmp=$(mktemp -d)
mods=$(dirname "$(cmx_module)")/intree
[ -e "$mods/net/sunrpc/xprtrdma/rpcrdma.ko" ] || { not_ok "modules" "none in $mods"; finish; }
. "$tests/ulp/kernel.sh"
user=$(cat "$mods/user")	# programs that are not installed here
mnt=$tmp/mnt
mkdir "$mnt"
modprobe -a ext4 configfs brd sd_mod || exit
mountpoint -q /sys/kernel/config || mount -t configfs c /sys/kernel/config

# ours|stock MODULE-IN-ITS-FOLDER
load() {
	local ko=$mods/$2.ko
	if [ "$1" = stock ]; then
		modprobe "${2##*/}"
	else
		modinfo -F depends "$ko" | tr , '\n' | grep -vE '^(rdma_cmx|rtrs-.*|)$' | xargs -r modprobe -a &&
			insmod "$ko"
	fi
}
unload() { within 30 rmmod "$1"; }
some_ids() { [ "$(kernel_ids)" -gt "$1" ]; }

check_disk() { # WHAT DEVICE
	check "$1" eval "disk_write $2 && disk_read $2"
}
remove_device() { timeout 60 rdma link del rxe0; }

# rnbd: a block device over rtrs, which Debian's kernel has not
rnbd_client=/sys/devices/virtual/rnbd-client/ctl
rtrs_path=/sys/devices/virtual/rtrs-client/cmx/paths
rnbd_map() { echo "sessname=cmx path=ip:10.77.0.1 device_path=/dev/ram0" >$rnbd_client/map_device; }
rnbd_unmap() { echo "$1" >/sys/block/rnbd0/rnbd/unmap_device; }
rtrs_connected() { [ "$(cat $rtrs_path/*/state)" = connected ]; }

run_rnbd() {
	local f
	for f in rtrs-core rtrs-server rtrs-client; do
		check "rnbd: load $f" load ours drivers/infiniband/ulp/rtrs/$f
	done
	check "rnbd: load the server" load ours drivers/block/rnbd/rnbd-server
	check "rnbd: load the client" load ours drivers/block/rnbd/rnbd-client
	check "rnbd: map a RAM disk" rnbd_map
	check "rnbd: it goes over ours" some_ids 3
	check_disk "rnbd: a file system on it" /dev/rnbd0
	check "rnbd: reconnect" eval "echo 1 >$rtrs_path/*/reconnect"
	check "rnbd: connected again" within 30 rtrs_connected
	check_disk "rnbd: a file system after that" /dev/rnbd0
	check "rnbd: the server disconnects" eval "echo 1 >/sys/devices/virtual/rtrs-server/cmx/paths/*/disconnect"
	check "rnbd: the client comes back" within 60 rtrs_connected
	start_io /dev/rnbd0
	check "rnbd: the device goes under I/O" remove_device
	end_io
	check "rnbd: unmap" rnbd_unmap force
	for f in rnbd_client rtrs_client rnbd_server rtrs_server rtrs_core; do
		check "rnbd: unload $f" unload $f
	done
	check "rnbd: no id is left" within 10 no_ids
	rig
}

# a target of the kernel, with the RAM disk as its only LUN
target=/sys/kernel/config/target
core=$target/core/iblock_0
lun_add() { # TPG
	mkdir -p $core/ram && echo udev_path=/dev/ram0 >$core/ram/control && echo 1 >$core/ram/enable &&
		mkdir -p "$1/lun/lun_0" && ln -s $core/ram "$1/lun/lun_0/"
}
lun_remove() { # TPG
	rm "$1/lun/lun_0/ram" && rmdir "$1/lun/lun_0" $core/ram $core
}

# its disk at the initiator, in $disk
lun_found() {
	disk=$(ls /sys/block | grep -m 1 '^sd')
	[ -b "/dev/$disk" ]
}

# SRP: ib_srp and ib_srpt
srp_target() {
	mkdir -p "$tpg" && echo 5555 >$target/srpt/discovery_auth/rdma_cm_port && lun_add "$tpg" &&
		mkdir -p "$tpg/acls/10.77.0.1/lun_0" &&
		ln -s "$tpg/lun/lun_0" "$tpg/acls/10.77.0.1/lun_0/" && echo 1 >"$tpg/enable"
}
srp_untarget() {
	echo 0 >"$tpg/enable" && rm "$tpg"/acls/*/lun_0/lun_0 && rmdir "$tpg"/acls/*/lun_0 "$tpg"/acls/* &&
		lun_remove "$tpg" && rmdir "$tpg" "${tpg%/*}" $target/srpt
}
srp_login() {
	local guid
	guid=$(cat /sys/module/ib_srpt/parameters/srpt_service_guid)
	guid=$(printf '%016x' "$((guid))")
	echo "id_ext=$guid,ioc_guid=$guid,dest=10.77.0.1:5555" \
		>/sys/class/infiniband_srp/srp-rxe0-1/add_target
}
srp_gone() { ! ls -d /sys/class/srp_remote_ports/port-* 2>/dev/null; }

# run_srp INITIATOR TARGET
run_srp() {
	local who="SRP, initiator $1, target $2" want=0 guid
	# sessions of this name are looked up by IP address
	guid=$(cut -d: -f5-8 /sys/class/infiniband/rxe0/ports/1/gids/0)
	tpg=$target/srpt/$guid/$guid
	check "$who: load the target" load "$2" drivers/infiniband/ulp/srpt/ib_srpt
	check "$who: load the initiator" load "$1" drivers/infiniband/ulp/srp/ib_srp
	check "$who: export a RAM disk" srp_target
	[ "$2" = stock ] || want=1
	check "$who: log in" srp_login
	if ! within 30 lun_found; then not_ok "$who: a disk"; else ok "$who: a disk"; fi
	check "$who: it goes over ours" some_ids $want
	check_disk "$who: a file system on it" "/dev/$disk"
	start_io "/dev/$disk"
	check "$who: the initiator leaves under I/O" \
		eval "echo 1 >/sys/class/srp_remote_ports/port-*/delete"
	check "$who: it is gone" within 30 srp_gone
	end_io
	check "$who: log in again" within 30 srp_login
	within 30 lun_found
	start_io "/dev/$disk"
	check "$who: the device goes under I/O" remove_device
	check "$who: the initiator goes with it" within 60 srp_gone
	end_io
	check "$who: unload the initiator" unload ib_srp
	check "$who: end the target" srp_untarget
	check "$who: unload the target" unload ib_srpt
	check "$who: no id is left" within 10 no_ids
	rig
}

# iSER: ib_iser, its daemon, and ib_isert
iqn=iqn.2026-11.test:cmx
user() { LD_LIBRARY_PATH=$user/usr/lib/x86_64-linux-gnu "$@"; }
iscsiadm() { user "$user/sbin/iscsiadm" "$@"; }
iser_target() {
	local name
	mkdir -p "$tpg" && lun_add "$tpg" && mkdir -p "$tpg/np/10.77.0.1:3260" || return
	for name in authentication=0 generate_node_acls=1 cache_dynamic_acls=1 demo_mode_write_protect=0; do
		echo ${name#*=} >"$tpg/attrib/${name%=*}" || return
	done
	echo 1 >"$tpg/np/10.77.0.1:3260/iser" && echo 1 >"$tpg/enable"
}
iser_untarget() {
	echo 0 >"$tpg/enable" && rmdir "$tpg/np/10.77.0.1:3260" && lun_remove "$tpg" && rmdir "$tpg" "${tpg%/*}" $target/iscsi
}
iser_daemon() {
	mkdir -p /etc/iscsi /run/lock/iscsi && echo "InitiatorName=$iqn-initiator" >/etc/iscsi/initiatorname.iscsi &&
		cp "$user/etc/iscsi/iscsid.conf" /etc/iscsi/ && user "$user/sbin/iscsid"
}
iser_login() {
	iscsiadm -m node -o new -T $iqn -p 10.77.0.1:3260 -I iser &&
		iscsiadm -m node -T $iqn -p 10.77.0.1:3260 -I iser --login
}
iser_logout() { iscsiadm -m node -T $iqn -p 10.77.0.1:3260 -I iser --logout; }
# run_iser INITIATOR TARGET
run_iser() {
	local who="iSER, initiator $1, target $2" want=0
	tpg=$target/iscsi/$iqn/tpgt_1
	ip link set lo up
	modprobe iscsi_target_mod
	check "$who: load the target" load "$2" drivers/infiniband/ulp/isert/ib_isert
	check "$who: load the initiator" load "$1" drivers/infiniband/ulp/iser/ib_iser
	check "$who: export a RAM disk" iser_target
	pgrep iscsid >/dev/null || check "$who: the daemon of open-iscsi" iser_daemon
	[ "$2" = stock ] || want=1
	check "$who: log in" iser_login
	if ! within 30 lun_found; then not_ok "$who: a disk"; else ok "$who: a disk"; fi
	check "$who: it goes over ours" some_ids $want
	check_disk "$who: a file system on it" "/dev/$disk"
	check "$who: log out" iser_logout
	check "$who: log in again" iser_login
	within 30 lun_found
	start_io "/dev/$disk"
	check "$who: log out under I/O" iser_logout
	end_io
	check "$who: end the target" iser_untarget
	check "$who: unload the initiator" unload ib_iser
	check "$who: unload the target" unload ib_isert
	check "$who: no id is left" within 10 no_ids
}

# NFS/RDMA: client and server are one module
nfsd=/proc/fs/nfsd
forever=2147483647
nfs_server() {
	local rpc=/proc/net/rpc
	ip link set lo up
	mkdir -p "$export_dir" && mount -t tmpfs none "$export_dir" || return
	mountpoint -q $nfsd || mount -t nfsd none $nfsd || return
	# exportfs and rpc.mountd would do this: any port, no subtree check, an fsid. Only version 3 needs rpcbind
	echo "nfsd 10.77.0.1 $forever cmx" >$rpc/auth.unix.ip/channel &&
		echo "cmx $export_dir $forever $((0x2402)) 65534 65534 0" >$rpc/nfsd.export/channel &&
		echo "cmx 1 \\x00000000 $forever $export_dir" >$rpc/nfsd.fh/channel || return
	echo "-3 +4" >$nfsd/versions
	echo 10 >$nfsd/nfsv4leasetime
	echo 10 >$nfsd/nfsv4gracetime
	echo "rdma 20049" >$nfsd/portlist && echo 4 >$nfsd/threads
}
nfs_mount() { # VERSION
	mount -i -t nfs4 -o "vers=$1,proto=rdma,port=20049,addr=10.77.0.1,clientaddr=10.77.0.1,timeo=50,retrans=2" \
		10.77.0.1:/ "$mnt"
}
run_nfs() {
	local v
	export_dir=$tmp/export
	check "NFS: load" load ours net/sunrpc/xprtrdma/rpcrdma
	modprobe -a nfsd nfsv4 || return
	check "NFS: serve" nfs_server
	check "NFS: the listeners are ours" some_ids 0
	for v in 4.0 4.1 4.2; do
		check "NFS $v: mount" nfs_mount $v
		check "NFS $v: write" write_file
		umount "$mnt"
		check "NFS $v: mount again" nfs_mount $v
		check "NFS $v: it reads back" read_file
		check "NFS $v: unmount" umount "$mnt"
	done
	check "NFS: end the server" eval "echo 0 >$nfsd/threads"
	check "NFS: unload" unload rpcrdma
	check "NFS: no id is left" within 10 no_ids
	umount $nfsd "$export_dir"
}

# RDS: the loopback of its RDMA transport has two QPs
run_rds() {
	modprobe rds
	check "RDS: load" load ours net/rds/rds_rdma
	check "RDS: datagrams" timeout 60 python3 -c '
import os, socket
a, b = (socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0) for i in range(2))
a.bind(("10.77.0.1", 4000))
b.bind(("10.77.0.1", 4001))
for size in 1, 100, 8192, 65536:
	sent = os.urandom(size)
	a.sendto(sent, ("10.77.0.1", 4001))
	got, sender = b.recvfrom(size)
	assert got == sent and sender == ("10.77.0.1", 4000), (size, len(got), sender)
'
	check "RDS: they go over ours" some_ids 2
	check "RDS: unload" unload rds_rdma
	modprobe -r rds
	check "RDS: no id is left" within 10 no_ids
}

# 9p: the client; the server is a program on either library
p9_serve() { # STACK
	local lib=
	[ "$1" = stock ] || lib=$cmx_lib
	LD_LIBRARY_PATH=$lib "$tests/ulp/intree/server9p" 10.77.0.1 5640 "$export_dir" >"$tmp/9p" 2>&1 &
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
# run_9p CLIENT SERVER
run_9p() {
	local who="9p, client $1, server $2"
	export_dir=$tmp/9p-export
	mkdir -p "$export_dir"
	modprobe -a 9p 9pnet
	check "$who: load" load "$1" net/9p/9pnet_rdma
	p9_serve "$2" && ok "$who: serve" || not_ok "$who: serve" "$(cat "$tmp/9p")"
	check "$who: mount" p9_mount
	check "$who: write" write_file
	umount "$mnt"
	p9_end
	p9_serve "$2"
	check "$who: mount again" p9_mount
	check "$who: it reads back" read_file
	check "$who: folders" eval "mkdir $mnt/d && [ -d $export_dir/d ] && rmdir $mnt/d && [ -e $mnt/file ]"
	check "$who: unmount" umount "$mnt"
	p9_end
	check "$who: unload" unload 9pnet_rdma
	check "$who: no id is left" within 10 no_ids
	rm -rf "$export_dir"
}

for t in ${*:-rnbd srp-ours-ours srp-ours-stock srp-stock-ours iser-ours-ours iser-ours-stock iser-stock-ours nfs rds 9p-ours-ours 9p-ours-stock 9p-stock-ours}; do
	ram_disk || exit
	IFS=- read -r ulp client server <<<"$t"
	run_$ulp "$client" "$server"
done
modprobe -r brd
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
