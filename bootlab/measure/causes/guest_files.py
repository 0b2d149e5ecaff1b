"""Looks up on the host which files a guest will find: in the archive that it boots, or in its root's recipe.

And what a program among them needs of the kernel: its word size, its machine, its interpreter.
"""

import posixpath
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.formats import cpio
from bootlab.build.root import initramfs
from bootlab.errors import InputError
from bootlab.system import BootFiles, System

_ELF = b"\x7fELF"
_PT_INTERP = 3
_LINKS = 10
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


@dataclass(frozen=True, slots=True)
class ProgramHeader:
    """How the kernel sees a file that it is told to execute."""

    kind: str
    """`elf`, `script` (starts with #!), or `unknown`."""
    bits: int = 0
    machine: str = ""
    """As in `uname -m`, with `i386` and `arm` for 32 bits."""
    interpreter: str | None = None
    """What a script starts with, or the dynamic linker that a program asks for."""


def read_program(data: bytes) -> ProgramHeader:
    """Return what kind of program `data` is; `unknown` also for one that is cut short."""
    if data.startswith(b"#!"):
        words = data[2:].split(b"\n", 1)[0].split()
        return ProgramHeader("script", interpreter=words[0].decode(errors="replace") if words else None)
    if not data.startswith(_ELF) or len(data) < 64:
        return ProgramHeader("unknown")
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (machine,) = struct.unpack_from(f"{order}H", data, 18)
    name = _MACHINES.get(machine, f"ELF machine {machine}")
    try:
        interpreter = _elf_interpreter(data, wide, order)
    except struct.error:
        return ProgramHeader("unknown")
    return ProgramHeader("elf", 64 if wide else 32, name, interpreter)


class GuestFiles:
    """The files of a guest by path. `complete`: what is not found here is not there."""

    def __init__(self, entries: Iterable[cpio.Entry], *, complete: bool) -> None:
        self.complete = complete
        # Of two entries of one path the later lies over the earlier one.
        self._entries = {posixpath.normpath(f"/{entry.path}").replace("//", "/"): entry for entry in entries}

    def find(self, path: str) -> cpio.Entry | None:
        """Return the file, directory or node at `path`, its links followed; None when it is not found."""
        for _ in range(_LINKS):
            path = self._through_links(path)
            entry = self._entries.get(path)
            if entry is None or not stat.S_ISLNK(entry.mode):
                return entry
            path = posixpath.join(posixpath.dirname(path), entry.data.decode(errors="replace"))
        return None

    def _through_links(self, path: str) -> str:
        # /lib64/ld.so where /lib64 is itself a link, as on every merged /usr.
        parts = posixpath.normpath(path).strip("/").split("/")
        done = ""
        for index, part in enumerate(parts[:-1]):
            done = f"{done}/{part}"
            entry = self._entries.get(done)
            if entry is not None and stat.S_ISLNK(entry.mode):
                target = posixpath.join(posixpath.dirname(done), entry.data.decode(errors="replace"))
                return self._through_links(posixpath.join(target, *parts[index + 1 :]))
        return f"/{'/'.join(parts)}"


def find_initramfs_files(system: System, files: BootFiles | None) -> GuestFiles | None:
    """Return what the initramfs carries; None when there is none, or its form is not known."""
    recipe = system.initramfs
    if recipe is None:
        return None
    archive = files.initramfs if files is not None else recipe.path
    if archive is None:
        # Inside the kernel: of its recipe the files given by path are known.
        return _recipe_files(recipe.init, recipe.files, recipe.directory)
    try:
        entries = initramfs.read_contents(archive)
    except (InputError, OSError):
        return None
    return None if entries is None else GuestFiles(entries, complete=True)


def find_rootfs_files(system: System) -> GuestFiles | None:
    """Return what is known of the root file system's files: those its recipe gives by path; None without a recipe."""
    recipe = system.rootfs
    if recipe is None or recipe.path is not None:
        return None
    return _recipe_files(recipe.init, recipe.files, recipe.directory)


def _recipe_files(init: Path | None, files: dict[str, Path], directory: Path | None) -> GuestFiles:
    entries = []
    for path in sorted(directory.rglob("*")) if directory is not None else ():
        entries += _entry(path.relative_to(directory).as_posix() if directory is not None else "", path)
    for name, path in {**({"init": init} if init is not None else {}), **files}.items():
        entries += [cpio.Entry(one.path, one.mode | 0o111, one.data) for one in _entry(name, path)]
    return GuestFiles(entries, complete=False)


def _entry(name: str, path: Path) -> list[cpio.Entry]:
    try:
        if path.is_symlink():
            return [cpio.Entry(name, stat.S_IFLNK | 0o777, str(path.readlink()).encode())]
        return [cpio.Entry(name, path.stat().st_mode, path.read_bytes() if path.is_file() else b"")]
    except OSError:
        return []


def _elf_interpreter(data: bytes, wide: bool, order: str) -> str | None:
    # Elf64_Ehdr and Elf64_Phdr, or their 32-bit forms (elf(5)).
    (table,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", data, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", data, 54 if wide else 42)
    for index in range(count):
        at = table + index * size
        (kind,) = struct.unpack_from(f"{order}I", data, at)
        if kind == _PT_INTERP:
            (offset,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", data, at + (8 if wide else 4))
            (length,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", data, at + (32 if wide else 16))
            return data[offset : offset + length].rstrip(b"\0").decode(errors="replace")
    return None
