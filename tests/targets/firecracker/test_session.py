"""Boots by a program that answers as a real Firecracker was recorded to: what is Firecracker's own of them.

What all VMMs share, each way to end among it, is in tests/targets/vmm/test_session.py.
"""

import json
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.measure.record import Outcome
from tests.targets.vmm.made import CONSOLE, FAKED, Made

VERSION = FAKED["firecracker"].version


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    found = Made(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "sockets"))
    monkeypatch.setenv("FAKE_FIRECRACKER", json.dumps({"console": CONSOLE}))
    return found


def tell(monkeypatch: pytest.MonkeyPatch, **asked: object) -> None:
    monkeypatch.setenv("FAKE_FIRECRACKER", json.dumps({"console": CONSOLE, **asked}))


def test_a_boot_has_its_launch_its_phases_and_its_version(made: Made) -> None:
    record = made.boot()
    assert record.outcome is Outcome.READY, record.detail
    assert record.vmm is not None and record.vmm.name == "Firecracker" and record.vmm.version == VERSION
    assert [step.name for step in record.vmm.launch] == ["VMM start", "API", "VM creation"]
    assert all(step.duration_ns >= 0 for step in record.vmm.launch) and record.vmm.launch[0].duration_ns > 0
    assert 0 < record.marks["kernel_banner"] <= record.marks["init_exec"] <= record.marks["ready"]
    assert (record.clock, record.accelerator, record.host["firecracker"]) == ("wall", "kvm", VERSION)
    assert record.hashes["firecracker"] and "--api-sock" in record.argv
    directory = Path(record.run)
    assert json.loads((directory / "firecracker.json").read_text())["boot-source"]["boot_args"] == "console=ttyS0"
    assert "event_start: boot microvm" in (directory / "firecracker.log").read_text()
    assert record.vmm.own["process_startup_time"] > 0
    assert not made.left()


def test_without_an_api_and_with_its_disks_copied(made: Made) -> None:
    record = made.boot("api = false", "[[disks]]\nsize_mib = 1")
    assert record.outcome is Outcome.READY, record.detail
    assert record.vmm is not None
    assert [step.name for step in record.vmm.launch] == ["VMM start and configuration", "VM creation"]
    assert "--config-file" in record.argv and not made.left()


def test_the_boot_timer_says_ready(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(monkeypatch, timer=True)
    record = made.boot(booted='mark = "boot_timer"')
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["ready"] == record.marks["boot_timer"] >= 0
    assert record.vmm is not None and record.vmm.own["guest_boot"] > 0


@pytest.mark.parametrize(
    ("code", "outcome", "words"),
    [
        (0, Outcome.NOT_READY, "reset"),
        (148, Outcome.TARGET_DIED, "its own filters forbid"),
        (149, Outcome.TARGET_DIED, "huge pages ran out"),
        (1, Outcome.TARGET_DIED, "exit code 1"),
    ],
)
def test_how_it_ends_is_told(
    made: Made, monkeypatch: pytest.MonkeyPatch, code: int, outcome: Outcome, words: str
) -> None:
    tell(monkeypatch, console="Linux version 6.1.0\n", exits=code)
    record = made.boot()
    assert record.outcome is outcome and words in record.detail, record.detail


def test_metadata_that_is_no_object_is_refused(made: Made) -> None:
    for text, words in (("[1]", "no JSON object"), ("{", "no JSON"), ('{"a": "' + "x" * 60_000 + '"}', "more than")):
        (made.folder / "metadata.json").write_text(text)
        with pytest.raises(InputError, match=words):
            made.boot('mmds = "metadata.json"\ntap = "lo"', "[network]")
