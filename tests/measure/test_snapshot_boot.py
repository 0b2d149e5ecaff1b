"""A snapshot is complete or not there, wherever the power is cut while it is written."""

import errno
import os
import random
from collections import Counter
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import StoreError
from bootlab.measure import snapshot_boot
from bootlab.measure.snapshot_boot import Places, keep
from bootlab.snapshot.refusals import MANIFEST, MemoryForm, expect_whole, read_manifest
from bootlab.system import System
from bootlab.targets.target import OpenedMachine, Prepared
from tests.measure.test_storm import NO_FILES, SYSTEM

CUTS = 1000
BLOCK = 4096


class WriteLog:
    """What a run asked of its file system, in order: `("flush", path)` and `("rename", from, to)`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[Path, ...]] = []
        fsync, rename = os.fsync, Path.rename

        def flushed(handle: int) -> None:
            self.events.append((Path(os.readlink(f"/proc/self/fd/{handle}")),))
            fsync(handle)

        def renamed(path: Path, target: Path) -> Path:
            self.events.append((path, Path(target)))
            return rename(path, target)

        monkeypatch.setattr(os, "fsync", flushed)
        monkeypatch.setattr(Path, "rename", renamed)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPrepared(Prepared):
    """A machine that may be kept."""

    def expect_keepable(self) -> None:
        return

    def open(self, directory: Path, argv: list[str]) -> AbstractAsyncContextManager[OpenedMachine]:
        raise NotImplementedError


def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a machine whose memory, state and disk are files."""

    def stands_still(kept: Prepared, boot: Path, cancelled: object = None) -> Any:
        assert kept.keeping is not None
        for name, blocks in (("ram", 64), ("state", 9), ("disk0.qcow2", 17)):
            (kept.keeping.folder / name).write_bytes(random.Random(name).randbytes(blocks * BLOCK - 100))
        return snapshot_boot._Stood(t_ns=5, late_ns=0, instructions=4, host_s=0.1)

    monkeypatch.setattr(snapshot_boot, "_keep_machine", stands_still)
    boot = tmp_path / "boot"
    boot.mkdir()
    prepared = KeptPrepared(system=System.model_validate(SYSTEM), files=NO_FILES, hashes={}, sizes={}, runs_on="sh")
    keep(prepared, "snapshot", MemoryForm.FILE, Places(tmp_path / "snapshot", boot))
    return tmp_path / "snapshot"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, WriteLog]:
    """A snapshot, and what was asked of the file system for it."""
    log = WriteLog(monkeypatch)
    return kept(tmp_path, monkeypatch), log


def test_a_thousand_power_cuts_leave_it_whole_or_not_there(written: tuple[Path, WriteLog], tmp_path: Path) -> None:
    """Sizes alone are enough to tell: a file that a cut could still have emptied is not under that name."""
    folder, log = written
    kinds: Counter[str] = Counter()
    for seed in range(CUTS):
        chance = random.Random(seed)
        at = chance.randint(0, len(log.events))
        image = tmp_path / "cut"
        there = _cut(folder, log.events[:at], image, chance)
        if there is None:
            kinds["not there"] += 1
            continue
        manifest = read_manifest(there)
        expect_whole(there, manifest, unread=True)
        expect_whole(there, manifest, unread=False)
        kinds["whole"] += 1
        for path in there.iterdir():
            path.unlink()
    assert set(kinds) == {"not there", "whole"} and min(kinds.values()) > CUTS // 20, kinds


def test_a_file_that_was_not_flushed_would_be_found_by_this_test(
    written: tuple[Path, WriteLog], tmp_path: Path
) -> None:
    folder, log = written
    unflushed = [event for event in log.events if event[0].name != "ram"]
    assert len(unflushed) == len(log.events) - 1
    there = [_cut(folder, unflushed, tmp_path / "cut", random.Random(seed)) for seed in range(20)][-1]
    assert there is not None and (there / "ram").read_bytes() != (folder / "ram").read_bytes()


def test_the_manifest_has_its_name_before_the_folder_has(written: tuple[Path, WriteLog]) -> None:
    folder, log = written
    named, made = (
        next(i for i, event in enumerate(log.events) if event[-1].name == name and len(event) == 2)
        for name in (MANIFEST, folder.name)
    )
    making = log.events[made][0]
    assert (making,) in log.events[named:made] and (folder.parent,) in log.events[made:]


@pytest.mark.parametrize(("number", "whole"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_file_system_that_flushes_no_folder_has_snapshots(
    number: int, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def flushed(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_dir():
            raise OSError(number, os.strerror(number))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", flushed)
    if whole:
        folder = kept(tmp_path, monkeypatch)
        expect_whole(folder, read_manifest(folder), unread=False)
    else:
        with pytest.raises(StoreError):
            kept(tmp_path, monkeypatch)


def _cut(folder: Path, done: list[tuple[Path, ...]], image: Path, chance: random.Random) -> Path | None:
    """Lay out in `image` what the file system may hold after a cut behind these events; None: nothing by that name.

    What was flushed is as it was written. Of the rest a journal has kept lengths and not content: each block is there,
    or zeros are. A rename is there as soon as it was asked for, if the journal was written since.
    """
    flushed = {event[0].name for event in done if len(event) == 1}
    renamed = any(event[-1] == folder for event in done if len(event) == 2)
    if not renamed or (folder.parent.name not in flushed and chance.random() < 0.5):
        return None
    image.mkdir(exist_ok=True)
    # The manifest is flushed by another name, and gets its own by a rename.
    if Path(MANIFEST).with_suffix(".new").name in flushed:
        flushed.add(MANIFEST)
    for path in folder.iterdir():
        data = bytearray(path.read_bytes())
        if path.name not in flushed:
            for at in range(0, len(data), BLOCK):
                if chance.random() < 0.5:
                    data[at : at + BLOCK] = bytes(len(data[at : at + BLOCK]))
        (image / path.name).write_bytes(data)
    return image
