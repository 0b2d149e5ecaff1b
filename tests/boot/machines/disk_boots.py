"""Boots of the guest in disk_work/, which mounts, reads and writes its disk: what it is told, and what must be alike.

What the disk holds at the end follows from the amounts of its work alone.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.programs.guest import zig_folders
from bootlab.measure.boot import boot
from bootlab.measure.record import BootRecord, Outcome
from bootlab.process import run
from bootlab.profile.recorded.trace import PluginTrace, read_trace
from bootlab.system import System, read_system
from bootlab.targets.target import Prepared

SOURCES = Path(__file__).parent / "disk_work"
AMOUNTS = "3 200\n"
"""Processes, and operations of each."""
HOLDS = "1b2dd14cc9e60325"
"""The hash of what they leave, on whatever machine and disk."""
ARM64 = [("linux-image-cloud-amd64", "linux-image-cloud-arm64"), ("ttyS0", "ttyAMA0")]


@dataclass(frozen=True)
class Booted:
    """One boot: its record, all of its trace up to ready, and its console."""

    record: BootRecord
    trace: PluginTrace
    to_ready: str
    console: str


def boot_once(prepared: Prepared, directory: Path) -> Booted:
    directory.mkdir()
    record = boot(prepared, directory)
    text = (directory / "trace.txt").read_text()
    console = (directory / "console.log").read_text(errors="replace")
    return Booted(record, read_trace(directory / "trace.txt"), text.partition("guest ready")[0], console)


def boot_alike(prepared: Prepared, folder: Path, times: int = 3) -> Booted:
    """Boot so often; every mark, count, initcall and line of the console must be the same each time."""
    boots = [boot_once(prepared, folder / str(number)) for number in range(times)]
    first = boots[0]
    assert first.record.outcome is Outcome.READY, (first.record.detail, first.console[-500:])
    for other in boots[1:]:
        assert (other.record.marks, other.record.instructions) == (first.record.marks, first.record.instructions)
        assert (other.record.idle_ns, other.record.console_sha256) == (
            first.record.idle_ns,
            first.record.console_sha256,
        )
        assert other.to_ready == first.to_ready
    return first


def write_disk_work(folder: Path, changes: dict[str, str], arch: str = "x86_64", amounts: str = AMOUNTS) -> System:
    """Write the system of disk_work/ with `changes` to its text, and read it."""
    shutil.copy(SOURCES / "init", folder)
    (folder / "amounts").write_text(amounts)
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", f"{arch}-linux-musl", "-static", "-O1"]
    words = [*compiler, "-Wall", "-Wextra", "-Werror", "-o", folder / "disk-work", SOURCES / "disk_work.c"]
    run(words, env={**os.environ, **zig_folders(Cache.default())}, deadline_s=300)
    text = (SOURCES / "system.toml").read_text()
    for old, new in [*changes.items(), *(ARM64 if arch == "aarch64" else [])]:
        assert old in text
        text = text.replace(old, new)
    (folder / "system.toml").write_text(text)
    return read_system(folder / "system.toml")
