#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# The /init of an initramfs that has one job: the drivers of the root's disk, the root, its init (initramfs.mount_root).
#
# It follows resume=, root=, rootfstype=, rootflags=, ro, rw and init= as the kernel does without an initramfs, and makes the mark
# root_init just before it hands over.
export PATH=/bin:/sbin
set -f

fail() {
	echo "bootlab: no root: $*"
	reboot -f
}

hand_over() {
	umount /proc
	mount --move /dev /newroot/dev
	/sbin/bootlab-mark root_init
	exec switch_root /newroot "$init" "$@"
}

mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
read -r words </proc/cmdline
root='' image='' kind='' options=ro more='' init=/sbin/init
for word in $words; do
	case $word in
	root=*) root=${word#*=} ;;
	resume=*) image=${word#*=} ;;
	rootfstype=*) kind=${word#*=} ;;
	rootflags=*) more=,${word#*=} ;;
	ro | rw) options=$word ;;
	init=*) init=${word#*=} ;;
	esac
done
case $root in
/dev/*) ;;
*) fail "root=$root on the kernel's command line: expected a device, as /dev/vda" ;;
esac
# It comes back where there is no image, or none that this machine may take up.
resume() {
	mount -t sysfs sysfs /sys
	/sbin/bootlab-sleep resume "$image" "$@"
	looked=$?
	umount /sys
	# 3: a device that the image needs has no driver yet.
	[ $looked -eq 3 ] || image=''
}

[ -x /sbin/bootlab-sleep ] || image=''
if [ -f /etc/bootlab/modules ]; then
	while read -r module; do
		insmod "$module" || echo "bootlab: $module does not load"
		# An image brings the drivers of the other devices along.
		[ -z "$image" ] || [ ! -b "$image" ] || resume early
	done </etc/bootlab/modules
fi
[ -z "$image" ] || resume
if [ -f /etc/bootlab/kept ]; then
	mount -t sysfs sysfs /sys
	/sbin/bootlab-kept mount "$root" /newroot || fail "neither kept RAM nor $root can be mounted"
	umount /sys
	hand_over "$@"
fi
# Its driver is there; a bus may still be looking.
tries=0
until [ -b "$root" ]; do
	[ $tries -lt 500 ] || fail "root=$root: no such device after 10 s; there is: $(awk 'NR > 2 { printf "%s ", $4 }' /proc/partitions)"
	tries=$((tries + 1))
	usleep 20000
done
mkdir -p /newroot
mount ${kind:+-t "$kind"} -o "$options$more" "$root" /newroot || fail "$root cannot be mounted as ${kind:-any file system}"
if [ -f /etc/bootlab/cold-start ]; then
	# This kernel only restores images: without one, the system's own starts. It comes back where that is not there.
	/sbin/bootlab-sleep start /newroot/boot/vmlinuz /newroot/boot/initrd.img "$(cat /etc/bootlab/cold-start)"
	fail "this kernel only restores an image, and the system's own cannot be entered"
fi
hand_over "$@"
