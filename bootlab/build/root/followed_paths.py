"""Where a path leads in a root file system, links followed: /bin/sh is usr/bin/dash where /bin is a link to usr/bin.

Each folder is followed once, so that the files of thousands of packages are looked up in a moment.
"""

import stat
from collections.abc import Iterable, Mapping
from typing import Final

from bootlab.build.formats.cpio import Entry

_LINKS_AT_MOST: Final = 40


class FollowedPaths:
    """The paths of one tree. They are given absolute or relative to its root, and returned without a leading slash."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        cleaned = ((entry.path.removeprefix("./").strip("/"), entry) for entry in entries)
        self.entries: Mapping[str, Entry] = {path: entry for path, entry in cleaned if path not in ("", ".")}
        self._links = {
            path: entry.data.decode(errors="surrogateescape")
            for path, entry in self.entries.items()
            if stat.S_ISLNK(entry.mode)
        }
        self._folders: dict[str, str] = {"": ""}

    def place(self, path: str) -> str:
        """Return where a path lies: links to folders are followed, the path itself is not, if it is a link."""
        folder, _, name = path.strip("/").rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = self._followed(folder)
        return f"{self._folders[folder]}/{name}".lstrip("/")

    def target(self, path: str) -> str | None:
        """Return the file or folder that a path leads to; None where nothing is there, or links lead in a circle."""
        found = self.place(path)
        if found in self._links:
            found = self._followed(found)
        return found if found in self.entries and found not in self._links else None

    def _followed(self, path: str) -> str:
        """Return where a path leads. What is not there is taken as written, and so is the link that is one too many."""
        left, here, links = path.split("/")[::-1], list[str](), 0
        while left:
            part = left.pop()
            if part == "..":
                del here[-1:]
            elif part not in ("", "."):
                link = self._links.get("/".join([*here, part]))
                links += link is not None
                if link is None or links > _LINKS_AT_MOST:
                    here.append(part)
                    continue
                if link.startswith("/"):
                    here = []
                left += link.split("/")[::-1]
        return "/".join(here)
