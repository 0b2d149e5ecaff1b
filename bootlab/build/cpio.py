"""The newc cpio archive, the form the kernel unpacks an initramfs from: written and read here, bytes in and out.

Writing is deterministic: entries sorted by path, owner root, time zero, inode numbers counted from one.
"""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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

    @property
    def size(self) -> int:
        return len(self.data)


class Archive:
    """An archive being put together. Paths are given absolute or relative, and parents are made on the way."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def directory(self, path: str, mode: int = 0o755) -> None:
        self._add(Entry(_plain(path), stat.S_IFDIR | mode))

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self._add(Entry(_plain(path), stat.S_IFREG | mode, data))

    def link(self, path: str, target: str) -> None:
        self._add(Entry(_plain(path), stat.S_IFLNK | 0o777, target.encode()))

    def device(self, path: str, major: int, minor: int, mode: int = 0o600) -> None:
        """Add a character device node."""
        self._add(Entry(_plain(path), stat.S_IFCHR | mode, device=(major, minor)))

    def __contains__(self, path: str) -> bool:
        return _plain(path) in self._entries

    def to_bytes(self) -> bytes:
        """Return the whole archive, trailer included."""
        return write(self._entries.values())

    def _add(self, entry: Entry) -> None:
        for parent in [str(folder) for folder in PurePosixPath(entry.path).parents][:-1]:
            old = self._entries.setdefault(parent, Entry(parent, stat.S_IFDIR | 0o755))
            if not stat.S_ISDIR(old.mode):
                raise InputError(f"/{entry.path}: /{parent} is not a directory in this archive")
        old = self._entries.setdefault(entry.path, entry)
        if old is not entry and not (stat.S_ISDIR(old.mode) and stat.S_ISDIR(entry.mode)):
            raise InputError(f"/{entry.path}: is in this archive already")


def write(entries: Iterable[Entry]) -> bytes:
    """Return a newc archive of `entries`, sorted by path so that every directory precedes what it holds."""
    parts: list[bytes] = []
    for inode, entry in enumerate(sorted(entries, key=lambda entry: PurePosixPath(entry.path).parts), start=1):
        parts += _record(entry, inode)
    parts += _record(Entry(_TRAILER, 0), 0)
    return b"".join(parts)


def read(data: bytes, offset: int = 0) -> tuple[list[Entry], int]:
    """Return the entries of the archive at `offset` and the offset just after its trailer.

    Raises InputError when the archive is cut short or damaged.
    """
    entries: list[Entry] = []
    for entry, end in _records(data, offset):
        if entry.path == _TRAILER:
            return entries, end
        entries.append(entry)
    raise InputError(f"cut short: no {_TRAILER} at its end")


def _records(data: bytes, offset: int) -> Iterator[tuple[Entry, int]]:
    while offset < len(data):
        header = data[offset : offset + _HEADER_SIZE]
        if not header.startswith(MAGICS):
            raise InputError(f"damaged: no cpio header at byte {offset}")
        try:
            fields = [int(header[6 + 8 * n : 14 + 8 * n], 16) for n in range(_FIELDS)]
        except ValueError as error:
            raise InputError(f"damaged or cut short in the cpio header at byte {offset}") from error
        mode, size, major, minor, name_size = fields[1], fields[6], fields[9], fields[10], fields[11]
        name_end = offset + _HEADER_SIZE + name_size
        start = _aligned(name_end)
        if (beyond := start + size - len(data)) > 0:
            raise InputError(f"cut short: the entry at byte {offset} ends {beyond} bytes past the end")
        name = data[offset + _HEADER_SIZE : name_end - 1].decode(errors="replace")
        offset = _aligned(start + size)
        yield Entry(name, mode, data[start : start + size], (major, minor)), offset


def _record(entry: Entry, inode: int) -> list[bytes]:
    name = entry.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (inode, entry.mode, 0, 0, links, 0, entry.size, 0, 0, *entry.device, len(name), 0)
    header = MAGICS[0] + b"".join(b"%08X" % field for field in fields)
    return [_padded(header + name), _padded(entry.data)]


def _plain(path: str) -> str:
    parts = PurePosixPath("/", path).parts[1:]
    if not parts or ".." in parts:
        raise InputError(f"{path!r}: not a path inside an archive")
    return "/".join(parts)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _aligned(offset: int) -> int:
    return (offset + 3) & ~3
