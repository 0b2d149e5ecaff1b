"""Waits, and idle time blamed on them: on boots where the answer is known, and on random ones, where all adds up."""

from collections.abc import Callable
from typing import Any

import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, Space, WakeFlag
from bootlab.profile.waits.chain import LinkKind
from bootlab.profile.waits.critical_path import find_critical_path
from bootlab.profile.waits.idle_blame import Waits, find_waits
from bootlab.profile.waits.off_cpu import Reason, find_off_cpu
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.profile.waits.wake_reasons import WakeKind

IDLE = "swapper/0-0;start_kernel;cpu_startup_entry;do_idle;default_idle"
INIT = "init-1;do_syscall_64;"
THREAD = "poller-7;ret_from_fork;kthread;poll_loop"
WORKER = "kworker-8;ret_from_fork;kthread;worker_thread"
TIMER = "asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;hrtimer_wakeup;try_to_wake_up"
FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")


def finish(writer: Any) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)


def sleepers(writer: Any) -> Profile:
    """Boot with init asleep for 1000 ns and, beside it, a thread that sleeps four times for 200 ns, and a tick."""
    swapper = writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 100)
    init, poller, worker = writer.task("init", 1, swapper), writer.task("poller", 7, swapper), 0
    worker = writer.task("kworker", 8, swapper)
    for task in (init, poller, worker):
        writer.event(EventKind.FORK, swapper, "swapper/0-0;start_kernel", a=task)
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.switch(swapper, worker, IDLE, 0)
    writer.spend(WORKER, 5)
    writer.switch(worker, poller, WORKER + ";schedule")
    writer.spend(THREAD, 5)
    writer.switch(poller, init, THREAD + ";msleep;schedule_timeout;schedule")
    writer.spend(INIT + "__x64_sys_nanosleep", 20)
    writer.switch(init, swapper, INIT + "__x64_sys_nanosleep;hrtimer_nanosleep;do_nanosleep;schedule")
    for _ in range(4):
        writer.idle(IDLE, 190)
        writer.wake(poller, swapper, f"{IDLE};{TIMER}", WakeFlag.IN_INTERRUPT)
        writer.spend(IDLE, 3)
        writer.switch(swapper, poller, IDLE + ";__schedule", 0)
        writer.spend(THREAD, 7)
        writer.switch(poller, swapper, THREAD + ";msleep;schedule_timeout;schedule")
    writer.idle(IDLE, 200)
    writer.wake(init, swapper, f"{IDLE};{TIMER}", WakeFlag.IN_INTERRUPT)
    writer.switch(swapper, init, IDLE + ";__schedule", 0)
    writer.spend(INIT, 30)
    return finish(writer)


def find(profile: Profile, ready: int | None = None) -> Waits:
    return find_waits(profile, find_critical_path(profile, {"ready": profile.end_ns if ready is None else ready}))


def test_idle_time_is_the_fault_of_the_wait_it_served(profile_writer: Any) -> None:
    profile = sleepers(profile_writer)
    waits = find(profile)
    first = waits.waits[0]
    assert (first.name, first.kind, first.caller, first.duration_ns) == ("init-1", WaitKind.SLEEP, "nanosleep", 1000)
    assert first.idle_ns == 960 and first.waker is not None and first.waker.kind is WakeKind.TIMER
    assert {idle.wait for idle in waits.idles} == {first}, (
        "the poller ran next, four times of five, and had no part in it"
    )
    assert [idle.duration_ns for idle in waits.idles] == [200, 190, 190, 190, 190]
    assert {idle.kind for idle in waits.idles} == {LinkKind.WAITING}
    assert (waits.idle_ns, waits.unblamed_idle_ns) == (960, 0)
    assert [(blame.wait, blame.count, blame.idle_ns) for blame in waits.blames] == [(first, 5, 960)]
    groups = {(group.kind, group.caller): group for group in waits.groups}
    assert waits.groups[0].caller == "nanosleep" and waits.groups[0].blamed_idle_ns == 960
    poller = groups[WaitKind.SLEEP, "poll_loop"]
    assert (poller.function, poller.count, poller.blamed_idle_ns, poller.name) == ("msleep", 5, 0, "poller-7")
    assert poller.idle_ns == 960 and poller.longest_ns > 200


def test_a_worker_without_work_does_not_wait(profile_writer: Any) -> None:
    profile = sleepers(profile_writer)
    assert "kworker-8" not in {wait.name for wait in find(profile).waits}
    table = WaitTable(profile)
    kinds = {table.wait(index).name: table.wait(index).kind for index in table.sleeps().tolist()}
    assert kinds["kworker-8"] is WaitKind.IDLE


def test_what_never_ends_lasts_to_the_end(profile_writer: Any) -> None:
    profile = sleepers(profile_writer)
    last = max((wait for wait in find(profile).waits if wait.name == "poller-7"), key=lambda wait: wait.start_ns)
    assert (last.woken_ns, last.end_ns, last.until_ns, last.waker) == (None, None, profile.end_ns, None)
    assert last.runnable_ns == 0


def test_idle_time_after_ready_is_blamed_as_well(profile_writer: Any) -> None:
    profile = sleepers(profile_writer)
    waits = find(profile, ready=150)
    assert waits.idle_ns == 960 and {idle.wait and idle.wait.name for idle in waits.idles} == {"init-1"}
    assert find_waits(profile).idles == find(profile).idles, "the path to the end will do where there is no ready"


def test_idle_firmware_waits_for_nobody(profile_writer: Any) -> None:
    profile_writer.spend("[firmware];main", 50, space=Space.STAGE)
    profile_writer.idle("[firmware];main", 400)
    profile_writer.spend("[firmware];main", 50, space=Space.STAGE)
    profile = finish(profile_writer)
    waits = find(profile)
    assert (waits.idle_ns, waits.unblamed_idle_ns, waits.waits) == (400, 400, ())
    assert waits.idles[0].wait is None and waits.idles[0].kind is LinkKind.FIRMWARE


def test_nothing_recorded_is_nothing_waited(profile_writer: Any) -> None:
    assert find_waits(finish(profile_writer)) == Waits((), (), (), (), 0, 0)


@pytest.mark.parametrize("seed", range(40))
def test_random_boots_add_up(make_boot: Callable[[int], Any], seed: int) -> None:
    profile = parse_profile(make_boot(seed).finish(), FUNCTIONS, 0)
    waits = find(profile, ready=profile.end_ns // 2)
    assert waits.idle_ns == profile.idle_ns == sum(idle.duration_ns for idle in waits.idles)
    assert sum(group.blamed_idle_ns for group in waits.groups) + waits.unblamed_idle_ns == waits.idle_ns
    assert sum(blame.idle_ns for blame in waits.blames) == waits.idle_ns
    gaps = find_off_cpu(profile)
    asleep = gaps[gaps["reason"] == Reason.SLEEP]
    assert sum(wait.duration_ns for wait in waits.waits) == int((asleep["woken_ns"] - asleep["start_ns"]).sum())
    assert sum(group.total_ns for group in waits.groups) == sum(wait.duration_ns for wait in waits.waits)
    lengths = [wait.duration_ns for wait in waits.waits]
    assert lengths == sorted(lengths, reverse=True)
    for wait in waits.waits[:20]:
        inside = [
            min(int(idle["end_ns"]), wait.until_ns) - max(int(idle["start_ns"]), wait.start_ns)
            for idle in profile.idles
        ]
        assert wait.idle_ns == sum(ns for ns in inside if ns > 0)
