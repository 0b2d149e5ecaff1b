"""Everything that decides a boot: the System and its parts, and how a TOML file becomes one."""

from bootlab.system.board.layout import BOARDS, SECTOR, Board, CardLayout, FlashLayout
from bootlab.system.board.model import BoardModel
from bootlab.system.boot_files import BootFiles
from bootlab.system.booted import Booted, Check, Timing
from bootlab.system.bootloader import Bootloader, Card, Flash
from bootlab.system.coldplug import Coldplug
from bootlab.system.content import Compression, Content, FileSystem, Initramfs, Rootfs
from bootlab.system.disk_image import DiskImage
from bootlab.system.disk_model import DiskModel
from bootlab.system.file import read_system
from bootlab.system.kernel import NULL_WORD, Kernel, KernelBuild, KernelEntry, add_words, cmdline_value, without_null
from bootlab.system.machine import (
    Accelerator,
    Attachment,
    BootClock,
    ClockKind,
    Disk,
    Machine,
    MachineType,
    PageSize,
    Storage,
)
from bootlab.system.moved_ticks import moved_ticks_ns
from bootlab.system.network import Network, NetworkPeer, NetworkProbe
from bootlab.system.part import Part
from bootlab.system.power_on.hibernated import SLEEP_WORD, Restorer, sleep_word
from bootlab.system.power_on.power_on import KEEPS_RAM, SLEEPS, Fault, KeptRam, PowerOn, PowerOnKind
from bootlab.system.power_on.wake import EarlyWake, WakeBy, pressed_ns, sleep_words
from bootlab.system.preload import Preload
from bootlab.system.readahead import ReadAhead
from bootlab.system.screen.screen import GuestScreen, ScreenMark, Seen, Typed
from bootlab.system.snapshot import Snapshot
from bootlab.system.source.build import SourceBuild, SourceOrigin
from bootlab.system.source.firmware import FirmwareBuild
from bootlab.system.source.program import Instructions, Libc, SourceProgram
from bootlab.system.target.asked_machine import AskedMachine, SignalLine
from bootlab.system.target.cloud_hypervisor import CloudHypervisor
from bootlab.system.target.command import Command, words_of
from bootlab.system.target.firecracker import Firecracker
from bootlab.system.target.shell_access import ShellAccess
from bootlab.system.target.target import CommandCloud, Ec2Instance, HostMachine, Replay, SerialLine
from bootlab.system.target.vmm import VmmProgram
from bootlab.system.value import System

__all__ = [
    "BOARDS",
    "KEEPS_RAM",
    "NULL_WORD",
    "SECTOR",
    "SLEEPS",
    "SLEEP_WORD",
    "Accelerator",
    "AskedMachine",
    "Attachment",
    "Board",
    "BoardModel",
    "BootClock",
    "BootFiles",
    "Booted",
    "Bootloader",
    "Card",
    "CardLayout",
    "Check",
    "ClockKind",
    "CloudHypervisor",
    "Command",
    "CommandCloud",
    "Compression",
    "Coldplug",
    "Content",
    "Disk",
    "DiskImage",
    "DiskModel",
    "Ec2Instance",
    "Fault",
    "FileSystem",
    "Firecracker",
    "FirmwareBuild",
    "Flash",
    "FlashLayout",
    "HostMachine",
    "Initramfs",
    "Instructions",
    "KeptRam",
    "Kernel",
    "KernelBuild",
    "KernelEntry",
    "Libc",
    "Machine",
    "MachineType",
    "Network",
    "NetworkPeer",
    "NetworkProbe",
    "PageSize",
    "Part",
    "PowerOn",
    "PowerOnKind",
    "Preload",
    "ReadAhead",
    "Replay",
    "Restorer",
    "Rootfs",
    "ShellAccess",
    "GuestScreen",
    "ScreenMark",
    "Seen",
    "SignalLine",
    "SourceBuild",
    "SourceOrigin",
    "SourceProgram",
    "Storage",
    "System",
    "EarlyWake",
    "WakeBy",
    "Timing",
    "SerialLine",
    "Typed",
    "VmmProgram",
    "Snapshot",
    "add_words",
    "cmdline_value",
    "moved_ticks_ns",
    "pressed_ns",
    "read_system",
    "sleep_word",
    "sleep_words",
    "without_null",
    "words_of",
]
