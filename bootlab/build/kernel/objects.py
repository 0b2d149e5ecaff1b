"""What a linked kernel is made of: the object that each address comes from, its source, the options it mentions.

The linker's own map (CONFIG_VMLINUX_MAP) tells the first, kbuild's .cmd files the others: scripts/basic/fixdep.c writes
there, for each object, every option that its source or a header of it mentions.
"""

import bisect
import json
import re
import shlex
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bootlab.errors import InputError
from bootlab.process import run

MAP_OPTION = "VMLINUX_MAP"
"""The option with which a kernel's build keeps the linker's map."""
_MAP = "vmlinux.map"
_SECTION = re.compile(r"^ (\S+)?\s+0x([0-9a-f]{8,16})\s+0x([0-9a-f]+) (\S+\.o\)?)$")
_MEMBER = re.compile(r"(.*?)[^/]*\.a\((.*)\)$")
_LOWEST = 1 << 31
"""Below it lie only offsets: of debug information, and of per-CPU variables on x86-64."""
_WHOLE = "vmlinux.o"
_SOURCE = re.compile(r"^source_\S+ := (\S+)", re.MULTILINE)
_READ = re.compile(r"\$\(wildcard include/config/(\w+)\)")
_SCHEMA = 1
_LINK_DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class KernelObject:
    """One object file of a kernel. Paths are from the top of the objects or of the source tree."""

    path: str
    """As `kernel/fork.o`."""
    source: str | None
    """What it was compiled from; None for what the build itself wrote."""
    reads: frozenset[str]
    """Options, without CONFIG_, that its source and headers mention."""
    size: int
    """Its bytes in the image, code and data."""


@dataclass(frozen=True)
class KernelObjects:
    """All objects of a kernel, and where in its link-time addresses each has its pieces."""

    objects: tuple[KernelObject, ...]
    places: tuple[tuple[int, int, int], ...]
    """(address, size, index into `objects`), by address."""

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _, _ in self.places]

    def at(self, address: int) -> int | None:
        """Return the index of the object that an address belongs to; None between objects and outside of the kernel."""
        number = bisect.bisect_right(self._starts, address) - 1
        if number < 0:
            return None
        start, size, index = self.places[number]
        return index if address < start + size else None

    def save(self, path: Path) -> None:
        """Write the map to a file as JSON, which `read_objects` reads."""
        document = {
            "schema": _SCHEMA,
            "objects": [[one.path, one.source, sorted(one.reads), one.size] for one in self.objects],
            "places": self.places,
        }
        path.write_text(json.dumps(document), encoding="utf-8")


def read_objects(path: Path) -> KernelObjects:
    """Return what `save` wrote. Raises InputError for anything else."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        objects = (
            KernelObject(name, source, frozenset(reads), size) for name, source, reads, size in document["objects"]
        )
        return KernelObjects(tuple(objects), tuple((start, size, index) for start, size, index in document["places"]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"{path}: no list of a kernel's objects: {error}", hint="remove it: it is made anew"
        ) from error


def collect_objects(folder: Path, tree: Path) -> KernelObjects | None:
    """Return what the kernel in an objects folder was linked from; None when the linker wrote no map.

    `tree`: its source. A kernel that is linked from one vmlinux.o (CONFIG_X86_KERNEL_IBT, LTO) has no objects in its
    map: that object is linked once more, for a map of its own. Raises ProgramFailed when that does not work.
    """
    try:
        text = (folder / _MAP).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    pieces = [piece for piece in _pieces(text) if piece.start >= _LOWEST]
    if any(piece.file == _WHOLE for piece in pieces):
        pieces = list(_taken_apart(pieces, _pieces(_map_of_whole(folder))))
    places = sorted((piece.start, piece.size, _plain(piece.file)) for piece in pieces)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(name for _, _, name in places))}
    sizes = dict.fromkeys(numbers, 0)
    for _, size, name in places:
        sizes[name] += size
    objects = tuple(_described(folder, tree, name, size) for name, size in sizes.items())
    return KernelObjects(objects, tuple((start, size, numbers[name]) for start, size, name in places))


def read_saved_command(folder: Path, name: str) -> list[str]:
    """Return the command that made an object, which kbuild keeps beside it. Raises OSError when it was never made."""
    path = folder / name
    saved = path.with_name(f".{path.name}.cmd").read_text(encoding="utf-8", errors="replace")
    return shlex.split(saved.partition("\n")[0].partition(":=")[2].partition(" ; ")[0])


class _Piece(NamedTuple):
    """An input section of a link. `start`: its address, or its place in its output section for a link with -r."""

    start: int
    size: int
    section: str
    file: str


def _pieces(text: str) -> Iterator[_Piece]:
    # ` .text  0xADDRESS  0xSIZE  FILE`; a long section name stands on a line of its own before.
    name = ""
    for line in text.splitlines():
        if found := _SECTION.match(line):
            size = int(found[3], 16)
            if size:
                yield _Piece(int(found[2], 16), size, found[1] or name, found[4])
        name = line.strip()


def _taken_apart(pieces: Iterable[_Piece], inner: Iterable[_Piece]) -> Iterator[_Piece]:
    parts = defaultdict[str, list[_Piece]](list)
    for piece in inner:
        parts[piece.section].append(piece)
    for piece in pieces:
        if piece.file != _WHOLE:
            yield piece
            continue
        for part in parts[piece.section]:
            if part.start + part.size <= piece.size:
                yield part._replace(start=piece.start + part.start)


def _map_of_whole(folder: Path) -> str:
    """Return the map of the link that made vmlinux.o."""
    command = read_saved_command(folder, _WHOLE)
    with tempfile.TemporaryDirectory(prefix="bootlab-") as scratch:
        made = Path(scratch, "whole.map")
        command[command.index(_WHOLE)] = f"{scratch}/{_WHOLE}"
        run([*command, f"-Map={made}"], deadline_s=_LINK_DEADLINE_S, cwd=folder)
        return made.read_text(encoding="utf-8", errors="replace")


def _plain(name: str) -> str:
    member = _MEMBER.match(name)
    return f"{member[1]}{member[2]}" if member else name


def _described(folder: Path, tree: Path, name: str, size: int) -> KernelObject:
    path = folder / name
    try:
        text = path.with_name(f".{path.name}.cmd").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return KernelObject(name, None, frozenset(), size)
    source = _SOURCE.search(text)
    # Objects made in a folder of the source's name its files by "..".
    inside = source[1].removeprefix(f"{tree}/").removeprefix("../") if source else None
    return KernelObject(
        name, inside if inside and not inside.startswith("/") else None, frozenset(_READ.findall(text)), size
    )
