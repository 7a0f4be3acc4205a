# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for suites with ids of kernel ULPs, and for a file system on a disk and its I/O, in the folder $mnt
kernel_ids() { sed -n 's/^kernel-ids //p' /sys/kernel/debug/rdma_cmx/stats; }

# /dev/ram0, empty
ram_disk() {
	modprobe -r brd && modprobe brd rd_nr=1 rd_size=65536
}

write_file() {
	mountpoint -q "$mnt" && head -c 8000000 /dev/urandom >"$mnt/file" && sha256sum <"$mnt/file" >"$mnt.sum" && sync "$mnt/file"
}
# Not from memory. Only the pages of this file are dropped: the guest has its programs in memory so that its
# clock does not jump (vm/guest-main).
read_file() {
	mountpoint -q "$mnt" && dd if="$mnt/file" iflag=nocache count=0 status=none &&
		sha256sum <"$mnt/file" | cmp - "$mnt.sum"
}
disk_write() { # DEVICE
	mkfs.ext4 -q -F "$1" && mount "$1" "$mnt" && write_file && umount "$mnt"
}
disk_read() { # DEVICE
	local ret
	mount "$1" "$mnt" || return
	read_file
	ret=$?
	umount "$mnt"
	return $ret
}

start_io() { # DEVICE
	dd if=/dev/zero of="$1" bs=64k oflag=direct seek=500 count=200000 status=none 2>/dev/null &
	io=$!
	nap 1
}
io_ended() { ! kill -0 $io 2>/dev/null; }
# whatever its status is
end_io() {
	within 60 io_ended
	wait $io 2>/dev/null
	true
}
