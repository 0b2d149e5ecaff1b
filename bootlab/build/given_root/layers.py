"""Layers laid over each other, as container engines do: what a layer has replaces what is below, and may take it away.

`.wh.NAME` takes away NAME of the layers below, `.wh..wh..opq` in a folder all that these have in it (OCI image-spec,
layer.md). Both are done before the layer's own files come, wherever in the archive they stand. Unlike in a recipe's
tree a file may come in the place of a folder, and a folder in the place of a link. A path that leads through a link
lands where the link leads in this root, never on the host.
"""

import stat
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from bootlab.build.formats.cpio import Entry, path_order
from bootlab.build.given_root.tar_stream import TarMember
from bootlab.errors import InputError
from bootlab.system.part import brief

_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_AUFS: Final = ".wh..wh."
"""What else begins so is aufs's own."""
_LINKS_AT_MOST: Final = 40


class _Node:
    __slots__ = ("below", "entry")

    def __init__(self, entry: Entry | None = None) -> None:
        self.entry = entry
        self.below: dict[str, _Node] = {}


class LayeredTree:
    """The files of a root, as the layers so far have left them. `where` names the archive in messages."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._root = _Node(Entry("", stat.S_IFDIR | 0o755))
        self._links = 0

    def lay(self, members: Iterable[TarMember], *, whiteouts: bool) -> None:
        """Lay one archive over what is there. Raises InputError for a path or a hard link that leads nowhere."""
        own = list(members) if whiteouts else members
        if whiteouts:
            own = [member for member in own if not self._taken_away(member.entry.path)]
        for member in own:
            self._add(member)

    def entries(self) -> tuple[Entry, ...]:
        """Return all files, each folder before what it holds."""
        found: list[Entry] = []
        left = [("", self._root)]
        while left:
            path, node = left.pop()
            for name, below in node.below.items():
                inner = f"{path}/{name}" if path else name
                assert below.entry is not None
                found.append(replace(below.entry, path=inner))
                left.append((inner, below))
        return tuple(sorted(found, key=path_order))

    def _taken_away(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if not name.startswith(_WHITEOUT):
            return False
        node = self._walk(folder.split("/") if folder else [], make=False)
        if node is None or (name.startswith(_AUFS) and name != _OPAQUE):
            return True
        if name == _OPAQUE:
            node.below.clear()
        elif name == _WHITEOUT:
            raise InputError(f"{self._where}: {brief(path)!r} takes away a file without a name: damaged")
        else:
            node.below.pop(name.removeprefix(_WHITEOUT), None)
        return True

    def _add(self, member: TarMember) -> None:
        entry = member.entry
        folder, name = self._place(entry.path)
        if member.link_to:
            entry = self._linked(member)
        old = folder.below.get(name)
        if old is not None and old.entry is not None and stat.S_ISDIR(old.entry.mode) and stat.S_ISDIR(entry.mode):
            old.entry = entry
        else:
            folder.below[name] = _Node(entry)

    def _linked(self, member: TarMember) -> Entry:
        folder, name = self._place(member.link_to, make=False)
        found = folder.below.get(name)
        if found is None or found.entry is None or stat.S_ISDIR(found.entry.mode):
            what = "a folder" if found is not None else "not there before it"
            raise InputError(
                f"{self._where}: {brief(member.entry.path)!r} is a hard link to {brief(member.link_to)!r}, "
                f"which is {what}: damaged",
                hint="copy or make it again",
            )
        if stat.S_ISREG(found.entry.mode) and not found.entry.linked:
            self._links += 1
            found.entry = replace(found.entry, linked=f"link {self._links}")
        return replace(found.entry, path=member.entry.path)

    def _place(self, path: str, *, make: bool = True) -> tuple[_Node, str]:
        folder, _, name = path.rpartition("/")
        node = self._walk(folder.split("/") if folder else [], make=make)
        return (node if node is not None else _Node()), name

    def _walk(self, parts: list[str], *, make: bool) -> _Node | None:
        """Return the folder that a path leads to, links followed; folders that are not there are made, or None."""
        left, above, links = parts[::-1], [self._root], 0
        while left:
            part = left.pop()
            if part in ("", "."):
                continue
            if part == "..":
                above = above[:-1] if len(above) > 1 else above
                continue
            node = above[-1].below.get(part)
            if node is None:
                if not make:
                    return None
                node = above[-1].below.setdefault(part, _Node(Entry(part, stat.S_IFDIR | 0o755)))
            assert node.entry is not None
            if stat.S_ISLNK(node.entry.mode):
                links += 1
                if links > _LINKS_AT_MOST:
                    raise InputError(f"{self._where}: {brief('/'.join(parts))!r}: links lead in a circle")
                target = node.entry.data.decode(errors="surrogateescape")
                above = [self._root] if target.startswith("/") else above
                left += target.split("/")[::-1]
                continue
            if not stat.S_ISDIR(node.entry.mode):
                if not make:
                    return None
                # As an engine that unpacks it does: what is in the way goes.
                node = above[-1].below[part] = _Node(Entry(part, stat.S_IFDIR | 0o755))
            above.append(node)
        return above[-1]
