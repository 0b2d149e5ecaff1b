#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# bootlab-facts: what the running kernel says about itself, one console line per fact (README.md).
#
# For the host to see that a change really took effect. It runs after "ready", so it costs the measured boot nothing; still
# it is one pass with as few programs as can be, because the host waits for it. What is not there is not said.
busybox=/bin/busybox

fact() {
	echo "bootlab: fact $*"
}

# The first line of each file that there is. Not the shell's read: it asks for one byte at a time, which /proc/sys answers
# only once, and it does not take a line without a newline (lsm).
facts_of() {
	$busybox grep -sHm1 '' "$@" | while IFS=: read -r path value; do
		case $path in
		/proc/version) key=kernel ;;
		*/boot_params/version) key=boot_protocol ;;
		*/current_clocksource) key=clocksource ;;
		*/available_clocksource) key=clocksources ;;
		*/vulnerabilities/*) key=vulnerabilities.${path##*/} ;;
		/sys/module/*)
			key=${path#/sys/module/}
			key=parameter.${key%%/*}.${path##*/}
			;;
		*) key=${path##*/} ;;
		esac
		fact "$key" "$value"
	done
}

mounted() {
	[ -e "$3" ] || $busybox mount -t "$1" "$1" "$2" 2>/dev/null
}

count() {
	[ -e "$1" ] || set --
	echo $#
}

mounted proc /proc /proc/cmdline
mounted sysfs /sys /sys/kernel
mounted securityfs /sys/kernel/security /sys/kernel/security/lsm
mounted tracefs /sys/kernel/tracing /sys/kernel/tracing/trace_clock

clocks=/sys/devices/system/clocksource/clocksource0
facts_of /proc/version /proc/cmdline /proc/sys/kernel/printk /proc/sys/kernel/watchdog /proc/sys/kernel/randomize_va_space \
	/proc/sys/net/ipv6/conf/all/disable_ipv6 /sys/kernel/boot_params/version /sys/kernel/security/lsm \
	$clocks/current_clocksource $clocks/available_clocksource /sys/kernel/rcu_expedited /sys/kernel/rcu_normal \
	/sys/kernel/tracing/trace_clock /sys/class/misc/hw_random/rng_current /sys/devices/system/cpu/vulnerabilities/* \
	/sys/module/cryptomgr/parameters/* /sys/module/8250/parameters/nr_uarts /sys/module/rcupdate/parameters/rcu_[en]*

cpus=0
for file in /sys/devices/system/cpu/cpu[0-9]*; do
	# The boot CPU often has no such file: it cannot be switched off.
	state=1
	[ -r "$file/online" ] && read -r state <"$file/online"
	[ -e "$file" ] && cpus=$((cpus + state))
done
[ "$cpus" -gt 0 ] && fact cpus_online $cpus

while read -r key value _; do
	case $key in
	MemTotal:) fact mem_total_kib "$value" ;;
	MemFree:) fact mem_free_kib "$value" && break ;;
	esac
done 2>/dev/null </proc/meminfo

if [ -d /sys/kernel ]; then
	fact pci_devices "$(count /sys/bus/pci/devices/*)"
	fact ttyS_count "$(count /sys/class/tty/ttyS*)"
	fact legacy_ptys "$(count /sys/class/tty/pty[a-ep-z]*)"
	if [ -d /sys/firmware/acpi/tables ]; then fact acpi yes; else fact acpi no; fi
	if [ -e /sys/bus/platform/devices/i8042 ]; then fact i8042 yes; else fact i8042 no; fi
fi

modules=
while read -r name _; do
	modules="$modules $name"
done 2>/dev/null </proc/modules
[ -r /proc/modules ] && fact modules"$modules"

# What systemd.mask= on the command line left out.
if [ -d /run/systemd/generator.early ]; then
	units=
	for unit in /run/systemd/generator.early/*.service; do
		[ -L "$unit" ] && units="$units ${unit##*/}"
	done
	fact units_masked"$units"
fi

# _text is among the first symbols, or on arm64 not there at all: 2,000 lines, not the 5 MB that the kernel would print.
# shellcheck disable=SC2016
$busybox awk '$3 == "_text" || $3 == "_stext" { print "bootlab: fact kallsyms" $3 " " $1 }
	NR == 2000 || $3 == "_text" { exit }' /proc/kallsyms 2>/dev/null
# shellcheck disable=SC2016
$busybox dmesg 2>/dev/null | $busybox awk '{ print "bootlab: fact dmesg." NR " " $0 }'
exit 0
