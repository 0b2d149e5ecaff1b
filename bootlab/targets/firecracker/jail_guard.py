"""Ends jailed machines when bootlab is gone, however it went, and clears their jails away.

The kernel's parent-death signal, which takes every other VMM along, does not outlive the change of user that a jailer
makes. So a small process waits at the other end of a pipe: it is told of each jail as it is made and as it is gone,
one JSON object a line, and what it still knows of when the pipe closes, it ends.

This file runs by itself, without bootlab around it: `python -I -S jail_guard.py`.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

_GONE_S: Final = 10.0
"""In which the kernel clears away a process that was killed."""
_AGAIN_S: Final = 0.02


def clear(home: Path, cgroups: Iterable[Path], around: Iterable[Path] = ()) -> list[str]:
    """Remove a jail whose process has ended, and its cgroups; returns what could not be removed, and why.

    `around`: cgroups that were made for those of jails, inner first; where others are in one it stays.
    """
    left = []
    try:
        shutil.rmtree(home)
    except FileNotFoundError:
        pass
    except OSError as error:
        left.append(f"{error.filename or home}: {error.strerror or error}")
    with contextlib.suppress(OSError):
        # What is there of other jails stays.
        home.parent.rmdir()
    for path in cgroups:
        if (why := _remove_cgroup(path)) is not None:
            left.append(f"{path}: {why}")
    for path in around:
        with contextlib.suppress(OSError):
            path.rmdir()
    return left


def _remove_cgroup(path: Path) -> str | None:
    until = time.monotonic() + _GONE_S
    while True:
        try:
            path.rmdir()
        except FileNotFoundError:
            return None
        except OSError as error:
            # It is busy for a moment longer than the last process in it lives.
            if time.monotonic() > until:
                return error.strerror or str(error)
            time.sleep(_AGAIN_S)
        else:
            return None


class JailGuard:
    """The guard of this process's jails, from this process's side; it is started with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = -1

    @property
    def pid(self) -> int | None:
        """Return the guard's process; None before there is one."""
        return None if self._process is None else self._process.pid

    def tell(self, home: Path, cgroups: Iterable[Path], around: Iterable[Path] = (), pid: int | None = None) -> None:
        """Tell of a jail, and of the process in it as soon as there is one; else as `clear`."""
        paths = {"cgroups": [str(path) for path in cgroups], "around": [str(path) for path in around]}
        self._say({"home": str(home), **paths, "pid": pid, "began": None if pid is None else began_at(pid)})

    def forget(self, home: Path) -> None:
        """Tell that a jail is gone."""
        self._say({"home": str(home), "gone": True})

    def _say(self, told: dict[str, Any]) -> None:
        with self._lock:
            if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
                self._start()
            assert self._process is not None and self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.write(json.dumps(told).encode() + b"\n")
                self._process.stdin.flush()

    def _start(self) -> None:
        self._owner = os.getpid()
        # A session of its own: Ctrl-C, which ends us in order, must not end it first.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def guard(lines: Any) -> None:
    """Read what is told until nobody tells any more, and end what is left then."""
    jails: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            # Cut off: bootlab was killed as it wrote it.
            continue
        if told.get("gone"):
            jails.pop(told["home"], None)
        else:
            jails[told["home"]] = told
    for home, told in jails.items():
        if told["pid"] is not None and told["began"] is not None:
            _end(told["pid"], told["began"])
        clear(Path(home), map(Path, told["cgroups"]), map(Path, told["around"]))


def began_at(pid: int) -> int | None:
    """Return when a process was started, in ticks of the host's clock; None for one that has ended.

    By it one is told from a later one of its number. Its command line would not do: who is in a jail may write there.
    """
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    # Its state, the third of proc_pid_stat(5), and the 22nd.
    return None if words[0] in (b"Z", b"X") else int(words[19])


def _end(pid: int, began: int) -> None:
    until = time.monotonic() + _GONE_S
    while time.monotonic() < until:
        # Its number may be another process's by now.
        if began_at(pid) != began:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        time.sleep(_AGAIN_S)


if __name__ == "__main__":
    guard(sys.stdin)
