#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# The /init of an initramfs that has one job: the drivers of the root's disk, the root, its init (initramfs.mount_root).
#
# It follows root=, rootfstype=, rootflags=, ro, rw and init= as the kernel does without an initramfs, and makes the mark
# root_init just before it hands over.
export PATH=/bin:/sbin
set -f

fail() {
	echo "bootlab: no root: $*"
	reboot -f
}

mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
read -r words </proc/cmdline
root='' kind='' options=ro more='' init=/sbin/init
for word in $words; do
	case $word in
	root=*) root=${word#*=} ;;
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
if [ -f /etc/bootlab/modules ]; then
	while read -r module; do
		insmod "$module" || echo "bootlab: $module does not load"
	done </etc/bootlab/modules
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
umount /proc
mount --move /dev /newroot/dev
/sbin/bootlab-mark root_init
exec switch_root /newroot "$init" "$@"
