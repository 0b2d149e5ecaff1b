"""Processes: lives, states, charts; on boots made by hand and on random ones, where every state's time is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, SwitchFlag
from bootlab.profile.tables.processes import State, find_processes, task_instructions

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")


def finish(writer: Any) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)


def family(writer: Any) -> Profile:
    """Boot a kernel thread, an init that executes a program, its child that fails, and a helper the thread started."""
    swapper = writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 100)
    init = writer.task("swapper/0", 1, swapper)
    kthreadd = writer.task("swapper/0", 2, swapper)
    writer.event(EventKind.FORK, swapper, "swapper/0-0;start_kernel", a=init)
    writer.event(EventKind.FORK, swapper, "swapper/0-0;start_kernel", a=kthreadd)
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.switch(swapper, kthreadd, "swapper/0-0;start_kernel;schedule", 0)
    writer.task("kthreadd", 2, swapper, number=kthreadd)
    writer.spend("kthreadd-2;kthreadd", 30)
    worker = writer.task("kworker/u2:0", 5, kthreadd)
    writer.event(EventKind.FORK, kthreadd, "kthreadd-2;kthreadd", a=worker)
    writer.spend("kthreadd-2;kthreadd", 5)
    writer.switch(kthreadd, worker, "kthreadd-2;ret_from_fork;kthreadd;schedule")
    writer.spend("kworker/u2:0-5;kthread", 7)
    helper = writer.task("kworker/u2:0", 6, worker)
    writer.event(EventKind.FORK, worker, "kworker/u2:0-5;kthread", a=helper)
    writer.switch(worker, helper, "kworker/u2:0-5;ret_from_fork;kthread;worker_thread;schedule")
    writer.spend("kworker/u2:0-6;call_usermodehelper_exec_async", 4)
    writer.event(EventKind.EXEC, helper, "kworker/u2:0-6;begin_new_exec", text="/sbin/modprobe")
    writer.task("modprobe", 6, worker, number=helper)
    writer.spend("modprobe-6;[user]", 12)
    writer.event(EventKind.EXIT, helper, "modprobe-6;do_exit", a=1 << 8)
    writer.spend("modprobe-6;do_exit", 2)
    writer.switch(helper, init, "modprobe-6;do_exit;schedule", SwitchFlag.DEAD)
    writer.spend("swapper/0-1;kernel_init", 50)
    writer.event(EventKind.EXEC, init, "swapper/0-1;begin_new_exec", text="/init")
    writer.task("init", 1, swapper, number=init)
    writer.spend("init-1;[user]", 40)
    child = writer.task("init", 9, init)
    writer.event(EventKind.FORK, init, "init-1;kernel_clone", a=child)
    writer.spend("init-1;[user]", 3)
    writer.switch(init, child, "init-1;do_syscall_64;__x64_sys_wait4;do_wait;schedule")
    writer.spend("init-9;[user]", 60)
    writer.event(EventKind.EXIT, child, "init-9;do_exit", a=11)
    writer.wake(init, child, "init-9;do_exit;do_notify_parent;try_to_wake_up")
    writer.spend("init-9;do_exit", 6)
    writer.switch(child, init, "init-9;do_exit;schedule", SwitchFlag.DEAD)
    writer.spend("init-1;[user]", 10)
    return finish(writer)


@pytest.mark.parametrize("flags", [SwitchFlag.DEAD, SwitchFlag.STATE_UNKNOWN])
def test_a_process_ends_when_it_leaves_its_cpu_for_good(profile_writer: Any, flags: SwitchFlag) -> None:
    """Between the entry of do_exit() and its last switch it closes its files, and may be preempted."""
    writer = profile_writer
    init, shell = writer.task("init", 1), writer.task("sh", 7)
    writer.switch(init, shell, "init-1;[user]", 0)
    writer.event(EventKind.EXIT, shell, "sh-7;do_exit")
    writer.spend("sh-7;do_exit;exit_files", 30)
    writer.switch(shell, init, "sh-7;do_exit;exit_files", 0)
    writer.spend("init-1;[user]", 5)
    writer.switch(init, shell, "init-1;[user]", 0)
    writer.spend("sh-7;do_exit", 20)
    writer.switch(shell, init, "sh-7;do_exit;schedule", flags)
    writer.spend("init-1;[user]", 10)
    found = next(one for one in find_processes(finish(writer)).processes if one.name == "sh")
    assert found.exited_ns == 55
    assert found.running_ns == 50


def test_lives(profile_writer: Any) -> None:
    found = find_processes(family(profile_writer))
    assert [one.name for one in found.kernel_threads] == ["kthreadd", "kworker/u2:0"]
    assert [one.name for one in found.idle_tasks] == ["swapper/0"]
    assert [(one.name, one.pid) for one in found.processes] == [("init", 1), ("modprobe", 6), ("init", 9)]
    init, helper, child = found.processes
    assert init.programs == ((220, "/init"),) and init.names == ((100, "swapper/0"), (220, "init"))
    assert (init.exited_ns, init.exit_status, init.exit_signal) == (None, None, None)
    assert (helper.exited_ns, helper.exit_status, helper.exit_signal, helper.parent) == (170, 1, None, 3)
    assert (child.exit_status, child.exit_signal, child.parent, child.programs) == (None, 11, 1, ())
    assert (init.instructions, init.running_ns, init.runnable_ns, init.waiting_ns) == (103, 103, 70 + 6, 60)
    assert (child.running_ns, child.runnable_ns, child.waiting_ns) == (66, 3, 0)
    worker = found.kernel_threads[1]
    assert worker.sleeping_ns == 339 - 152 and worker.waiting_ns == 0, "no work, so no wait"
    assert worker.as_json()["names"] == [[140, "kworker/u2:0"]]


def test_states_follow_each_other(profile_writer: Any) -> None:
    found = find_processes(family(profile_writer))
    init = found.processes[0]
    assert [(State(row["state"]).name, int(row["end_ns"] - row["start_ns"])) for row in found.states(init.task)] == [
        ("RUNNABLE", 70),
        ("RUNNING", 93),
        ("WAITING", 60),
        ("RUNNABLE", 6),
        ("RUNNING", 10),
    ]


def test_a_disk_wait_is_io(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = writer.task("swapper/0", 0), writer.task("init", 1, 0)
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.switch(swapper, init, "swapper/0-0;start_kernel", 0)
    writer.event(EventKind.BLOCK_ISSUE, init, "init-1;blk_mq_start_request", a=7, b=512 << 8 | 1, text="vda")
    writer.spend("init-1;[user]", 5)
    writer.switch(init, swapper, "init-1;do_syscall_64;__x64_sys_fsync;folio_wait_writeback;io_schedule;schedule")
    writer.idle("swapper/0-0;do_idle", 200)
    writer.event(EventKind.BLOCK_DONE, swapper, "swapper/0-0;do_idle;blk_update_request", a=7, b=512)
    writer.wake(init, swapper, "swapper/0-0;do_idle;try_to_wake_up")
    writer.switch(swapper, init, "swapper/0-0;do_idle", 0)
    writer.spend("init-1;[user]", 5)
    found = find_processes(finish(writer))
    assert found.processes[0].io_ns == 200
    chart = found.chart(0, 220, 2)
    assert chart.edges == (0, 110, 220)
    assert (chart.busy_ns, chart.idle_ns, chart.io_ns) == ((15, 5), (95, 105), (100, 105))
    row = next(row for row in chart.rows if row.task == found.processes[0].task)
    assert (row.running_ns, row.io_ns, row.waiting_ns) == ((5, 5), (95, 105), (0, 0))


@pytest.mark.parametrize("seed", range(30))
def test_random_boots_add_up(make_boot: Callable[[int], Any], seed: int) -> None:
    boot = make_boot(seed)
    profile = parse_profile(boot.finish(), FUNCTIONS, 0)
    found = find_processes(profile)
    everyone = found.processes + found.kernel_threads + found.idle_tasks
    assert [one.task for one in sorted(everyone, key=lambda one: one.task)] == list(range(len(profile.tasks)))
    assert sum(one.instructions for one in everyone) == profile.end_instructions
    assert sum(one.running_ns for one in everyone) == profile.end_ns, "one CPU, always somebody's"
    for one in found.processes + found.kernel_threads:
        states = found.states(one.task)
        assert one.running_ns + one.runnable_ns + one.waiting_ns + one.io_ns == boot.truth.lives[one.task]
        assert one.instructions == one.running_ns, "what is idle is the idle task's"
        assert np.all(states["start_ns"][1:] == states["end_ns"][:-1])
    for bins in (1, 7, 100):
        chart = found.chart(0, profile.end_ns, bins)
        assert sum(chart.busy_ns) == profile.end_instructions and sum(chart.idle_ns) == profile.idle_ns
        running = np.array([row.running_ns for row in chart.rows]).sum(axis=0)
        assert running.tolist() == np.diff(chart.edges).tolist()
        by_task = {row.task: row for row in chart.rows}
        for one in everyone:
            if one.task in by_task:
                assert sum(by_task[one.task].runnable_ns) == one.runnable_ns


@pytest.mark.parametrize("seed", range(5))
def test_instructions_by_slice(make_boot: Callable[[int], Any], seed: int) -> None:
    boot = make_boot(seed)
    profile = parse_profile(boot.finish(), FUNCTIONS, 0)
    for index in range(len(profile.slices)):
        expected = [0] * len(profile.tasks)
        for (number, stack), instructions in boot.truth.instructions.items():
            if number == index:
                label = stack.partition(";")[0]
                expected[next(task for task, name in boot.truth.labels.items() if name == label)] += instructions
        assert task_instructions(profile, [index]).tolist() == expected


def test_nobody(profile_writer: Any) -> None:
    found = find_processes(finish(profile_writer))
    assert (found.processes, found.kernel_threads, found.chart(0, 10, 5).rows) == ((), (), ())
