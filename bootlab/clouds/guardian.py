"""Ends rented machines when the process that rented them is gone, however it went: a small process that outlives it.

It is told what to end, a JSON object on its standard input, and then waits. `done` means that all was ended; an input
that closes without it means that the other process is no more, and what it rented is ended now.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any, Final

from bootlab.clouds.ec2 import end_run, find_instances
from bootlab.clouds.ec2_client import open_client
from bootlab.errors import BootlabError
from bootlab.process import ProgramFailed, run

DONE: Final = "done"
_LOOK_FOR_S: Final = 90.0
"""So long it looks for machines: an order may have been under way, and clouds learn of their own machines late."""
_GIVE_UP_S: Final = 1800.0
_AGAIN_S: Final = 2.0
_START: Final = "from bootlab.clouds.guardian import guard; guard()"


class Guardian:
    """The guardian of one rented machine, from this process's side."""

    def __init__(self, told: dict[str, Any]) -> None:
        # A session of its own: Ctrl-C, which ends us in order, must not end it first.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._say(json.dumps(told))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def release(self, *, ended: bool) -> None:
        """Let it go: there is nothing left to end, or (`ended` is false) it is to end it itself."""
        if ended:
            self._say(DONE)
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


def guard() -> None:
    """Wait for the end of the process at the other end of standard input, and end what it rented."""
    lines = [line.strip() for line in sys.stdin]
    if not lines or DONE in lines:
        return
    told = json.loads(lines[0])
    begun_s = time.monotonic()
    while time.monotonic() - begun_s < _GIVE_UP_S:
        with suppress(BootlabError):
            if end_once(told) and (told["kind"] != "ec2" or time.monotonic() - begun_s > _LOOK_FOR_S):
                return
        time.sleep(_AGAIN_S)


def end_once(told: dict[str, Any]) -> bool:
    """End what was rented, and return whether nothing of it is left. Raises BootlabError."""
    if told["kind"] == "ec2":
        client = open_client("ec2", told["region"], told["profile"])
        end_run(client, told["token"])
        return not find_instances(client, told["token"])
    try:
        run(told["delete"], deadline_s=told["deadline_s"], env={"BOOTLAB_NAME": told["name"]})
    except ProgramFailed:
        return False
    return True
