"""What a path leads to, before anybody waits for it: a FIFO, a socket or a device is no file to be read whole.

To open a FIFO into which nobody writes takes for ever, and so does reading many a device to its end.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

_KINDS: Final = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def special_kind(path: Path) -> str | None:
    """Return what is there that is no file, in words; None for a file, a folder, and where nothing can be found."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return None
    return next((words for is_one, words in _KINDS if is_one(mode)), None)


def open_plain(path: Path) -> BufferedReader:
    """Open a file to be read. Raises OSError, for a FIFO, a socket or a device, too."""
    if (kind := special_kind(path)) is not None:
        raise OSError(errno.EINVAL, f"{kind}, not a regular file", str(path))
    return path.open("rb")


def open_plain_or_pipe(path: Path) -> BufferedReader:
    """Open a file, or a pipe without a name such as the shell's `<(command)`, which somebody writes to. Raises OSError.

    For what is read once and whole.
    """
    # What /dev/fd/63 leads to is `pipe:[1234]`, which no folder has.
    nameless = special_kind(path) == "a FIFO" and not os.path.exists(os.path.realpath(path))
    return path.open("rb") if nameless else open_plain(path)
