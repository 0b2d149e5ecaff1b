"""Boots by programs that answer as real VMMs were recorded to: how they begin, and every way they can end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError, MissingTool
from bootlab.measure.record import Outcome
from bootlab.targets.machine_process import MachineProcess
from bootlab.targets.vmm import session
from tests.targets.vmm.made import CONSOLE, FAKED, ROOT, Made, killed_within


@pytest.fixture(params=FAKED)
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    found = Made(tmp_path, request.param)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "sockets"))
    tell(found, monkeypatch)
    return found


def tell(made: Made, monkeypatch: pytest.MonkeyPatch, **asked: object) -> None:
    monkeypatch.setenv(made.faked.asked, json.dumps({"console": CONSOLE, **asked}))


def test_a_refused_request_is_told_in_its_words(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(made, monkeypatch, refuses={made.faked.configures: made.faked.refused})
    record = made.boot()
    assert record.outcome is Outcome.NOT_STARTED
    assert f"PUT {made.faked.configures}: refused (400): " in record.detail
    assert not made.left()


@pytest.mark.parametrize(
    ("what", "at", "words"),
    [
        ("garbage", "configures", "answered 200 and <html>, which is no answer"),
        ("dies", "configures", "no answer"),
        ("dies", "starts", "no answer"),
    ],
)
def test_an_answer_that_is_none_is_a_boot_not_started(
    made: Made, monkeypatch: pytest.MonkeyPatch, what: str, at: str, words: str
) -> None:
    path = getattr(made.faked, at)
    tell(made, monkeypatch, **{what: path})
    record = made.boot()
    assert record.outcome is Outcome.NOT_STARTED and f"PUT {path}: {words}" in record.detail
    assert not made.left()


def test_one_that_is_killed_in_mid_boot_is_a_target_that_died(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(made, monkeypatch, console="Linux version 6.1.0\n")
    with killed_within(made.left, 0.5):
        record = made.boot()
    # On a busy host it is gone before its API answers.
    early = "no answer" in record.detail or "did not start" in record.detail
    assert record.outcome is (Outcome.NOT_STARTED if early else Outcome.TARGET_DIED)
    assert "SIGKILL" in record.detail or "no answer" in record.detail
    assert not made.left()


def test_one_that_hangs_is_ended_at_its_deadline(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(made, monkeypatch, console="Linux version 6.1.0\n")
    record = made.boot(deadline_s=1)
    assert record.outcome is Outcome.HUNG and not made.left()


@pytest.mark.parametrize("target", ["", "api = false"])
def test_one_that_stood_without_a_cpu_has_longer_to_start(
    made: Made, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(session, "_START_S", 0.0)
    monkeypatch.setattr(session, "_LET_GO_S", 0.0)
    monkeypatch.setattr(MachineProcess, "withheld_s", lambda process: 60.0)
    record = made.boot(target)
    assert record.outcome is Outcome.READY and not record.detail
    monkeypatch.setattr(MachineProcess, "withheld_s", lambda process: 0.0)
    record = made.boot(target)
    assert ("log does not say" if target else "no answer on its API socket") in record.detail


def test_a_socket_that_is_in_use_or_left_over_is_told(made: Made) -> None:
    path = made.folder / "api"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        record = made.boot(f'socket = "{path}"')
        assert record.outcome is Outcome.NOT_STARTED and "in use: something answers there" in record.detail
    record = made.boot(f'socket = "{path}"')
    assert record.outcome is Outcome.NOT_STARTED and "is there already, and nothing answers" in record.detail
    assert path.exists()
    path.unlink()
    assert made.boot(f'socket = "{path}"').outcome is Outcome.READY and not path.exists()


def test_what_is_missing_is_told_before_anything_runs(made: Made) -> None:
    made.binary.rename(made.folder / "gone")
    with pytest.raises(MissingTool, match=r"target\.binary: .*not found"):
        made.boot()
    made.binary.write_text("#!/bin/sh\necho QEMU emulator version 10\n")
    with pytest.raises(MissingTool, match="is no program"):
        made.boot()
    made.binary.chmod(0o755)
    with pytest.raises(MissingTool, match=f"no {made.faked.name}"):
        made.boot()
    made.binary.unlink()
    (made.folder / "gone").rename(made.binary)
    (made.folder / "vmlinux").write_bytes(b"MZ")
    # And before the kernel is looked at, or made.
    for path, words in (("", "is a folder"), ("nowhere/api", "its folder is not there")):
        with pytest.raises(InputError, match=rf"target\.socket: .*: {words}"):
            made.boot(f'socket = "{path}"')
    with pytest.raises(InputError, match=r"target\.tap: no-such-tap: no such network device"):
        made.boot('tap = "no-such-tap"', "[network]")
    with pytest.raises(InputError, match="not a Linux kernel"):
        made.boot()


def test_a_disk_that_has_no_room_is_told(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    (made.folder / "sockets").rmdir()
    (made.folder / "sockets").mkdir()
    full = made.folder / "bin"
    full.mkdir()
    (full / "cp").write_text("#!/bin/sh\necho \"cp: error writing 'disk0': No space left on device\" >&2\nexit 1\n")
    (full / "cp").chmod(0o755)
    monkeypatch.setenv("PATH", f"{full}:{os.environ['PATH']}")
    record = made.boot("", "[[disks]]\nsize_mib = 1")
    assert record.outcome is Outcome.NOT_STARTED and "No space left on device" in record.detail
    assert not made.left()


@pytest.mark.parametrize("verb", ["boot", "snapshot"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_where_bootlab_is_ended(
    made: Made, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, verb: str
) -> None:
    """As it waits for the guest, and as the VMM writes the machine down."""
    console = "Linux version 6.1.0\n" + ("bootlab: mark snapshot\n" if verb == "snapshot" else "")
    tell(made, monkeypatch, console=console, silent=[made.faked.keeps, str(made.folder / "asked")])
    words = [sys.executable, "-m", "bootlab", verb, str(made.system()), "--runs", str(made.folder / "runs")]
    environment = {**os.environ, "TMPDIR": str(made.folder / "sockets"), "PYTHONPATH": str(ROOT)}
    booting = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while not any(one.isdigit() for one in made.left()):
            assert booting.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        while verb == "snapshot" and not (made.folder / "asked").exists():
            assert booting.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.3)
        booting.send_signal(number)
        code = booting.wait(30)
    finally:
        booting.kill()
        booting.communicate()
    assert code == (130 if number is signal.SIGINT else -9)
    assert number is signal.SIGKILL or not list((made.folder / "runs").glob("*/.unfinished-*"))
    until = time.monotonic() + 20
    while left := [one for one in made.left() if one.isdigit() or number is signal.SIGINT]:
        assert time.monotonic() < until, left
        time.sleep(0.02)


def test_a_storm_of_them_is_complete(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["storm", str(made.system()), "-n", "8", "--runs", str(made.folder / "runs"), "--json"]
    assert run(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ready"] == 8 and all(one["launch_ns"] > 0 for one in found["machines"])
    assert not made.left()
    with pytest.raises(InputError, match="target.socket: each machine needs one of its own"):
        run(["storm", str(made.system('socket = "/tmp/api"')), "-n", "2", "--runs", str(made.folder / "runs")])
