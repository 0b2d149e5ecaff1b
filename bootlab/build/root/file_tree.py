"""A tree of files being put together from several sources, in memory: what an initramfs or a root file system holds.

Later sources lie over earlier ones. The rules, one for each way in which two can meet:

- a folder over a folder: the later mode and owner, and all that both hold;
- a file, link or device over another: the later one;
- a path that leads through a link to a folder lands where the link leads, as `/bin/sh` does where /bin is usr/bin;
- a folder over a link to a folder: the link stays;
- a file over a folder, or a path below a file: an error.
"""

import stat
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from bootlab.build.formats.cpio import Entry, path_order
from bootlab.errors import InputError

_LINKS_AT_MOST = 40


class FileTree:
    """Paths are given absolute or relative; parents are made on the way, owner root and mode 0755."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            self.add(entry)

    def add_directory(self, path: str, mode: int = 0o755) -> None:
        """Add a directory. Raises InputError as `add`."""
        self.add(Entry(path, stat.S_IFDIR | mode))

    def add_file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Add a file. Raises InputError as `add`."""
        self.add(Entry(path, stat.S_IFREG | mode, data))

    def add_link(self, path: str, target: str) -> None:
        """Add a symbolic link to `target`. Raises InputError as `add`."""
        self.add(Entry(path, stat.S_IFLNK | 0o777, target.encode()))

    def add_device(self, path: str, major: int, minor: int, mode: int = 0o600) -> None:
        """Add a character device node."""
        self.add(Entry(path, stat.S_IFCHR | mode, device=(major, minor)))

    def add(self, entry: Entry) -> None:
        """Lay `entry` over what is there. Raises InputError for a path that cannot be."""
        given = _parts(entry.path)
        folder = self._folder(given[:-1], entry.path)
        path = "/".join([*folder, given[-1]])
        old = self._entries.get(path)
        if old is not None:
            is_folder = stat.S_ISDIR(entry.mode)
            if is_folder and stat.S_ISLNK(old.mode):
                self._folder(given, entry.path)
                return
            if is_folder != stat.S_ISDIR(old.mode):
                what = "folder lies over a file" if is_folder else "file lies over a folder"
                raise InputError(f"/{path}: a {what} of an earlier source", hint="leave one of the two out")
        self._entries[path] = replace(entry, path=path)

    def find(self, path: str) -> Entry | None:
        """Return the entry at `path`, through links to folders but not through the last one; None when none is."""
        given = _parts(path)
        try:
            folder = self._resolve(given[:-1])
        except InputError:
            return None
        return self._entries.get("/".join([*folder, given[-1]]))

    def __contains__(self, path: str) -> bool:
        return self.find(path) is not None

    def remove(self, path: str) -> bool:
        """Take out `path` and all below it; False when there is no such path."""
        found = self.find(path)
        if found is None:
            return False
        for name in [name for name in self._entries if name == found.path or name.startswith(f"{found.path}/")]:
            del self._entries[name]
        return True

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, each directory before what it holds."""
        return tuple(sorted(self._entries.values(), key=path_order))

    def _folder(self, parts: tuple[str, ...], wanted: str) -> list[str]:
        found = self._resolve(parts)
        for depth in range(1, len(found) + 1):
            path = "/".join(found[:depth])
            old = self._entries.setdefault(path, Entry(path, stat.S_IFDIR | 0o755))
            if not stat.S_ISDIR(old.mode):
                raise InputError(f"/{wanted.lstrip('/')}: /{path} is not a folder here")
        return found

    def _resolve(self, parts: tuple[str, ...]) -> list[str]:
        """Return the folder that `parts` leads to, links followed; what is not there yet is taken as written."""
        left, found, links = list(parts), list[str](), 0
        while left:
            part = left.pop(0)
            if part == "..":
                del found[-1:]
                continue
            old = self._entries.get("/".join([*found, part]))
            if old is None or not stat.S_ISLNK(old.mode):
                found.append(part)
                continue
            links += 1
            if links > _LINKS_AT_MOST:
                raise InputError(f"/{'/'.join(parts)}: links lead in a circle")
            target = PurePosixPath(old.data.decode(errors="replace"))
            if target.is_absolute():
                found = []
            left = [word for word in target.parts if word != "/"] + left
        return found


def _parts(path: str) -> tuple[str, ...]:
    parts = PurePosixPath("/", path).parts[1:]
    if not parts or ".." in parts:
        raise InputError(f"{path!r}: not a path inside an archive", hint="give it as the guest sees it, as /etc/motd")
    return parts
