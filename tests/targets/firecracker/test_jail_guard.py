"""The guard of jails: what it is told of it ends and clears away once nobody tells any more, and nothing else."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.targets.firecracker import jail_guard
from bootlab.targets.firecracker.jail_guard import JailGuard, began_at, clear, guard


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = tmp_path / "firecracker" / "jail-1"
    (found / "root").mkdir(parents=True)
    (found / "root" / "disk0").write_text("x")
    return found


@pytest.fixture
def sleeper(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "--id", home.name])
    yield process
    process.kill()
    process.wait()


def told(home: Path, **more: object) -> str:
    return json.dumps({"home": str(home), "cgroups": [], "around": [], "pid": None, "began": None, **more})


def test_what_it_still_knows_of_is_ended(home: Path, sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    around = tmp_path / "around"
    (around / "cgroup").mkdir(parents=True)
    cgroups = [str(around / "cgroup"), str(tmp_path / "none")]
    began = began_at(sleeper.pid)
    cut = told(home)[:-9]
    guard(iter([told(home), told(home, pid=sleeper.pid, began=began, cgroups=cgroups, around=[str(around)]), cut]))
    assert sleeper.wait(10) == -9
    assert not home.parent.exists() and not around.exists()


def test_what_is_gone_is_nobodys_and_another_process_of_that_number_lives(
    home: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    began = began_at(sleeper.pid)
    assert began is not None
    guard(iter([told(home, pid=sleeper.pid, began=began), json.dumps({"home": str(home), "gone": True})]))
    assert home.exists() and sleeper.poll() is None
    other = home.parent / "jail-2"
    other.mkdir()
    guard(iter([told(other, pid=sleeper.pid, began=began - 1)]))
    assert not other.exists() and sleeper.poll() is None and home.exists()
    sleeper.kill()
    # It waits to be asked how it ended.
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert began_at(sleeper.pid) is None
    sleeper.wait()
    assert began_at(sleeper.pid) is None


def test_who_writes_over_his_own_command_line_is_ended_all_the_same(home: Path) -> None:
    mine = JailGuard()
    with subprocess.Popen(["sleep", "60"]) as hidden:
        mine.tell(home, [], [], hidden.pid)
        assert mine._process is not None and mine._process.stdin is not None
        mine._process.stdin.close()
        assert mine._process.wait(20) == 0 and hidden.wait(10) == -9 and not home.exists()


def test_it_outlives_who_started_it_and_is_told_by_the_end_of_a_pipe(home: Path) -> None:
    mine = JailGuard()
    assert mine.pid is None
    mine.tell(home, [])
    first = mine.pid
    mine.tell(home, [], [], None)
    assert mine.pid == first
    assert mine._process is not None and mine._process.stdin is not None
    mine._process.stdin.close()
    assert mine._process.wait(20) == 0 and not home.exists()
    # One that has died is followed by another.
    mine.tell(home, [])
    assert mine.pid != first
    mine.forget(home)
    mine._process.stdin.close()
    assert mine._process.wait(20) == 0


def test_what_cannot_be_removed_is_named(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail_guard, "_GONE_S", 0.1)
    busy = tmp_path / "cgroup"
    (busy / "inner").mkdir(parents=True)
    began = time.monotonic()
    (why,) = clear(home, [busy])
    assert why == f"{busy}: Directory not empty" and time.monotonic() - began > 0.1
    assert not home.exists()
