"""Which bootlab processes use a cache now, and since when.

Each process holds a lock on a small file of its own until it ends, however that happens; the file's time is that at
which the process began. Entries are handed out as paths that no lock goes with, so none that was used since then may
be taken away from under it.
"""

import atexit
import fcntl
import os
import secrets
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Final

_BEGAN_NS: Final = time.time_ns()
_PREFIX: Final = "running-"
_MOST: Final = 8
"""Caches of one process: a command has one. Only what makes many on the way, as tests do, has more."""

_held: OrderedDict[Path, tuple[int, Path] | None] = OrderedDict()
_lock = threading.Lock()


def announce(locks: Path) -> None:
    """Tell who looks at `locks`, a cache's folder of locks, that this process uses the cache. Never an error."""
    with _lock:
        if locks in _held:
            return
        _held[locks] = None
        with suppress(OSError):
            _held[locks] = _hold(locks)
        if len(_held) > _MOST:
            _leave(_held.popitem(last=False)[1])


def working_since_ns(locks: Path) -> int | None:
    """Return when the oldest process that uses a cache now began, in ns since 1970; None where none does."""
    began = list[int]()
    for path in _announced(locks):
        if is_held(path):
            # It may end just now.
            with suppress(OSError):
                began.append(os.lstat(path).st_mtime_ns)
    return min(began, default=None)


def remove_ended(locks: Path) -> None:
    """Remove what killed processes have left of their announcements. Never an error."""
    for path in _announced(locks):
        if not is_held(path):
            with suppress(OSError):
                path.unlink()


def _hold(locks: Path) -> tuple[int, Path]:
    path = locks / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    # Locked before it has its name: whoever finds it free knows that its process has ended.
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    handle = os.open(new, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.utime(handle, ns=(_BEGAN_NS, _BEGAN_NS))
        new.rename(path)
    except OSError:
        os.close(handle)
        new.unlink(missing_ok=True)
        raise
    return handle, path


def _leave(held: tuple[int, Path] | None) -> None:
    if held is not None:
        held[1].unlink(missing_ok=True)
        os.close(held[0])


def _leave_all(pid: int) -> None:
    # A forked child that ends in order is not the process that was announced.
    if os.getpid() == pid:
        for held in _held.values():
            with suppress(OSError):
                _leave(held)


def _announced(locks: Path) -> list[Path]:
    try:
        return [path for path in locks.iterdir() if path.name.startswith(_PREFIX) and not path.is_symlink()]
    except OSError:
        return []


def is_held(lock: Path) -> bool:
    """Return whether some process holds the lock on a file; a file that cannot be asked is taken for held."""
    try:
        handle = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        # Shared: two who look at once do not take each other for it.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


atexit.register(_leave_all, os.getpid())
