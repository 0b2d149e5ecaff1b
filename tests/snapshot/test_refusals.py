"""What of a snapshot is refused, in which words: cut off, turned, gone, of another machine, in use."""

import os
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import InputError, StoreError
from bootlab.measure.record_files import write_whole
from bootlab.snapshot.refusals import (
    MANIFEST,
    MemoryForm,
    SnapshotManifest,
    claim_clones,
    expect_same_machine,
    expect_whole,
    hash_file,
    read_manifest,
)

VALUES: dict[str, Any] = {
    "machine": {"memory_mib": 128},
    "kernel": {"cmdline": "quiet"},
    "disks": [{"serial": "a"}],
    "seed": 1,
}
HASHES = {"kernel": "a" * 64, "qemu": "b" * 64, "disk0": "c" * 64}


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, SnapshotManifest]:
    (tmp_path / "ram").write_bytes(bytes(8192) + b"memory")
    (tmp_path / "state").write_bytes(b"devices")
    manifest = SnapshotManifest(
        system="s",
        at="snapshot",
        t_ns=5,
        instructions=4,
        seed=1,
        form=MemoryForm.FILE,
        told=True,
        values=VALUES,
        hashes=HASHES,
        files={name: hash_file(tmp_path / name) for name in ("ram", "state")},
    )
    write_whole(tmp_path / MANIFEST, manifest.model_dump_json(by_alias=True))
    return tmp_path, manifest


def test_what_is_whole_is_read_back_and_passes(kept: tuple[Path, SnapshotManifest]) -> None:
    folder, manifest = kept
    assert read_manifest(folder) == manifest
    expect_whole(folder, manifest, unread=False)
    expect_same_machine(folder, manifest, {**VALUES, "seed": 9}, HASHES)


@pytest.mark.parametrize("name", ["ram", "state"])
def test_a_file_that_was_cut_grew_or_went_is_named(kept: tuple[Path, SnapshotManifest], name: str) -> None:
    folder, manifest = kept
    path = folder / name
    os.truncate(path, manifest.files[name].bytes - 1)
    with pytest.raises(StoreError, match=f"{name}: cut off: {manifest.files[name].bytes - 1} bytes"):
        expect_whole(folder, manifest, unread=True)
    os.truncate(path, manifest.files[name].bytes + 1)
    with pytest.raises(StoreError, match=f"{name}: longer than it was"):
        expect_whole(folder, manifest, unread=True)
    path.unlink()
    with pytest.raises(StoreError, match=f"{name}: cannot be read: No such file"):
        expect_whole(folder, manifest, unread=True)


def test_a_bit_that_is_turned_is_found_wherever_it_is_unless_nobody_reads(kept: tuple[Path, SnapshotManifest]) -> None:
    folder, manifest = kept
    for at in (0, 5000, 8195):
        data = bytearray((folder / "ram").read_bytes())
        data[at] ^= 4
        (folder / "ram").write_bytes(data)
        expect_whole(folder, manifest, unread=True)
        with pytest.raises(StoreError, match="ram: not what was kept"):
            expect_whole(folder, manifest, unread=False)
        data[at] ^= 4
        (folder / "ram").write_bytes(data)
    expect_whole(folder, manifest, unread=False)


@pytest.mark.parametrize(
    ("values", "hashes", "said"),
    [
        ({}, {"kernel": "d" * 64}, r"kernel: another kernel \(dddddddddddd, was aaaaaaaaaaaa\)"),
        ({}, {"qemu": "d" * 64}, "qemu: another QEMU"),
        ({}, {"disk0": "d" * 64}, "disk0: has changed: the guest had it mounted"),
        ({}, {"firmware": "d" * 64}, "firmware: was not there when it was kept"),
        ({"machine": {"memory_mib": 256}}, {}, "machine.memory_mib: 128 when it was kept, 256 now"),
        ({"disks": []}, {}, "disks.0.serial: 'a' when it was kept, 'nothing' now"),
    ],
)
def test_another_machine_is_named_by_what_is_other(
    kept: tuple[Path, SnapshotManifest], values: dict[str, Any], hashes: dict[str, str], said: str
) -> None:
    folder, manifest = kept
    with pytest.raises(InputError, match=said) as refused:
        expect_same_machine(folder, manifest, {**VALUES, **values}, {**HASHES, **hashes})
    assert "--or-cold" in (refused.value.hint or "")


def test_many_differences_are_counted(kept: tuple[Path, SnapshotManifest]) -> None:
    folder, manifest = kept
    with pytest.raises(InputError, match="and 1 more"):
        expect_same_machine(folder, manifest, {**VALUES, "a": 1, "b": 2}, dict.fromkeys(HASHES, "d" * 64))


def test_no_snapshot_and_a_damaged_one_are_errors(kept: tuple[Path, SnapshotManifest], tmp_path: Path) -> None:
    folder, _ = kept
    with pytest.raises(InputError, match="holds no snapshot"):
        read_manifest(tmp_path / "nowhere")
    for text in ("", "{", "[]", '{"schema": "bootlab.snapshot/2"}', "\x00"):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(StoreError, match="damaged"):
            read_manifest(folder)


def test_two_machines_of_one_identity_are_refused(kept: tuple[Path, SnapshotManifest]) -> None:
    folder, _ = kept
    with claim_clones(folder, range(1, 4)):
        with claim_clones(folder, [4]):
            pass
        with pytest.raises(InputError, match="clone 3 runs already"), claim_clones(folder, [5, 3]):
            pass
    with claim_clones(folder, [3]):
        pass


def test_a_snapshot_that_is_made_twice_alike_has_one_hash(kept: tuple[Path, SnapshotManifest]) -> None:
    _, manifest = kept
    assert manifest.sha256 == manifest.model_copy(update={"hashes": {}}).sha256
    assert manifest.sha256 != manifest.model_copy(update={"t_ns": 6}).sha256
