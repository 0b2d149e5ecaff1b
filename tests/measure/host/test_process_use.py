"""What a process has used: of one that works, of one that is held up, and of none."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from bootlab.measure.host import process_use
from bootlab.measure.host.process_use import (
    held_up_in,
    read_available_kib,
    read_pressure_us,
    read_pss_kib,
    read_use,
)

NOBODY = 1 << 30


def test_a_process_that_works_is_seen_to() -> None:
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as child:
        try:
            until = time.monotonic() + 30
            while (use := read_use(child.pid)).ran_ns < 20_000_000:
                assert time.monotonic() < until
                time.sleep(0.01)
            assert use.minor_faults > 0
            assert 0 < (read_pss_kib(child.pid) or 0) < 100_000
        finally:
            child.kill()


def test_of_a_process_that_is_gone_nothing_is_told() -> None:
    assert read_use(NOBODY) == process_use.ProcessUse(0, 0, 0, 0)
    assert (read_pss_kib(NOBODY), held_up_in(NOBODY)) == (None, [])


def test_a_thread_that_is_held_up_is_named_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tmp_path / "7" / "task" / "8"
    task.mkdir(parents=True)
    (task / "stat").write_text("8 (a) R (b) D 1 2 3")
    (task / "wchan").write_text("rtnl_lock")
    other = tmp_path / "7" / "task" / "9"
    other.mkdir()
    (other / "stat").write_text("9 (D) S 1 2 3")
    monkeypatch.setattr(process_use, "_PROC", tmp_path)
    assert held_up_in(7) == ["rtnl_lock"]
    (task / "wchan").write_text("0")
    assert held_up_in(7) == ["?"]


def test_this_host_tells_of_its_memory_and_pressure() -> None:
    assert 0 < read_available_kib() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 10
    assert all(value >= 0 for value in read_pressure_us().values())
