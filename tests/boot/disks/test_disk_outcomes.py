"""Disks that answer at once, at work and in trouble: 100,000 requests; images that are full, read-only, gone, torn.

What becomes of a boot must be what becomes of it without the plugin: each case is booted with it and without, by the
same QEMU command, and what the guest says, how QEMU ends and what the image holds are compared.
"""

import asyncio
import contextlib
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.profile.recorded.trace import read_trace
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.qemu.target import QemuPrepared
from bootlab.targets.qemu.wiring import PluginFiles, Wiring
from bootlab.targets.target import ConsoleBytes, Ended, EndReason
from tests.boot.disks.disk_boots import BLOCK, PART, boot_once, hash_left, write_disk_work, written_word

pytestmark = [pytest.mark.boot, pytest.mark.network]

PROCESSES = 4
MANY = 25_000
BLOCKS = 1
FEW = 100
MIB = 1 << 20
SIZE_MIB = 16
DEADLINE_S = 1200.0
KILLS = 6
PVH = {'suite = "bookworm"': 'suite = "bookworm"\nentry = "pvh"'}
GOES_ON = {"[booted]": '[check]\nmark = "never"\n\n[booted]'}
"""A machine with a check is not stopped at ready, by nobody: it ends when the guest has it end."""

DEVICES = ("virtio", "nvme", "scsi")
MODELS = ("nvme", "hdd")


@dataclass(frozen=True)
class Ending:
    """What became of a run: what the guest said of its disk, how QEMU ended, and what QEMU said of it."""

    said: tuple[str, ...]
    reason: EndReason | None
    detail: str


def prepared_for(shop: Workshop, folder: Path, attach: str, operations: int = FEW, model: str = "") -> QemuPrepared:
    folder.mkdir()
    lines = f'size_mib = {SIZE_MIB}\nattach = "{attach}"' + (f'\nmodel = "{model}"' if model else "")
    changes = {**PVH, "size_mib = 16": lines, **(GOES_ON if operations != MANY else {})}
    system = write_disk_work(folder, changes, amounts=f"{PROCESSES} {operations} {BLOCKS}\n")
    prepared = prepare(shop, system)
    assert isinstance(prepared, QemuPrepared) and prepared.plugin is not None and prepared.plugin_config is not None
    return prepared


@pytest.mark.parametrize(("attach", "model"), [*((one, "") for one in DEVICES), *(("virtio", one) for one in MODELS)])
def test_a_hundred_thousand_requests_lose_nothing(attach: str, model: str, shop: Workshop, tmp_path: Path) -> None:
    prepared = prepared_for(shop, tmp_path / "system", attach, MANY, model)
    booted = boot_once(prepared, tmp_path / "boot")
    assert booted.record.outcome is Outcome.READY, (booted.record.detail, booted.console[-500:])
    assert booted.record.remarks == [] and not booted.trace.refused
    assert f"holds {hash_left(PROCESSES, MANY, BLOCKS)}" in booted.console
    if model:
        (disk,) = booted.record.disks
        assert disk.reads + disk.writes >= PROCESSES * MANY
    else:
        settled, unsettled = booted.trace.settled
        assert settled >= PROCESSES * MANY and unsettled == 0


class Case:
    """One system with its disk on another image, to be run with the plugin and without."""

    def __init__(self, prepared: QemuPrepared, folder: Path, drive: str, environment: dict[str, str]) -> None:
        self._prepared, self._folder, self._drive, self._environment = prepared, folder, drive, environment

    def run(self, *, plugin: bool, on_console: Callable[[bytes, int], None] | None = None) -> Ending:
        """Run to the end of QEMU. `on_console` is given all that was said so far and QEMU's process."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self._environment.items():
                patch.setenv(name, value)
            return asyncio.run(asyncio.wait_for(self._follow(plugin, on_console), DEADLINE_S))

    def _argv(self, wiring: Wiring) -> list[str]:
        system = self._prepared.system
        if wiring.plugin is None:
            # On the virtual clock a driver's 30 s are over while the host reads: NVMe's would begin anew for ever.
            system = system.with_part("clock", kind="wall")
        argv = qemu_argv(system, self._prepared.files, wiring)
        (at,) = [index for index, word in enumerate(argv) if "id=disk0" in word and word.startswith("if=none")]
        return [*argv[:at], f"if=none,id=disk0,{self._drive}", *argv[at + 1 :]]

    def _plugin(self) -> PluginFiles:
        assert self._prepared.plugin is not None and self._prepared.plugin_config is not None
        (self._folder / "plugin.conf").write_text(self._prepared.plugin_config)
        return PluginFiles(
            self._prepared.plugin,
            self._folder / "plugin.conf",
            self._folder / "trace.txt",
            requests=self._folder / "requests.txt" if self._prepared.system.modelled_disks else None,
        )

    async def _follow(self, plugin: bool, on_console: Callable[[bytes, int], None] | None) -> Ending:
        console, ended = b"", None
        errors = self._folder / "stderr"
        with make_socket_folder() as sockets:
            wiring = Wiring(sockets / "qmp", plugin=self._plugin() if plugin else None)
            try:
                async with QemuSession(self._argv(wiring), wiring.qmp_socket, stderr=errors) as session:
                    await session.power_on()
                    async for event in session.events():
                        if isinstance(event, ConsoleBytes):
                            console += event.data
                            if on_console is not None:
                                on_console(console, session.pid)
                        elif isinstance(event, Ended):
                            ended = event
            except BootFailed as error:
                return Ending((), None, str(error))
        assert ended is not None
        return Ending(what_was_said(console), ended.reason, ended.detail)


def what_was_said(console: bytes) -> tuple[str, ...]:
    """Return each thing that the guest says of its disk, once, in no order: its processes take turns as they like."""
    lines = {re.sub(r"block \d+", "block", line) for line in console.decode(errors="replace").splitlines()}
    return tuple(sorted(line for line in lines if line.startswith(("disk", "file", "mount"))))


def expect_exact(folder: Path) -> None:
    """Make sure that the run with the plugin had the disk answer at once."""
    trace = read_trace(folder / "trace.txt")
    assert "disks" in trace.exact and not trace.refused


def base_image(prepared: QemuPrepared, folder: Path) -> Path:
    (disk,) = prepared.files.disks
    return Path(shutil.copy(disk, folder / "disk.img"))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_overlay(base: Path, overlay: Path) -> None:
    words = ["qemu-img", "create", "-q", "-f", "qcow2", "-b", str(base), "-F", "raw", str(overlay)]
    subprocess.run(words, check=True)


@pytest.mark.parametrize("attach", DEVICES)
def test_a_qcow2_with_a_backing_file(attach: str, shop: Workshop, tmp_path: Path) -> None:
    """The overlay holds what the guest wrote, whole; the image behind it is as it was."""
    prepared = prepared_for(shop, tmp_path / "system", attach)
    base = base_image(prepared, tmp_path)
    before = sha256(base)
    endings, contents = [], []
    for plugin in (True, False):
        overlay = tmp_path / f"{plugin}.qcow2"
        make_overlay(base, overlay)
        endings.append(Case(prepared, tmp_path, f"format=qcow2,file={overlay}", {}).run(plugin=plugin))
        subprocess.run(["qemu-img", "check", "-q", overlay], check=True)
        flat = tmp_path / "flat.img"
        subprocess.run(["qemu-img", "convert", "-O", "raw", overlay, flat], check=True)
        # Behind the part that the processes write lie the times of the file system.
        contents.append(hashlib.sha256(flat.read_bytes()[: PROCESSES * PART * BLOCK]).hexdigest())
    assert endings[0] == endings[1] and contents[0] == contents[1]
    assert f"holds {hash_left(PROCESSES, FEW, BLOCKS)}" in " ".join(endings[0].said)
    assert sha256(base) == before
    expect_exact(tmp_path)


@pytest.mark.parametrize("attach", DEVICES)
def test_an_image_that_may_only_be_read(attach: str, shop: Workshop, tmp_path: Path) -> None:
    prepared = prepared_for(shop, tmp_path / "system", attach)
    base = base_image(prepared, tmp_path)
    before = sha256(base)
    drive = f"format=raw,readonly=on,file={base}"
    endings = [Case(prepared, tmp_path, drive, {}).run(plugin=plugin) for plugin in (True, False)]
    assert endings[0] == endings[1]
    assert "disk: all as it was written" not in endings[0].said
    assert sha256(base) == before
    if endings[0].reason is None:
        assert "read-only" in endings[0].detail, endings[0]
    else:
        assert "disk: failed" in endings[0].said, endings[0]
        expect_exact(tmp_path)


@pytest.mark.parametrize("attach", DEVICES)
def test_an_image_that_is_gone(attach: str, shop: Workshop, tmp_path: Path) -> None:
    """Before power-on QEMU says so; in mid-boot nobody notices, since QEMU holds it open."""
    prepared = prepared_for(shop, tmp_path / "system", attach)
    drive = f"format=raw,file={tmp_path / 'never'}"
    endings = [Case(prepared, tmp_path, drive, {}).run(plugin=plugin) for plugin in (True, False)]
    assert endings[0] == endings[1]
    assert endings[0].reason is None and "No such file or directory" in endings[0].detail

    base = base_image(prepared, tmp_path)

    def remove(console: bytes, pid: int) -> None:
        if b"file 1" in console:
            base.unlink(missing_ok=True)

    gone = Case(prepared, tmp_path, f"format=raw,file={base}", {}).run(plugin=True, on_console=remove)
    assert not base.exists()
    assert f"holds {hash_left(PROCESSES, FEW, BLOCKS)}" in " ".join(gone.said)
    expect_exact(tmp_path)


@pytest.mark.parametrize("attach", DEVICES)
def test_sectors_that_cannot_be_read_or_written(attach: str, shop: Workshop, tmp_path: Path) -> None:
    """One sector of the image gives EIO: the guest is told so, and goes on."""
    prepared = prepared_for(shop, tmp_path / "system", attach)
    sector = (PART + 300) * BLOCK // 512
    base = base_image(prepared, tmp_path)
    words = f"inject-error.0.event=%s,inject-error.0.errno=5,inject-error.0.sector={sector},inject-error.0.once=off"
    for event in ("write_aio", "read_aio"):
        endings = []
        for plugin in (True, False):
            # What the one wrote the other would find.
            image = shutil.copy(base, tmp_path / "disk.raw")
            drive = f"driver=raw,file.driver=blkdebug,file.image.driver=file,file.image.filename={image},"
            drive += f"file.{words % event}".replace(",inject-error", ",file.inject-error")
            endings.append(Case(prepared, tmp_path, drive, {}).run(plugin=plugin))
        assert endings[0] == endings[1]
        assert "disk: failed" in endings[0].said, endings[0]
        expect_exact(tmp_path)


@pytest.fixture
def small_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 3 MiB; the guest writes 8."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"mount: no tmpfs here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("attach", DEVICES)
def test_a_full_file_system_below_the_image(attach: str, small_folder: Path, shop: Workshop, tmp_path: Path) -> None:
    """QEMU stops the guest, as it does by default, and the boot ends with the reason instead of at its deadline."""
    prepared = prepared_for(shop, tmp_path / "system", attach)
    base = base_image(prepared, tmp_path)
    # QEMU keeps what the guest writes to a disk of bootlab's in a file in its TMPDIR.
    drive = f"format=raw,snapshot=on,file={base}"
    case = Case(prepared, tmp_path, drive, {"TMPDIR": str(small_folder)})
    endings = [case.run(plugin=plugin) for plugin in (True, False)]
    assert endings[0] == endings[1]
    if attach == "nvme":
        # QEMU's NVMe does not stop the guest: it gives the error on.
        assert "disk: failed" in endings[0].said, endings[0]
    else:
        assert endings[0].reason is EndReason.DIED
        assert "disk0: write: No space left on device" in endings[0].detail, endings[0]
    assert "disk: all as it was written" not in endings[0].said
    expect_exact(tmp_path)


def torn_blocks(image: Path) -> list[int]:
    """Return the blocks that a process had written, and that have a sector which is not whole."""
    sectors, words = BLOCK // 512, 512 // 8
    inverse = pow(written_word(0, 0, 1), -1, 1 << 64)
    held = np.frombuffer(image.read_bytes()[: PROCESSES * PART * BLOCK], np.uint64).reshape(-1, sectors, words)
    block = np.arange(PROCESSES * PART, dtype=np.uint64).reshape(-1, 1, 1)
    index = np.arange(sectors * words, dtype=np.uint64).reshape(1, sectors, words)
    # block << 32 ^ version << 12 ^ index: the words of a sector are of one version.
    versions = (held * np.uint64(inverse) ^ index ^ block << np.uint64(32)) >> np.uint64(12)
    whole = (versions == versions[:, :, :1]).all(axis=(1, 2))
    whole &= ((versions >= 1) & (versions < 1 << 20)).all(axis=(1, 2))
    torn = []
    for part in range(PROCESSES):
        wrong = np.flatnonzero(~whole[part * PART : (part + 1) * PART]).tolist()
        # Each process writes its blocks in order first: what it has not come to is no torn block.
        torn += [part * PART + at for at in wrong if wrong != list(range(wrong[0], PART))]
    return torn


def killed_after(after_s: float) -> Callable[[bytes, int], None]:
    """Return what kills QEMU so long after the guest has begun its work."""
    begun: list[asyncio.TimerHandle] = []

    def kill(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def watch(console: bytes, pid: int) -> None:
        if b"file 8" in console and not begun:
            begun.append(asyncio.get_running_loop().call_later(after_s, kill, pid))

    return watch


@pytest.mark.parametrize("model", ["", "sd"])
def test_qemu_killed_at_random_moments(model: str, shop: Workshop, tmp_path: Path) -> None:
    """No sector is torn in a raw image, and a qcow2 image has no mistake."""
    prepared = prepared_for(shop, tmp_path / "system", "virtio", 10 * FEW, model)
    base = base_image(prepared, tmp_path)
    chance = random.Random(1)
    begun: list[float] = []

    def note(console: bytes, pid: int) -> None:
        if b"file 8" in console and not begun:
            begun.append(time.monotonic())

    raw = tmp_path / "whole.img"
    shutil.copy(base, raw)
    whole = Case(prepared, tmp_path, f"format=raw,file={raw}", {}).run(plugin=True, on_console=note)
    lasts_s = time.monotonic() - begun[0]
    assert "disk: all as it was written" in whole.said and torn_blocks(raw) == []

    died = 0
    for number in range(3 * KILLS):
        if died == KILLS:
            break
        image = tmp_path / f"{number}.img"
        is_raw = number % 2 == 0
        if is_raw:
            shutil.copy(base, image)
        else:
            make_overlay(base, image)
        after_s = chance.uniform(0, lasts_s)
        case = Case(prepared, tmp_path, f"format={'raw' if is_raw else 'qcow2'},file={image}", {})
        ending = case.run(plugin=True, on_console=killed_after(after_s))
        assert ending.reason in (EndReason.DIED, EndReason.GUEST_SHUTDOWN), ending
        died += ending.reason is EndReason.DIED
        if ending.reason is EndReason.GUEST_SHUTDOWN:
            # The host has less to do than when that was timed.
            lasts_s = after_s
        if is_raw:
            assert torn_blocks(image) == [], f"killed {after_s:.3f} s into the work"
        else:
            # 3: clusters that nobody uses. 2 would be a mistake.
            checked = subprocess.run(["qemu-img", "check", "-q", image], capture_output=True, text=True, check=False)
            assert checked.returncode in (0, 3), checked.stdout
        image.unlink()
    assert died == KILLS
