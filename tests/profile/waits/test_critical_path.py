"""The critical path of boots made by hand, where the answer is known, and of random ones, where it must tile."""

from collections.abc import Callable
from typing import Any

import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, Space, SwitchFlag, WakeFlag
from bootlab.profile.waits.chain import LinkKind
from bootlab.profile.waits.critical_path import CriticalPath, find_critical_path
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import WaitTable
from bootlab.profile.waits.wake_reasons import WakeKind

KERNEL = {"power_on": 0, "kernel_entry": 0}
IDLE = "swapper/0-0;start_kernel;cpu_startup_entry;do_idle;default_idle"
INIT = "init-1;ret_from_fork;kernel_init;do_one_initcall"
WORKER = "kworker-7;ret_from_fork;kthread;worker_thread"
TIMER = "asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;__hrtimer_run_queues;hrtimer_wakeup;try_to_wake_up"
DISK = "asm_common_interrupt;__handle_irq_event_percpu;vring_interrupt"


def finish(writer: Any) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)


def rows(path: CriticalPath) -> list[tuple[str, str, int]]:
    return [(segment.kind.value, segment.name, segment.duration_ns) for segment in path.segments]


def boot(writer: Any) -> tuple[int, int]:
    """Run the boot task for 100 ns, let it fork init and run that; return both."""
    swapper = writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 100)
    init = writer.task("init", 1, swapper)
    writer.event(EventKind.FORK, swapper, "swapper/0-0;start_kernel;rest_init", a=init)
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.switch(swapper, init, IDLE + ";schedule_idle;__schedule", 0)
    return swapper, init


def start_worker(writer: Any, init: int) -> int:
    """Make a worker that has found nothing to do; init goes on."""
    worker = int(writer.task("kworker", 7, init))
    writer.event(EventKind.FORK, init, INIT, a=worker)
    writer.spend(INIT + ";setup", 5)
    writer.switch(init, worker, INIT + ";setup", 0)
    writer.spend(WORKER, 5)
    writer.switch(worker, init, WORKER + ";schedule;__schedule")
    return worker


def test_stages_come_first_and_everything_tiles(profile_writer: Any) -> None:
    writer = profile_writer
    writer.spend("[firmware]", 30, space=Space.STAGE)
    writer.cut("loader_entry")
    writer.spend("[firmware];GRUB@0x0", 40, space=Space.STAGE)
    writer.cut("image_entry")
    writer.spend("[decompressor];unzstd", 20, space=Space.STAGE)
    writer.cut("kernel_entry")
    _, init = boot(writer)
    writer.spend(INIT + ";acpi_init", 300)
    marks = {"power_on": 0, "loader_entry": 30, "image_entry": 70, "kernel_entry": 90, "ready": 400}
    path = find_critical_path(finish(writer), marks)
    assert rows(path) == [
        ("firmware", "firmware", 30),
        ("loader", "loader", 40),
        ("decompressor", "decompressor", 20),
        ("running", "swapper/0-0", 100),
        ("runnable", "init-1", 10),
        ("running", "init-1", 200),
    ]
    assert path.task == init and path.ready and path.totals[LinkKind.RUNNING] == 300
    assert [segment.what for segment in path.segments[:3]] == ["[firmware]", "GRUB@0x0", "unzstd"]
    assert path.segments[4].frames[0].name == "swapper/0-0", "it had the CPU meanwhile"


def test_a_completion_is_followed_to_the_task_that_completes(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    worker = start_worker(writer, init)
    writer.spend(INIT + ";crypto_init", 40)
    writer.wake(worker, init, INIT + ";crypto_init;queue_work_on;try_to_wake_up")
    writer.spend(INIT + ";crypto_init", 60)
    writer.switch(init, worker, INIT + ";crypto_init;wait_for_completion;schedule")
    started = writer.t_ns
    writer.spend(WORKER + ";process_one_work;test", 500)
    writer.wake(init, worker, WORKER + ";process_one_work;test;complete;try_to_wake_up")
    writer.span(started, WORKER + ";process_one_work;test", worker)
    writer.spend(WORKER, 3)
    writer.switch(worker, init, WORKER + ";schedule;__schedule")
    writer.spend(INIT, 8)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    assert rows(path) == [
        ("running", "swapper/0-0", 100),
        ("runnable", "init-1", 10),
        ("running", "init-1", 5),
        ("runnable", "init-1", 5),
        ("running", "init-1", 100),
        ("running", "kworker-7", 500),
        ("runnable", "init-1", 3),
        ("running", "init-1", 8),
    ], "not back to when the work was queued: init itself kept the worker from running"
    assert path.segments[5].what == "test"
    on_cpu = path.totals[LinkKind.RUNNING] + path.totals[LinkKind.RUNNABLE]
    assert sum(path.node_ns.values()) == on_cpu, "who runs while another could have is on the path as well"
    assert swapper != worker


def test_a_sleep_of_the_one_waited_for_counts_from_its_start(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    worker = start_worker(writer, init)
    writer.wake(worker, init, INIT + ";probe;queue_work_on")
    writer.spend(INIT + ";probe", 1)
    writer.switch(init, worker, INIT + ";probe", 0)
    work = WORKER + ";process_one_work;bring_up"
    writer.spend(work, 20)
    slept = writer.t_ns
    writer.switch(worker, init, work + ";msleep;schedule_timeout_uninterruptible;schedule")
    writer.spend(INIT + ";something_else", 200)
    writer.switch(init, swapper, INIT + ";wait_for_completion;schedule")
    writer.idle(IDLE, 700)
    writer.wake(worker, swapper, f"{IDLE};{TIMER}", WakeFlag.IN_INTERRUPT)
    woken = writer.t_ns
    writer.spend(IDLE, 4)
    writer.switch(swapper, worker, IDLE + ";schedule_idle;__schedule", 0)
    writer.spend(work, 30)
    writer.wake(init, worker, work + ";complete")
    writer.switch(worker, init, WORKER + ";schedule")
    writer.spend(INIT, 9)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    sleep = next(segment for segment in path.segments if segment.kind is LinkKind.WAITING)
    assert (sleep.name, sleep.start_ns, sleep.end_ns, sleep.idle_ns) == ("kworker-7", slept, woken, 700)
    assert sleep.wait is not None and sleep.wait.waker is not None
    assert (sleep.wait.kind, sleep.wait.function, sleep.wait.caller) == (WaitKind.SLEEP, "msleep", "bring_up")
    assert (sleep.wait.context, sleep.wait.waker.kind) == ("bring_up", WakeKind.TIMER)
    assert "something_else" not in str(path.as_json()), "it would not have been shorter without"


def test_work_that_a_timer_hands_out_is_waited_for_by_the_waiter(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    worker = start_worker(writer, init)
    writer.spend(INIT, 50)
    waiting = writer.t_ns
    writer.switch(init, swapper, INIT + ";wait_for_device_probe;schedule")
    writer.idle(IDLE, 300)
    fired = "asm_sysvec_apic_timer_interrupt;run_timer_softirq;call_timer_fn;delayed_work_timer_fn;__queue_work"
    writer.wake(worker, swapper, f"{IDLE};{fired}", WakeFlag.IN_INTERRUPT)
    given = writer.t_ns
    writer.spend(IDLE, 4)
    writer.switch(swapper, worker, IDLE + ";__schedule", 0)
    writer.spend(WORKER + ";process_one_work;deferred_probe", 60)
    writer.wake(init, worker, WORKER + ";process_one_work;deferred_probe;__wake_up")
    writer.switch(worker, init, WORKER + ";schedule")
    writer.spend(INIT, 9)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    assert rows(path)[-5:] == [
        ("running", "init-1", 50),
        ("waiting", "init-1", 300),
        ("runnable", "kworker-7", 4),
        ("running", "kworker-7", 60),
        ("running", "init-1", 9),
    ]
    wait = path.segments[-4]
    assert (wait.start_ns, wait.end_ns) == (waiting, given)
    assert "delayed_work_timer_fn" in wait.what


def test_a_request_counts_from_when_it_was_issued(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    worker = start_worker(writer, init)
    writer.wake(worker, init, INIT + ";read_pages;queue_work_on")
    writer.spend(INIT, 5)
    writer.switch(init, worker, INIT + ";read_file;folio_wait_bit_common;io_schedule;schedule")
    submit = WORKER + ";process_one_work;blk_mq_run_work_fn"
    writer.spend(submit, 15)
    writer.event(EventKind.BLOCK_ISSUE, worker, submit + ";blk_mq_start_request", a=0xBEEF, b=4096 << 8, text="vda")
    issued = writer.t_ns
    writer.spend(submit, 5)
    writer.switch(worker, swapper, WORKER + ";schedule")
    writer.idle(IDLE, 800)
    done = f"{IDLE};{DISK};virtblk_done"
    writer.event(EventKind.BLOCK_DONE, swapper, done + ";blk_update_request", a=0xBEEF, b=4096)
    writer.wake(init, swapper, done + ";folio_end_read;folio_wake_bit", WakeFlag.IN_INTERRUPT)
    woken = writer.t_ns
    writer.spend(IDLE, 2)
    writer.switch(swapper, init, IDLE + ";__schedule", 0)
    writer.spend(INIT, 9)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    assert rows(path)[-5:] == [
        ("running", "init-1", 5),
        ("running", "kworker-7", 15),
        ("waiting", "init-1", woken - issued),
        ("runnable", "init-1", 2),
        ("running", "init-1", 9),
    ]
    wait = path.segments[-3].wait
    assert wait is not None and wait.waker is not None and wait.waker.request is not None
    assert (wait.kind, wait.waker.kind, wait.waker.handler) == (WaitKind.IO, WakeKind.DEVICE, "vring_interrupt")
    assert (wait.waker.request.disk, wait.waker.request.operation, wait.waker.request.bytes) == ("vda", "read", 4096)
    assert path.segments[-3].what.endswith("vda read")


def test_a_grace_period_is_not_followed_into_rcus_own_thread(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    worker = start_worker(writer, init)
    writer.spend(INIT, 5)
    writer.switch(init, swapper, INIT + ";netdev_init;synchronize_rcu;__wait_rcu_gp;wait_for_completion;schedule")
    writer.idle(IDLE, 90)
    writer.wake(worker, swapper, f"{IDLE};{TIMER}", WakeFlag.IN_INTERRUPT)
    writer.switch(swapper, worker, IDLE, 0)
    writer.spend(WORKER + ";process_one_work;sr_normal_gp_cleanup_work", 10)
    writer.wake(init, worker, WORKER + ";process_one_work;sr_normal_gp_cleanup_work;complete")
    writer.switch(worker, init, WORKER + ";schedule")
    writer.spend(INIT, 9)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    assert rows(path)[-3:] == [("running", "init-1", 5), ("waiting", "init-1", 100), ("running", "init-1", 9)]
    wait = path.segments[-2].wait
    assert wait is not None
    assert (wait.kind, wait.function, wait.caller, wait.idle_ns) == (WaitKind.RCU, "synchronize_rcu", "netdev_init", 90)


def test_ready_said_while_all_sleep_belongs_to_the_last_that_ran(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    writer.spend(INIT, 40)
    writer.switch(init, swapper, INIT + ";do_nanosleep;schedule")
    writer.idle(IDLE, 500)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns - 200})
    assert rows(path)[-2:] == [("running", "init-1", 40), ("waiting", "init-1", 300)]
    assert path.segments[-1].wait is not None and path.segments[-1].wait.woken_ns is None


def test_without_ready_the_path_leads_to_the_end(profile_writer: Any) -> None:
    writer = profile_writer
    _, init = boot(writer)
    writer.spend(INIT, 40)
    path = find_critical_path(finish(writer), {"power_on": 0})
    assert (path.ready, path.ready_ns, path.task) == (False, 150, init)


def test_a_profile_without_tasks_has_a_path(profile_writer: Any) -> None:
    profile_writer.spend("[firmware]", 70, space=Space.STAGE)
    assert rows(find_critical_path(finish(profile_writer), {})) == [("firmware", "firmware", 70)]


def test_nothing_at_all_has_an_empty_path(profile_writer: Any) -> None:
    assert find_critical_path(finish(profile_writer), {}).segments == ()


def test_ready_behind_the_end_is_refused(profile_writer: Any) -> None:
    boot(profile_writer)
    with pytest.raises(InputError, match="before ready"):
        find_critical_path(finish(profile_writer), {"ready": 10_000})


@pytest.mark.parametrize("seed", range(60))
def test_random_boots_tile(make_boot: Callable[[int], Any], seed: int) -> None:
    profile = parse_profile(make_boot(seed).finish(), ("start_kernel", "schedule", "do_one_initcall", "msleep"), 0)
    table = WaitTable(profile)
    for ready in range(0, profile.end_ns + 1, max(profile.end_ns // 17, 1)):
        path = find_critical_path(profile, {"ready": ready}, table=table)
        assert sum(segment.duration_ns for segment in path.segments) == ready
        assert all(segment.duration_ns > 0 for segment in path.segments)
        assert sum(path.totals.values()) == ready
        assert sum(group.total_ns for group in path.grouped()) == ready
        assert sum(group.idle_ns for group in path.grouped()) == sum(segment.idle_ns for segment in path.segments)
        on_cpu = path.totals[LinkKind.RUNNING] + path.totals[LinkKind.RUNNABLE]
        assert path.totals[LinkKind.RUNNING] <= sum(path.node_ns.values()) <= on_cpu
    assert find_critical_path(profile, {}) == find_critical_path(profile, {}, table=table)


@pytest.mark.parametrize("seed", range(20))
def test_a_running_segment_had_the_cpu(make_boot: Callable[[int], Any], seed: int) -> None:
    profile = parse_profile(make_boot(seed).finish(), ("start_kernel", "schedule", "do_one_initcall", "msleep"), 0)
    path = find_critical_path(profile, {})
    edges = [(int(row["t_ns"]), int(row["next"])) for row in profile.switches]
    for segment in path.segments:
        if segment.kind is LinkKind.RUNNING and edges and segment.start_ns >= edges[0][0]:
            assert [task for t_ns, task in edges if t_ns <= segment.start_ns][-1] == segment.task
            assert not [t_ns for t_ns, _ in edges if segment.start_ns < t_ns < segment.end_ns]


def test_flags_of_a_dead_task(profile_writer: Any) -> None:
    writer = profile_writer
    _, init = boot(writer)
    child = writer.task("modprobe", 9, init)
    writer.event(EventKind.FORK, init, INIT + ";kernel_clone", a=child)
    writer.spend(INIT, 5)
    wait = INIT + ";do_syscall_64;__x64_sys_wait4;kernel_wait4;do_wait;schedule"
    writer.switch(init, child, wait)
    writer.spend("modprobe-9;do_syscall_64;__x64_sys_finit_module", 400)
    writer.wake(init, child, "modprobe-9;do_exit;do_notify_parent;__wake_up_parent")
    writer.spend("modprobe-9;do_exit", 7)
    writer.switch(child, init, "modprobe-9;do_exit;do_task_dead;schedule", SwitchFlag.DEAD)
    writer.spend(INIT, 9)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    assert rows(path)[-4:] == [
        ("running", "init-1", 5),
        ("running", "modprobe-9", 400),
        ("runnable", "init-1", 7),
        ("running", "init-1", 9),
    ]


def test_two_cpus(profile_writer: Any) -> None:
    writer = profile_writer
    swapper, init = boot(writer)
    other = writer.task("swapper/1", 0, init)
    worker = writer.task("kworker", 7, init)
    writer.event(EventKind.FORK, init, INIT, a=worker)
    writer.spend(INIT + ";cpu_up", 50)
    writer.switch(other, worker, "swapper/1-0;start_secondary;do_idle", 0, vcpu=1)
    writer.spend(WORKER, 5)
    writer.switch(worker, other, WORKER + ";schedule", vcpu=1)
    writer.spend(INIT + ";probe", 20)
    writer.wake(worker, init, INIT + ";probe;queue_work_on")
    writer.spend("swapper/1-0;start_secondary;do_idle", 4)
    writer.switch(other, worker, "swapper/1-0;start_secondary;do_idle", 0, vcpu=1)
    writer.spend(INIT + ";probe", 30)
    writer.switch(init, swapper, INIT + ";probe;wait_for_completion;schedule")
    writer.spend(WORKER + ";process_one_work;scan", 200)
    writer.wake(init, worker, WORKER + ";process_one_work;scan;complete")
    writer.spend(IDLE, 6)
    writer.switch(swapper, init, IDLE, 0)
    writer.spend(INIT, 10)
    path = find_critical_path(finish(writer), {**KERNEL, "ready": writer.t_ns})
    assert rows(path)[-5:] == [
        ("running", "init-1", 50 + 5 + 20),
        ("runnable", "kworker-7", 4),
        ("running", "kworker-7", 30 + 200),
        ("runnable", "init-1", 6),
        ("running", "init-1", 10),
    ], "the worker had a CPU of its own from when its work was queued"
