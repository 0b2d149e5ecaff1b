"""Everything that decides a boot: the System and its parts, and how a TOML file becomes one."""

from bootlab.system.booted import Booted, Check
from bootlab.system.content import Compression, Content, FileSystem, Initramfs, Rootfs
from bootlab.system.file import read_system
from bootlab.system.kernel import Kernel, KernelBuild, KernelEntry
from bootlab.system.machine import Accelerator, Clock, ClockKind, Disk, Machine, MachineType, Network, PageSize, Storage
from bootlab.system.part import Part
from bootlab.system.value import BootFiles, System

__all__ = [
    "Accelerator",
    "BootFiles",
    "Booted",
    "Check",
    "Clock",
    "ClockKind",
    "Compression",
    "Content",
    "Disk",
    "FileSystem",
    "Initramfs",
    "Kernel",
    "KernelBuild",
    "KernelEntry",
    "Machine",
    "MachineType",
    "Network",
    "PageSize",
    "Part",
    "Rootfs",
    "Storage",
    "System",
    "read_system",
]
