"""The newc cpio archive, the form the kernel unpacks an initramfs from: written and read here, bytes in and out.

Writing is deterministic: entries sorted by path, time zero, inode numbers counted from one. The form has no extended
attributes, so file capabilities and ACLs are lost.
"""

import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from bootlab.errors import InputError

MAGICS = (b"070701", b"070702")
"""newc without and with checksums; the kernel takes both."""
_TRAILER = "TRAILER!!!"
_HEADER_SIZE = 110
_FIELDS = 13


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, directory, link or device node of an archive."""

    path: str
    """Without a leading slash."""
    mode: int
    """Type and permission bits, as in stat."""
    data: bytes = b""
    """A file's content or a link's target."""
    device: tuple[int, int] = (0, 0)
    """Major and minor number of a device node."""
    owner: tuple[int, int] = (0, 0)
    """User and group."""
    linked: str = ""
    """Files with the same name here, if any, are one file: hard links. Each carries the data."""
    xattrs: tuple[tuple[str, bytes], ...] = ()
    """Extended attributes, file capabilities among them, for a form that has them: this one does not."""

    @property
    def size(self) -> int:
        return len(self.data)


def write(entries: Iterable[Entry]) -> bytes:
    """Return a newc archive of `entries`, sorted by path so that every directory precedes what it holds."""
    ordered = sorted(entries, key=path_order)
    links = Counter(entry.linked for entry in ordered)
    numbers: dict[str, int] = {}
    parts: list[bytes] = []
    for number, entry in enumerate(ordered, start=1):
        # Of a file with several names the first carries the bytes; the kernel links the others to it.
        first = not entry.linked or entry.linked not in numbers
        inode = numbers.setdefault(entry.linked, number) if entry.linked else number
        parts += _record(
            entry if first else replace(entry, data=b""), inode, links[entry.linked] if entry.linked else 1
        )
    parts += _record(Entry(_TRAILER, 0), 0, 1)
    return b"".join(parts)


def path_order(entry: Entry) -> tuple[str, ...]:
    """Return the key that sorts entries by path, each directory before what it holds."""
    return PurePosixPath(entry.path).parts


def read(data: bytes, offset: int = 0) -> tuple[list[Entry], int]:
    """Return the entries of the archive at `offset` and the offset just after its trailer.

    Raises InputError when the archive is cut short or damaged.
    """
    entries: list[Entry] = []
    for entry, end in _records(data, offset):
        if entry.path == _TRAILER:
            return _with_links_filled(entries, offset), end
        entries.append(entry)
    raise InputError(f"cut short: no {_TRAILER} at its end")


def _with_links_filled(entries: list[Entry], archive: int) -> list[Entry]:
    # One name of a file carries its bytes: the first here, the last with GNU cpio. Numbers are those of one archive.
    content: dict[str, bytes] = {}
    for entry in entries:
        if entry.linked:
            content[entry.linked] = entry.data or content.get(entry.linked, b"")
    return [
        replace(entry, data=content[entry.linked], linked=f"{archive} {entry.linked}") if entry.linked else entry
        for entry in entries
    ]


def _records(data: bytes, offset: int) -> Iterator[tuple[Entry, int]]:
    while offset < len(data):
        header = data[offset : offset + _HEADER_SIZE]
        if not header.startswith(MAGICS):
            raise InputError(f"damaged: no cpio header at byte {offset}")
        try:
            fields = [int(header[6 + 8 * n : 14 + 8 * n], 16) for n in range(_FIELDS)]
        except ValueError as error:
            raise InputError(f"damaged or cut short in the cpio header at byte {offset}") from error
        inode, mode, user, group, links = fields[:5]
        size, major, minor, name_size = fields[6], fields[9], fields[10], fields[11]
        name_end = offset + _HEADER_SIZE + name_size
        start = _aligned(name_end)
        if (beyond := start + size - len(data)) > 0:
            raise InputError(f"cut short: the entry at byte {offset} ends {beyond} bytes past the end")
        name = data[offset + _HEADER_SIZE : name_end - 1].decode(errors="replace")
        offset = _aligned(start + size)
        linked = f"inode {inode}" if links > 1 and stat.S_ISREG(mode) else ""
        yield Entry(name, mode, data[start : start + size], (major, minor), (user, group), linked), offset


def _record(entry: Entry, inode: int, names: int) -> list[bytes]:
    name = entry.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else names
    fields = (inode, entry.mode, *entry.owner, links, 0, entry.size, 0, 0, *entry.device, len(name), 0)
    header = MAGICS[0] + b"".join(b"%08X" % field for field in fields)
    return [_padded(header + name), _padded(entry.data)]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _aligned(offset: int) -> int:
    return (offset + 3) & ~3
