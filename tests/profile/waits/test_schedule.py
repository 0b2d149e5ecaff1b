"""Who had which CPU when: runs made by hand, and the arithmetic of intervals that waits and blame rest on."""

from dataclasses import replace

import numpy as np
import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import NONE, EventKind, SwitchFlag
from bootlab.profile.waits.schedule import Schedule, covered, find_kernel_threads, find_runs, group, idle_between, union
from tests.profile.conftest import ProfileWriter

IDLE = "swapper/0-0;do_idle"


def parsed(writer: ProfileWriter) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)


def two_tasks() -> ProfileWriter:
    """Boot for 100 ns, 40 of them idle; init for 50, asleep at 150; idle 30; init again from 180 to 200."""
    writer = ProfileWriter()
    swapper = writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 60)
    writer.idle("swapper/0-0;start_kernel", 40)
    init = writer.task("init", 1, swapper)
    writer.switch(swapper, init, IDLE, 0)
    writer.spend("init-1;run", 50)
    writer.switch(init, swapper, "init-1;schedule")
    writer.idle(IDLE, 30)
    writer.wake(init, swapper, f"{IDLE};wake")
    writer.switch(swapper, init, IDLE, 0)
    writer.spend("init-1;run", 20)
    return writer


def test_runs_tile_the_time_of_a_cpu_and_count_what_it_executed() -> None:
    """60 instructions in the first 100 ns, since 40 ns of them were idle; then 50, none, and 20."""
    fields = ["task", "start_ns", "end_ns", "start_instructions", "end_instructions"]
    assert find_runs(parsed(two_tasks()))[fields].tolist() == [
        (0, 0, 100, 0, 60),
        (1, 100, 150, 60, 110),
        (0, 150, 180, 110, 110),
        (1, 180, 200, 110, 130),
    ]


def test_a_run_says_who_was_there_before_and_how_it_ended() -> None:
    profile = parsed(two_tasks())
    runs = find_runs(profile)
    assert runs["previous"].tolist() == [NONE, 0, 1, 0]
    assert runs["flags"].tolist() == [0, SwitchFlag.SLEEPS, 0, 0]
    assert profile.path(int(runs["node"][1])) == ["init-1", "schedule"] and int(runs["node"][3]) == 0


def test_a_cpus_first_task_has_it_since_that_was_first_seen() -> None:
    """Not since power-on: before its idle task was there the second CPU ran nothing."""
    writer = two_tasks()
    other = writer.task("swapper/1", 0)
    writer.spend("init-1;run", 70)
    writer.switch(other, 1, "swapper/1-0;do_idle", 0, vcpu=1)
    writer.spend("init-1;run", 10)
    writer.switch(1, 0, "init-1;run", 0)
    writer.spend("init-1;run", 20)
    runs = find_runs(parsed(writer))
    second = runs[runs["vcpu"] == 1]
    assert second[["task", "start_ns", "end_ns"]].tolist() == [(2, 200, 270), (1, 270, 300)]
    assert runs["start_ns"].tolist() == sorted(runs["start_ns"].tolist())


def test_kernel_threads_are_kthreadds_children_until_one_runs_a_program() -> None:
    """kthreadd (pid 2) makes a worker, and a helper that runs a program and makes a child."""
    writer = ProfileWriter()
    swapper = writer.task("swapper/0", 0)
    writer.task("init", 1, swapper)
    kthreadd = writer.task("kthreadd", 2, swapper)
    worker = writer.task("kworker", 7, kthreadd)
    helper = writer.task("kworker", 8, kthreadd)
    writer.task("modprobe", 9, helper)
    writer.event(EventKind.EXEC, helper, "kworker-8;exec", text="/sbin/modprobe")
    assert find_kernel_threads(parsed(writer)) == {kthreadd, worker}


def test_an_idle_task_idles_once_it_has_booted_the_kernel() -> None:
    """The first task of all boots until it makes room; that of a second CPU has nothing else to do."""
    writer = two_tasks()
    writer.task("swapper/1", 0)
    schedule = Schedule(parsed(writer))
    assert schedule.idle_tasks == {0, 2} and schedule.boot_task == 0
    assert not schedule.idles(0, 99) and schedule.idles(0, 100)
    assert schedule.idles(2, 50) and not schedule.idles(1, 120)


def test_a_profile_without_switches_still_has_a_boot_task() -> None:
    empty = Schedule(parsed(ProfileWriter()))
    assert (empty.boot_task, empty.vcpus, empty.runner_at(5)) == (None, [], None)
    writer = ProfileWriter()
    writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 30)
    alone = Schedule(parsed(writer))
    assert alone.boot_task == 0 and not alone.idles(0, 29) and alone.idles(0, 30)


def test_a_cpu_whose_first_task_is_not_known_has_no_boot_task() -> None:
    writer = ProfileWriter()
    task = writer.task("init", 1)
    writer.spend("init-1;run", 10)
    writer.switch(NONE, task, "init-1;run", 0)
    profile = parsed(writer)
    assert Schedule(profile).boot_task is None and Schedule(profile).runner_at(11) == task
    assert find_runs(profile)[["task", "start_ns", "end_ns"]].tolist() == [(NONE, 10, 10), (task, 10, 10)]


@pytest.mark.parametrize(("t_ns", "start_ns"), [(150, None), (151, 150), (180, 150), (1000, 150)])
def test_the_gap_before_a_time_is_the_last_that_had_begun(t_ns: int, start_ns: int | None) -> None:
    gap = Schedule(parsed(two_tasks())).gap_before(1, t_ns)
    assert (None if gap is None else gap.start_ns) == start_ns


@pytest.mark.parametrize(("t_ns", "start_ns"), [(99, None), (100, 100), (179, 100), (180, 180)])
def test_the_run_at_a_time_is_the_last_that_had_begun(t_ns: int, start_ns: int | None) -> None:
    run = Schedule(parsed(two_tasks())).run_at(1, t_ns)
    assert (None if run is None else int(run["start_ns"])) == start_ns


def test_runs_and_gaps_of_a_task_alternate() -> None:
    schedule = Schedule(parsed(two_tasks()))
    assert schedule.runs_of(1)[["start_ns", "end_ns"]].tolist() == [(100, 150), (180, 200)]
    assert schedule.gaps_of(1)[["start_ns", "end_ns"]].tolist() == [(150, 180)]
    assert not len(schedule.runs_of(5)) and not len(schedule.gaps_of(5))
    assert schedule.gap(0).row == 0 and schedule.gap(0).start_ns == 150


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "who"),
    [
        (0, 100, [(0, 0, 100)]),
        (120, 190, [(1, 120, 150), (0, 150, 180), (1, 180, 190)]),
        (150, 150, []),
        (199, 900, [(1, 199, 200)]),
        (200, 900, []),
    ],
)
def test_who_ran_between_two_times_is_clipped_to_them(
    start_ns: int, end_ns: int, who: list[tuple[int, int, int]]
) -> None:
    schedule = Schedule(parsed(two_tasks()))
    assert schedule.running(0, start_ns, end_ns) == who
    assert schedule.running(3, start_ns, end_ns) == []


@pytest.mark.parametrize(("t_ns", "task"), [(0, None), (1, 0), (100, 0), (101, 1), (180, 0), (500, 1)])
def test_the_runner_at_a_time_had_got_a_cpu_before_it(t_ns: int, task: int | None) -> None:
    assert Schedule(parsed(two_tasks())).runner_at(t_ns) == task


def test_who_forked_a_task_made_it_whoever_its_parent_is() -> None:
    """A thread that kthreadd made for another has that one as parent; the event says who did it."""
    writer = ProfileWriter()
    swapper = writer.task("swapper/0", 0)
    init = writer.task("init", 1, swapper)
    child = writer.task("sh", 9, swapper)
    writer.event(EventKind.FORK, init, "init-1;kernel_clone", a=child)
    assert Schedule(parsed(writer)).makers == {init: swapper, child: init}


def test_a_task_is_called_what_it_was_called_then() -> None:
    """A process keeps each of its names; a kernel thread always has its last, for it begins with its maker's."""
    writer = ProfileWriter()
    swapper = writer.task("swapper/0", 0)
    kthreadd = writer.task("kthreadd", 2, swapper)
    init = writer.task("swapper/0", 1, swapper)
    thread = writer.task("kthreadd", 7, kthreadd)
    writer.spend("swapper/0-0;start_kernel", 100)
    writer.task("init", 1, number=init)
    writer.task("kcompactd", 7, number=thread)
    schedule = Schedule(parsed(writer))
    assert [schedule.label(init, t_ns) for t_ns in (0, 99, 100)] == ["swapper/0-1", "swapper/0-1", "init-1"]
    assert schedule.name(thread, 0) == "kcompactd"
    assert (schedule.name(99, 0), schedule.label(99, 0)) == ("", "?")


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_what_is_covered_before_a_time() -> None:
    """10..20 and 30..50: nothing at 10, half at 15, 10 from 20 to 30, 15 at 35, 30 for ever after 50."""
    at = numbers(0, 10, 15, 20, 30, 35, 50, 90)
    assert covered(numbers(10, 30), numbers(20, 50), at).tolist() == [0, 0, 5, 10, 10, 15, 30, 30]
    assert covered(numbers(), numbers(), numbers(3, 4)).tolist() == [0, 0]


def test_idle_time_between_two_times() -> None:
    profile = parsed(two_tasks())
    assert profile.idles[["start_ns", "end_ns"]].tolist() == [(60, 100), (150, 180)]
    assert idle_between(profile, numbers(0, 80, 100, 0), numbers(70, 160, 150, 200)).tolist() == [10, 30, 0, 70]
    as_two_cpus_wrote_them = replace(profile, idles=profile.idles[::-1])
    assert idle_between(as_two_cpus_wrote_them, numbers(80), numbers(160)).tolist() == [30]


def test_intervals_that_overlap_become_ones_that_do_not() -> None:
    """30..40 lies in 20..60, 60..70 touches it, 5..5 covers nothing, 90..95 stands alone."""
    low, high = union(numbers(20, 90, 60, 5, 30), numbers(60, 95, 70, 5, 40))
    assert (low.tolist(), high.tolist()) == ([20, 90], [70, 95])
    assert [part.tolist() for part in union(numbers(5), numbers(5))] == [[], []]


def test_rows_are_grouped_by_their_key_in_the_order_given() -> None:
    keys = numbers(7, 3, 7, 3)
    found = group(keys, numbers(3, 1, 2, 0))
    assert {key: rows.tolist() for key, rows in found.items()} == {3: [3, 1], 7: [2, 0]}
    assert group(keys, numbers()) == {}
