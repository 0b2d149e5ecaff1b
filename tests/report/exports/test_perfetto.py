"""A profile as a trace for Perfetto: threads, their slices, waits and who ended them."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.initcalls import find_initcalls
from bootlab.report.exports.perfetto import write_perfetto
from tests.report.exports.boots import a_boot, random_profile


def trace_of(profile: Profile, path: Path, **options: Any) -> list[dict[str, Any]]:
    write_perfetto(profile, path, **options)
    events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return events


@pytest.mark.parametrize("seed", range(4))
def test_arrows_go_from_a_running_cpu_to_the_wait_that_ended(seed: int, tmp_path: Path) -> None:
    profile = random_profile(seed)
    events = trace_of(profile, tmp_path / "trace.json", marks={})
    bars = [one for one in events if one["ph"] == "X"]

    def inside(arrow: dict[str, Any]) -> set[str]:
        place = (arrow["pid"], arrow["tid"])
        around = [one for one in bars if (one["pid"], one["tid"]) == place]
        return {one["name"] for one in around if one["ts"] <= arrow["ts"] < one["ts"] + one["dur"]}

    starts = {one["id"]: one for one in events if one["ph"] == "s"}
    ends = {one["id"]: one for one in events if one["ph"] == "f"}
    assert starts.keys() == ends.keys() and starts
    for number, start in starts.items():
        assert inside(start), "what the CPU ran"
        assert "[wait]" in inside(ends[number])
        assert start["ts"] == ends[number]["ts"]


def test_trace(tmp_path: Path) -> None:
    profile = a_boot()
    events = trace_of(
        profile,
        tmp_path / "trace.json",
        marks={"start_kernel": 1000, "ready": 57_501},
        initcalls=find_initcalls(profile, {0xFF: "virtio_init"}, {}),
        kernel_threads={2},
    )
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    found = [
        (processes[e["pid"]], threads[e["pid"], e["tid"]], e["name"], e["ts"], e.get("dur"))
        for e in events
        if e["ph"] not in "Msf"
    ]
    assert found == [
        ("phases and marks", "phases", "start_kernel", 1.0, None),
        ("phases and marks", "phases", "ready", 57.501, None),
        ("phases and marks", "phases", "to end", 0.0, 58.201),
        ("init-1", "init-1", "[runnable]", 0.0, 1.5),
        ("init-1", "init-1", "do_one_initcall", 1.5, 56.001),
        ("init-1", "init-1", "msleep", 1.5, 56.001),
        ("init-1", "init-1", "[wait]", 26.5, 30.001),
        ("init-1", "init-1", "[runnable]", 56.501, 1.0),
        ("kernel", "kthreadd-2", "[runnable]", 0.0, 26.5),
        ("kernel", "kthreadd-2", "[wait]", 57.501, 0.7),
        ("vCPUs", "vCPU 0", "init", 1.5, 25.0),
        ("vCPUs", "vCPU 0", "kthreadd", 26.5, 31.001),
        ("vCPUs", "vCPU 0", "init", 57.501, 0.7),
        ("vCPUs", "vCPU 0", "idle", 57.501, 0.7),
        ("initcalls, modules, probes", "init-1", "virtio_init", 1.5, 56.001),
        ("init-1", "init-1", "exec /init", 57.501, None),
    ]
    assert next(e["args"] for e in events if e["name"] == "[wait]") == {"woken by": "kthreadd-2", "in": "schedule"}


@pytest.mark.parametrize("seed", range(5))
def test_slices_of_a_thread_nest(tmp_path: Path, seed: int) -> None:
    """What overlaps without nesting is dropped or misplaced by the viewers."""
    events = trace_of(random_profile(seed), tmp_path / "trace.json", marks={})
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event["pid"] != 2:
            threads[event["pid"], event["tid"]].append((round(event["ts"] * 1000), round(event["dur"] * 1000)))
    assert threads
    for slices in threads.values():
        assert [start for start, _ in slices] == sorted(start for start, _ in slices)
        open_until: list[int] = []
        for start, length in slices:
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or start + length <= open_until[-1]
            open_until.append(start + length)
