"""A launch storm of real machines under emulation: complete, bounded, interrupted, and nothing of it left running."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.cli.app import run

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = """#!/bin/busybox sh
/sbin/bootlab-mark ready
exec /bin/busybox sleep 1000
"""
# Nothing of the kernel's own measuring of time: many machines on two CPUs have none to measure by.
SYSTEM = """
name = "storm"
[machine]
type = "microvm"
memory_mib = 96
options = { acpi = "off" }
[clock]
kind = "wall"
accelerator = "tcg"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
entry = "pvh"
cmdline = "console=ttyS0 panic=-1 cryptomgr.notests tsc_early_khz=2000000 quiet"
[initramfs]
init = "init"
compression = "none"
[booted]
mark = "ready"
deadline_s = 120
"""


@pytest.fixture
def system(tmp_path: Path) -> Path:
    (tmp_path / "init").write_text(INIT)
    path = tmp_path / "storm.toml"
    path.write_text(SYSTEM)
    return path


def machines_in(folder: Path) -> Iterator[int]:
    """Yield the processes whose command line names something in `folder`."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if b"qemu-system" in words and os.fsencode(folder) in words:
            yield int(path.parent.name)


@pytest.mark.promise("bootlab storm")
def test_a_storm_is_complete_and_leaves_nothing(
    system: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets = system.parent / "sockets"
    sockets.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(sockets))
    runs = system.parent / "runs"
    assert run(["storm", str(system), "-n", "4", "--rate", "2", "--runs", str(runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ready"], found["number"], found["accelerator"]) == (4, 4, "tcg")
    assert [one["due_ns"] for one in found["machines"]] == [0, 500_000_000, 1_000_000_000, 1_500_000_000]
    assert 0 < found["p50_ns"] <= found["p99_ns"] == max(one["took_ns"] for one in found["machines"])
    assert found["last_ns"] >= found["p99_ns"]
    for one in found["machines"]:
        assert 0 < one["launch_ns"] < one["took_ns"] and one["pss_kib"] > 10_000 and one["minor_faults"] > 1000
    assert found["on_cpu_ns"] > 0 and found["host_memory_kib"] > 0
    assert not list(machines_in(sockets)) and not list(sockets.iterdir())
    assert run(["report", found["run"], "--runs", str(runs)]) == 0
    assert "4 machines at 2 a second" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_storm_that_is_ended_leaves_no_machine(number: signal.Signals, system: Path) -> None:
    sockets = system.parent / "sockets"
    sockets.mkdir()
    words = [sys.executable, "-m", "bootlab", "storm", str(system), "-n", "6", "--runs", str(system.parent / "runs")]
    storm = subprocess.Popen(words, env={**os.environ, "TMPDIR": str(sockets)}, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 300
        while len(list(machines_in(sockets))) < 6:
            assert storm.poll() is None and time.monotonic() < until
            time.sleep(0.05)
        storm.send_signal(number)
        code = storm.wait(60)
    finally:
        storm.kill()
        storm.communicate()
    assert code == (130 if number is signal.SIGINT else -9)
    until = time.monotonic() + 30
    while left := list(machines_in(sockets)):
        assert time.monotonic() < until, left
        time.sleep(0.05)
