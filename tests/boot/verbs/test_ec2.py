"""Instances of EC2, as moto's server plays it: a boot, a bench, refusals, and no instance that outlives its boot.

The address of an instance is this host's own, so what answers is a port of this test.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import BootlabError, InputError
from tests.moto_cloud import IMAGE, MotoCloud

pytestmark = [pytest.mark.boot]

ENDS_IN_S = 60


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[MotoCloud]:
    with MotoCloud() as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        yield made


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


def write_system(folder: Path, port: int, more: str = "", deadline_s: int = 20) -> Path:
    path = folder / "rented.toml"
    path.write_text(
        '[target]\nkind = "ec2"\naddress = "private"\nusd_per_hour = 0.01\nping = false\n'
        f'ports = [{port}]\n{more}\n[target.launch]\nImageId = "{IMAGE}"\nInstanceType = "t3.micro"\n'
        f'PrivateIpAddress = "127.0.0.1"\n[booted]\nmark = "port_{port}_open"\ndeadline_s = {deadline_s}\n'
    )
    return path


def wait_until_gone(cloud: MotoCloud, within_s: float = ENDS_IN_S) -> None:
    until = time.monotonic() + within_s
    while cloud.alive() and time.monotonic() < until:
        time.sleep(0.2)
    assert cloud.alive() == []


@pytest.mark.promise("bootlab ec2 bench")
def test_a_bench_has_the_form_that_is_imported_and_leaves_nothing(
    cloud: MotoCloud, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system, runs = write_system(tmp_path, port), ["--runs", str(tmp_path / "runs")]
    assert run(["ec2", "bench", str(system), "-n", "2", "--dry-run", *runs]) == 0
    told = capsys.readouterr()
    assert "at most 0.0150 USD" in told.err and "Nothing was launched" in told.out
    assert cloud.alive() == [] and set(cloud.calls) == {"RunInstances"}
    assert run(["ec2", "bench", str(system), "-n", "2", *runs]) == 0
    said = capsys.readouterr().out
    assert said.count("RunInstances API call took: ") == said.count("Moving from port closed to port open took: ") == 2
    assert cloud.alive() == []
    (tmp_path / "bench.txt").write_text(said)
    assert run(["import", str(tmp_path / "bench.txt"), *runs]) == 0
    assert "ec2-boot-bench" in capsys.readouterr().out
    # Nothing that a credential is, in anything that was kept.
    kept = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file())
    assert b"AKID" not in kept and b"secret-of-the-test" not in kept
    record = json.loads(next((tmp_path / "runs").rglob("001-s1/record.json")).read_text())
    assert list(record["marks"])[:3] == ["power_on", "launched", "running"]
    assert (record["clock"], record["accelerator"]) == ("outside", "ec2")
    assert "Linux version" in next((tmp_path / "runs").rglob("001-s1/instance-console.log")).read_text()
    assert "kernel_banner" not in record["marks"]


def test_a_later_boot_is_of_an_instance_that_was_stopped(
    cloud: MotoCloud, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = write_system(tmp_path, port, 'boot = "later"')
    assert run(["boot", str(system), "--json", "--runs", str(tmp_path / "runs")]) == 0
    order = [call for call in cloud.calls if call != "DescribeInstances"]
    assert order == ["RunInstances", "StopInstances", "StartInstances", "GetConsoleOutput", "TerminateInstances"]
    assert cloud.alive() == []


@pytest.mark.parametrize(
    ("action", "codes", "words"),
    [
        ("RunInstances", ["UnauthorizedOperation"], "docs/outside.md|UnauthorizedOperation"),
        ("RunInstances", ["InsufficientInstanceCapacity"] * 20, "InsufficientInstanceCapacity"),
        ("RunInstances", ["AuthFailure"], "AuthFailure"),
        ("RunInstances", ["InvalidAMIID.NotFound"], "InvalidAMIID.NotFound"),
    ],
)
def test_an_order_that_is_refused_is_a_boot_not_started(
    cloud: MotoCloud,
    port: int,
    action: str,
    codes: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cloud.refuse[action] = codes
    assert run(["boot", str(write_system(tmp_path, port)), "--json", "--runs", str(tmp_path / "runs")]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["outcome"] == "not started"
    assert words.split("|")[-1] in record["detail"] and "RunInstances" in record["detail"]
    assert cloud.alive() == []


def test_throttling_is_waited_out(
    cloud: MotoCloud, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.refuse = {"RunInstances": ["RequestLimitExceeded"] * 2, "TerminateInstances": ["RequestLimitExceeded"] * 2}
    assert run(["boot", str(write_system(tmp_path, port)), "--json", "--runs", str(tmp_path / "runs")]) == 0
    assert cloud.calls.count("RunInstances") == 3
    assert cloud.alive() == []


def test_an_instance_that_vanishes_is_said(
    cloud: MotoCloud, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def vanish(action: str) -> None:
        if action == "DescribeInstances" and cloud.calls.count("RunInstances"):
            cloud.after = lambda action: None
            from bootlab.clouds.ec2 import terminate
            from bootlab.clouds.ec2_client import open_client

            terminate(open_client("ec2", None, None), cloud.alive())

    cloud.after = vanish
    # Nobody answers: port 1 of this host is closed.
    system = write_system(tmp_path, 1, deadline_s=40)
    assert run(["boot", str(system), "--json", "--runs", str(tmp_path / "runs")]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["outcome"] == "target died" and "terminated" in record["detail"]


def test_what_costs_more_than_allowed_or_has_no_credentials_is_refused(
    cloud: MotoCloud, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear = write_system(tmp_path, port, "most_usd = 0.001")
    for verb in (["boot"], ["ec2", "bench"]):
        with pytest.raises(InputError, match="most_usd"):
            run([*verb, str(dear), "--runs", str(tmp_path / "runs")])
    assert cloud.calls == []
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(BootlabError, match="no credentials"):
        run(["ec2", "reap"])


STEPS = [
    ("RunInstances", "before"),
    ("RunInstances", "after"),
    ("DescribeInstances", "before"),
    ("asking", ""),
    ("GetConsoleOutput", "before"),
    ("TerminateInstances", "before"),
]


def killed(cloud: MotoCloud, system: Path, step: tuple[str, str], *, guardian: bool) -> int | None:
    """Boot in a process of its own that is killed at this step, with its guardian or without; returns that one's pid.

    The call that it was in goes on to the cloud: nobody can take it back.
    """
    action, when = step
    words = [sys.executable, "-m", "bootlab", "boot", str(system), "--runs", str(system.parent / "runs")]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[3])
    guardians: list[int] = []
    done = threading.Event()

    def kill() -> None:
        children = Path(f"/proc/{child.pid}/task").glob("*/children")
        guardians.extend(int(word) for one in children for word in one.read_text().split())
        child.kill()
        child.wait()
        if guardian:
            for pid in guardians:
                os.kill(pid, signal.SIGKILL)
        done.set()

    def strike(called: str) -> None:
        # What is ended at the start of a boot is not this boot's.
        begun = "RunInstances" in cloud.calls
        if called == action and begun and not done.is_set():
            kill()

    if when:
        setattr(cloud, when, strike)
    else:
        assert child.stdout is not None
        for line in child.stdout:
            if b"fact asked" in line:
                kill()
                break
    assert done.wait(90), cloud.calls
    assert child.stdout is not None
    child.stdout.close()
    cloud.before = cloud.after = lambda action: None
    return guardians[0] if guardians else None


@pytest.mark.promise("bootlab ec2 reap")
@pytest.mark.parametrize("step", STEPS, ids=["-".join(step).strip("-") for step in STEPS])
def test_killed_with_its_guardian_its_instance_is_found_by_reap(
    cloud: MotoCloud, step: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = 1 if step[0] == "asking" else _open_port()
    killed(cloud, write_system(tmp_path, port, deadline_s=60), step, guardian=True)
    time.sleep(0.5)
    # Its time is not over yet: nobody else's boot is ended by chance.
    before = cloud.alive()
    assert run(["ec2", "reap"]) == 0
    assert cloud.alive() == before
    capsys.readouterr()
    assert run(["ec2", "reap", "--all", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["instances"]
    assert [one["instance"] for one in found if one["terminated"]] == before
    assert cloud.alive() == []


@pytest.mark.parametrize("step", STEPS, ids=["-".join(step).strip("-") for step in STEPS])
def test_killed_alone_its_guardian_ends_its_instance(cloud: MotoCloud, step: tuple[str, str], tmp_path: Path) -> None:
    port = 1 if step[0] == "asking" else _open_port()
    pid = killed(cloud, write_system(tmp_path, port, deadline_s=60), step, guardian=False)
    assert pid is not None
    try:
        time.sleep(0.5)
        wait_until_gone(cloud)
    finally:
        # It would go on looking for a while, for what a cloud learns late.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _open_port() -> int:
    listening = socket.create_server(("127.0.0.1", 0))
    _KEPT.append(listening)
    return int(listening.getsockname()[1])


_KEPT: list[socket.socket] = []
