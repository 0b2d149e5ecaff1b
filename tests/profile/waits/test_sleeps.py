"""Each sleep as a value: why, until when, how idle the machine was meanwhile, and who ended it."""

import pytest

from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, WakeFlag
from bootlab.profile.waits.sleep_reasons import WaitKind
from bootlab.profile.waits.sleeps import Wait, WaitTable
from bootlab.profile.waits.wake_reasons import WakeKind
from tests.profile.conftest import ProfileWriter

IDLE = "swapper/0-0;do_idle"
READ = "init-1;__x64_sys_read;folio_wait_bit_common;io_schedule;schedule"
PROBE = "init-1;ret_from_fork;kernel_init;do_one_initcall;probe;msleep;schedule_timeout;schedule"
DISK = f"{IDLE};asm_common_interrupt;__handle_irq_event_percpu;vring_interrupt"
OTHER_DISK = f"{IDLE};asm_common_interrupt;__handle_irq_event_percpu;nvme_irq"
TIMER = f"{IDLE};asm_sysvec_apic_timer_interrupt;__hrtimer_run_queues;hrtimer_wakeup;try_to_wake_up"


class Sleeper(ProfileWriter):
    """A boot in which init (task 1) runs to 100 and goes to sleep, and the idle task (0) has the CPU from then on."""

    def __init__(self, stack: str = PROBE) -> None:
        super().__init__()
        swapper = self.task("swapper/0", 0)
        init = self.task("init", 1, swapper)
        self.switch(swapper, init, IDLE, 0)
        self.spend("init-1;run", 100)
        self.switch(init, swapper, stack)

    def table(self) -> WaitTable:
        return WaitTable(parse_profile(self.end(), self.functions, 0))

    def first(self) -> Wait:
        """End the profile and return the first sleep in it."""
        table = self.table()
        return table.wait(int(table.sleeps()[0]))


def test_a_sleep_that_was_ended_and_then_lacked_a_cpu() -> None:
    """Asleep from 100 to 170, 60 of it idle; back on its CPU at 190, which idled for 8 ns before it noticed."""
    boot = Sleeper()
    boot.idle(IDLE, 60)
    boot.spend(IDLE, 10)
    boot.wake(1, 0, TIMER, WakeFlag.IN_INTERRUPT)
    boot.idle(IDLE, 8)
    boot.spend(IDLE, 12)
    boot.switch(0, 1, IDLE, 0)
    boot.spend("init-1;run", 5)
    wait = boot.first()
    assert (wait.task, wait.name) == (1, "init-1")
    assert (wait.start_ns, wait.woken_ns, wait.until_ns, wait.end_ns) == (100, 170, 170, 190)
    assert (wait.duration_ns, wait.runnable_ns, wait.idle_ns) == (70, 20, 60)
    assert (wait.kind, wait.function, wait.caller) == (WaitKind.SLEEP, "msleep", "probe")
    assert (wait.context, wait.context_kind) == ("probe", "initcall")
    assert wait.waker is not None
    assert (wait.waker.kind, wait.waker.t_ns, wait.waker.task, wait.waker.name) == (
        WakeKind.TIMER, 170, 0, "swapper/0-0",
    )  # fmt: skip


def test_a_sleep_that_nothing_ended_has_no_end() -> None:
    boot = Sleeper()
    boot.idle(IDLE, 60)
    wait = boot.first()
    assert (wait.woken_ns, wait.end_ns, wait.until_ns, wait.waker) == (None, None, 160, None)
    assert (wait.duration_ns, wait.runnable_ns, wait.idle_ns) == (60, 0, 60)


def test_a_sleeper_that_was_woken_and_never_ran_again() -> None:
    boot = Sleeper()
    boot.spend(IDLE, 30)
    boot.wake(1, 0, TIMER, WakeFlag.IN_INTERRUPT)
    boot.spend(IDLE, 30)
    wait = boot.first()
    assert (wait.woken_ns, wait.end_ns, wait.duration_ns, wait.runnable_ns) == (130, None, 30, 0)


def test_a_sleeper_that_came_back_without_a_wake_up_slept_all_the_time() -> None:
    boot = Sleeper()
    boot.spend(IDLE, 30)
    boot.switch(0, 1, IDLE, 0)
    wait = boot.first()
    assert (wait.woken_ns, wait.end_ns, wait.duration_ns, wait.waker) == (130, 130, 30, None)


def test_only_sleeps_are_listed() -> None:
    """Init is put off its CPU at 120 before it sleeps at 150; the idle task, which nothing keeps waiting, is not."""
    boot = Sleeper()
    boot.spend(IDLE, 10)
    boot.wake(1, 0, TIMER, WakeFlag.IN_INTERRUPT)
    boot.switch(0, 1, IDLE, 0)
    boot.spend("init-1;run", 10)
    boot.switch(1, 0, "init-1;run", 0)
    boot.spend(IDLE, 20)
    boot.switch(0, 1, IDLE, 0)
    boot.spend("init-1;run", 10)
    boot.switch(1, 0, PROBE)
    table = boot.table()
    assert [table.wait(index).start_ns for index in table.sleeps().tolist()] == [100, 150]


def wake_from_disk(boot: ProfileWriter) -> None:
    """Wake init from an interrupt."""
    boot.wake(1, 0, f"{DISK};folio_end_read;folio_wake_bit", WakeFlag.IN_INTERRUPT)
    boot.spend(IDLE, 5)


def issue(boot: ProfileWriter, address: int, size: int, name: str = "vda") -> None:
    boot.event(EventKind.BLOCK_ISSUE, 0, f"{IDLE};submit", a=address, b=size << 8, text=name)


def done(boot: ProfileWriter, address: int, size: int, where: str = DISK) -> None:
    boot.event(EventKind.BLOCK_DONE, 0, f"{where};blk_update_request", a=address, b=size)


def test_a_devices_interrupt_ended_it_with_the_request_that_was_done() -> None:
    boot = Sleeper(READ)
    issue(boot, 0xA, 512)
    boot.idle(IDLE, 40)
    done(boot, 0xA, 512)
    wake_from_disk(boot)
    waker = boot.first().waker
    assert waker is not None and waker.request is not None
    assert (waker.kind, waker.handler) == (WakeKind.DEVICE, "vring_interrupt")
    assert (waker.request.disk, waker.request.bytes, waker.request.issued_ns, waker.request.done_ns) == (
        "vda", 512, 100, 140,
    )  # fmt: skip


def test_of_two_requests_it_was_the_one_that_was_done_last() -> None:
    boot = Sleeper(READ)
    issue(boot, 0xA, 512)
    issue(boot, 0xB, 4096)
    done(boot, 0xB, 4096)
    boot.spend(IDLE, 10)
    done(boot, 0xA, 512)
    wake_from_disk(boot)
    issue(boot, 0xC, 1024)
    done(boot, 0xC, 1024)
    waker = boot.first().waker
    assert waker is not None and waker.request is not None and waker.request.bytes == 512


def test_a_request_that_another_handler_finished_did_not_end_it() -> None:
    boot = Sleeper(READ)
    issue(boot, 0xA, 512)
    done(boot, 0xA, 512, OTHER_DISK)
    wake_from_disk(boot)
    waker = boot.first().waker
    assert waker is not None and waker.kind is WakeKind.DEVICE and waker.request is None


def test_a_request_that_was_done_before_the_last_switch_was_another_interrupts() -> None:
    boot = Sleeper(READ)
    issue(boot, 0xA, 512)
    done(boot, 0xA, 512)
    other = boot.task("other", 9, 0)
    boot.spend(IDLE, 5)
    boot.switch(0, other, IDLE, 0)
    boot.spend("other-9;run", 5)
    wake_from_disk(boot)
    waker = boot.first().waker
    assert waker is not None and waker.kind is WakeKind.DEVICE and waker.request is None


@pytest.mark.parametrize(
    ("stack", "flags", "kind"),
    [
        (f"{IDLE};complete;try_to_wake_up", 0, WakeKind.TASK),
        (TIMER, WakeFlag.IN_INTERRUPT, WakeKind.TIMER),
        (f"{IDLE};asm_sysvec_call_function;wake", WakeFlag.IN_INTERRUPT, WakeKind.INTERRUPT),
    ],
)
def test_only_a_device_has_done_a_request(stack: str, flags: int, kind: WakeKind) -> None:
    boot = Sleeper(READ)
    issue(boot, 0xA, 512)
    done(boot, 0xA, 512, f"{stack};vring_interrupt")
    boot.wake(1, 0, stack, flags)
    waker = boot.first().waker
    assert waker is not None and (waker.kind, waker.request) == (kind, None)


def test_one_place_wakes_for_two_reasons_when_it_is_called_by_a_task_and_in_an_interrupt() -> None:
    """What is kept of a place must not answer for the other case."""
    boot = Sleeper()
    stack = f"{IDLE};asm_sysvec_call_function;run;try_to_wake_up"
    boot.wake(1, 0, stack, 0)
    boot.wake(1, 0, stack, WakeFlag.IN_INTERRUPT)
    table = boot.table()
    assert [table.wake_cause(wake).kind for wake in (0, 1, 0)] == [WakeKind.TASK, WakeKind.INTERRUPT, WakeKind.TASK]


def test_a_wait_that_is_asked_for_twice_is_one() -> None:
    boot = Sleeper()
    table = boot.table()
    index = int(table.sleeps()[0])
    assert table.wait(index) is table.wait(index)


def test_a_stack_is_told_without_its_task() -> None:
    boot = Sleeper()
    table = boot.table()
    node = int(table.schedule.gaps["node"][int(table.sleeps()[0])])
    assert list(table.stack(node))[:2] == ["ret_from_fork", "kernel_init"]
