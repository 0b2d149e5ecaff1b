"""Machines that are kept and taken up, by a program that answers as a real Cloud Hypervisor was recorded to."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed, InputError, StoreError
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.snapshot.refusals import MANIFEST, MemoryForm
from bootlab.system import CloudHypervisor
from bootlab.targets.cloud_hypervisor.snapshots import NAMES, CloudHypervisorSnapshot
from tests.targets.cloud_hypervisor.fake import SNAPSHOTS
from tests.targets.cloud_hypervisor.test_session import VERSION, made
from tests.targets.cloud_hypervisor.test_target import prepared_of
from tests.targets.vmm.kept import KEPT, WOKEN, ask_verb, expect_one_host_alone
from tests.targets.vmm.made import Made

__all__ = ["made"]

SMALL = "[machine]\nmemory_mib = 16\n"
TOLD = f"{SMALL}[snapshot]\n[[disks]]\nsize_mib = 1"
REFUSED = json.loads(SNAPSHOTS.read_text())["snapshot_refused"]


@pytest.fixture(autouse=True)
def console(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    say(monkeypatch)


def say(monkeypatch: pytest.MonkeyPatch, **asked: object) -> None:
    monkeypatch.setenv("FAKE_CLOUD_HYPERVISOR", json.dumps({"console": KEPT, "woken": WOKEN, **asked}))


def ask(made: Made, capsys: pytest.CaptureFixture[str], *words: str, **system: str) -> tuple[int, dict[str, Any]]:
    return ask_verb(made, capsys, words, system.get("target", ""), system.get("more", TOLD))


def nothing_is_left(made: Made) -> bool:
    return not made.left() and not list((made.folder / "runs").glob("*/.unfinished-*"))


def test_a_machine_is_kept_and_its_clones_are_told_who_they_are(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    code, kept = ask(made, capsys, "snapshot")
    assert code == 0 and kept["told"] and kept["instructions"] is None and kept["late_ns"] > 0
    assert set(kept["bytes"]) == {*NAMES.values(), "disk0"} and kept["bytes"]["ram"] == 16 << 20
    folder = Path(kept["snapshot"])
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["host"]["Cloud Hypervisor"] == VERSION and manifest["form"] == "file"
    # What the guest was told as it was kept: to wait.
    assert (folder / "ram").read_bytes().startswith(b"bootlab-clone 1\nheld snapshot\nend\n")
    code, clone = ask(made, capsys, "boot", "--from", "last")
    assert code == 0 and clone["restored"]["clone"] == 1 and clone["restored"]["kept_ns"] == kept["kept_ns"]
    assert [step["name"] for step in clone["vmm"]["launch"]] == ["VMM start", "API", "snapshot load"]
    assert all(step["duration_ns"] >= 0 for step in clone["vmm"]["launch"])
    assert 0 < clone["marks"]["woke"] <= clone["marks"]["ready"] == clone["marks"]["ready_clone"]
    assert [phase["name"] for phase in clone["phases"]] == ["waking", "clone agent and application"]
    code, several = ask(made, capsys, "boot", "--from", "last", "--clones", "2", "--parallel", "2")
    assert several["again"] is None and several["repeats"] is None
    assert [one["facts"]["told"] for one in several["boots"]] == ["number 1", "number 2"]
    assert nothing_is_left(made)


def test_a_machine_that_is_not_told_is_kept_at_any_mark(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, console="Linux version 6.1.0\n", port=True)
    more = SMALL + "[[disks]]\nsize_mib = 1"
    code, kept = ask(made, capsys, "snapshot", "--at", "debug_port_0x60", more=more)
    assert code == 0 and not kept["told"] and set(kept["bytes"]) == {*NAMES.values(), "disk0"}
    with pytest.raises(InputError, match="two machines of one identity"):
        ask(made, capsys, "boot", "--from", "last", "--clones", "2", more=more)
    made.deadline_s = 1
    with pytest.raises(BootFailed, match="mark nothing: not reached in"):
        ask(made, capsys, "snapshot", "--at", "nothing", more=more)
    assert nothing_is_left(made)


def test_what_is_asked_for_it(made: Made, tmp_path: Path) -> None:
    restored = Restored(tmp_path / "kept", MemoryForm.FILE, 0, None, None)
    keys = set()
    for mode, said in (("copy", "Copy"), ("ondemand", "OnDemand")):
        prepared = prepared_of(made, f'memory_restore_mode = "{mode}"').from_snapshot(restored)
        keys.add(prepared.key)
        assert isinstance(prepared.system.target, CloudHypervisor)
        body = (
            CloudHypervisorSnapshot(prepared.system, None, restored, tmp_path / "boot")
            .loading(prepared.system.target)
            .body
        )
        assert body == {
            "source_url": f"file://{tmp_path}/boot/kept",
            "prefault": False,
            "memory_restore_mode": said,
            "resume": False,
        }
    assert len(keys) == 1, "how a clone's memory comes makes no other machine of it"
    keeping = CloudHypervisorSnapshot(prepared.system, KeepRequest("ready", tmp_path), None, tmp_path / "boot")
    assert keeping.creating().body == {"destination_url": f"file://{tmp_path}"}


def test_what_cannot_be_kept_is_refused(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="target.api: without its API nobody can ask Cloud Hypervisor"):
        ask(made, capsys, "snapshot", target="api = false")
    for form in ("mapped-ram", "diff"):
        with pytest.raises(InputError, match="kept as one of: file"):
            ask(made, capsys, "snapshot", "--memory", form)
    assert nothing_is_left(made)


@pytest.mark.parametrize("half", ["config.json", "state.json", "memory-ranges"])
def test_a_file_that_it_writes_by_half_and_calls_whole_is_no_snapshot(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    say(monkeypatch, half=half)
    with pytest.raises(StoreError, match=f"wrote half of its {NAMES[half]}"):
        ask(made, capsys, "snapshot")
    assert nothing_is_left(made)


@pytest.mark.parametrize(
    ("place", "words", "hint"),
    [(0, "while VM is running", "free some"), (1, "No space left", "free some"), (-1, "GetNestedState", "KVM_CAP_NES")],
)
def test_why_it_does_not_keep_a_machine_is_told_in_its_words(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: int, words: str, hint: str
) -> None:
    say(monkeypatch, spoilt=place)
    with pytest.raises(StoreError, match=words) as caught:
        ask(made, capsys, "snapshot")
    assert "the machine cannot be kept: Cloud Hypervisor: PUT /api/v1/vm.snapshot: refused (500)" in str(caught.value)
    assert "backtrace" not in str(caught.value) and caught.value.hint is not None and hint in caught.value.hint
    assert nothing_is_left(made)


@pytest.mark.parametrize("path", ["/api/v1/vm.pause", "/api/v1/vm.snapshot"])
def test_one_that_is_killed_as_it_is_kept_is_told(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    say(monkeypatch, dies=path)
    with pytest.raises((BootFailed, StoreError), match=f"PUT {path}: no answer"):
        ask(made, capsys, "snapshot")
    assert nothing_is_left(made)


def test_a_clone_whose_vmm_is_killed_is_told(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(made, capsys, "snapshot")
    for path in ("/api/v1/vm.restore", "/api/v1/vm.resume"):
        say(monkeypatch, dies=path)
        code, clone = ask(made, capsys, "boot", "--from", "last")
        assert code == 1 and clone["outcome"] == "not started" and f"PUT {path}: no answer" in clone["detail"]
    say(monkeypatch)
    assert ask(made, capsys, "boot", "--from", "last")[0] == 0, "the snapshot is as it was"
    assert nothing_is_left(made)


def test_what_it_does_not_take_up_is_told_in_its_words(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(made, capsys, "snapshot")
    places = [at for at, one in enumerate(REFUSED) if one["path"].endswith("/vm.restore") and one["status"] != 204]
    assert len(places) >= 2
    for place in places:
        say(monkeypatch, spoilt=place)
        code, clone = ask(made, capsys, "boot", "--from", "last", "--unread")
        assert code == 1 and clone["outcome"] == "not started"
        assert "PUT /api/v1/vm.restore: refused (500): Error from API" in clone["detail"]
    say(monkeypatch, spoilt=places[0], console=KEPT + "bootlab: mark ready\n")
    code, cold = ask(made, capsys, "boot", "--from", "last", "--unread", "--or-cold")
    assert code == 0 and "restored" not in cold and "booted cold instead" in " ".join(cold["remarks"])
    assert nothing_is_left(made)


def test_what_is_not_that_machine_or_host_is_refused_before_anything_runs(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    _, kept = ask(made, capsys, "snapshot")
    folder = Path(kept["snapshot"])
    with pytest.raises(InputError, match=r"machine.memory_mib: 16 when it was kept, 32 now"):
        ask(made, capsys, "boot", "--from", "last", more=TOLD.replace("16", "32"))
    expect_one_host_alone(
        made, folder, "Cloud Hypervisor", VERSION, lambda *more: ask(made, capsys, "boot", "--from", "last", *more)
    )
    # Cloud Hypervisor takes memory that is cut off for zeros, and refuses nothing.
    assert [one["status"] for one in REFUSED if one["path"].endswith("/vm.restore")] == [500, 500, 204, 500]
    os.truncate(folder / "ram", 4096)
    for more in ((), ("--unread",)):
        with pytest.raises(StoreError, match="ram: cut off: 4096 bytes"):
            ask(made, capsys, "boot", "--from", "last", *more)
    assert nothing_is_left(made)
