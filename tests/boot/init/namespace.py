"""bootlab-init as PID 1 of a PID namespace on this host: the very program, without a machine around it."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from bootlab.importers.init_account import InitAccount, parse_account

CTL = "/sbin/bootlab-ctl"


class InitNamespace:
    """A root folder with units, and bootlab-init in it. Leaving kills everything that is still there."""

    def __init__(self, root: Path, programs: Mapping[str, Path], units: Mapping[str, str], conf: str = "") -> None:
        self.root = root
        for folder in ("etc/bootlab/units", "run", "tmp", "dev", "bin", "sbin"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        for name, path in programs.items():
            shutil.copy(path, root / name.lstrip("/"))
        for name, text in units.items():
            (root / f"etc/bootlab/units/{name}.unit").write_text(text)
        (root / "etc/bootlab/init.conf").write_text(f"early no\nlsb no\nconsole info\n{conf}")

    def __enter__(self) -> Self:
        self._console = self.standard_output.open("wb")
        self._child = subprocess.Popen(
            [
                *("unshare", "--pid", "--fork", "--mount", "--kill-child=KILL", "chroot", self.root),
                *("/sbin/bootlab-init", *self.words()),
            ],
            env={"container": "test", "PATH": os.environ["PATH"], **self.environment()},
            stdin=subprocess.DEVNULL,
            stdout=self._console,
            stderr=self._console,
            preexec_fn=self.before,
        )
        self.until(lambda: (self.root / "run/bootlab/control").exists())
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._child.kill()
        self._child.wait()
        self._console.close()

    @property
    def standard_output(self) -> Path:
        return self.root / "console"

    def environment(self) -> dict[str, str]:
        """More words of PID 1's environment."""
        return {}

    def words(self) -> tuple[str, ...]:
        """Arguments of PID 1: words of the kernel's command line that the kernel does not know."""
        return ()

    def before(self) -> None:
        """Runs before it is executed: limits."""

    @property
    def pid(self) -> int:
        """Of PID 1, as this host numbers it."""
        child = self._child.pid
        return int(Path(f"/proc/{child}/task/{child}/children").read_text().split()[0])

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def ctl(self, *words: str) -> str:
        """Return what bootlab-ctl says, whether it was refused or not."""
        argv = ["chroot", str(self.root), CTL, *words]
        return subprocess.run(argv, capture_output=True, check=False, timeout=30).stdout.decode(errors="replace")

    def ask(self, request: str) -> str:
        """Return the answer to a request, without a program in between."""
        return self.ask_slowly(request, 0.0).decode()

    def ask_slowly(self, request: str, pause_s: float, deadline_s: float = 30.0) -> bytes:
        """Return the answer to a request, not read before a pause."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(deadline_s)
            # A path of at most 108 bytes, however long the folder's name is.
            folder = os.open(self.root / "run/bootlab", os.O_PATH)
            try:
                connection.connect(f"/proc/self/fd/{folder}/control")
            finally:
                os.close(folder)
            connection.sendall(f"{request}\n".encode())
            time.sleep(pause_s)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def account(self) -> InitAccount:
        return parse_account(
            subprocess.run(["chroot", str(self.root), CTL, "account"], capture_output=True, check=True).stdout
        )

    def states(self) -> dict[str, str]:
        return {line.split()[0]: line.split()[1] for line in self.ask("status").splitlines()}

    def until_settled(self) -> dict[str, str]:
        """Wait until no unit is on its way; gives their states."""
        self.until(lambda: not {"waiting", "eligible", "starting", "stopping"} & set(self.states().values()))
        return self.states()

    def until(self, done: Callable[[], bool], deadline_s: float = 60.0) -> None:
        """Wait for `done()`, or fail with what the console says."""
        end = time.monotonic() + deadline_s
        while not done():
            assert self.is_alive, f"PID 1 has ended: {self._child.returncode}\n{self.console()}"
            assert time.monotonic() < end, self.console()
            time.sleep(0.01)

    def console(self) -> str:
        return self.standard_output.read_text(errors="replace")

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_kib(self) -> int:
        """Return the proportional share of memory that PID 1 holds."""
        rows = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        return int(next(row.split()[1] for row in rows if row.startswith("Pss:")))

    def processes(self) -> int:
        """Return how many processes are in it besides PID 1."""
        space = os.readlink(f"/proc/{self.pid}/ns/pid")
        found = 0
        for path in Path("/proc").glob("[0-9]*"):
            try:
                found += os.readlink(path / "ns/pid") == space
            except OSError:
                continue
        return found - 1

    def shut_down(self, deadline_s: float) -> float:
        """Ask for it and return how many seconds it took."""
        began = time.monotonic()
        os.kill(self.pid, signal.SIGUSR2)
        self._child.wait(deadline_s)
        return time.monotonic() - began
