"""A tar archive read forwards, maybe compressed: its files as entries. Nothing of it is written to this host.

Names lead nowhere but below the root: a leading slash is left out, `..` in a name is refused. Where links lead is a
matter of the tree that the entries are put into. An archive that is cut off or damaged is an error, wherever that is:
Python's own reader takes a damaged header in the middle for the end.
"""

import hashlib
import io
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Final

from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.streams import DAMAGED, HEAD_BYTES, compression_of, read_blocks
from bootlab.build.formats.tar import XATTR
from bootlab.build.given_root.limits import Budget
from bootlab.errors import InputError
from bootlab.system.part import brief

_TYPES: Final = {
    tarfile.REGTYPE: stat.S_IFREG,
    tarfile.AREGTYPE: stat.S_IFREG,
    tarfile.CONTTYPE: stat.S_IFREG,
    tarfile.GNUTYPE_SPARSE: stat.S_IFREG,
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}
_KEPT_XATTRS: Final = ("security.capability", "user.")
_ACL: Final = "SCHILY.acl."
_LONGEST_NAME: Final = 255
_LARGEST_ID: Final = (1 << 32) - 1
_LARGEST_MAJOR, _LARGEST_MINOR = (1 << 12) - 1, (1 << 20) - 1
_BLOCK: Final = 512
_IN_VAIN: Final = 8


@dataclass(slots=True)
class TarMember:
    """One member: its entry, or of a hard link the name of the file that it is another name of."""

    entry: Entry
    link_to: str = ""


@dataclass(slots=True)
class ReadTar:
    """What reading an archive leaves besides its members, once all are read."""

    sha256: str = ""
    """Of what was unpacked, to its end."""
    left_out: dict[str, int] = field(default_factory=dict)
    """What is not kept of it -> of how many files."""
    has_end: bool = False
    """Whether it ends as an archive does, and not with its last file."""


class _StrictMember(tarfile.TarInfo):
    """A member whose header is one. Each archive has a class of its own: that is all that a reader can be given."""

    ended = False
    """Whether the block of zeros was met that ends an archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "_StrictMember":
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            cls.ended = True
            raise
        except (tarfile.TruncatedHeaderError, tarfile.InvalidHeaderError) as error:  # type: ignore[attr-defined]
            raise _Damaged(str(error)) from error


class _Damaged(Exception):
    """A header that is none, or only part of one."""


class _UnpackedTar(io.RawIOBase):
    """A stream of blocks as a file: counted and hashed. Behind its end come the zeros that end an archive.

    Some writers leave them out, umoci among them, and what the last file's block lacks.
    """

    def __init__(self, blocks: Iterator[bytes], budget: Budget) -> None:
        self._blocks = blocks
        self._budget = budget
        self._left = memoryview(b"")
        self._digest = hashlib.sha256()
        self.size = 0
        """How many bytes there were so far, without those zeros."""
        self.ended = False
        self._asked_in_vain = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        while not self._left:
            block = next(self._blocks, None)
            if block is None and self.ended:
                # Who is told of a file as large as a disk would ask for it, piece by piece, for years.
                self._asked_in_vain += 1
                if self._asked_in_vain > _IN_VAIN:
                    raise _Damaged("it ends in the middle of a file")
                return 0
            if block is None:
                self.ended = True
                self._left = memoryview(bytes(-self.size % _BLOCK + 2 * _BLOCK))
                break
            self.size += len(block)
            self._budget.take_unpacked(len(block))
            self._digest.update(block)
            self._left = memoryview(block)
        size = min(len(self._left), len(buffer))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def finish(self) -> str:
        """Read to the end; returns the sha256 of it all."""
        while self.read(1 << 20):
            pass
        return self._digest.hexdigest()


def is_tar(head: bytes) -> bool:
    """Return whether the first block of a file, unpacked, is the header of a tar archive's first member."""
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def unpacked_head(file: IO[bytes], size: int = _BLOCK) -> bytes:
    """Return the first bytes of what a file holds, unpacked; what there is of them in one that is damaged."""
    start = file.tell()
    how = compression_of(file.read(HEAD_BYTES))
    file.seek(start)
    found = b""
    try:
        for block in read_blocks(file, how):
            found += block
            if len(found) >= size:
                break
    except DAMAGED:
        pass
    return found[:size]


def read_members(file: IO[bytes], where: str, budget: Budget, read: ReadTar) -> Iterator[TarMember]:
    """Yield the members of an archive in their order, with their bytes; `read` is whole after the last of them.

    Raises InputError, which begins with `where`, for one that is damaged, cut off, or leads out of the root.
    """
    start = file.tell()
    how = compression_of(file.read(HEAD_BYTES))
    file.seek(start)
    stream = _UnpackedTar(read_blocks(file, how), budget)

    class Strict(_StrictMember):
        """Those of this archive."""

    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=Strict, encoding="utf-8") as archive:
            while (member := archive.next()) is not None:
                # It would keep all that was read.
                archive.members = []  # type: ignore[attr-defined]
                found = _member(archive, member, where, budget, read)
                end = archive.offset if member.issparse() else member.offset_data + member.size
                if stream.ended and end > stream.size + (-stream.size % _BLOCK if member.issparse() else 0):
                    raise _Damaged(f"it ends in the middle of {brief(member.name)}")
                if found is not None:
                    yield found
            read.has_end = Strict.ended and archive.offset + _BLOCK <= stream.size
        read.sha256 = stream.finish()
    except (tarfile.TarError, _Damaged) as error:
        raise InputError(
            f"{where}: no tar archive, cut off or damaged: {error}", hint="copy or make it again"
        ) from error
    except DAMAGED as error:
        if getattr(error, "errno", None) is not None:
            raise InputError(f"{where}: {getattr(error, 'strerror', None) or error}") from error
        raise InputError(f"{where}: damaged or cut off: {error}", hint="copy or make it again") from error


def inside(name: str, where: str) -> str:
    """Return a member's name as a path below the root, empty for the root itself.

    Raises InputError for one that leads out of it, or that no file can have.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InputError(
            f"{where}: {brief(name)!r} leads out of the root: refused", hint="whoever made it can make it without .."
        )
    for part in parts:
        if "\0" in part or len(part.encode(errors="surrogateescape")) > _LONGEST_NAME:
            raise InputError(f"{where}: {brief(name)!r}: no file can have that name")
    return "/".join(parts)


def _member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, where: str, budget: Budget, read: ReadTar
) -> TarMember | None:
    path = inside(member.name, where)
    if not path:
        return None
    budget.take_file(0)
    if member.islnk():
        return TarMember(Entry(path, stat.S_IFREG), inside(member.linkname, where))
    kind = _TYPES.get(member.type)
    if kind is None:
        _leave_out(read, f"members of tar's type {member.type.decode(errors='replace')!r}")
        return None
    data = b""
    if kind == stat.S_IFREG:
        if member.size < 0:
            raise InputError(f"{where}: {brief(path)!r} has a size below zero: damaged")
        budget.files += 1
        budget.take_file(member.size)
        content = archive.extractfile(member)
        data = content.read() if content is not None else b""
        if len(data) != member.size:
            raise _Damaged(f"{brief(path)} ends after {len(data):,} of {member.size:,} bytes")
    elif kind == stat.S_IFLNK:
        data = member.linkname.encode(errors="surrogateescape")
    if not (0 <= member.uid <= _LARGEST_ID and 0 <= member.gid <= _LARGEST_ID):
        raise InputError(f"{where}: {brief(path)!r} belongs to user {member.uid}, group {member.gid}: no such can be")
    device = (member.devmajor or 0, member.devminor or 0) if kind in (stat.S_IFCHR, stat.S_IFBLK) else (0, 0)
    if not (0 <= device[0] <= _LARGEST_MAJOR and 0 <= device[1] <= _LARGEST_MINOR):
        raise InputError(f"{where}: {brief(path)!r} is device {device[0]}:{device[1]}: no such can be")
    mode = kind | (0o777 if kind == stat.S_IFLNK else stat.S_IMODE(member.mode))
    return TarMember(Entry(path, mode, data, device, (member.uid, member.gid), xattrs=_xattrs(member, read)))


def _xattrs(member: tarfile.TarInfo, read: ReadTar) -> tuple[tuple[str, bytes], ...]:
    found = []
    for key, value in member.pax_headers.items():
        name = key.removeprefix(XATTR)
        if key.startswith(XATTR) and is_kept(name):
            found.append((name, value.encode(errors="surrogateescape")))
        elif key.startswith(XATTR):
            _leave_out(read, f"the attribute {brief(name)}")
        elif key.startswith(_ACL):
            _leave_out(read, "access control lists")
    return tuple(sorted(found))


def is_kept(xattr: str) -> bool:
    """Return whether an extended attribute is kept: file capabilities, and what belongs to users.

    Labels of the machine that an archive was made on are not, nor what container engines note for themselves.
    """
    return xattr.startswith(_KEPT_XATTRS)


def _leave_out(read: ReadTar, what: str) -> None:
    read.left_out[what] = read.left_out.get(what, 0) + 1
