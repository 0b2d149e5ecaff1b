"""The jail of one boot: the folder that Firecracker's jailer makes its root, what is put there, and what is cleared.

    chroot_base / name of Firecracker's program / id / root

All that Firecracker is told of lies in that root, and it is told so by paths that begin there. Files that it only reads
are hard links where its user may read and not write them, and the file system is the same; all others are copies.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import BootFailed, InputError, MissingTool
from bootlab.process import ProgramFailed, run
from bootlab.system import Firecracker
from bootlab.targets.firecracker.identity import JAILER
from bootlab.targets.firecracker.jail_guard import JailGuard, clear
from bootlab.targets.vmm.disks import held_file
from bootlab.targets.vmm.program import find_program, probe_version

CHROOT_BASE: Final = Path("/srv/jailer")
"""The jailer's own default."""
ROOM: Final = "kernel, initramfs, disks, snapshots and Firecracker itself are there while the machine lives"
_MOUNTS: Final = Path("/proc/mounts")
_COPY_S: Final = 600
_TRIES: Final = 10
_LONGEST_SOCKET: Final = 107
"""Bytes of a path that a Unix socket may have (unix(7)); bootlab makes its page server's by its path from outside."""
_GUARD: Final = JailGuard()
_made_parents: set[Path] = set()
"""Cgroups that jailers of this process have made for the cgroups of their machines."""


@dataclass(frozen=True, slots=True)
class Jail:
    """A jail that is there, before the jailer runs. `root`: what is Firecracker's root, as this host sees it."""

    root: Path
    uid: int
    gid: int
    cgroups: tuple[Path, ...] = ()
    around: tuple[Path, ...] = ()
    """Cgroups that are made for those, inner first."""

    @property
    def id(self) -> str:
        """Return its name, which is Firecracker's `--id`."""
        return self.home.name

    @property
    def home(self) -> Path:
        """Return the folder that is this boot's alone."""
        return self.root.parent

    def seen(self, path: Path) -> str:
        """Return a path as Firecracker sees it; one that is relative counts from the root."""
        return str(Path("/") / path.relative_to(self.root) if path.is_absolute() else path)

    def put(self, source: Path, name: str) -> Path:
        """Have a file in the jail, for Firecracker to read. Raises BootFailed."""
        place = self.root / name
        if self._may_only_read(source.stat()):
            with contextlib.suppress(OSError):
                os.link(source.resolve(), place)
                return place
        try:
            run(["cp", "--reflink=auto", "--sparse=always", "--", source, place], deadline_s=_COPY_S)
        except ProgramFailed as error:
            raise BootFailed(
                f"target.chroot_base: {name} cannot be copied into the jail: {error.message}",
                hint=ROOM,
            ) from error
        self.hand_over(place)
        return place

    def take_out(self, name: str, target: Path) -> None:
        """Move a file that Firecracker has written out of the jail. Raises BootFailed."""
        try:
            run(["mv", "-T", "--", self.root / name, target], deadline_s=_COPY_S)
        except ProgramFailed as error:
            raise BootFailed(f"{target}: cannot be moved out of the jail: {error.message}") from error
        about = target.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
            # A link, say, to what only root may read, and what the next clone would have a copy of.
            raise BootFailed(f"{name}: what lies in the jail is not the file that Firecracker was asked for")
        os.chown(target, 0, 0)

    def copy_out(self, name: str, target: Path, most: int) -> str:
        """Copy a file of one that has ended, of `most` bytes; returns what is wrong with it, in words."""
        try:
            with held_file(self.root / name) as place, place.open("rb") as file:
                target.write_bytes(file.read(most))
                left = os.fstat(file.fileno()).st_size - most
        except BootFailed as error:
            return error.message
        return f"{name}: {left} bytes more were not kept" if left > 0 else ""

    def hand_over(self, path: Path) -> None:
        """Make a file of the jail its user's."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def hold(self, pid: int) -> None:
        """Take note of the process in it, which ends with bootlab from now on."""
        _GUARD.tell(self.home, self.cgroups, self.around, pid)

    def _may_only_read(self, about: os.stat_result) -> bool:
        # Whose a file is may make it writable.
        if self.uid in (0, about.st_uid):
            return False
        shift = 3 if about.st_gid == self.gid else 0
        return stat.S_IMODE(about.st_mode) >> shift & 0o6 == 0o4


def expect_jail(target: Firecracker, binary: Path, version: str) -> Path:
    """Return the jailer's path. Raises InputError, MissingTool where no jail can be made, by its key."""
    assert target.jailer is not None
    if os.geteuid() != 0:
        raise InputError(
            "target.jailer: only root may run the jailer, which makes devices and another root for its machine",
            hint="run bootlab as root, or leave target.jailer out",
        )
    jailer = find_program(target.jailer, "target.jailer")
    if (its := probe_version(jailer, JAILER, "target.jailer")) != version:
        raise MissingTool(
            f"target.jailer: {jailer} is {its}, and Firecracker {version}: each is made for the other alone",
            hint="scripts/vmm builds both of one source",
        )
    base = target.chroot_base or CHROOT_BASE
    if not base.is_dir():
        raise InputError(f"target.chroot_base: {base}: no such folder", hint=f"mkdir -p {base}")
    _expect_of_root(base.resolve())
    flags = os.statvfs(base).f_flag
    for name, flag, why in (
        ("nodev", os.ST_NODEV, "its /dev/kvm would not open"),
        ("noexec", os.ST_NOEXEC, "Firecracker would not start"),
    ):
        if flags & flag:
            raise InputError(f"target.chroot_base: {base}: is on a file system that is mounted {name}: {why}")
    # Of a page server, which listens there from outside.
    longest = base.resolve() / binary.resolve().name / (target.jail_id or _new_id()) / "root" / "pages"
    if len(os.fsencode(longest)) > _LONGEST_SOCKET:
        raise InputError(
            f"target.chroot_base: {base}: too long: a Unix socket's path has at most {_LONGEST_SOCKET} bytes, and "
            f"{longest} has {len(os.fsencode(longest))}"
        )
    parent = target.parent_cgroup
    if parent is not None and not target.cgroups and not any((one / parent).is_dir() for one in _hierarchies(target)):
        raise InputError(
            f"target.parent_cgroup: {parent}: no such cgroup: without target.cgroups the jailer makes none, and puts "
            "Firecracker into one that is there",
            hint="make it, or give target.cgroups, too",
        )
    if target.netns is not None and not target.netns.exists():
        raise InputError(
            f"target.netns: {target.netns}: no such network namespace",
            hint=f"as root: ip netns add {target.netns.name}",
        )
    return jailer


def _expect_of_root(base: Path) -> None:
    """Raise InputError where another than root could put something else in the place of a jail, or of its files."""
    for folder in (base, *base.parents):
        about = folder.stat()
        if about.st_uid != 0 or (about.st_mode & 0o022 and not about.st_mode & stat.S_ISVTX):
            raise InputError(
                f"target.chroot_base: {base}: others than root may change {folder}, and with it what root does",
                hint=f"chown root {folder}; chmod go-w {folder}; or another folder, as {CHROOT_BASE}",
            )


@contextmanager
def make_jail(target: Firecracker, binary: Path) -> Iterator[Jail]:
    """Give a jail for one boot, and clear it away. Raises BootFailed where it is there already, or cannot be made."""
    assert target.uid is not None and target.gid is not None
    base = (target.chroot_base or CHROOT_BASE).resolve()
    home = base / binary.resolve().name / (target.jail_id or _new_id())
    cgroups, parents = _cgroups_of(target, binary, home.name)
    # One that is there already is somebody's.
    cgroups = [path for path in cgroups if not path.exists()]
    _make_home(home)
    _made_parents.update(path for path in parents if not path.exists())
    around = tuple(path for path in parents if path in _made_parents)
    _GUARD.tell(home, cgroups, around)
    try:
        (home / "root").mkdir(mode=0o700)
        yield Jail(home / "root", target.uid, target.gid, tuple(cgroups), around)
    finally:
        left = clear(home, cgroups, around)
        _GUARD.forget(home)
    if left:
        raise BootFailed(f"the jail cannot be cleared away: {'; '.join(left)}")


def _make_home(home: Path) -> None:
    for _ in range(_TRIES):
        try:
            home.parent.mkdir(mode=0o755, exist_ok=True)
            _expect_real(home.parent)
            home.mkdir(mode=0o700)
        except FileNotFoundError:
            # Another boot has just cleared its own away, and the folder of all with it.
            continue
        except FileExistsError as error:
            raise BootFailed(
                f"target.jail_id: {home}: is there already: another machine of that id, or what was left of one",
                hint=f"another target.jail_id, or none; left over: rm -r {home}",
            ) from error
        except OSError as error:
            raise BootFailed(f"target.chroot_base: {home}: cannot be made: {error.strerror}") from error
        return
    raise BootFailed(f"target.chroot_base: {home}: cannot be made: its folder is removed again and again")


def _expect_real(folder: Path) -> None:
    """Raise BootFailed where the folder of all jails is not root's alone: in /tmp anybody could have made it before."""
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != 0 or about.st_mode & 0o022:
        raise BootFailed(
            f"target.chroot_base: {folder}: is no folder of root's alone",
            hint=f"another target.chroot_base, or rm {folder}",
        )


def _cgroups_of(target: Firecracker, binary: Path, jail_id: str) -> tuple[list[Path], list[Path]]:
    """Return the cgroups that the jailer may make for a machine, and those that it makes around them, inner first."""
    if not target.cgroups:
        return [], []
    parent = Path(target.parent_cgroup or binary.resolve().name)
    places = _hierarchies(target)
    around = [place / one for place in places for one in (parent, *parent.parents) if one != Path(".")]
    return [place / parent / jail_id for place in places], around


def _hierarchies(target: Firecracker) -> list[Path]:
    kind = "cgroup2" if target.cgroup_version == 2 else "cgroup"
    rows = [row.split() for row in _MOUNTS.read_text().splitlines()]
    return [Path(row[1]) for row in rows if row[2] == kind]


def _new_id() -> str:
    return f"bootlab-{os.getpid()}-{secrets.token_hex(4)}"
