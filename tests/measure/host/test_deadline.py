"""A deadline that a busy host does not shorten, and what the host says of being busy."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.measure.host.deadline import deadline
from bootlab.targets.machine_process import MachineProcess


def _waits(seconds: float, withheld_share: float) -> float:
    began = time.monotonic()

    async def run() -> None:
        async with deadline(seconds, lambda: withheld_share * (time.monotonic() - began)):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    return time.monotonic() - began


def test_time_that_was_withheld_does_not_count() -> None:
    assert 0.5 <= _waits(0.5, 0.0) < 5
    assert _waits(0.5, 0.75) >= 1.7


def test_what_is_done_in_time_ends_it() -> None:
    async def run() -> str:
        async with deadline(30, lambda: 0.0):
            await asyncio.sleep(0.01)
        return "done"

    assert asyncio.run(run()) == "done"


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs a kernel with CONFIG_SCHED_INFO")
def test_a_machine_that_shares_its_cpu_is_withheld_time(tmp_path: Path) -> None:
    spin = [sys.executable, "-c", "while True: pass"]
    cpu = {min(os.sched_getaffinity(0))}
    children = [subprocess.Popen(spin) for _ in range(3)]
    try:
        for child in children:
            os.sched_setaffinity(child.pid, cpu)

        async def watch() -> float:
            machine = MachineProcess(spin, stderr=tmp_path / "stderr")
            await machine.start()
            try:
                os.sched_setaffinity(machine.pid, cpu)
                before = machine.withheld_s()
                await asyncio.sleep(2)
                return machine.withheld_s() - before
            finally:
                await machine.end()

        assert 0.5 < asyncio.run(watch()) <= 2.5
    finally:
        for child in children:
            child.kill()
            child.wait()
