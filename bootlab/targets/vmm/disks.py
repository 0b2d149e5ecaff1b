"""The disks of a VMM's machine: copies that the guest may write to, for none of them throws away what is written."""

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
