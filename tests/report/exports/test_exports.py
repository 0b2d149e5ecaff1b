"""A profile in other tools' formats: that they can read it, and that it says the same there."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import CallKind, EventKind
from bootlab.profile.tables.initcalls import find_initcalls
from bootlab.profile.tree.call_tree import LEAVES, CallTree, build_call_tree
from bootlab.profile.tree.differential import compare_trees
from bootlab.report.exports.folded import write_folded, write_folded_difference
from bootlab.report.exports.perfetto import write_perfetto
from bootlab.report.exports.svg import write_svg
from bootlab.report.exports.tables import flat, write_csv, write_json
from tests.profile.conftest import ProfileWriter, RandomBoot

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")
SVG = "{http://www.w3.org/2000/svg}"


def random_profile(seed: int) -> Profile:
    return parse_profile(RandomBoot(seed).finish(), FUNCTIONS, 0)


def a_boot() -> Profile:
    writer = ProfileWriter(FUNCTIONS)
    swapper, init = writer.task("swapper/0", 0), writer.task("init", 1)
    kthread = writer.task("kthreadd", 2)
    writer.spend("swapper/0-0;start_kernel", 1500)
    writer.switch(swapper, init, "swapper/0-0;start_kernel", flags=0)
    start_ns = writer.t_ns
    writer.spend("init-1;do_one_initcall", 25_000)
    writer.switch(init, kthread, "init-1;do_one_initcall;msleep;schedule")
    writer.spend('kthreadd-2;<none> & "such";', 30_001)
    writer.wake(init, kthread, "kthreadd-2;schedule")
    writer.spend("kthreadd-2;schedule", 1_000)
    writer.switch(kthread, init, "kthreadd-2;schedule")
    writer.span(start_ns, "init-1;do_one_initcall;msleep", init)
    writer.span(start_ns, "init-1;do_one_initcall", init)
    writer.call(CallKind.INITCALL, start_ns, "init-1;do_one_initcall", init, argument=0xFF)
    writer.event(EventKind.EXEC, init, "init-1;do_one_initcall", text="/init")
    writer.idle("init-1;schedule", 700)
    return parse_profile(writer.end(), FUNCTIONS, 0)


def test_folded_stacks(tmp_path: Path) -> None:
    tree = build_call_tree(random_profile(1))
    write_folded(tree, tmp_path / "folded", "elapsed")
    rows = [line.rpartition(" ") for line in (tmp_path / "folded").read_text().splitlines()]
    assert {stack: int(weight) for stack, _, weight in rows} == dict(tree.folded("elapsed"))


def test_folded_difference(tmp_path: Path) -> None:
    both = compare_trees(build_call_tree(random_profile(1)), build_call_tree(random_profile(2)))
    write_folded_difference(both, tmp_path / "folded", "instructions")
    rows = [line.rsplit(" ", 2) for line in (tmp_path / "folded").read_text().splitlines()]
    assert sum(int(row[1]) for row in rows) == both.before.total_instructions[0]
    assert sum(int(row[2]) for row in rows) == both.after.total_instructions[0]


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


def test_svg_is_well_formed_and_adds_up(tmp_path: Path) -> None:
    tree = build_call_tree(a_boot())
    for weight in ("instructions", "elapsed"):
        write_svg(tree, tmp_path / "a.svg", weight, title="a <boot>", foot="virtual clock & so on")
        root = ElementTree.parse(tmp_path / "a.svg").getroot()
        frames = {}
        for group in root.iter(f"{SVG}g"):
            title, rectangle = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
            assert title is not None and title.text and rectangle is not None
            frames[title.text] = float(rectangle.get("width", 0))
        whole = tree.total(weight)[0]
        assert f"all: {whole:,} {'instructions' if weight == 'instructions' else 'ns'}, 100.00 %" in frames
        tops = sum(int(tree.total(weight)[node]) for node in tree.children(0))
        assert tops == whole and max(frames.values()) == pytest.approx(1180, abs=0.5)
        assert any(title.startswith('<none> & "such": 30,001') for title in frames)
        assert not any("[pruned]" in title for title in frames)


def test_svg_of_nothing(tmp_path: Path) -> None:
    nothing = np.zeros(1, dtype=np.int64)
    write_svg(CallTree([*LEAVES], *[nothing] * 5, 0), tmp_path / "a.svg", "elapsed", title="", foot="")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"


def test_tables(tmp_path: Path) -> None:
    rows = [flat({"name": "a,b", "wait": {"task": 3, "waker": None}, "work": ["x", "y"], "parts": [{"n": 1}]})]
    assert rows == [{"name": "a,b", "wait.task": 3, "wait.waker": None, "work": "x; y"}]
    files = write_csv({"waits": [*rows, {"name": 'say "hi"', "more": 1}], "nothing": []}, tmp_path)
    assert [path.name for path in files] == ["waits.csv"]
    with files[0].open(newline="") as text:
        read = list(csv.DictReader(text))
    assert read[0] == {"name": "a,b", "wait.task": "3", "wait.waker": "", "work": "x; y", "more": ""}
    assert read[1]["name"] == 'say "hi"' and read[1]["more"] == "1"
    write_json({"waits": rows}, tmp_path / "tables.json")
    assert json.loads((tmp_path / "tables.json").read_text()) == {
        "schema": "bootlab.tables/1",
        "tables": {"waits": rows},
    }
