"""The waits, critical path and phases of a real boot (tests/data/profile): Debian's 6.1 cloud kernel up to ready."""

import gzip
from pathlib import Path

import pytest

from bootlab.profile.asked.profiling import function_names, read_functions
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.tables.activity import Bound, find_activity
from bootlab.profile.tables.processes import find_processes
from bootlab.profile.waits.chain import LinkKind
from bootlab.profile.waits.critical_path import CriticalPath, find_critical_path
from bootlab.profile.waits.idle_blame import find_waits
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.timeline import marks as m

DATA = Path(__file__).resolve().parents[1] / "data/profile/debian-cloud-6.1"


@pytest.fixture(scope="module")
def profile() -> Profile:
    names = function_names(read_functions(DATA / "functions.txt"))
    return parse_profile(gzip.decompress((DATA / "profile.bin.gz").read_bytes()), names, 0)


@pytest.fixture(scope="module")
def marks(profile: Profile) -> dict[str, int]:
    return {"power_on": 0} | {piece.name: piece.end_ns for piece in profile.slices if piece.name in m.BOOT_ORDER}


@pytest.fixture(scope="module")
def path(profile: Profile, marks: dict[str, int]) -> CriticalPath:
    return find_critical_path(profile, marks)


def test_the_critical_path_leads_from_power_on_through_the_self_tests_to_ready(
    profile: Profile, marks: dict[str, int], path: CriticalPath
) -> None:
    assert path.ready and sum(segment.duration_ns for segment in path.segments) == marks["ready"]
    assert path.task is not None and profile.tasks[path.task].name == "bootlab-mark"
    assert [segment.kind for segment in path.segments[:3]] == [
        LinkKind.FIRMWARE, LinkKind.DECOMPRESSOR, LinkKind.RUNNING
    ]  # fmt: skip
    assert path.segments[2].name == "swapper/0-0"
    first = path.groups[0]
    assert (first.kind, first.name, first.what) == (LinkKind.RUNNING, "cryptomgr_test", "cryptomgr_test")
    assert first.total_ns > 0.45 * marks["ready"]
    # Init makes a kernel thread, and that thread has no CPU before ftrace has checked its functions' names.
    checks = next(group for group in path.groups if group.what == "ftrace_check_work_func")
    assert checks.kind is LinkKind.RUNNABLE and checks.total_ns > 70_000_000
    assert path.totals[LinkKind.WAITING] < 100_000, "this boot never sleeps"


def test_the_longest_wait_is_for_the_self_tests(profile: Profile, path: CriticalPath) -> None:
    waits = find_waits(profile, path)
    longest = waits.waits[0]
    assert (longest.name, longest.kind) == ("swapper/0-1", WaitKind.COMPLETION)
    assert (longest.caller, longest.context, longest.context_kind) == (
        "crypto_wait_for_test", "crypto_algapi_init", "initcall"
    )  # fmt: skip
    assert longest.waker is not None
    assert (longest.waker.name.partition("-")[0], longest.waker.function) == ("cryptomgr_test", "crypto_alg_tested")
    kinds = {wait.kind for wait in waits.waits}
    assert {WaitKind.COMPLETION, WaitKind.CHILD, WaitKind.LOCK, WaitKind.WORK} <= kinds
    assert WaitKind.OTHER not in kinds, "every wait of this kernel has a reason"
    assert waits.idle_ns == profile.idle_ns


def test_every_sleep_ended_by_a_known_waker(profile: Profile) -> None:
    table = WaitTable(profile)
    for index in table.sleeps().tolist():
        wait = table.wait(index)
        assert wait.woken_ns is None or wait.waker is not None
        assert wait.end_ns is None or wait.woken_ns is not None


def test_processes_and_cpu_time(profile: Profile, marks: dict[str, int]) -> None:
    found = find_processes(profile)
    assert [one.name for one in found.processes] == ["init", "mount", "mount", "mount", "bootlab-mark"]
    assert found.processes[0].programs[0][1] == "/init" and found.processes[0].pid == 1
    assert all(one.exit_status == 0 for one in found.processes[1:4])
    assert {"kthreadd", "ksoftirqd/0", "rcu_preempt"} <= {one.name for one in found.kernel_threads}
    everyone = found.processes + found.kernel_threads + found.idle_tasks
    assert sum(one.running_ns for one in everyone) == profile.end_ns - marks["kernel_entry"]


def test_phases_are_bound_by_the_cpu(profile: Profile, marks: dict[str, int]) -> None:
    phases = find_activity(profile, marks).phases
    assert [phase.name for phase in phases][:3] == ["firmware", "decompressor", "kernel head"]
    assert sum(phase.duration_ns for phase in phases) == marks["ready"]
    assert {phase.bound for phase in phases} == {Bound.CPU} and all(phase.exact for phase in phases)
    initcalls = next(phase for phase in phases if phase.name == "initcalls")
    assert initcalls.threads[0].name.startswith("cryptomgr_test-") and initcalls.threads[0].share > 0.5
    assert initcalls.works[0].name == "do_populate_rootfs"
