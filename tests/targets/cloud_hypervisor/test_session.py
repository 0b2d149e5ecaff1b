"""Boots by a program that answers as a real Cloud Hypervisor was recorded to: what is its own of them.

What all VMMs share, each way to end among it, is in tests/targets/vmm/test_session.py.
"""

import json
from pathlib import Path

import pytest

from bootlab.measure.record import Outcome
from tests.targets.vmm.made import CONSOLE, FAKED, Made

VERSION = FAKED["cloud-hypervisor"].version


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    found = Made(tmp_path, "cloud-hypervisor")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "sockets"))
    tell(monkeypatch)
    return found


def tell(monkeypatch: pytest.MonkeyPatch, **asked: object) -> None:
    monkeypatch.setenv("FAKE_CLOUD_HYPERVISOR", json.dumps({"console": CONSOLE, **asked}))


def test_a_boot_has_its_launch_its_phases_its_events_and_its_version(made: Made) -> None:
    record = made.boot()
    assert record.outcome is Outcome.READY, record.detail
    assert record.vmm is not None and (record.vmm.name, record.vmm.version) == ("Cloud Hypervisor", VERSION)
    assert [step.name for step in record.vmm.launch] == ["VMM start", "API", "VM creation"]
    assert all(step.duration_ns >= 0 for step in record.vmm.launch) and record.vmm.launch[0].duration_ns > 0
    assert 0 < record.marks["kernel_banner"] <= record.marks["init_exec"] <= record.marks["ready"]
    assert (record.clock, record.accelerator, record.host["cloud-hypervisor"]) == ("wall", "kvm", VERSION)
    assert record.hashes["cloud-hypervisor"] and "--api-socket" in record.argv
    directory = Path(record.run)
    assert json.loads((directory / "cloud-hypervisor.json").read_text())["payload"]["cmdline"] == "console=ttyS0"
    assert "Starting vCPUs" in (directory / "cloud-hypervisor.log").read_text()
    assert 0 <= record.vmm.own["vmm starting"] < record.vmm.own["vm booting"] < record.vmm.own["vm booted"]
    assert not made.left()


def test_without_an_api_and_with_its_disks_copied(made: Made) -> None:
    record = made.boot("api = false", "[[disks]]\nsize_mib = 1")
    assert record.outcome is Outcome.READY, record.detail
    assert record.vmm is not None
    assert [step.name for step in record.vmm.launch] == ["VMM start and configuration", "VM creation"]
    assert "--kernel" in record.argv and "id=disk0,path=disk0,image_type=raw" in record.argv and not made.left()


def test_port_0x80_says_ready(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(monkeypatch, port=True)
    record = made.boot(booted='mark = "debug_port_0x60"')
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["ready"] == record.marks["debug_port_0x60"] >= 0


@pytest.mark.parametrize(("ends", "words"), [("off", "guest shutdown"), ("reset", "guest reset")])
@pytest.mark.parametrize("target", ["", "api = false"])
def test_how_a_guest_ends_is_told(
    made: Made, monkeypatch: pytest.MonkeyPatch, ends: str, words: str, target: str
) -> None:
    tell(monkeypatch, console="Linux version 6.1.0\n", ends=ends)
    record = made.boot(target)
    assert record.outcome is Outcome.NOT_READY and words in record.detail, record.detail
    assert not made.left()


@pytest.mark.parametrize("code", [0, 1])
def test_an_end_of_its_own_is_no_guests(made: Made, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    tell(monkeypatch, console="Linux version 6.1.0\n", exits=code)
    record = made.boot()
    assert record.outcome is Outcome.TARGET_DIED and f"exit code {code}" in record.detail, record.detail


def test_nothing_is_left_beside_a_socket_of_ones_own(made: Made) -> None:
    path = made.folder / "api"
    path.with_name("api.lock").touch()
    assert made.boot(f'socket = "{path}"').outcome is Outcome.READY
    assert not path.exists() and not path.with_name("api.lock").exists()
