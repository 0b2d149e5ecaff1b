"""Activity by phase: what bound it, its devices, interrupts and threads; and what system calls cost."""

from collections.abc import Callable
from typing import Any

import pytest

from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, Space
from bootlab.profile.tables.activity import RULE, Bound, find_activity
from bootlab.profile.tables.syscalls import find_syscalls
from bootlab.profile.waits.critical_path import find_critical_path
from tests.profile.tables.finished import IDLE, finish

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")


def test_phases_and_what_bound_them(profile_writer: Any) -> None:
    writer = profile_writer
    writer.spend("[firmware]", 50, space=Space.STAGE)
    writer.cut("kernel_entry")
    swapper = writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 100)
    writer.idle(IDLE, 100)
    writer.cut("initcalls_start")
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.event(EventKind.BLOCK_ISSUE, swapper, IDLE, a=1, b=4096 << 8, text="vda")
    writer.event(EventKind.BLOCK_ISSUE, swapper, IDLE, a=2, b=1024 << 8, text="vda")
    writer.idle(IDLE, 60)
    writer.event(EventKind.BLOCK_DONE, swapper, IDLE, a=1, b=4096)
    writer.idle(IDLE, 30)
    writer.cut("init_exec")
    writer.event(EventKind.BLOCK_DONE, swapper, IDLE, a=2, b=1024)
    writer.idle(IDLE, 80)
    writer.spend("swapper/0-0;start_kernel", 5)
    writer.cut("ready")
    marks = {"kernel_entry": 50, "initcalls_start": 250, "init_exec": 350, "ready": 435}
    profile = finish(writer)
    activity = find_activity(profile, marks)
    assert activity.rule == RULE
    rows = [(p.name, p.busy_ns, p.idle_ns, p.io_ns, p.idle_io_ns, p.bound, p.exact) for p in activity.phases]
    assert rows == [
        ("firmware + decompressor", 50, 0, 0, 0, Bound.CPU, True),
        ("kernel head + kernel core", 100, 100, 0, 0, Bound.CPU, True),
        ("initcalls + before init", 10, 90, 90, 90, Bound.IO, True),
        ("exec of init + user space", 5, 80, 0, 0, Bound.WAIT, True),
    ]
    assert [(d.disk, d.operation, d.requests, d.bytes, d.in_flight_ns) for d in activity.phases[2].devices] == [
        ("vda", "read", 2, 5120, 90)
    ]
    assert all(phase.instructions == phase.busy_ns for phase in activity.phases)
    assert activity.timings == ()
    bounds = {
        "system": ("initcalls_start", "ready"),
        "never": ("init_exec", "home"),
        "backwards": ("ready", "init_exec"),
    }
    felt = find_activity(profile, marks, timings=bounds).timings
    rows = [(p.name, p.start_ns, p.end_ns, p.busy_ns, p.idle_ns, p.idle_io_ns, p.bound, p.exact) for p in felt]
    assert rows == [("system", 250, 435, 15, 170, 90, Bound.IO, True)]


def test_a_boot_that_was_never_ready_is_cut_into_phases_up_to_its_end(profile_writer: Any) -> None:
    """A hang is what comes after the last mark."""
    writer = profile_writer
    writer.spend("[firmware]", 50, space=Space.STAGE)
    writer.cut("image_entry")
    writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 400)
    writer.idle(IDLE, 100)
    activity = find_activity(finish(writer), {"image_entry": 50})
    rows = [(p.name, p.start_ns, p.end_ns, p.idle_ns, p.bound) for p in activity.phases]
    assert rows == [
        ("firmware", 0, 50, 0, Bound.CPU),
        ("decompressor, not finished", 50, 550, 100, Bound.CPU),
    ]


def test_a_mark_without_a_cut_says_so(profile_writer: Any) -> None:
    profile_writer.task("swapper/0", 0)
    profile_writer.spend("swapper/0-0;start_kernel", 100)
    profile = finish(profile_writer)
    assert not find_activity(profile, {"ready": 60}).phases[0].exact
    assert find_activity(profile, {"ready": 100}).phases[0].exact


def test_nothing_ran(profile_writer: Any) -> None:
    profile = finish(profile_writer)
    assert find_activity(profile, {}).phases == () and find_syscalls(profile) == ()


@pytest.mark.parametrize("seed", range(20))
def test_random_boots_add_up(make_boot: Callable[[int], Any], seed: int) -> None:
    profile = parse_profile(make_boot(seed).finish(), FUNCTIONS, 0)
    ends = [piece.end_ns for piece in profile.slices]
    marks = dict(zip(("kernel_entry", "start_kernel", "init_exec"), ends, strict=False)) | {"ready": profile.end_ns}
    phases = find_activity(profile, dict(sorted(marks.items(), key=lambda item: item[1]))).phases
    assert sum(phase.duration_ns for phase in phases) == profile.end_ns
    assert sum(phase.instructions for phase in phases) == profile.end_instructions
    assert sum(phase.idle_ns for phase in phases) == profile.idle_ns
    for phase in phases:
        if phase.exact:
            assert sum(thread.instructions for thread in phase.threads) == phase.instructions
    assert find_critical_path(profile, marks).as_json()["ready"] is True
