"""Which files of a running machine's root its boot never read, as the access times of its own file system tell.

Nobody sees what a real board opens, but its file system notes when each file was last read. It does so by rules (`man 8
mount`): with `noatime`, or read-only, never; with `relatime`, the default, only where the time that is there is older
than the file's last change or than a day. So a file is only called unread where a reading would have left its time.
All that cannot be told counts as read, and is counted.
"""

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from bootlab.errors import InputError
from bootlab.findings.unused_files import Unused, find_unused

QUESTIONS: Final = {
    "mounts": "cat /proc/mounts",
    "clock": (
        'echo "up $(cat /proc/uptime)"; echo "$(grep btime /proc/stat)"; '
        'echo "began $(stat -c %Y /dev/null)"; echo "init $(readlink /proc/1/exe)"; echo "cmdline $(cat /proc/cmdline)"'
    ),
    # A name with a new line in it would make lines that say what it likes: such a one is told by itself, without it.
    # Two listings, for busybox's find never runs an `-exec ... +` that is in parentheses.
    "files": (
        r"""n=$(printf '*[\n]*'); f() { find / -xdev \( -type f -o -type l -o -type d \) "$@"; }; """
        """f ! -path "$n" -exec stat -c '%f %X %Y %Z %h %i %s %n' {} +; """
        r"""f -path "$n" -exec sh -c 'printf "odd %s" "$1" | tr "\n" "?"; echo' sh {} \;"""
    ),
    # Behind the others: what the listing itself reads is read by then.
    "end": "date +%s",
}
"""Name -> what its shell is asked."""
_DAY_S: Final = 86_400
_SLACK_S: Final = 2
"""Of whole seconds, and of a boot's time that is worked out from its uptime."""
_ODD: Final = "odd "
_LINE: Final = re.compile(r"([0-9a-f]{1,8}) (-?\d+) (-?\d+) (-?\d+) (\d+) (\d+) (\d+) (/.*)")
_IN_MEMORY: Final = frozenset({"rootfs", "tmpfs", "ramfs"})
"""Roots that nobody mounts read-only first: an initramfs."""
_ELSEWHERE: Final = ("overlay", "nfs", "nfs4", "9p", "virtiofs", "cifs", "fuse")
"""File systems that keep the access times of others, or of nobody."""
_NO_FILES: Final = frozenset(
    {"proc", "sysfs", "devtmpfs", "devpts", "tmpfs", "ramfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs"}
    | {"mqueue", "hugetlbfs", "bpf", "pstore", "configfs", "fusectl", "autofs", "rpc_pipefs", "efivarfs", "binfmt_misc"}
)
"""What is mounted and holds no files of an image."""
_AGED: Final = "find / -xdev -type f -exec touch -a -d '2000-01-01 00:00' {} +"


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    mode: int
    size: int
    linked: str
    read_s: int
    changed_s: int
    """The later of its content's and its node's last change."""
    data: bytes = b""
    """Where a link leads is not asked."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a boot left of access times on its root. `unsure`: files of which it cannot be told, taken for read."""

    unused: Unused
    unsure: int
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Clock:
    """Stretches of the machine's own clock, in s, that this boot has been in; whether they are sure to be all."""

    spans: list[tuple[int, int]]
    notes: list[str] = field(default_factory=list)

    def has(self, t_s: int) -> bool:
        return any(begin <= t_s <= end for begin, end in self.spans)


def find_unread(said: Mapping[str, bytes], missing: Mapping[str, str]) -> Read:
    """Return what the answers to QUESTIONS tell of a boot.

    `missing`: name -> why there is no answer. Raises InputError where the root keeps no access times, saying what to
    do, or where an answer is missing.
    """
    for name in QUESTIONS:
        if name not in said:
            raise InputError(
                f"target.shell: {name}: {missing.get(name, 'no answer came')}",
                hint="its shell needs find, stat, readlink and /proc; busybox has them",
            )
    mounts = [line.split(" ") for line in _text(said["mounts"]).splitlines() if line.count(" ") >= 3]
    facts = dict(line.partition(" ")[::2] for line in _text(said["clock"]).splitlines())
    relative = _expect_times(mounts, facts.get("cmdline", ""))
    clock = _clock({**facts, "end": _text(said["end"])}, mounts)
    files, odd, broken = _files(_text(said["files"]))
    init = facts.get("init", "").strip()
    started = next((one for one in files if one.path == init), None)
    if started is None or not clock.has(started.read_s):
        raise InputError(
            f"the root keeps no access times, whatever its mount options say: {init or 'its init'}, which this boot "
            "started, was not read since it began" + ("" if started is not None else " (it is not on the root)"),
            hint="a file system may be built without them (UBIFS), or its files lie below another: boot from ext4",
        )
    unread, unsure = _told_apart([one for one in files if not stat.S_ISDIR(one.mode)], clock, relative=relative)
    files += odd
    touched = {one.path for one in files if not stat.S_ISDIR(one.mode)} - {one.path for one in unread}
    notes = [*clock.notes, *_limits(mounts, len(odd), broken, unsure)]
    return Read(find_unused(files, sorted(touched)), len(unsure), tuple(notes))


def _told_apart(files: list[_File], clock: _Clock, *, relative: bool) -> tuple[list[_File], list[_File]]:
    """Return the files that were not read, and those of which that cannot be told."""
    began_s = min(begin for begin, _ in clock.spans)
    unread: list[_File] = []
    unsure: list[_File] = []
    for one in files:
        if clock.has(one.read_s):
            continue
        # Equal seconds decide nothing: the kernel compares fractions of them.
        would_be_noted = not relative or one.read_s < one.changed_s or began_s - one.read_s >= _DAY_S + _SLACK_S
        (unread if would_be_noted else unsure).append(one)
    return unread, unsure


def _expect_times(mounts: list[list[str]], cmdline: str) -> bool:
    """Return whether the root is mounted with relatime. Raises InputError for one that keeps no times of a boot."""
    roots = [words for words in mounts if words[1] == "/"]
    if not roots:
        raise InputError("target.shell: /proc/mounts names no root file system")
    kind, options = roots[-1][2], roots[-1][3].split(",")
    if "noatime" in options:
        raise InputError(
            "the root is mounted noatime, so nothing notes what was read",
            hint="take noatime out of /etc/fstab and the root's options, boot again with `rw` on the command line",
        )
    if kind.partition(".")[0] in _ELSEWHERE:
        raise InputError(
            f"the root is {kind}, whose access times are kept elsewhere, or by nobody",
            hint="boot from a local file system such as ext4, with `rw` on the command line",
        )
    if "ro" in options:
        raise InputError(
            f"the root ({kind}) is mounted read-only, so nothing notes what was read",
            hint="boot a writable copy of it (ext4), with `rw` on the command line",
        )
    words = [word for word in cmdline.split() if word in ("ro", "rw")]
    if kind not in _IN_MEMORY and words[-1:] != ["rw"]:
        raise InputError(
            "the root was mounted read-only first, for `rw` is not on the command line: what was read until it was "
            "remounted left no time",
            hint="add rw to the kernel's command line; `mount -o remount,strictatime /` early in a boot is too late",
        )
    return "relatime" in options


def _clock(facts: Mapping[str, str], mounts: list[list[str]]) -> _Clock:
    try:
        end_s, up_s = int(facts["end"]), int(float(facts["up"].split()[0]))
        boot_s = int(facts["btime"])
    except (KeyError, ValueError, IndexError) as error:
        raise InputError("target.shell: clock: date, /proc/uptime or /proc/stat says no time") from error
    spans = [(boot_s - _SLACK_S, end_s + _SLACK_S)]
    has_nodes = any(words[1] == "/dev" and words[2] == "devtmpfs" for words in mounts)
    if not has_nodes or not re.fullmatch(r"\d+", facts.get("began", "")):
        raise InputError(
            "target.shell: clock: /dev is no devtmpfs, whose nodes say what the clock was as the kernel began; it may "
            "have been set since, and then access times cannot be told apart",
            hint="mount devtmpfs on /dev (DEVTMPFS_MOUNT=y)",
        )
    began_s = int(facts["began"])
    found = _Clock(spans)
    if abs(began_s - boot_s) > 2 * _SLACK_S:
        # Set while it booted, by a time server or by hand: what was read before has the time of before.
        found.spans.append((began_s - _SLACK_S, began_s + up_s + _SLACK_S))
        found.notes.append(
            f"its clock was set by {boot_s - began_s:+,} s during the boot: a file counts as read by either time"
        )
    return found


def _files(text: str) -> tuple[list[_File], list[_File], int]:
    """Return the files of a listing, those with a ? for each new line of their name, and how many lines are none."""
    files, odd, broken = [], [], 0
    # Not splitlines(): a name may have any character that it takes for the end of a line.
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith(f"{_ODD}/"):
            # Taken for read, whatever it is: so the folders that it is in stay.
            odd.append(_File(line.removeprefix(_ODD), stat.S_IFREG, 0, "", 0, 0))
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            broken += 1
            continue
        mode, read_s, modified_s, changed_s = int(found[1], 16), int(found[2]), int(found[3]), int(found[4])
        linked = found[6] if int(found[5]) > 1 and stat.S_ISREG(mode) else ""
        files.append(_File(found[8], mode, int(found[7]), linked, read_s, max(modified_s, changed_s)))
    # What has no line of its own is still on the way to what is below it.
    known = {one.path for one in (*files, *odd)}
    above = {str(parent) for one in (*files, *odd) for parent in PurePosixPath(one.path).parents} - known
    return [*files, *(_File(path, stat.S_IFDIR | 0o755, 0, "", 0, 0) for path in sorted(above))], odd, broken


def _limits(mounts: list[list[str]], odd: int, broken: int, unsure: list[_File]) -> list[str]:
    notes = [
        "a file that was opened and not read leaves no time; what its shell was asked by (find, stat) counts as read"
    ]
    if unsure:
        size = sum(one.size for one in unsure)
        notes.append(
            f"{len(unsure):,} files ({size:,} bytes) were read in the last day, before this boot, and relatime leaves "
            f"their time alone: taken for read. To tell: {_AGED}, then boot again"
        )
    others = sorted({f"{words[1]} ({words[2]})" for words in mounts if words[1] != "/" and words[2] not in _NO_FILES})
    if others:
        notes.append(f"not looked at, for it is another file system: {', '.join(others)}")
    if odd:
        notes.append(f"{odd:,} files and folders have a new line in their name or their folder's: taken for read")
    if broken:
        notes.append(f"{broken:,} lines of the listing are not understood, and left out")
    return notes


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
