"""Machines that are kept and taken up, by a program that answers as a real Firecracker was recorded to."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed, InputError, StoreError
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.refusals import MANIFEST, MemoryForm
from bootlab.targets.firecracker import snapshots
from bootlab.targets.firecracker.configuration import MachinePlaces
from bootlab.targets.vmm import program
from tests.targets.firecracker.test_session import VERSION, made
from tests.targets.firecracker.test_target import prepared_of
from tests.targets.vmm.kept import KEPT, WOKEN, ask_verb, expect_one_host_alone
from tests.targets.vmm.made import Made

__all__ = ["made"]

TOLD = "[snapshot]\n[[disks]]\nsize_mib = 1"


@pytest.fixture(autouse=True)
def console(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    say(monkeypatch)


def say(monkeypatch: pytest.MonkeyPatch, **asked: object) -> None:
    monkeypatch.setenv("FAKE_FIRECRACKER", json.dumps({"console": KEPT, "woken": WOKEN, **asked}))


def ask(made: Made, capsys: pytest.CaptureFixture[str], *words: str, **system: str) -> tuple[int, dict[str, Any]]:
    return ask_verb(made, capsys, words, system.get("target", ""), system.get("more", TOLD))


def test_a_machine_is_kept_and_its_clones_are_told_who_they_are(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    code, kept = ask(made, capsys, "snapshot")
    assert code == 0 and kept["told"] and kept["instructions"] is None and kept["late_ns"] > 0
    assert set(kept["bytes"]) == {"ram", "state", "disk0"} and kept["bytes"]["disk0"] == 1 << 20
    folder = Path(kept["snapshot"])
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["host"]["Firecracker"] == VERSION and manifest["form"] == "file"
    # What the guest was told as it was kept: to wait.
    assert (folder / "ram").read_bytes()[8192:].startswith(b"bootlab-clone 1\nheld snapshot\nend\n")
    code, clone = ask(made, capsys, "boot", "--from", "last")
    assert code == 0 and clone["restored"]["clone"] == 1 and clone["restored"]["kept_ns"] == kept["kept_ns"]
    assert [step["name"] for step in clone["vmm"]["launch"]] == ["VMM start", "API", "snapshot load"]
    assert list(clone["marks"])[0] == "restored"
    assert 0 < clone["marks"]["woke"] <= clone["marks"]["ready"] == clone["marks"]["ready_clone"]
    assert [phase["name"] for phase in clone["phases"]] == ["waking", "clone agent and application"]
    code, several = ask(made, capsys, "boot", "--from", "last", "--clones", "2", "--parallel", "2")
    assert several["again"] is None and several["repeats"] is None
    assert [one["facts"]["told"] for one in several["boots"]] == ["number 1", "number 2"]
    assert several["alike"] == [f"clone {n} does not say who it is: nothing in it was changed" for n in (1, 2)]

    assert not made.left()


def test_a_machine_that_is_not_told_is_kept_at_any_mark(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, console="Linux version 6.1.0\n", timer=True)
    code, kept = ask(made, capsys, "snapshot", "--at", "boot_timer", more="")
    assert code == 0 and not kept["told"] and set(kept["bytes"]) == {"ram", "state"}
    with pytest.raises(InputError, match="two machines of one identity"):
        ask(made, capsys, "boot", "--from", "last", "--clones", "2", more="")
    made.deadline_s = 1
    with pytest.raises(BootFailed, match="mark nothing: not reached in"):
        ask(made, capsys, "snapshot", "--at", "nothing", more="")
    say(monkeypatch, exits=0)
    with pytest.raises(BootFailed, match="mark nothing: not reached: guest reset before"):
        ask(made, capsys, "snapshot", "--at", "nothing", more="")
    assert not made.left()
    assert not list((made.folder / "runs").glob("*/.unfinished-*"))


def test_the_form_of_its_memory_decides_what_is_asked_for(made: Made, tmp_path: Path) -> None:
    prepared = prepared_of(made, "track_dirty_pages = true")
    for form, kind in ((MemoryForm.FILE, "Full"), (MemoryForm.DIFF, "Diff")):
        kept = prepared.kept_at(KeepRequest("ready", tmp_path, form))
        folder = snapshots.SnapshotFolder(kept.system, kept.keeping, None, tmp_path)
        assert folder.creating().body == {
            "snapshot_type": kind, "snapshot_path": str(tmp_path / "state"), "mem_file_path": str(tmp_path / "ram"),
        }  # fmt: skip


def test_where_its_memory_comes_from_is_said_and_makes_no_other_machine_of_it(made: Made, tmp_path: Path) -> None:
    restored = Restored(tmp_path, MemoryForm.FILE, 0, None, None)
    backends, keys = [], set()
    for pages in ("mapped", "served"):
        prepared = prepared_of(made, f'pages = "{pages}"').from_snapshot(restored)
        keys.add(prepared.key)
        body = (
            snapshots.SnapshotFolder(prepared.system, None, restored, tmp_path / "boot").loading(prepared.target).body
        )
        assert body is not None
        backends.append(body["mem_backend"])
    assert backends == [
        {"backend_type": "File", "backend_path": str(tmp_path / "ram")},
        {"backend_type": "Uffd", "backend_path": str(tmp_path / "boot" / "pages")},
    ]
    assert len(keys) == 1


def test_a_clone_has_its_own_tap_and_is_told_its_metadata_again(made: Made, tmp_path: Path) -> None:
    (made.folder / "metadata.json").write_text('{"a": "b"}')
    devices = tmp_path / "devices"
    for name in ("tap1", "tap2"):
        (devices / name).mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "_DEVICES", devices)
        words = 'mmds = "metadata.json"\ntap = "tap{n}"', "[network]"
        prepared = prepared_of(made, *words)
        assert prepared.alone is None and prepared.told["tap"] == "tap1"
        prepared.expect_keepable()
        second = prepared.numbered(2).from_snapshot(Restored(tmp_path, MemoryForm.FILE, 0, None, None))
        with pytest.raises(InputError, match="target.tap: tap3: no such network device"):
            prepared.numbered(3)
        same = prepared_of(made, 'tap = "tap1"', "[network]")
        assert same.alone is not None and 'target.tap = "tap{n}" names one for each' in same.alone
        own = prepared_of(made, 'tap = "tap{n}"\nmac = "06:00:ac:10:00:02"', "[network]")
        assert own.alone is not None and own.alone.startswith("target.mac: ")
    target = second.target.model_copy(update=second.told)
    kept = snapshots.SnapshotFolder(second.system, None, second.restored, tmp_path)
    body = kept.loading(target).body
    assert body is not None and body["network_overrides"] == [{"iface_id": "net0", "host_dev_name": "tap2"}]
    places = MachinePlaces(tmp_path, tmp_path / "l", tmp_path / "m", tmp_path / "a", tmp_path / "c", ())
    calls = second._calls(target, second.files, places, kept)
    assert [(call.path, call.body) for call in calls][1] == ("/mmds", {"a": "b"}) and calls[0].path == "/snapshot/load"


def test_what_cannot_be_kept_is_refused(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="target.api: without its API"):
        prepared_of(made, "api = false").expect_keepable()
    with pytest.raises(InputError, match="kept as one of: file, diff"):
        ask(made, capsys, "snapshot", "--memory", "mapped-ram")
    (tmp_path / "swaps").write_text("Filename Type\n/swap file\n")
    monkeypatch.setattr(snapshots, "_SWAPS", tmp_path / "swaps")
    with pytest.raises(InputError, match="this host has swap"):
        ask(made, capsys, "snapshot", "--memory", "diff")
    assert not made.left()


@pytest.mark.parametrize(
    ("place", "words"), [(1, "Total sum of memory regions"), (2, "bitcode"), (3, "Block: Virtio backend error")]
)
def test_what_firecracker_refuses_is_told_in_its_words(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: int, words: str
) -> None:
    ask(made, capsys, "snapshot")
    say(monkeypatch, spoilt=place)
    code, clone = ask(made, capsys, "boot", "--from", "last", "--unread")
    assert code == 1 and clone["outcome"] == "not started"
    assert "PUT /snapshot/load: refused (400)" in clone["detail"] and words in clone["detail"]
    say(monkeypatch, spoilt=place, console=KEPT + "bootlab: mark ready\n")
    code, cold = ask(made, capsys, "boot", "--from", "last", "--unread", "--or-cold")
    assert code == 0 and "restored" not in cold and "booted cold instead" in " ".join(cold["remarks"])
    assert not made.left()


def test_what_is_not_that_machine_or_host_is_refused_before_anything_runs(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, kept = ask(made, capsys, "snapshot")
    folder = Path(kept["snapshot"])
    with pytest.raises(InputError, match=r"machine.memory_mib: 128 when it was kept, 256 now"):
        ask(made, capsys, "boot", "--from", "last", more=TOLD + "\n[machine]\nmemory_mib = 256")
    expect_one_host_alone(
        made, folder, "Firecracker", VERSION, lambda *more: ask(made, capsys, "boot", "--from", "last", *more)
    )
    os.truncate(folder / "ram", 4096)
    with pytest.raises(StoreError, match="ram: cut off: 4096 bytes"):
        ask(made, capsys, "boot", "--from", "last")
    assert not made.left()
