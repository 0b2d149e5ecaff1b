"""Kernel options that a boot misses, named from its console: lines of real boots of a small Linux 6.12."""

import struct
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.formats.cpio import Entry, write
from bootlab.measure.causes.guest_files import GuestFiles, read_program
from bootlab.measure.causes.search import find_known_cause
from bootlab.system import BootFiles, System

REFUSED = "Run /init as init process\nFailed to execute /init (error {})\nRun /sbin/init as init process\n"
NO_INIT = (
    "Run /sbin/init as init process\nRun /bin/sh as init process\nKernel panic - not syncing: No working init found.\n"
)
NO_ROOT = (
    '/dev/root: Can\'t open blockdev\nVFS: Cannot open root device "/dev/vda" or unknown-block(0,0): error -6\n'
    'Please append a correct "root=" boot option; here are the available partitions:\n{}'
    'List of all bdev filesystems:\n ext4\n\nKernel panic - not syncing: VFS: Unable to mount root fs on "/dev/vda"\n'
)
SERIAL = ("PRINTK", "TTY", "SERIAL_8250", "SERIAL_8250_CONSOLE")
USUAL = (*SERIAL, "BINFMT_ELF", "BINFMT_SCRIPT", "BLK_DEV_INITRD", "RD_GZIP", "FUTEX")
MMIO_DISK = ("BLOCK", "BLK_DEV", "VIRTIO_MENU", "VIRTIO_MMIO", "VIRTIO_BLK", "ACPI", "EXT4_FS")


def elf(machine: int = 62, *, bits: int = 64, interpreter: str = "") -> bytes:
    """Return the headers of a program, as a linker lays them out."""
    wide = bits == 64
    header = 64 if wide else 52
    name = interpreter.encode() + b"\0"
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    count = 1 if interpreter else 0
    if wide:
        body = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, header, 0, 0, header, 56, count, 0, 0, 0)
        table = struct.pack("<IIQQQQQQ", 3, 4, header + 56, 0, 0, len(name), len(name), 1)
    else:
        body = struct.pack("<HHIIIIIHHHHHH", 2, machine, 1, 0, header, 0, 0, header, 32, count, 0, 0, 0)
        table = struct.pack("<IIIIIIII", 3, header + 32, 0, 0, len(name), len(name), 4, 1)
    return ident + body + (table + name if count else b"") + bytes(64)


def guest(init: bytes | None, mode: int = 0o100755, **more: bytes) -> bytes:
    entries = [Entry("bin/busybox", 0o100755, elf()), Entry("bin", 0o40755), Entry("dev", 0o40755)]
    entries += [Entry(name.replace("_", "/"), 0o100755, data) for name, data in more.items()]
    return write([*entries, *([Entry("init", mode, init)] if init is not None else [])])


class Case:
    """A boot's files on disk: an initramfs, a configuration."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def cause(
        self,
        console: str,
        options: tuple[str, ...] | None,
        archive: bytes | None = None,
        cmdline: str = "console=ttyS0",
        **parts: Any,
    ) -> str:
        files: dict[str, Path] = {"kernel": self.folder / "kernel"}
        if options is not None:
            files["kernel_config"] = self.folder / "config"
            files["kernel_config"].write_text(
                "".join(f"CONFIG_{name}\n" if "=" in name else f"CONFIG_{name}=y\n" for name in options)
                + "# CONFIG_SMP is not set\n"
            )
        if archive is not None:
            files["initramfs"] = self.folder / "initramfs"
            files["initramfs"].write_bytes(archive)
            parts["initramfs"] = {"path": files["initramfs"]}
        system = System.model_validate(
            {
                "name": "test",
                "machine": {"type": "microvm"},
                "kernel": {"image": "vmlinuz", "cmdline": cmdline},
                "booted": {"mark": "ready"},
                **parts,
            }
        )
        return find_known_cause(system, console, BootFiles(**files)) or ""


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def without(*names: str) -> tuple[str, ...]:
    return tuple(name for name in USUAL if name not in names)


def test_a_32_bit_init_needs_the_emulation(case: Case) -> None:
    cause = case.cause(REFUSED.format(-8), USUAL, guest(elf(3, bits=32)))
    assert "/init failed with ENOEXEC: /init is a 32-bit program" in cause
    assert "CONFIG_IA32_EMULATION and CONFIG_COMPAT_32BIT_TIME are off" in cause
    # The seed's own words: Linux 6.7, the root on a disk that cannot be looked into.
    said = "Kernel panic - not syncing: Requested init /goinit failed (error ENOEXEC).\n"
    cause = case.cause(said, None, cmdline="console=ttyS0 root=/dev/vda init=/goinit", rootfs={"path": "root.img"})
    assert "a 32-bit one CONFIG_IA32_EMULATION" in cause


def test_what_kind_of_program_decides_the_option(case: Case) -> None:
    script = guest(b"#!/bin/busybox sh\n")
    assert "CONFIG_BINFMT_SCRIPT is off" in case.cause(REFUSED.format(-8), without("BINFMT_SCRIPT"), script)
    # The script is fine, and its interpreter is not.
    assert "/bin/busybox is a 64-bit program, and CONFIG_BINFMT_ELF is off" in case.cause(
        REFUSED.format(-8), without("BINFMT_ELF"), script
    )
    assert "CONFIG_BINFMT_ELF" in case.cause(REFUSED.format(-8), None, guest(elf()))
    assert "for aarch64, and this machine is x86_64" in case.cause(REFUSED.format(-8), USUAL, guest(elf(183)))
    assert 'begins with "echo hello"' in case.cause(REFUSED.format(-8), USUAL, guest(b"echo hello\n"))
    assert "CONFIG_X86_X32_ABI" in case.cause(REFUSED.format(-8), USUAL, guest(elf(62, bits=32)))


def test_a_file_that_is_there_and_yet_not_found(case: Case) -> None:
    cause = case.cause(REFUSED.format(-2), USUAL, guest(b"#!/usr/bin/python3\n"))
    assert "its interpreter, /usr/bin/python3, is not in the archive" in cause
    linked = elf(interpreter="/lib64/ld-linux-x86-64.so.2")
    cause = case.cause(REFUSED.format(-2), USUAL, guest(linked))
    assert "the dynamic linker it was linked with, /lib64/ld-linux-x86-64.so.2" in cause
    said = "/init: line 3: /bin/answer: not found\n"
    assert "the dynamic linker" in case.cause(said, USUAL, guest(b"#!/bin/busybox sh\n", bin_answer=linked))
    assert case.cause("/init: line 3: /bin/nothing: not found\n", USUAL, guest(b"#!/bin/busybox sh\n")) == ""
    assert "is not an executable file" in case.cause(REFUSED.format(-13), USUAL, guest(elf(), mode=0o100644))


def test_futex_that_the_kernel_does_not_have(case: Case) -> None:
    said = "The futex facility returned an unexpected error code.\n"
    assert "CONFIG_FUTEX is off" in case.cause(said, without("FUTEX"), guest(elf()))
    assert "CONFIG_FUTEX or, for a 32-bit program, without CONFIG_COMPAT_32BIT_TIME" in case.cause(
        said, None, guest(elf())
    )
    go = "futexwakeup addr=0x815ba50 returned -38\nSIGSEGV: segmentation violation\n"
    cause = case.cause(go, (*USUAL, "IA32_EMULATION"), guest(elf(3, bits=32)))
    assert "CONFIG_COMPAT_32BIT_TIME is off" in cause
    strace = "futex(0x815ba50, FUTEX_WAIT_PRIVATE, 0, NULL) = -1 ENOSYS (Function not implemented)\n"
    assert "CONFIG_COMPAT_32BIT_TIME is off" in case.cause(strace, (*USUAL, "IA32_EMULATION"), guest(elf(3, bits=32)))


def test_other_calls_and_file_systems(case: Case) -> None:
    assert "CONFIG_EPOLL is off" in case.cause("epoll_create1: Function not implemented\n", USUAL, guest(elf()))
    mount = "mount: mounting proc on /proc failed: No such device\n"
    assert "proc cannot be mounted on /proc: CONFIG_PROC_FS is off" in case.cause(mount, USUAL, guest(elf()))
    assert case.cause(mount, (*USUAL, "PROC_FS"), guest(elf())) == ""


def test_an_initramfs_that_the_kernel_did_not_take(case: Case) -> None:
    packed = b"\x1f\x8b\x08\x00" + bytes(60)
    assert "CONFIG_BLK_DEV_INITRD and CONFIG_RD_GZIP are off" in case.cause(NO_INIT, SERIAL, packed)
    said = "Initramfs unpacking failed: compression method gzip not configured\n" + NO_INIT
    assert "compressed with gzip, and CONFIG_RD_GZIP is off" in case.cause(said, without("RD_GZIP"), packed)
    assert "probably built without CONFIG_BLK_DEV_INITRD" in case.cause(NO_INIT, None, guest(elf()))
    assert "there is no /init in it" in case.cause(NO_INIT, USUAL, guest(None))
    assert "not executable" in case.cause(NO_INIT, USUAL, guest(elf(), mode=0o100644))
    said = "Initramfs unpacking failed: invalid magic at start of compressed archive\n"
    assert "is it a newc archive" in case.cause(said, USUAL, guest(elf()))
    assert "raise machine.memory_mib" in case.cause("Initramfs unpacking failed: write error\n", USUAL, guest(elf()))


def test_a_root_on_a_disk_that_is_not_driven(case: Case) -> None:
    on_disk: dict[str, Any] = {"cmdline": "console=ttyS0 root=/dev/vda", "disks": [{"size_mib": 16}]}
    known = tuple(name for name in MMIO_DISK if name != "VIRTIO_BLK")
    assert "sees no such disk: CONFIG_VIRTIO_BLK is off" in case.cause(NO_ROOT.format(""), (*USUAL, *known), **on_disk)
    known = tuple(name for name in MMIO_DISK if name != "ACPI")
    assert "CONFIG_ACPI is off" in case.cause(NO_ROOT.format(""), (*USUAL, *known), **on_disk)
    on_pci = {**on_disk, "machine": {"type": "q35"}}
    assert "CONFIG_PCI and CONFIG_VIRTIO_PCI are off" in case.cause(NO_ROOT.format(""), (*USUAL, *MMIO_DISK), **on_pci)
    module = (*(name for name in MMIO_DISK if name != "VIRTIO_BLK"), "VIRTIO_BLK=m")
    assert "CONFIG_VIRTIO_BLK = m, and nothing loads" in case.cause(NO_ROOT.format(""), (*USUAL, *module), **on_disk)
    assert "must have CONFIG_BLOCK" in case.cause(NO_ROOT.format(""), None, **on_disk)
    listed = "fe00           16384 vda\n driver: virtio_blk\n"
    known = tuple(name for name in MMIO_DISK if name != "EXT4_FS")
    cause = case.cause(NO_ROOT.format(listed), (*USUAL, *known), **on_disk)
    assert "the disk is there, and its file system cannot be read: CONFIG_EXT4_FS is off" in cause


def test_a_root_that_nobody_named_or_gave(case: Case) -> None:
    assert "names no root" in case.cause(NO_ROOT.format(""), USUAL)
    assert "the system has no disk" in case.cause(NO_ROOT.format(""), USUAL, cmdline="root=/dev/vda")


def test_a_guest_that_says_nothing(case: Case) -> None:
    known = without("SERIAL_8250_CONSOLE")
    assert "CONFIG_SERIAL_8250_CONSOLE is off" in case.cause("", known, guest(elf()))
    assert "CONFIG_TTY" in case.cause("", without("TTY"), guest(elf()))
    assert "console=ttyS0 on the command line" in case.cause("", USUAL, guest(elf()), cmdline="console=ttyAMA0")
    assert "names no console" in case.cause("", (*USUAL, "VT"), guest(elf()), cmdline="panic=-1")
    assert "names no console" not in case.cause("", USUAL, guest(elf()), cmdline="panic=-1")
    assert "CONFIG_PRINTK is off" in case.cause("", without("PRINTK"), guest(elf()))
    said = "Warning: unable to open an initial console.\n"
    assert "the archive has no /dev/console" in case.cause(said, USUAL, guest(elf()))


def test_what_is_on_is_not_blamed(case: Case) -> None:
    assert case.cause(REFUSED.format(-8), USUAL, guest(elf())) == ""
    assert case.cause("", USUAL, guest(elf())) == ""


def test_a_kernel_that_is_built_is_told_how(case: Case) -> None:
    built = {"kernel": {"build": {"package": "linux-source-6.12"}, "cmdline": "console=ttyS0"}}
    cause = case.cause("", without("SERIAL_8250_CONSOLE"), guest(elf()), **built)
    assert "kernel.build.options = { SERIAL_8250_CONSOLE = true }" in cause


def test_programs_are_read_by_their_headers() -> None:
    assert read_program(b"") == read_program(b"\x7fELF")
    assert read_program(elf(40, bits=32)).machine == "arm"
    assert read_program(elf(interpreter="/lib/ld.so")).interpreter == "/lib/ld.so"
    assert read_program(elf(3, bits=32, interpreter="/lib/ld.so")).interpreter == "/lib/ld.so"
    assert read_program(b"#! /bin/sh -e\n").interpreter == "/bin/sh"


def test_links_are_followed_also_in_the_middle_of_a_path() -> None:
    link = 0o120777
    entries = [Entry("lib64", link, b"usr/lib64"), Entry("usr/lib64/ld.so", link, b"../lib/ld-2.so")]
    files = GuestFiles([*entries, Entry("usr/lib/ld-2.so", 0o100755, b"x")], complete=True)
    found = files.find("/lib64/ld.so")
    assert found is not None and found.data == b"x"
    assert files.find("/lib64/other.so") is None
    assert GuestFiles([Entry("a", link, b"b"), Entry("b", link, b"a")], complete=True).find("/a") is None
