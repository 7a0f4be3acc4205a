#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# howto: the recipes of Documentation/howto.rst for a service of systemd and for a container of podman
# kernels: default
# real clock: 6.12
# timeout: 600
. "$(dirname "$0")/../vm/guest.sh"
[ -n "$cmx_lib" ] || skip_all "no library"
cmx=$top/tools/cmx
a=10.77.0.1
folder=/usr/local/lib/rdma-cmx
dev=/dev/infiniband/rdma_cmx
tmp=$(mktemp -d)
install -D "$cmx_lib/librdmacm.so.1" -t $folder
own_modules "$(cmx_module)" && rig || { not_ok rig; finish; }

uses_ours() { grep -q "$folder/librdmacm" "/proc/$1/maps"; }
uses_stock() { grep -q librdmacm "/proc/$1/maps" && ! uses_ours "$1"; }
ping() { # PORT
	timeout $((20 * slow)) rping -c -C 3 -a $a -p "$1"
}

# example HEADING N: the lines of the Nth example of a recipe, without the commands
example() {
	awk -v heading="$1" -v n="$2" '
		$0 == heading { here = 1; next }
		here && /^[=-]+$/ && ++lines > 1 { exit }
		here && /^[^ ]/ { inside = 0 }
		here && /^    / { i += !inside; inside = 1 }
		here && /^    [^$]/ && i == n { print substr($0, 5) }' "$top/Documentation/howto.rst"
}

# udev has only our rules
modprobe_by_alias() { modprobe -q rdma-client-rdma_cmx; }
udev_recipe() {
	check_not "udev: rdma_cmx is not loaded" test -d /sys/module/rdma_cmx
	mount -t tmpfs rules /lib/udev/rules.d && make -s -C "$top" install-conf ROOTLIB=/lib || return
	/lib/systemd/systemd-udevd --daemon
	echo 'blacklist rdma_cmx' >/etc/modprobe.d/rdma-cmx.conf
	udevadm trigger -c add -s infiniband -w
	check_not "udev: a device does not load a blacklisted module" test -d /sys/module/rdma_cmx
	modprobe_by_alias
	check_not "udev: a program does not load a blacklisted module" test -d /sys/module/rdma_cmx
	rm /etc/modprobe.d/rdma-cmx.conf
	udevadm control --reload
	udevadm trigger -c add -s net -w
	check_not "udev: a device without RDMA does not load the module" test -d /sys/module/rdma_cmx
	install -D "$cmx" /usr/local/sbin/cmx
	mkdir -p /etc/rdma && printf '%s\n' "connect_deadline_ms 4321" "rx*/* tos 40" >/etc/rdma/rdma_cmx.conf
	udevadm trigger -c add -s infiniband
	check "udev: an RDMA device loads the module" within 20 test -d /sys/module/rdma_cmx
	check "udev: the char device appears" within 20 test -c $dev
	check "udev: the module gets the defaults of the file" within 20 grep -qx 4321 /sys/module/rdma_cmx/parameters/connect_deadline_ms
	check "udev: a port gets those of the file" within 20 eval '"$cmx" default rxe0/1 | grep -q "tos 40 "'
	"$cmx" default connect_deadline_ms 0
	"$cmx" rule delete all
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev d0
	check "udev: a device that appears gets them" within 20 eval '"$cmx" default rxe0/1 | grep -q "tos 40 "'
	check "udev: a device that appears does not change the host" grep -qx 0 /sys/module/rdma_cmx/parameters/connect_deadline_ms
	rm /usr/local/sbin/cmx /etc/rdma/rdma_cmx.conf
	udevadm control --exit
	umount /lib/udev/rules.d
	check "udev: the module unloads" within 20 rmmod rdma_cmx
}
udev_recipe || not_ok "udev: runs"

# systemd is the init process of a PID namespace, with only the units that are needed
unit=cmx-test.service
program="/usr/bin/rping -s -P -a $a -p 7800"
boot_systemd() {
	mkdir -p /usr/lib/systemd/system
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup /sys/fs/cgroup || return
	printf '[Unit]\nDefaultDependencies=no\n' >/usr/lib/systemd/system/cmx.target
	printf '%s\n' "[Unit]" "DefaultDependencies=no" "[Service]" "ExecStart=$program" \
		>/usr/lib/systemd/system/$unit
	container=cmx unshare --fork --pid --mount-proc /lib/systemd/systemd --unit=cmx.target \
		>/dev/null 2>&1 &
	within 20 pgrep -P $! && pgrep -P $! >"$tmp/init" && within 60 ctl is-active cmx.target
}
# ctl ARG...: systemctl in the namespaces of that systemd
ctl() { nsenter -t "$(cat "$tmp/init")" -m -p systemctl "$@"; }

drop_in() { # NAME: from the standard input
	mkdir -p /etc/systemd/system/$unit.d && cat >/etc/systemd/system/$unit.d/"$1".conf
}
restart() { ctl daemon-reload && ctl restart $unit; }
runs() { # uses_ours|uses_stock
	restart && within 20 eval "$1 \$(pgrep -fx '$program')" && within 20 ping 7800
}
fails() { restart && within 20 ctl is-failed $unit; }

systemd_recipe() {
	check "systemd: a service uses the in-tree stack" runs uses_stock
	check_not "systemd: rdma_cmx is not loaded" test -d /sys/module/rdma_cmx
	example "A service of systemd" 1 | drop_in override
	check "systemd: a service with the drop-in uses rdma_cmx" runs uses_ours
	check "systemd: the module has been loaded" test -d /sys/module/rdma_cmx
	printf '[Service]\nPrivateDevices=yes\n' | drop_in private
	check "systemd: PrivateDevices= takes the devices away" fails
	example "A service of systemd" 2 | drop_in devices
	check "systemd: the second drop-in returns the devices" runs uses_ours
	printf '[Service]\nDeviceAllow=char-infiniband_verbs rw\n' | drop_in private
	rm /etc/systemd/system/$unit.d/devices.conf
	check "systemd: a service fails if DeviceAllow= lacks our device" fails
	example "A service of systemd" 2 | drop_in devices
	check "systemd: a service runs if DeviceAllow= has our device" runs uses_ours
	check "systemd: revert removes the drop-ins" ctl revert $unit
	check "systemd: the service uses the in-tree stack again" runs uses_stock
	ctl stop $unit
}
if boot_systemd; then systemd_recipe; else not_ok "systemd: runs"; fi
kill -KILL "$(cat "$tmp/init")"

# podman, with the files of this machine as the image
podman_run() { # OPTION... -- PROGRAM...
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	podman --cgroup-manager=cgroupfs --storage-driver=vfs --root=/run/podman/root --runroot=/run/podman/run \
		run --rm --network=host "${options[@]}" --rootfs /run/image "${@:2}"
}
says() { # TEXT COMMAND...: which fails
	local out
	out=$("${@:2}" 2>&1) && return 1
	grep -qF -- "$1" <<<"$out" || { echo "$out"; return 1; }
}

podman_recipe() {
	local library=(-v "$folder:$folder:ro" -e "LD_LIBRARY_PATH=$folder")
	local cmx_node=(--device "$dev") verbs_node=(--device /dev/infiniband/uverbs0)
	local program=(rping -s -P -a "$a" -p 7801)

	check "podman: a program without the char device reports it" says "no $dev" \
		podman_run "${verbs_node[@]}" "${library[@]}" -- "${program[@]}"
	check "podman: a program without the uverbs device reports it" says "No RDMA devices" \
		podman_run "${cmx_node[@]}" "${library[@]}" -- "${program[@]}"
	podman_run "${cmx_node[@]}" "${verbs_node[@]}" "${library[@]}" -- "${program[@]}" &
	check "podman: a program listens" within 30 ping 7801
	check "podman: the program uses rdma_cmx" eval '"$cmx" show ids src-port 7801 | grep -q rping'
	# The first process of a PID namespace ignores signals without a handler, except SIGKILL.
	pkill -KILL -x rping
	wait $!
}
mkdir -p /run/image
mount --bind / /run/image
load_cmx || not_ok "the module"
podman_recipe
finish
