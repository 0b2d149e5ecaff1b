"""Boots of the guest in disk_work/, which mounts, reads and writes its disk: what it is told, and what must be alike.

What the disk holds at the end follows from the amounts of its work alone: `hash_left` says it without a guest.
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
AMOUNTS = "3 200 8\n"
"""Processes, operations of each, and blocks of one at most."""
HOLDS = "1b2dd14cc9e60325"
"""The hash of what they leave, on whatever machine and disk."""
BLOCK = 4096
PART = 512
"""Blocks that each process has to itself."""
_WORD = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_FNV_PRIME = 0x100000001B3
TEXT_OF_ARCH = {
    "x86_64": [],
    "aarch64": [("linux-image-cloud-amd64", "linux-image-cloud-arm64"), ("ttyS0", "ttyAMA0")],
    "riscv64": [
        ('"virt"', '"virt"\narchitecture = "riscv64"'),
        ("linux-image-cloud-amd64", "linux-image-riscv64"),
        ("bookworm", "trixie"),
    ],
}
"""What of disk_work/system.toml is another on an architecture; Debian 12 has no riscv64."""


def written_word(block: int, version: int, index: int) -> int:
    """Return the 64-bit word that disk_work.c writes there."""
    return (block << 32 ^ version << 12 ^ index) * _WORD & _MASK


def _versions_left(part: int, operations: int, blocks: int) -> list[int]:
    """Return how often a process of disk_work.c wrote each of its blocks."""
    state = part + 1

    def random_below(limit: int) -> int:
        nonlocal state
        state = state * 6364136223846793005 + 1442695040888963407 & _MASK
        return (state >> 33 & 0xFFFFFFFF) % limit

    versions = [1] * PART
    # The first round writes each block once, and asks after each whether to flush.
    for _ in range(PART):
        random_below(64)
    for _ in range(operations):
        block, count = random_below(PART - 8), 1 + random_below(blocks)
        if random_below(2):
            for at in range(block, block + count):
                versions[at] += 1
            random_below(64)
    return versions


def hash_left(processes: int, operations: int, blocks: int) -> str:
    """Return the hash of what so many processes leave on a disk after so many operations each, of up to `blocks`."""
    value = 0xCBF29CE484222325
    for part in range(processes):
        for block, version in enumerate(_versions_left(part, operations, blocks)):
            for index in range(BLOCK // 8):
                value = (value ^ written_word(part * PART + block, version, index)) * _FNV_PRIME & _MASK
    return f"{value:016x}"


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
    words: list[str | Path] = [
        *compiler,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        folder / "disk-work",
        SOURCES / "disk_work.c",
    ]
    run(words, env={**os.environ, **zig_folders(Cache.default())}, deadline_s=300)
    text = (SOURCES / "system.toml").read_text()
    for old, new in [*changes.items(), *TEXT_OF_ARCH[arch]]:
        assert old in text
        text = text.replace(old, new)
    (folder / "system.toml").write_text(text)
    return read_system(folder / "system.toml")
