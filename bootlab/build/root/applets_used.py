"""Which of busybox's applets the files of a root name: those that it can be reduced to.

An applet is run by a name: a word of a script, a command of inittab, a path in a program. busybox's shell runs applets
without an exec that a profile could show, and a boot takes one way through a script only; so every word counts, of
whatever it is a word, and too many stay rather than too few. What a name is put together of at run time is not seen.
Nor is it known of a compiled program whether it runs a word that it holds: `find_applets_spoken` names those.
"""

import re
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from bootlab.build.formats.cpio import Entry

_WORD = re.compile(rb"(\$\{?|\})?([A-Za-z0-9_./+\[-]+)(=?)")
"""A word, with what makes a variable's name or value of it."""
_PROGRAM = re.compile(rb"/s?bin/([A-Za-z0-9_.+\[-]+)")
"""The path of what a compiled program executes. A string of Go's or Rust's has no zero behind it."""
_SPOKEN = re.compile(rb"(?<=\0)([A-Za-z0-9_.+\[-]+)(?=[ \0])")
"""The first word of a string of a compiled program: a name for execvp(), a line for system(), or a message."""
_RUNS = re.compile(rb"\x7fELF.{12}[\2\3]\0", re.DOTALL)
"""A program or a shared library of a little-endian processor; a module of the kernel is neither."""
_COMMENT = re.compile(rb"^[ \t]*#(?!!).*$", re.MULTILINE)
_BY_INIT = ("sh", "umount", "swapoff", "reboot")
"""What busybox's init runs of itself where no /etc/inittab says otherwise (init/init.c)."""
_SHELLS = ("awk", "chroot", "conspy", "dpkg", "flock", "man", "mdev", "openvt", "script", "svlogd", "vi", "watch")
_BY_APPLET: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(_SHELLS, ("sh",)),  # system(), popen(), or the shell where no program is given
    **dict.fromkeys(("ifup", "ifdown"), ("sh", "ip", "ifconfig", "route", "run-parts", "udhcpc")),
    "acpid": ("run-parts",),
    "adduser": ("addgroup", "passwd"),
    "bootchartd": ("sh", "tar", "gzip", "init"),
    "crond": ("sh", "sendmail"),
    "crontab": ("vi",),
    "getty": ("login",),
    "reset": ("stty",),
    "runsvdir": ("runsv",),
    "tar": ("gzip", "bzip2"),
    "telnetd": ("login",),
    "wget": ("ssl_client",),
    "xargs": ("echo",),
}
"""What other applets run by name, which no file says (BusyBox 1.35's calls of exec, system() and popen())."""


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
            name(_programs(entry.data, applets) if _is_compiled(entry) else _words(entry.data), f"/{path}")
        elif stat.S_ISLNK(entry.mode) and not _is_busybox(entry):
            name((PurePosixPath(entry.data.decode(errors="replace")).name,), f"/{path}")
    if not any(path in tree and not _is_busybox(tree[path]) for path in ("init", "sbin/init")):
        name(("init",), "the kernel, for /sbin/init")
    if "init" in found and "etc/inittab" not in tree:
        name(_BY_INIT, "init, without an /etc/inittab")
    asked = list(found)
    while asked:
        known = len(found)
        by = asked.pop()
        name(_BY_APPLET.get(by, ()), f"busybox's {by}")
        asked += list(found)[known:]
    return dict(sorted(found.items()))


def find_applets_spoken(entries: Iterable[Entry], applets: Collection[str]) -> dict[str, str]:
    """Return applet -> the first program or library with a string that begins with its name, of those among `applets`.

    A program that runs it by name alone (execvp(), system()) has such a string; so has one that only says the word.
    """
    found: dict[str, str] = {}
    for entry in sorted(entries, key=lambda one: one.path):
        if stat.S_ISREG(entry.mode) and _RUNS.match(entry.data) and not entry.path.endswith("bin/busybox"):
            for word in {one.decode() for one in _SPOKEN.findall(entry.data)} & {*applets}:
                found.setdefault(word, f"/{entry.path.strip('/')}")
    return dict(sorted(found.items()))


def _is_compiled(entry: Entry) -> bool:
    return b"\0" in entry.data


def _programs(data: bytes, applets: Collection[str]) -> set[str]:
    # The end of a string cannot be seen in all of them, so each applet that a path begins with counts.
    paths = {found.decode() for found in _PROGRAM.findall(data)}
    return {applet for applet in applets for path in paths if path.startswith(applet)}


def _is_busybox(entry: Entry) -> bool:
    return stat.S_ISLNK(entry.mode) and PurePosixPath(entry.data.decode(errors="replace")).name == "busybox"


def _words(data: bytes) -> set[str]:
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
