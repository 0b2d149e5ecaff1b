"""What is mounted below a folder: a removal that went on into it would take away what is not the cache's."""

import os
import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_POINT: Final = 4
"""The field with the mount point (proc_pid_mountinfo(5))."""
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")


def mount_point_in(place: Path) -> Path | None:
    """Return where something is mounted at or below `place`, which is no link; None where nothing is.

    By the kernel's list: a folder of the same file system that is mounted again looks like any other. Raises OSError.
    """
    top = os.fsencode(os.path.realpath(place))
    for line in _MOUNTS.read_bytes().splitlines():
        point = _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), line.split(b" ")[_POINT])
        if point == top or point.startswith(top + b"/"):
            return Path(os.fsdecode(point))
    return None
