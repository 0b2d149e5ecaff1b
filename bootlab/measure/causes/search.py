"""Names the known cause of a boot that got no further, from its console, its files and its kernel's configuration.

First what lies in the kernel's options and in init: the configuration is held against what the system asks of it, so
that the option can be named. Then causes that lie in QEMU: each was met and followed to its end with QEMU 10.0 and
Debian's 6.1 kernel; docs/scope.md has the details.
"""

import re
from contextlib import suppress

from bootlab.build.source.config_text import read_config
from bootlab.errors import BootlabError
from bootlab.measure.causes.console import find_console_cause
from bootlab.measure.causes.firmware import find_firmware_cause
from bootlab.measure.causes.guest_files import find_initramfs_files, find_rootfs_files
from bootlab.measure.causes.init import find_init_cause
from bootlab.measure.causes.kernel_options import KernelOptions
from bootlab.measure.causes.root import find_root_cause
from bootlab.system import BootFiles, ClockKind, KernelEntry, MachineType, System

_NO_TSC = "Marking TSC unstable due to could not calculate TSC khz"
_VECTOR_0 = "divide error: 0000"
_NEEDS_TSC = (
    "on microvm the kernel has no timer that works without the TSC's frequency, and {why}: give it with "
    'tsc_early_khz=KHZ on the command line (this host\'s: dmesg | grep "tsc: Detected"), or use '
    'machine.type = "q35", KVM or, with a PIT, clock.kind = "virtual"'
)
_HYPERCALL = re.compile(r"Code: .*<0f> 01 (?:d9|c1)\b")
"""Where the kernel met an invalid opcode, as it prints it: VMMCALL or VMCALL."""
_OLD_INTERRUPTS = "APIC: Keep in PIC mode(8259)"
_NO_64_BIT = "LLVM ERROR: 64-bit code requested on a subtarget"


def find_known_cause(system: System, console: str, files: BootFiles | None = None) -> str | None:
    """Return what kept a boot from ready and what helps, for a reader, or None when it is not known.

    `files` are what it booted from: with them the kernel's configuration and the initramfs are looked at, too.
    """
    options = _options(system, files)
    held = find_initramfs_files(system, files)
    on_disk = "root=" in system.kernel.cmdline
    return (
        find_firmware_cause(system, console)
        or find_console_cause(system, console, options, held)
        or _machine_cause(system, console)
        or find_init_cause(system, console, options, find_rootfs_files(system) if on_disk else held)
        or find_root_cause(system, console, options, files, held)
    )


def _options(system: System, files: BootFiles | None) -> KernelOptions:
    values = None
    if files is not None and files.kernel_config is not None:
        # A configuration that cannot be read is one that is not known.
        with suppress(BootlabError, OSError):
            values = read_config(files.kernel_config)
    return KernelOptions(values, built=system.kernel.build is not None)


def _machine_cause(system: System, console: str) -> str | None:
    if system.machine.uses_qboot and _OLD_INTERRUPTS in console:
        return (
            "with acpi=off this kernel relies on the firmware to connect the old interrupt controller (8259), which "
            "qboot does not do, so neither timer nor serial port can interrupt it: leave out acpi=off, or qboot "
            '(microvm starts from it with options.acpi = "off")'
        )
    if system.machine.hypervisor is not None and _HYPERCALL.search(console):
        return (
            "the kernel made a hypercall, for which QEMU's emulated CPU has no instruction (machine.hypervisor shows "
            "the guest KVM's CPUID leaves and its clock, no more): leave out what makes it, as the driver ptp_kvm does "
            "(PTP_1588_CLOCK_KVM = false in kernel.build.options)"
        )
    if system.machine.cpu == "max" and _NO_64_BIT in console:
        return (
            "LLVM, by which OpenGL without a graphics card compiles its shaders, takes QEMU's CPU model max (AMD, "
            "family 6, model 6) for a processor of 32 bits (athlon-xp), and ends its program: machine.cpu = "
            '"max,family=15,model=107,stepping=1" has the same features, and the numbers of QEMU\'s qemu64'
        )
    microvm = system.machine.type is MachineType.MICROVM
    options = system.machine.options
    if microvm and console.rstrip().endswith(_NO_TSC):
        if options.get("pit") == "off":
            return _NEEDS_TSC.format(why='without the PIT (machine.options, pit = "off") it cannot be measured')
        if system.clock.kind is ClockKind.WALL:
            return _NEEDS_TSC.format(why="emulation on this busy host is too uneven to measure it")
    pvh = microvm and system.kernel.entry is KernelEntry.PVH and options.get("acpi") != "off"
    if pvh and options.get("pic") != "off" and (_VECTOR_0 in console or not console.strip()):
        return (
            'with kernel.entry = "pvh" on microvm an interrupt of the old controller (8259), which this kernel never '
            'sets up there, may arrive as a divide error: machine.options = { pic = "off" } leaves the controller out'
        )
    return None
