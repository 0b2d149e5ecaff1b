"""Which of busybox's applets the files of a root name: those that it can be reduced to.

An applet is run by a name: a word of a script, a command of inittab, a path in a program. busybox's shell runs applets
without an exec that a profile could show, and a boot takes one way through a script only; so every word counts, of
whatever it is a word, and too many stay rather than too few. What a name is put together of at run time is not seen.
"""

import re
import stat
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from bootlab.build.formats.cpio import Entry

_WORD = re.compile(rb"(\$\{?|\})?([A-Za-z0-9_./+\[-]+)(=?)")
"""A word, with what makes a variable's name or value of it."""
_PROGRAM = re.compile(rb"/s?bin/([A-Za-z0-9_.+\[-]+)\0")
"""A whole string of a program that is compiled: the path of what it executes."""
_COMMENT = re.compile(rb"^[ \t]*#(?!!).*$", re.MULTILINE)
_BY_INIT = ("sh", "umount", "swapoff", "reboot")
"""What busybox's init runs of itself where no /etc/inittab says otherwise (init/init.c)."""


def find_applets_used(
    entries: Iterable[Entry], applets: Collection[str], *, starts: Iterable[str] = (), modules: bool = False
) -> dict[str, str]:
    """Return applet -> the first file that names it, of those among `applets`.

    `entries`: the files of the root, busybox and its links among them, which name nothing. `starts`: paths that the
    kernel's command line names as init. `modules`: the kernel may ask for one, by modprobe.
    """
    tree = {entry.path.strip("/"): entry for entry in entries}
    found: dict[str, str] = {}

    def name(words: Iterable[str], by: str) -> None:
        for word in words:
            if word in applets:
                found.setdefault(word, by)

    name((PurePosixPath(path).name for path in starts), "kernel.cmdline")
    if modules:
        name(("modprobe",), "the kernel, for modules")
    for path in sorted(tree):
        entry = tree[path]
        if stat.S_ISREG(entry.mode) and not entry.path.endswith("bin/busybox"):
            name(_words(entry.data), f"/{path}")
        elif stat.S_ISLNK(entry.mode) and not _is_busybox(entry):
            name((PurePosixPath(entry.data.decode(errors="replace")).name,), f"/{path}")
    if not any(path in tree and not _is_busybox(tree[path]) for path in ("init", "sbin/init")):
        name(("init",), "the kernel, for /sbin/init")
    if "init" in found and "etc/inittab" not in tree:
        name(_BY_INIT, "init, without an /etc/inittab")
    return dict(sorted(found.items()))


def _is_busybox(entry: Entry) -> bool:
    return stat.S_ISLNK(entry.mode) and PurePosixPath(entry.data.decode(errors="replace")).name == "busybox"


def _words(data: bytes) -> set[str]:
    if b"\0" in data:
        return {found.decode() for found in _PROGRAM.findall(data)}
    found = set[str]()
    for before, word, after in _WORD.findall(_COMMENT.sub(b"", data)):
        folder, slash, name = word.decode().rpartition("/")
        if slash:
            # /proc/sys/kernel/watchdog runs nothing; $DIR/mount and ${DIR}/mount may.
            runs = bool(before) or folder == "." or PurePosixPath(folder).name.endswith("bin")
        else:
            # The name of a variable, read or written.
            runs = not before.startswith(b"$") and not after
        if runs:
            # `-sh` of inittab is sh as a login shell; `sh.` ends a sentence.
            found |= {name, name.lstrip("-"), name.strip(".-")}
    return found
