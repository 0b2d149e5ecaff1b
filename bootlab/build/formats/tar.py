"""Files as a tar archive, for programs that make a file system of one: bytes that depend on the files alone."""

import io
import stat
import tarfile
from collections.abc import Iterable

from bootlab.build.formats.cpio import Entry

_TYPES = {
    stat.S_IFREG: tarfile.REGTYPE,
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFCHR: tarfile.CHRTYPE,
    stat.S_IFBLK: tarfile.BLKTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
}
XATTR = "SCHILY.xattr."
"""What the name of an extended attribute has before it in a pax header; of GNU tar, Docker and others."""


def write(entries: Iterable[Entry]) -> bytes:
    """Return a tar archive of `entries`, in their order, times zero."""
    out = io.BytesIO()
    first: dict[str, str] = {}
    given = list(entries)
    # Only this form has extended attributes, and only what has some takes it: the others' bytes stay what they were.
    form = tarfile.PAX_FORMAT if any(entry.xattrs for entry in given) else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=out, mode="w", format=form, encoding="utf-8") as archive:
        for entry in given:
            member = tarfile.TarInfo(entry.path)
            member.type = _TYPES[stat.S_IFMT(entry.mode)]
            member.mode = stat.S_IMODE(entry.mode)
            member.uid, member.gid = entry.owner
            member.devmajor, member.devminor = entry.device
            member.pax_headers = {
                f"{XATTR}{name}": value.decode(errors="surrogateescape") for name, value in entry.xattrs
            }
            data = b""
            if member.type == tarfile.SYMTYPE:
                member.linkname = entry.data.decode(errors="surrogateescape")
            elif entry.linked and entry.linked in first:
                member.type, member.linkname = tarfile.LNKTYPE, first[entry.linked]
            elif member.type == tarfile.REGTYPE:
                data, member.size = entry.data, entry.size
                first.setdefault(entry.linked, entry.path)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()
