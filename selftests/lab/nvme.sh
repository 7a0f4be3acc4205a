#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# nvme: nvme-rdma and nvmet-rdma of the kernel, with only names changed, at one end or at both ends.
# kernels: host
# check: default
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
rig || exit
load_cmx || exit
tmp=$(mktemp -d)
mods=$(dirname "$(cmx_module)")/nvme
[ -e "$mods/cmx-nvme-rdma.ko" ] || { not_ok "modules" "none in $mods"; finish; }
nvmet=/sys/kernel/config/nvmet
image=/dev/ram0
mnt=$tmp/mnt
. "$tests/ulp/kernel.sh"

# only the modules that a test loads may register the transport "rdma"
printf 'install %s /bin/true\n' nvme-rdma nvmet-rdma >/etc/modprobe.d/cmx-test.conf
modprobe -a nvme-core nvme-fabrics nvmet ext4 configfs || exit
ram_disk || exit
mountpoint -q /sys/kernel/config || mount -t configfs c /sys/kernel/config
mkdir "$mnt"

load() { # ours|stock host|target
	case $1-$2 in
	ours-host) insmod "$mods/cmx-nvme-rdma.ko";;
	ours-target) insmod "$mods/cmx-nvmet-rdma.ko";;
	stock-host) modprobe -i nvme-rdma;;
	stock-target) modprobe -i nvmet-rdma;;
	esac
}
unload() {
	case $1-$2 in
	ours-host) within 10 rmmod cmx_nvme_rdma;;
	ours-target) within 10 rmmod cmx_nvmet_rdma;;
	stock-host) within 10 rmmod nvme_rdma;;
	stock-target) within 10 rmmod nvmet_rdma;;
	esac
}

port_on()  { ln -s $nvmet/subsystems/cmx $nvmet/ports/1/subsystems/cmx; }
port_off() { rm $nvmet/ports/1/subsystems/cmx; }
export_ram() {
	mkdir $nvmet/subsystems/cmx $nvmet/subsystems/cmx/namespaces/1 $nvmet/ports/1 &&
	echo 1 >$nvmet/subsystems/cmx/attr_allow_any_host &&
	echo $image >$nvmet/subsystems/cmx/namespaces/1/device_path &&
	echo 1 >$nvmet/subsystems/cmx/namespaces/1/enable &&
	echo rdma >$nvmet/ports/1/addr_trtype &&
	echo ipv4 >$nvmet/ports/1/addr_adrfam &&
	echo 10.77.0.1 >$nvmet/ports/1/addr_traddr &&
	echo 4420 >$nvmet/ports/1/addr_trsvcid &&
	port_on
}
unexport() {
	port_off 2>/dev/null
	rmdir $nvmet/ports/1 && rmdir $nvmet/subsystems/cmx/namespaces/1 $nvmet/subsystems/cmx
}

# names of the controller and its disk in $ctrl and $disk
connect() {
	local answer
	exec 7<>/dev/nvme-fabrics || return
	echo -n "transport=rdma,traddr=10.77.0.1,trsvcid=4420,nqn=cmx,nr_io_queues=2,reconnect_delay=1,ctrl_loss_tmo=60,keep_alive_tmo=5" >&7 ||
		return
	read -r answer <&7
	exec 7>&-
	ctrl=/sys/class/nvme/nvme$(sed 's/instance=\([0-9]*\),.*/\1/' <<<"$answer")
	within 10 found_disk
}
# not by check: its commands run in a subshell
try_connect() {
	if connect 2>"$tmp/err"; then ok "$1"; else not_ok "$1" "$(cat "$tmp/err")"; return 1; fi
}
found_disk() {
	disk=$(cd "$ctrl"/ && ls -d nvme*n1 2>/dev/null | sed 's/c[0-9]*n/n/')
	[ -n "$disk" ] && [ -b "/dev/$disk" ]
}
live() { [ "$(cat "$ctrl/state")" = live ]; }
not_live() { ! live; }
gone() { [ ! -e "$ctrl" ]; }
reset() { echo 1 >"$ctrl/reset_controller"; }

# scenes HOST TARGET; lab/intree/table reads the names of the cases
scenes() {
	local who="NVMe $1-$2"

	check "$who: the modules load" eval "load $2 target && load $1 host"
	check "$who: export a RAM disk" export_ram
	try_connect "$who: connect" || return
	# three queues an end, and the listener
	want=0
	[ "$1" = stock ] || want=$((want + 3))
	[ "$2" = stock ] || want=$((want + 4))
	[ "$(kernel_ids)" = $want ] && ok "$who: $want ids of ours" ||
		not_ok "$who: $want ids of ours" "$(kernel_ids)"
	check "$who: make a file system and write" disk_write "/dev/$disk"
	check "$who: the file reads back" disk_read "/dev/$disk"
	check "$who: reset the controller" reset
	check "$who: the controller is live after the reset" within 30 live
	check "$who: the file reads back after the reset" disk_read "/dev/$disk"
	port_off
	check "$who: the host notices the end of the target" within 30 not_live
	port_on
	check "$who: the host reconnects" within 60 live
	check "$who: the file reads back after the reconnect" disk_read "/dev/$disk"
	start_io "/dev/$disk"
	check "$who: remove the controller under I/O" timeout 60 bash -c "echo 1 >$ctrl/delete_controller"
	check "$who: the controller is gone" within 30 gone
	end_io
	try_connect "$who: connect again" || return
	start_io "/dev/$disk"
	check "$who: remove the device under I/O" timeout 60 rdma link del rxe0
	check "$who: the controller goes with the device" within 60 gone
	end_io
	check "$who: unexport" unexport
	check "$who: the modules unload" eval "unload $1 host && unload $2 target"
	check "$who: no id is left" within 10 no_ids
	rig
}

# the connections of three queues, at both ends
ruled() {
	local name
	for name in cmx_nvme_rdma cmx_nvmet_rdma; do
		[ "$("$top/tools/cmx" show -j ids state established | python3 -c '
import json, sys
tos = [i["options"]["TOS"] for i in json.load(sys.stdin) if i["comm"] == f"[{sys.argv[1]}]"]
print(sum(o["value"] == 24 and o["source"] == "rule" for o in tos))' "$name")" = 3 ] || return
	done
}
under_rule() {
	"$top/tools/cmx" rule add dport 4420 set tos 24
	load ours target && load ours host && export_ram || { not_ok "NVMe with a rule"; return; }
	try_connect "NVMe with a rule: connect" || return
	check "NVMe with a rule: each queue has the option" eval 'ruled || { "$top/tools/cmx" show; false; }'
	check "NVMe with a rule: make a file system and write" disk_write "/dev/$disk"
	echo 1 >"$ctrl/delete_controller"
	check "NVMe with a rule: the modules unload" eval "unexport && unload ours host && unload ours target"
	"$top/tools/cmx" rule delete all
}

pairs=$*
for pair in ${pairs:-ours-ours ours-stock stock-ours stock-stock}; do
	scenes "${pair%-*}" "${pair#*-}"
done
under_rule
modprobe -r brd
check "the module unloads" unload_cmx
rm -rf "$tmp" /etc/modprobe.d/cmx-test.conf
finish
