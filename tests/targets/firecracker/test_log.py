"""Its log through a pipe: steps and the guest's signal are at the rows' own stamps, on the monotonic clock."""

import asyncio
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from bootlab.targets.firecracker.log import LogPipe


def stamp(ns: int) -> str:
    """Return a time of day, in ns since 1970, as Firecracker writes it."""
    return f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09}"


def read_rows(folder: Path, *rows: str) -> tuple[LogPipe, list[int]]:
    """Write rows into the pipe and let them be read."""
    signalled: list[int] = []

    async def follow() -> LogPipe:
        log = LogPipe(folder / "log", signalled.append)
        with open(folder / "log", "wb", buffering=0) as file:
            for row in rows:
                file.write(row.encode())
                await asyncio.sleep(0.01)
        log.close()
        log.close()
        return log

    return asyncio.run(follow()), signalled


def test_a_step_is_at_its_own_stamp(tmp_path: Path) -> None:
    early_ns = 50_000_000
    day_ns, now_ns = time.time_ns() - early_ns, time.monotonic_ns() - early_ns
    row = f"{stamp(day_ns)} [bootlab:main:DEBUG] event_start: boot microvm"
    log, _ = read_rows(tmp_path, row[:40], row[40:] + "\n")
    found = log.step_ns("event_start: boot microvm")
    assert found is not None and abs(found - now_ns) < 20_000_000
    assert log.step_ns("event_end: boot microvm") is None


def test_a_clock_that_was_set_is_not_believed(tmp_path: Path) -> None:
    before_ns = time.monotonic_ns()
    row = "2001-01-01T00:00:00.000000000 [bootlab:main:DEBUG] event_start: boot microvm\n"
    log, _ = read_rows(tmp_path, row)
    assert before_ns < (log.step_ns("event_start: boot microvm") or 0) < time.monotonic_ns()


def test_the_first_signal_of_the_guest_counts_and_errors_are_kept(tmp_path: Path) -> None:
    at = stamp(time.time_ns())
    log, signalled = read_rows(
        tmp_path,
        f"{at} [bootlab:fc_vcpu 0:INFO] Guest-boot-time =  41234 us 41 ms,  39000 CPU us 39 CPU ms\n",
        f"{at} [bootlab:fc_vcpu 0:INFO] Guest-boot-time =  99999 us 99 ms,  99999 CPU us 99 CPU ms\n",
        f"{at} [bootlab:main:ERROR] no way\n",
        "\x1b[2J\xff not a row\n",
    )
    assert len(signalled) == 1 and (log.guest_boot_ns, log.guest_boot_cpu_ns) == (41_234_000, 39_000_000)
    assert log.last_errors == "no way" and b"not a row" in log.text


def test_a_log_that_never_ends_is_cut_and_counted(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("bootlab.targets.firecracker.log._MOST_BYTES", 1000)
    log, _ = read_rows(tmp_path, "x" * 5000 + "\n")
    assert len(log.text) == 1000 and log.dropped == 4001
    assert not os.path.exists(f"/proc/self/fd/{log._fd}")


class CountedPipe(LogPipe):
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
    log, _ = read_rows(tmp_path, "2026-01-01T00:00:00.0 [bootlab:main:ERROR] ", *[long] * 20, "the end\n", "more")
    assert len(log._rest) == len("more") and len(log.text) > 1_200_000 and log.dropped == 0
    assert len(log.last_errors) < 1100 and log.last_errors.endswith("the end")
