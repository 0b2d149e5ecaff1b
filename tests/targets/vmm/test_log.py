"""A VMM's log through a pipe: steps are at the rows' own stamps on the monotonic clock, and nothing grows for ever."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from bootlab.targets.firecracker.log import FirecrackerLog
from tests.targets.firecracker.test_log import stamp
from tests.targets.vmm.log_rows import read_rows


def made(path: Path) -> FirecrackerLog:
    return FirecrackerLog(path, lambda t_ns: None)


def test_a_step_is_at_its_own_stamp(tmp_path: Path) -> None:
    early_ns = 50_000_000
    day_ns, now_ns = time.time_ns() - early_ns, time.monotonic_ns() - early_ns
    row = f"{stamp(day_ns)} [bootlab:main:DEBUG] event_start: boot microvm"
    log = read_rows(tmp_path, made, row[:40], row[40:] + "\n")
    found = log.step_ns("event_start: boot microvm")
    assert found is not None and abs(found - now_ns) < 20_000_000
    assert log.step_ns("event_end: boot microvm") is None


def test_a_clock_that_was_set_is_not_believed(tmp_path: Path) -> None:
    before_ns = time.monotonic_ns()
    row = "2001-01-01T00:00:00.000000000 [bootlab:main:DEBUG] event_start: boot microvm\n"
    log = read_rows(tmp_path, made, row)
    assert before_ns < (log.step_ns("event_start: boot microvm") or 0) < time.monotonic_ns()


def test_a_log_that_never_ends_is_cut_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bootlab.targets.vmm.log._MOST_BYTES", 1000)
    log = read_rows(tmp_path, made, "x" * 5000 + "\n")
    assert len(log.text) == 1000 and log.dropped == 4001
    assert not os.path.exists(f"/proc/self/fd/{log._fd}")


class CountedPipe(FirecrackerLog):
    """Counts how often there was something to read."""

    reads = 0

    def read(self) -> None:
        self.reads += 1
        super().read()


def test_a_firecracker_that_has_ended_keeps_nobody_busy(tmp_path: Path) -> None:
    async def follow() -> int:
        log = CountedPipe(tmp_path / "log", lambda t_ns: None)
        with open(tmp_path / "log", "wb", buffering=0) as file:
            file.write(b"its last row\n")
        await asyncio.sleep(0.1)
        reads = log.reads
        log.close()
        assert bytes(log.text) == b"its last row\n"
        return reads

    # In a storm a machine that ended early stands there until the last one is up.
    assert asyncio.run(follow()) <= 2


def test_a_row_without_an_end_takes_no_more_memory_than_is_kept_and_says_no_more_than_is_read(tmp_path: Path) -> None:
    long = "x" * 60_000
    log = read_rows(tmp_path, made, "2026-01-01T00:00:00.0 [bootlab:main:ERROR] ", *[long] * 20, "the end\n", "more")
    assert len(log._rest) == len("more") and len(log.text) > 1_200_000 and log.dropped == 0
    assert len(log.last_errors) < 1100 and log.last_errors.endswith("the end")
