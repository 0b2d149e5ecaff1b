"""The disks of a VMM's machine: copies that the guest may write to, for none of them throws away what is written."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bootlab.errors import BootFailed
from bootlab.process import ProgramFailed, run
from bootlab.system import System

CLONE_DRIVE: Final = "clone"
"""The drive by which a guest is told who it is (guest/clone), behind all others."""
_COPY_S: Final = 600


def drive_names(system: System) -> list[str]:
    """Return the names of the drives, in the order in which the guest finds them: /dev/vda, ..."""
    root = [] if system.rootfs is None else ["rootfs"]
    return [*root, *(f"disk{index}" for index in range(len(system.disks)))]


@contextmanager
def held_file(path: Path) -> Iterator[Path]:
    """Give a path to the very file that is there now, whatever has its name in a moment.

    Who runs as another user in the folder may have put a link there, to what we may read and he may not. Raises
    BootFailed for anything but a file.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BootFailed(f"{path.name}: cannot be read behind the VMM: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise BootFailed(f"{path.name}: cannot be read behind the VMM: it is no file any more")
        yield Path(f"/proc/{os.getpid()}/fd/{fd}")
    finally:
        os.close(fd)


def copy_disk(name: str, source: Path, target: Path) -> None:
    """Copy a disk, what is zero left out. Raises BootFailed."""
    try:
        run(["cp", "--reflink=auto", "--sparse=always", "--", source, target], deadline_s=_COPY_S)
    except ProgramFailed as error:
        raise BootFailed(
            f"{name}: cannot be copied for the guest to write to: {error.message}",
            hint="its copy is in $TMPDIR, or else in /tmp, while the machine lives; a snapshot's stays with its run",
        ) from error
    target.chmod(0o600)
