"""A folder with a system that a fake VMM boots, and what is left of such boots."""

import json
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.system import read_system
from tests.build.kernel.test_image import elf

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
CONSOLE = "Linux version 6.1.0\nRun /init as init process\nbootlab: mark ready\n"
SYSTEM = """
[target]
kind = "{kind}"
binary = "{binary}"
probe = false
{target}
[kernel]
image = "vmlinux"
cmdline = "console=ttyS0"
{more}
[booted]
{booted}
deadline_s = {deadline_s}
"""


@dataclass(frozen=True)
class Faked:
    """A VMM that a program plays. `configures`, `starts`, `keeps`: paths of requests.

    `refused`: place of a recorded refusal.
    """

    kind: str
    name: str
    module: str
    asked: str
    recording: Path
    configures: str
    starts: str
    keeps: str
    refused: int

    @property
    def version(self) -> str:
        """Return the version of the recorded program."""
        return str(json.loads(self.recording.read_text())["version"].split()[1].removeprefix("v"))


FAKED = {
    one.kind: one
    for one in (
        Faked(
            "firecracker", "Firecracker", "tests.targets.firecracker.fake", "FAKE_FIRECRACKER",
            DATA / "firecracker" / "api-1.15.1.json", "/boot-source", "/actions",
            "/snapshot/create", 0,
        ),
        Faked(
            "cloud-hypervisor", "Cloud Hypervisor", "tests.targets.cloud_hypervisor.fake", "FAKE_CLOUD_HYPERVISOR",
            DATA / "cloud-hypervisor" / "api-53.0.json", "/api/v1/vm.create", "/api/v1/vm.boot",
            "/api/v1/vm.snapshot", 0,
        ),
    )
}  # fmt: skip


class Made:
    """A folder with a system that the recorded answers boot."""

    def __init__(self, folder: Path, kind: str = "firecracker") -> None:
        self.folder = folder
        self.faked = FAKED[kind]
        self.binary = folder / kind
        program = shlex.join([sys.executable, "-m", self.faked.module])
        self.binary.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {program} "$@"\n')
        self.binary.chmod(0o755)
        (folder / "vmlinux").write_bytes(elf())
        (folder / "sockets").mkdir()
        self.deadline_s: float = 30

    def system(
        self, target: str = "", more: str = "", booted: str = 'mark = "ready"', deadline_s: float | None = None
    ) -> Path:
        """Write the system's file."""
        path = self.folder / "system.toml"
        path.write_text(
            SYSTEM.format(
                kind=self.faked.kind, binary=self.binary, target=target, more=more, booted=booted,
                deadline_s=deadline_s or self.deadline_s,
            )
        )  # fmt: skip
        return path

    def boot(self, *words: str, **more: object) -> BootRecord:
        """Boot it once."""
        directory = self.folder / f"boot-{len(list(self.folder.glob('boot-*')))}"
        directory.mkdir()
        prepared = prepare(Workshop(Cache(self.folder / "cache")), read_system(self.system(*words, **more)))  # type: ignore[arg-type]
        return boot(prepared, directory)

    def left(self) -> list[str]:
        """Return what is left of boots: processes of the fake, and private folders."""
        found = [str(path) for path in (self.folder / "sockets").iterdir()]
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes()
            except OSError:
                continue
            if self.faked.module.encode() in words and os.fsencode(self.folder / "sockets") in words:
                found.append(path.parent.name)
        return found


@contextmanager
def killed_within(left: Callable[[], list[str]], after_s: float) -> Iterator[None]:
    """Kill the first process that `left` finds, this long after it is there."""

    def kill() -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            for pid in [one for one in left() if one.isdigit()]:
                time.sleep(after_s)
                os.kill(int(pid), signal.SIGKILL)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()
