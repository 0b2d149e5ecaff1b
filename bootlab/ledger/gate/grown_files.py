"""What is new or larger in an initramfs or a root file system: files, and among them what an init system reads.

No boot is needed for that: the sides' files are read as the recipe lays them, or out of the archive.
"""

import hashlib
import re
import stat
from collections.abc import Iterable, Mapping
from typing import Final

from bootlab.build.boot_files import root_entries_of
from bootlab.build.formats.cpio import Entry
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError, Interrupted
from bootlab.ledger.gate.result import Grown, GrownKind
from bootlab.system import System

_PARTS: Final = ("initramfs", "rootfs")
_UNIT: Final = re.compile(
    r"(usr/|)(lib|etc|run)/systemd/(system|user)/.*\.(service|socket|target|timer|mount|automount|swap|path|slice|conf)"
    r"|etc/(init\.d|rc[S0-6]?\.d|local\.d)/[^/]+"
    r"|(etc|run|usr/lib)/bootlab/units/.*"
)

Files = dict[str, tuple[int, str]]
"""Path -> bytes, and a hash of what it is: kind, permissions, content."""


def compare_files(shop: Workshop, before: System, after: System, *, apart: Mapping[str, bool]) -> list[Grown]:
    """Return the files that are new or larger in any part of `after`.

    `apart`: part -> whether its image differs at all. Raises InputError that names what cannot be looked into.
    """
    grown: list[Grown] = []
    for part in _PARTS:
        if apart.get(part, True):
            grown += grown_files(_files(shop, before, part), _files(shop, after, part))
    return grown


def grown_files(before: Files, after: Files) -> list[Grown]:
    """Return what is new or larger, and a unit also where only its content is another."""
    grown = []
    for path, (size, digest) in after.items():
        kind = GrownKind.UNIT if _UNIT.fullmatch(path) else GrownKind.FILE
        was, old = before.get(path, (None, ""))
        if was is None or size > was or (kind is GrownKind.UNIT and digest != old):
            grown.append(Grown(kind=kind, name=f"/{path}", before=was, after=size))
    return grown


def files_of(entries: Iterable[Entry]) -> Files:
    """Return each file and link of a tree; folders and device nodes are none."""
    return {
        entry.path.removeprefix("./").strip("/"): (
            entry.size,
            hashlib.sha256(b"%o " % entry.mode + entry.data).hexdigest(),
        )
        for entry in entries
        if stat.S_ISREG(entry.mode) or stat.S_ISLNK(entry.mode)
    }


def _files(shop: Workshop, system: System, part: str) -> Files:
    if system.image is not None:
        raise InputError(f"{system.name}: files in a disk image are not compared")
    if getattr(system, part) is None:
        return {}
    try:
        return files_of(root_entries_of(shop, system, part))
    except Interrupted:
        raise
    except BootlabError as error:
        raise InputError(f"{system.name}: the files of its {part} are not known: {error.message}") from error
