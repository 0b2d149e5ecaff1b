"""Guests that get no further: their kernel, their files and what they print."""

import struct
from pathlib import Path
from typing import Any

from bootlab.build.formats.cpio import Entry, write
from bootlab.measure.causes.search import find_known_cause
from bootlab.system import BootFiles, System

REFUSED = "Run /init as init process\nFailed to execute /init (error {})\nRun /sbin/init as init process\n"
SERIAL = ("PRINTK", "TTY", "SERIAL_8250", "SERIAL_8250_CONSOLE")
USUAL = (*SERIAL, "BINFMT_ELF", "BINFMT_SCRIPT", "BLK_DEV_INITRD", "RD_GZIP", "FUTEX")


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


def without(*names: str) -> tuple[str, ...]:
    return tuple(name for name in USUAL if name not in names)
