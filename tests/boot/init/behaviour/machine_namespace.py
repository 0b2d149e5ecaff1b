"""bootlab-init in a PID namespace that it takes for a whole machine: its root is a file system of its own.

So what a shutdown does at its end can be seen from outside: the root is read-only, or it is not.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.boot.init.namespace import InitNamespace

_END_S = 30.0


class MachineNamespace(InitNamespace):
    """As InitNamespace, but not told that it is in a container. What it says on its console is in dev/console."""

    def __init__(self, root: Path, programs: Mapping[str, Path], units: Mapping[str, str], conf: str = "") -> None:
        root.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", root], check=True)
        super().__init__(root, programs, units, conf)
        # A plain file there that is open for writing would keep the root from being read-only; a device does not.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", root / "dev"], check=True)
        (root / "dev/console").touch()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, value, at)
        subprocess.run(["umount", "--recursive", "--lazy", self.root], check=True)

    @property
    def standard_output(self) -> Path:
        return self.root.with_name("standard-output")

    def environment(self) -> dict[str, str]:
        return {"container": ""}

    def console(self) -> str:
        return (self.root / "dev/console").read_text(errors="replace")

    def is_read_only(self) -> bool:
        return bool(os.statvfs(self.root).f_flag & os.ST_RDONLY)

    def power_off(self, requests: int = 1, pause_s: float = 0.0) -> float:
        """Ask for it so often, and return how many seconds it took from the first time on."""
        pid, began_s = self.pid, time.monotonic()
        for turn in range(requests):
            time.sleep(pause_s if turn else 0.0)
            if not self.is_alive:
                break
            os.kill(pid, signal.SIGUSR2)
        self._child.wait(_END_S)
        return time.monotonic() - began_s
