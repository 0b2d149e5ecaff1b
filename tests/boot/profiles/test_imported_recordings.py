"""What a real kernel says of its boot, imported, against bootlab's own exact trace of the very same boot.

One boot tells of its initcalls three times: the plugin counts them, `initcall_debug` prints them, ftrace records them.
The two recordings are read by `bootlab import`, alone and laid over each other.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.boot.conftest import EXAMPLES, ROOT, ProfileBoot, WriteSystem

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tracefs tracefs /sys/kernel/tracing
echo 0 >/sys/kernel/tracing/tracing_on
echo the log follows
dmesg -r
echo the trace follows
cat /sys/kernel/tracing/trace
echo the trace ends
bootlab-mark ready
exec sleep 1000000000
"""
TRACED = "initcall_debug log_buf_len=4M trace_clock=global trace_buf_size=1M trace_event=initcall:*"
PRINTING_NS = 40_000
"""What do_one_initcall() may spend on saying that a call begins and ends: two lines and two events."""
STEP_NS = 1_000
"""Both recordings have stamps in microseconds."""
TICK_NS = 4_000_000


@dataclass(frozen=True)
class Told:
    """The exact initcalls by name, marks in ns, and what the imports made of the two recordings."""

    initcalls: dict[str, dict[str, Any]]
    marks: dict[str, int]
    log: dict[str, Any]
    trace: dict[str, Any]
    both: dict[str, Any]


def imported(runs: Path, *files: Path) -> dict[str, Any]:
    argv = [sys.executable, "-m", "bootlab", "import", *map(str, files), "--json", "--runs", str(runs)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["imported"]
    assert isinstance(one, dict)
    return one


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, write_system: WriteSystem, profile_boot: ProfileBoot) -> Told:
    folder = tmp_path_factory.mktemp("imported")
    init = folder / "init"
    init.write_text(INIT)
    init.chmod(0o755)
    changes = (
        ("panic=-1", f"panic=-1 cryptomgr.notests {TRACED}"),
        (f'init = "{EXAMPLES}/cloud/init"', f'init = "{init}"'),
    )
    profiled = profile_boot(write_system("debian-cloud", "imported", *changes))
    console = (profiled.directory / "console.log").read_text(errors="replace")
    _, _, rest = console.partition("the log follows")
    log, _, rest = rest.partition("the trace follows")
    trace, _, end = rest.partition("the trace ends")
    assert end
    for name, text in (("dmesg.log", log), ("trace.txt", trace)):
        (folder / name).write_text(text.strip() + "\n")
    rows = profiled.document["initcalls"]["initcalls"]
    often = {row["name"] for number, row in enumerate(rows) if any(row["name"] == one["name"] for one in rows[:number])}
    return Told(
        {row["name"]: row for row in rows if row["name"] not in often},
        {name: stamp.t_ns for name, stamp in profiled.trace.marks.items()},
        imported(folder / "runs", folder / "dmesg.log"),
        imported(folder / "runs", folder / "trace.txt"),
        imported(folder / "runs", folder / "dmesg.log", folder / "trace.txt"),
    )


def initcalls(one: dict[str, Any]) -> list[dict[str, Any]]:
    spans = one["recording"]["timeline"]["spans"]
    return [span for span in spans if span["source"] == "initcall"]


def exactly(told: Told, one: dict[str, Any], *, steady: bool) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return (exact, imported) of each initcall; with `steady` from where on the kernel no longer counts in ticks."""
    first = min(span["start_ns"] for span in initcalls(told.log) if "in jiffies" not in span["about"])
    return [
        (told.initcalls[span["name"]], span) for span in initcalls(one)
        if span["name"] in told.initcalls and (span["start_ns"] >= first or not steady)
    ]  # fmt: skip


@pytest.mark.parametrize("which", ["log", "trace"])
def test_lengths_are_those_that_were_counted(told: Told, which: str) -> None:
    one: dict[str, Any] = getattr(told, which)
    every, steady = exactly(told, one, steady=False), exactly(told, one, steady=True)
    assert len(every) > 400 and len(steady) > 150
    far = {
        span["name"]: took
        for exact, span in every
        if not -STEP_NS <= (took := exact["duration_ns"] - span["end_ns"] + span["start_ns"]) <= PRINTING_NS
    }
    print(which, len(every), len(steady), far)
    # Before the TSC is the clock, both clocks are held to the tick, and jump by parts of one now and then.
    assert len(far) <= 10 and all(abs(took) < TICK_NS for took in far.values())


@pytest.mark.parametrize("which", ["log", "trace"])
def test_moments_are_those_that_were_counted(told: Told, which: str) -> None:
    one: dict[str, Any] = getattr(told, which)
    pairs = exactly(told, one, steady=True)
    offsets = sorted(exact["start_ns"] - span["start_ns"] for exact, span in pairs)
    middle = offsets[len(offsets) // 2]
    near = sum(abs(offset - middle) <= PRINTING_NS for offset in offsets)
    print(which, len(pairs), offsets[0] - middle, offsets[-1] - middle, near)
    assert near > 0.8 * len(pairs)
    if which == "log":
        end_ns = next(phase["end_ns"] for phase in one["recording"]["phases"] if phase["name"] == "kernel, to init")
        assert abs(told.marks["init_exec"] - end_ns - middle) <= PRINTING_NS


def test_laid_over_each_other_they_are_one_boot(told: Told) -> None:
    log, trace = told.both["placements"]
    assert (log["name"], trace["name"], trace["onto"]) == ("dmesg.log", "trace.txt", "dmesg.log")
    # Both clocks are sched_clock(): what is stated has to hold the true offset, which is none. The event is recorded
    # when its line has been said, 13 us later in every one of the pairs.
    print(trace)
    assert trace["pairs"] > 150 and abs(trace["offset_ns"]) <= trace["uncertainty_ns"] < 5_000_000
    # What both tell is there once.
    assert [span["name"] for span in initcalls(told.both)] == [span["name"] for span in initcalls(told.log)]
