#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ulp_disk: unchanged block devices over RDMA of the kernel: rnbd over rtrs, SRP, iSER.
#   ulp_disk [ULP-CLIENT-SERVER...]     CLIENT and SERVER: ours or stock
# kernels: default
# timeout: 1500
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
tmp=$(mktemp -d)
. "$tests/lab/intree/guest.sh"
modprobe -a ext4 configfs brd sd_mod || exit
mountpoint -q /sys/kernel/config || mount -t configfs c /sys/kernel/config

# rtrs has a module for both ends, so that both have the same stack; lab/two tries others
run_rnbd() { # CLIENT SERVER
	rnbd_load "$2" server
	rnbd_load "$1" client
	check "$who: map a RAM disk" rnbd_map
	check "$who: our ends have ids" ids_of "$1" "$2"
	check_disk "a file system" /dev/rnbd0
	check "$who: reconnect" eval "echo 1 >$rtrs_path/*/reconnect"
	check "$who: the client has reconnected" within 30 rtrs_connected
	check_disk "a file system after that" /dev/rnbd0
	check "$who: the server disconnects" eval "echo 1 >/sys/devices/virtual/rtrs-server/cmx/paths/*/disconnect"
	check "$who: the client reconnects after a disconnect of the server" within 60 rtrs_connected
	start_io /dev/rnbd0
	check "$who: remove the device under I/O" remove_device
	end_io
	check "$who: unmap" rnbd_unmap force
	unloaded rnbd_client rtrs_client rnbd_server rtrs_server rtrs_core
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

# the disk of that LUN at the initiator, in $disk
lun_found() {
	disk=$(ls /sys/block | grep -m 1 '^sd')
	[ -b "/dev/$disk" ]
}
have_disk() { # not by check: its commands run in a subshell
	if within 30 lun_found; then ok "$who: $1"; else not_ok "$who: $1"; fi
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

run_srp() { # INITIATOR TARGET
	local guid
	# sessions of this name are looked up by IP address
	guid=$(cut -d: -f5-8 /sys/class/infiniband/rxe0/ports/1/gids/0)
	tpg=$target/srpt/$guid/$guid
	check "$who: load the target" load "$2" drivers/infiniband/ulp/srpt/ib_srpt
	check "$who: load the initiator" load "$1" drivers/infiniband/ulp/srp/ib_srp
	check "$who: export a RAM disk" srp_target
	check "$who: log in" srp_login
	have_disk "a disk"
	check "$who: our ends have ids" ids_of "$1" "$2"
	check_disk "a file system" "/dev/$disk"
	start_io "/dev/$disk"
	check "$who: log out under I/O" \
		eval "echo 1 >/sys/class/srp_remote_ports/port-*/delete"
	check "$who: the initiator is gone after the logout" within 30 srp_gone
	end_io
	check "$who: log in again" within 30 srp_login
	have_disk "a disk again"
	start_io "/dev/$disk"
	check "$who: remove the device under I/O" remove_device
	check "$who: the initiator is gone with the device" within 60 srp_gone
	end_io
	check "$who: unload the initiator" unload ib_srp
	check "$who: end the target" srp_untarget
	unloaded ib_srpt
	rig
}

# iSER: ib_iser, its daemon, and ib_isert
iqn=iqn.2026-11.test:cmx
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

run_iser() { # INITIATOR TARGET
	tpg=$target/iscsi/$iqn/tpgt_1
	ip link set lo up
	modprobe iscsi_target_mod
	check "$who: load the target" load "$2" drivers/infiniband/ulp/isert/ib_isert
	check "$who: load the initiator" load "$1" drivers/infiniband/ulp/iser/ib_iser
	check "$who: export a RAM disk" iser_target
	pgrep iscsid >/dev/null || check "$who: the daemon of open-iscsi" iser_daemon
	check "$who: log in" iser_login
	have_disk "a disk"
	check "$who: our ends have ids" ids_of "$1" "$2"
	check_disk "a file system" "/dev/$disk"
	check "$who: log out" iser_logout
	check "$who: log in again" iser_login
	have_disk "a disk again"
	start_io "/dev/$disk"
	check "$who: log out under I/O" iser_logout
	end_io
	check "$who: end the target" iser_untarget
	check "$who: unload the initiator" unload ib_iser
	unloaded ib_isert
}

all=$(echo {rnbd,srp,iser}-{ours-ours,stock-stock} {srp,iser}-{ours-stock,stock-ours})
for t in ${*:-$all}; do
	ram_disk || exit
	IFS=- read -r ulp client server <<<"$t"
	case $ulp in
	srp) who=SRP;;
	iser) who=iSER;;
	*) who=$ulp;;
	esac
	who="$who $client-$server"
	run_"$ulp" "$client" "$server"
done
modprobe -r brd
check "the module unloads" unload_cmx
rm -rf "$tmp"
finish
