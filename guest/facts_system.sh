#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# bootlab-facts of a root file system, or of an image that follows a coldplug plan: all facts (facts.sh, or those of
# devices), then what was mounted, checked and started. A file of its own, so that no other image changes with it.
busybox=/bin/busybox

fact() {
	echo "bootlab: fact $*"
}

"$0.plain"

delay=/sys/module/usb_storage/parameters/delay_use
[ -r $delay ] && fact parameter.usb_storage.delay_use "$($busybox cat $delay)"

# Who is mounted over whom: the last one for / is the root.
root='' disks=
while read -r device place type options _; do
	case $device in /dev/*) disks="$disks $type:$place" ;; esac
	[ "$place" = / ] && root="$type $options"
done 2>/dev/null </proc/mounts
[ -n "$root" ] && fact root_mount "$root" && fact disk_mounts"$disks"

# What was checked: util-linux's fsck leaves a lock for each disk (-l, as systemd calls it), initramfs-tools a stamp.
checked=
for file in /run/fsck/*.lock /run/initramfs/fsck-*; do
	[ -e "$file" ] && checked="$checked ${file##*/}"
done
[ -d /run ] && fact checked"$checked"

# The services whose main process was started, those that waited for all of udev's events, and what udev was asked to find.
if [ -d /run/systemd/system ]; then
	# shellcheck disable=SC2016
	systemctl show -p Id,ExecMainStartTimestampMonotonic,ExecStartPre,ExecStart '*.service' 2>/dev/null | $busybox awk '
		/^Id=/ { unit = substr($0, 4) }
		/^ExecMainStartTimestampMonotonic=[1-9]/ { ran = 1 }
		/^ExecStart(Pre)?=.* start_time=\[[^n]/ {
			sub(/.* argv\[\]=/, ""); sub(/ ; ignore_errors=.*/, "")
			if (/udevadm settle/ && !/--exit-if-exists/) settled = 1
			if (/udevadm trigger/) asked = asked $0 "; "
		}
		$0 == "" { end() }
		END {
			end()
			print "bootlab: fact units_started" started
			print "bootlab: fact settled" waited
			print "bootlab: fact udev_trigger " triggered
		}
		function end() {
			if (ran) started = started " " unit
			if (settled) waited = waited " " unit
			if (ran) triggered = triggered asked
			unit = asked = ""; ran = settled = 0
		}'
fi
exit 0
