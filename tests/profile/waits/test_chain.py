"""The chain behind a moment, link by link: who is followed, who is handed back to, and where a chain ends."""

import pytest

from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import NONE, EventKind, Space, SwitchFlag, WakeFlag
from bootlab.profile.waits.chain import Link, LinkKind, find_chain, find_task_at
from bootlab.profile.waits.sleeps import WaitTable
from tests.profile.conftest import ProfileWriter

IDLE = "swapper/0-0;cpu_startup_entry;do_idle"
TIMER = f"{IDLE};asm_sysvec_apic_timer_interrupt;__hrtimer_run_queues;hrtimer_wakeup;try_to_wake_up"
HANDS_OUT = f"{IDLE};asm_sysvec_apic_timer_interrupt;run_timer_softirq;call_timer_fn;delayed_work_timer_fn"
THREAD = "kworker-7;ret_from_fork;kthread;worker_thread"
WAITS = "init-1;wait_for_completion;schedule"

RUNNING, RUNNABLE, WAITING = LinkKind.RUNNING, LinkKind.RUNNABLE, LinkKind.WAITING
SWAPPER, INIT, WORKER = 0, 1, 2

Short = tuple[LinkKind, int | None, int, int]


class Boot(ProfileWriter):
    """The idle task runs to 100 and makes init and a worker; the worker, without work, sleeps from 105; init runs."""

    def __init__(self) -> None:
        super().__init__()
        self.task("swapper/0", 0)
        self.spend("swapper/0-0;start_kernel", 100)
        self.task("init", 1, SWAPPER)
        self.task("kworker", 7, SWAPPER)
        self.switch(SWAPPER, WORKER, IDLE, 0)
        self.spend(THREAD, 5)
        self.switch(WORKER, INIT, f"{THREAD};schedule")

    def table(self) -> WaitTable:
        return WaitTable(parse_profile(self.end(), self.functions, 0))


def chain(boot: Boot, task: int = INIT, floor_ns: int = 0) -> list[Short]:
    """Return the links of what a task had reached at the end, in short. They have to tile what was walked."""
    table = boot.table()
    links = find_chain(table, task, floor_ns, table.profile.end_ns)
    ends = [floor_ns, *(link.end_ns for link in links)]
    assert [link.start_ns for link in links] == ends[:-1] and ends[-1] == table.profile.end_ns
    return short(links)


def short(links: list[Link]) -> list[Short]:
    return [(link.kind, link.task, link.start_ns, link.end_ns) for link in links]


def test_who_ran_all_along_has_its_maker_before_it() -> None:
    """Init could have run from 100 on, and did from 105; before it was made its maker ran."""
    boot = Boot()
    boot.spend("init-1;run", 50)
    assert chain(boot) == [(RUNNING, SWAPPER, 0, 100), (RUNNABLE, INIT, 100, 105), (RUNNING, INIT, 105, 155)]


def test_a_chain_goes_no_further_back_than_asked() -> None:
    boot = Boot()
    boot.spend("init-1;run", 50)
    assert chain(boot, floor_ns=103) == [(RUNNABLE, INIT, 103, 105), (RUNNING, INIT, 105, 155)]
    assert find_chain(Boot().table(), INIT, 100, 100) == []


def test_a_sleep_that_still_goes_on_is_a_wait() -> None:
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.switch(INIT, SWAPPER, WAITS)
    boot.idle(IDLE, 40)
    assert chain(boot)[-2:] == [(RUNNING, INIT, 105, 125), (WAITING, INIT, 125, 165)]


def test_a_wait_that_a_task_ended_is_that_tasks_work() -> None:
    """Init gives the work away at 110 and waits from 125; the worker runs from there on and completes it at 185.

    Init itself kept the worker from running before, so its own work, not the worker's want of a CPU, comes first.
    """
    boot = Boot()
    boot.spend("init-1;run", 5)
    boot.wake(WORKER, INIT, "init-1;queue_work_on;try_to_wake_up")
    boot.spend("init-1;run", 15)
    boot.switch(INIT, WORKER, WAITS)
    boot.spend(f"{THREAD};process_one_work;probe", 60)
    boot.wake(INIT, WORKER, f"{THREAD};process_one_work;probe;complete")
    boot.spend(THREAD, 5)
    boot.switch(WORKER, INIT, f"{THREAD};schedule")
    boot.spend("init-1;run", 10)
    assert chain(boot)[2:] == [
        (RUNNING, INIT, 105, 125),
        (RUNNING, WORKER, 125, 185),
        (RUNNABLE, INIT, 185, 190),
        (RUNNING, INIT, 190, 200),
    ]


def test_a_moment_in_the_middle_of_a_sleep_was_waited_for() -> None:
    """Who was to end it at 185 had no part in what was reached at 150."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.wake(WORKER, INIT, "init-1;queue_work_on;try_to_wake_up")
    boot.switch(INIT, WORKER, WAITS)
    boot.spend(f"{THREAD};process_one_work;probe", 60)
    boot.wake(INIT, WORKER, f"{THREAD};process_one_work;probe;complete")
    assert short(find_chain(boot.table(), INIT, 105, 150)) == [(RUNNING, INIT, 105, 125), (WAITING, INIT, 125, 150)]


@pytest.mark.parametrize(
    ("waker", "stack", "flags"),
    [
        (WORKER, f"{THREAD};{TIMER.partition(';do_idle;')[2]}", WakeFlag.IN_INTERRUPT),
        (SWAPPER, f"{IDLE};complete", 0),
        (INIT, "init-1;complete", 0),
        (NONE, f"{THREAD};complete", 0),
    ],
)
def test_a_wait_that_no_task_of_its_own_ended_is_not_followed(waker: int, stack: str, flags: int) -> None:
    """An interrupt has borrowed its task; the idle task works for nobody; nobody wakes itself."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.switch(INIT, WORKER, WAITS)
    boot.spend(THREAD, 30)
    boot.wake(INIT, waker, stack, flags)
    boot.switch(WORKER, INIT, f"{THREAD};schedule")
    boot.spend("init-1;run", 10)
    assert chain(boot)[2:] == [(RUNNING, INIT, 105, 125), (WAITING, INIT, 125, 155), (RUNNING, INIT, 155, 165)]


def test_who_was_put_off_its_cpu_lacked_one() -> None:
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.wake(WORKER, INIT, "init-1;queue_work_on;try_to_wake_up")
    boot.switch(INIT, WORKER, "init-1;run", 0)
    boot.spend(f"{THREAD};process_one_work", 30)
    boot.switch(WORKER, INIT, f"{THREAD};schedule")
    boot.spend("init-1;run", 10)
    assert chain(boot)[2:] == [(RUNNING, INIT, 105, 125), (RUNNABLE, INIT, 125, 155), (RUNNING, INIT, 155, 165)]


def test_work_that_an_interrupt_hands_out_was_waited_for_by_who_waits_for_the_worker() -> None:
    """The worker had nothing to do until a timer gave it the work at 155: init's wait until then is its own."""
    boot = Boot()
    boot.switch(INIT, SWAPPER, "init-1;msleep;schedule")
    boot.idle(IDLE, 15)
    boot.wake(INIT, SWAPPER, TIMER, WakeFlag.IN_INTERRUPT)
    boot.switch(SWAPPER, INIT, IDLE, 0)
    boot.spend("init-1;run", 5)
    boot.switch(INIT, SWAPPER, WAITS)
    boot.idle(IDLE, 30)
    boot.wake(WORKER, SWAPPER, HANDS_OUT, WakeFlag.IN_INTERRUPT)
    boot.switch(SWAPPER, WORKER, IDLE, 0)
    boot.spend(f"{THREAD};process_one_work", 40)
    boot.wake(INIT, WORKER, f"{THREAD};process_one_work;complete")
    boot.switch(WORKER, INIT, f"{THREAD};schedule")
    boot.spend("init-1;run", 10)
    table = boot.table()
    links = find_chain(table, INIT, 105, table.profile.end_ns)
    assert short(links) == [
        (WAITING, INIT, 105, 120),
        (RUNNING, INIT, 120, 125),
        (WAITING, INIT, 125, 155),
        (RUNNING, WORKER, 155, 195),
        (RUNNING, INIT, 195, 205),
    ]
    assert [link.interrupt for link in links] == [None, None, 1, None, None], "the wake by which the work was given"
    assert links[2].gap is not None and table.schedule.gap(links[2].gap).start_ns == 125


def test_of_several_who_wait_the_innermost_waited_for_the_work() -> None:
    """Init waits for a helper from 125, that one from 135 for the worker, which has nothing to do before 165."""
    boot = Boot()
    helper = boot.task("helper", 8, INIT)
    boot.spend("init-1;run", 20)
    boot.switch(INIT, helper, WAITS)
    boot.spend("helper-8;run", 10)
    boot.switch(helper, SWAPPER, "helper-8;wait_for_completion;schedule")
    boot.idle(IDLE, 30)
    boot.wake(WORKER, SWAPPER, HANDS_OUT, WakeFlag.IN_INTERRUPT)
    boot.switch(SWAPPER, WORKER, IDLE, 0)
    boot.spend(f"{THREAD};process_one_work", 10)
    boot.wake(helper, WORKER, f"{THREAD};process_one_work;complete")
    boot.switch(WORKER, helper, f"{THREAD};schedule")
    boot.spend("helper-8;run", 10)
    boot.wake(INIT, helper, "helper-8;complete")
    boot.switch(helper, INIT, "helper-8;exit", SwitchFlag.DEAD)
    boot.spend("init-1;run", 10)
    assert chain(boot)[2:] == [
        (RUNNING, INIT, 105, 125),
        (RUNNING, helper, 125, 135),
        (WAITING, helper, 135, 165),
        (RUNNING, WORKER, 165, 175),
        (RUNNING, helper, 175, 185),
        (RUNNING, INIT, 185, 195),
    ]


def test_nothing_that_nobody_waits_for_is_handed_back() -> None:
    """The moment itself belongs to the worker: what it had nothing to do for is its own wait."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.switch(INIT, SWAPPER, WAITS)
    boot.idle(IDLE, 30)
    boot.wake(WORKER, SWAPPER, HANDS_OUT, WakeFlag.IN_INTERRUPT)
    boot.switch(SWAPPER, WORKER, IDLE, 0)
    boot.spend(f"{THREAD};process_one_work", 40)
    assert chain(boot, WORKER)[-2:] == [(WAITING, WORKER, 105, 155), (RUNNING, WORKER, 155, 195)]


def test_a_worker_that_a_task_gave_work_to_is_followed_to_that_task() -> None:
    """What the worker reached at the end began with the init that queued it, at 125."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.wake(WORKER, INIT, "init-1;queue_work_on;try_to_wake_up")
    boot.spend("init-1;run", 5)
    boot.switch(INIT, WORKER, WAITS)
    boot.spend(f"{THREAD};process_one_work", 40)
    assert chain(boot, WORKER)[2:] == [
        (RUNNING, INIT, 105, 125),
        (RUNNABLE, WORKER, 125, 130),
        (RUNNING, WORKER, 130, 170),
    ]


def test_a_grace_period_is_waited_for_by_itself() -> None:
    """RCU's own thread ends it, and only passes on what every CPU has said."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.switch(INIT, WORKER, "init-1;synchronize_rcu;__wait_rcu_gp;wait_for_completion;schedule")
    boot.spend(f"{THREAD};process_one_work", 40)
    boot.wake(INIT, WORKER, f"{THREAD};process_one_work;complete")
    boot.switch(WORKER, INIT, f"{THREAD};schedule")
    boot.spend("init-1;run", 10)
    assert chain(boot)[2:] == [(RUNNING, INIT, 105, 125), (WAITING, INIT, 125, 165), (RUNNING, INIT, 165, 175)]


def read_disk(*, issued_in: str, issuer: int, early: bool = False) -> Boot:
    """Init waits for a page from 135; a request for it is issued at 150, or `early` at 125, and done at 210."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.wake(WORKER, INIT, "init-1;queue_work_on;try_to_wake_up")
    if early:
        boot.event(EventKind.BLOCK_ISSUE, issuer, issued_in, a=0xA, b=512 << 8, text="vda")
    boot.spend("init-1;run", 10)
    boot.switch(INIT, WORKER, "init-1;__x64_sys_read;folio_wait_bit_common;io_schedule;schedule")
    boot.spend(f"{THREAD};process_one_work;submit", 15)
    if not early:
        boot.event(EventKind.BLOCK_ISSUE, issuer, issued_in, a=0xA, b=512 << 8, text="vda")
    boot.spend(f"{THREAD};process_one_work;submit", 5)
    boot.switch(WORKER, SWAPPER, f"{THREAD};schedule")
    boot.idle(IDLE, 55)
    disk = f"{IDLE};asm_common_interrupt;__handle_irq_event_percpu;vring_interrupt"
    boot.event(EventKind.BLOCK_DONE, SWAPPER, f"{disk};blk_update_request", a=0xA, b=512)
    boot.wake(INIT, SWAPPER, f"{disk};folio_wake_bit", WakeFlag.IN_INTERRUPT)
    boot.switch(SWAPPER, INIT, IDLE, 0)
    boot.spend("init-1;run", 10)
    return boot


def test_a_request_is_waited_for_since_it_was_issued_and_before_that_its_issuer_worked() -> None:
    """The worker ran from 135 on, when init made room for it, so init's own work is what came before."""
    assert chain(read_disk(issued_in=f"{THREAD};process_one_work;submit", issuer=WORKER))[2:] == [
        (RUNNING, INIT, 105, 135),
        (RUNNING, WORKER, 135, 150),
        (WAITING, INIT, 150, 210),
        (RUNNING, INIT, 210, 220),
    ]


@pytest.mark.parametrize(
    ("stack", "task", "early"),
    [
        (f"{THREAD};asm_common_interrupt;submit", WORKER, False),
        ("init-1;submit", INIT, False),
        (f"{IDLE};submit", SWAPPER, False),
        (f"{THREAD};process_one_work;submit", WORKER, True),
    ],
)
def test_a_request_that_no_task_issued_meanwhile_is_not_followed(stack: str, task: int, early: bool) -> None:
    """Issued by an interrupt, by the waiter itself, by the idle task, or before the wait began."""
    assert chain(read_disk(issued_in=stack, issuer=task, early=early))[2:] == [
        (RUNNING, INIT, 105, 135),
        (WAITING, INIT, 135, 210),
        (RUNNING, INIT, 210, 220),
    ]


def test_two_that_woke_each_other_at_one_moment_do_not_hold_up_the_walk() -> None:
    """Only a damaged profile says so: each was asleep when it woke the other at 145. Who is met twice waited itself."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    boot.switch(INIT, WORKER, WAITS)
    boot.spend(THREAD, 10)
    boot.switch(WORKER, SWAPPER, "kworker-7;wait_for_completion;schedule")
    boot.spend(IDLE, 10)
    boot.wake(INIT, WORKER, "kworker-7;complete")
    boot.wake(WORKER, INIT, "init-1;complete")
    boot.switch(SWAPPER, INIT, IDLE, 0)
    boot.spend("init-1;run", 10)
    assert chain(boot)[2:] == [
        (RUNNING, INIT, 105, 125),
        (RUNNING, WORKER, 125, 135),
        (WAITING, WORKER, 135, 145),
        (RUNNING, INIT, 145, 155),
    ]


def test_an_idle_tasks_moment_leads_to_who_had_its_cpu_before() -> None:
    """The second CPU's idle task was made by init, which has no part in what that CPU did."""
    boot = Boot()
    other = boot.task("swapper/1", 0, INIT)
    boot.spend("init-1;run", 20)
    boot.wake(WORKER, INIT, "init-1;queue_work_on")
    boot.switch(other, WORKER, "swapper/1-0;do_idle", 0, vcpu=1)
    boot.spend("init-1;run", 15)
    boot.switch(INIT, SWAPPER, WAITS)
    boot.spend(IDLE, 15)
    boot.switch(WORKER, other, f"{THREAD};schedule", vcpu=1)
    boot.spend(IDLE, 40)
    assert chain(boot, other)[-2:] == [(RUNNING, WORKER, 125, 155), (RUNNING, other, 155, 195)]


def test_a_task_that_never_ran_has_only_its_maker_or_who_ran_instead() -> None:
    boot = Boot()
    made, found = boot.task("made", 8, WORKER), boot.task("found", 9)
    boot.spend("init-1;run", 20)
    boot.switch(INIT, SWAPPER, WAITS)
    boot.idle(IDLE, 10)
    assert chain(boot, made)[-1] == (WAITING, WORKER, 105, 135)
    boot = Boot()
    boot.task("made", 8, WORKER)
    assert found == boot.task("found", 9)
    boot.spend("init-1;run", 20)
    assert chain(boot, found)[-1] == (RUNNING, INIT, 105, 125)


def test_a_moment_belongs_to_who_runs_then() -> None:
    boot = Boot()
    boot.spend("init-1;run", 20)
    table = boot.table()
    assert [find_task_at(table, t_ns) for t_ns in (50, 100, 103, 106, 125)] == [SWAPPER, SWAPPER, WORKER, INIT, INIT]


def test_while_all_sleep_a_moment_belongs_to_the_last_that_ran_and_lives() -> None:
    """Init sleeps from 125; a child that ran after it is dead by then."""
    boot = Boot()
    boot.spend("init-1;run", 20)
    child = boot.task("sh", 9, INIT)
    boot.switch(INIT, child, WAITS)
    boot.spend("sh-9;run", 10)
    boot.switch(child, SWAPPER, "sh-9;do_exit", SwitchFlag.DEAD)
    boot.idle(IDLE, 50)
    table = boot.table()
    assert find_task_at(table, 135) == child, "it ran up to that moment"
    assert find_task_at(table, 150) == INIT


def two_cpus(*, program: bool) -> WaitTable:
    """Until 160 a worker runs on the first CPU, and on the second, for longer, a task that may have run a program."""
    boot = Boot()
    other, task = boot.task("swapper/1", 0), boot.task("sh", 9, INIT)
    boot.switch(INIT, WORKER, WAITS)
    boot.spend(THREAD, 5)
    boot.switch(other, task, "swapper/1-0;do_idle", 0, vcpu=1)
    if program:
        boot.event(EventKind.EXEC, task, "sh-9;exec", text="/bin/sh")
    boot.spend(THREAD, 50)
    boot.switch(WORKER, SWAPPER, f"{THREAD};schedule")
    boot.spend(IDLE, 50)
    return boot.table()


def test_of_two_that_run_a_process_comes_before_a_kernel_thread_and_a_lower_cpu_before_a_higher() -> None:
    assert find_task_at(two_cpus(program=True), 140) == 4
    assert find_task_at(two_cpus(program=False), 140) == WORKER


def test_before_any_task_a_moment_belongs_to_none() -> None:
    writer = ProfileWriter()
    writer.spend("[firmware]", 70, space=Space.STAGE)
    assert find_task_at(WaitTable(parse_profile(writer.end(), writer.functions, 0)), 50) is None
    boot = Boot()
    assert find_task_at(boot.table(), 0) == SWAPPER


def test_a_cpu_whose_first_task_is_not_known_ends_the_chain() -> None:
    writer = ProfileWriter()
    task = writer.task("init", 1)
    writer.spend("init-1;run", 10)
    writer.switch(NONE, task, "init-1;run", 0)
    writer.spend("init-1;run", 20)
    table = WaitTable(parse_profile(writer.end(), writer.functions, 0))
    assert short(find_chain(table, task, 0, 30)) == [(RUNNABLE, task, 0, 10), (RUNNING, task, 10, 30)]
