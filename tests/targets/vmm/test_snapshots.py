"""What VMMs share of snapshots: the disks of a machine that is kept and of its clones, and who each of these is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed, InputError
from bootlab.snapshot import refusals
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.identity import SIZE, CloneIdentity, held, no_clone
from bootlab.snapshot.refusals import MemoryForm
from bootlab.system import System, VmmProgram
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.vmm.snapshots import VmmSnapshot, expect_keepable

SYSTEM: Mapping[str, Any] = {
    "name": "kept",
    "target": {"kind": "firecracker"},
    "kernel": {"image": "/vmlinux"},
    "disks": [{"size_mib": 1}],
    "snapshot": {},
    "booted": {"mark": "ready"},
}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "disk").write_bytes(b"as it was")
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


def boot_of(kept: Path, name: str, keeping: KeepRequest | None = None, restored: Restored | None = None) -> VmmSnapshot:
    """Return one boot's part, its disks put where it finds them."""
    folder = kept.parent / name
    folder.mkdir()
    part = VmmSnapshot(System.model_validate(dict(SYSTEM)), keeping, restored, folder)
    part.put_disks(["disk0"], [kept.parent / "disk"])
    return part


def test_a_disk_that_became_a_link_is_not_followed(kept: Path) -> None:
    asked = KeepRequest(folder=kept, at="snapshot", form=MemoryForm.FILE)
    part = boot_of(kept, "first", keeping=asked)
    (kept.parent / "secret").write_text("root's alone")
    (kept.parent / "first" / "disk0").unlink()
    (kept.parent / "first" / "disk0").symlink_to(kept.parent / "secret")
    with pytest.raises(BootFailed, match="disk0: cannot be read behind the VMM"):
        part.keep_disks(["disk0"])
    assert not (kept / "disk0").exists()


def test_a_clone_has_the_disk_that_was_kept_and_a_name_of_its_own(kept: Path) -> None:
    first = boot_of(kept, "first", KeepRequest("snapshot", kept))
    assert (first.folder / "clone").read_bytes() == held("snapshot")
    (first.folder / "disk0").write_bytes(b"written")
    first.keep_disks(["disk0"])
    who = CloneIdentity("5f" * 32, 3, "kept")
    third = boot_of(kept, "third", restored=Restored(kept, MemoryForm.FILE, 0, None, who))
    assert (third.folder / "disk0").read_bytes() == b"written"
    assert (third.folder / "clone").read_bytes() == who.text and len(who.text) == SIZE
    cold = boot_of(kept, "cold")
    assert (cold.folder / "disk0").read_bytes() == b"as it was"
    assert (cold.folder / "clone").read_bytes() == no_clone()


def test_a_snapshot_that_has_no_room_is_refused_before_the_machine_runs(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(BootFailed, match="no room for a snapshot"):
        boot_of(kept, "first", KeepRequest("snapshot", kept))


def test_what_a_snapshot_would_lack_is_named_all_at_once() -> None:
    system = System.model_validate({**SYSTEM, "target": {"kind": "firecracker", "api": False}})
    assert isinstance(system.target, VmmProgram)
    with pytest.raises(InputError) as caught:
        expect_keepable(system.target, FIRECRACKER, {"target.one: this": True, "target.other: that": False})
    assert caught.value.message.splitlines() == [
        "target.api: without its API nobody can ask Firecracker for a snapshot: not in a snapshot",
        "target.one: this: not in a snapshot",
    ]
