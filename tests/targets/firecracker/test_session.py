"""Boots by a program that answers as a real Firecracker was recorded to: how they begin, and every way they can end."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.errors import InputError, MissingTool
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from bootlab.targets.firecracker import session
from bootlab.targets.machine_process import MachineProcess
from tests.build.kernel.test_image import elf
from tests.targets.firecracker.fake import RECORDING

ROOT = Path(__file__).parents[3]
CONSOLE = "Linux version 6.1.0\\nRun /init as init process\\nbootlab: mark ready\\n".replace("\\n", "\n")
VERSION = json.loads(RECORDING.read_text())["version"].split()[1].removeprefix("v") if RECORDING.exists() else ""
SYSTEM = """
[target]
kind = "firecracker"
binary = "{binary}"
probe = false
{target}
[kernel]
image = "vmlinux"
cmdline = "console=ttyS0"
{more}
[booted]
{booted}
deadline_s = {deadline_s}
"""


class Made:
    """A folder with a system that the recorded answers boot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.binary = folder / "firecracker"
        program = shlex.join([sys.executable, "-m", "tests.targets.firecracker.fake"])
        self.binary.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {program} "$@"\n')
        self.binary.chmod(0o755)
        (folder / "vmlinux").write_bytes(elf())
        (folder / "sockets").mkdir()
        self.deadline_s: float = 30

    def system(
        self, target: str = "", more: str = "", booted: str = 'mark = "ready"', deadline_s: float | None = None
    ) -> Path:
        path = self.folder / "system.toml"
        path.write_text(
            SYSTEM.format(
                binary=self.binary, target=target, more=more, booted=booted, deadline_s=deadline_s or self.deadline_s
            )
        )
        return path

    def boot(self, *words: str, **more: object) -> BootRecord:
        directory = self.folder / f"boot-{len(list(self.folder.glob('boot-*')))}"
        directory.mkdir()
        prepared = prepare(Workshop(Cache(self.folder / "cache")), read_system(self.system(*words, **more)))  # type: ignore[arg-type]
        return boot(prepared, directory)

    def left(self) -> list[str]:
        """Return what is left of boots: processes of the fake, and private folders."""
        found = [str(path) for path in (self.folder / "sockets").iterdir()]
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes()
            except OSError:
                continue
            if b"tests.targets.firecracker.fake" in words and os.fsencode(self.folder / "sockets") in words:
                found.append(path.parent.name)
        return found


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


def test_a_refused_request_is_told_in_its_words(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(monkeypatch, refuses={"/boot-source": 0})
    record = made.boot()
    assert record.outcome is Outcome.NOT_STARTED
    assert "PUT /boot-source: refused (400): " in record.detail and "/nowhere" not in VERSION
    assert not made.left()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"garbage": "/machine-config"}, "answered 200 and <html>, which is no answer"),
        ({"dies": "/machine-config"}, "PUT /machine-config: no answer"),
        ({"dies": "/actions"}, "PUT /actions: no answer"),
    ],
)
def test_an_answer_that_is_none_is_a_boot_not_started(
    made: Made, monkeypatch: pytest.MonkeyPatch, asked: dict[str, str], words: str
) -> None:
    tell(monkeypatch, **asked)
    record = made.boot()
    assert record.outcome is Outcome.NOT_STARTED and words in record.detail
    assert not made.left()


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


def test_one_that_is_killed_in_mid_boot_is_a_target_that_died(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(monkeypatch, console="Linux version 6.1.0\n")

    def kill() -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            for pid in [one for one in made.left() if one.isdigit()]:
                time.sleep(0.5)
                os.kill(int(pid), signal.SIGKILL)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    record = made.boot()
    thread.join()
    # On a busy host it is gone before its API answers.
    early = "no answer" in record.detail or "did not start" in record.detail
    assert record.outcome is (Outcome.NOT_STARTED if early else Outcome.TARGET_DIED)
    assert "SIGKILL" in record.detail or "no answer" in record.detail
    assert not made.left()


def test_one_that_hangs_is_ended_at_its_deadline(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(monkeypatch, console="Linux version 6.1.0\n")
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
    with pytest.raises(MissingTool, match="no Firecracker"):
        made.boot()
    made.binary.unlink()
    (made.folder / "gone").rename(made.binary)
    with pytest.raises(InputError, match=r"target\.tap: no-such-tap: no such network device"):
        made.boot('tap = "no-such-tap"', "[network]")
    (made.folder / "vmlinux").write_bytes(b"MZ")
    with pytest.raises(InputError, match="not a Linux kernel"):
        made.boot()


def test_metadata_that_is_no_object_is_refused(made: Made) -> None:
    for text, words in (("[1]", "no JSON object"), ("{", "no JSON"), ('{"a": "' + "x" * 60_000 + '"}', "more than")):
        (made.folder / "metadata.json").write_text(text)
        with pytest.raises(InputError, match=words):
            made.boot('mmds = "metadata.json"\ntap = "lo"', "[network]")


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_where_bootlab_is_ended(
    made: Made, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    tell(monkeypatch, console="Linux version 6.1.0\n")
    words = [sys.executable, "-m", "bootlab", "boot", str(made.system()), "--runs", str(made.folder / "runs")]
    environment = {**os.environ, "TMPDIR": str(made.folder / "sockets"), "PYTHONPATH": str(ROOT)}
    booting = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while not any(one.isdigit() for one in made.left()):
            assert booting.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.3)
        booting.send_signal(number)
        code = booting.wait(30)
    finally:
        booting.kill()
        booting.communicate()
    assert code == (130 if number is signal.SIGINT else -9)
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
