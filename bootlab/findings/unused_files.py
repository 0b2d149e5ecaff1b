"""The files of an initramfs or root file system that one boot never touched, as a `without` list for the recipe.

A profiled boot tells every path that the kernel was asked to open, execute or look up, until ready and in the check.
It tells them as they were given, so where one may mean several files all of them count as used: one relative to an
unknown folder, one below a mount point, one that was too long to be recorded whole. What is listed was never asked for.
"""

import fnmatch
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from bootlab.build.programs.guest import FACTS, MARK
from bootlab.errors import InputError
from bootlab.profile.asked.profiling import FUNCTIONS, PATH_HOOKS, function_names, read_functions
from bootlab.profile.recorded.reader import Profile, read_profile
from bootlab.profile.recorded.record_types import EventKind
from bootlab.profile.recorded.trace import read_trace

_OURS = frozenset(path.lstrip("/") for path in (MARK, FACTS, f"{FACTS}.plain", f"{FACTS}.plain.plain"))
_LONGEST = 1023
"""Bytes of a path that the plugin records (plugin/profile_format.h)."""
_LINKS_AT_MOST = 40
_UNPACKING = frozenset({"unpack_to_rootfs", "populate_rootfs", "do_populate_rootfs"})
"""The kernel itself opens every file of the archive that it unpacks."""


class TreeFile(Protocol):
    """A file, folder or link of a tree, as an archive's entry is one."""

    @property
    def path(self) -> str:
        """Return where it is."""
        ...

    @property
    def mode(self) -> int:
        """Return its type and permission bits."""
        ...

    @property
    def data(self) -> bytes:
        """Return a link's target."""
        ...

    @property
    def size(self) -> int:
        """Return its bytes."""
        ...

    @property
    def linked(self) -> str:
        """Return what all names of one file have in common; empty for a file with one name."""
        ...


@dataclass(frozen=True, slots=True)
class UnusedFile:
    """A file or link; `size` in bytes, 0 for a further name of a file whose bytes stay."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Unused:
    """What a boot did not touch of one tree; device nodes and empty folders are not counted."""

    files: int
    """All files and links of the tree."""
    size: int
    """Their bytes, before any compression."""
    unused: tuple[UnusedFile, ...]
    without: tuple[str, ...]
    """The same as a recipe's `without`: whole folders where nothing in them was touched."""

    @property
    def unused_size(self) -> int:
        return sum(file.size for file in self.unused)


def read_paths(profile: Path) -> list[str]:
    """Return every path that was opened or looked up, in the order of time, as in a profiled boot's directory.

    `profile`: the file in that directory. Raises InputError when the profile is damaged or recorded no path at all.
    """
    folder = profile.parent
    trace = read_trace(folder / "trace.txt")
    if trace.shift is None:
        raise InputError(f"{folder}: no profile: QEMU ended before its first instruction")
    names = function_names(read_functions(folder / FUNCTIONS))
    read = read_profile(profile, names, trace.shift)
    unpacking = _nodes_below(read, _UNPACKING)
    paths = [
        event.text
        for event in read.events
        if event.kind in (EventKind.OPEN, EventKind.LOOKUP) and event.node not in unpacking
    ]
    if not paths:
        functions = " or ".join(PATH_HOOKS.values())
        raise InputError(
            f"{folder}: no path was looked up: this kernel has no function {functions}, or ran no program",
            hint="kernel.symbols names a System.map or vmlinux with its functions",
        )
    return paths


def _nodes_below(profile: Profile, functions: frozenset[str]) -> set[int]:
    # A node comes after its parent.
    wanted = {number for number, name in enumerate(profile.names) if name in functions}
    below = set[int]()
    for node, (parent, function) in enumerate(profile.nodes.tolist()):
        if parent in below or function in wanted:
            below.add(node)
    return below


def find_unused(entries: Iterable[TreeFile], paths: Iterable[str]) -> Unused:
    """Return the part of a tree that none of `paths` leads to."""
    tree = _Tree(entries)
    for path in dict.fromkeys(paths):
        tree.touch(path)
    return tree.unused()


class _Tree:
    def __init__(self, entries: Iterable[TreeFile]) -> None:
        cleaned = ((entry.path.removeprefix("./").strip("/"), entry) for entry in entries)
        self._entries = {path: entry for path, entry in cleaned if path not in ("", ".")}
        self._used: set[str] = {path for path in self._entries if self._canonical(path) in _OURS or path in _OURS}

    def touch(self, path: str) -> None:
        """Count as used what a path that the kernel was given may lead to."""
        if len(path.encode(errors="surrogateescape")) >= _LONGEST:
            self._touch_matching(f"{_clean(path)}*")
        elif "?" in path or "\ufffd" in path:
            # What the plugin does not print.
            self._touch_matching(_clean(path).replace("\ufffd", "?"))
        elif not path.startswith("/"):
            self._touch_relative(path)
        else:
            parts = [part for part in PurePosixPath(path).parts if part != "/"]
            # Where it does not lead to anything, its beginning may be where this tree was mounted.
            while parts and not self._walk(parts):
                parts = parts[1:]

    def unused(self) -> Unused:
        """Return what was not touched so far."""
        counted = {path: entry for path, entry in self._entries.items() if _is_counted(entry)}
        left = [path for path in counted if path not in self._used]
        kept_links = {entry.linked for path, entry in counted.items() if path in self._used and entry.linked}
        listed, seen = list[UnusedFile](), set(kept_links)
        for path in sorted(left):
            linked = counted[path].linked
            listed.append(UnusedFile(f"/{path}", 0 if linked and linked in seen else counted[path].size))
            seen |= {linked} - {""}
        first = {entry.linked or path: entry.size for path, entry in counted.items()}
        return Unused(len(counted), sum(first.values()), tuple(listed), tuple(self._condensed(left)))

    def _condensed(self, left: Iterable[str]) -> Iterator[str]:
        # A folder that was looked up, that is empty or that holds a node stays, and so do all above it.
        stays = set[str]()
        parents = {str(PurePosixPath(path).parent) for path in self._entries}
        for path, entry in self._entries.items():
            empty = stat.S_ISDIR(entry.mode) and path not in parents
            if path in self._used or empty or not (_is_counted(entry) or stat.S_ISDIR(entry.mode)):
                stays.update([path, *(str(one) for one in PurePosixPath(path).parents)])
        done = set[str]()
        for path in sorted(left, key=lambda one: PurePosixPath(one).parts):
            if done.intersection(str(parent) for parent in PurePosixPath(path).parents):
                continue
            top = path
            while (parent := str(PurePosixPath(top).parent)) != "." and parent not in stays:
                top = parent
            done.add(top)
            yield f"/{top}"

    def _walk(self, parts: list[str]) -> bool:
        """Touch what a path from the root leads to, links on the way too; False when it leads to nothing."""
        touched, left, here, links = list[str](), list(parts), list[str](), 0
        while left:
            part = left.pop(0)
            if part in (".", ""):
                continue
            if part == "..":
                del here[-1:]
                continue
            path = "/".join([*here, part])
            entry = self._entries.get(path)
            if entry is None:
                return False
            if not stat.S_ISLNK(entry.mode):
                here.append(part)
                continue
            touched.append(path)
            links += 1
            if links > _LINKS_AT_MOST:
                break
            target = PurePosixPath(entry.data.decode(errors="surrogateescape"))
            if target.is_absolute():
                here = []
            if not left and not self._leads(here, target):
                # A link to what is made later, as /etc/mtab: the link itself was what was asked for.
                break
            left = [word for word in target.parts if word != "/"] + left
        self._used.update(touched)
        if here:
            self._used.add("/".join(here))
        return True

    def _leads(self, here: list[str], target: PurePosixPath) -> bool:
        return bool(self._canonical("/".join([*here, *(word for word in target.parts if word != "/")])))

    def _canonical(self, path: str) -> str:
        """Return where a path leads, links followed; empty when it leads to nothing."""
        left, here, links = path.split("/"), list[str](), 0
        while left:
            part = left.pop(0)
            if part == "..":
                del here[-1:]
            elif part not in (".", ""):
                entry = self._entries.get("/".join([*here, part]))
                if entry is None:
                    return ""
                if stat.S_ISLNK(entry.mode) and links < _LINKS_AT_MOST:
                    links += 1
                    target = PurePosixPath(entry.data.decode(errors="surrogateescape"))
                    here = [] if target.is_absolute() else here
                    left = [word for word in target.parts if word != "/"] + left
                else:
                    here.append(part)
        return "/".join(here)

    def _touch_relative(self, path: str) -> None:
        parts = [part for part in PurePosixPath(path).parts if part not in (".", "..")]
        if not parts:
            return
        # Through links too: in which folder it began is not known.
        for place in [name for name in self._entries if name == parts[0] or name.endswith(f"/{parts[0]}")]:
            self._walk([*place.split("/"), *parts[1:]])

    def _touch_matching(self, pattern: str) -> None:
        for path in fnmatch.filter(self._entries, pattern):
            self._walk(path.split("/"))
        for path in fnmatch.filter(self._entries, f"*/{pattern}"):
            self._walk(path.split("/"))


def _clean(path: str) -> str:
    return path.strip("/").replace("[", "[[]").replace("*", "[*]")


def _is_counted(entry: TreeFile) -> bool:
    return stat.S_ISREG(entry.mode) or stat.S_ISLNK(entry.mode)
